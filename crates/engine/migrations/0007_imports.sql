-- Where things come from that other products had first, so that they can be brought up to date and never twice.

create table imported (
    -- 'project', 'task', 'attempt', 'run', 'log', 'draft', 'merge', 'image', 'tag', 'standing_agent' or 'config'
    kind text not null,
    -- What it is called where it comes from.
    source_id text not null,
    -- What it is called here; it may be gone again, because somebody removed it.
    our_id text not null,
    -- A JSON object: of each field, the hash of the value that came. A field that differs here was edited here.
    fields text not null,
    imported_at integer not null,
    primary key (kind, source_id)
) strict;
create index imported_ours on imported (kind, our_id);
