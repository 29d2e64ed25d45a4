-- The schema as it is. migrations/*.sql lead to the same place, and a test proves it.
-- pipeline, file_type and attempt are not constrained here on purpose: imports bring odd rows, and O2 ends each of them
-- with a reason instead of refusing to keep it.

create table s3_object (
    id uuid primary key default gen_random_uuid(),
    bucket text not null,
    key text not null,
    bucket_role text not null,
    size_bytes bigint,
    sha256 text,
    content_type text,
    created_by text,
    created_at timestamptz not null default now(),
    constraint s3_object_bucket_key unique (bucket, key),
    constraint s3_object_role check (bucket_role in ('uploads', 'results', 'raw')),
    constraint s3_object_size check (size_bytes >= 0)
);

create table stored_file (
    id uuid primary key default gen_random_uuid(),
    original_name text not null,
    file_type text not null,
    s3_object_id uuid not null references s3_object,
    status text not null default 'UPLOADED',
    error_code text,
    error_message text,
    current_recognition_job_id uuid,
    client_ref text,
    uploaded_by text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    -- Hidden from lists, not deleted; the statuses go on meaning what they say.
    withdrawn_at timestamptz,
    withdrawn_by text,
    withdrawn_reason text,
    -- What the indexes know of the status: a publication does not change it, so it touches no index (a HOT update).
    phase text not null generated always as (case when status in ('UPLOADED', 'PROCESSING') then 'open' else status end) stored,
    constraint stored_file_status check (status in ('UPLOADED', 'PROCESSING', 'DONE', 'NEEDS_CHECK', 'ERROR'))
) with (fillfactor = 70);

create table recognition_job (
    id uuid primary key default gen_random_uuid(),
    stored_file_id uuid not null references stored_file,
    pipeline text not null,
    status text not null default 'queued',
    attempt integer not null default 1,
    reply_deadline timestamptz,
    created_at timestamptz not null default now(),
    published_at timestamptz,
    last_published_at timestamptz,
    publish_count integer not null default 0,
    request_msg_id text,
    request_subject text,
    started_at timestamptz,
    finished_at timestamptz,
    service_name text,
    service_version text,
    metrics jsonb,
    error_code text,
    error_message text,
    result_schema_version text,
    result_s3_object_id uuid references s3_object,
    raw_s3_object_id uuid references s3_object,
    result_msg_id text,
    group_schema text,
    -- When the mapping cycle had its say, whatever it was (M1).
    mapped_at timestamptz,
    constraint recognition_job_status check (
        status in ('queued', 'published', 'processing', 'done', 'needs_check', 'error', 'timeout', 'dlq')
    ),
    constraint recognition_job_publish_count check (publish_count >= 0)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Deferred: an upload names the job before it inserts it.
alter table stored_file add constraint stored_file_current_job
    foreign key (current_recognition_job_id) references recognition_job deferrable initially deferred;

-- Written by the guard of recognition_job alone, for rows that it has before it: a foreign key would only look each of
-- them up again, at a tenth of the exchange's whole cost. What a deletion must take along, recognition_job_removed does.
create table recognition_job_event (
    id bigint generated always as identity primary key,
    recognition_job_id uuid not null,
    from_status text,
    to_status text not null,
    cause text not null,
    at timestamptz not null default clock_timestamp()
);

create table quality_failure_fact (
    id bigint generated always as identity primary key,
    recognition_job_id uuid references recognition_job on delete cascade,
    stored_file_id uuid references stored_file on delete cascade,
    failure_kind text not null,
    error_code text,
    pipeline text,
    service_name text,
    service_version text,
    occurred_at timestamptz not null default now(),
    constraint quality_failure_fact_kind check (
        failure_kind in ('SERVICE_ERROR', 'TIMEOUT', 'NO_ACK', 'REQUEST_INVALID', 'MAPPING_ERROR')
    ),
    -- A job fails once; a result that cannot be mapped is a failure of its own kind (Q1).
    constraint quality_failure_fact_once unique (recognition_job_id, failure_kind)
);

-- The job is no foreign key: a rejected message may name one that does not exist.
create table rejected_message (
    id bigint generated always as identity primary key,
    reason text not null,
    detail text,
    recognition_job_id uuid,
    msg_id text,
    subject text,
    headers jsonb,
    body bytea,
    body_size integer,
    received_at timestamptz not null default now(),
    constraint rejected_message_reason check (
        reason in ('invalid', 'foreign_file', 'foreign_key', 'late', 'unknown_job')
    )
);

-- Why the requests of a pipeline cannot go out just now, as a core was told: the server forbids their subject.
-- One row tells it of every queued job of the pipeline, however many there are.
create table outbox_obstacle (
    pipeline text primary key,
    reason text not null,
    since timestamptz not null default clock_timestamp()
);

create table osv_document (
    id uuid primary key default gen_random_uuid(),
    stored_file_id uuid not null references stored_file on delete cascade,
    recognition_job_id uuid not null references recognition_job on delete cascade,
    ordinal integer not null,
    kind text not null,
    group_schema text not null,
    title text not null,
    organisation_name text,
    organisation_inn text,
    period_from date,
    period_to date,
    period_text text,
    currency text,
    unit integer not null,
    account text,
    source jsonb not null,
    value_columns text[],
    line_count integer not null default 0,
    unknown_count integer not null default 0,
    error_count integer not null default 0,
    warning_count integer not null default 0,
    created_at timestamptz not null default now(),
    -- Grows with every change, so that nobody overwrites what they have not seen.
    revision integer not null default 0,
    formats text[],
    constraint osv_document_ordinal unique (recognition_job_id, ordinal),
    constraint osv_document_unit check (unit in (1, 1000, 1000000))
);

create table osv_line (
    osv_document_id uuid not null references osv_document on delete cascade,
    n integer not null,
    parent integer,
    level smallint not null,
    kind text not null,
    account text,
    name text not null,
    indicator text,
    currency text,
    off_balance boolean not null,
    opening_debit numeric,
    opening_credit numeric,
    turnover_debit numeric,
    turnover_credit numeric,
    closing_debit numeric,
    closing_credit numeric,
    unknown jsonb,
    sheet_row integer,
    page integer,
    boxes jsonb,
    confidence jsonb,
    -- Where amounts stood and how they were written, where the document does not say it of all its lines.
    cells text[],
    raw text[],
    formats text[],
    primary key (osv_document_id, n),
    constraint osv_line_parent check (parent < n),
    constraint osv_line_kind check (
        kind in ('account', 'dimension', 'period', 'currency', 'indicator', 'total', 'group')
    )
);

create table osv_check (
    osv_document_id uuid not null references osv_document on delete cascade,
    ordinal integer not null,
    rule text not null,
    severity text not null,
    lines integer[] not null,
    value_column text,
    expected numeric,
    actual numeric,
    message text not null,
    primary key (osv_document_id, ordinal),
    constraint osv_check_severity check (severity in ('error', 'warning'))
);

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

-- The first answer to a request with an `Idempotency-Key`, for whoever says the same again. `item`: which document of
-- the request. Null answer: only inside the transaction that makes it.
create table idempotency_key (
    scope text not null,
    key text not null,
    item integer not null,
    request_digest text not null,
    answer jsonb,
    created_at timestamptz not null default now(),
    primary key (scope, key, item)
);

-- What was asked for many files at once, with the list as it was then.
create table bulk_operation (
    id uuid primary key default gen_random_uuid(),
    kind text not null,
    filter jsonb not null,
    reason text not null,
    requested_by text not null,
    total integer not null,
    created_at timestamptz not null default now(),
    finished_at timestamptz,
    constraint bulk_operation_kind check (kind in ('attempts'))
);

-- Ordered by file, so that two operations lock files in one order. frozen_job_id: the attempt that is to be repeated.
create table bulk_operation_item (
    bulk_operation_id uuid not null references bulk_operation on delete cascade,
    ordinal integer not null,
    stored_file_id uuid not null,
    frozen_job_id uuid,
    outcome text,
    recognition_job_id uuid,
    attempt integer,
    decided_at timestamptz,
    primary key (bulk_operation_id, ordinal),
    constraint bulk_operation_item_outcome check (
        outcome in ('begun', 'under_way', 'superseded', 'withdrawn', 'gone')
    )
);

-- What each loop looks for, and nothing else: the index of a loop holds only rows that it may act on.
create index recognition_job_queued on recognition_job (created_at, id) where status = 'queued';
create index recognition_job_unanswered on recognition_job ((coalesce(last_published_at, published_at, created_at)), id)
    where status = 'published';
create index recognition_job_overdue on recognition_job (reply_deadline, id)
    where status in ('published', 'processing') and reply_deadline is not null;
create index recognition_job_undated on recognition_job (pipeline, (coalesce(published_at, created_at)), id)
    where status in ('published', 'processing') and reply_deadline is null;
create index recognition_job_unmapped on recognition_job ((coalesce(finished_at, created_at)), id)
    where status in ('done', 'needs_check') and mapped_at is null;

create index recognition_job_file on recognition_job (stored_file_id, attempt);
create index recognition_job_recent on recognition_job (created_at, id);
create index recognition_job_event_job on recognition_job_event (recognition_job_id, id);
create index stored_file_recent on stored_file (created_at, id);
create index stored_file_by_phase on stored_file (phase, created_at, id);
create index rejected_message_job on rejected_message (recognition_job_id) where recognition_job_id is not null;
create index idempotency_key_age on idempotency_key (created_at);
create index bulk_operation_open on bulk_operation (created_at, id) where finished_at is null;
create index bulk_operation_item_open on bulk_operation_item (bulk_operation_id, ordinal) where outcome is null;
create index bulk_operation_item_job on bulk_operation_item (recognition_job_id) where recognition_job_id is not null;
create index s3_object_upload_digest on s3_object (sha256, created_at) where bucket_role = 'uploads' and sha256 is not null;
create index stored_file_object on stored_file (s3_object_id);
create index stored_file_client on stored_file (client_ref, created_at, id) where client_ref is not null;
-- When what was mapped: the critical time of the last minutes.
create index recognition_job_mapped on recognition_job (mapped_at, id) where mapped_at is not null;
create index quality_failure_fact_recent on quality_failure_fact (occurred_at);
create index osv_document_file on osv_document (stored_file_id);

-- The graph of a job's life (§1), for whoever writes UPDATE. armka.core.jobs.states says the same; a test compares them.
create function recognition_job_may_move(from_status text, to_status text) returns boolean
    language sql immutable parallel safe
    return (from_status, to_status) in (
        ('queued', 'published'), ('queued', 'done'), ('queued', 'needs_check'), ('queued', 'error'), ('queued', 'dlq'),
        ('published', 'processing'), ('published', 'done'), ('published', 'needs_check'), ('published', 'error'),
        ('published', 'timeout'), ('published', 'dlq'),
        ('processing', 'done'), ('processing', 'needs_check'), ('processing', 'error'), ('processing', 'timeout'),
        ('processing', 'dlq')
    );

-- Once a statement, with both images of the rows: refuses illegal moves, writes the events, wakes the mapping cycle.
-- The inbox ('result') wakes it after its commit instead: a commit that notifies holds back all others that do.
-- It also writes an acknowledgement and the result that came with it as one row; they are two events all the same.
-- Its plan is kept, and made when a batch was small: a nested loop over both images would cost the square of a large one.
create function recognition_job_moved() returns trigger language plpgsql set enable_nestloop = off as $$
declare
    known_cause text := coalesce(nullif(current_setting('armka.cause', true), ''), 'sql by ' || current_user);
    illegal text;
    mappable boolean;
begin
    with move as (
        select n.id, o.status as from_status, n.status as to_status,
            known_cause = 'result' and o.status = 'published' and o.started_at is null and n.started_at is not null
                as with_acknowledgement
        from old_row o join new_row n using (id)
        where o.status <> n.status
    ), event as (
        insert into recognition_job_event (recognition_job_id, from_status, to_status, cause)
        select m.id, step.from_status, step.to_status, step.cause
        from move m cross join lateral (
            select 1 as ordinal, 'published' as from_status, 'processing' as to_status, 'acknowledged' as cause
            where m.with_acknowledgement
            union all
            select 2, case when m.with_acknowledgement then 'processing' else m.from_status end, m.to_status,
                case
                    when m.from_status = 'queued' and m.to_status <> 'published' and known_cause = 'result'
                        then 'result before the publication was recorded'
                    else known_cause
                end
        ) step
        order by m.id, step.ordinal
    )
    select
        min(from_status || ' -> ' || to_status || ' (job ' || id || ')')
            filter (where not recognition_job_may_move(from_status, to_status)),
        bool_or(to_status in ('done', 'needs_check'))
    into illegal, mappable
    from move;
    if illegal is not null then
        raise exception 'illegal transition of a recognition job: %', illegal
            using errcode = 'check_violation', constraint = 'recognition_job_transition',
                hint = 'a final status never changes; to process the file again, make a new attempt';
    end if;
    if mappable and known_cause <> 'result' then
        perform pg_notify('armka_job_mappable', '');
    end if;
    return null;
end $$;

create trigger recognition_job_moved
    after update on recognition_job
    referencing old table as old_row new table as new_row
    for each statement execute function recognition_job_moved();

create function recognition_job_added() returns trigger language plpgsql as $$
begin
    if exists (select from new_row where status = 'queued') then
        perform pg_notify('armka_job_queued', '');
    end if;
    if exists (select from new_row where status in ('done', 'needs_check')) then
        perform pg_notify('armka_job_mappable', '');
    end if;
    return null;
end $$;

create trigger recognition_job_added
    after insert on recognition_job
    referencing new table as new_row
    for each statement execute function recognition_job_added();

create function recognition_job_removed() returns trigger language plpgsql as $$
begin
    delete from recognition_job_event e using old_row o where e.recognition_job_id = o.id;
    return null;
end $$;

create trigger recognition_job_removed
    after delete on recognition_job
    referencing old table as old_row
    for each statement execute function recognition_job_removed();

-- The statement-level guard joins both images by id, so an id must stay what it is.
create function recognition_job_renamed() returns trigger language plpgsql as $$
begin
    if new.id <> old.id then
        raise exception 'the id of a recognition job never changes'
            using errcode = 'check_violation', constraint = 'recognition_job_id_fixed';
    end if;
    return new;
end $$;

create trigger recognition_job_renamed
    before update of id on recognition_job
    for each row execute function recognition_job_renamed();

-- Who may come in, and who did what. Secrets are kept as digests only: whoever reads these tables can sign in as nobody.

-- A person. Local accounts have no issuer; the others are known by what their identity provider calls them.
create table user_account (
    id uuid primary key default gen_random_uuid(),
    name text not null,
    display_name text,
    roles text[] not null,
    issuer text,
    subject text,
    password_hash text,
    disabled_at timestamptz,
    last_signed_in_at timestamptz,
    created_at timestamptz not null default now(),
    constraint user_account_roles check (roles <@ array['analyst', 'operator', 'manager', 'admin'] and roles <> '{}'),
    constraint user_account_local check ((issuer is null) = (subject is null)),
    constraint user_account_password check (issuer is null or password_hash is null)
);
create unique index user_account_local_name on user_account (lower(name)) where issuer is null;
create unique index user_account_subject on user_account (issuer, subject) where issuer is not null;

-- A browser that signed in, on whichever replica. digest: SHA-256 of the cookie.
create table user_session (
    digest bytea primary key,
    user_account_id uuid not null references user_account on delete cascade,
    created_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    expires_at timestamptz not null
);
create index user_session_user on user_session (user_account_id);
create index user_session_expiry on user_session (expires_at);

-- Lets its bearer in once: a first sign-in, a forgotten password, the demo.
create table sign_in_link (
    digest bytea primary key,
    user_account_id uuid not null references user_account on delete cascade,
    expires_at timestamptz not null
);
create index sign_in_link_expiry on sign_in_link (expires_at);

-- A sign-in that is at the identity provider now. digest: SHA-256 of the state.
create table provider_sign_in (
    digest bytea primary key,
    nonce text not null,
    code_verifier text not null,
    came_from text not null,
    expires_at timestamptz not null
);
create index provider_sign_in_expiry on provider_sign_in (expires_at);

-- Failed sign-ins by name and by address, whether or not there is such a name.
create table sign_in_failure (
    place text primary key,
    failures integer not null,
    last_at timestamptz not null,
    locked_until timestamptz
);
create index sign_in_failure_age on sign_in_failure (last_at);

-- A machine's token. prefix: its beginning, to tell one from another.
create table api_token (
    id uuid primary key default gen_random_uuid(),
    name text not null,
    prefix text not null,
    digest bytea not null,
    scopes text[] not null,
    made_by text not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    last_used_at timestamptz,
    revoked_at timestamptz,
    constraint api_token_digest unique (digest),
    constraint api_token_scopes check (scopes <> '{}')
);
create unique index api_token_name on api_token (lower(name)) where revoked_at is null;

-- Who did what, and why. Rows are added only.
create table audit_event (
    id bigint generated always as identity primary key,
    at timestamptz not null default clock_timestamp(),
    actor_kind text not null,
    actor_id uuid,
    actor text not null,
    address text,
    action text not null,
    subject text,
    reason text,
    details jsonb,
    constraint audit_event_actor_kind check (actor_kind in ('user', 'token', 'setting', 'open', 'nobody'))
);
create index audit_event_subject on audit_event (subject, id) where subject is not null;
create index audit_event_actor on audit_event (lower(actor), id);
create index audit_event_action on audit_event (action, id);

create function audit_event_stays() returns trigger language plpgsql as $$
begin
    raise exception 'the audit is append-only: % is refused', tg_op
        using errcode = 'insufficient_privilege', hint = 'what happened stays what happened';
end $$;

create trigger audit_event_stays
    before update or delete or truncate on audit_event
    for each statement execute function audit_event_stays();

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
