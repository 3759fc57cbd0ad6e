//! The verbs of a script. A line whose first word is none of them is said back.

use std::time::Duration;

/// One line of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verb {
    Say(String),
    Think(String),
    /// Writes a file; the content ends with a newline that the script need not hold.
    Edit {
        path: String,
        content: String,
    },
    Run(String),
    /// Prints numbered lines with the time, one every so often; without a pause, as fast as it can.
    Lines {
        count: u64,
        every: Duration,
    },
    Sleep(Duration),
    Ask(String),
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
            "lines" => rest.split_once(char::is_whitespace).and_then(|(count, every)| {
                let every = milliseconds(every.trim_start())?;
                Some(Verb::Lines { count: count.parse().ok()?, every })
            }),
            "sleep" => milliseconds(rest).map(Verb::Sleep),
            "ask" => some_text(rest).map(Verb::Ask),
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
        "lines" => "lines N EVERY_MS",
        "sleep" => "sleep MS",
        "ask" => "ask TEXT",
        "spawn" => "spawn COMMAND",
        "ignore-signals" => "ignore-signals",
        "hang" => "hang",
        "exit" => "exit CODE, with a code from 0 to 255",
        _ => "say TEXT",
    }
}

fn some_text(rest: &str) -> Option<String> {
    (!rest.is_empty()).then(|| rest.to_string())
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
        assert_eq!(read("lines 3 1000"), Some(Verb::Lines { count: 3, every: second }));
        assert_eq!(read("  sleep 1000\r"), Some(Verb::Sleep(second)));
        assert_eq!(read("ask which?"), Some(Verb::Ask("which?".into())));
        assert_eq!(read("spawn sleep 9"), Some(Verb::Spawn("sleep 9".into())));
        assert_eq!(read("ignore-signals"), Some(Verb::IgnoreSignals));
        assert_eq!(read("hang"), Some(Verb::Hang));
        assert_eq!(read("exit 7"), Some(Verb::Exit(7)));
    }

    #[test]
    fn a_line_without_a_verb_is_said_and_a_blank_one_ignored() {
        assert_eq!(read("Fix the tests"), Some(Verb::Say("Fix the tests".into())));
        assert_eq!(read("saying is no verb"), Some(Verb::Say("saying is no verb".into())));
        assert_eq!(read(" \t "), None);
    }

    #[test]
    fn wrong_arguments_are_told_with_the_right_form() {
        for line in
            ["edit only-a-path", "run", "lines ten 1", "lines 10", "sleep long", "ask", "exit 256", "hang on"]
        {
            let word = line.split(' ').next().unwrap();
            let mistake = Verb::read(line).unwrap_err();
            assert!(mistake.contains(&format!("cannot play {line:?}")), "{mistake}");
            assert!(mistake.contains(usage(word)), "{mistake}");
        }
    }
}
