-- name: document
-- A document of the attempt that counts, with its file; the document's columns are null where it has no such.
select f.id as stored_file_id, f.original_name, f.file_type, f.status, f.error_code, f.error_message, f.withdrawn_at,
    f.current_recognition_job_id, d.id, d.ordinal, d.kind, d.group_schema, d.title, d.organisation_name,
    d.organisation_inn, d.period_from, d.period_to, d.period_text, d.currency, d.unit, d.account, d.source,
    d.value_columns, d.formats, d.line_count, d.unknown_count, d.error_count, d.warning_count, d.revision
from stored_file f
left join osv_document d on d.recognition_job_id = f.current_recognition_job_id and d.ordinal = $2
where f.id = $1

-- name: lock_file
-- The file, before its documents: who corrects, confirms and begins attempts takes turns here.
select id, original_name, status, current_recognition_job_id, withdrawn_at
from stored_file where id = $1 for no key update

-- name: lock_document
-- A document of an attempt, for its next revision.
select id, ordinal, unit, account, period_to, source, revision, unknown_count
from osv_document where recognition_job_id = $1 and ordinal = $2 for no key update

-- name: reviewed
-- The documents of an attempt as a confirmation counts them.
select ordinal, revision, unknown_count, error_count from osv_document where recognition_job_id = $1 order by ordinal

-- name: checks
-- A document's failed checks.
select ordinal, rule, severity, lines, value_column, expected, actual, message
from osv_check where osv_document_id = $1 order by ordinal

-- name: skeleton
-- What tells which lines a correction concerns.
select n, parent, kind from osv_line where osv_document_id = $1 order by n

-- name: decimals_elsewhere
-- How many decimals the amounts of the other lines have.
select coalesce(max(greatest(
    scale(trim_scale(l.opening_debit)), scale(trim_scale(l.opening_credit)), scale(trim_scale(l.turnover_debit)),
    scale(trim_scale(l.turnover_credit)), scale(trim_scale(l.closing_debit)), scale(trim_scale(l.closing_credit))
)), 0)
from osv_line l left join unnest($2::int[]) as near (n) using (n)
where l.osv_document_id = $1 and near.n is null

-- name: lines_named
-- These lines, in their order.
select n, parent, level, kind, account, name, indicator, currency, off_balance, opening_debit, opening_credit,
    turnover_debit, turnover_credit, closing_debit, closing_credit, unknown, sheet_row, page, boxes, confidence, cells,
    raw, formats
from osv_line where osv_document_id = $1 and n = any ($2::int[])
order by n

-- name: lines_on_page
-- The lines of a page.
select n, parent, level, kind, account, name, indicator, currency, off_balance, opening_debit, opening_credit,
    turnover_debit, turnover_credit, closing_debit, closing_credit, unknown, sheet_row, page, boxes, confidence, cells,
    raw, formats
from osv_line where osv_document_id = $1 and page = $2
order by n
limit 2000

-- name: lines
-- Lines after line $2, $3 of them at most: $4 only these, $5 to $6 only from one of these to before its end, $7 only
-- with this in their account or name.
select n, parent, level, kind, account, name, indicator, currency, off_balance, opening_debit, opening_credit,
    turnover_debit, turnover_credit, closing_debit, closing_credit, unknown, sheet_row, page, boxes, confidence, cells,
    raw, formats
from osv_line
where osv_document_id = $1 and n > $2 and ($4::int[] is null or n = any ($4::int[]))
    and ($5::int[] is null or exists (select from unnest($5::int[], $6::int[]) as r (first, beyond) where n >= first and n < beyond))
    and ($7::text is null or position(lower($7) in lower(name)) > 0 or position(lower($7) in lower(account)) > 0)
order by n
limit $3

-- name: lines_before
-- The numbers of the lines before line $2, nearest first, under the same filters.
select n
from osv_line
where osv_document_id = $1 and n < $2 and ($4::int[] is null or n = any ($4::int[]))
    and ($5::int[] is null or exists (select from unnest($5::int[], $6::int[]) as r (first, beyond) where n >= first and n < beyond))
    and ($7::text is null or position(lower($7) in lower(name)) > 0 or position(lower($7) in lower(account)) > 0)
