//! Something to look at: a throw-away project with one attempt in every state, played by the scripted agent.
//!
//! Made once. What is there already, by its title, is left as it is, so that a second `--demo` doubles nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use forge_engine::{Engine, NewProject, NewTask, StartTask};
use forge_model::{Manner, ProfileId, Project};
use tracing::{info, warn};

/// Makes the demo. Failing to is a pity, not a reason to stop serving.
pub(crate) async fn show(engine: Engine) {
    match make(&engine).await {
        Ok(0) => info!(
            "the demo is there already, as it was left; for a fresh one name an empty directory with --data"
        ),
        Ok(count) => info!("the demo is there: {count} attempts were started"),
        Err(error) => warn!("the demo could not be made: {error:#}"),
    }
}

async fn make(engine: &Engine) -> anyhow::Result<usize> {
    let repository = engine.home().join("demo/repository");
    let place = repository.clone();
    tokio::task::spawn_blocking(move || make_repository(&place)).await??;
    let project = project(engine, &repository).await?;
    let known = engine.tasks(project.id).await?;
    let mut started = 0;
    for (title, script) in stories() {
        if known.iter().any(|view| view.task.title == title) {
            continue;
        }
        let task = NewTask {
            project: project.id,
            title: title.to_string(),
            description: Some(script),
            parent: None,
            images: Vec::new(),
        };
        let profile = ProfileId { agent: "SCRIPTED".to_string(), variant: None };
        let start =
            StartTask { task, profile, base_branch: None, use_worktree: true, manner: Manner::default() };
        engine.create_and_start(start, None).await.with_context(|| format!("could not start {title:?}"))?;
        started += 1;
    }
    Ok(started)
}

async fn project(engine: &Engine, repository: &Path) -> anyhow::Result<Project> {
    // The engine may have resolved links on the way to the directory.
    let real = repository.canonicalize().context("could not find the demo's repository")?;
    let same = |project: &Project| project.path == repository || project.path == real;
    if let Some(known) = engine.projects().await?.into_iter().find(same) {
        return Ok(known);
    }
    let new = NewProject { name: "Greeter (demo)".to_string(), path: real, ..NewProject::default() };
    Ok(engine.create_project(new).await?)
}

/// Makes the repository beside its place and moves it there, so that half of one is never found.
fn make_repository(place: &Path) -> anyhow::Result<()> {
    if place.exists() {
        return Ok(());
    }
    let draft = place.with_file_name(format!("draft-{}", std::process::id()));
    if draft.exists() {
        fs::remove_dir_all(&draft).with_context(|| format!("could not remove {}", draft.display()))?;
    }
    for (path, content) in FILES {
        let path = draft.join(path);
        let folder = path.parent().unwrap_or(&draft);
        fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
        fs::write(&path, content).with_context(|| format!("could not write {}", path.display()))?;
    }
    git(&draft, &["init", "--quiet", "--initial-branch=main"])?;
    git(&draft, &["add", "--all"])?;
    git(&draft, &["commit", "--quiet", "--no-verify", "--message=A program that greets"])?;
    fs::rename(&draft, place).with_context(|| format!("could not make {}", place.display()))
}

