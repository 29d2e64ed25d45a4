"""`python -m chaos`: a soak. Exit code 0 where every promise was kept."""

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path

from armka.contract.subjects import Transport
from chaos import processes
from chaos.report import Report
from chaos.soak import Soak, run

SAMPLES = Path(__file__).parents[1] / "samples"
_DOCUMENTS = {".xls", ".xlsx", ".xlsb"}


def samples() -> dict[str, Path]:
    """The documents that are sent."""
    found = {path.name: path for path in SAMPLES.iterdir() if path.suffix in _DOCUMENTS}
    if not found:
        raise FileNotFoundError(f"no documents in {SAMPLES}")
    return found


async def soak(settings: Soak, folder: Path, transport: Transport = Transport.CORE) -> Report:
    """Start everything in `folder`, run, end everything."""
    async with processes.running(folder, transport) as cast:
        return await run(settings, cast)


def main() -> int:
    """Read the arguments, run, report."""
    arguments = _arguments()
    seed = random.randrange(10**6) if arguments.seed is None else arguments.seed
    print(f"seed {seed}; repeat with SEED={seed}", flush=True)
    settings = Soak(
        seed=seed,
        files=arguments.files,
        faults=arguments.faults,
        storm_seconds=arguments.minutes * 60,
        longest_seconds=arguments.longest,
        samples=samples(),
        say=lambda text: print(text, flush=True),
    )
    with tempfile.TemporaryDirectory(prefix="armka-soak-") as temporary:
        folder = arguments.data or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        report = asyncio.run(soak(settings, folder, arguments.transport))
    if arguments.report is not None:
        arguments.report.write_text(report.json())
    print(report.text())
    return 1 if report.violations else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--seed", type=int, help="decides documents and faults (default: random)")
    parser.add_argument("--minutes", type=float, default=8.0, help="length of the storm")
    parser.add_argument("--files", type=int, default=2400, help="documents to send in the storm")
    parser.add_argument("--faults", type=int, default=63, help="faults; 21 are one of each kind")
    parser.add_argument("--longest", type=float, default=20.0, help="longest fault, seconds")
    parser.add_argument(
        "--transport",
        type=Transport,
        choices=list(Transport),
        default=Transport.CORE,
        help="how messages travel (default: core)",
    )
    parser.add_argument("--report", type=Path, help="write the report there, as JSON")
    parser.add_argument("--data", type=Path, help="keep the servers' data and all logs there")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
