-- What a start under way makes, beside its body: a body that another version wrote may not be readable, and what it names
-- is somebody's all the same. Null in a row of an older Forge.
alter table starts add column project_id text;
alter table starts add column worktree text;
alter table starts add column branch text;
alter table starts add column in_place integer;
-- A worktree that is said to be deleted was seen to be gone, so that nobody has to look for it again.
alter table attempts add column worktree_gone integer not null default 0;
