//! What an agent is told: read from the command line or standard input, and cut into a title and a description
//! so that the agent hears nothing twice.

use std::io::Read;

use forge_model::slug::title_from_prompt;

use crate::exit::{Failure, Result};

/// A first line up to this long is the title as it stands; the server takes no longer ones.
const LONGEST_TITLE: usize = 1000;

/// Returns the prompt that was given; `-` stands for standard input.
pub(crate) fn read(given: &str) -> Result<String> {
    let prompt = match given {
        "-" => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|error| {
                Failure::invalid(format!("could not read the prompt from standard input: {error}"))
            })?;
            text
        }
        given => given.to_string(),
    };
    match prompt.trim().is_empty() {
        true => Err(Failure::invalid("the prompt is blank; say what the agent should do")),
        false => Ok(prompt),
    }
}

/// Cuts a prompt into the title of its task and the rest. The agent is told both, so a title that is the whole
/// first line leaves only the rest for the description.
pub(crate) fn title_and_description(prompt: &str) -> (String, Option<String>) {
    let prompt = prompt.trim();
    let (first, rest) = prompt.split_once('\n').unwrap_or((prompt, ""));
    if first.chars().count() > LONGEST_TITLE {
        return (title_from_prompt(prompt), Some(prompt.to_string()));
    }
    let rest = rest.trim_matches(['\n', '\r']).trim_end();
    (first.trim_end().to_string(), (!rest.trim().is_empty()).then(|| rest.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_the_title_and_is_not_said_again() {
        assert_eq!(title_and_description("Fix it"), ("Fix it".into(), None));
        assert_eq!(
            title_and_description("\nFix it \n\n  now\nplease\n"),
            ("Fix it".into(), Some("  now\nplease".into()))
        );
        let long = "x".repeat(200);
        assert_eq!(title_and_description(&long), (long.clone(), None));
    }

    #[test]
    fn a_first_line_too_long_for_a_title_is_cut_and_kept_whole_in_the_description() {
        let long = "x".repeat(2000);
        let (title, description) = title_and_description(&long);
        assert_eq!(title.chars().count(), 81);
        assert_eq!(description, Some(long));
    }
}
