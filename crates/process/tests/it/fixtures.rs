//! Recorded version 1: a run directory and a conversation, as they were written when it was made.
