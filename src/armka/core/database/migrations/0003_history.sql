-- Which operation asked for an attempt: the timeline of its file tells it.
create index bulk_operation_item_job on bulk_operation_item (recognition_job_id) where recognition_job_id is not null;

-- R6, continuity: whose documents have to be put in order again. Rows are added by whatever changes a document, in the
-- same transaction, and taken by who puts them in order; nobody waits for anybody.
create table continuity_mark (
    id bigint generated always as identity primary key,
    client_ref text not null
);
create index continuity_mark_client on continuity_mark (client_ref);

-- Two documents of which one begins where the other ends, as they were compared in these revisions.
create table osv_continuity (
    earlier_id uuid not null references osv_document on delete cascade,
    later_id uuid not null references osv_document on delete cascade,
    client_ref text not null,
    earlier_revision integer not null,
    later_revision integer not null,
    compared integer not null,
    unread integer not null,
    difference_count integer not null,
    compared_at timestamptz not null default now(),
    primary key (earlier_id, later_id)
);
create index osv_continuity_later on osv_continuity (later_id);
create index osv_continuity_client on osv_continuity (client_ref);

-- An account that does not go on as it ended: net amounts in currency units, whatever the documents' units are.
create table osv_continuity_difference (
    earlier_id uuid not null,
    later_id uuid not null,
    ordinal integer not null,
    account text not null,
    name text not null,
    closing numeric not null,
    opening numeric not null,
    earlier_line integer,
    later_line integer,
    is_reformation boolean not null,
    primary key (earlier_id, later_id, ordinal),
    foreign key (earlier_id, later_id) references osv_continuity on delete cascade
);

create function continuity_of_documents() returns trigger language plpgsql as $$
begin
    insert into continuity_mark (client_ref)
    select distinct f.client_ref
    from new_row d join stored_file f on f.id = d.stored_file_id
    where f.client_ref is not null and d.period_from is not null;
    return null;
end $$;

create trigger continuity_of_new_documents
    after insert on osv_document
    referencing new table as new_row
    for each statement execute function continuity_of_documents();

create function continuity_of_document() returns trigger language plpgsql as $$
begin
    insert into continuity_mark (client_ref)
    select client_ref from stored_file where id = new.stored_file_id and client_ref is not null;
    return null;
end $$;

create trigger continuity_of_corrected_document
    after update of revision on osv_document
    for each row when (new.revision <> old.revision) execute function continuity_of_document();

create function continuity_of_file() returns trigger language plpgsql as $$
begin
    insert into continuity_mark (client_ref)
    select client_ref from (values (old.client_ref), (new.client_ref)) as f (client_ref)
    where client_ref is not null
    group by client_ref;
    return null;
end $$;

create trigger continuity_of_file
    after update of client_ref, withdrawn_at, current_recognition_job_id on stored_file
    for each row
    when (
        (new.client_ref, new.withdrawn_at, new.current_recognition_job_id)
            is distinct from (old.client_ref, old.withdrawn_at, old.current_recognition_job_id)
    )
    execute function continuity_of_file();
