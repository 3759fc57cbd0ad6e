//! The words of a shell command that is one simple command, and nothing for anything more.
//!
//! This is no shell. It knows what it does not understand, and whoever asks for words gets none then: a rule must
//! never let through what a shell would read otherwise.

/// Returns the words of a command line that a shell would read as one simple command, as they stand; none for
/// anything with a second command, a substitution, a variable, a redirect, an escape or another line.
pub(super) fn of(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.trim().chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c if c.is_control() && c != '\t' => return None,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '$' | '`' | '\\' | '!' => return None,
                        c if c.is_control() && c != '\t' => return None,
                        c => word.push(c),
                    }
                }
            }
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '$' | '`' | '\\' | '!' | '#' => {
                return None;
            }
            c if c.is_control() => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    // A variable that is set for a command may change what any word means.
    if words.first().is_some_and(|first| first.contains('=')) {
        return None;
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simple_command_is_read_word_by_word() {
        assert_eq!(of("git  status\t-s").unwrap(), ["git", "status", "-s"]);
        assert_eq!(
            of("git commit -m 'a; b && c' \"d | e\"").unwrap(),
            ["git", "commit", "-m", "a; b && c", "d | e"]
        );
        assert_eq!(of("gi't' sta\"tus\"").unwrap(), ["git", "status"]);
        assert_eq!(of("ls *.rs ''").unwrap(), ["ls", "*.rs", ""]);
        assert_eq!(of("  ").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_a_shell_would_read_as_more_than_one_command_has_no_words() {
        for line in [
            "git status; rm -rf x",
            "git status && rm x",
            "git status & rm x",
            "git status || rm x",
            "git log | sh",
            "git status $(rm x)",
            "git status `rm x`",
            "git status > file",
            "git status < file",
            "git status\nrm x",
            "git status\rrm x",
            "git status \"$(rm x)\"",
            "git status \"`rm x`\"",
            "git $x",
            "git \\; rm",
            "git status \u{0}",
            "(git status)",
            "{ git status; }",
            "! git status",
            "git status # a comment",
            "git 'status",
            "git \"status",
            "PATH=/tmp git status",
            "GIT_PAGER='sh -c x' git log",
        ] {
            assert_eq!(of(line), None, "{line:?}");
        }
    }
}
