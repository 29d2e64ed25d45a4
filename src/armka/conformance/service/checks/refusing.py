"""Requests that do not keep the contract (C3, C4.2, C4.3, OQ-71)."""

import dataclasses
import json
from collections.abc import Iterable
from uuid import uuid4

from armka.conformance.findings import Contradicted
from armka.conformance.service import violations
from armka.conformance.service.asked import Asked
from armka.conformance.service.capabilities import AttemptSource
from armka.conformance.service.check import check
from armka.conformance.service.surface import Surface, valid_fields
from armka.conformance.service.violations import Violation
from armka.contract import message_ids, schema_files

_IDS = ("job_id", "file_id")


def _violations(surface: Surface) -> list[Violation]:
    valid = valid_fields(surface.target.pipeline, surface.objects.bucket)
    return list(violations.violations(schema_files.load(schema_files.REQUEST), valid))


async def _asked(surface: Surface, violation: Violation) -> Asked:
    """A job of its own with this fault."""
    made = await surface.prepare(stored=False)
    own: dict[str, object] = {"job_id": made.job_id, "file_id": made.file_id}
    attempt = made.attempt
    if violation.where != "attempt":
        own["attempt"] = attempt
    elif violation.keyword == "maximum":
        attempt = int(violation.value)
    fields = json.loads(violation.body) | own
    return dataclasses.replace(made, attempt=attempt, fields=fields)


def _lacks_an_attempt(violation: Violation) -> bool:
    """A number that is too large is an attempt all the same."""
    return violation.where == "attempt" and violation.keyword != "maximum"


async def _refused(surface: Surface, asked: Asked, fault: object) -> None:
    end = await surface.ended(asked, acked=False)
    expected = f"{fault}: error / SCHEMA_MISMATCH"
    surface.judge(expected, (end.status, end.code) == ("error", "SCHEMA_MISMATCH"), end)


async def _refuses_all(surface: Surface, faults: Iterable[tuple[Asked, object]]) -> None:
    pairs = list(faults)
    await surface.send(*(asked for asked, _ in pairs))
    for asked, fault in pairs:
        await _refused(surface, asked, fault)
    await surface.served()
    for asked, fault in pairs:
        said = [one.status for one in surface.of(asked)]
        surface.expect(f"{fault}: one answer, and no `processing`", ["error"], said)


@check("C4.2")
async def an_invalid_request_is_refused(surface: Surface) -> None:
    """Every keyword of the schema is broken at every field, one at a time: with ids that can be
    read the answer is error / SCHEMA_MISMATCH as result:<job_id>:<attempt>, without `processing`
    before it. The service goes on.
    """
    faults = [
        (await _asked(surface, one), one)
        for one in _violations(surface)
        if one.where not in ("", *_IDS, "schema_version") and not _lacks_an_attempt(one)
    ]
    surface.note = f"{len(faults)} invalid requests"
    await _refuses_all(surface, faults)


@check("C3 C4.2")
async def another_major_is_refused(surface: Surface) -> None:
    """2.0, 0.9, 11.0, and what is no MAJOR.MINOR at all: error / SCHEMA_MISMATCH."""
    faults = [
        (await _asked(surface, one), one)
        for one in _violations(surface)
        if one.where == "schema_version"
    ]
    await _refuses_all(surface, faults)


@check("C3")
async def any_minor_is_served(surface: Surface) -> None:
    """1.1, 1.12 and 1.999 are spoken as 1.0 is."""
    for version in ("1.1", "1.12", "1.999"):
        asked = await surface.ask(schema_version=version)
        await surface.acked(asked)
        end = await surface.ended(asked)
        surface.judge(f"{version} is no SCHEMA_MISMATCH", end.code != "SCHEMA_MISMATCH", end)


@check("C3")
async def unknown_fields_are_ignored(surface: Surface) -> None:
    """Fields that no schema knows, at the top and within s3, change nothing."""
    made = await surface.prepare()
    s3 = made.fields["s3"] | {"version_id": 7, "etag": None}
    more = {"group_schema": "accounts", "priority": 5, "from_1_7": {"a": [1, {}]}, "s3": s3}
    asked = surface.spoiled(made, **more)
    await surface.send(asked)
    await surface.acked(asked)
    end = await surface.ended(asked)
    surface.judge("no SCHEMA_MISMATCH", end.code != "SCHEMA_MISMATCH", end)


