-- Once a statement, with both images of the rows: refuses illegal moves, writes the events, wakes the mapping cycle.
-- The inbox ('result') wakes it after its commit instead: a commit that notifies holds back all others that do.
-- It also writes an acknowledgement and the result that came with it as one row; they are two events all the same.
-- Its plan is kept, and made when a batch was small: a nested loop over both images would cost the square of a large one.
create or replace function recognition_job_moved() returns trigger language plpgsql set enable_nestloop = off as $$
declare
    known_cause text := coalesce(nullif(current_setting('armka.cause', true), ''), 'sql by ' || current_user);
    illegal text;
    mappable boolean;
begin
    with move as (
        select n.id, o.status as from_status, n.status as to_status,
            known_cause = 'result' and o.status = 'published' and o.started_at is null and n.started_at is not null
                as with_acknowledgement
        from old_row o join new_row n using (id)
        where o.status <> n.status
    ), event as (
        insert into recognition_job_event (recognition_job_id, from_status, to_status, cause)
        select m.id, step.from_status, step.to_status, step.cause
        from move m cross join lateral (
            select 1 as ordinal, 'published' as from_status, 'processing' as to_status, 'acknowledged' as cause
            where m.with_acknowledgement
            union all
            select 2, case when m.with_acknowledgement then 'processing' else m.from_status end, m.to_status,
                case
                    when m.from_status = 'queued' and m.to_status <> 'published' and known_cause = 'result'
                        then 'result before the publication was recorded'
                    else known_cause
                end
        ) step
        order by m.id, step.ordinal
    )
    select
        min(from_status || ' -> ' || to_status || ' (job ' || id || ')')
            filter (where not recognition_job_may_move(from_status, to_status)),
        bool_or(to_status in ('done', 'needs_check'))
    into illegal, mappable
    from move;
    if illegal is not null then
        raise exception 'illegal transition of a recognition job: %', illegal
            using errcode = 'check_violation', constraint = 'recognition_job_transition',
                hint = 'a final status never changes; to process the file again, make a new attempt';
    end if;
    if mappable and known_cause <> 'result' then
        perform pg_notify('armka_job_mappable', '');
    end if;
    return null;
end $$;
