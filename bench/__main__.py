"""`python -m bench`: one run, one table. `make bench` installs what it needs and calls it."""

import argparse
import asyncio
import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from bench import ceiling, exchange, lists, on_pgqueuer, on_procrastinate, pages, reading
from bench.contest import Contestant, play
from bench.exchange import latency, memory
from bench.report import LEAST_ROUNDS, Floor, Row, floors, report, verdict
from bench.stage import Stage, stage

_PARTS = ("exchange", "reading", "lists", "pages")
_USUAL_PARTS = ("exchange", "reading")
_MEMORY_JOBS, _MEMORY_STEP = 100_000, 10_000


def _contestants(jobs: int) -> list[Contestant]:
    """Slow ones get fewer jobs, so that each round takes seconds."""
    return [
        exchange.contestant(jobs),
        exchange.on_stream(max(jobs // 4, 100)),
        ceiling.contestant(jobs),
        on_pgqueuer.no_ops(jobs),
        on_pgqueuer.exchange_shape(max(jobs // 10, 100)),
        on_procrastinate.no_ops(max(jobs // 20, 100)),
    ]


async def _throughput(place: Stage, options: argparse.Namespace) -> list[Row]:
    """Round by round, everybody in turn: whatever disturbs a minute disturbs all of them."""
    rows = [Row(it.name, it.about, []) for it in _contestants(options.jobs)]
    for number in range(options.rounds):
        for contestant, row in zip(_contestants(options.jobs), rows, strict=True):
            played = await play(place, contestant)
            row.rounds.append(played)
            print(f"round {number + 1}  {row.name:<24}{played.rate:>8,.0f} jobs/s", flush=True)  # noqa: T201
    return rows


async def _run(options: argparse.Namespace, folder: Path) -> bool:
    judged: list[Floor] = []
    raw: dict[str, object] = {}
    if "exchange" in options.only:
        judged += await _exchange(options, folder, raw)
    if "reading" in options.only:
        readings = await reading.measure(folder, options.rounds)
        judged += reading.floors(readings)
        raw["reading"] = asdict(readings)
        print(reading.report(readings), end="\n\n")  # noqa: T201
    if "lists" in options.only:
        async with stage(folder) as place:
            asked = await lists.measure(place, options.files, options.rounds)
        judged += lists.floors(asked)
        raw["lists"] = [asdict(one) for one in asked]
        print(lists.report(asked), end="\n\n")  # noqa: T201
    are_read = "pages" not in options.only or pages.run(pages.Plan(pages=options.rounds))
    print(verdict(judged))  # noqa: T201
    if options.json:
        _write(options.json, raw)
    return are_read and all(floor.holds for floor in judged)


async def _exchange(
    options: argparse.Namespace, folder: Path, raw: dict[str, object]
) -> list[Floor]:
    async with stage(folder) as place:
        idle = [await latency(place, options.latency_jobs) for _ in range(options.rounds)]
        rows = await _throughput(place, options)
        resident = []
        if not options.skip_memory:
            resident = await memory(place, _MEMORY_JOBS, _MEMORY_STEP)
    print(report(rows, idle, resident), end="\n\n")  # noqa: T201
    raw |= {
        "rows": {
            row.name: [vars(played) | {"cost": vars(played.cost)} for played in row.rounds]
            for row in rows
        },
        "latency_ms": [vars(one) for one in idle],
        "resident_mib": resident,
    }
    return floors(rows, idle, resident)


def _write(path: Path, raw: dict[str, object]) -> None:
    path.write_text(json.dumps(raw, indent=1))


def main() -> None:
    """Run and judge: exit code 1 where a floor is missed."""
    parser = argparse.ArgumentParser(prog="make bench ARGS=…", description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000, help="jobs of a round (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (%(default)s)")
    parser.add_argument("--latency-jobs", type=int, default=200, help="per round (%(default)s)")
    parser.add_argument("--skip-memory", action="store_true", help="leave out the 100,000 jobs")
    parser.add_argument(
        "--files", type=int, default=1_000_000, help="files of the lists (%(default)s)"
    )
    parser.add_argument(
        "--only",
        choices=_PARTS,
        action="append",
        help=f"a part: %(choices)s (default: {' and '.join(_USUAL_PARTS)})",
    )
    parser.add_argument("--json", type=Path, help="write every number to this file")
    options = parser.parse_args()
    options.only = options.only or _USUAL_PARTS
    if options.rounds < LEAST_ROUNDS:
        parser.error(f"fewer than {LEAST_ROUNDS} rounds say nothing, so there is no verdict")
    with tempfile.TemporaryDirectory(prefix="armka-bench-") as folder:
        well = asyncio.run(_run(options, Path(folder)))
    raise SystemExit(0 if well else 1)


if __name__ == "__main__":
    main()