fn git(directory: &Path, args: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("git");
    // The demo has an author of its own: nothing of the person's settings belongs into it.
    command.args(["-c", "user.name=Forge demo", "-c", "user.email=demo@forge.invalid"]);
    command.args(["-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null"]);
    command.args(args).current_dir(directory);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"] {
        command.env_remove(name);
    }
    let output = command.output().context("could not run git")?;
    if !output.status.success() {
        bail!("git {} failed: {}", args[0], String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

const FILES: &[(&str, &str)] = &[
    (
        "README.md",
        "# Greeter\n\nA very small program that greets, so that agents have something to work on.\n\n\
         Run it with `sh greet.sh`, test it with `sh test.sh`.\n",
    ),
    ("greet.sh", "# Prints a greeting.\necho \"Hello\"\n"),
    ("greetings/en.txt", "Hello\n"),
    (
        "test.sh",
        "# Every greeting is one line, and the program prints something.\nset -e\n\
         for file in greetings/*.txt; do\n  test \"$(wc -l < \"$file\")\" -eq 1 || { echo \"$file is not one line\"; exit 1; }\ndone\n\
         test -n \"$(sh greet.sh Ada)\"\necho \"all greetings are fine\"\n",
    ),
];

/// The tasks, each with the script that its agent plays.
fn stories() -> Vec<(&'static str, String)> {
    vec![
        ("Greet people by their name", FINISHES.to_string()),
        ("Greet the planets too", FAILS.to_string()),
        ("Decide how a greeting ends", ASKS.to_string()),
        ("Translate the greeting", translates()),
    ]
}

const FINISHES: &str = "\
think The program greets nobody in particular. A name as the first argument is the smallest change.
say I will read the name from the first argument and keep the old greeting when there is none.
run cat greet.sh
edit greet.sh echo \"Hello${1:+, $1}\"
run sh greet.sh Ada
run sh test.sh
edit README.md # Greeter: run `sh greet.sh NAME`, test it with `sh test.sh`.
say Done: `sh greet.sh Ada` prints \"Hello, Ada\", and without a name it greets as before.";

const FAILS: &str = "\
think There should be a list of planets somewhere; the tests will tell.
say I will add a greeting for every planet and check it against the list.
edit greetings/mars.txt Hello, Mars
run sh test.sh
run cat planets.txt
say There is no planets.txt here, and I do not want to make up planets. Please add the list, then ask me again.
exit 1";

const ASKS: &str = "\
think Both ways are used in the wild; this is a matter of taste, so I ask.
say I looked at all the greetings: none of them ends with a mark yet.
ask Should a greeting end with a full stop or with an exclamation mark?
edit greetings/en.txt Hello!
run sh test.sh
say The greetings end with a mark now. It is in one commit, so it is easy to take back.";

/// A long piece of work: quick at first, so that there is something to see at once, then slower.
fn translates() -> String {
    let mut script = String::from(
        "think One file for each language, in the order of the alphabet; the tests run after each.\n\
         say I translate the greeting, one language after the other.\n",
    );
    for (number, (code, language, greeting)) in LANGUAGES.iter().enumerate() {
        let pause = if number < 4 { 1_500 } else { 20_000 };
        script.push_str(&format!(
            "say Next is {language}: {greeting}.\nedit greetings/{code}.txt {greeting}\nrun sh test.sh\nsleep {pause}\n"
        ));
    }
    script.push_str("say All languages of the list are there.");
    script
}

const LANGUAGES: &[(&str, &str, &str)] = &[
    ("eu", "Basque", "Kaixo"),
    ("br", "Breton", "Demat"),
    ("ca", "Catalan", "Hola"),
    ("cs", "Czech", "Ahoj"),
    ("da", "Danish", "Hej"),
    ("nl", "Dutch", "Hallo"),
    ("et", "Estonian", "Tere"),
    ("fi", "Finnish", "Hei"),
    ("fr", "French", "Bonjour"),
    ("gl", "Galician", "Ola"),
    ("de", "German", "Guten Tag"),
    ("haw", "Hawaiian", "Aloha"),
    ("hu", "Hungarian", "Szia"),
    ("is", "Icelandic", "Halló"),
    ("id", "Indonesian", "Halo"),
    ("ga", "Irish", "Dia duit"),
    ("it", "Italian", "Ciao"),
    ("ja", "Japanese", "こんにちは"),
    ("ko", "Korean", "안녕하세요"),
    ("la", "Latin", "Salve"),
    ("lv", "Latvian", "Sveiki"),
    ("lt", "Lithuanian", "Labas"),
    ("mi", "Maori", "Kia ora"),
    ("no", "Norwegian", "Hei"),
    ("pl", "Polish", "Cześć"),
    ("pt", "Portuguese", "Olá"),
    ("ro", "Romanian", "Salut"),
    ("sk", "Slovak", "Ahoj"),
    ("sl", "Slovene", "Živjo"),
    ("es", "Spanish", "Hola"),
    ("sw", "Swahili", "Jambo"),
    ("sv", "Swedish", "Hej"),
    ("tr", "Turkish", "Merhaba"),
    ("uk", "Ukrainian", "Привіт"),
    ("cy", "Welsh", "Helo"),
    ("zu", "Zulu", "Sawubona"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_made_once_and_its_own_test_passes() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("demo/repository");
        make_repository(&place).unwrap();
        make_repository(&place).unwrap();
        let tested = Command::new("sh").arg("test.sh").current_dir(&place).output().unwrap();
        assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
        assert_eq!(fs::read_dir(home.path().join("demo")).unwrap().count(), 1);
        let log = Command::new("git").args(["log", "--oneline"]).current_dir(&place).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&log.stdout).lines().count(), 1);
    }

    #[test]
    fn no_title_is_a_verb_of_a_script() {
        for (title, _) in stories() {
            assert!(title.starts_with(|first: char| first.is_uppercase()), "{title} could be played");
        }
    }
}
