-- name: read_only
-- Nothing here may write.
set transaction read only

-- name: bounded
-- For this transaction. $1: a duration.
select set_config('statement_timeout', $1, true)

-- name: clock
-- The database's clock: deadlines are its own.
select clock_timestamp()

-- The checks. Each returns one text a thing that drifted. `drift` says what it is, `do` what to do, `takes` what its
-- parameters are, in their order: limit = rows returned at most, newest = rows looked at, and ages in seconds. What is
-- looked up for each of the newest rows is a lateral that cannot be turned into a join of whole tables.

-- name: job_without_clock
-- drift: A job is under way and its deadline lies more than 30 days ahead: no loop will move it if its service stays silent.
-- do: Set reply_deadline of the job to a moment that makes sense; the watchdog does the rest.
-- takes: limit, tabular_seconds, image_seconds
select id || ' ' || status || ', due ' || due
from (
    select id, status, reply_deadline as due
    from recognition_job
    where status in ('published', 'processing') and reply_deadline is not null
        and reply_deadline > now() + interval '30 days'
    union all
    select id, status, coalesce(published_at, created_at)
            + make_interval(secs => case pipeline when 'image' then $3::float8 else $2::float8 end)
    from recognition_job
    where status in ('published', 'processing') and reply_deadline is null
        and coalesce(published_at, created_at)
            + make_interval(secs => case pipeline when 'image' then $3::float8 else $2::float8 end)
            > now() + interval '30 days'
) late
limit $1

-- name: job_overdue
-- drift: A job is past its deadline by two periods of the watchdog and was not ended: no core's watchdog runs, or somebody holds the row.
-- do: See that a core runs and its log; look in pg_stat_activity for a transaction that holds the job's row.
-- takes: limit, watchdog_seconds
select id || ' ' || status || ', due ' || reply_deadline
from recognition_job
where status in ('published', 'processing') and reply_deadline is not null
    and reply_deadline < now() - make_interval(secs => 2 * $2::float8)
order by reply_deadline, id
limit $1

-- name: job_not_published
-- drift: A job is queued for more than a minute although NATS is connected: no core's outbox runs, or the server forbids the subject.
-- do: See that a core runs and its log, for "forbids" and "loop" above all; look for a transaction that holds the job's row.
-- takes: limit
select id || ' queued since ' || created_at
from recognition_job
where status = 'queued' and created_at < now() - interval '1 minute'
order by created_at, id
limit $1

-- name: pipeline_blocked
-- drift: Jobs are queued and cannot go out, because of what the server says of their pipeline's subject.
-- do: Where a permission is missing, give the core its role's (`armka nats-setup`, docs/operate/credentials.md); the jobs follow by themselves.
-- takes: limit
select o.pipeline || ' since ' || o.since || ': ' || o.reason
from outbox_obstacle o
where exists (select from recognition_job j where j.status = 'queued' and j.pipeline = o.pipeline)
limit $1

-- name: result_not_mapped
-- drift: A result waits for more than five minutes to become lines: the mapping cycle does not run, or cannot read the store.
-- do: See that a core runs, that the object store answers, and the log of the loop "mapping".
-- takes: limit, newest
select look.id || ' ' || look.status || ' since ' || look.since
from (
    select id, stored_file_id, status, coalesce(finished_at, created_at) as since
    from recognition_job
    where status in ('done', 'needs_check') and mapped_at is null
        and coalesce(finished_at, created_at) < now() - interval '5 minutes'
    order by coalesce(finished_at, created_at), id
    limit $2
) look
cross join lateral (
    select from stored_file f
    where f.id = look.stored_file_id and f.status = 'PROCESSING' and f.current_recognition_job_id = look.id
    limit 1
) f
limit $1

-- name: final_without_finish
-- drift: A job was brought to a final status and has no finished_at.
-- do: Somebody wrote it by hand or a version has a defect: see its events; set finished_at to the time of the last one.
-- takes: limit, newest
select j.id || ' ' || j.status
from (select id, status, finished_at from recognition_job order by created_at desc, id desc limit $2) j
where j.status in ('done', 'needs_check', 'error', 'timeout', 'dlq') and j.finished_at is null
    and exists (select from recognition_job_event e where e.recognition_job_id = j.id and e.to_status = j.status)
limit $1

