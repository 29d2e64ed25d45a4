"""`armka conform`: verdicts, reports and exit codes, as a build server uses them."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.acceptance.test_command_line import Ran, armka
from tests.conformance.service.stage import ROOT, command
from tests.world import World

SOME = ("a-request-is-acknowledged", "the-acknowledgement-precedes-the-read")


@pytest.fixture
def conform(world: World):
    """Judges the reference service, or one with a fault."""

    async def run(fault: str | None, *options: object) -> Ran:
        env = world.env(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}")
        only = [word for name in SOME for word in ("--only", name)]
        return await armka(
            "conform", "service", "--pipeline", "tabular", "--patience", 10,
            "--command", shlex.join(command(fault)), *only, *options, env=env,
        )  # fmt: skip

    return run


async def test_a_conforming_service_ends_with_0(conform, tmp_path: Path) -> None:
    """The page needs nothing else, the XML is JUnit's, the JSON tells what was sent and heard."""
    page, xml = tmp_path / "report.html", tmp_path / "report.xml"
    ran = await conform(None, "--json", "--html", page, "--junit", xml)
    assert ran.code == 0, ran.err
    report: dict[str, Any] = json.loads(ran.out)
    assert report["conforms"]
    assert [one["id"] for one in report["checks"]] == list(SOME)
    events = "\n".join(report["checks"][0]["events"])
    assert "sent " in events
    assert "heard ack:" in events
    html = page.read_text()
    assert SOME[0] in html
    assert not any(word in html for word in ("<script", "<link", "src=", "url("))
    suite = ET.fromstring(xml.read_text())
    assert (suite.get("tests"), suite.get("failures")) == ("2", "0")


async def test_a_fault_ends_with_1_and_is_told(conform, tmp_path: Path) -> None:
    """What was sent, what was expected, what came, each with its time."""
    xml = tmp_path / "report.xml"
    ran = await conform("acks-after-reading", "--junit", xml)
    assert ran.code == 1
    assert "does not conform: 1 passed, 1 failed" in ran.out
    assert "expected: job " in ran.out
    assert "is held up by the kit" in ran.out
    failure = ET.fromstring(xml.read_text()).find("testcase/failure")
    assert failure is not None
    assert "expected: job " in str(failure.text)


async def test_what_cannot_be_judged_ends_with_2(world: World, tmp_path: Path) -> None:
    """A service that does not start, a check that does not exist, a file of no type."""
    base = ("conform", "service", "--pipeline", "tabular")
    dead = shlex.join((sys.executable, "-c", "print('no such setting'); raise SystemExit(3)"))
    ran = await armka(*base, "--command", dead, env=world.env())
    assert ran.code == 2
    assert "the service has ended before it answered" in ran.err
    assert "no such setting" in ran.err
    assert (await armka(*base, "--only", "be-kind")).code == 2
    text = tmp_path / "text.txt"
    text.touch()
    ran = await armka(*base, "--file", text, env=world.env())
    assert ran.code == 2
    assert "ends in no type of the tabular pipeline" in ran.err


async def test_a_misspelt_capability_is_told(world: World, tmp_path: Path) -> None:
    """A declaration that the kit does not know must not be taken for one that it heeds."""
    path = tmp_path / "capabilities.toml"
    path.write_text('file_tipes = ["XLS"]')
    ran = await armka(
        "conform", "service", "--pipeline", "tabular", "--capabilities", path, env=world.env()
    )
    assert ran.code == 2
    assert "file_tipes" in ran.err


async def test_both_kits_list_what_they_check() -> None:
    """Without servers, settings or a service."""
    for kit, count in (("service", 36), ("core", 70)):
        options = ("--pipeline", "tabular") if kit == "service" else ()
        ran = await armka("conform", kit, *options, "--list", "--json")
        assert ran.code == 0, ran.err
        assert len(ran.lines()) >= count


async def test_a_core_is_judged(world: World) -> None:
    """Any core, by its tables and subjects; what its settings do not allow does not apply."""
    core = await world.core()
    only = ("a-queued-job-is-published", "an-acknowledged-job-is-processing")
    ran = await armka(
        "conform", "core", "--database", world.dsn, "--nats", world.nats.url, "--json",
        "--setting", "OUTBOX_POLL_SECONDS=0.5", "--api", core.url,
        *[word for name in only for word in ("--only", name)],
        env=world.env(),
    )  # fmt: skip
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    assert [one["outcome"] for one in report["checks"]] == ["passed", "passed"]


async def test_a_core_without_its_database_is_not_judged(world: World) -> None:
    """Exit code 2, and the reason."""
    ran = await armka(
        "conform", "core", "--database", "postgresql://nobody@127.0.0.1:9/none", env=world.env()
    )
    assert ran.code == 2
    assert "the database" in ran.err
