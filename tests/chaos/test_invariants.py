"""Each invariant holds for honest histories, and is broken by what it is about."""

from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import pytest

from chaos.invariants import STATEMENTS, broken

# A failed attempt and a good one of file 1, a job that nobody took, a late one, one under way.
FAILED, DONE, GIVEN_UP, LATE, LIVE = (UUID(int=number) for number in range(11, 16))

HISTORY = f"""
insert into s3_object (id, bucket, key, bucket_role)
select md5(n::text)::uuid, 'arm-ka', 'uploads/' || n, 'uploads' from generate_series(1, 4) n;

insert into stored_file (id, original_name, file_type, s3_object_id)
select lpad(n::text, 32, '0')::uuid, 'a.xlsx', 'XLSX', md5(n::text)::uuid
from generate_series(1, 4) n;

insert into recognition_job (id, stored_file_id, pipeline, attempt)
select id::uuid, lpad(file::text, 32, '0')::uuid, 'tabular', attempt from (values
    ('{FAILED}', 1, 1), ('{DONE}', 1, 2), ('{GIVEN_UP}', 2, 1), ('{LATE}', 3, 1), ('{LIVE}', 4, 1)
) as job (id, file, attempt);

update stored_file f set current_recognition_job_id = j.id, status = 'PROCESSING'
from recognition_job j where j.stored_file_id = f.id and j.id <> '{FAILED}';

update recognition_job set status = 'published', published_at = now() - interval '2 h',
    last_published_at = now() - interval '2 h', publish_count = 1, request_subject = 'files',
    request_msg_id = id || ':' || attempt, reply_deadline = now() - interval '1 h';
update recognition_job set publish_count = 4, last_published_at = now() where id = '{GIVEN_UP}';
update recognition_job set status = 'processing', started_at = now()
where id in ('{FAILED}', '{DONE}', '{LATE}');

update recognition_job set status = 'error', error_code = 'UNREADABLE', finished_at = now(),
    result_msg_id = 'result' where id = '{FAILED}';
update recognition_job set status = 'dlq', error_code = 'NO_ACK', finished_at = now()
where id = '{GIVEN_UP}';
update recognition_job set status = 'timeout', error_code = 'TIMEOUT', finished_at = now()
where id = '{LATE}';
insert into quality_failure_fact (recognition_job_id, failure_kind, error_code) values
    ('{FAILED}', 'SERVICE_ERROR', 'UNREADABLE'), ('{GIVEN_UP}', 'NO_ACK', 'NO_ACK'),
    ('{LATE}', 'TIMEOUT', 'TIMEOUT');
update stored_file f set status = 'ERROR', error_code = j.error_code
from recognition_job j where j.id = f.current_recognition_job_id and j.error_code is not null;

insert into s3_object (id, bucket, key, bucket_role)
select id, 'arm-ka', 'results/' || stored_file_id || '/' || id || '/result.json', 'results'
from recognition_job where id = '{DONE}';
update recognition_job set status = 'done', finished_at = now(), mapped_at = now(),
    result_msg_id = 'result', result_s3_object_id = id where id = '{DONE}';
update stored_file set status = 'DONE' where current_recognition_job_id = '{DONE}';
insert into osv_document (id, stored_file_id, recognition_job_id, ordinal, kind, group_schema,
    title, unit, source, line_count)
select id, stored_file_id, id, 1, 'OSV', 'accounts', 'ОСВ', 1, '{{}}', 1
from recognition_job where id = '{DONE}';
insert into osv_line (osv_document_id, n, level, kind, name, off_balance)
values ('{DONE}', 1, 0, 'account', '51', false);
"""

SPOILED = [
    (
        "a_job_ends_once",
        f"""insert into recognition_job_event (recognition_job_id, from_status, to_status, cause)
        values ('{DONE}', 'processing', 'done', 'twice')""",
    ),
    ("the_history_is_a_path", f"update recognition_job set status = 'dlq' where id = '{DONE}'"),
    (
        "the_history_is_a_path",
        "update recognition_job_event set from_status = 'queued' where to_status = 'processing'",
    ),
    ("the_history_is_a_path", f"update recognition_job set status = 'queued' where id = '{LIVE}'"),
    ("attempts_have_no_gaps", f"update recognition_job set attempt = 3 where id = '{DONE}'"),
    (
        "attempts_have_no_gaps",
        f"update stored_file set current_recognition_job_id = '{FAILED}' where status = 'DONE'",
    ),
    ("a_failure_is_one_fact", "delete from quality_failure_fact where failure_kind = 'NO_ACK'"),
    ("a_failure_is_one_fact", "delete from quality_failure_fact where failure_kind = 'TIMEOUT'"),
    (
        "a_failure_is_one_fact",
        "update quality_failure_fact set error_code = 'X' where failure_kind = 'SERVICE_ERROR'",
    ),
    (
        "a_failure_is_one_fact",
        f"""insert into quality_failure_fact (recognition_job_id, failure_kind)
        values ('{LIVE}', 'TIMEOUT')""",
    ),
    ("a_file_follows_its_current_job", "update stored_file set status = 'DONE', error_code = null"),
    (
        "a_file_follows_its_current_job",
        """update stored_file set status = 'ERROR', error_code = 'INVALID_RESULT'
        where status = 'DONE'""",
    ),
    ("a_publication_is_whole", f"update recognition_job set publish_count = 0 where id = '{LIVE}'"),
    ("a_publication_is_whole", "update recognition_job set publish_count = 5"),
    ("a_publication_is_whole", "update recognition_job set request_msg_id = 'x'"),
    ("moments_belong_to_statuses", "update recognition_job set finished_at = null"),
    ("moments_belong_to_statuses", "update recognition_job set started_at = now()"),
    ("a_recognised_job_has_its_own_result", "update recognition_job set result_msg_id = null"),
    ("a_recognised_job_has_its_own_result", "update s3_object set key = 'x' || id"),
    (
        "an_object_has_an_owner",
        "insert into s3_object (bucket, key, bucket_role) values ('arm-ka', 'x', 'results')",
    ),
    ("lines_belong_to_a_mapped_job", "delete from osv_line"),
    ("lines_belong_to_a_mapped_job", "update recognition_job set mapped_at = null"),
    (
        "a_timeout_is_after_the_deadline",
        "update recognition_job set reply_deadline = now() + interval '1 h'",
    ),
    (
        "giving_up_is_after_the_last_publication",
        f"update recognition_job set publish_count = 3 where id = '{GIVEN_UP}'",
    ),
    ("somebody_will_move_it_on", "update recognition_job set reply_deadline = null"),
]


@pytest.fixture
async def history(database: str) -> AsyncIterator[asyncpg.Connection]:
    """A database in which all of that has happened, and whose guards are off from here on."""
    db = await asyncpg.connect(database)
    try:
        await db.execute(HISTORY)
        await db.execute("set session_replication_role = replica")
        yield db
    finally:
        await db.close()


async def test_an_honest_history_breaks_nothing(history: asyncpg.Connection):
    assert await broken(history) == []


async def test_every_invariant_can_be_broken(history: asyncpg.Connection):
    """What is done to the tables is found, by the name of what it breaks."""
    assert {name for name, _ in SPOILED} == set(STATEMENTS)
    for name, spoiling in SPOILED:
        transaction = history.transaction()
        await transaction.start()
        await history.execute(spoiling)
        assert name in {one.name for one in await broken(history)}, spoiling
        await transaction.rollback()