-- name: two_final_events
-- drift: A job reached a final status twice: a final status was overwritten.
-- do: The guard was off or the job was restored from elsewhere: compare its events with its rejected messages, and decide which result counts.
-- takes: limit, newest
select j.id || ' ' || ends.statuses
from (select id from recognition_job order by created_at desc, id desc limit $2) j
cross join lateral (
    select count(*), string_agg(e.to_status, ', ' order by e.id) as statuses
    from recognition_job_event e
    where e.recognition_job_id = j.id and e.to_status in ('done', 'needs_check', 'error', 'timeout', 'dlq')
) ends
where ends.count > 1
limit $1

-- name: event_off_the_graph
-- drift: A job made a move that its life does not have.
-- do: The guard was off when it was written: see the event's cause and time, and what was done to the database then.
-- takes: limit, newest
select e.recognition_job_id || ' ' || coalesce(e.from_status, 'nothing') || ' -> ' || e.to_status || ': ' || e.cause
from (
    select id, recognition_job_id, from_status, to_status, cause
    from recognition_job_event order by id desc limit 3 * $2::bigint
) e
where e.from_status is null
    -- A publication that is repeated is no move.
    or not recognition_job_may_move(e.from_status, e.to_status)
        and (e.from_status, e.to_status) <> ('published', 'published')
limit $1

-- name: status_without_event
-- drift: A job's status is not where its last event left it: it was changed while the guard was off.
-- do: See that the triggers of recognition_job are enabled; ask who changed it; a new attempt of the file puts it right.
-- takes: limit, newest
select j.id || ' is ' || j.status || ', its last event says ' || last.to_status
from (select id, status from recognition_job order by created_at desc, id desc limit $2) j
cross join lateral (
    select e.to_status from recognition_job_event e where e.recognition_job_id = j.id order by e.id desc limit 1
) last
where last.to_status <> j.status
limit $1

-- name: attempt_doubled
-- drift: A file has two jobs of one attempt.
-- do: One of them was inserted by hand: the file's current job counts; keep the other as it is, and start a new attempt if in doubt.
-- takes: limit, newest
select distinct j.stored_file_id || ' attempt ' || j.attempt
from (select id, stored_file_id, attempt from recognition_job order by created_at desc, id desc limit $2) j
cross join lateral (
    select count(*) from recognition_job same
    where same.stored_file_id = j.stored_file_id and same.attempt = j.attempt
) jobs
where jobs.count > 1
limit $1

-- name: file_not_its_job
-- drift: A file's status does not follow from the job that counts for it.
-- do: Start a new attempt of the file (`armka files retry`); where its status is PROCESSING and its job is not under way, set it to ERROR first.
-- takes: limit, newest
select f.id || ' is ' || f.status || ', its job '
    || coalesce(j.status || case when j.mapped_at is null then '' else ' and mapped' end, 'is not there')
from (
    (
        select id, status, error_code, current_recognition_job_id from stored_file
        order by created_at desc, id desc limit $2
    )
    union
    (
        select id, status, error_code, current_recognition_job_id from stored_file
        where status = 'PROCESSING' order by created_at, id limit $2
    )
) f
left join lateral (
    select id, status, error_code, mapped_at from recognition_job where id = f.current_recognition_job_id limit 1
) j on true
where not case
    when j.id is null then f.status = 'UPLOADED'
    when j.status = 'queued' then f.status in ('UPLOADED', 'PROCESSING')
    when j.status in ('published', 'processing') then f.status = 'PROCESSING'
    when j.status in ('done', 'needs_check') and j.mapped_at is null then f.status = 'PROCESSING'
    when j.status in ('done', 'needs_check')
        then f.status in ('DONE', 'NEEDS_CHECK') or f.status = 'ERROR' and f.error_code = 'INVALID_RESULT'
    else f.status = 'ERROR' and f.error_code is not distinct from j.error_code
end
limit $1

-- name: done_without_result
-- drift: A job was brought to done or needs_check without a result file on record.
-- do: Start a new attempt of the file; see in the job's events who moved it.
-- takes: limit, newest
select j.id || ' ' || j.status
from (
    select id, status, result_s3_object_id from recognition_job order by created_at desc, id desc limit $2
) j
where j.status in ('done', 'needs_check') and j.result_s3_object_id is null
    and exists (select from recognition_job_event e where e.recognition_job_id = j.id and e.to_status = j.status)
limit $1

