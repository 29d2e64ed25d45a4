"""M1: result files become trial-balance lines, and files get their status."""

import json
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from tests import web
from tests.mapping import results
from tests.mapping.results import VALUES, check, document, line, result
from tests.world import World, until


async def test_a_result_becomes_lines_that_equal_it(world: World) -> None:
    """Every field of documents, lines and checks; amounts to the last digit; two documents."""
    await world.core()
    unknown = [
        {"column": "closing_credit", "raw": "12,5O", "suggested": "12.50", "rule": "letter O"}
    ]
    rich = [
        line(1, kind="group", account=None, name="АКТИВ", values=[None] * 6, row=8),
        line(
            2, parent=1, level=3, kind="currency", indicator="Вал", currency="USD",
            off_balance=True, values=[*VALUES[:5], None], unknown=unknown, row=9,
        ),
    ]  # fmt: skip
    boxes = [[0.1, 0.2, 0.3, 0.4], None, None, None, None, None]
    scan = line(1, page=2, boxes=boxes, confidence=[0.99, None, 0.5, 1, 0, None])
    content = {
        "documents": [
            document(lines=rich, checks=[check("error"), check("warning", column=None)]),
            document(
                lines=[scan], source={"pages": [2, 3]}, organisation=None, period=None,
                currency=None, columns=None, unit=1, account="60",
            ),
        ]
    }  # fmt: skip
    job_id = await results.waiting(world, content)
    file = await results.file_status(world, job_id, "NEEDS_CHECK")
    assert file["error_code"] is None
    assert (await world.row(job_id))["group_schema"] == "accounts_subaccounts"
    first, second = await results.documents(world, job_id)
    assert first["stored_file_id"] == second["stored_file_id"] == file["id"]
    assert (first["ordinal"], first["title"], first["unit"]) == (1, document()["title"], 1000)
    assert (first["organisation_name"], first["organisation_inn"]) == (
        "ООО «Ромашка»",
        "7701234567",
    )
    assert (first["period_from"], first["period_to"]) == (date(2023, 1, 1), date(2023, 12, 31))
    assert (first["currency"], first["value_columns"]) == ("RUB", ["B", "C", "D", "E", "F", "G"])
    counts = ("line_count", "unknown_count", "error_count", "warning_count")
    assert [first[name] for name in counts] == [2, 1, 1, 1]
    assert json.loads(second["source"]) == {"pages": [2, 3]}
    assert (second["organisation_name"], second["period_text"], second["account"]) == (
        None,
        None,
        "60",
    )
    for row, sent in zip(await results.lines(world, first["id"]), rich, strict=True):
        _equal(row, sent)
    (row,) = await results.lines(world, second["id"])
    _equal(row, scan)
    checks = await world.db.fetch(
        "select * from osv_check where osv_document_id = $1 order by ordinal", first["id"]
    )
    assert [(row["severity"], row["value_column"]) for row in checks] == [
        ("error", "opening_debit"),
        ("warning", None),
    ]
    assert (checks[0]["expected"], checks[0]["actual"]) == (Decimal("1.10"), Decimal(-2))
    assert (checks[0]["lines"], checks[0]["message"]) == ([1], "Не сходится")


def _equal(row: asyncpg.Record, sent: dict[str, Any]) -> None:
    for name in ("n", "level", "kind", "account", "name", "off_balance"):
        assert row[name] == sent[name]
    for name in ("parent", "indicator", "currency", "page"):
        assert row[name] == sent.get(name)
    assert row["sheet_row"] == sent.get("row")
    read = [None if row[name] is None else format(row[name], "f") for name in results.COLUMNS]
    assert read == sent["values"]
    for name in ("unknown", "boxes", "confidence"):
        assert (row[name] and json.loads(row[name])) == sent.get(name)


UNKNOWN = [{"column": "opening_credit", "raw": "?"}]


STATUSES: dict[str, tuple[str, dict[str, Any], str]] = {
    "clean": ("done", {}, "DONE"),
    "the service doubts": ("needs_check", {}, "NEEDS_CHECK"),
    "a warning of the file": ("done", {"warnings": ["Мелкий шрифт"]}, "DONE"),
    "warnings alone": ("done", {"documents": [document(checks=[check("warning")])]}, "DONE"),
    "a failed check in the second document": (
        "done",
        {"documents": [document(), document(checks=[check("warning"), check("error")])]},
        "NEEDS_CHECK",
    ),
    "an unknown value": (
        "done",
        {"documents": [document(lines=[line(1, unknown=UNKNOWN)])]},
        "NEEDS_CHECK",
    ),
    "no lines": ("done", {"documents": [document(lines=[])]}, "DONE"),
}


