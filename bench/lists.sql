-- name: lay_settings
-- The rows are laid as they will lie: no trigger has anything to add, and each foreign key is known to hold.
set session_replication_role = replica

-- name: lay_objects
-- The files $1 to $2, the newest first, half a minute between two.
insert into s3_object (id, bucket, key, bucket_role, size_bytes, sha256, created_by, created_at)
select md5('object' || n)::uuid, 'arm-ka', 'uploads/' || md5('file' || n)::uuid || '/source.xlsx', 'uploads', 48000,
    encode(sha256(n::text::bytea), 'hex'), 'core', $3::timestamptz - n * interval '30 seconds'
from generate_series($1::integer, $2::integer) n

-- name: lay_files
-- One file in ten is of one client, the others of 50,000; of a thousand files one is under way, one is an error, one needs a check.
insert into stored_file (id, original_name, file_type, s3_object_id, status, error_code, error_message,
    current_recognition_job_id, client_ref, created_at, updated_at)
select md5('file' || n)::uuid, 'ОСВ ' || (2015 + n % 10) || ' год, организация ' || n % 5000 || '.xlsx', 'XLSX',
    md5('object' || n)::uuid,
    case n % 1000 when 7 then 'PROCESSING' when 8 then 'ERROR' when 9 then 'NEEDS_CHECK' else 'DONE' end,
    case n % 1000 when 8 then 'UNREADABLE' end, case n % 1000 when 8 then 'Файл не читается.' end,
    md5('job' || n)::uuid, case when n % 10 = 0 then 'BIG' else 'C-' || n % 49999 end,
    $3::timestamptz - n * interval '30 seconds', $3::timestamptz - n * interval '30 seconds'
from generate_series($1::integer, $2::integer) n

-- name: lay_jobs
-- One attempt a file, as its status says.
insert into recognition_job (id, stored_file_id, pipeline, status, created_at, published_at, last_published_at,
    publish_count, started_at, finished_at, mapped_at, reply_deadline, service_name, service_version, group_schema)
select md5('job' || n)::uuid, md5('file' || n)::uuid, 'tabular',
    case n % 1000 when 7 then 'processing' when 8 then 'error' when 9 then 'needs_check' else 'done' end,
    at, at, at, 1, at, at + interval '2 seconds', at + interval '3 seconds', at + interval '1000 days',
    'tabular-parser', '0.1.0', 'osv'
from generate_series($1::integer, $2::integer) n, lateral (select $3::timestamptz - n * interval '30 seconds' as at) moment

-- name: lay_events
-- Two steps of each job, however it ended: only how many there are matters here.
insert into recognition_job_event (recognition_job_id, from_status, to_status, cause, at)
select md5('job' || n)::uuid, move.old, move.new, move.cause, $3::timestamptz - n * interval '30 seconds'
from generate_series($1::integer, $2::integer) n,
    (values ('queued', 'published', 'publication'), ('published', 'done', 'result')) move (old, new, cause)

-- name: lay_documents
-- A document a file, of the quarter that its number tells.
insert into osv_document (id, stored_file_id, recognition_job_id, ordinal, kind, group_schema, title, organisation_name,
    period_from, period_to, period_text, currency, unit, source, line_count, created_at)
select md5('document' || n)::uuid, md5('file' || n)::uuid, md5('job' || n)::uuid, 1, 'general', 'osv',
    'Оборотно-сальдовая ведомость', 'ООО "Организация ' || n % 5000 || '"',
    make_date(2015 + n % 10, 1 + 3 * (n % 4), 1), (make_date(2015 + n % 10, 1 + 3 * (n % 4), 1) + interval '3 months - 1 day')::date,
    'за квартал', 'RUB', 1, '{"sheet": "TDSheet", "columns": {}}', 0, $3::timestamptz
from generate_series($1::integer, $2::integer) n
where n % 1000 not in (7, 8)

-- name: lay_lines
-- $2 lines for the document of file $1, and a failed check for one in twenty.
with line as (
    insert into osv_line (osv_document_id, n, level, kind, account, name, off_balance, opening_debit, turnover_debit,
        turnover_credit, closing_debit, sheet_row)
    select md5('document' || $1::integer)::uuid, n, 0, 'account', lpad((n % 99)::text, 2, '0'), 'Счёт ' || n, false,
        n * 1000, n * 10, n * 10, n * 1000, n + 8
    from generate_series(0, $2::integer - 1) n
), failed as (
    insert into osv_check (osv_document_id, ordinal, rule, severity, lines, value_column, expected, actual, message)
    select md5('document' || $1::integer)::uuid, n, 'R1', 'warning', array[n * 20], 'closing_debit', 1, 2, 'не сходится'
    from generate_series(0, $2::integer / 20 - 1) n
)
update osv_document set line_count = $2::integer, warning_count = $2::integer / 20
where id = md5('document' || $1::integer)::uuid

-- name: settle
vacuum (analyze)

-- name: id_of_file
select md5('file' || $1::integer)::uuid

-- name: moment_of_file
select created_at from stored_file where id = md5('file' || $1::integer)::uuid
