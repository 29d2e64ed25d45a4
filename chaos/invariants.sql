-- Every statement returns `subject`: one row for each violation. They suppose that jobs are inserted as `queued`, that
-- nobody edits rows by hand, and the default OUTBOX_MAX_REPUBLISH.

-- name: a_job_ends_once
-- One final transition for a final job, none for any other; its event log says so.
select j.id || ' is ' || j.status || ' and has ended ' || count(e.id) || ' times' as subject
from recognition_job j
left join recognition_job_event e
    on e.recognition_job_id = j.id and e.to_status in ('done', 'needs_check', 'error', 'timeout', 'dlq')
group by j.id
having count(e.id) <> (j.status in ('done', 'needs_check', 'error', 'timeout', 'dlq'))::int

-- name: the_history_is_a_path
-- From queued, each step along the graph and from where the last one led, to where the job is.
select coalesce(step.id, j.id) || ': ' || coalesce(step.was || ', then ' || step.from_status || ' -> ' || step.to_status,
    'no event') || ', and it is ' || j.status as subject
from recognition_job j
left join (
    select recognition_job_id as id, from_status, to_status, coalesce(lag(to_status) over path, 'queued') as was,
        lead(to_status) over path is null as is_last
    from recognition_job_event
    window path as (partition by recognition_job_id order by id)
) step on step.id = j.id
where case
    when step.id is null then j.status <> 'queued'
    else step.from_status <> step.was or step.is_last and step.to_status <> j.status
        or (step.from_status, step.to_status) not in (
            ('queued', 'published'), ('queued', 'done'), ('queued', 'needs_check'), ('queued', 'error'),
            ('published', 'processing'), ('published', 'done'), ('published', 'needs_check'), ('published', 'error'),
            ('published', 'timeout'), ('published', 'dlq'),
            -- Published again, because the stream no longer had it.
            ('published', 'published'),
            ('processing', 'done'), ('processing', 'needs_check'), ('processing', 'error'), ('processing', 'timeout')
        )
end

-- name: attempts_have_no_gaps
-- 1..N, and the last one is the file's current one.
select f.id || ': attempts ' || array_agg(j.attempt order by j.attempt)::text as subject
from stored_file f left join recognition_job j on j.stored_file_id = f.id
group by f.id
having coalesce(array_agg(j.attempt order by j.attempt) <> (select array_agg(n) from generate_series(1, count(j.id)::int) n), true)
    or max(j.attempt) is distinct from (
        select c.attempt from recognition_job c where c.id = f.current_recognition_job_id and c.stored_file_id = f.id
    )

-- name: a_failure_is_one_fact
-- error, timeout, dlq: exactly one fact, of the right kind, with the job's code. Recognised and mapped: at most the
-- mapping's own. Under way: none.
select j.id || ' is ' || j.status || '/' || coalesce(j.error_code, '-') || ' with the facts '
    || coalesce(string_agg(q.failure_kind || '/' || q.error_code, ', '), 'none') as subject
from recognition_job j left join quality_failure_fact q on q.recognition_job_id = j.id
group by j.id
having case j.status
    when 'timeout' then array_agg(q.failure_kind || '/' || q.error_code) <> array['TIMEOUT/TIMEOUT']
    when 'dlq' then array_agg(q.failure_kind || '/' || q.error_code) <> array['NO_ACK/' || j.error_code]
    when 'error' then count(q.id) <> 1 or min(q.failure_kind) not in ('SERVICE_ERROR', 'REQUEST_INVALID')
        or min(q.error_code) <> j.error_code
    when 'done' then count(q.id) <> count(q.id) filter (where q.failure_kind = 'MAPPING_ERROR')
    when 'needs_check' then count(q.id) <> count(q.id) filter (where q.failure_kind = 'MAPPING_ERROR')
    else count(q.id) > 0
end

-- name: a_file_follows_its_current_job
-- Its status is a function of that job alone.
select f.id || ' is ' || f.status || '/' || coalesce(f.error_code, '-') || ', its job is ' || j.status || '/'
    || coalesce(j.error_code, '-') as subject
