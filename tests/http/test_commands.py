"""The commands that use the API: what a person does with files and jobs."""

import hashlib
import json
from pathlib import Path

import asyncpg
import httpx

from armka.cli import api as client
from armka.cli.upload import send_all
from tests.files import documents
from tests.http.command_line import armka
from tests.http.proxy import proxy
from tests.http.serving import QuietCore
from tests.http.test_bulk import _failed_files
from tests.http.test_files import _mapped
from tests.world import World


async def test_an_upload_whose_answer_was_lost_is_repeated_and_is_one_file(
    quiet_core: QuietCore, db: asyncpg.Connection, tmp_path: Path
) -> None:
    """Every second connection breaks off after the request: each document is there once."""
    paths = [tmp_path / f"{number}.pdf" for number in range(4)]
    lost = 0
    before = await db.fetchval("select count(*) from stored_file")
    for path in paths:
        path.write_bytes(documents.PDF)

    def answer_comes(data: bytes) -> bool:
        nonlocal lost
        lost += 1
        return lost % 2 == 0

    async with (
        proxy(quiet_core.url, lambda _: True, answer_comes) as url,
        client.client(url) as http,
    ):
        sent = await send_all(http, paths, None, lambda _: None)
    assert lost > len(paths)
    assert [item.refusal for item in sent] == [None] * len(paths)
    assert len({item.file_id for item in sent}) == len(paths)
    assert await db.fetchval("select count(*) from stored_file") == before + len(paths)


async def test_files_are_found_exported_and_withdrawn(
    quiet_core: QuietCore, api: httpx.AsyncClient, db: asyncpg.Connection, tmp_path: Path
) -> None:
    """By words of the name; saved where nothing was; gone from the list and back."""
    file_id, _ = await _mapped(api, db, "Квартальный отчёт.xlsx")
    url = quiet_core.url
    code, said = await armka(url, "files", "list", "--name", "квартальный", "--json")
    assert (code, [json.loads(line)["id"] for line in said.splitlines()]) == (0, [str(file_id)])
    for option, target in (("--csv", "a.csv"), ("--xlsx", "a.xlsx")):
        assert (await armka(url, "files", "export", file_id, tmp_path / target, option))[0] == 0
        assert (tmp_path / target).stat().st_size > 500
    code, said = await armka(url, "files", "export", file_id, tmp_path / "a.csv", "--csv")
    assert (code, "cannot write" in said) == (1, True)
    assert (await armka(url, "files", "source", file_id, tmp_path / "source"))[0] == 0
    digest = hashlib.sha256((tmp_path / "source").read_bytes()).hexdigest()
    assert digest == (await api.get(f"/files/{file_id}")).json()["sha256"]
    assert (await armka(url, "files", "withdraw", file_id, "--reason", "x"))[0] == 0
    assert (await armka(url, "files", "list", "--name", "квартальный", "--json"))[1] == ""
    assert (await armka(url, "files", "restore", file_id))[0] == 0
    code, said = await armka(url, "files", "list", "--name", "квартальный", "--json")
    assert str(file_id) in said


async def test_messages_of_a_job_are_listed(
    quiet_core: QuietCore, api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """With the reason why they were not applied."""
    _, job_id = await _mapped(api, db, "a.xlsx")
    await db.execute(
        "insert into rejected_message (reason, recognition_job_id) values ('late', $1)", job_id
    )
    code, said = await armka(quiet_core.url, "jobs", "messages", job_id, "--json")
    assert (code, json.loads(said)["reason"]) == (0, "late")
    assert "late" in (await armka(quiet_core.url, "jobs", "messages", job_id))[1]


async def test_all_failed_files_of_a_client_are_retried(world: World) -> None:
    """Followed to the end; without --yes a person is asked, and nobody is there to say yes."""
    files = await _failed_files(world.db, "7", 30)
    core = await world.core()
    command = ("files", "retry", "--status", "ERROR", "--client-ref", "7", "--json")
    assert (await armka(core.url, *command))[0] == 1
    code, said = await armka(core.url, *command, "--yes")
    operation = json.loads(said)
    assert (code, operation["outcomes"]) == (0, {"begun": len(files)})
    code, said = await armka(core.url, "files", "retry")
    assert (code, "--status" in said) == (2, True)
    attempts = await world.db.fetch("select attempt from recognition_job where attempt = 2")
    assert len(attempts) == len(files)
