-- name: register_upload
-- The object, the file with its current job, and the queued job: together or not at all (F1). Said again, it waits for
-- the first saying to end and adds nothing to it.
with object as (
    insert into s3_object (bucket, key, bucket_role, size_bytes, sha256, created_by)
    values ($3, $4, 'uploads', $5, $6, 'core')
    on conflict (bucket, key) do nothing
    returning id
), file as (
    insert into stored_file (id, original_name, file_type, s3_object_id, current_recognition_job_id, client_ref)
    select $1, $7, $8, object.id, $2, $10 from object
    returning id
)
insert into recognition_job (id, stored_file_id, pipeline)
select $2, file.id, $9 from file

-- name: lock_file
-- The file whose next attempt is asked for; two who ask at once take turns here (A1).
select status, file_type, current_recognition_job_id from stored_file where id = $1 for no key update

-- name: current_job
-- How far the attempt that counts has come.
select status, pipeline from recognition_job where id = $1

-- name: begin_attempt
-- A new job with the next attempt becomes the file's current one (A1).
with job as (
    insert into recognition_job (stored_file_id, pipeline, attempt)
    select $1, $2, coalesce(max(attempt), 0) + 1 from recognition_job where stored_file_id = $1
    returning id, attempt
), file as (
    update stored_file f
    set current_recognition_job_id = job.id, status = 'PROCESSING', error_code = null, error_message = null,
        updated_at = now()
    from job where f.id = $1
)
select id, attempt from job

-- name: file
-- One file as the API shows it.
select f.id, f.original_name, f.file_type, f.status, f.error_code, f.error_message, f.client_ref, f.created_at,
    f.updated_at, f.current_recognition_job_id, o.size_bytes, o.sha256,
    j.status as job_status, j.attempt, j.pipeline, j.created_at as job_created_at, j.finished_at, j.service_name,
    j.service_version, j.group_schema
from stored_file f
join s3_object o on o.id = f.s3_object_id
left join recognition_job j on j.id = f.current_recognition_job_id
where f.id = $1

-- name: page
-- Newest first, after the keyset ($1, $2) where one is given; $3: a status or null.
select f.id, f.original_name, f.file_type, f.status, f.error_code, f.error_message, f.client_ref, f.created_at,
    f.updated_at, f.current_recognition_job_id, o.size_bytes, o.sha256,
    j.status as job_status, j.attempt, j.pipeline, j.created_at as job_created_at, j.finished_at, j.service_name,
    j.service_version, j.group_schema
from stored_file f
join s3_object o on o.id = f.s3_object_id
left join recognition_job j on j.id = f.current_recognition_job_id
where (f.created_at, f.id)
        < (coalesce($1, 'infinity'::timestamptz), coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid))
    and ($3::text is null or f.status = $3)
order by f.created_at desc, f.id desc
limit $4

-- name: current_attempt
-- Which attempt counts for a file.
select current_recognition_job_id from stored_file where id = $1

-- name: documents
-- The trial balances of an attempt.
select id, ordinal, kind, group_schema, title, organisation_name, organisation_inn, period_from, period_to, period_text,
    currency, unit, account, source, value_columns
from osv_document
where recognition_job_id = $1
order by ordinal

-- name: summaries
-- What was read for each of these jobs, in short.
select recognition_job_id, ordinal, group_schema, title, organisation_name, period_text, line_count, unknown_count,
    error_count, warning_count
from osv_document
where recognition_job_id = any ($1::uuid[])
order by recognition_job_id, ordinal

-- name: lines
-- A document's lines after line $2, in their order.
select n, parent, level, kind, account, name, indicator, currency, off_balance, opening_debit, opening_credit,
    turnover_debit, turnover_credit, closing_debit, closing_credit, unknown, sheet_row, page, boxes, confidence
from osv_line
where osv_document_id = $1 and n > $2
order by n
limit $3

-- name: checks
-- A document's failed checks.
select rule, severity, lines, value_column as "column", expected, actual, message
from osv_check
where osv_document_id = $1
order by ordinal

-- name: known_keys
-- Which of these upload keys belong to a file.
select key from s3_object where bucket = $1 and key = any ($2::text[])
