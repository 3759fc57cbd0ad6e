//! Takes the user and the password out of every URL in a text, so that no error and no log holds them.

/// What stands where the user and the password stood.
const HIDDEN: &str = "***";

/// Returns the text with `scheme://user:password@host` told as `scheme://***@host`, wherever it stands.
///
/// As git reads a URL, its authority ends at the first `/`, `?` or `#`; blanks end it too, since this is a URL among
/// words. A quote does not: a password may hold one.
pub fn redact(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        redacted.push_str(before);
        let ends = |character: char| character.is_whitespace() || "/?#".contains(character);
        let authority = &after[..after.find(ends).unwrap_or(after.len())];
        rest = match authority.rfind('@') {
            Some(host) => {
                redacted.push_str(HIDDEN);
                &after[host..]
            }
            None => after,
        };
    }
    redacted.push_str(rest);
    redacted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_and_by_which_password_is_hidden_in_every_url_and_nothing_else_is_changed() {
        let cases = [
            ("https://me:secret@example.org/x.git", "https://***@example.org/x.git"),
            (
                "fatal: 'https://secret@h/a' and ssh://u:secret@h:22",
                "fatal: 'https://***@h/a' and ssh://***@h:22",
            ),
            ("https://me:se'cr@et@h/a@b", "https://***@h/a@b"),
            ("https://me:secret@", "https://***@"),
            ("https://:secret@h?q=://u:secret@h", "https://***@h?q=://***@h"),
            ("https://example.org/a@b me@example.org", "https://example.org/a@b me@example.org"),
            ("git@example.org:a/b.git", "git@example.org:a/b.git"),
            ("a https://ü@h\nb", "a https://***@h\nb"),
            ("", ""),
            ("://", "://"),
        ];
        for (text, expected) in cases {
            assert_eq!(redact(text), expected);
        }
    }
}
