//! What a live socket can be asked to follow, by name.

use forge_model::{AttemptId, ProjectId, RunId};

/// Something to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    /// Everything that changes, or what changes in a project.
    Events(Option<ProjectId>),
    /// What a run prints.
    Log(RunId),
    /// What an agent's run becomes, entry by entry.
    Entries(RunId),
    /// What an attempt has changed: with contents, or with counts only.
    Diff { attempt: AttemptId, stats_only: bool },
}

impl Topic {
    /// Reads a topic, or says in a sentence why it is none.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (kind, id) = match text.split_once(':') {
            Some((kind, id)) => (kind, Some(id)),
            None => (text, None),
        };
        match (kind, id) {
            ("events", None) => Ok(Topic::Events(None)),
            ("events", Some(id)) => id.parse().map(|id| Topic::Events(Some(id))).map_err(|e| e.to_string()),
            ("log", Some(id)) => id.parse().map(Topic::Log).map_err(|e| e.to_string()),
            ("diff" | "diff-stats", Some(id)) => {
                let diff = |attempt| Topic::Diff { attempt, stats_only: kind == "diff-stats" };
                id.parse().map(diff).map_err(|e| e.to_string())
            }
            ("entries", Some(id)) => id.parse().map(Topic::Entries).map_err(|e| e.to_string()),
            _ => Err("a topic is `events`, `events:<project id>`, `log:<run id>`, `entries:<run id>`, \
                      `diff:<attempt id>` or `diff-stats:<attempt id>`"
                .to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_read_or_refused_with_a_sentence() {
        let id = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c";
        assert_eq!(Topic::read("events"), Ok(Topic::Events(None)));
        assert_eq!(Topic::read(&format!("events:{id}")), Ok(Topic::Events(Some(id.parse().unwrap()))));
        assert_eq!(Topic::read(&format!("log:{id}")), Ok(Topic::Log(id.parse().unwrap())));
        assert_eq!(Topic::read(&format!("entries:{id}")), Ok(Topic::Entries(id.parse().unwrap())));
        let diff = Topic::Diff { attempt: id.parse().unwrap(), stats_only: true };
        assert_eq!(Topic::read(&format!("diff-stats:{id}")), Ok(diff));
        for (topic, told) in [
            ("", "a topic is"),
            ("log", "a topic is"),
            ("tasks", "a topic is"),
            ("log:x", "is not an id"),
            ("events:", "is not an id"),
            ("entries:x", "is not an id"),
            ("diff:x", "is not an id"),
        ] {
            let refused = Topic::read(topic).unwrap_err();
            assert!(refused.contains(told), "{topic}: {refused}");
        }
    }
}
