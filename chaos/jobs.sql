-- name: add_jobs
-- Queued jobs number $1 to $2, each of a file that bears its number.
with ids as materialized (
    select n, gen_random_uuid() as object, gen_random_uuid() as file, gen_random_uuid() as job
    from generate_series($1::integer, $2::integer) n
), object as (
    insert into s3_object (id, bucket, key, bucket_role)
    select object, 'arm-ka', 'uploads/' || file || '/source.xlsx', 'uploads' from ids
), file as (
    insert into stored_file (id, original_name, file_type, s3_object_id, current_recognition_job_id)
    select file, 'ОСВ ' || n || '.xlsx', 'XLSX', object, job from ids
)
insert into recognition_job (id, stored_file_id, pipeline) select job, file, 'tabular' from ids

-- name: is_there
select exists (select from stored_file where original_name = 'ОСВ ' || $1::integer || '.xlsx')

-- name: ended
select count(*) from recognition_job where finished_at is not null

-- name: first_end
-- When the first job that was created after $1 ended; null where none has (Unix times).
select extract(epoch from min(finished_at))::float8 from recognition_job where created_at > to_timestamp($1::float8)

-- name: ends
-- When jobs ended, in order (Unix time).
select extract(epoch from finished_at)::float8 as at from recognition_job where finished_at is not null order by finished_at

-- name: open_jobs
select count(*) from recognition_job where finished_at is null

-- name: end_state
-- How every file and its job ended, by the file's number.
select f.original_name || ' ' || f.status || '/' || coalesce(f.error_code, '-') || ' ' || j.status || '/'
    || coalesce(j.error_code, '-') || ' ' || j.attempt || ' ' || count(q.id) as line
from stored_file f
join recognition_job j on j.stored_file_id = f.id
left join quality_failure_fact q on q.recognition_job_id = j.id
group by f.id, j.id
order by f.original_name, j.attempt

-- name: statuses
select status || coalesce('/' || error_code, '') as which, count(*) from recognition_job group by 1 order by 1

-- name: otherwise
-- Jobs that ended otherwise than their service said: with the code $1.
select id || ' is ' || status || '/' || coalesce(error_code, '-') as subject
from recognition_job where (status, error_code) is distinct from ('error', $1::text)
