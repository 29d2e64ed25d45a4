-- name: lock
-- One migrator at a time; the lock goes with the connection.
select pg_advisory_lock(hashtext('armka'), hashtext('migrate'))

-- name: create_register
-- What was applied, with its digest.
create table if not exists schema_migration (
    name text primary key,
    digest text not null,
    applied_at timestamptz not null default now()
)

-- name: register
select name, digest from schema_migration

-- name: enter
insert into schema_migration (name, digest) values ($1, $2)
