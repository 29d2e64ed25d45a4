-- name: end_overdue
-- published, processing -> timeout, with the files and the facts (W1, O4, Q1).
-- $1: rows at most; $2, $3: the budgets of tabular and image, for jobs without a deadline.
with cause as materialized (select set_config('armka.cause', 'deadline passed', true)), dated as materialized (
    select id
    from recognition_job
    where status in ('published', 'processing') and reply_deadline is not null and reply_deadline < clock_timestamp()
    order by reply_deadline, id
    limit $1
    for no key update skip locked
), undated as materialized (
    select id
    from recognition_job
    where status in ('published', 'processing') and reply_deadline is null
        and (
            pipeline = 'image' and coalesce(published_at, created_at) < clock_timestamp() - make_interval(secs => $3::float8)
            or pipeline <> 'image' and coalesce(published_at, created_at) < clock_timestamp() - make_interval(secs => $2::float8)
        )
    order by pipeline, coalesce(published_at, created_at), id
    limit $1
    for no key update skip locked
), overdue as (
    select id from dated union all select id from undated
), ended as (
    update recognition_job j
    set status = 'timeout', error_code = 'TIMEOUT', finished_at = now(),
        error_message = 'No result arrived before the reply deadline'
    from overdue, cause
    where j.id = overdue.id and j.status in ('published', 'processing')
    returning j.id, j.stored_file_id, j.pipeline, j.error_code, j.error_message, j.service_name, j.service_version
), file as (
    select f.id, e.error_code, e.error_message
    from stored_file f join ended e on e.stored_file_id = f.id and e.id = f.current_recognition_job_id
    order by f.id
    for no key update of f
), failed as (
    update stored_file f
    set status = 'ERROR', error_code = file.error_code, error_message = file.error_message, updated_at = now()
    from file where f.id = file.id
), fact as (
    insert into quality_failure_fact
        (recognition_job_id, stored_file_id, failure_kind, error_code, pipeline, service_name, service_version)
    select id, stored_file_id, 'TIMEOUT', error_code, pipeline, service_name, service_version from ended
)
select id from ended

-- name: next_deadline_seconds
-- How soon the nearest deadline passes; null when nothing waits.
select extract(epoch from reply_deadline - clock_timestamp())::float8
from recognition_job
where status in ('published', 'processing') and reply_deadline is not null
order by reply_deadline, id
limit 1
