-- The first schema. Append-only: a change is a new file, never an edit of this one.
-- Portable on purpose: text ids, integer milliseconds, JSON as text, no autoincrement.

create table seqs (
    name text primary key,
    n integer not null
) strict;
insert into seqs (name, n) values ('events', 0);

create table events (
    seq integer primary key,
    noun text not null,
    id text not null,
    project_id text,
    attempt_id text,
    op text not null,
    at integer not null
) strict;

create table projects (
    id text primary key,
    name text not null,
    path text not null,
    setup_script text,
    dev_script text,
    cleanup_script text,
    copy_files text,
    commit_prompt text,
    default_base_branch text,
    created_at integer not null,
    updated_at integer not null
) strict;
create unique index projects_path on projects (path);

create table tasks (
    id text primary key,
    project_id text not null references projects (id),
    title text not null,
    description text,
    status text not null,
    parent_attempt_id text,
    created_at integer not null,
    updated_at integer not null
) strict;
create index tasks_project on tasks (project_id, created_at);

create table attempts (
    id text primary key,
    project_id text not null references projects (id),
    task_id text references tasks (id),
    agent text not null,
    variant text,
    state text not null,
    reason text,
    branch text not null,
    target_branch text not null,
    base_commit text not null,
    worktree text not null,
    worktree_deleted integer not null,
    session text,
    prompt text not null,
    -- What all its runs have used together.
    input_tokens integer,
    output_tokens integer,
    cache_creation_tokens integer,
    cache_read_tokens integer,
    cost_micros integer,
    created_at integer not null,
    updated_at integer not null
) strict;
create index attempts_task on attempts (task_id, created_at);
create index attempts_project on attempts (project_id, created_at);
create index attempts_live on attempts (state) where state in ('queued', 'running', 'waiting', 'limited');

create table runs (
    id text primary key,
    attempt_id text not null references attempts (id),
    kind text not null,
    state text not null,
    agent text not null,
    variant text,
    prompt text not null,
    resumed_session text,
    before_head text,
    after_head text,
    exit_code integer,
    signal integer,
    reason text,
    dropped integer not null,
    -- The agent's input is being closed: nothing more can be told to this process.
    closing integer not null,
    -- A person asked for it to be stopped.
    stop_requested integer not null,
    input_tokens integer,
    output_tokens integer,
    cache_creation_tokens integer,
    cache_read_tokens integer,
    cost_micros integer,
    started_at integer not null,
    completed_at integer,
    created_at integer not null,
    updated_at integer not null
) strict;
create index runs_attempt on runs (attempt_id, started_at);
create index runs_live on runs (state) where state in ('pending', 'running');

create table asks (
    id text primary key,
    run_id text not null references runs (id),
    attempt_id text not null references attempts (id),
    key text not null,
    kind text not null,
    tool text not null,
    text text not null,
    input text not null,
    state text not null,
    answer text,
    answered_by text,
    created_at integer not null,
    answered_at integer
) strict;
create unique index asks_key on asks (run_id, key);
create index asks_open on asks (state, created_at) where state = 'open';

-- What came from outside for a running agent, in the order it is told.
create table inputs (
    run_id text not null references runs (id),
    ordinal integer not null,
    body text not null,
    created_at integer not null,
    primary key (run_id, ordinal)
) strict;

-- Follow-ups that wait for the turn's end.
create table queue (
    id text primary key,
    attempt_id text not null references attempts (id),
    prompt text not null,
    variant text,
    state text not null,
    run_id text,
    created_at integer not null
) strict;
create index queue_attempt on queue (attempt_id, state, created_at);

-- Starts under way: readers see nothing of them until they have happened.
create table starts (
    run_id text primary key,
    attempt_id text not null,
    body text not null,
    created_at integer not null
) strict;

-- Calls with an idempotency key that have happened.
create table calls (
    key text primary key,
    fingerprint text not null,
    attempt_id text not null,
    run_id text not null,
    delivered text not null,
    created_at integer not null
) strict;

create table snapshots (
    attempt_id text not null,
    oid text not null,
    run_id text,
    why text not null,
    created_at integer not null,
    primary key (attempt_id, oid)
) strict;

-- What was removed, whole, so that it can be brought back.
create table removed (
    kind text not null,
    id text not null,
    body text not null,
    snapshot text,
    worktree text,
    repository text,
    removed_at integer not null,
    primary key (kind, id)
) strict;
