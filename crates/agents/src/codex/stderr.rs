//! What Codex prints on standard error: mostly its own log, which is for whoever debugs it and no person else.

/// Takes the colours out of a line.
pub(super) fn plain(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            // A colour ends with its letter.
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(character);
        }
    }
    plain
}

/// Says whether a line of standard error is one of the program's own log: a moment and a level. What a person needs
/// to know of it is told by the protocol.
pub(super) fn is_of_its_log(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let moment = words.next().is_some_and(|word| {
        word.len() >= 20 && word.ends_with('Z') && word.as_bytes().get(10) == Some(&b'T')
    });
    let levels = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
    moment && words.next().is_some_and(|word| levels.contains(&word))
}