async def test_the_file_gets_the_status_that_the_result_deserves(world: World) -> None:
    """NEEDS_CHECK by the job, by an error-level check, by an unknown value; else DONE."""
    jobs = {
        name: await results.waiting(world, content, status=status)
        for name, (status, content, _) in STATUSES.items()
    }
    await world.core()
    for name, job_id in jobs.items():
        status, _, wanted = STATUSES[name]
        file = await results.file_status(world, job_id, "DONE", "NEEDS_CHECK", "ERROR")
        assert file["status"] == wanted, name
        assert (await world.row(job_id))["status"] == status
        assert await world.facts(job_id) == []


def _bad(**fields: Any) -> dict[str, Any]:
    return {"documents": [document(**fields)]}


UNUSABLE: dict[str, Any] = {
    "not JSON": b"<html>",
    "empty": b"",
    "no object": b"[]",
    "another major version": {"schema_version": "2.0"},
    "foreign job": {"job_id": str(uuid4())},
    "foreign file": {"file_id": str(uuid4())},
    "no documents": {"documents": []},
    "five values": _bad(lines=[line(1, values=["1"] * 5)]),
    "a number as a value": _bad(lines=[line(1, values=[1.5, None, None, None, None, None])]),
    "too many digits": _bad(lines=[line(1, values=["1" * 19, None, None, None, None, None])]),
    "an odd word": _bad(lines=[line(1, kind="а\0б")]),
    "an odd word with a surrogate": b'{"schema_version": "\\ud800"}',
    "n twice": _bad(lines=[line(1), line(1)]),
    "parent missing": _bad(lines=[line(1, parent=7)]),
    "parent later": _bad(lines=[line(1, parent=2), line(2)]),
    "own parent": _bad(lines=[line(1, parent=1)]),
    "parent with a greater number": _bad(lines=[line(5), line(3, parent=5)]),
    "check of no line": _bad(checks=[check("error", lines=[9])]),
    "unknown with a value": _bad(
        lines=[line(1, unknown=[{"column": "opening_debit", "raw": "?"}])]
    ),
    "no date": _bad(period={"from": "2023-02-30", "text": "x"}),
}


async def test_what_cannot_be_mapped_is_an_invalid_result_and_its_neighbours_are_mapped(
    world: World,
) -> None:
    """ERROR / INVALID_RESULT with a reason, one fact; the job keeps its status."""
    bad = {name: await results.waiting(world, content) for name, content in UNUSABLE.items()}
    good = [await results.waiting(world) for _ in range(3)]
    await world.core()
    for name, job_id in bad.items():
        message = await results.invalid(world, job_id)
        assert len(message) > 20, name
        assert "\0" not in message
    for job_id in good:
        await results.file_status(world, job_id, "DONE")


async def test_a_missing_foreign_or_huge_object_is_an_invalid_result(world: World) -> None:
    """Nothing under the key; a key in another bucket; none at all; more than RESULT_MAX_BYTES."""
    missing = await results.waiting(world)
    row = await world.row(missing)
    await world.store.delete(f"results/{row['stored_file_id']}/{missing}/result.json")
    elsewhere = await results.waiting(world)
    row = await world.row(elsewhere)
    await world.db.execute(
        "update s3_object set bucket = 'other' where id = $1", row["result_s3_object_id"]
    )
    unnamed = await results.waiting(world)
    await world.db.execute(
        "update recognition_job set result_s3_object_id = null where id = $1", unnamed
    )
    huge = await results.waiting(world, _bad(title="я" * 100_000))
    await world.core(RESULT_MAX_BYTES=100_000)
    messages = [await results.invalid(world, job) for job in (missing, elsewhere, unnamed, huge)]
    assert "no object" in messages[0]
    assert "another bucket" in messages[1]
    assert "no result file" in messages[2]
    assert "100000" in messages[3]


async def test_texts_that_the_database_cannot_hold_are_mapped_with_a_mark(world: World) -> None:
    """NUL in a name or a raw cell becomes U+FFFD; a backslash stays a backslash."""
    unknown = [{"column": "opening_credit", "raw": "a\0b \\u0000 \\\\u0000"}]
    content = _bad(
        title="О\0СВ",
        source={"sheet": "Лист\0 \\u0000"},
        lines=[line(1, name="Сч\0ёт", unknown=unknown)],
        checks=[check("error", message="\0")],
    )
    job_id = await results.waiting(world, content)
    await world.core()
    await results.file_status(world, job_id, "NEEDS_CHECK")
    (made,) = await results.documents(world, job_id)
    assert made["title"] == "О\ufffdСВ"
    assert json.loads(made["source"]) == {"sheet": "Лист\ufffd \\u0000"}
    (row,) = await results.lines(world, made["id"])
    assert row["name"] == "Сч\ufffdёт"
    assert json.loads(row["unknown"])[0]["raw"] == "a\ufffdb \\u0000 \\\\u0000"


