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
