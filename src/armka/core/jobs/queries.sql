-- name: job
-- One job as the API shows it.
select j.id, j.stored_file_id as file_id, f.original_name, j.pipeline, j.status, j.attempt, j.reply_deadline, j.created_at,
    j.published_at, j.last_published_at, j.publish_count, j.started_at, j.finished_at, j.service_name,
    j.service_version, j.metrics, j.error_code, j.error_message, j.group_schema,
    (select o.reason from outbox_obstacle o where j.status = 'queued' and o.pipeline = j.pipeline) as waiting_reason
from recognition_job j join stored_file f on f.id = j.stored_file_id
where j.id = $1

-- name: jobs
-- These jobs as the API shows them, newest first.
select j.id, j.stored_file_id as file_id, f.original_name, j.pipeline, j.status, j.attempt, j.reply_deadline, j.created_at,
    j.published_at, j.last_published_at, j.publish_count, j.started_at, j.finished_at, j.service_name,
    j.service_version, j.metrics, j.error_code, j.error_message, j.group_schema,
    (select o.reason from outbox_obstacle o where j.status = 'queued' and o.pipeline = j.pipeline) as waiting_reason
from recognition_job j join stored_file f on f.id = j.stored_file_id
where j.id = any ($1::uuid[])
order by j.created_at desc, j.id desc

-- name: look
-- A page of ids, newest first, after the keyset ($1, $2) where one is given. $3, $4: created from, and before; $5 status,
-- $6 file, $7 pipeline, $8 error_code, $9 service_name. It looks at $10 jobs at most and returns $11 of them at most, and
-- the last it looked at where there may be more.
with looked as materialized (
    select id, created_at, stored_file_id, status, pipeline, error_code, service_name
    from recognition_job
    where (created_at, id)
            < (coalesce($1, 'infinity'::timestamptz), coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid))
        and created_at >= coalesce($3, '-infinity'::timestamptz) and created_at < coalesce($4, 'infinity'::timestamptz)
    order by created_at desc, id desc
    limit $10
), found as (
    select id, created_at
    from looked
    where ($5::text is null or status = $5) and ($6::uuid is null or stored_file_id = $6)
        and ($7::text is null or pipeline = $7) and ($8::text is null or error_code = $8)
        and ($9::text is null or service_name = $9)
    order by created_at desc, id desc
    limit $11
), last_looked as (
    select id, created_at from looked order by created_at desc, id desc offset $10 - 1 limit 1
)
select id, created_at, true as is_found from found
union all
select id, created_at, false from last_looked

-- name: look_of_file
-- The same among the attempts of one file.
with looked as materialized (
    select id, created_at, stored_file_id, status, pipeline, error_code, service_name
    from recognition_job
    where (created_at, id)
            < (coalesce($1, 'infinity'::timestamptz), coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid))
        and created_at >= coalesce($3, '-infinity'::timestamptz) and created_at < coalesce($4, 'infinity'::timestamptz) and stored_file_id = $6::uuid
    order by created_at desc, id desc
    limit $10
), found as (
    select id, created_at
    from looked
    where ($5::text is null or status = $5) and ($6::uuid is null or stored_file_id = $6)
        and ($7::text is null or pipeline = $7) and ($8::text is null or error_code = $8)
        and ($9::text is null or service_name = $9)
    order by created_at desc, id desc
    limit $11
), last_looked as (
    select id, created_at from looked order by created_at desc, id desc offset $10 - 1 limit 1
)
select id, created_at, true as is_found from found
union all
select id, created_at, false from last_looked

-- name: statuses
-- Where these jobs are now.
select id, status from recognition_job where id = any ($1::uuid[])

-- name: events
-- The transitions of a job, in their order.
select from_status, to_status, cause, at from recognition_job_event where recognition_job_id = $1 order by id

-- name: messages
-- What came for a job and was not applied, latest first, after id $2.
select id, reason, detail, recognition_job_id as job_id, msg_id, subject, body_size, received_at
from rejected_message
where recognition_job_id = $1 and id < coalesce($2, 9223372036854775807)
order by id desc
limit $3

-- name: rejected
-- What was not applied, latest first, after id $1; of reason $2 or all. It looks at $3 messages at most and returns $4 of
-- them at most, and the last it looked at where there may be more.
with looked as materialized (
    select id, reason
    from rejected_message
    where id < coalesce($1, 9223372036854775807)
    order by id desc
    limit $3
), found as (
    select id from looked where $2::text is null or reason = $2 order by id desc limit $4
)
select m.id, m.reason, m.detail, m.recognition_job_id as job_id, m.msg_id, m.subject, m.body_size, m.received_at,
    (select id from looked order by id desc offset $3 - 1 limit 1) as last_looked
from found right join (values (1)) always (n) on true left join rejected_message m on m.id = found.id
order by m.id desc nulls last

-- name: message
-- One message with all that was kept of it.
select id, reason, detail, recognition_job_id as job_id, msg_id, subject, headers, body, body_size, received_at
from rejected_message
where id = $1

-- name: probe
-- Does the database serve?
select 1
