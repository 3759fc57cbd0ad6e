-- What real agents need: rules about what they ask, what each turn used, limits of their providers, and where a
-- conversation comes from.

-- What the agents of a project may do without asking, or not at all. The first that fits counts.
create table rules (
    project_id text not null references projects (id) on delete cascade,
    place integer not null,
    -- 'allow', 'deny' or 'ask'
    effect text not null,
    -- 'read_only', 'command' or 'tool'
    about text not null,
    -- The first words of a command, or the name of a tool; null for tools that only read.
    pattern text,
    created_at integer not null,
    primary key (project_id, place)
) strict;

-- What a turn of an agent used. It refers to nothing: what was spent stays spent when its attempt is removed.
create table usages (
    run_id text not null,
    -- Counted from 1 within the run.
    turn integer not null,
    attempt_id text not null,
    project_id text not null,
    task_id text,
    agent text not null,
    -- When the agent last told.
    at integer not null,
    input_tokens integer,
    output_tokens integer,
    cache_creation_tokens integer,
    cache_read_tokens integer,
    cost_micros integer,
    primary key (run_id, turn)
) strict;
create index usages_project on usages (project_id, at);
create index usages_attempt on usages (attempt_id);

-- Attempts that their agent's provider does not serve for a while.
create table limited (
    attempt_id text primary key references attempts (id) on delete cascade,
    -- The run that was told so.
    run_id text not null,
    -- When it is over; null when nobody said.
    until integer,
    -- When going on by itself was put in the queue, which happens once.
    resumed_at integer,
    created_at integer not null
) strict;

-- Nobody is there to answer: what its agent asks is answered by rule.
alter table attempts add column unattended integer not null default 0;
-- It goes on by itself when a limit is over; null means as the settings say.
alter table attempts add column resume_when_limited integer;
-- The attempt whose conversation it branched off.
alter table attempts add column forked_from text;

-- The run branched its session off, and left the earlier one as it was.
alter table runs add column forked integer not null default 0;
-- What it was told of an earlier conversation, because its agent could not go on with it.
alter table runs add column memo text;

create index asks_attempt on asks (attempt_id, created_at);
