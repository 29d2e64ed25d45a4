-- name: files
-- Every file with its attempt that counts.
select f.id, f.client_ref, f.original_name, f.status, f.error_code, f.created_at, f.updated_at, o.bucket, o.key,
    o.size_bytes, o.sha256, j.id as job_id, j.status as job_status, j.attempt
from stored_file f
join s3_object o on o.id = f.s3_object_id
left join recognition_job j on j.id = f.current_recognition_job_id

-- name: jobs
-- Every job: what a final one says may never change.
select id, status, attempt, publish_count, finished_at, error_code, result_msg_id from recognition_job

-- name: digests
-- What was read of each file, without what differs from run to run: a digest of its documents, lines and checks.
select d.stored_file_id as file_id, md5(string_agg(
    (to_jsonb(d) - '{id,stored_file_id,recognition_job_id,created_at}'::text[])::text
    || coalesce((
        select string_agg((to_jsonb(l) - 'osv_document_id')::text, '' order by l.n)
        from osv_line l where l.osv_document_id = d.id
    ), '')
    || coalesce((
        select string_agg((to_jsonb(c) - 'osv_document_id')::text, '' order by c.ordinal)
        from osv_check c where c.osv_document_id = d.id
    ), ''), '|' order by d.ordinal)) as digest
from osv_document d join stored_file f on f.current_recognition_job_id = d.recognition_job_id
group by d.stored_file_id

-- name: objects
-- Every object that the tables name.
select bucket_role, key from s3_object

-- name: counts
-- How often what happened.
select 'events' as what, from_status || ' -> ' || to_status as which, count(*) from recognition_job_event group by 1, 2
union all
select 'facts', failure_kind || '/' || error_code, count(*) from quality_failure_fact group by 1, 2
union all
select 'rejected', reason, count(*) from rejected_message group by 1, 2
union all
select 'jobs', status || coalesce('/' || error_code, ''), count(*) from recognition_job group by 1, 2
union all
select 'attempts', attempt::text, count(*) from recognition_job group by 1, 2
union all
select 'publications', publish_count::text, count(*) from recognition_job group by 1, 2
order by 1, 2

-- name: restless
-- At rest nobody is in a transaction and nobody waits for a lock.
select pid::text || ' (' || application_name || ') is ' || state || ', waits for '
    || coalesce(wait_event_type, 'nothing') || ': ' || left(query, 60) as subject
from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
    and (state like 'idle in transaction%' or wait_event_type = 'Lock' or clock_timestamp() - xact_start > interval '5 s')