@check("C4.3")
async def an_unreadable_request_is_dropped(surface: Surface) -> None:
    """No JSON, no object, or ids that are missing or no UUID: nothing is published, whatever stands
    in the header. The service goes on.
    """
    valid = valid_fields(surface.target.pipeline, surface.objects.bucket)
    faults = [one for one in _violations(surface) if one.where in ("", *_IDS)]
    faults += violations.unreadable(valid)
    surface.note = f"{len(faults)} unreadable requests"
    await surface.send_raw(*((one.body, message_ids.of_request(uuid4(), 1)) for one in faults))
    await surface.served()
    await surface.stays(
        "nothing is published for a request whose ids cannot be read",
        lambda: not surface.strangers(),
        surface.strangers,
    )


@check("C4.2 OQ-71")
async def the_attempt_of_an_invalid_request(surface: Surface) -> None:
    """Without an integer attempt ≥ 1 in the body the answer bears the one of the request's
    Nats-Msg-Id, and there is none without it; or 1 is put in. The report tells which variant it is.
    """
    faults = [one for one in _violations(surface) if _lacks_an_attempt(one)]
    with_id = [(await _asked(surface, one), one) for one in faults]
    without = [(await _asked(surface, one), one) for one in faults]
    await surface.send(*(asked for asked, _ in with_id))
    await surface.send(*(asked for asked, _ in without), headers=False)
    await surface.served()
    await surface.quiet()
    found = {_variant(surface, *one) for one in zip(with_id, without, strict=True)}
    surface.expect("one variant for every fault", 1, len(found))
    (variant,) = found
    declared = surface.target.capabilities.missing_attempt
    if declared is not None:
        surface.expect("OQ-71, as the capabilities say", declared, variant)
    surface.note = (
        "OQ-71: takes the attempt from the request's Nats-Msg-Id, else does not answer"
        if variant is AttemptSource.HEADER
        else "OQ-71: puts 1 where the attempt is missing"
    )


def _variant(
    surface: Surface, with_id: tuple[Asked, Violation], without: tuple[Asked, Violation]
) -> AttemptSource:
    said = []
    for asked, fault in (with_id, without):
        for end in surface.of(asked):
            good = (end.status, end.code) == ("error", "SCHEMA_MISMATCH")
            surface.judge(f"{fault}: error / SCHEMA_MISMATCH, or nothing", good, end)
        said.append([end.msg_id for end in surface.of(asked)])
    header = [[message_ids.of_result(with_id[0].job_id, with_id[0].attempt)], []]
    one = [[message_ids.of_result(asked.job_id, 1)] for asked, _ in (with_id, without)]
    for ids, variant in ((header, AttemptSource.HEADER), (one, AttemptSource.ONE)):
        if said == ids:
            return variant
    if said == [[], []]:  # reads no header either, which the first variant allows
        return AttemptSource.HEADER
    expected = f"{with_id[1]}: {header}, with and without a header; or {one}; or nothing"
    raise Contradicted(expected, str(said))


@check("C4.4")
async def a_refused_job_is_still_new(surface: Surface) -> None:
    """A job that was answered SCHEMA_MISMATCH is answered again under the same id while its
    request is invalid, and served when it is valid.
    """
    asked = await surface.prepare()
    invalid = surface.spoiled(asked, file_type="DOCX")
    for number in (1, 2):
        await surface.send(invalid)
        await surface.comes(
            f"{asked}: SCHEMA_MISMATCH, for the {number}. time",
            lambda number=number: len(surface.ends(asked)) >= number,  # type: ignore[misc]
            lambda: surface.of(asked),
        )
    said = [(one.msg_id, one.code) for one in surface.of(asked)]
    surface.expect("both answers", [(asked.result_id, "SCHEMA_MISMATCH")] * 2, said)
    await surface.send(asked)
    await surface.comes(f"{asked}: `processing`, now that it is valid", lambda: surface.acks(asked))
    await surface.comes(
        f"{asked}: its result",
        lambda: [one for one in surface.ends(asked) if one.code != "SCHEMA_MISMATCH"],
        lambda: surface.of(asked),
    )
