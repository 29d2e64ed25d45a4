-- name: claim
-- Jobs with a result whose file waits for it, oldest first, $2 looked at, $1 locked for this session at most.
-- The lateral limit makes it a walk along the index that stops early: a join would be planned over all of them.
-- Materialized: no more jobs are locked than are returned.
with look as materialized (
    select j.id, j.stored_file_id, j.status, j.result_s3_object_id
    from recognition_job j
    cross join lateral (
        select from stored_file f
        where f.id = j.stored_file_id and f.status = 'PROCESSING' and f.current_recognition_job_id = j.id
        limit 1
    ) f
    where j.status in ('done', 'needs_check') and j.mapped_at is null
    order by coalesce(j.finished_at, j.created_at), j.id
    limit $2
), locked as materialized (
    select * from look
    where pg_try_advisory_lock(hashtext('armka.mapping'), hashtext(id::text))
    limit $1
)
select l.id, l.stored_file_id, l.status, o.bucket, o.key
from locked l left join s3_object o on o.id = l.result_s3_object_id

-- name: release
-- The locks of a claim.
select pg_advisory_unlock_all()

-- name: lock_waiting
-- Which of these jobs' files still wait for them: jobs locked first, then files. Leaves no status.
with job as materialized (
    select id, stored_file_id from recognition_job
    where id = any ($1::uuid[]) and status in ('done', 'needs_check') and mapped_at is null
    order by id
    for no key update
)
select job.id
from job join stored_file f on f.id = job.stored_file_id
where f.status = 'PROCESSING' and f.current_recognition_job_id = job.id
order by f.id
for no key update of f

-- name: forget_documents
-- What an interrupted hand may have left of these jobs.
delete from osv_document where recognition_job_id = any ($1::uuid[])

-- name: take_time
-- A result of many lines may take longer than other statements may; for this transaction.
select set_config('statement_timeout', $1, true)

-- name: finish
-- The job learns its group_schema, the file its status: PROCESSING -> DONE, NEEDS_CHECK (M1).
with job as (
    update recognition_job j
    set group_schema = m.group_schema, mapped_at = now()
    from unnest($1::uuid[], $2::text[], $3::text[]) as m (id, group_schema, file_status)
    where j.id = m.id
    returning j.id, j.stored_file_id, m.file_status
)
update stored_file f
set status = job.file_status, error_code = null, error_message = null, updated_at = now()
from job where f.id = job.stored_file_id and f.current_recognition_job_id = job.id and f.status = 'PROCESSING'

-- name: fail
-- The result file is missing, foreign or invalid: PROCESSING -> ERROR / INVALID_RESULT, with a fact; the job keeps its status.
with job as (
    update recognition_job j
    set mapped_at = now()
    from unnest($1::uuid[], $2::text[]) as m (id, reason)
    where j.id = m.id
    returning j.id, j.stored_file_id, j.pipeline, j.service_name, j.service_version, m.reason
), file as (
    update stored_file f
    set status = 'ERROR', error_code = 'INVALID_RESULT', error_message = job.reason, updated_at = now()
    from job where f.id = job.stored_file_id and f.current_recognition_job_id = job.id and f.status = 'PROCESSING'
)
insert into quality_failure_fact
    (recognition_job_id, stored_file_id, failure_kind, error_code, pipeline, service_name, service_version)
select id, stored_file_id, 'MAPPING_ERROR', 'INVALID_RESULT', pipeline, service_name, service_version from job
on conflict (recognition_job_id, failure_kind) do nothing

-- name: set_aside
-- Results that no file waits for (their file moved on, or never named them): no cycle needs to look at them again.
-- Only old ones: whoever inserts by hand may be half-way.
update recognition_job j
set mapped_at = now()
from (
    select j.id
    from recognition_job j
    join stored_file f on f.id = j.stored_file_id
    where j.status in ('done', 'needs_check') and j.mapped_at is null
        and coalesce(j.finished_at, j.created_at) < now() - interval '1 hour'
        and (f.status <> 'PROCESSING' or f.current_recognition_job_id is distinct from j.id)
    order by coalesce(j.finished_at, j.created_at), j.id
    limit $1
    for no key update of j skip locked
) old
where j.id = old.id
