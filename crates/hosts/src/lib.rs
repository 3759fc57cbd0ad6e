//! Code hosts over HTTPS: pull requests and what becomes of them.
//!
//! Nothing lives here yet. Whatever comes knows repositories, branches and pull requests, and no task.
