-- What the checks of a pull request came to: how many ended well, ended badly and have not ended, as '3/1/0'. Null when
-- nobody has asked.
alter table merges add column pr_checks text;
