//! What the agents of a storm do: small scripts in several shapes, each with words of its own.
//!
//! A word is said once by whoever is told it, so counting it tells whether it arrived once, twice or never.

use crate::random::Random;

use super::Target;

/// What kind of story an agent plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Prints lines steadily and edits a file.
    Talks,
    /// Asks twice, and waits for both answers.
    Asks,
    /// Prints much at once, rests, and prints again.
    Floods,
    /// Rests, thinks and runs a command.
    Rests,
    /// Leaves a process behind in a session of its own.
    Spawns,
    /// Ends badly by itself.
    Fails,
    /// Is done at once.
    Hurries,
}

/// The exit code of an agent that fails as its script says.
pub(super) const FAILS_WITH: i64 = 3;

impl Shape {
    /// Draws a shape that fits what is killed.
    pub(super) fn draw(random: &mut Random, target: Target) -> Self {
        let shapes: &[Shape] = match target {
            Target::Server => &[
                Shape::Talks,
                Shape::Talks,
                Shape::Asks,
                Shape::Asks,
                Shape::Floods,
                Shape::Rests,
                Shape::Spawns,
                Shape::Fails,
                Shape::Hurries,
            ],
            // A flood is printed in blocks; one that is killed in a block has printed half a line. And who is
            // to be killed should live for a while.
            Target::Shim | Target::Agent => {
                &[Shape::Talks, Shape::Talks, Shape::Asks, Shape::Rests, Shape::Spawns]
            }
        };
        random.pick(shapes).copied().unwrap_or(Shape::Talks)
    }

    /// Writes the script of an agent. The title of its task is said before it, because it is no verb.
    pub(super) fn script(self, word: &str, random: &mut Random) -> String {
        let edit = format!("edit {} kept {word}", file(word));
        match self {
            Shape::Talks => {
                let (count, every) = (random.between(20, 120), random.between(4, 25));
                format!("{edit}\nlines {count} {every}\nsay Grüße von {word}\nlines 20 10")
            }
            Shape::Asks => {
                format!("{edit}\nask first {word}?\nlines 10 5\nask second {word}?\nsay thanks from {word}")
            }
            Shape::Floods => format!("lines 20000 0\nsleep 300\nlines 20000 0\n{edit}"),
            Shape::Rests => {
                let rest = random.between(300, 1500);
                format!("{edit}\nthink of {word}\nsleep {rest}\nrun echo {word} | tr a-z A-Z\nsleep 200")
            }
            Shape::Spawns => format!("{edit}\nspawn sleep 600\nlines 40 20"),
            Shape::Fails => format!("{edit}\nlines 20 10\nexit {FAILS_WITH}"),
            Shape::Hurries => edit,
        }
    }
}

/// The file that an agent edits.
pub(super) fn file(word: &str) -> String {
    format!("notes/{word}.txt")
}

/// What the file holds then.
pub(super) fn content(word: &str) -> String {
    format!("kept {word}\n")
}

/// Writes a follow-up that says its word once.
pub(super) fn follow_up(word: &str, random: &mut Random) -> String {
    match random.between(0, 4) {
        0 => format!("say {word}\nlines 30 10"),
        1 => format!("sleep 100\nsay {word}"),
        2 => format!("ask may {word} go on?\nsay {word}"),
        _ => format!("say {word}"),
    }
}
