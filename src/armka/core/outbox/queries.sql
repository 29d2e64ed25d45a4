-- name: claim_queued
-- Oldest first, locked for this transaction, other replicas' rows skipped. Leaves: queued (by mark_published, refuse).
-- $4: pipelines whose requests cannot go out just now.
with claimed as materialized (
    select id, stored_file_id, pipeline, attempt, reply_deadline, created_at
    from recognition_job
    where status = 'queued' and pipeline <> all ($4::text[])
    order by created_at, id
    limit $1
    for update skip locked
)
select c.id, c.stored_file_id, c.pipeline, c.attempt,
    coalesce(c.reply_deadline, clock_timestamp() + make_interval(secs => case c.pipeline when 'image' then $3::float8 else $2::float8 end))
        as reply_deadline,
    f.file_type, f.original_name, o.bucket, o.key, o.bucket_role
from claimed c
join stored_file f on f.id = c.stored_file_id
join s3_object o on o.id = f.s3_object_id
order by c.created_at, c.id

-- name: claim_unanswered
-- Published, not acknowledged for $5 seconds, still in time (O3): to be published again, or given up by its count.
-- Where a stream keeps requests, $5 is its age: what was published before it was made is not in it (N4).
-- $4: pipelines whose requests cannot go out just now; of them only what was published more than $6 times, to be given up.
-- Leaves: published (by give_up, refuse); a republish keeps the status.
with claimed as materialized (
    select id, stored_file_id, pipeline, attempt, reply_deadline, published_at, created_at, publish_count
    from recognition_job
    where status = 'published' and (pipeline <> all ($4::text[]) or publish_count > $6)
        and coalesce(last_published_at, published_at, created_at) < clock_timestamp() - make_interval(secs => $5::float8)
        and coalesce(
            reply_deadline,
            coalesce(published_at, created_at) + make_interval(secs => case pipeline when 'image' then $3::float8 else $2::float8 end)
        ) > clock_timestamp()
    order by coalesce(last_published_at, published_at, created_at), id
    limit $1
    for update skip locked
)
select c.id, c.stored_file_id, c.pipeline, c.attempt, c.publish_count,
    coalesce(
        c.reply_deadline,
        coalesce(c.published_at, c.created_at) + make_interval(secs => case c.pipeline when 'image' then $3::float8 else $2::float8 end)
    ) as reply_deadline,
    f.file_type, f.original_name, o.bucket, o.key, o.bucket_role
from claimed c
join stored_file f on f.id = c.stored_file_id
join s3_object o on o.id = f.s3_object_id

-- name: claim_elsewhere
-- Published, still in time, and not to one of the subjects $5: another transport was in use, and its services may be gone.
-- $4: pipelines whose requests cannot go out just now. Leaves: published (by refuse); a republish keeps the status.
with claimed as materialized (
    select id, stored_file_id, pipeline, attempt, reply_deadline, published_at, created_at, publish_count
    from recognition_job
    where status = 'published' and request_subject <> all ($5::text[]) and pipeline <> all ($4::text[])
        and coalesce(
            reply_deadline,
            coalesce(published_at, created_at) + make_interval(secs => case pipeline when 'image' then $3::float8 else $2::float8 end)
        ) > clock_timestamp()
    order by coalesce(last_published_at, published_at, created_at), id
    limit $1
    for update skip locked
)
select c.id, c.stored_file_id, c.pipeline, c.attempt, c.publish_count,
    coalesce(
        c.reply_deadline,
        coalesce(c.published_at, c.created_at) + make_interval(secs => case c.pipeline when 'image' then $3::float8 else $2::float8 end)
    ) as reply_deadline,
    f.file_type, f.original_name, o.bucket, o.key, o.bucket_role
from claimed c
join stored_file f on f.id = c.stored_file_id
join s3_object o on o.id = f.s3_object_id

