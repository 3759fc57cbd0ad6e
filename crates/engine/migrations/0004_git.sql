-- What git's side of an attempt leaves behind: landings, what was found changed outside a worktree, leased ports,
-- worktrees that wait for their attempt, and attempts that wait for room.

-- The person trusts the filters that this repository's own config names.
alter table projects add column trust_filters integer not null default 0;

-- The agent works in the person's checkout, because they asked; nothing there is ours.
alter table attempts add column in_place integer not null default 0;
alter table attempts add column setup_completed_at integer;
-- Ignored files that can be made again were moved to the trash.
alter table attempts add column tidied_at integer;

-- Where the worktree of something removed lies in the trash.
alter table removed add column trash text;

-- A turn that changed nothing has the snapshot of the turn before, so a snapshot is no key any more.
create table taken_snapshots (
    id text primary key,
    attempt_id text not null,
    run_id text,
    oid text not null,
    -- The commit that was checked out.
    head text,
    why text not null,
    -- A JSON list of {path, why}: what is not in it.
    left_out text,
    created_at integer not null
) strict;
insert into taken_snapshots (id, attempt_id, run_id, oid, head, why, left_out, created_at)
    select attempt_id || ':' || oid, attempt_id, run_id, oid, null, why, null, created_at from snapshots;
drop table snapshots;
alter table taken_snapshots rename to snapshots;
create index snapshots_attempt on snapshots (attempt_id, created_at);

-- Work that reached its target, or is on its way there in a pull request.
create table merges (
    id text primary key,
    attempt_id text not null references attempts (id),
    -- 'direct' or 'pr'
    kind text not null,
    target_branch text not null,
    -- The commit on the target; of a pull request once it is merged.
    commit_oid text,
    -- The attempt's tip before it was squashed.
    tip text,
    pr_number integer,
    pr_url text,
    -- 'open', 'merged', 'closed' or 'unknown'
    pr_status text,
    merged_at integer,
    created_at integer not null,
    updated_at integer not null
) strict;
create index merges_attempt on merges (attempt_id, created_at);
create index merges_open on merges (pr_status) where pr_status = 'open';

-- Git work of several steps that is under way, written down before its first step.
create table acts (
    id text primary key,
    -- 'land', 'rebase', 'restore', ...
    kind text not null,
    attempt_id text not null,
    body text not null,
    created_at integer not null
) strict;
create index acts_attempt on acts (attempt_id);

-- What changed outside an attempt's worktree while one of its runs was at work.
create table findings (
    id text primary key,
    attempt_id text not null references attempts (id),
    run_id text,
    -- 'ref', 'config', 'stash', 'hook', 'info', 'file', ...
    kind text not null,
    subject text not null,
    before text,
    after text,
    -- 'seen', 'restored' or 'dismissed'
    state text not null,
    created_at integer not null,
    settled_at integer
) strict;
create index findings_attempt on findings (attempt_id, created_at);

create table ports (
    port integer primary key,
    attempt_id text not null,
    slot integer not null,
    created_at integer not null
) strict;
create unique index ports_attempt on ports (attempt_id, slot);

-- Worktrees that are made ahead and wait for an attempt.
create table ready_worktrees (
    path text primary key,
    project_id text not null,
    commit_oid text not null,
    -- 'filling', 'ready' or 'claimed'
    state text not null,
    attempt_id text,
    created_at integer not null
) strict;
create index ready_worktrees_project on ready_worktrees (project_id, state);

-- Starts that a cap holds back, in their order.
create table queued_starts (
    attempt_id text primary key references attempts (id),
    project_id text not null,
    place integer not null,
    body text not null,
    created_at integer not null
) strict;
create unique index queued_starts_place on queued_starts (place);
