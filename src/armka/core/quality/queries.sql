-- name: backlog
-- What waits in each place, and since when: rows of the loops' partial indexes, $1 a place at most.
select 'queued' as place, count(*) as waiting, extract(epoch from now() - min(created_at))::float8 as seconds
from (
    select created_at from recognition_job where status = 'queued' order by created_at, id limit $1
) queued
union all
select 'published', count(*), extract(epoch from now() - min(since))::float8
from (
    select coalesce(last_published_at, published_at, created_at) as since
    from recognition_job where status = 'published'
    order by coalesce(last_published_at, published_at, created_at), id
    limit $1
) published
union all
select 'processing', count(*), extract(epoch from now() - min(coalesce(started_at, published_at, created_at)))::float8
from (
    select status, started_at, published_at, created_at
    from recognition_job where status in ('published', 'processing') and reply_deadline is not null
    order by reply_deadline, id
    limit $1
) processing
where status = 'processing'
union all
select 'blocked', count(*), extract(epoch from now() - min(created_at))::float8
from (
    select created_at from recognition_job
    where status = 'queued' and pipeline in (select pipeline from outbox_obstacle)
    order by created_at, id
    limit $1
) blocked
union all
select 'unmapped', count(*), extract(epoch from now() - min(since))::float8
from (
    select coalesce(finished_at, created_at) as since
    from recognition_job where status in ('done', 'needs_check') and mapped_at is null
    order by coalesce(finished_at, created_at), id
    limit $1
) unmapped

-- name: starts
-- Where the tails begin.
select (select coalesce(max(id), 0) from recognition_job_event) as events,
    (select coalesce(max(id), 0) from quality_failure_fact) as facts,
    (select coalesce(max(id), 0) from rejected_message) as rejected,
    now() - interval '150 seconds' as mapped_at

-- name: events
-- Transitions after id $1, $2 at most. Settled: no transaction that took an earlier id can still be open.
select e.id, e.to_status, j.pipeline, j.publish_count, e.from_status,
    extract(epoch from e.at - j.created_at)::float8 as seconds, e.at < now() - interval '30 seconds' as is_settled
from recognition_job_event e join recognition_job j on j.id = e.recognition_job_id
where e.id > $1
order by e.id
limit $2

-- name: facts
-- Failure facts after id $1, $2 at most.
select id, failure_kind, coalesce(pipeline, 'unknown') as pipeline,
    occurred_at < now() - interval '30 seconds' as is_settled
from quality_failure_fact
where id > $1
order by id
limit $2

-- name: rejected
-- Rejected messages after id $1, $2 at most.
select id, reason, received_at < now() - interval '30 seconds' as is_settled
from rejected_message
where id > $1
order by id
limit $2

-- name: mapped
-- Jobs mapped after ($1, $2), $3 at most; a transaction that maps may take two minutes.
select mapped_at, id, pipeline, extract(epoch from mapped_at - created_at)::float8 as seconds
from recognition_job
where mapped_at is not null and (mapped_at, id) > ($1, $2) and mapped_at < now() - interval '150 seconds'
order by mapped_at, id
limit $3