from stored_file f join recognition_job j on j.id = f.current_recognition_job_id
where not case
    when j.status = 'queued' and j.attempt = 1 then f.status = 'UPLOADED'
    when j.status in ('queued', 'published', 'processing') then f.status = 'PROCESSING'
    when j.status in ('error', 'timeout', 'dlq') then f.status = 'ERROR' and f.error_code = j.error_code
    when j.mapped_at is null then f.status = 'PROCESSING'
    when f.status = 'ERROR' then f.error_code = 'INVALID_RESULT' and exists (
        select from quality_failure_fact q where q.recognition_job_id = j.id and q.failure_kind = 'MAPPING_ERROR'
    )
    else f.status in ('DONE', 'NEEDS_CHECK') and (j.status = 'done' or f.status = 'NEEDS_CHECK')
end or (f.status = 'ERROR') <> (f.error_code is not null)

-- name: a_publication_is_whole
-- All of its columns once it was published, none before; at most four publications, the first before the last.
select j.id || ' is ' || j.status || ', published ' || j.publish_count || ' times' as subject
from recognition_job j
where case
    when exists (select from recognition_job_event e where e.recognition_job_id = j.id and e.to_status = 'published') then
        j.published_at is null or j.last_published_at < j.published_at or j.publish_count not between 1 and 4
        or (j.publish_count = 1) <> (j.last_published_at = j.published_at)
        or j.request_msg_id <> j.id || ':' || j.attempt or j.request_msg_id is null or j.request_subject is null
        or j.reply_deadline is null
    else coalesce(j.published_at, j.last_published_at) is not null or j.publish_count <> 0
        or coalesce(j.request_msg_id, j.request_subject) is not null
end

-- name: moments_belong_to_statuses
-- finished_at with a final status, started_at with an acknowledgement.
select j.id || ' is ' || j.status || ', started ' || coalesce(j.started_at::text, '-') || ', finished '
    || coalesce(j.finished_at::text, '-') as subject
from recognition_job j
where (j.finished_at is not null) <> (j.status in ('done', 'needs_check', 'error', 'timeout', 'dlq'))
    or (j.started_at is not null)
        <> exists (select from recognition_job_event e where e.recognition_job_id = j.id and e.to_status = 'processing')

-- name: a_recognised_job_has_its_own_result
-- done, needs_check: the contract's key of this job and the id of the envelope; timeout, dlq: neither.
select j.id || ' is ' || j.status || ' with the result ' || coalesce(o.key, '-') || ' of ' || coalesce(j.result_msg_id, '-')
    as subject
from recognition_job j left join s3_object o on o.id = j.result_s3_object_id
where case
    when j.status in ('done', 'needs_check') then j.result_msg_id is null or o.bucket_role is distinct from 'results'
        or o.key is distinct from 'results/' || j.stored_file_id || '/' || j.id || '/result.json'
    when j.status = 'error' then j.error_code is null
    else coalesce(j.result_msg_id, o.key) is not null
end

-- name: an_object_has_an_owner
-- An upload belongs to one file, a result to one job.
select o.bucket_role || ' ' || o.key || ' has ' || count(f.id) + count(j.id) || ' owners' as subject
from s3_object o
left join stored_file f on f.s3_object_id = o.id
left join recognition_job j on o.id in (j.result_s3_object_id, j.raw_s3_object_id)
group by o.id
having count(f.id) + count(j.id) <> 1

-- name: lines_belong_to_a_mapped_job
-- Documents only of what was recognised and mapped, each with all of its lines.
select j.id || ' is ' || j.status || ', document ' || d.ordinal || ' has ' || count(l.n) || ' lines of ' || d.line_count
    as subject
from osv_document d
join recognition_job j on j.id = d.recognition_job_id
left join osv_line l on l.osv_document_id = d.id
group by d.id, j.id
having j.status not in ('done', 'needs_check') or j.mapped_at is null or count(l.n) <> d.line_count

-- name: a_timeout_is_after_the_deadline
-- By the database's clock.
select e.recognition_job_id || ' timed out ' || (j.reply_deadline - e.at) || ' too early' as subject
from recognition_job_event e join recognition_job j on j.id = e.recognition_job_id
where e.to_status = 'timeout' and e.at < j.reply_deadline

-- name: giving_up_is_after_the_last_publication
-- Never acknowledged, and published as often as may be.
select j.id || ' is given up after ' || j.publish_count || ' publications' as subject
from recognition_job j
where j.status = 'dlq' and j.error_code = 'NO_ACK' and (j.publish_count <> 4 or j.started_at is not null)

-- name: somebody_will_move_it_on
-- What is under way has a deadline, once it was published; before, it is queued and the outbox sees it.
select j.id || ' is ' || j.status || ' for ever' as subject
from recognition_job j
where j.status in ('published', 'processing') and j.reply_deadline is null
