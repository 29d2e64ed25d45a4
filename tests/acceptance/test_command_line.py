"""The command line, as a person or a script uses it."""

import asyncio
import json
import os
import shutil
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from armka.services.scanning_system.tessdata import find_ocr
from tests.pages.scans import SCANS
from tests.world import CoreProcess, World, until

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"


@dataclass(frozen=True)
class Ran:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    def lines(self) -> list[dict[str, Any]]:
        """Its JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


async def armka(*arguments: object, env: dict[str, str] | None = None) -> Ran:
    """Run a command to its end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "armka.cli", *map(str, arguments),
        env=env or {"PATH": os.environ["PATH"]},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    return Ran(process.returncode or 0, out.decode(), err.decode())


@pytest.mark.smoke
async def test_the_demo_recognises_the_samples_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """`armka demo --exit`: every sample ends as samples/README.md says; no process stays."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "COLUMNS": "200"}
    ran = await armka("demo", "--exit", "--data", tmp_path / "demo", env=env)
    assert ran.code == 0, ran.err
    pictures_are_read = find_ocr(None).missing is None
    assert ran.out.count("DONE") == (13 if pictures_are_read else 12)
    assert ran.out.count("NEEDS_CHECK") == (4 if pictures_are_read else 3)
    for code in ("INVALID_DOCUMENT", "INVALID_FORMAT", "UNREADABLE"):
        assert code in ran.out
    assert "21 came to an end, 0 refused" in ran.out
    assert not _processes_of(tmp_path)


async def test_an_interrupted_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    """Ctrl-C while it shows its address."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "armka.cli", "demo", "--data", str(tmp_path / "demo"),
        env=env, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    async with asyncio.timeout(90):
        while b"Ctrl-C" not in await process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 0
    assert not _processes_of(tmp_path)


def _processes_of(folder: Path) -> list[str]:
    """Command lines that name the folder."""
    found = []
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = status.read_bytes().replace(b"\0", b" ").decode()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(folder) in command and "pytest" not in command:
            found.append(command)
    return found


@pytest.fixture
async def core(world: World) -> CoreProcess:
    """A core with a tabular parser beside it; the parser ends with the world's servers."""
    running = await world.core()
    log = world.folder / "service.log"
    with log.open("wb") as output:
        service = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "armka.cli", "service", "tabular-parser",
            env=world.env(), stdout=output, stderr=output,
        )  # fmt: skip
    world.cores.append(CoreProcess(service, "", log))
    return running


async def test_documents_go_in_and_their_lines_come_out(core: CoreProcess, tmp_path: Path) -> None:
    """upload, files list and show, jobs list and show, retry."""
    documents = shutil.copytree(SAMPLES, tmp_path / "documents")
    url = ("--url", core.url, "--json")
    for scan in SCANS:
        (documents / scan.name).unlink()
    sent = await armka("upload", documents, "--client-ref", "client-7", *url)
    assert (sent.code, len(sent.lines())) == (0, 18)
    assert "README.md" in sent.err

    async def ended() -> list[dict[str, Any]] | None:
        files = (await armka("files", "list", *url)).lines()
        return files if all(f["status"] not in {"UPLOADED", "PROCESSING"} for f in files) else None

    files = await until(ended)
    assert {item["client_ref"] for item in files} == {"client-7"}
    done = next(item for item in files if item["original_name"].startswith("ОСВ Ромашка"))
    shown = json.loads((await armka("files", "show", done["id"], "--lines", *url)).out)
    (document,) = shown["documents"]
    assert (document["organisation"]["name"], document["unit"]) == ('ООО "Ромашка-Трейд"', 1)
    total = next(line for line in document["lines"] if line["kind"] == "total")
    assert total["values"][0] == total["values"][1]
    assert len(document["lines"]) == done["documents"][0]["line_count"]

    retried = await armka("files", "retry", done["id"], *url)
    attempt = json.loads(retried.out)
    assert attempt["attempt"] == 2
    job = json.loads((await armka("jobs", "show", attempt["job_id"], *url)).out)
    assert (job["file_id"], job["attempt"]) == (done["id"], 2)

    async def again() -> bool:
        jobs = (await armka("jobs", "list", "--status", "done", *url)).lines()
        return attempt["job_id"] in {item["id"] for item in jobs}

    await until(again, seconds=30)
    assert "Ромашка" in (await armka("files", "show", done["id"], "--url", core.url)).out
    events = (await armka("jobs", "show", attempt["job_id"], "--url", core.url)).out
    assert "acknowledged" in events


async def test_a_refused_upload_is_told_and_counts(core: CoreProcess, tmp_path: Path) -> None:
    """Exit code 1, the good ones are in."""
    (tmp_path / "empty.xlsx").touch()
    sent = await armka(
        "upload", tmp_path / "empty.xlsx", next(SAMPLES.glob("*.xlsb")), "--url", core.url, "--json"
    )
    refused, taken = sent.lines()
    assert (sent.code, refused["code"]) == (1, "EMPTY_FILE")
    assert taken["file_id"]


async def test_without_a_core_the_commands_say_so() -> None:
    """Which address, and what to do."""
    ran = await armka("files", "list", "--url", "http://127.0.0.1:9")
    assert ran.code == 1
    assert "armka core" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "DATABASE_URL"),
        (
            {"DATABASE_URL": "postgresql://x/y", "OUTBOX_POLL_SECONDS": "soon"},
            "OUTBOX_POLL_SECONDS",
        ),
        (
            {"DATABASE_URL": "postgresql://x/y", "OPENBAO__NATS__NATS_SEED": "SUACANARY"},
            "OPENBAO__NATS__NATS_JWT",
        ),
        (
            {"DATABASE_URL": "postgresql://x/y", "OPENBAO__NATS__NATS_JWT": "eyCANARY"},
            "OPENBAO__NATS__NATS_SEED",
        ),
        ({"DATABASE_URL": "postgresql://x/y", "NATS_TRANSPORT": "pigeon"}, "NATS_TRANSPORT"),
    ],
)
async def test_wrong_settings_are_named_and_never_shown(
    settings: dict[str, str], said: str
) -> None:
    """N3: the variable and what is wrong with it; no value, no traceback."""
    ran = await armka("core", "--port", 0, env={"PATH": os.environ["PATH"], **settings})
    assert ran.code == 2
    assert said in ran.err
    assert "CANARY" not in ran.err
    assert "Traceback" not in ran.err


async def test_migrate_says_what_it_did(world: World) -> None:
    """And is content when there is nothing to do."""
    ran = await armka("migrate", env=world.env())
    assert (ran.code, ran.out.strip()) == (0, "the schema is up to date")
    gone = await armka(
        "migrate", env=world.env(DATABASE_URL="postgresql://nobody:CANARY@127.0.0.1:9/x")
    )
    assert gone.code == 1
    assert "CANARY" not in gone.err
    assert "Traceback" not in gone.err
