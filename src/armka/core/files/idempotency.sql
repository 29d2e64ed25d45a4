-- name: recall
-- The first answer to a key, with what it answered.
select request_digest, answer from idempotency_key where scope = $1 and key = $2 and item = $3

-- name: claim
-- Waits for another transaction with the same key; nothing where that one has committed.
insert into idempotency_key (scope, key, item, request_digest) values ($1, $2, $3, $4)
on conflict do nothing
returning true

-- name: keep
-- The answer, by the transaction that claimed the key.
update idempotency_key set answer = $4 where scope = $1 and key = $2 and item = $3

-- name: forget
-- A chunk of the keys that nobody will send again.
with old as materialized (
    select scope, key, item from idempotency_key
    where created_at < now() - interval '2 days'
    order by created_at
    limit $1
    for update skip locked
), gone as (
    delete from idempotency_key k using old
    where k.scope = old.scope and k.key = old.key and k.item = old.item
    returning 1
)
select count(*) from gone
