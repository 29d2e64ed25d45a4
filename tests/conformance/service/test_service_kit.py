"""The kit for services: a conforming one passes every check, on both transports."""

import subprocess
import sys
from pathlib import Path

import pytest

from armka.conformance.outcome import Outcome
from armka.conformance.service.catalogue import BY_ID, CHECKS
from armka.contract.subjects import Transport
from armka.stack import NatsServer, ObjectServer
from tests.conformance.service import stage


@pytest.mark.timeout(400)
@pytest.mark.parametrize("transport", Transport)
async def test_a_conforming_service_passes(
    transport: Transport,
    nats_server: NatsServer,
    object_store_server: ObjectServer,
    tmp_path: Path,
) -> None:
    """Every check that applies; what does not says why."""
    target = stage.target(nats_server, object_store_server, "reference", transport)
    verdicts = await stage.judged(target, CHECKS, None, tmp_path / "log")
    failed = [(one.check.id, one.expected, one.seen) for one in verdicts if one.expected]
    assert failed == []
    aside = {one.check.id for one in verdicts if one.outcome is Outcome.NOT_APPLICABLE}
    other = {
        Transport.CORE: {one.id for one in CHECKS if one.room == "streaming"},
        Transport.JETSTREAM: {"an-unanswered-result-comes-again"},
    }
    assert aside == other[transport]


def test_ids_are_unique_and_summaries_told() -> None:
    """An id is what a report and a request for one check name."""
    assert len(BY_ID) == len(CHECKS)
    assert all(one.summary and one.promises for one in CHECKS)


def test_the_page_is_what_the_code_says() -> None:
    """`make reference` writes it."""
    command = [sys.executable, "-m", "tests.conformance.service.page"]
    environment = {"PYTHONPATH": f"{stage.ROOT / 'src'}:{stage.ROOT}", "PATH": "/usr/bin:/bin"}
    fresh = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, cwd=stage.ROOT, env=environment,
        encoding="utf-8", timeout=60,
    ).stdout  # fmt: skip
    assert (stage.ROOT / "docs/reference/checks.md").read_text() == fresh, "run `make reference`"
