//! The verbs of a script. A line whose first word is none of them is said back.

use std::time::Duration;

use forge_model::entry::Todo;
use serde_json::Value;

/// Finds the file that a turn wants to have played: `play PATH`, on a line of its own. The turn's other lines are
/// words for people then.
pub(super) fn played_file(turn: &str) -> Option<&str> {
    turn.lines().find_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        ["play", path] => Some(path),
        _ => None,
    })
}

/// Reads a script verb by verb, up to its first mistake.
pub(super) fn verbs(script: &str) -> impl Iterator<Item = Result<Verb, String>> {
    let mut lines = script.lines();
    std::iter::from_fn(move || {
        loop {
            match Verb::read(lines.next()?) {
                Ok(None) => {}
                Ok(Some(Verb::Edit { path, content })) => {
                    let Some(end) = content.trim_end().strip_prefix("<<") else {
                        return Some(Ok(Verb::Edit { path, content }));
                    };
                    let content: String = lines
                        .by_ref()
                        .take_while(|line| *line != end)
                        .map(|line| format!("{line}\n"))
                        .collect();
                    return Some(Ok(Verb::Edit { path, content }));
                }
                Ok(Some(verb)) => return Some(Ok(verb)),
                Err(mistake) => return Some(Err(mistake)),
            }
        }
    })
}

/// One line of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verb {
    Say(String),
    Think(String),
    /// Writes a file; the content ends with a newline that the script need not hold. `<<END` in its place means the
    /// lines up to one that is `END`.
    Edit {
        path: String,
        content: String,
    },
    Run(String),
    Todos(Vec<Todo>),
    /// Prints numbered lines with the time, one every so often; without a pause, as fast as it can.
    Lines {
        count: u64,
        every: Duration,
    },
    Sleep(Duration),
    /// Asks in words, or with lists to choose from: JSON with `questions`, as Claude Code writes them.
    Ask(String),
    /// Asks for permission to use a tool with an input, which is JSON; with a list of inputs, for each of them at once.
    Permit {
        tool: String,
        inputs: Vec<Value>,
    },
    Plan(String),
    /// Claims to have used this: input, output and cached tokens, and millionths of a dollar.
    Use([i64; 4]),
    /// Makes the session one that cannot be gone on with.
    Forget,
    /// Ends the turn as one that a provider will not serve for so long.
    Limit(Duration),
    Spawn(String),
    IgnoreSignals,
    Hang,
    Exit(u8),
}

impl Verb {
    /// Reads a line; none when it is blank, a sentence when its arguments are wrong.
    pub(super) fn read(line: &str) -> Result<Option<Self>, String> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(None);
        }
        let (word, rest) = match line.split_once(char::is_whitespace) {
            Some((word, rest)) => (word, rest.trim_start()),
            None => (line, ""),
        };
        let verb = match word {
            "say" => Some(Verb::Say(rest.to_string())),
            "think" => Some(Verb::Think(rest.to_string())),
            "edit" => rest.split_once(char::is_whitespace).map(|(path, text)| Verb::Edit {
                path: path.to_string(),
                content: format!("{}\n", text.trim_start()),
            }),
            "run" => some_text(rest).map(Verb::Run),
            "todos" => rest.split('|').map(todo).collect::<Option<_>>().map(Verb::Todos),
            "lines" => rest.split_once(char::is_whitespace).and_then(|(count, every)| {
                let every = milliseconds(every.trim_start())?;
                Some(Verb::Lines { count: count.parse().ok()?, every })
            }),
            "sleep" => milliseconds(rest).map(Verb::Sleep),
            "ask" => some_text(rest).map(Verb::Ask),
            "permit" => rest.split_once(char::is_whitespace).and_then(|(tool, input)| {
                let inputs = match serde_json::from_str(input.trim_start()).ok()? {
                    Value::Array(inputs) => inputs,
                    input => vec![input],
                };
                (!inputs.is_empty()).then(|| Verb::Permit { tool: tool.to_string(), inputs })
            }),
            "plan" => some_text(rest).map(Verb::Plan),
            "use" => numbers(rest).map(Verb::Use),
            "forget" => rest.is_empty().then_some(Verb::Forget),
            "limit" => milliseconds(rest).map(Verb::Limit),
            "spawn" => some_text(rest).map(Verb::Spawn),
            "ignore-signals" => rest.is_empty().then_some(Verb::IgnoreSignals),
            "hang" => rest.is_empty().then_some(Verb::Hang),
            "exit" => rest.parse().ok().map(Verb::Exit),
            _ => Some(Verb::Say(line.to_string())),
        };
        verb.map(Some).ok_or_else(|| format!("cannot play {line:?}: it is written {:?}", usage(word)))
    }
}

fn usage(word: &str) -> &'static str {
    match word {
        "edit" => "edit PATH TEXT",
        "run" => "run COMMAND",
        "todos" => "todos done TEXT | doing TEXT | open TEXT",
        "lines" => "lines N EVERY_MS",
        "sleep" => "sleep MS",
        "ask" => "ask TEXT",
        "permit" => "permit TOOL JSON, or a list of JSON for several at once",
        "plan" => "plan TEXT",
        "use" => "use INPUT OUTPUT CACHED MICRODOLLARS",
        "forget" => "forget",
        "limit" => "limit MS",
        "spawn" => "spawn COMMAND",
        "ignore-signals" => "ignore-signals",
        "hang" => "hang",
        "exit" => "exit CODE, with a code from 0 to 255",
        _ => "say TEXT",
    }
}

