-- name: insert_object
insert into s3_object (bucket, key, bucket_role) values ($1, $2, $3) returning id

-- name: insert_file
insert into stored_file (id, original_name, file_type, s3_object_id, status) values ($1, $2, $3, $4, $5)

-- name: insert_bare_job
-- The two columns that must be given; the rest has a default.
insert into recognition_job (stored_file_id, pipeline) values ($1, $2) returning id

-- name: insert_job
-- Any column of the fixed ones, as JSON.
insert into recognition_job (
    id, stored_file_id, pipeline, status, attempt, reply_deadline, created_at, published_at, last_published_at, publish_count,
    request_msg_id, request_subject, started_at, finished_at, service_name, service_version, error_code, error_message,
    result_msg_id
)
select
    id, stored_file_id, pipeline, status, attempt, reply_deadline, created_at, published_at, last_published_at, publish_count,
    request_msg_id, request_subject, started_at, finished_at, service_name, service_version, error_code, error_message,
    result_msg_id
from jsonb_populate_record(
    null::recognition_job,
    jsonb_build_object('status', 'queued', 'attempt', 1, 'created_at', now(), 'publish_count', 0) || $1::text::jsonb
)

-- name: make_current
update stored_file set current_recognition_job_id = $2 where id = $1

-- name: insert_fact
insert into quality_failure_fact (recognition_job_id, stored_file_id, failure_kind) values ($1, $2, $3)

-- name: delete_facts
delete from quality_failure_fact where recognition_job_id = $1

-- name: set_status
update recognition_job set status = $2 where id = $1

-- name: finish_jobs
update recognition_job set status = $2, finished_at = now() where id = any ($1::uuid[])

-- name: job
select * from recognition_job where id = $1

-- name: jobs
select * from recognition_job where id = any ($1::uuid[])

-- name: attempts
select * from recognition_job where stored_file_id = $1 order by attempt, created_at

-- name: file
select * from stored_file where id = $1

-- name: object
select * from s3_object where id = $1

-- name: objects_of
-- The results and raw answers that name a job in their keys.
select * from s3_object where bucket_role <> 'uploads' and key like '%' || $1::text || '%' order by key

-- name: facts
select * from quality_failure_fact where recognition_job_id = $1 order by id

-- name: events
select * from recognition_job_event where recognition_job_id = $1 order by id

-- name: rejected
select * from rejected_message where recognition_job_id = $1 order by id

-- name: rejected_under
-- What was kept of a message with this id, whatever job it speaks of.
select * from rejected_message where msg_id = $1 order by id

-- name: line_count
select count(*) from osv_line l join osv_document d on d.id = l.osv_document_id where d.recognition_job_id = $1

-- name: now
select clock_timestamp()

-- name: lock_job
select from recognition_job where id = $1 for update

-- name: lock_file
-- Whoever would change the file waits; whoever only refers to it does not.
select from stored_file where id = $1 for no key update

-- name: backend
select pg_backend_pid()

-- name: waiting_for
-- Who waits for a lock that this backend holds.
select pid from pg_stat_activity where $1::integer = any (pg_blocking_pids(pid))

-- name: cut
select pg_terminate_backend($1)

-- name: cut_all
-- Everybody's connections to this database, but the kit's own.
select count(pg_terminate_backend(pid)) from pg_stat_activity
where datname = current_database() and application_name <> 'armka conform' and pid <> pg_backend_pid()

-- name: without_triggers
-- Nothing that hangs on a statement happens in this transaction: no NOTIFY either.
set local session_replication_role = replica

-- name: last_rejected
select coalesce(max(id), 0) from rejected_message

-- name: rejected_since
-- What was kept after id $1 of a message of $2 bytes with the id $3, or without one.
select * from rejected_message where id > $1 and body_size = $2 and msg_id is not distinct from $3 order by id limit 1
