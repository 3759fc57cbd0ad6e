-- What a board shows of tasks and attempts beside their state, and what people note about them there.

-- When the attempt came into the state it is in; null means when it last changed.
alter table attempts add column state_since integer;
update attempts set state_since = updated_at;
-- How much of its agent's newest to-do list is done; null when there was none.
alter table attempts add column todos_done integer;
alter table attempts add column todos_total integer;
-- What its newest diff comes to; null until one was made.
alter table attempts add column files_changed integer;
alter table attempts add column lines_added integer;
alter table attempts add column lines_deleted integer;
-- When a person last looked at it, and when they put it aside, for good or until a time.
alter table attempts add column seen_at integer;
alter table attempts add column dismissed_at integer;
alter table attempts add column later_until integer;

-- The order of tasks by hand: lower is higher. There is room between two for another.
alter table tasks add column position integer not null default 0;
update tasks set position = ordered.place * 1048576
    from (select id, row_number() over (order by created_at desc, id) as place from tasks) as ordered
    where ordered.id = tasks.id;
create index tasks_position on tasks (position);

-- What people write beside the lines of a diff, until it is sent to the agent and after.
create table comments (
    id text primary key,
    attempt_id text not null references attempts (id) on delete cascade,
    path text not null,
    -- 'old' or 'new'
    side text not null,
    line integer not null,
    end_line integer not null,
    -- The text of the line when it was written about.
    quote text not null,
    text text not null,
    created_at integer not null,
    updated_at integer not null,
    sent_at integer
) strict;
create index comments_attempt on comments (attempt_id, created_at);