-- name: result_of_another
-- drift: A job's result file is not the one that is its own by the contract.
-- do: The row was written by hand: start a new attempt of the file.
-- takes: limit, newest
select j.id || ' points to ' || o.bucket_role || ' ' || o.key
from (
    select id, stored_file_id, result_s3_object_id from recognition_job order by created_at desc, id desc limit $2
) j
cross join lateral (select bucket_role, key from s3_object where id = j.result_s3_object_id limit 1) o
where o.bucket_role <> 'results' or o.key <> 'results/' || j.stored_file_id || '/' || j.id || '/result.json'
limit $1

-- name: file_done_without_document
-- drift: A file is DONE and its job brought no trial balance.
-- do: Start a new attempt of the file.
-- takes: limit, newest
select f.id || ', job ' || f.current_recognition_job_id
from (
    select id, status, current_recognition_job_id from stored_file order by created_at desc, id desc limit $2
) f
where f.status = 'DONE'
    and not exists (select from osv_document d where d.recognition_job_id = f.current_recognition_job_id)
limit $1

-- name: failure_not_counted
-- drift: A job failed and the quality metrics do not count it, or count it twice; or they count a failure of a job that did not fail.
-- do: Add the missing row of quality_failure_fact, or remove the surplus one; the metrics follow.
-- takes: limit, newest
select j.id || ' ' || j.status || ' has ' || facts.count || ' failure facts'
from (select id, status from recognition_job order by created_at desc, id desc limit $2) j
cross join lateral (
    select count(*) from quality_failure_fact q
    where q.recognition_job_id = j.id and q.failure_kind <> 'MAPPING_ERROR'
) facts
where case
    when j.status in ('error', 'timeout', 'dlq') then facts.count <> 1 and (
        facts.count > 1
        or exists (select from recognition_job_event e where e.recognition_job_id = j.id and e.to_status = j.status)
    )
    else facts.count <> 0
end
limit $1

-- name: guard_off
-- drift: The database does not guard the life of a job: a trigger of recognition_job is missing or disabled.
-- do: `alter table recognition_job enable trigger user`; if one is missing, see that all migrations are applied.
-- takes: limit
select wanted.name
from unnest(array['recognition_job_moved', 'recognition_job_added', 'recognition_job_renamed',
    'recognition_job_removed']) as wanted (name)
left join pg_trigger t on t.tgname = wanted.name and t.tgrelid = 'recognition_job'::regclass
where t.tgenabled is distinct from 'O' and t.tgenabled is distinct from 'A'
limit $1

-- name: old_transaction
-- drift: A transaction is open for more than five minutes: what died since then cannot be vacuumed, and the queue slows down.
-- do: See what it does (a dump, a report, a forgotten session) and end it: `select pg_terminate_backend(pid)`.
-- takes: limit
select 'pid ' || pid || ' (' || coalesce(nullif(application_name, ''), 'no name') || ') since ' || xact_start
from pg_stat_activity
where datname = current_database() and backend_type = 'client backend' and xact_start < now() - interval '5 minutes'
order by xact_start
limit $1

-- name: bloated_table
-- drift: A table holds more dead rows than a third of its live ones: autovacuum does not keep up.
-- do: See `old_transaction`; then `vacuum` the table, and give autovacuum more room (autovacuum_vacuum_cost_limit).
-- takes: limit
select relname || ': ' || n_dead_tup || ' dead, ' || n_live_tup || ' live'
from pg_stat_user_tables
where schemaname = 'public' and n_dead_tup > 50000 and n_dead_tup > n_live_tup / 3
order by n_dead_tup desc
limit $1

-- What the other checks ask the database for.

-- name: newest_objects
-- The objects that the newest files and jobs rest on. $1: how many of each, $2: the bucket.
-- Those of the last minute are left out: a service may only just have written them.
(
    select o.key from (
        select s3_object_id from stored_file where created_at < now() - interval '1 minute'
        order by created_at desc, id desc limit $1
    ) f join s3_object o on o.id = f.s3_object_id
    where o.bucket = $2
)
union all
(
    select o.key from (
        select result_s3_object_id from recognition_job where created_at < now() - interval '1 minute'
        order by created_at desc, id desc limit $1
    ) j join s3_object o on o.id = j.result_s3_object_id
    where o.bucket = $2
)

-- name: known_keys
-- Which of these keys have a row. $1: the bucket, $2: the keys.
select key from s3_object where bucket = $1 and key = any ($2::text[])
