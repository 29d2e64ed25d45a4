"""The reckoning can be failed: what went wrong is named, and put in the right class."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from chaos.driver import Expected, Sending, Try
from chaos.reckoning import Found, Witness, reckon
from chaos.report import Inflicted, recovery, spread, unavailability
from chaos.schedule import Fault, Harm

EXPECTED = {"a.xlsx": Expected("DONE", None, "lines")}
FILE, JOB = UUID(int=1), UUID(int=2)
SENT = Sending("ref", "a.xlsx", 0.0, 1, [Try(1.0, 0.5, "201")], FILE)
UPLOAD, RESULT = f"uploads/{FILE}/source.xlsx", f"results/{FILE}/{JOB}/result.json"


def file_row(**columns: Any) -> dict[str, Any]:
    base = {"id": FILE, "client_ref": "ref", "original_name": "a.xlsx", "status": "DONE"}
    return base | {"error_code": None, "key": UPLOAD, "job_id": JOB} | columns


def found(**parts: Any) -> Found:
    base = Found(
        files=[file_row()],
        jobs=[{"id": JOB, "result_msg_id": "result:2:1"}],
        digests={FILE: "lines"},
        objects=[{"key": UPLOAD}, {"key": RESULT}],
        keys=frozenset({UPLOAD, RESULT}),
    )
    return replace(base, **parts)


def classes(sending: Sending, there: Found) -> tuple[dict[str, int], list[str]]:
    reckoning = reckon([sending], EXPECTED, there)
    return dict(+reckoning.classes), [text.split(":")[0] for text in reckoning.violations]


def test_what_is_in_order_is_ok():
    assert classes(SENT, found()) == ({"ok": 1}, [])


@pytest.mark.parametrize(
    ("there", "violation"),
    [
        (found(files=[], objects=[], keys=frozenset()), "lost"),
        (found(files=[file_row(status="PROCESSING")]), "lost"),
        (found(files=[file_row(status="ERROR", error_code="TIMEOUT")]), "lost"),
        (found(files=[file_row(original_name="b.xlsx")]), "lost"),
        (found(files=[file_row(id=UUID(int=9))]), "lost"),
        (found(digests={FILE: "other lines"}), "lost"),
        (found(digests={}), "lost"),
    ],
    ids=["gone", "not ended", "not retried", "renamed", "another", "other lines", "no lines"],
)
def test_what_was_confirmed_and_is_not_so_is_lost(there, violation):
    assert classes(SENT, there) == ({"lost": 1}, [violation])


def test_what_is_twice_or_was_never_sent_is_unexpected():
    twice = found(files=[file_row(), file_row(id=UUID(int=9))])
    assert classes(SENT, twice) == ({"ok": 1, "unexpected": 1}, ["doubled"])
    stranger = found(files=[file_row(), file_row(id=UUID(int=9), client_ref=None)])
    assert classes(SENT, stranger) == ({"ok": 1, "unexpected": 1}, ["unexpected"])


def test_what_was_never_confirmed_is_recovered_or_unknown():
    unheard = replace(SENT, file_id=None)
    assert classes(unheard, found()) == ({"recovered": 1}, [])
    empty = found(files=[], objects=[], keys=frozenset())
    assert classes(unheard, empty) == ({"unknown": 1}, [])


def test_the_bucket_is_compared_with_the_tables():
    missing = found(keys=frozenset({UPLOAD}))
    assert classes(SENT, missing) == ({"ok": 1}, ["missing"])
    stray = found(keys=frozenset({UPLOAD, RESULT, f"results/{FILE}/{uuid4()}/result.json"}))
    assert classes(SENT, stray) == ({"ok": 1}, ["unexpected"])


def test_objects_that_a_fault_explains_are_counted():
    """An upload whose rows failed waits for the sweep; a result whose job had ended is nobody's."""
    late = UUID(int=5)
    keys = {UPLOAD, RESULT, f"uploads/{uuid4()}/source.xls", f"results/{FILE}/{late}/result.json"}
    jobs = [{"id": JOB, "result_msg_id": "x"}, {"id": late, "result_msg_id": None}]
    reckoning = reckon([SENT], EXPECTED, found(keys=frozenset(keys), jobs=jobs))
    assert reckoning.violations == []
    assert (reckoning.unswept_uploads, reckoning.unclaimed_results) == (1, 1)


def test_a_witness_sees_a_final_job_change_or_vanish():
    witness = Witness()
    done = {"id": 1, "status": "done", "finished_at": "then"}
    assert witness.look([done, {"id": 2, "status": "queued", "finished_at": None}]) == []
    assert witness.look([done, {"id": 2, "status": "error", "finished_at": "now"}]) == []
    changed, gone = witness.look([done | {"status": "timeout"}])
    assert changed.startswith("overwritten: job 1")
    assert gone == "gone: job 2"


def test_what_the_senders_felt_is_measured():
    fault = Inflicted(Fault(1, 0.0, "nats", Harm.KILL, 2.0), begun=100.0, healed=102.0)
    assert unavailability(fault, [90.0, 99.5, 104.0, 104.1, 150.0]) == pytest.approx(45.9)
    assert unavailability(fault, [90.0, 99.5, 104.0, 123.0, 200.0]) == pytest.approx(19.0)
    assert recovery(fault, [(101.0, 102.1), (102.5, 104.0), (103.0, 103.5)]) == 1.5
    assert recovery(fault, [(101.0, 102.1)]) is None
    assert spread([3.0, 1.0, 2.0]) == {"p50": 2.0, "p95": 3.0, "max": 3.0}
