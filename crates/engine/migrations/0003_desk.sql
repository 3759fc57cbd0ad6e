-- What lies around a task and an attempt besides their runs: drafts, images, settings, agents with a standing
-- task, and notices that were sent.

-- What stands in an attempt's composer: one text to follow up with, and one to run an earlier turn again with.
create table drafts (
    id text primary key,
    attempt_id text not null references attempts (id),
    -- 'follow_up' or 'retry'
    kind text not null,
    retry_run_id text,
    prompt text not null,
    variant text,
    -- A JSON list of image ids; null when none was ever given.
    images text,
    -- Counts every change, so that two tabs cannot write over each other.
    version integer not null,
    -- The item of the queue that this text waits as; null while it is only being written.
    queue_id text,
    created_at integer not null,
    updated_at integer not null
) strict;
create unique index drafts_attempt on drafts (attempt_id, kind);

-- A JSON list of image ids, as in drafts.
alter table queue add column images text;

-- Pictures that people gave; the bytes are files named by their hash.
create table images (
    id text primary key,
    file text not null,
    original_name text not null,
    mime_type text,
    size_bytes integer not null,
    hash text not null,
    created_at integer not null,
    updated_at integer not null
) strict;
create unique index images_hash on images (hash);

create table task_images (
    task_id text not null references tasks (id) on delete cascade,
    image_id text not null references images (id) on delete cascade,
    created_at integer not null,
    primary key (task_id, image_id)
) strict;
create index task_images_image on task_images (image_id);

-- Settings as JSON: of all projects under 'global', of one under its id.
create table settings (
    scope text primary key,
    body text not null,
    updated_at integer not null
) strict;

-- Agents that have a standing task in a project. Of 'genie_chat' a project may have many, of others one: the
-- engine sees to it.
create table standing_agents (
    id text primary key,
    project_id text not null references projects (id) on delete cascade,
    kind text not null,
    task_id text not null references tasks (id) on delete cascade,
    created_at integer not null,
    updated_at integer not null
) strict;
create index standing_agents_project on standing_agents (project_id, kind);
create index standing_agents_task on standing_agents (task_id);

-- Notices that were sent to people, or could not be.
create table notices (
    id text primary key,
    task_id text,
    kind text not null,
    -- 'pending', 'sent' or 'failed'
    status text not null,
    recipient text,
    message text,
    error text,
    metadata text,
    created_at integer not null,
    sent_at integer
) strict;
create index notices_created on notices (created_at);
