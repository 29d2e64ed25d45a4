-- name: lock_jobs
-- The batch's jobs, locked in the order of their ids; whoever holds one is waited for, and what it did is seen (I1).
select id, stored_file_id, status, attempt, result_msg_id
from recognition_job
where id = any ($1::uuid[])
order by id
for no key update

-- name: acknowledge
-- published -> processing (I1).
with cause as materialized (select set_config('armka.cause', 'acknowledged', true))
update recognition_job j
set status = 'processing', started_at = now(), service_name = a.service_name, service_version = a.service_version
from unnest($1::uuid[], $2::text[], $3::text[]) as a (id, service_name, service_version), cause
where j.id = a.id and j.status = 'published'

-- name: fail_files
-- The files of failed jobs, where the job is the file's current one (I3).
with file as (
    select f.id, r.error_code, r.error_message
    from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as r (job_id, file_id, error_code, error_message)
    join stored_file f on f.id = r.file_id and f.current_recognition_job_id = r.job_id
    order by f.id
    for no key update of f
)
update stored_file f
set status = 'ERROR', error_code = file.error_code, error_message = file.error_message, updated_at = now()
from file where f.id = file.id

-- name: begin_files
-- The files of recognised jobs belong to the mapping cycle now; one whose job was still queued only begins (I3).
with file as (
    select f.id
    from unnest($1::uuid[], $2::uuid[]) as r (job_id, file_id)
    join stored_file f on f.id = r.file_id and f.current_recognition_job_id = r.job_id
    where f.status = 'UPLOADED'
    order by f.id
    for no key update of f
)
update stored_file f
set status = 'PROCESSING', error_code = null, error_message = null, updated_at = now()
from file where f.id = file.id

-- name: register_objects
-- Result files and raw answers; one that is known is used again (I2, I4).
insert into s3_object (bucket, key, bucket_role, created_by)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as o (bucket, key, bucket_role, created_by)
order by key
on conflict (bucket, key) do update set key = excluded.key
returning key, id

-- name: apply_results
-- queued, published, processing -> done, needs_check, error (I2). $12: the acknowledgement came with the result, and is
-- written with it: two transitions of one row (I1).
with cause as materialized (select set_config('armka.cause', 'result', true))
update recognition_job j
set status = r.status, service_name = r.service_name, service_version = r.service_version, finished_at = now(),
    started_at = case when r.was_acknowledged and j.status = 'published' then now() else j.started_at end,
    metrics = r.metrics, error_code = r.error_code, error_message = r.error_message,
    result_schema_version = r.result_schema_version, result_s3_object_id = r.result_s3_object_id,
    raw_s3_object_id = coalesce(r.raw_s3_object_id, j.raw_s3_object_id), result_msg_id = r.result_msg_id
from unnest(
    $1::uuid[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $6::text[], $7::text[], $8::text[], $9::uuid[],
    $10::uuid[], $11::text[], $12::boolean[]
) as r (
    id, status, service_name, service_version, metrics, error_code, error_message, result_schema_version,
    result_s3_object_id, raw_s3_object_id, result_msg_id, was_acknowledged
), cause
where j.id = r.id and j.status in ('queued', 'published', 'processing')

-- name: tell_mapping
-- After the commit, what the trigger tells for everybody else.
select pg_notify('armka_job_mappable', '')

-- name: write_facts
-- A failure of the kind $2, once a job (I3, I6, Q1).
insert into quality_failure_fact
    (recognition_job_id, stored_file_id, failure_kind, error_code, pipeline, service_name, service_version)
select id, stored_file_id, $2::text, error_code, pipeline, service_name, service_version
from recognition_job
where id = any ($1::uuid[])

-- name: keep_rejected
-- What was not applied, with the body up to a limit and its true size (I5, I7).
insert into rejected_message (reason, detail, recognition_job_id, msg_id, subject, headers, body, body_size)
select * from unnest(
    $1::text[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::jsonb[], $7::bytea[], $8::integer[]
)

-- name: end_poisoned
-- queued, published, processing -> dlq / POISON_MESSAGE: what was said of the job can never be written (I6).
-- $2: the file that the message names, $3: why. `fail_files` and `write_facts` follow.
with cause as materialized (select set_config('armka.cause', 'poisonous message', true))
update recognition_job j
set status = 'dlq', error_code = 'POISON_MESSAGE', error_message = $3, finished_at = now()
from cause
where j.id = $1 and j.stored_file_id = $2 and j.status in ('queued', 'published', 'processing')
returning j.error_code

-- name: reach
-- Whether the database serves, before messages are taken that would have to wait for it (I6).
select
