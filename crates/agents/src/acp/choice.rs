//! Which of an agent's own options answers a permission. An agent that offers none to refuse with is cancelled.

use forge_model::Answer;
use serde_json::{Value, json};

use super::wire::Choice;

/// Returns the answer in the agent's own words.
pub(super) fn outcome(options: &[Choice], answer: &Answer) -> Value {
    let chosen = match answer {
        Answer::Approve { text, answers, for_session } => {
            let words = text.iter().chain(answers.values());
            let named = words.into_iter().find_map(|words| by_words(options, words));
            named.or_else(|| allowing(options, *for_session))
        }
        Answer::Deny { .. } => refusing(options),
    };
    match chosen {
        Some(choice) => json!({"outcome": {"outcome": "selected", "optionId": choice.option_id}}),
        None => cancelled(),
    }
}

/// The answer to a permission that nobody waits for any more.
pub(super) fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

/// Says whether the options are not a yes and a no, but the answers to a question.
pub(super) fn is_question(options: &[Choice]) -> bool {
    let known = |option: &Choice| option.kind.starts_with("allow") || option.kind.starts_with("reject");
    !options.is_empty() && !options.iter().any(known)
}

fn by_words<'a>(options: &'a [Choice], words: &str) -> Option<&'a Choice> {
    let words = words.trim();
    let is = |text: &str| !text.is_empty() && text.eq_ignore_ascii_case(words);
    options.iter().find(|option| is(&option.option_id) || is(&option.name))
}

fn allowing(options: &[Choice], for_session: bool) -> Option<&Choice> {
    let of_kind = |kind: &'static str| options.iter().filter(move |option| option.kind == kind);
    // The like of it is this tool and this session: not all that comes from the same server, and not what is written
    // into the settings of a project or a person.
    let always = || {
        let passing =
            |option: &&Choice| !["_project", "_user"].iter().any(|end| option.option_id.ends_with(end));
        let tool = of_kind("allow_always").find(|option| option.option_id.ends_with("_tool"));
        tool.or_else(|| of_kind("allow_always").find(passing))
    };
    let once = || of_kind("allow_once").next();
    let chosen = if for_session { always().or_else(once) } else { once().or_else(always) };
    chosen.or_else(|| options.iter().find(|option| !option.kind.starts_with("reject")))
}

fn refusing(options: &[Choice]) -> Option<&Choice> {
    let of_kind = |kind: &str| options.iter().find(|option| option.kind == kind);
    of_kind("reject_once").or_else(|| of_kind("reject_always"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn options(all: &[(&str, &str, &str)]) -> Vec<Choice> {
        let option = |(id, name, kind): &(&str, &str, &str)| Choice {
            option_id: (*id).into(),
            name: (*name).into(),
            kind: (*kind).into(),
        };
        all.iter().map(option).collect()
    }

    fn chosen(options: &[Choice], answer: &Answer) -> String {
        outcome(options, answer)["outcome"]["optionId"].as_str().unwrap_or("cancelled").to_string()
    }

    #[test]
    fn yes_no_and_yes_for_the_session_find_their_option() {
        let offered = options(&[
            ("server", "Allow all server tools", "allow_always"),
            ("proceed_always_tool", "Allow tool", "allow_always"),
            ("once", "Allow", "allow_once"),
            ("never", "Never", "reject_always"),
            ("no", "Reject", "reject_once"),
        ]);
        let session = Answer::Approve { text: None, answers: BTreeMap::new(), for_session: true };
        assert_eq!(chosen(&offered, &Answer::yes()), "once");
        assert_eq!(chosen(&offered, &session), "proceed_always_tool");
        assert_eq!(chosen(&offered, &Answer::Deny { reason: None }), "no");
        assert_eq!(chosen(&offered[2..3], &session), "once");
        let qwen = options(&[("proceed_always_project", "", "allow_always"), ("once", "", "allow_once")]);
        assert_eq!(chosen(&qwen, &session), "once", "nothing is written into a project's settings");
        assert_eq!(chosen(&offered[..1], &Answer::yes()), "server");
        assert_eq!(chosen(&offered[..3], &Answer::Deny { reason: None }), "cancelled");
        assert_eq!(chosen(&offered[3..], &Answer::yes()), "cancelled", "a yes is never turned into a no");
    }

    #[test]
    fn words_choose_the_option_that_is_called_so() {
        let offered = options(&[("a", "Red", "choice"), ("b", "Blue", "choice")]);
        assert!(is_question(&offered) && !is_question(&[]));
        assert_eq!(chosen(&offered, &Answer::words(" blue ")), "b");
        assert_eq!(chosen(&offered, &Answer::words("a")), "a");
        let answers = BTreeMap::from([("Which?".to_string(), "Blue".to_string())]);
        assert_eq!(chosen(&offered, &Answer::Approve { text: None, answers, for_session: false }), "b");
    }
}
