-- name: add_user
-- A local account, where the name is free.
insert into user_account (name, display_name, roles, password_hash)
values ($1, $2, $3, $4)
on conflict do nothing
returning id

-- name: upsert_provided
-- A person as the identity provider tells of them now. Disabled ones stay disabled.
insert into user_account (name, display_name, roles, issuer, subject, last_signed_in_at)
values ($1, $2, $3, $4, $5, now())
on conflict (issuer, subject) where issuer is not null do update
set name = excluded.name, display_name = excluded.display_name, roles = excluded.roles, last_signed_in_at = now()
returning id, name, display_name, roles, disabled_at

-- name: provided
-- A person of the identity provider ($1 issuer, $2 subject), by whatever name.
select id, name, roles, disabled_at from user_account where issuer = $1 and subject = $2

-- name: user
select id, name, display_name, roles, issuer, password_hash is not null as has_password, disabled_at, last_signed_in_at,
    created_at
from user_account where id = $1

-- name: users
-- Accounts after the name and id ($1, $2), by name; $3 a name, whole, any case; $4 at most.
select id, name, display_name, roles, issuer, password_hash is not null as has_password, disabled_at, last_signed_in_at,
    created_at
from user_account
where (lower(name), id) > ($1, $2) and ($3::text is null or lower(name) = lower($3))
order by lower(name), id
limit $4

-- name: lock_user
-- The account that is about to change.
select id, name, roles, issuer, password_hash, disabled_at from user_account where id = $1 for no key update

-- name: by_name
-- The local account with this name.
select id, name, roles, password_hash, disabled_at from user_account where issuer is null and lower(name) = lower($1)

-- name: set_roles
update user_account set roles = $2 where id = $1

-- name: set_password
update user_account set password_hash = $2 where id = $1

-- name: disable
update user_account set disabled_at = coalesce(disabled_at, now()) where id = $1

-- name: enable
update user_account set disabled_at = null where id = $1

-- name: signed_in
update user_account set last_signed_in_at = now() where id = $1

-- name: begin_session
-- $3: hours until its end.
insert into user_session (digest, user_account_id, expires_at)
values ($1, $2, now() + make_interval(secs => $3::float8 * 3600))

-- name: session
-- Whose session this is, while it lasts ($2: minutes without a request), and that it was used, once a minute.
with used as (
    update user_session set last_seen_at = now()
    where digest = $1 and last_seen_at < now() - interval '1 minute' and expires_at > now()
        and last_seen_at > now() - make_interval(secs => $2::float8 * 60)
)
select u.id, u.name, u.display_name, u.roles, u.issuer
from user_session s join user_account u on u.id = s.user_account_id
where s.digest = $1 and s.expires_at > now() and s.last_seen_at > now() - make_interval(secs => $2::float8 * 60)
    and u.disabled_at is null

-- name: end_session
delete from user_session where digest = $1

-- name: end_sessions
-- All of a user, but the one with digest $2 where it is given.
delete from user_session where user_account_id = $1 and digest is distinct from $2

-- name: add_link
-- $3: minutes until its end. An earlier one of the same user is void.
with former as (
    delete from sign_in_link where user_account_id = $2
)
insert into sign_in_link (digest, user_account_id, expires_at)
values ($1, $2, now() + make_interval(secs => $3::float8 * 60))
returning expires_at

-- name: use_link
-- The link lets in once: it is gone for whoever comes second.
with used as (
    delete from sign_in_link where digest = $1 returning user_account_id, expires_at
)
select u.id, u.name, u.roles, u.password_hash is not null as has_password
from used join user_account u on u.id = used.user_account_id
where used.expires_at > now() and u.disabled_at is null

-- name: locked
-- Seconds for which any of these places is still locked; null: none is.
select extract(epoch from max(locked_until) - now())::float8 from sign_in_failure
where place = any ($1::text[]) and locked_until > now()

-- name: failed
-- One more failure at a place; those of an hour ago are forgotten. From the $2th on it is locked: a minute, doubled by
-- each further one, 15 at most.
insert into sign_in_failure as f (place, failures, last_at, locked_until)
values ($1, 1, now(), case when $2::integer <= 1 then now() + interval '1 minute' end)
on conflict (place) do update
set failures = case when f.last_at < now() - interval '1 hour' then 1 else f.failures + 1 end,
    last_at = now(),
    locked_until = case
        when f.last_at >= now() - interval '1 hour' and f.failures + 1 >= $2
        then now() + least(interval '15 minutes', interval '1 minute' * power(2, least(f.failures + 1 - $2, 10)))
        when $2 <= 1 then now() + interval '1 minute'
    end

-- name: succeeded
delete from sign_in_failure where place = $1

-- name: begin_provided
-- A sign-in leaves for the provider; it has ten minutes. Those that never came back are forgotten here, since anybody may
-- begin one.
with late as (
    delete from provider_sign_in where expires_at < now()
)
insert into provider_sign_in (digest, nonce, code_verifier, came_from, expires_at)
values ($1, $2, $3, $4, now() + interval '10 minutes')

-- name: end_provided
-- It comes back, once.
with ended as (
    delete from provider_sign_in where digest = $1 returning nonce, code_verifier, came_from, expires_at
)
select nonce, code_verifier, came_from from ended where expires_at > now()

-- name: add_token
-- $6: days until its end.
insert into api_token (name, prefix, digest, scopes, made_by, expires_at)
values ($1, $2, $3, $4, $5, now() + make_interval(days => $6::integer))
on conflict do nothing
returning id, name, prefix, scopes, made_by, created_at, expires_at, last_used_at, revoked_at

-- name: token
-- Whose token this is, while it holds, and that it was used, once a minute.
with used as (
    update api_token set last_used_at = now()
    where digest = $1 and revoked_at is null and expires_at > now()
        and (last_used_at is null or last_used_at < now() - interval '1 minute')
)
select id, name, scopes from api_token where digest = $1 and revoked_at is null and expires_at > now()

-- name: tokens
-- Tokens before ($1, $2), latest first, $3 at most.
select id, name, prefix, scopes, made_by, created_at, expires_at, last_used_at, revoked_at
from api_token
where (created_at, id) < (coalesce($1, 'infinity'::timestamptz), coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid))
order by created_at desc, id desc
limit $3

-- name: revoke
-- The first revocation counts.
update api_token set revoked_at = coalesce(revoked_at, now()) where id = $1
returning id, name, prefix, scopes, made_by, created_at, expires_at, last_used_at, revoked_at

-- name: forget
-- What has run out.
with sessions as (
    delete from user_session where expires_at < now() or last_seen_at < now() - interval '1 day'
), links as (
    delete from sign_in_link where expires_at < now()
), provided as (
    delete from provider_sign_in where expires_at < now()
)
delete from sign_in_failure where last_at < now() - interval '1 day'
