-- name: record
-- One event: who ($1 kind, $2 id, $3 name, $4 address), $5 what, $6 to which, $7 why, $8 more.
insert into audit_event (actor_kind, actor_id, actor, address, action, subject, reason, details)
values ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: page
-- Events before id $1, latest first: $2 actor, $3 action, $4 subject, $5 since, $6 before; $7 of them at most.
select id, at, actor_kind, actor_id, actor, address, action, subject, reason, details
from audit_event
where id < coalesce($1::bigint, 9223372036854775807) and ($2::text is null or lower(actor) = lower($2))
    and ($3::text is null or action = $3) and ($4::text is null or subject = $4)
    and at >= coalesce($5::timestamptz, '-infinity') and at < coalesce($6::timestamptz, 'infinity')
order by id desc
limit $7
