//! Places between two steps where a test makes the server die or wait.
//!
//! In ordinary life there is none and passing one costs a comparison. `FORGE_SEAM` holds a list parted by
//! commas: `name[:detail][#count]=kill` dies there by SIGKILL, `name[:detail][#count]=hold:PATH` writes
//! `PATH.reached` and waits until `PATH` exists. `name=limit:MILLIS` shortens a time limit of that name.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The seams of this process.
#[derive(Debug, Clone, Default)]
pub struct Seam {
    rules: Arc<Vec<Rule>>,
}

#[derive(Debug)]
struct Rule {
    name: String,
    detail: Option<String>,
    /// How many more times it is passed before it acts.
    left: AtomicU32,
    act: Act,
}

#[derive(Debug)]
enum Act {
    Kill,
    Hold(PathBuf),
    /// Nothing happens when it is passed.
    Limit(Duration),
}

impl Seam {
    /// Reads the seams from their text.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let mut rules = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let bad = || format!("{part:?} is no seam; one looks like start.intent:main#2=kill");
            let (place, act) = part.split_once('=').ok_or_else(bad)?;
            let (place, count) = match place.split_once('#') {
                Some((place, count)) => (place, count.parse::<u32>().map_err(|_| bad())?),
                None => (place, 1),
            };
            let (name, detail) = match place.split_once(':') {
                Some((name, detail)) => (name, Some(detail.to_string())),
                None => (place, None),
            };
            let act = match act.split_once(':') {
                None if act == "kill" => Act::Kill,
                Some(("hold", path)) => Act::Hold(PathBuf::from(path)),
                Some(("limit", millis)) => {
                    Act::Limit(Duration::from_millis(millis.parse().map_err(|_| bad())?))
                }
                _ => return Err(bad()),
            };
            rules.push(Rule { name: name.to_string(), detail, left: AtomicU32::new(count), act });
        }
        Ok(Self { rules: Arc::new(rules) })
    }

    /// Returns what a time limit is to be instead of what it usually is.
    pub(crate) fn limit(&self, name: &str) -> Option<Duration> {
        self.rules.iter().find(|rule| rule.name == name).and_then(|rule| match rule.act {
            Act::Limit(limit) => Some(limit),
            Act::Kill | Act::Hold(_) => None,
        })
    }

    /// Passes a place. `detail` tells apart what passes it, such as the base branch of a start.
    pub(crate) async fn pass(&self, name: &str, detail: &str) {
        for rule in self.rules.iter() {
            let here = rule.name == name && rule.detail.as_deref().is_none_or(|wanted| wanted == detail);
            let count_down = |left: u32| left.checked_sub(1);
            if !here || rule.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count_down) != Ok(1) {
                continue;
            }
            match &rule.act {
                Act::Kill => die(),
                Act::Hold(path) => hold(path).await,
                Act::Limit(_) => {}
            }
        }
    }
}

/// Dies as a power cut would have it: nothing is flushed, nothing is told.
fn die() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

async fn hold(path: &std::path::Path) {
    let mut reached = path.as_os_str().to_owned();
    reached.push(".reached");
    if let Err(error) = std::fs::write(&reached, "") {
        tracing::warn!("could not write {}: {error}", PathBuf::from(reached).display());
    }
    while !path.exists() {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_no_seam_is_refused_by_name() {
        assert!(Seam::parse("start.intent=explode").unwrap_err().contains("start.intent=explode"));
        assert!(Seam::parse("").unwrap().rules.is_empty());
        assert_eq!(Seam::parse("a:b#3=kill, c=hold:/x").unwrap().rules.len(), 2);
        let limited = Seam::parse("git=limit:300").unwrap();
        assert_eq!((limited.limit("git"), limited.limit("other")), (Some(Duration::from_millis(300)), None));
        assert!(Seam::parse("git=limit:soon").is_err());
    }

    #[tokio::test]
    async fn a_hold_waits_for_its_file_and_only_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("go");
        let seam = Seam::parse(&format!("here:x=hold:{}", path.display())).unwrap();
        seam.pass("here", "y").await;
        assert!(!dir.path().join("go.reached").exists());
        let waiting = tokio::spawn({
            let seam = seam.clone();
            async move { seam.pass("here", "x").await }
        });
        while !dir.path().join("go.reached").exists() {
            tokio::task::yield_now().await;
        }
        assert!(!waiting.is_finished());
        std::fs::write(&path, "").unwrap();
        waiting.await.unwrap();
        seam.pass("here", "x").await;
    }
}
