-- What the whole HTTP API needs: repeatable requests, withdrawn files, bulk attempts, lists by their filters.

alter table stored_file
    add column withdrawn_at timestamptz,
    add column withdrawn_by text,
    add column withdrawn_reason text;

create table idempotency_key (
    scope text not null,
    key text not null,
    item integer not null,
    request_digest text not null,
    answer jsonb,
    created_at timestamptz not null default now(),
    primary key (scope, key, item)
);

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

create index idempotency_key_age on idempotency_key (created_at);
create index bulk_operation_open on bulk_operation (created_at, id) where finished_at is null;
create index bulk_operation_item_open on bulk_operation_item (bulk_operation_id, ordinal) where outcome is null;
create index s3_object_upload_digest on s3_object (sha256, created_at) where bucket_role = 'uploads' and sha256 is not null;
create index stored_file_object on stored_file (s3_object_id);
create index stored_file_client on stored_file (client_ref, created_at, id) where client_ref is not null;
create index recognition_job_mapped on recognition_job (mapped_at, id) where mapped_at is not null;
