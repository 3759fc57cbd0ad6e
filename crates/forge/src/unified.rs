//! A file's change as the patch that `git apply` reads.

use std::fmt;

use imara_diff::{Algorithm, Diff, InternedInput, Interner, Token, UnifiedDiffConfig, UnifiedDiffPrinter};
use serde::Deserialize;

/// A changed file, as the API tells it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileDiff {
    pub(crate) change: String,
    old_path: Option<String>,
    new_path: Option<String>,
    old_content: Option<String>,
    new_content: Option<String>,
    #[serde(default)]
    content_omitted: bool,
    pub(crate) additions: Option<u64>,
    pub(crate) deletions: Option<u64>,
    old_mode: Option<String>,
    new_mode: Option<String>,
    #[serde(default)]
    is_binary: bool,
}

impl FileDiff {
    /// Its path, and the one that it had before when that is another.
    pub(crate) fn name(&self) -> String {
        match (&self.old_path, &self.new_path) {
            (Some(old), Some(new)) if old != new => format!("{old} => {new}"),
            (_, Some(path)) | (Some(path), None) => path.clone(),
            (None, None) => String::new(),
        }
    }

    /// Tells whether a file became a link, or the other way round: for a patch, one goes and another comes.
    fn changes_its_nature(&self) -> bool {
        let kind = |mode: &Option<String>| mode.as_ref().map(|mode| mode.chars().take(3).collect::<String>());
        self.old_mode.is_some() && self.new_mode.is_some() && kind(&self.old_mode) != kind(&self.new_mode)
    }
}

/// Writes a change as a patch.
pub(crate) fn patch(diff: &FileDiff) -> String {
    if diff.changes_its_nature() {
        let mut went = diff.clone();
        (went.new_path, went.new_content, went.new_mode) = (None, None, None);
        let mut came = diff.clone();
        (came.old_path, came.old_content, came.old_mode) = (None, None, None);
        return patch(&went) + &patch(&came);
    }
    let name =
        |path: &Option<String>, side: &str| path.as_ref().map(|path| quoted(&format!("{side}/{path}")));
    let (old, new) = (name(&diff.old_path, "a"), name(&diff.new_path, "b"));
    let both = |a: &Option<String>, b: &Option<String>, side: &str| {
        a.clone().or_else(|| b.as_ref().map(|_| name(b, side).unwrap_or_default())).unwrap_or_default()
    };
    let (from, to) = (both(&old, &diff.new_path, "a"), both(&new, &diff.old_path, "b"));
    let mut text = format!("diff --git {from} {to}\n");
    match (&diff.old_mode, &diff.new_mode) {
        (None, Some(mode)) => text.push_str(&format!("new file mode {mode}\n")),
        (Some(mode), None) => text.push_str(&format!("deleted file mode {mode}\n")),
        (Some(old), Some(new)) if old != new => {
            text.push_str(&format!("old mode {old}\nnew mode {new}\n"));
        }
        _ => {}
    }
    if let (Some(old), Some(new)) = (&diff.old_path, &diff.new_path)
        && old != new
    {
        text.push_str(&format!("rename from {}\nrename to {}\n", quoted(old), quoted(new)));
    }
    let nowhere = || "/dev/null".to_string();
    let (old, new) = (old.unwrap_or_else(nowhere), new.unwrap_or_else(nowhere));
    if diff.content_omitted {
        let counts = match (diff.additions, diff.deletions) {
            (Some(added), Some(deleted)) => format!(" (+{added} -{deleted})"),
            _ => String::new(),
        };
        return text + &format!("Contents of {old} and {new} are not shown{counts}\n");
    }
    if diff.is_binary {
        return text + &format!("Binary files {old} and {new} differ\n");
    }
    let empty = String::new();
    let before = diff.old_content.as_ref().unwrap_or(&empty);
    let after = diff.new_content.as_ref().unwrap_or(&empty);
    if before == after {
        return text;
    }
    let input = InternedInput::new(before.as_str(), after.as_str());
    let mut lines = Diff::compute(Algorithm::Histogram, &input);
    lines.postprocess_lines(&input);
    let printer = Printer(&input.interner);
    let hunks = lines.unified_diff(&printer, UnifiedDiffConfig::default(), &input);
    text + &format!("--- {old}\n+++ {new}\n{hunks}")
}

