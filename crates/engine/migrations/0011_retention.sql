-- What retention needs to know, and sums of usage that are looked up.

-- Logs that were deleted, by their runs. It refers to nothing: the run may have been removed, and may come back.
create table deleted_logs (
    run_id text primary key,
    deleted_at integer not null
) strict;

-- Sums of usage: of everything since a moment, of a task, and of an attempt.
create index usages_at on usages (at);
create index usages_task on usages (task_id, at);
drop index usages_attempt;
create index usages_attempt on usages (attempt_id, at);