-- name: mark_published
-- queued -> published, and the file begins to be processed. Guarded, although the claim holds the lock.
with at as materialized (
    select clock_timestamp() as now, set_config('armka.cause', 'published', true)
), moved as (
    update recognition_job j
    set status = 'published', published_at = at.now, last_published_at = at.now, publish_count = j.publish_count + 1,
        request_msg_id = p.msg_id, request_subject = p.subject, reply_deadline = p.reply_deadline
    from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[]) as p (id, msg_id, subject, reply_deadline), at
    where j.id = p.id and j.status = 'queued'
    returning j.id, j.stored_file_id
), begun as (
    update stored_file f
    set status = 'PROCESSING', error_code = null, error_message = null, updated_at = now()
    from moved m
    where f.id = m.stored_file_id and f.current_recognition_job_id = m.id and f.status <> 'PROCESSING'
)
select count(*) from moved

-- name: mark_republished
-- published stays published: only the time and the count of the last publication move (O3).
with at as materialized (select clock_timestamp() as now)
update recognition_job j
set last_published_at = at.now, publish_count = j.publish_count + 1
from at
where j.id = any ($1::uuid[]) and j.status = 'published'

-- name: mark_resent
-- published stays published: the request is in the stream again; the event log says why (N4). $2: the subjects, $3: why.
with at as materialized (select clock_timestamp() as now), resent as (
    update recognition_job j
    set last_published_at = at.now, publish_count = j.publish_count + 1, request_subject = r.subject
    from unnest($1::uuid[], $2::text[]) as r (id, subject), at
    where j.id = r.id and j.status = 'published'
    returning j.id
)
insert into recognition_job_event (recognition_job_id, from_status, to_status, cause)
select id, 'published', 'published', $3 from resent order by id

-- name: give_up
-- published -> dlq / NO_ACK: the last publication stayed unanswered too. The file fails and a fact is written (O3, Q1).
with cause as materialized (select set_config('armka.cause', 'no acknowledgement', true)), ended as (
    update recognition_job j
    set status = 'dlq', error_code = 'NO_ACK', finished_at = now(),
        error_message = 'No service acknowledged the request, published ' || j.publish_count || ' times'
    from cause
    where j.id = any ($1::uuid[]) and j.status = 'published'
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
    select id, stored_file_id, 'NO_ACK', error_code, pipeline, service_name, service_version from ended
)
select id from ended

-- name: refuse
-- queued, published -> error / SCHEMA_MISMATCH: no valid request can be built of it (O2). $2: why, for each.
with cause as materialized (select set_config('armka.cause', 'request invalid', true)), ended as (
    update recognition_job j
    set status = 'error', error_code = 'SCHEMA_MISMATCH', error_message = r.reason, finished_at = now()
    from unnest($1::uuid[], $2::text[]) as r (id, reason), cause
    where j.id = r.id and j.status in ('queued', 'published')
    returning j.id, j.stored_file_id, j.pipeline, j.error_code, j.error_message
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
    insert into quality_failure_fact (recognition_job_id, stored_file_id, failure_kind, error_code, pipeline)
    select id, stored_file_id, 'REQUEST_INVALID', error_code, pipeline from ended
)
select count(*) from ended

-- name: block
-- The requests of pipeline $1 cannot go out, for the reason $2.
insert into outbox_obstacle (pipeline, reason) values ($1, $2)
on conflict (pipeline) do update set reason = excluded.reason where outbox_obstacle.reason <> excluded.reason

-- name: unblock
-- The requests of pipeline $1 go out.
delete from outbox_obstacle where pipeline = $1

-- name: next_unanswered_seconds
-- How soon the oldest unanswered publication becomes due; null when nothing waits. $1: the ack timeout in seconds.
select extract(epoch from coalesce(last_published_at, published_at, created_at) - clock_timestamp())::float8 + $1::float8
from recognition_job
where status = 'published'
order by coalesce(last_published_at, published_at, created_at), id
limit 1