/// Writes hunks as git does.
struct Printer<'a>(&'a Interner<&'a str>);

impl Printer<'_> {
    fn line(&self, mut f: impl fmt::Write, sign: char, token: Token) -> fmt::Result {
        let line = self.0[token];
        write!(f, "{sign}{line}")?;
        if line.ends_with('\n') { Ok(()) } else { writeln!(f, "\n\\ No newline at end of file") }
    }
}

impl UnifiedDiffPrinter for Printer<'_> {
    fn display_header(
        &self,
        mut f: impl fmt::Write,
        start_before: u32,
        start_after: u32,
        len_before: u32,
        len_after: u32,
    ) -> fmt::Result {
        // Of nothing, the line before is told.
        let first = |start: u32, length: u32| if length == 0 { start } else { start + 1 };
        let (before, after) = (first(start_before, len_before), first(start_after, len_after));
        writeln!(f, "@@ -{before},{len_before} +{after},{len_after} @@")
    }

    fn display_context_token(&self, f: impl fmt::Write, token: Token) -> fmt::Result {
        self.line(f, ' ', token)
    }

    fn display_hunk(&self, mut f: impl fmt::Write, before: &[Token], after: &[Token]) -> fmt::Result {
        for token in before {
            self.line(&mut f, '-', *token)?;
        }
        for token in after {
            self.line(&mut f, '+', *token)?;
        }
        Ok(())
    }
}

/// Quotes a path as git does, when it has to be.
fn quoted(path: &str) -> String {
    if !path.chars().any(|one| one.is_control() || one == '"' || one == '\\') {
        return path.to_string();
    }
    let mut text = String::from("\"");
    for one in path.chars() {
        match one {
            '"' | '\\' => text.extend(['\\', one]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            one if one.is_ascii_control() => text.push_str(&format!("\\{:03o}", u32::from(one))),
            one => text.push(one),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(diff: serde_json::Value) -> String {
        patch(&serde_json::from_value(diff).unwrap())
    }

    #[test]
    fn a_patch_is_written_as_git_writes_it() {
        let diff = json!({"change": "modified", "oldPath": "a\tb", "newPath": "a\tb", "oldMode": "100644",
            "newMode": "100755", "oldContent": "1\n2\n3", "newContent": "1\n2\n4\n"});
        let expected = "diff --git \"a/a\\tb\" \"b/a\\tb\"\nold mode 100644\nnew mode 100755\n\
            --- \"a/a\\tb\"\n+++ \"b/a\\tb\"\n@@ -1,3 +1,3 @@\n 1\n 2\n-3\n\\ No newline at end of file\n+4\n";
        assert_eq!(told(diff), expected);
        let diff = json!({"change": "added", "newPath": "n", "newMode": "100644", "newContent": "x\n"});
        let expected =
            "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+x\n";
        assert_eq!(told(diff), expected);
    }

    #[test]
    fn what_is_not_told_is_named() {
        let diff = json!({"change": "deleted", "oldPath": "b", "oldMode": "100644", "isBinary": true});
        let expected =
            "diff --git a/b b/b\ndeleted file mode 100644\nBinary files a/b and /dev/null differ\n";
        assert_eq!(told(diff), expected);
        let diff = json!({"change": "added", "newPath": "n", "newMode": "100644", "contentOmitted": true,
            "additions": 5, "deletions": 0});
        assert!(told(diff).ends_with("Contents of /dev/null and b/n are not shown (+5 -0)\n"));
    }
}
