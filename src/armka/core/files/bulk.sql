-- name: matching
-- How many files an operation would take ($10 at most are counted), and a few of them.
-- $1, $2: created from, and before; $3 status, $4 client_ref, $5 not looked at, $6 file_type, $7 error_code, $8 part of the
-- name, $9 part of an organisation, $11, $12: a document's period has a day in common with these dates.
with matching as materialized (
    select f.id, f.original_name
    from stored_file f
    where f.phase = $3 and f.withdrawn_at is null and not $5::boolean
        and f.created_at >= coalesce($1, '-infinity'::timestamptz) and f.created_at < coalesce($2, 'infinity'::timestamptz)
        and ($4::text is null or f.client_ref = $4) and ($6::text is null or f.file_type = $6)
        and ($7::text is null or f.error_code = $7)
        and ($8::text is null or position(lower($8) in lower(f.original_name)) > 0)
        and ($9::text is null or exists (
            select from osv_document d
            where d.recognition_job_id = f.current_recognition_job_id
                and position(lower($9) in lower(d.organisation_name)) > 0
        ))
        and (($11::date is null and $12::date is null) or exists (
            select from osv_document d
            where d.recognition_job_id = f.current_recognition_job_id
                and coalesce(d.period_to, d.period_from) >= coalesce($11, '-infinity'::date)
                and coalesce(d.period_from, d.period_to) <= coalesce($12, 'infinity'::date)
        ))
    limit $10
)
select (select count(*) from matching) as total, array(select id from matching order by id limit 10) as sample

-- name: freeze
-- The operation with the list of files as it is now, ordered by file. Parameters as above; $11 reason, $12 by whom, $13
-- the filter, $14, $15 the period.
with matching as materialized (
    select f.id, f.current_recognition_job_id as job_id
    from stored_file f
    where f.phase = $3 and f.withdrawn_at is null and not $5::boolean
        and f.created_at >= coalesce($1, '-infinity'::timestamptz) and f.created_at < coalesce($2, 'infinity'::timestamptz)
        and ($4::text is null or f.client_ref = $4) and ($6::text is null or f.file_type = $6)
        and ($7::text is null or f.error_code = $7)
        and ($8::text is null or position(lower($8) in lower(f.original_name)) > 0)
        and ($9::text is null or exists (
            select from osv_document d
            where d.recognition_job_id = f.current_recognition_job_id
                and position(lower($9) in lower(d.organisation_name)) > 0
        ))
        and (($14::date is null and $15::date is null) or exists (
            select from osv_document d
            where d.recognition_job_id = f.current_recognition_job_id
                and coalesce(d.period_to, d.period_from) >= coalesce($14, '-infinity'::date)
                and coalesce(d.period_from, d.period_to) <= coalesce($15, 'infinity'::date)
        ))
    limit $10
), operation as (
    insert into bulk_operation (kind, filter, reason, requested_by, total)
    select 'attempts', $13::jsonb, $11, $12, count(*) from matching
    returning id, total
), item as (
    insert into bulk_operation_item (bulk_operation_id, ordinal, stored_file_id, frozen_job_id)
    select operation.id, row_number() over (order by matching.id), matching.id, matching.job_id
    from matching, operation
)
select id, total from operation

-- name: next_operation
-- The oldest unfinished operation that no other replica works on. The lock is this transaction's.
select id from bulk_operation where finished_at is null order by created_at, id limit 1 for update skip locked

-- name: next_items
-- The next files of an operation. Locked: the operation's row, by the same transaction.
select ordinal, stored_file_id
from bulk_operation_item
where bulk_operation_id = $1 and outcome is null
order by bulk_operation_id, ordinal
limit $2

-- name: lock_files
-- Two who want the same files take turns, in one order (A1).
select id from stored_file where id = any ($1::uuid[]) order by id for no key update

-- name: begin_attempts
-- For each item: a new attempt where the frozen one has ended and still counts, else why not (A1). One statement after
-- the locks: it sees what those who held them before have done.
with item as materialized (
    select ordinal, stored_file_id, frozen_job_id
    from bulk_operation_item
    where bulk_operation_id = $1 and ordinal = any ($2::integer[]) and outcome is null
), judged as materialized (
    select i.ordinal, f.id as file_id, f.file_type, j.pipeline,
        case
            when f.id is null then 'gone'
            when f.withdrawn_at is not null then 'withdrawn'
            when f.current_recognition_job_id is distinct from i.frozen_job_id then 'superseded'
            when f.status not in ('ERROR', 'NEEDS_CHECK', 'DONE')
                or j.status in ('queued', 'published', 'processing') then 'under_way'
            else 'begun'
        end as outcome
    from item i
    left join stored_file f on f.id = i.stored_file_id
    left join recognition_job j on j.id = f.current_recognition_job_id
), job as (
    insert into recognition_job (stored_file_id, pipeline, attempt)
    select file_id,
        case
            when file_type in ('XLS', 'XLSX', 'XLSB') then 'tabular'
            when file_type in ('PDF', 'PNG', 'JPG') then 'image'
            else coalesce(pipeline, 'tabular')
        end,
        (select coalesce(max(attempt), 0) + 1 from recognition_job p where p.stored_file_id = judged.file_id)
    from judged
    where outcome = 'begun'
    returning id, stored_file_id, attempt
), file as (
    update stored_file f
    set current_recognition_job_id = job.id, status = 'PROCESSING', error_code = null, error_message = null,
        updated_at = now()
    from job where f.id = job.stored_file_id
)
update bulk_operation_item i
set outcome = judged.outcome, recognition_job_id = job.id, attempt = job.attempt, decided_at = now()
from judged left join job on job.stored_file_id = judged.file_id
where i.bulk_operation_id = $1 and i.ordinal = judged.ordinal

-- name: finish
-- An operation without open items is over.
update bulk_operation o set finished_at = now()
where o.id = $1 and o.finished_at is null
    and not exists (select from bulk_operation_item i where i.bulk_operation_id = o.id and i.outcome is null)

-- name: operation
-- One operation.
select id, kind, filter, reason, requested_by, total, created_at, finished_at from bulk_operation where id = $1

-- name: outcomes
-- How many items have come to what; null: not yet decided.
select outcome, count(*) from bulk_operation_item where bulk_operation_id = $1 group by outcome

-- name: operation_items
-- The items of an operation after ordinal $2, of outcome $3 or all.
select i.ordinal, i.stored_file_id as file_id, f.original_name, i.outcome, i.recognition_job_id as job_id, i.attempt,
    i.decided_at
from bulk_operation_item i left join stored_file f on f.id = i.stored_file_id
where i.bulk_operation_id = $1 and i.ordinal > $2 and ($3::text is null or i.outcome = $3)
order by i.ordinal
limit $4
