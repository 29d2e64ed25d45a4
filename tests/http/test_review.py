"""A review over the API: what was read, corrections under a revision, confirmations."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import openpyxl
import pytest

from tests import web
from tests.http.command_line import armka
from tests.http.serving import assert_problem
from tests.mapping.results import check, document, file_status, line, waiting
from tests.world import CoreProcess, World

MONEY = ["100.00", None, "50.00", "20.00", "130.00", None]
ZERO = [None, None, "5.00", "5.00", None, None]


def lines() -> list[dict[str, Any]]:
    """Account 60 with two subaccounts, one value of the second unknown, and a total."""
    unknown = {"column": "turnover_debit", "raw": "2O,00", "suggested": "20.00", "rule": "R1"}
    return [
        line(1, account="60", name="Расчеты с поставщиками", values=MONEY, row=9),
        line(2, account="60.01", name="Поставщики", parent=1, level=1, row=10,
             values=["60.00", None, "30.00", "10.00", "80.00", None]),
        line(3, account="60.02", name="Авансы", parent=1, level=1, row=11,
             values=["40.00", None, None, "10.00", "50.00", None], unknown=[unknown]),
        line(4, account="51", name="Расчетные счета", row=12, values=ZERO),
        line(5, kind="total", account=None, name="Итого", row=13,
             values=["100.00", None, "55.00", "25.00", "130.00", None]),
    ]  # fmt: skip


async def reviewed(world: World, **fields: Any) -> UUID:
    """A file that was read as `lines` are."""
    told = {"unit": 1, "lines": lines(), "checks": [], "columns": ["C", "D", "E", "F", "G", "H"]}
    job_id = await waiting(world, {"documents": [document(**told | fields)]}, status="needs_check")
    file = await file_status(world, job_id, "NEEDS_CHECK")
    file_id: UUID = file["id"]
    return file_id


class Reviewer:
    """Who reviews a file over the API."""

    def __init__(self, http: httpx.AsyncClient, file_id: UUID) -> None:
        self._http = http
        self._file = f"/api/v1/files/{file_id}"
        self._document = f"{self._file}/documents/1"

    async def look(self) -> tuple[dict[str, Any], dict[str, str]]:
        """The document, and the header that says what was seen."""
        answer = await self._http.get(self._document)
        assert answer.status_code == 200, answer.text
        assert answer.headers["etag"] == answer.json()["etag"]
        return answer.json(), {"If-Match": answer.headers["etag"]}

    async def correct(
        self, seen: dict[str, str], *edits: tuple[int, str, str | None], **more: Any
    ) -> httpx.Response:
        body = {"corrections": [{"line": n, "field": f, "value": v} for n, f, v in edits]} | more
        return await self._http.post(f"{self._document}/corrections", json=body, headers=seen)

    async def accept(self, seen: dict[str, str], **body: Any) -> httpx.Response:
        path = f"{self._document}/proposals/accept"
        return await self._http.post(path, json=body, headers=seen)

    async def say(self, word: str, **body: Any) -> httpx.Response:
        return await self._http.post(f"{self._file}/{word}", json=body)

    async def get(self, path: str, **asked: Any) -> Any:
        answer = await self._http.get(f"{self._document}{path}", params=asked)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
async def http(world: World) -> AsyncIterator[httpx.AsyncClient]:
    core: CoreProcess = await world.core()
    async with web.client(base_url=core.url, timeout=30) as client:
        yield client


async def test_a_correction_is_kept_with_what_was_there_and_its_checks_are_recomputed(
    world: World, http: httpx.AsyncClient
) -> None:
    """Amounts are understood as people write them; a wrong one fails at once, a right one mends."""
    reviewer = Reviewer(http, await reviewed(world))
    _, seen = await reviewer.look()
    wrong = await reviewer.correct(seen, (3, "turnover_debit", "1 021,00"), reason="see page 2")
    document = wrong.json()["document"]
    assert (document["revision"], document["unknown_count"]) == (1, 0)
    assert {one["rule"] for one in document["checks"]} == {"R1", "R3"}
    assert document["error_count"] == len(document["checks"])
    assert "1\u00a0051,00" in next(c["message"] for c in document["checks"] if c["rule"] == "R1")
    seen = {"If-Match": wrong.headers["etag"]}
    right = await reviewer.correct(
        seen, (3, "turnover_debit", "20"), (3, "name", "Авансы  выданные")
    )
    assert right.json()["document"]["checks"] == []
    (line,) = right.json()["lines"]
    assert (line["values"][2], line["name"]) == ("20.00", "Авансы выданные")
    first = next(one for one in line["corrected"] if one["field"] == "turnover_debit")
    assert (first["first_raw"], first["first_value"], first["times"]) == ("2O,00", None, 2)
    log = (await reviewer.get("/corrections"))["items"]
    told = [(it["revision"], it["field"], it["old_value"], it["new_value"]) for it in log]
    assert told[0] == (2, "name", "Авансы", "Авансы выданные")
    assert told[1:] == [
        (2, "turnover_debit", "1021.00", "20.00"),
        (1, "turnover_debit", None, "1021.00"),
    ]
    assert [it["was_unknown"] for it in log] == [False, False, True]
    assert log[2]["old_unknown"]["raw"] == "2O,00"
    assert (log[2]["reason"], log[2]["made_by"]) == ("see page 2", "api")


async def test_nobody_overwrites_what_they_have_not_seen(
    world: World, http: httpx.AsyncClient
) -> None:
    """Of two who saw the same one is told what the other changed; without a tag nothing is."""
    reviewer = Reviewer(http, await reviewed(world))
    _, seen = await reviewer.look()
    answers = await asyncio.gather(
        reviewer.correct(seen, (1, "opening_debit", "101")),
        reviewer.correct(seen, (1, "opening_debit", "102")),
    )
    won, lost = sorted(answers, key=lambda answer: answer.status_code)
    assert won.status_code == 200
    problem = assert_problem(lost, 412, "revision-moved")
    value = won.json()["lines"][0]["values"][0]
    assert [(it["old_value"], it["new_value"]) for it in problem["changes"]] == [("100.00", value)]
    assert problem["etag"] == lost.headers["etag"] == won.headers["etag"]
    assert_problem(await reviewer.correct({}, (1, "opening_debit", "9")), 428, "revision-needed")
    everything = {"If-Match": "*"}
    assert_problem(await reviewer.correct(everything, (1, "name", "x")), 412, "revision-moved")


async def test_the_same_request_again_changes_nothing_more(
    world: World, http: httpx.AsyncClient
) -> None:
    """A lost answer may be asked for again, though its tag is an old one by then."""
    reviewer = Reviewer(http, await reviewed(world))
    _, seen = await reviewer.look()
    named = seen | {"Idempotency-Key": "once"}
    first = await reviewer.correct(named, (4, "turnover_debit", "6"))
    again = await reviewer.correct(named, (4, "turnover_debit", "6"))
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json() == first.json()
    assert_problem(await reviewer.correct(named, (4, "turnover_debit", "7")), 422, "key-reused")
    now = {"If-Match": first.headers["etag"]}
    unchanged = await reviewer.correct(now, (4, "turnover_debit", "6,00"))
    assert unchanged.json()["document"]["revision"] == 1


@pytest.mark.parametrize(
    ("field", "typed", "code"),
    [
        ("turnover_debit", "1,234", "AMBIGUOUS"),
        ("turnover_debit", "—", "DASH"),
        ("turnover_debit", "двести", "NOT_AN_AMOUNT"),
        ("turnover_debit", "=1+1", "NOT_AN_AMOUNT"),
        ("account", "счет", "NOT_A_CODE"),
        ("level", "1", "NO_SUCH_VALUE"),
        ("name", "н" * 1001, "TOO_LONG"),
    ],
)
async def test_what_is_no_value_is_refused_and_takes_the_rest_with_it(
    world: World, http: httpx.AsyncClient, field: str, typed: str, code: str
) -> None:
    reviewer = Reviewer(http, await reviewed(world))
    _, seen = await reviewer.look()
    answer = await reviewer.correct(seen, (1, "opening_debit", "7"), (3, field, typed))
    problem = assert_problem(answer, 422, "value-refused")
    assert (problem["code"], problem["line"], problem["field"]) == (code, 3, field)
    assert (await reviewer.look())[0]["revision"] == 0


async def test_proposals_are_taken_one_by_one_or_all(world: World, http: httpx.AsyncClient) -> None:
    reviewer = Reviewer(http, await reviewed(world))
    _, seen = await reviewer.look()
    other = await reviewer.accept(seen, values=[{"line": 1, "field": "opening_debit"}])
    assert assert_problem(other, 422, "value-refused")["code"] == "NO_PROPOSAL"
    taken = await reviewer.accept(seen)
    assert taken.json()["document"]["unknown_count"] == 0
    assert taken.json()["lines"][0]["values"][2] == "20.00"
    (entry,) = (await reviewer.get("/corrections"))["items"]
    assert entry["origin"] == "proposal"


async def test_a_file_is_confirmed_with_a_reason_where_something_fails_and_reopened(
    world: World, http: httpx.AsyncClient
) -> None:
    """NEEDS_CHECK -> DONE -> NEEDS_CHECK; what is confirmed is not corrected."""
    file_id = await reviewed(world)
    reviewer = Reviewer(http, file_id)
    document, seen = await reviewer.look()
    problem = assert_problem(await reviewer.say("confirm"), 409, "reason-needed")
    assert (problem["failed_checks"], problem["unknown_count"]) == (0, 1)
    stale = await reviewer.say("confirm", revisions=[7], reason="x")
    assert_problem(stale, 412, "revision-moved")
    other = await reviewer.say("confirm", job_id=str(file_id), reason="x")
    assert_problem(other, 409, "attempt-superseded")
    assert_problem(await reviewer.say("reopen"), 409, "not-under-review")
    known = {"job_id": document["job_id"], "revisions": [document["revision"]]}
    done = await reviewer.say("confirm", **known, reason="the client has explained it")
    assert done.json()["status"] == "DONE"
    assert_problem(await reviewer.say("confirm", reason="x"), 409, "not-under-review")
    refused = await reviewer.correct(seen, (1, "opening_debit", "7"))
    assert_problem(refused, 409, "not-under-review")
    assert (await reviewer.say("reopen", reason="a new letter")).json()["status"] == "NEEDS_CHECK"
    words = (await reviewer.look())[0]["confirmations"]
    assert [word["action"] for word in words] == ["reopened", "confirmed"]
    assert words[1]["reason"] == "the client has explained it"
    audited = await world.db.fetch(
        "select action from audit_event where subject = $1", str(file_id)
    )
    assert [row["action"] for row in audited] == ["file.confirmed", "file.reopened"]


async def test_a_correction_of_an_attempt_that_no_longer_counts_is_refused(
    world: World, http: httpx.AsyncClient
) -> None:
    file_id = await reviewed(world)
    reviewer = Reviewer(http, file_id)
    _, seen = await reviewer.look()
    assert (await http.post(f"/api/v1/files/{file_id}/attempts")).status_code == 201
    refused = await reviewer.correct(seen, (1, "opening_debit", "7"))
    assert_problem(refused, 404, "document-not-found")


async def test_lines_are_found_by_their_problems_checks_accounts_and_words(
    world: World, http: httpx.AsyncClient
) -> None:
    told = [check("error", rule="R3", lines=[1, 2, 3]), check("warning", lines=[4])]
    reviewer = Reviewer(http, await reviewed(world, checks=told))

    async def found(**asked: Any) -> list[int]:
        return [line["n"] for line in (await reviewer.get("/lines", **asked))["items"]]

    assert await found(problems=True) == [1, 3, 4]
    assert await found(check=1) == [1, 2, 3]
    assert await found(account="60") == [1, 2, 3]
    assert await found(account="60.02") == [3]
    assert await found(text="аванс") == [3]
    assert await found(text="60.0") == [2, 3]
    assert await found(account="60", problems=True, after=1) == [3]
    page = await reviewer.get("/lines", limit=2)
    assert ([line["n"] for line in page["items"]], page["next"]) == ([1, 2], 2)


async def test_the_source_shows_what_stood_in_each_cell_before_any_correction(
    world: World, http: httpx.AsyncClient
) -> None:
    header = {"shape": "pairs", "rows": [7, 8], "label": "A", "name": "B"}
    source = {"sheet": "TDSheet", "header": header}
    reviewer = Reviewer(http, await reviewed(world, source=source))
    _, seen = await reviewer.look()
    await reviewer.correct(seen, (3, "turnover_debit", "21"), (1, "opening_debit", None))
    grid = await reviewer.get("/source")
    assert [column["letter"] for column in grid["columns"]] == list("ABCDEFGH")
    rows = {row["row"]: [cell and cell["text"] for cell in row["cells"]] for row in grid["rows"]}
    assert rows[9][:3] == ["60", "Расчеты с поставщиками", "100,00"]
    assert rows[11][:5] == ["60.02", "Авансы", "40,00", "", "2O,00"]
    cell = grid["rows"][2]["cells"][4]
    assert (cell["line"], cell["field"]) == (3, "turnover_debit")


BOXES = [[0.5, 0.1, 0.6, 0.12], None, [0.6, 0.1, 0.7, 0.12], None, None, None]
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20


async def scanned(world: World, raw: bytes | None) -> UUID:
    """A file that was read off a page, with the raw answer of the scanning system."""
    values = ["100.00", None, "50.00", None, None, None]
    own = line(1, page=1, boxes=BOXES, confidence=[0.9, None, 0.5, None, None, None], values=values)
    file_id = await reviewed(world, lines=[own], source={"pages": [1]}, columns=None)
    job_id = await world.db.fetchval(
        "select current_recognition_job_id from stored_file where id = $1", file_id
    )
    if raw is not None:
        await world.store.put(f"raw/{job_id}.json", raw)
        kept = """insert into s3_object (bucket, key, bucket_role)
            values ('arm-ka', $1, 'raw') returning id"""
        raw_id = await world.db.fetchval(kept, f"raw/{job_id}.json")
        update = "update recognition_job set raw_s3_object_id = $2 where id = $1"
        await world.db.execute(update, job_id, raw_id)
    return file_id


async def test_a_page_is_drawn_of_the_raw_answer(world: World, http: httpx.AsyncClient) -> None:
    word = {"text": "Итого", "box": [100, 50, 300, 100], "confidence": 0.8}
    preview = {"media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    page = {"number": 1, "width": 1000, "height": 500, "words": [word], "preview": preview}
    file_id = await scanned(world, json.dumps({"pages": [page], "engine": {}}).encode())
    reviewer = Reviewer(http, file_id)
    shown = await reviewer.get("/pages/1")
    assert shown["words"] == [{"text": "Итого", "box": [0.1, 0.1, 0.3, 0.2], "confidence": 0.8}]
    assert shown["has_picture"]
    picture = await http.get(f"/api/v1/files/{file_id}/documents/1/pages/1/picture")
    assert (picture.headers["content-type"], picture.content) == ("image/png", PNG)
    assert picture.headers["x-content-type-options"] == "nosniff"
    missing = await http.get(f"/api/v1/files/{file_id}/documents/1/pages/2")
    assert_problem(missing, 404, "page-not-kept")


@pytest.mark.parametrize("raw", [None, b"<html>", b'{"pages": [{"number": "one"}]}'])
async def test_without_an_answer_of_our_kind_a_page_shows_its_values(
    world: World, http: httpx.AsyncClient, raw: bytes | None
) -> None:
    reviewer = Reviewer(http, await scanned(world, raw))
    shown = await reviewer.get("/pages/1")
    assert [(word["text"], word["box"]) for word in shown["words"]] == [
        ("100,00", BOXES[0]),
        ("50,00", BOXES[2]),
    ]
    assert not shown["has_picture"]


async def test_what_was_done_is_not_undone_in_the_database(
    world: World, http: httpx.AsyncClient
) -> None:
    reviewer = Reviewer(http, await reviewed(world))
    _, seen = await reviewer.look()
    await reviewer.correct(seen, (1, "opening_debit", "7"))
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="is kept"):
        await world.db.execute("update osv_correction set new_value = '8'")


async def test_it_is_reviewed_on_the_command_line(
    world: World, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    """Shown, corrected, confirmed, reopened; what is exported says what was corrected."""
    file_id, url = await reviewed(world), str(http.base_url)

    async def documents(*words: object) -> tuple[int, str]:
        return await armka(url, "documents", *words)

    code, said = await documents("show", file_id, "--json")
    assert (code, json.loads(said)["unknown_count"]) == (0, 1)
    code, said = await documents("lines", file_id, "--problems", "--json")
    assert (code, [json.loads(row)["n"] for row in said.splitlines()]) == (0, [3])
    assert (await documents("accept", file_id))[0] == 2
    assert (await documents("accept", file_id, "--all"))[0] == 0
    edit = ("1.name=Поставщики и подрядчики", "2.turnover_debit=1 031,00")
    code, said = await documents("correct", file_id, *edit, "--reason", "see page 2")
    assert (code, "R3" in said) == (0, True)
    code, said = await documents("correct", file_id, "2.level=7")
    assert (code, "no such value" in said) == (1, True)
    code, said = await documents("log", file_id, "--json")
    made = [json.loads(row) for row in said.splitlines()]
    assert [(it["line"], it["field"], it["origin"]) for it in made] == [
        (2, "turnover_debit", "typed"), (1, "name", "typed"), (3, "turnover_debit", "proposal"),
    ]  # fmt: skip
    assert {it["made_by"] for it in made} == {"cli"}
    code, said = await documents("confirm", file_id)
    assert (code, "reason" in said) == (1, True)
    for word in ("confirm", "reopen", "confirm"):
        code, said = await documents(word, file_id, "--reason", "told by telephone")
        assert (code, ("NEEDS_CHECK" if word == "reopen" else "DONE") in said) == (0, True)
    for ending in ("xlsx", "csv", "json"):
        assert (await documents("export", file_id, tmp_path / f"lines.{ending}"))[0] == 0
    _assert_marked(tmp_path)


def _assert_marked(folder: Path) -> None:
    """Each export says of the corrected amount what was read, and by whom it was changed."""
    told = "Обороты, дебет: было 30.00 (cli)"
    assert told in (folder / "lines.csv").read_text(encoding="utf-8-sig")
    [document] = json.loads((folder / "lines.json").read_bytes())["documents"]
    corrected = document["lines"][1]["corrected"]["turnover_debit"]
    assert (document["lines"][1]["values"][2], corrected["first_value"]) == ("1031.00", "30.00")
    sheet = openpyxl.load_workbook(folder / "lines.xlsx").active
    [amount] = [cell for row in sheet.iter_rows() for cell in row if cell.value == 1031]
    assert "было 30.00" in amount.comment.text
    assert amount.fill.fgColor.rgb != sheet.cell(amount.row, amount.column - 1).fill.fgColor.rgb
