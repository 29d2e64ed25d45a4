"""The services that there are conform, each judged as a black box by the kit."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from armka.conformance.outcome import Outcome
from armka.conformance.service import capabilities, documents, runner
from armka.conformance.service.capabilities import AttemptSource, Capabilities
from armka.conformance.service.catalogue import CHECKS
from armka.conformance.service.runner import Verdict
from armka.conformance.service.target import Target
from armka.contract.subjects import Transport
from armka.contract.vocabulary import Pipeline
from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.stack import NatsServer, ObjectServer
from tests.needed import lacking
from tests.scanning_system.conftest import TOKEN as SCANNING_TOKEN
from tests.scanning_system.conftest import serving, settings_for

ROOT = Path(__file__).parents[3]
NODE_SERVICE = ROOT / "examples/node-service"
SAMPLES = ROOT / "samples"
# A burst of 500 is the kit's usual one; here it would be most of the suite's time.
BURST = 100
SCANNED_BURST = 10


@pytest.fixture
def ask(nats_server: NatsServer, object_store_server: ObjectServer, tmp_path: Path):
    """Judges a service that the kit starts."""

    async def judge(
        command: tuple[str, ...],
        transport: Transport,
        declared: Capabilities,
        *files: Path,
        pipeline: Pipeline = Pipeline.TABULAR,
        **environment: str,
    ) -> list[Verdict]:
        target = Target(
            nats=NatsSettings(url=nats_server.url),
            objects=ObjectSettings.model_validate(object_store_server.env()),
            pipeline=pipeline,
            documents=tuple(documents.from_file(it, pipeline) for it in files),
            transport=transport,
            capabilities=declared,
            command=command,
            environment=_environment() | environment,
            log=tmp_path / "service.log",
            quiet_seconds=0.5,
        )
        return await runner.judged(target, CHECKS)

    return judge


def _environment() -> dict[str, str]:
    base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    # Both services wait ten seconds before they repeat an unanswered result.
    return base | {"SERVICE_REPEAT_SECONDS": "2", "REPEAT_SECONDS": "2"}


def _failed(verdicts: list[Verdict]) -> list[tuple[str, str, str]]:
    failed = [one for one in verdicts if one.outcome is Outcome.FAILED]
    return [(one.check.id, one.expected, one.seen) for one in failed]


@pytest.mark.timeout(400)
@pytest.mark.parametrize("transport", Transport)
async def test_tabular_parser_conforms(ask, transport: Transport) -> None:
    """With a sample of each format, on every transport."""
    samples = [
        next(SAMPLES.glob(f"*{ending}"))
        for ending in ("Ромашка*.xls", "Северный ветер.xlsx", ".xlsb")
    ]
    command = (sys.executable, "-m", "armka.cli", "service", "tabular-parser")
    declared = Capabilities(name="tabular-parser", burst=BURST)
    verdicts = await ask(command, transport, declared, *samples)
    assert _failed(verdicts) == []


@pytest.mark.timeout(400)
@pytest.mark.parametrize("transport", Transport)
async def test_scan_gateway_conforms(ask, transport: Transport, tmp_path: Path) -> None:
    """With a real ИС Сканирование behind it, and a printed page that needs no engine."""
    command = (sys.executable, "-m", "armka.cli", "service", "scan-gateway")
    declared = Capabilities(
        name="scan-gateway", missing_attempt=AttemptSource.ONE, burst=SCANNED_BURST
    )
    printed = ROOT / "tests/pages/samples/borderless.pdf"
    async with serving(settings_for(tmp_path / "scanning", concurrency=2)) as scanning:
        verdicts = await ask(
            command, transport, declared, printed, pipeline=Pipeline.IMAGE,
            SCANNING_URL=str(scanning.base_url), SCANNING_TOKEN=SCANNING_TOKEN,
        )  # fmt: skip
    assert _failed(verdicts) == []


@pytest.fixture(scope="session")
def node() -> str:
    """Node.js with the example's packages, as its lock file has them."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or npm is None:
        lacking("Node.js is not installed: `make system-deps` tells how")
    if not (NODE_SERVICE / "node_modules").exists():
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        done = subprocess.run(command, cwd=NODE_SERVICE, check=False, timeout=110)
        if done.returncode != 0:
            lacking("npm cannot fetch the example's packages")
    return program


@pytest.mark.timeout(400)
@pytest.mark.parametrize("transport", Transport)
async def test_the_service_in_another_language_conforms(
    ask, node: str, transport: Transport
) -> None:
    """The example in JavaScript, on both transports."""
    declared = capabilities.read(NODE_SERVICE / "capabilities.toml")
    command = (node, str(NODE_SERVICE / "service.mjs"))
    verdicts = await ask(command, transport, declared, NODE_SERVICE / "оборотка.xls")
    assert _failed(verdicts) == []


def test_no_lock_file_names_where_packages_come_from() -> None:
    """A bank installs from its own mirror; the hashes say that it got the same bytes."""
    lock = (NODE_SERVICE / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert lock.count('"integrity": "sha512-') > 5
