-- name: add_job
-- A queued job of a new file.
with ids as materialized (
    select gen_random_uuid() as object, gen_random_uuid() as file, gen_random_uuid() as job
), object as (
    insert into s3_object (id, bucket, key, bucket_role)
    select object, 'arm-ka', 'uploads/' || file || '/source.xlsx', 'uploads' from ids
), file as (
    insert into stored_file (id, original_name, file_type, s3_object_id, current_recognition_job_id)
    select file, 'ОСВ за 2023 год.xlsx', 'XLSX', object, job from ids
)
insert into recognition_job (id, stored_file_id, pipeline) select job, file, 'tabular' from ids

-- name: first_end
-- When the first job that was created after $1 ended; null where none has (Unix times).
select extract(epoch from min(finished_at))::float8 from recognition_job where created_at > to_timestamp($1::float8)

-- name: ends
-- When jobs ended, in order (Unix time).
select extract(epoch from finished_at)::float8 as at from recognition_job where finished_at is not null order by finished_at

-- name: open_jobs
select count(*) from recognition_job where finished_at is null

-- name: not_answered
-- Jobs that ended otherwise than their service said.
select id || ' is ' || status || '/' || coalesce(error_code, '-') as subject
from recognition_job where (status, error_code) is distinct from ('error', 'UNREADABLE')
