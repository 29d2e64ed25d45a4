-- name: register_upload
-- The object, the file with its current job, and the queued job: together or not at all (F1). Said again, it waits for
-- the first saying to end and adds nothing to it. With an Idempotency-Key ($11 scope, $12 key, $13 item, $14 digest) the
-- key is taken in the same breath, and where somebody has had it nothing else is written. $15: by whom, for the file;
-- $16 to $19: the same for the audit (kind, id, name, address).
-- Returns whether the file is new, and the ids of the last files that brought the same bytes before.
with earlier as materialized (
    select coalesce(array_agg(id order by created_at desc), '{}') as ids
    from (
        select f.id, f.created_at
        from s3_object o join stored_file f on f.s3_object_id = o.id
        where o.bucket_role = 'uploads' and o.sha256 = $6 and f.id <> $1
        order by o.created_at desc
        limit 10
    ) same
), claim as (
    insert into idempotency_key (scope, key, item, request_digest, answer)
    select $11, $12, $13, $14,
        jsonb_build_object('file_id', $1::uuid, 'job_id', $2::uuid, 'same_as', to_jsonb(earlier.ids))
    from earlier where $12::text is not null
    on conflict do nothing
    returning key
), object as (
    insert into s3_object (bucket, key, bucket_role, size_bytes, sha256, created_by)
    select $3, $4, 'uploads', $5, $6, 'core'
    where $12::text is null or exists (select from claim)
    on conflict (bucket, key) do nothing
    returning id
), file as (
    insert into stored_file (id, original_name, file_type, s3_object_id, current_recognition_job_id, client_ref, uploaded_by)
    select $1, $7, $8, object.id, $2, $10, $15 from object
    returning id
), audit as (
    insert into audit_event (actor_kind, actor_id, actor, address, action, subject)
    select $16, $17, $18, $19, 'file.uploaded', file.id from file
), job as (
    insert into recognition_job (id, stored_file_id, pipeline)
    select $2, file.id, $9 from file
)
select exists (select from file) as is_new, earlier.ids as same_as from earlier

-- name: lock_file
-- The file whose next attempt is asked for; two who ask at once take turns here (A1).
select status, file_type, current_recognition_job_id, withdrawn_at from stored_file where id = $1 for no key update

-- name: withdraw
-- Hidden from lists, nothing else: the statuses stay. The first withdrawal counts.
update stored_file set withdrawn_at = now(), withdrawn_by = $2, withdrawn_reason = $3
where id = $1 and withdrawn_at is null

-- name: restore
-- Back into the lists.
update stored_file set withdrawn_at = null, withdrawn_by = null, withdrawn_reason = null
where id = $1 and withdrawn_at is not null
returning id

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
    f.updated_at, f.uploaded_by, f.withdrawn_at, f.withdrawn_by, f.withdrawn_reason, f.current_recognition_job_id, o.size_bytes, o.sha256,
    j.status as job_status, j.attempt, j.pipeline, j.created_at as job_created_at, j.finished_at, j.service_name,
    j.service_version, j.group_schema
from stored_file f
join s3_object o on o.id = f.s3_object_id
left join recognition_job j on j.id = f.current_recognition_job_id
where f.id = $1

-- name: files
-- These files as the API shows them, newest first.
select f.xmin::text::bigint as version, f.id, f.original_name, f.file_type, f.status, f.error_code, f.error_message, f.client_ref, f.created_at,
    f.updated_at, f.uploaded_by, f.withdrawn_at, f.withdrawn_by, f.withdrawn_reason, f.current_recognition_job_id, o.size_bytes, o.sha256,
    j.status as job_status, j.attempt, j.pipeline, j.created_at as job_created_at, j.finished_at, j.service_name,
    j.service_version, j.group_schema
from stored_file f
join s3_object o on o.id = f.s3_object_id
left join recognition_job j on j.id = f.current_recognition_job_id
where f.id = any ($1::uuid[])
order by f.created_at desc, f.id desc

-- name: look
-- A page of ids, newest first, after the keyset ($1, $2) where one is given. $3, $4: created from, and before; $5 status,
-- $6 client_ref, $7 with the withdrawn ones, $8 file_type, $9 error_code, $10 part of the name, $11 part of an organisation.
-- It looks at $12 files at most and returns $13 of them at most, and the last it looked at where there may be more.
-- $14, $15: a document's period has a day in common with these dates.
with looked as materialized (
    select id, created_at, status, client_ref, file_type, error_code, original_name, current_recognition_job_id
    from stored_file
    where (created_at, id)
            < (coalesce($1, 'infinity'::timestamptz), coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid))
        and created_at >= coalesce($3, '-infinity'::timestamptz) and created_at < coalesce($4, 'infinity'::timestamptz)
        and ($7::boolean or withdrawn_at is null)
    order by created_at desc, id desc
    limit $12
), found as (
    select id, created_at
    from looked
    where ($5::text is null or status = $5) and ($6::text is null or client_ref = $6)
        and ($8::text is null or file_type = $8) and ($9::text is null or error_code = $9)
        and ($10::text is null or position(lower($10) in lower(original_name)) > 0)
        and ($11::text is null or exists (
            select from osv_document d
            where d.recognition_job_id = looked.current_recognition_job_id
                and position(lower($11) in lower(d.organisation_name)) > 0
        ))
        and (($14::date is null and $15::date is null) or exists (
            select from osv_document d
            where d.recognition_job_id = looked.current_recognition_job_id
                and coalesce(d.period_to, d.period_from) >= coalesce($14, '-infinity'::date)
                and coalesce(d.period_from, d.period_to) <= coalesce($15, 'infinity'::date)
        ))
    order by created_at desc, id desc
    limit $13
), last_looked as (
    select id, created_at from looked order by created_at desc, id desc offset $12 - 1 limit 1
)
select id, created_at, true as is_found from found
union all
select id, created_at, false from last_looked

