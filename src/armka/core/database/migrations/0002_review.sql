-- What analysts do with what was read: corrections, the revisions they lead to, confirmations.

-- Grows with every change, so that nobody overwrites what they have not seen.
alter table osv_document
    add column revision integer not null default 0,
    add column formats text[];

-- Where amounts stood and how they were written, where the document does not say it of all its lines.
alter table osv_line
    add column cells text[],
    add column raw text[],
    add column formats text[];

-- One value changed by a person. `line`: its n; `old_value` null: the cell was empty, or unknown, and then `old_unknown`
-- is what was known of it (raw text, proposal). `revision`: that which the change led to. Rows are added only.
create table osv_correction (
    id bigint generated always as identity primary key,
    osv_document_id uuid not null references osv_document on delete cascade,
    revision integer not null,
    line integer not null,
    field text not null,
    old_value text,
    new_value text,
    was_unknown boolean not null default false,
    old_unknown jsonb,
    origin text not null,
    made_by text not null,
    made_by_id uuid,
    made_at timestamptz not null default clock_timestamp(),
    reason text,
    carried_from bigint,
    constraint osv_correction_field check (
        field in (
            'account', 'name', 'opening_debit', 'opening_credit', 'turnover_debit', 'turnover_credit', 'closing_debit',
            'closing_credit'
        )
    ),
    constraint osv_correction_origin check (origin in ('typed', 'proposal', 'carried_over'))
);
create index osv_correction_line on osv_correction (osv_document_id, line, field, id);
create index osv_correction_recent on osv_correction (made_at);

-- An analyst's word about the attempt that counted then: DONE by it, or back to NEEDS_CHECK. Rows are added only.
create table osv_confirmation (
    id bigint generated always as identity primary key,
    stored_file_id uuid not null references stored_file on delete cascade,
    recognition_job_id uuid not null references recognition_job on delete cascade,
    action text not null,
    failed_checks integer not null,
    unknown_count integer not null,
    reason text,
    made_by text not null,
    made_by_id uuid,
    made_at timestamptz not null default clock_timestamp(),
    constraint osv_confirmation_action check (action in ('confirmed', 'reopened'))
);
create index osv_confirmation_file on osv_confirmation (stored_file_id, id);

create function osv_record_stays() returns trigger language plpgsql as $$
begin
    raise exception 'what was done to a document is kept: % of % is refused', tg_op, tg_table_name
        using errcode = 'insufficient_privilege', hint = 'correct the value again, or reopen the file';
end $$;

create trigger osv_correction_stays
    before update on osv_correction
    for each statement execute function osv_record_stays();

create trigger osv_confirmation_stays
    before update on osv_confirmation
    for each statement execute function osv_record_stays();