order by n desc
limit $3

-- name: spans_of_account
-- From each line of account $2 or of its subaccounts to before the next account or total.
with head as (
    select n, account, lead(n) over (order by n) as beyond
    from osv_line where osv_document_id = $1 and kind in ('account', 'total')
)
select n as first, coalesce(beyond, 2147483647) as beyond
from head where account = $2 or starts_with(account, $2 || '.')
order by n

-- name: problem_lines
-- Lines with unknown values, and those that failed checks are about: of a sum the line that it should have been.
select n from osv_line where osv_document_id = $1 and unknown is not null
union
select unnest(case when cardinality(lines) <= 2 then lines else lines[1:1] end) from osv_check where osv_document_id = $1
order by 1

-- name: unknown_lines
-- Lines with unknown values.
select n, unknown from osv_line where osv_document_id = $1 and unknown is not null order by n

-- name: write_line
-- A line's values and what is still unknown of it.
update osv_line
set account = $3, name = $4, opening_debit = $5, opening_credit = $6, turnover_debit = $7, turnover_credit = $8,
    closing_debit = $9, closing_credit = $10, unknown = $11
where osv_document_id = $1 and n = $2

-- name: record_correction
-- One value changed.
insert into osv_correction
    (osv_document_id, revision, line, field, old_value, new_value, was_unknown, old_unknown, origin, made_by, made_by_id,
    reason, carried_from)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)

-- name: forget_checks
-- The checks of the revision before.
delete from osv_check where osv_document_id = $1

-- name: add_check
-- A failed check of this revision.
insert into osv_check (osv_document_id, ordinal, rule, severity, lines, value_column, expected, actual, message)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: next_revision
-- The document after a correction.
update osv_document
set revision = revision + 1, error_count = $2, warning_count = $3, unknown_count = $4
where id = $1
returning revision

-- name: touch_file
-- Whoever looks at the file sees that something has changed.
update stored_file set updated_at = now() where id = $1

-- name: corrections
-- A document's corrections before id $2, latest first; $4 only of this line.
select id, revision, line, field, old_value, new_value, was_unknown, old_unknown, origin, made_by, made_by_id, made_at,
    reason, carried_from
from osv_correction
where osv_document_id = $1 and id < coalesce($2::bigint, 9223372036854775807) and ($4::int is null or line = $4)
order by id desc
limit $3

-- name: corrections_since
-- What others have changed after revision $2.
select id, revision, line, field, old_value, new_value, was_unknown, old_unknown, origin, made_by, made_by_id, made_at,
    reason, carried_from
from osv_correction where osv_document_id = $1 and revision > $2 order by id limit $3

-- name: corrections_of_lines
-- The first and the last correction of each value of these lines: what was read there, and who changed it last.
select distinct on (line, field) line, field,
    first_value(old_value) over first_ones as first_value, first_value(old_unknown) over first_ones as first_unknown,
    new_value, origin, made_by, made_at, reason,
    count(*) over (partition by line, field) as times
from osv_correction
where osv_document_id = $1 and line = any ($2::int[])
window first_ones as (partition by line, field order by id)
order by line, field, id desc

-- name: correction_count
-- How many corrections a document has had.
select count(*) from osv_correction where osv_document_id = $1

-- name: confirm
-- An analyst's word; the file moves by it.
with word as (
    insert into osv_confirmation
        (stored_file_id, recognition_job_id, action, failed_checks, unknown_count, reason, made_by, made_by_id)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
)
update stored_file set status = $9, updated_at = now() where id = $1

-- name: confirmations
-- What was confirmed and reopened of a file's attempt, latest first.
select id, recognition_job_id, action, failed_checks, unknown_count, reason, made_by, made_by_id, made_at
from osv_confirmation where stored_file_id = $1 and recognition_job_id = $2 order by id desc limit 20

-- name: raw_answer
-- Where the raw answer of an attempt is.
select o.bucket, o.key from recognition_job j join s3_object o on o.id = j.raw_s3_object_id where j.id = $1

-- name: take_time
-- The checks of a large document may take longer than other statements may; for this transaction.
select set_config('idle_in_transaction_session_timeout', '60s', true), set_config('statement_timeout', $1, true)