-- name: look_of_status
-- The same along the files of one status.
with looked as materialized (
    select id, created_at, status, client_ref, file_type, error_code, original_name, current_recognition_job_id
    from stored_file
    where (created_at, id)
            < (coalesce($1, 'infinity'::timestamptz), coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid))
        and created_at >= coalesce($3, '-infinity'::timestamptz) and created_at < coalesce($4, 'infinity'::timestamptz)
        and ($7::boolean or withdrawn_at is null) and phase = case when $5::text in ('UPLOADED', 'PROCESSING') then 'open' else $5::text end
    order by created_at desc, id desc
    limit $12
), found as (
    select id, created_at
    from looked
    where ($5::text is null or status = $5) and ($6::text is null or client_ref = $6)
        and ($8::text is null or file_type = $8) and ($9::text is null or error_code = $9)
        and ($10::text is null or position(lower($10) in lower(original_name)) > 0)
        and ($11::text is null or exists (
            select from osv_document d
            where d.recognition_job_id = looked.current_recognition_job_id
                and position(lower($11) in lower(d.organisation_name)) > 0
        ))
        and (($14::date is null and $15::date is null) or exists (
            select from osv_document d
            where d.recognition_job_id = looked.current_recognition_job_id
                and coalesce(d.period_to, d.period_from) >= coalesce($14, '-infinity'::date)
                and coalesce(d.period_from, d.period_to) <= coalesce($15, 'infinity'::date)
        ))
    order by created_at desc, id desc
    limit $13
), last_looked as (
    select id, created_at from looked order by created_at desc, id desc offset $12 - 1 limit 1
)
select id, created_at, true as is_found from found
union all
select id, created_at, false from last_looked

-- name: look_of_client
-- The same along the files of one client.
with looked as materialized (
    select id, created_at, status, client_ref, file_type, error_code, original_name, current_recognition_job_id
    from stored_file
    where (created_at, id)
            < (coalesce($1, 'infinity'::timestamptz), coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid))
        and created_at >= coalesce($3, '-infinity'::timestamptz) and created_at < coalesce($4, 'infinity'::timestamptz)
        and ($7::boolean or withdrawn_at is null) and client_ref = $6::text
    order by created_at desc, id desc
    limit $12
), found as (
    select id, created_at
    from looked
    where ($5::text is null or status = $5) and ($6::text is null or client_ref = $6)
        and ($8::text is null or file_type = $8) and ($9::text is null or error_code = $9)
        and ($10::text is null or position(lower($10) in lower(original_name)) > 0)
        and ($11::text is null or exists (
            select from osv_document d
            where d.recognition_job_id = looked.current_recognition_job_id
                and position(lower($11) in lower(d.organisation_name)) > 0
        ))
        and (($14::date is null and $15::date is null) or exists (
            select from osv_document d
            where d.recognition_job_id = looked.current_recognition_job_id
                and coalesce(d.period_to, d.period_from) >= coalesce($14, '-infinity'::date)
                and coalesce(d.period_from, d.period_to) <= coalesce($15, 'infinity'::date)
        ))
    order by created_at desc, id desc
    limit $13
), last_looked as (
    select id, created_at from looked order by created_at desc, id desc offset $12 - 1 limit 1
)
select id, created_at, true as is_found from found
union all
select id, created_at, false from last_looked

-- name: newest
-- When the latest file came.
select max(created_at) from stored_file

-- name: versions
-- Which of these files are in which version: another one after every change of the row.
select id, xmin::text::bigint as version from stored_file where id = any ($1::uuid[])

-- name: statuses
-- Where these files are now.
select id, status from stored_file where id = any ($1::uuid[])

-- name: source
-- The uploaded document of a file.
select f.original_name, f.file_type, o.key, o.size_bytes, o.sha256
from stored_file f join s3_object o on o.id = f.s3_object_id
where f.id = $1

-- name: exported
-- What an export of a file begins with.
select original_name, status, current_recognition_job_id from stored_file where id = $1

-- name: current_attempt
-- Which attempt counts for a file; with $2 another one, by its number.
select case
        when $2::integer is null then f.current_recognition_job_id
        else (select id from recognition_job where stored_file_id = f.id and attempt = $2 order by created_at desc limit 1)
    end as job_id
from stored_file f
where f.id = $1

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
    error_count, warning_count, revision
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

-- name: corrected
-- Which values of these lines were corrected: what was read first, and who changed it last.
select distinct on (line, field) line, field,
    first_value(old_value) over first_ones as first_value,
    first_value(old_unknown ->> 'raw') over first_ones as first_raw, new_value, made_by, made_at
from osv_correction
where osv_document_id = $1 and line = any ($2::int[])
window first_ones as (partition by line, field order by id)
order by line, field, id desc

-- name: checks
-- A document's failed checks.
select rule, severity, lines, value_column as "column", expected, actual, message
from osv_check
where osv_document_id = $1
order by ordinal

-- name: known_keys
-- Which of these upload keys belong to a file.
select key from s3_object where bucket = $1 and key = any ($2::text[])
