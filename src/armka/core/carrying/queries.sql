-- name: attempts
-- A file's attempts that have read something, last first, with how many corrections were made in each.
select j.id, j.attempt, f.current_recognition_job_id = j.id as is_current, f.status, f.original_name,
    (select count(*) from osv_correction c join osv_document d on d.id = c.osv_document_id where d.recognition_job_id = j.id)
        as corrections
from stored_file f join recognition_job j on j.stored_file_id = f.id
where f.id = $1 and exists (select from osv_document d where d.recognition_job_id = j.id)
order by j.attempt desc

-- name: known
-- Whether there is such a file.
select exists (select from stored_file where id = $1)

-- name: documents
-- The documents of an attempt.
select id, ordinal, title, account, revision from osv_document where recognition_job_id = $1 order by ordinal

-- name: lines
-- A document's lines, as far as two readings are compared.
select n, parent, kind, account, name, indicator, currency, opening_debit, opening_credit, turnover_debit,
    turnover_credit, closing_debit, closing_credit, unknown
from osv_line where osv_document_id = $1 order by n

-- name: corrections
-- What became of each corrected value: what was read there, and what the last correction made of it.
select distinct on (line, field) line, field, id, new_value,
    first_value(old_value) over first_ones as read_value, first_value(was_unknown) over first_ones as was_unknown
from osv_correction
where osv_document_id = $1
window first_ones as (partition by line, field order by id)
order by line, field, id desc
