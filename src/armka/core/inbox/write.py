"""The statements of a batch, in the order in which rows are locked: jobs, files, objects."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

import msgspec

from armka.contract import message_ids, object_keys
from armka.contract.envelope import Failed
from armka.core.database.pool import Connection
from armka.core.database.queries import load
from armka.core.inbox.decide import Acknowledge, Apply, Job, Reject, header
from armka.core.jobs.states import JobStatus
from armka.messaging.messages import Incoming

SQL = load(__package__)

_STATUSES = {status.value: status for status in JobStatus}
KEPT_BODY_BYTES = 64 * 1024
_KEPT_TEXT_CHARACTERS = 4000
_KEPT_NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Rejected:
    """A message that is kept instead of applied."""

    incoming: Incoming
    why: Reject


async def lock_jobs(connection: Connection, ids: Iterable[UUID]) -> dict[UUID, Job]:
    """Lock jobs and return those that exist."""
    rows = await connection.fetch(SQL.lock_jobs, list(ids))
    return {
        row["id"]: Job(
            id=row["id"],
            file_id=row["stored_file_id"],
            status=_STATUSES[row["status"]],
            attempt=row["attempt"],
            result_msg_id=row["result_msg_id"],
        )
        for row in rows
    }


async def acknowledge(connection: Connection, acks: Sequence[Acknowledge]) -> None:
    """Write `processing`."""
    if acks:
        await connection.execute(
            SQL.acknowledge,
            [ack.job for ack in acks],
            [_name(ack.envelope.service.name) for ack in acks],
            [_name(ack.envelope.service.version) for ack in acks],
        )


async def apply(
    connection: Connection, results: Sequence[Apply], acknowledged: Container[UUID], bucket: str
) -> None:
    """Write results with everything that hangs on them: files, objects, jobs, facts.

    `acknowledged`: the jobs whose `processing` came with their result and is written with it.
    """
    if not results:
        return
    failed = [
        (result, result.envelope) for result in results if isinstance(result.envelope, Failed)
    ]
    recognised = [result for result in results if result.status is not JobStatus.ERROR]
    if failed:
        await connection.execute(
            SQL.fail_files,
            [result.job for result, _ in failed],
            [result.file_id for result, _ in failed],
            [envelope.error.code.value for _, envelope in failed],
            [_text(envelope.error.message) for _, envelope in failed],
        )
    if recognised:
        await connection.execute(
            SQL.begin_files,
            [result.job for result in recognised],
            [result.file_id for result in recognised],
        )
    objects = await _register_objects(connection, results, bucket)
    await _apply_results(connection, results, acknowledged, objects)
    if failed:
        await connection.execute(
            SQL.write_facts, [result.job for result, _ in failed], "SERVICE_ERROR"
        )


async def _register_objects(
    connection: Connection, results: Sequence[Apply], bucket: str
) -> dict[str, UUID]:
    rows: dict[str, tuple[str, str]] = {}
    for result in results:
        service = _name(result.envelope.service.name)
        if result.envelope.result_s3 is not None:
            rows[object_keys.result(result.file_id, result.job)] = ("results", service)
        if result.envelope.raw_s3_key is not None:
            rows[object_keys.raw(result.job)] = ("raw", service)
    if not rows:
        return {}
    found = await connection.fetch(
        SQL.register_objects,
        [bucket] * len(rows),
        list(rows),
        [role for role, _ in rows.values()],
        [service for _, service in rows.values()],
    )
    return {row["key"]: row["id"] for row in found}


async def _apply_results(
    connection: Connection,
    results: Sequence[Apply],
    acknowledged: Container[UUID],
    objects: dict[str, UUID],
) -> None:
    envelopes = [result.envelope for result in results]
    errors = [envelope.error if isinstance(envelope, Failed) else None for envelope in envelopes]
    await connection.execute(
        SQL.apply_results,
        [result.job for result in results],
        [result.status.value for result in results],
        [_name(envelope.service.name) for envelope in envelopes],
        [_name(envelope.service.version) for envelope in envelopes],
        [_metrics(envelope.metrics) for envelope in envelopes],
        [error.code.value if error else None for error in errors],
        [_text(error.message) if error else None for error in errors],
        [envelope.result_schema_version for envelope in envelopes],
        [objects.get(object_keys.result(result.file_id, result.job)) for result in results],
        [objects.get(object_keys.raw(result.job)) for result in results],
        [_name(result.msg_id) for result in results],
        [result.job in acknowledged for result in results],
    )


async def tell_mapping(connection: Connection) -> None:
    """Wake the mapping cycle of every replica."""
    await connection.fetchval(SQL.tell_mapping)


async def keep_rejected(connection: Connection, rejected: Sequence[Rejected]) -> None:
    """Keep what was not applied."""
    if rejected:
        await connection.execute(
            SQL.keep_rejected,
            [item.why.reason for item in rejected],
            [_text(item.why.detail) for item in rejected],
            [item.why.job for item in rejected],
            [_optional(header(item.incoming.headers, message_ids.HEADER)) for item in rejected],
            [_name(item.incoming.subject) for item in rejected],
            [_metrics(dict(item.incoming.headers)) or "{}" for item in rejected],
            [item.incoming.body[:KEPT_BODY_BYTES] for item in rejected],
            [len(item.incoming.body) for item in rejected],
        )


async def end_poisoned(connection: Connection, job: UUID, file: UUID, why: str) -> bool:
    """End a job of which nothing can be written; whether it was not final yet (I6)."""
    code = await connection.fetchval(SQL.end_poisoned, job, file, _text(why))
    if code is None:
        return False
    await connection.execute(SQL.fail_files, [job], [file], [code], [_text(why)])
    await connection.execute(SQL.write_facts, [job], "NO_ACK")
    return True


async def reach(connection: Connection) -> None:
    """Return when the database serves."""
    await connection.execute(SQL.reach)


def _metrics(metrics: dict[str, object] | dict[str, str] | None) -> str | None:
    if metrics is None:
        return None
    encoded = msgspec.json.encode(metrics)
    # A NUL is legal JSON and illegal in PostgreSQL; only then is the slower way worth it.
    return (
        msgspec.json.encode(_without_nul(metrics)).decode()
        if b"\\u0000" in encoded
        else encoded.decode()
    )


def _without_nul(value: object) -> object:
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd")
    if isinstance(value, dict):
        return {_without_nul(key): _without_nul(item) for key, item in value.items()}
    return [_without_nul(item) for item in value] if isinstance(value, list) else value


def _text(text: str) -> str:
    return text.replace("\x00", "\ufffd")[:_KEPT_TEXT_CHARACTERS]


def _name(text: str) -> str:
    return text.replace("\x00", "\ufffd")[:_KEPT_NAME_CHARACTERS]


def _optional(text: str | None) -> str | None:
    return None if text is None else _name(text)
