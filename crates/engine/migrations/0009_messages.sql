-- Which message a comment was sent with, by the name that the message has in the queue: one that is taken out of the
-- queue gives its comments back. Null for one that was not sent, or was told in another way.
alter table comments add column message text;
