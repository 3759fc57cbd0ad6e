-- Texts that people use again: tags for prompts, templates for tasks.
-- The three tags are what every database begins with; a person may change or delete them.

create table tags (
    id text primary key,
    name text not null,
    content text not null,
    created_at integer not null,
    updated_at integer not null
) strict;

create table templates (
    id text primary key,
    project_id text references projects (id) on delete cascade,
    name text not null,
    title text not null,
    description text,
    created_at integer not null,
    updated_at integer not null
) strict;
create index templates_project on templates (project_id);

insert into tags (id, name, content, created_at, updated_at) values
    ('5d2b1c70-3a4e-4f60-8b19-7c0e5a9d1f01', 'bug_analysis',
     'Find the cause of this bug before you change anything.

1. Reproduce it, and write down the exact steps and what happens.
2. Follow the code from the symptom to the first place where it goes wrong.
3. Say why it goes wrong there, and which other places share the cause.
4. Propose the smallest change that removes the cause, and a test that fails without it.',
     1794700800000, 1794700800000),
    ('5d2b1c70-3a4e-4f60-8b19-7c0e5a9d1f02', 'add_unit_tests',
     'Add unit tests for the code named above.

- Follow the conventions of the tests that are there already.
- Cover what it promises, its edge cases and its failures; leave its private details alone.
- Each test checks one thing, and its name says which.
- If a test shows a bug, say so and leave the fix to a change of its own.
- Run the whole suite at the end.',
     1794700800000, 1794700800000),
    ('5d2b1c70-3a4e-4f60-8b19-7c0e5a9d1f03', 'code_refactoring',
     'Make the code named above easier to read without changing what it does.

- See that tests cover it first; add what is missing.
- Work in small steps, and run the tests after each.
- Prefer plain names, short functions and less code; remove what nothing uses.
- Keep public interfaces as they are, or say plainly where they must change.',
     1794700800000, 1794700800000);
