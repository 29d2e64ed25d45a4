-- name: file
-- The file whose history is asked for.
select id, original_name, file_type, status, error_code, error_message, client_ref, uploaded_by, created_at, withdrawn_at,
    withdrawn_by, withdrawn_reason, current_recognition_job_id, xmin::text::bigint as version
from stored_file
where id = $1

-- name: attempts
-- Its attempts, first to last: what holds a queued one up, and who asked for many at once.
select j.id, j.attempt, j.pipeline, j.status, j.created_at, j.published_at, j.last_published_at, j.publish_count,
    j.request_subject, j.started_at, j.finished_at, j.mapped_at, j.service_name, j.service_version, j.error_code,
    j.error_message, j.group_schema, b.reason as obstacle, b.since as obstacle_since, o.requested_by as asked_by,
    o.reason as asked_reason
from recognition_job j
left join outbox_obstacle b on b.pipeline = j.pipeline and j.status = 'queued'
left join bulk_operation_item i on i.recognition_job_id = j.id
left join bulk_operation o on o.id = i.bulk_operation_id
where j.stored_file_id = $1
order by j.attempt, j.created_at, j.id

-- name: events
-- The transitions of these jobs, in their order.
select recognition_job_id, from_status, to_status, cause, at
from recognition_job_event
where recognition_job_id = any ($1::uuid[])
order by recognition_job_id, id

-- name: documents
-- What was read in these attempts, in short.
select id, recognition_job_id, ordinal, group_schema, title, organisation_name, period_text, line_count, unknown_count,
    error_count, warning_count, created_at
from osv_document
where recognition_job_id = any ($1::uuid[])
order by recognition_job_id, ordinal

-- name: checks
-- What the checks of these documents found, $2 findings a document at most.
select osv_document_id, rule, severity, message
from (
    select osv_document_id, ordinal, rule, severity, message,
        row_number() over (partition by osv_document_id order by ordinal) as place
    from osv_check
    where osv_document_id = any ($1::uuid[])
) c
where place <= $2
order by osv_document_id, ordinal

-- name: unmapped
-- Results of this file that could not be mapped.
select recognition_job_id, error_code, occurred_at
from quality_failure_fact
where recognition_job_id = any ($1::uuid[]) and failure_kind = 'MAPPING_ERROR'

-- name: rejected
-- What came for these jobs and was not applied, $2 of them at most.
select recognition_job_id, reason, detail, received_at
from rejected_message
where recognition_job_id = any ($1::uuid[])
order by id
limit $2

-- name: audit
-- What people did with the file, $2 of it at most.
select at, actor, action, reason, details
from audit_event
where subject = $1::text and action in ('file.attempt', 'file.withdrawn', 'file.restored', 'document.corrected')
order by id
limit $2

-- name: words
-- What analysts said of the file, $2 of it at most.
select c.action, c.reason, c.made_by, c.made_at, j.attempt
from osv_confirmation c join recognition_job j on j.id = c.recognition_job_id
where c.stored_file_id = $1
order by c.id
limit $2
