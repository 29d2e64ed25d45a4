-- Why the requests of a pipeline cannot go out just now, as a core was told: the server forbids their subject.
-- One row tells it of every queued job of the pipeline, however many there are.
create table outbox_obstacle (
    pipeline text primary key,
    reason text not null,
    since timestamptz not null default clock_timestamp()
);