async def test_a_result_of_an_attempt_that_no_longer_counts_is_left_alone(world: World) -> None:
    """Neither the file nor the job is touched, also when the cycle runs many times."""
    old = await results.waiting(world)
    row = await world.row(old)
    new = await world.job(row["stored_file_id"], status="processing", attempt=2)
    witness = await results.waiting(world)
    await world.core()
    await results.file_status(world, witness, "DONE")
    file = await world.file_of(old)
    assert (file["status"], file["current_recognition_job_id"]) == ("PROCESSING", new)
    assert await results.documents(world, old) == []
    assert (await world.row(old))["group_schema"] is None


async def test_a_file_that_has_moved_on_is_left_alone(world: World) -> None:
    """Only PROCESSING waits for a result."""
    states = ("UPLOADED", "ERROR", "DONE", "NEEDS_CHECK")
    jobs = {state: await results.waiting(world) for state in states}
    for state, job_id in jobs.items():
        await world.db.execute(
            "update stored_file set status = $2 where current_recognition_job_id = $1",
            job_id,
            state,
        )
    witness = await results.waiting(world)
    await world.core()
    await results.file_status(world, witness, "DONE")
    for state, job_id in jobs.items():
        assert (await world.file_of(job_id))["status"] == state
        assert await results.documents(world, job_id) == []


async def test_a_superseded_job_never_moves_the_file_again(world: World) -> None:
    """A1: mapped, tried again, and a late result of the first attempt changes nothing."""
    core = await world.core()
    first = await results.waiting(world)
    file = await results.file_status(world, first, "DONE")
    requests = await world.listen("files.tabular_uploaded")
    async with web.client(base_url=core.url) as http:
        made = (await http.post(f"/api/v1/files/{file['id']}/attempts")).json()
    request = json.loads((await requests.get()).data)
    assert (request["job_id"], request["attempt"]) == (made["job_id"], 2)
    late = await world.envelope(first, "error")
    assert (await world.ask(late, f"result:{first}:1"))["outcome"] == "late"
    file = await world.file_of(first)
    assert (file["status"], file["error_code"]) == ("PROCESSING", None)
    assert str(file["current_recognition_job_id"]) == made["job_id"]


async def test_a_fact_that_exists_already_does_not_stop_the_cycle(world: World) -> None:
    """Somebody set a failed file back by hand, and its result is still invalid."""
    job_id = await results.waiting(world, b"{}")
    await world.core()
    await results.invalid(world, job_id)
    await world.db.execute("update recognition_job set mapped_at = null where id = $1", job_id)
    await world.db.execute("update stored_file set status = 'PROCESSING'")
    await results.invalid(world, job_id)
    witness = await results.waiting(world)
    await results.file_status(world, witness, "DONE")


async def test_the_result_is_mapped_at_once_not_at_the_next_poll(world: World) -> None:
    """The inbox's commit wakes the cycle."""
    await world.core(MAPPING_POLL_SECONDS=60)
    await until(lambda: _listening(world))
    for _ in range(3):
        job_id = await results.waiting(world)
        await results.file_status(world, job_id, "DONE", seconds=10)


async def _listening(world: World) -> bool:
    return bool(
        await world.db.fetchval(
            "select count(*) from pg_stat_activity where application_name = 'arm-ka listener' "
            "and datname = current_database() and state = 'idle' and query ilike 'listen%'"
        )
    )


async def test_a_result_through_the_inbox_is_mapped(world: World) -> None:
    """The whole way of a result: S3, envelope, inbox, mapping."""
    await world.core()
    file_id = await world.file()
    job_id = await world.job(file_id)
    await world.status(job_id, "published")
    body = json.dumps(result(job_id, file_id)).encode()
    await world.store.put(f"results/{file_id}/{job_id}/result.json", body)
    answer = await world.ask(await world.envelope(job_id, "done"), f"result:{job_id}:1")
    assert answer["outcome"] == "applied"
    file = await results.file_status(world, job_id, "DONE")
    assert file["id"] == file_id
    assert UUID(str(file["current_recognition_job_id"])) == job_id
