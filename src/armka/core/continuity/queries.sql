-- name: marked
-- Clients whose documents have to be put in order again, $1 at most, longest first.
select client_ref from continuity_mark group by client_ref order by min(id) limit $1

-- name: take_marks
-- The marks of a client that are seen now; what their transactions changed is seen by the statements after this one.
delete from continuity_mark where client_ref = $1

-- name: take_turn
-- One at a time for each client, for this transaction.
select pg_advisory_xact_lock(hashtext('armka.continuity'), hashtext($1))

-- name: mark
-- There is more to do for this client.
insert into continuity_mark (client_ref) values ($1)

-- name: is_marked
-- Whether something changed since the client's documents were put in order.
select exists (select from continuity_mark where client_ref = $1)

-- name: documents
-- What counts of a client: documents with a period and an organisation, of current attempts, not withdrawn.
select d.id, d.ordinal, d.group_schema, d.title, d.organisation_name, d.organisation_inn, d.period_from, d.period_to,
    d.period_text, d.currency, d.unit, d.account, d.revision, d.error_count, d.unknown_count, d.line_count,
    f.id as file_id, f.original_name, f.status, f.created_at as uploaded_at
from stored_file f
join osv_document d on d.recognition_job_id = f.current_recognition_job_id
where f.client_ref = $1 and f.withdrawn_at is null and d.period_from is not null and d.period_to is not null
    and (d.organisation_name is not null or d.organisation_inn is not null)
order by f.created_at desc, f.id desc, d.ordinal
limit $2

-- name: pairs
-- What was compared for a client.
select earlier_id, later_id, earlier_revision, later_revision, compared, unread, difference_count
from osv_continuity
where client_ref = $1

-- name: forget
-- Pairs that are no more, or whose documents were corrected since.
delete from osv_continuity c
using unnest($1::uuid[], $2::uuid[]) as p (earlier_id, later_id)
where c.earlier_id = p.earlier_id and c.later_id = p.later_id

-- name: lines
-- The account lines of a document, of indicators those of БУ.
select n, parent, account, name, opening_debit, opening_credit, closing_debit, closing_credit, unknown
from osv_line
where osv_document_id = $1 and kind = 'account' and account is not null and (indicator is null or indicator = 'БУ')
order by n

-- name: keep_pair
-- What a comparison found.
insert into osv_continuity
    (earlier_id, later_id, client_ref, earlier_revision, later_revision, compared, unread, difference_count)
values ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: keep_differences
-- The accounts that differ, in their order.
insert into osv_continuity_difference
    (earlier_id, later_id, ordinal, account, name, closing, opening, earlier_line, later_line, is_reformation)
select $1, $2, d.*
from unnest($3::integer[], $4::text[], $5::text[], $6::numeric[], $7::numeric[], $8::integer[], $9::integer[], $10::boolean[])
    as d (ordinal, account, name, closing, opening, earlier_line, later_line, is_reformation)

-- name: differences
-- What differs in these pairs, $3 a pair at most.
select earlier_id, later_id, account, name, closing, opening, earlier_line, later_line, is_reformation
from osv_continuity_difference
where (earlier_id, later_id) in (select * from unnest($1::uuid[], $2::uuid[])) and ordinal <= $3
order by earlier_id, later_id, ordinal

-- name: document
-- Whose document this is, as it counts now.
select d.id, f.client_ref
from stored_file f
left join osv_document d on d.recognition_job_id = f.current_recognition_job_id and d.ordinal = $2
where f.id = $1

-- name: clients
-- Clients by the beginning of their number, $2 of them at most.
select distinct client_ref from stored_file where client_ref >= $1 and client_ref < $1 || U&'\FFFF' order by client_ref limit $2