fn todo(item: &str) -> Option<Todo> {
    let (word, text) = item.trim().split_once(char::is_whitespace)?;
    let status = match word {
        "done" => "completed",
        "doing" => "in_progress",
        "open" => "pending",
        _ => return None,
    };
    Some(Todo { content: text.trim_start().to_string(), status: status.to_string(), priority: None })
}

fn some_text(rest: &str) -> Option<String> {
    (!rest.is_empty()).then(|| rest.to_string())
}

fn numbers(text: &str) -> Option<[i64; 4]> {
    let numbers: Vec<i64> = text.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

fn milliseconds(text: &str) -> Option<Duration> {
    text.parse().ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Verb> {
        Verb::read(line).unwrap()
    }

    #[test]
    fn every_verb_is_read() {
        let second = Duration::from_secs(1);
        assert_eq!(read("say hello there"), Some(Verb::Say("hello there".into())));
        assert_eq!(read("say"), Some(Verb::Say(String::new())));
        assert_eq!(read("think hm"), Some(Verb::Think("hm".into())));
        let (path, content) = ("a/b.txt".to_string(), "two words\n".to_string());
        assert_eq!(read("edit a/b.txt two words"), Some(Verb::Edit { path, content }));
        assert_eq!(read("run echo hi | cat"), Some(Verb::Run("echo hi | cat".into())));
        let todo = |content: &str, status: &str| Todo {
            content: content.into(),
            status: status.into(),
            priority: None,
        };
        let list =
            vec![todo("Read the code", "completed"), todo("Test", "in_progress"), todo("Ship", "pending")];
        assert_eq!(read("todos done Read the code | doing Test|open  Ship"), Some(Verb::Todos(list)));
        assert_eq!(read("lines 3 1000"), Some(Verb::Lines { count: 3, every: second }));
        assert_eq!(read("  sleep 1000\r"), Some(Verb::Sleep(second)));
        assert_eq!(read("ask which?"), Some(Verb::Ask("which?".into())));
        let permit = |inputs| Some(Verb::Permit { tool: "Bash".to_string(), inputs });
        let (list, show) = (serde_json::json!({"command": "ls -l"}), serde_json::json!({"command": "pwd"}));
        assert_eq!(read(r#"permit Bash {"command": "ls -l"}"#), permit(vec![list.clone()]));
        assert_eq!(
            read(r#"permit Bash [{"command": "ls -l"}, {"command": "pwd"}]"#),
            permit(vec![list, show])
        );
        assert_eq!(read("plan first this"), Some(Verb::Plan("first this".into())));
        assert_eq!(read("use 10 2 7 1500"), Some(Verb::Use([10, 2, 7, 1500])));
        assert_eq!(read("forget"), Some(Verb::Forget));
        assert_eq!(read("limit 1000"), Some(Verb::Limit(second)));
        assert_eq!(read("spawn sleep 9"), Some(Verb::Spawn("sleep 9".into())));
        assert_eq!(read("ignore-signals"), Some(Verb::IgnoreSignals));
        assert_eq!(read("hang"), Some(Verb::Hang));
        assert_eq!(read("exit 7"), Some(Verb::Exit(7)));
    }

    #[test]
    fn a_file_of_many_lines_ends_where_its_script_says() {
        let script = "edit a.txt <<END\none\n\n  say two\nEND\nsay done\nedit b.txt <<END\nthe rest";
        let verbs: Vec<Verb> = verbs(script).map(Result::unwrap).collect();
        let edit = |path: &str, content: &str| Verb::Edit { path: path.into(), content: content.into() };
        let done = Verb::Say("done".into());
        assert_eq!(verbs, [edit("a.txt", "one\n\n  say two\n"), done, edit("b.txt", "the rest\n")]);
    }

    #[test]
    fn a_turn_names_the_file_to_play_on_a_line_of_its_own() {
        assert_eq!(
            played_file("Add coupons\n\nPlease.\n  play .demo/coupons.txt\n"),
            Some(".demo/coupons.txt")
        );
        assert_eq!(played_file("play by the rules\nsay play a.txt\nplay"), None);
    }

    #[test]
    fn a_line_without_a_verb_is_said_and_a_blank_one_ignored() {
        assert_eq!(read("Fix the tests"), Some(Verb::Say("Fix the tests".into())));
        assert_eq!(read("saying is no verb"), Some(Verb::Say("saying is no verb".into())));
        assert_eq!(read(" \t "), None);
    }

    #[test]
    fn wrong_arguments_are_told_with_the_right_form() {
        for line in [
            "edit only-a-path",
            "run",
            "todos",
            "todos done Read | Write",
            "lines ten 1",
            "lines 10",
            "sleep long",
            "ask",
            "exit 256",
            "hang on",
            "permit Bash",
            "permit Bash ls",
            "permit Bash []",
            "plan",
            "use 1 2 3",
            "limit soon",
        ] {
            let word = line.split(' ').next().unwrap();
            let mistake = Verb::read(line).unwrap_err();
            assert!(mistake.contains(&format!("cannot play {line:?}")), "{mistake}");
            assert!(mistake.contains(usage(word)), "{mistake}");
        }
    }
}
