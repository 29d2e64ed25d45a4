-- What a move of a job costs, brought down.

-- The guard's plan is kept, and made when a batch was small: a nested loop over both images of the rows costs the square of
-- a large one. The cause of a move is asked for once a statement.
create or replace function recognition_job_moved() returns trigger language plpgsql set enable_nestloop = off as $$
declare
    known_cause text := coalesce(nullif(current_setting('armka.cause', true), ''), 'sql by ' || current_user);
    illegal text;
    mappable boolean;
begin
    with move as (
        select n.id, o.status as from_status, n.status as to_status
        from old_row o join new_row n using (id)
        where o.status <> n.status
    ), event as (
        insert into recognition_job_event (recognition_job_id, from_status, to_status, cause)
        select id, from_status, to_status,
            case
                when from_status = 'queued' and to_status <> 'published' and known_cause = 'result'
                    then 'result before the publication was recorded'
                else known_cause
            end
        from move
        order by id
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
    if mappable then
        perform pg_notify('armka_job_mappable', '');
    end if;
    return null;
end $$;

-- The guard writes events for rows that it has before it; the foreign key looked each of them up again. A deletion still
-- takes the events along.
alter table recognition_job_event drop constraint recognition_job_event_recognition_job_id_fkey;

create function recognition_job_removed() returns trigger language plpgsql as $$
begin
    delete from recognition_job_event e using old_row o where e.recognition_job_id = o.id;
    return null;
end $$;

create trigger recognition_job_removed
    after delete on recognition_job
    referencing old table as old_row
    for each statement execute function recognition_job_removed();
