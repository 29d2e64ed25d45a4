-- name: job
-- One job as the API shows it.
select j.id, j.stored_file_id as file_id, f.original_name, j.pipeline, j.status, j.attempt, j.reply_deadline, j.created_at,
    j.published_at, j.last_published_at, j.publish_count, j.started_at, j.finished_at, j.service_name,
    j.service_version, j.metrics, j.error_code, j.error_message, j.group_schema
from recognition_job j join stored_file f on f.id = j.stored_file_id
where j.id = $1

-- name: page
-- Newest first, after the keyset ($1, $2) where one is given; $3: a status or null; $4: a file or null.
select j.id, j.stored_file_id as file_id, f.original_name, j.pipeline, j.status, j.attempt, j.reply_deadline, j.created_at,
    j.published_at, j.last_published_at, j.publish_count, j.started_at, j.finished_at, j.service_name,
    j.service_version, j.metrics, j.error_code, j.error_message, j.group_schema
from recognition_job j join stored_file f on f.id = j.stored_file_id
where (j.created_at, j.id)
        < (coalesce($1, 'infinity'::timestamptz), coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid))
    and ($3::text is null or j.status = $3)
    and ($4::uuid is null or j.stored_file_id = $4)
order by j.created_at desc, j.id desc
limit $5

-- name: events
-- The transitions of a job, in their order.
select from_status, to_status, cause, at from recognition_job_event where recognition_job_id = $1 order by id
