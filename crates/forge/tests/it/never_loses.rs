//! A random walk over everything that touches work: edits of all kinds, turns, landings, rebases, clean-ups,
//! restores, and a server that is killed in the middle of them.
//!
//! What is held: every byte that was there at a turn's end or before a destructive act can be restored; nothing of
//! the person's own changes but what a landing that was asked for changes; the repository stays sound.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::board::{Dice, seed};
use crate::map_streams::{answer, answer_if_any};
use crate::world::{Running, World, eventually};

/// What lies at a path: a file's bytes and whether it can be executed, or where a link leads.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    File(Vec<u8>, bool),
    Link(PathBuf),
}

impl std::fmt::Debug for Thing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Thing::File(bytes, x) => write!(f, "File({:?}, x: {x})", String::from_utf8_lossy(bytes)),
            Thing::Link(to) => write!(f, "Link({})", to.display()),
        }
    }
}

type Files = BTreeMap<PathBuf, Thing>;

/// Reads everything beneath a directory but git's own files.
fn files(top: &Path) -> Files {
    let mut found = Files::new();
    let mut waiting = vec![top.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).unwrap().flatten() {
            let path = entry.path();
            if entry.file_name() == ".git" {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(top).unwrap().to_path_buf();
            if meta.is_dir() {
                waiting.push(path);
            } else if meta.is_symlink() {
                found.insert(name, Thing::Link(fs::read_link(&path).unwrap()));
            } else {
                let is_executable = meta.permissions().mode() & 0o100 != 0;
                found.insert(name, Thing::File(fs::read(&path).unwrap(), is_executable));
            }
        }
    }
    found
}

/// Says how two states differ, briefly.
fn differing(wanted: &Files, found: &Files) -> Vec<String> {
    let mut said = Vec::new();
    for path in wanted.keys().chain(found.keys()).collect::<std::collections::BTreeSet<_>>() {
        if wanted.get(path) != found.get(path) {
            said.push(format!("{path:?}: wanted {:?}, found {:?}", wanted.get(path), found.get(path)));
        }
    }
    said
}

struct Attempt {
    id: String,
    worktree: PathBuf,
    /// Snapshots and what was there when they were taken.
    known: Vec<(String, Files)>,
}

struct Walk {
    world: World,
    server: Option<Running>,
    dice: Dice,
    attempts: Vec<Attempt>,
    project: String,
    /// What of the person's must not change, besides what they change themselves.
    persons: Persons,
    steps: Vec<String>,
}

/// The person's own things.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Persons {
    refs: String,
    config: Vec<u8>,
    hooks: Files,
    stash: String,
    head: String,
    loose: Vec<(String, Vec<u8>)>,
}

const LOOSE: [&str; 3] = ["edited.txt", "untracked.txt", "secret.ign"];

impl Persons {
    fn look(world: &World) -> Self {
        let refs = world.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let is_theirs = |line: &&str| {
            !line.starts_with("refs/heads/forge/")
                && !line.starts_with("refs/forge/")
                && !line.starts_with("refs/heads/main ")
        };
        let repository = world.repository();
        Self {
            refs: refs.lines().filter(is_theirs).collect::<Vec<_>>().join("\n"),
            config: fs::read(repository.join(".git/config")).unwrap(),
            hooks: files(&repository.join(".git/hooks")),
            stash: world.git(&["stash", "list", "--format=%H %gs"]),
            head: world.git(&["symbolic-ref", "HEAD"]),
            loose: LOOSE
                .iter()
                .map(|name| (name.to_string(), fs::read(repository.join(name)).unwrap_or_default()))
                .collect(),
        }
    }
}

impl Walk {
    fn begin(seed: u64) -> Self {
        let world = World::new();
        let repository = world.repository();
        fs::write(repository.join(".gitattributes"), "* text=auto\n*.bin -text\n").unwrap();
        fs::write(repository.join(".gitignore"), "*.ign\n").unwrap();
        fs::write(repository.join("edited.txt"), "as committed\n").unwrap();
        world.git(&["add", "--all"]);
        world.git(&["commit", "--quiet", "--message=attributes"]);
        world.git(&["branch", "persons-own"]);
        world.git(&["tag", "v1"]);
        fs::write(repository.join("README.md"), "stashed\n").unwrap();
        world.git(&["stash", "push", "--quiet"]);
        fs::write(repository.join("edited.txt"), "not committed\n").unwrap();
        fs::write(repository.join("untracked.txt"), "nobody's business\n").unwrap();
        fs::write(repository.join("secret.ign"), "KEY=1\n").unwrap();
        fs::write(repository.join(".git/hooks/pre-push"), "#!/bin/sh\nexit 0\n").unwrap();
        let persons = Persons::look(&world);
        let server = Some(world.serve());
        let mut walk = Self {
            world,
            server,
            dice: Dice::new(seed),
            attempts: Vec::new(),
            project: String::new(),
            persons,
            steps: Vec::new(),
        };
        for _ in 0..2 {
            let id = walk.world.attempt("say begin");
            walk.world.until_state(&id, "finished");
            let listed = walk.get(&format!("/api/task-attempts/{id}"));
            let worktree = PathBuf::from(listed["container_ref"].as_str().unwrap());
            walk.project = listed["project_id"].as_str().unwrap().to_string();
            walk.attempts.push(Attempt { id, worktree, known: Vec::new() });
        }
        let keep = json!({"worktrees": {"expire_after_hours": 0, "tidy_after_hours": null}});
        walk.post_as("PUT", "/api/config", &keep);
        walk
    }

    fn get(&self, path: &str) -> Value {
        answer(&self.world, "GET", path, &json!({})).1["data"].clone()
    }

    fn post_as(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        answer(&self.world, method, path, body)
    }

    /// Does something of every kind that an agent does to files.
    fn mutate(&mut self, one: usize) {
        let top = self.attempts[one].worktree.clone();
        if !top.exists() {
            return;
        }
        for _ in 0..1 + self.dice.roll(4) {
            let number = self.dice.roll(6);
            let names: Vec<PathBuf> = files(&top).into_keys().collect();
            let some = (!names.is_empty()).then(|| top.join(&names[self.dice.roll(names.len())]));
            let content = format!("line {}\nline {}\n", self.dice.roll(100), self.dice.roll(100));
            let kind = self.dice.roll(14);
            self.steps.push(format!("  mutate {one} kind {kind}"));
            match (kind, some) {
                (0, _) => write(&top.join(format!("added-{number}.txt")), content.as_bytes()),
                (1, Some(file)) if is_file(&file) => write(&file, content.as_bytes()),
                (2, Some(file)) => {
                    let _ = fs::rename(&file, top.join(format!("renamed-{number}.txt")));
                }
                (3, Some(file)) => {
                    let _ = fs::remove_file(&file);
                }
                (4, Some(file)) if is_file(&file) => {
                    let flipped = fs::metadata(&file).unwrap().permissions().mode() ^ 0o111;
                    fs::set_permissions(&file, fs::Permissions::from_mode(flipped)).unwrap();
                }
                (5, _) => {
                    let link = top.join(format!("link-{number}"));
                    if fs::symlink_metadata(&link).is_err() {
                        symlink("../../nowhere", &link).unwrap();
                    }
                }
                (6, _) => {
                    write(&top.join(format!("dos-{number}.txt")), content.replace('\n', "\r\n").as_bytes());
                }
                (7, _) => {
                    let nested = top.join(format!("nested-{number}"));
                    if is_free(&nested) {
                        fs::create_dir_all(&nested).unwrap();
                        git(&self.world, &nested, &["init", "--quiet"]);
                        write(&nested.join("inner.txt"), content.as_bytes());
                        if self.dice.roll(2) == 0 {
                            git(&self.world, &nested, &["add", "--all"]);
                            git(&self.world, &nested, &["commit", "--quiet", "--message=inner"]);
                            write(&nested.join("loose.txt"), b"not committed in there\n");
                        }
                    }
                }
                (8, _) => {
                    let _ = fs::create_dir_all(top.join(format!("empty-{number}")));
                }
                (9, _) => write(&top.join(format!("deep-{number}/er/file.txt")), content.as_bytes()),
                (10, _) => write(&top.join(format!("{number}.bin")), &[0, 159, 146, 150, number as u8]),
                (11, _) => write(&top.join(OsStr::from_bytes(b"odd \xff\nname")), content.as_bytes()),
                (12, _) => {
                    git(&self.world, &top, &["add", "--all", "--ignore-errors"]);
                    git(&self.world, &top, &["commit", "--quiet", "--message=by hand"]);
                }
                (13, _) => {
                    git(&self.world, &top, &["stash", "push", "--quiet"]);
                    git(&self.world, &top, &["stash", "pop", "--quiet"]);
                    // A person's `git stash` in a worktree is theirs; the walk knows what it did.
                    self.persons.stash = self.world.git(&["stash", "list", "--format=%H %gs"]);
                    self.persons.refs = Persons::look(&self.world).refs;
                }
                _ => {}
            }
        }
    }

    /// A turn: the agent says something; Forge commits and snapshots at its end.
    fn turn(&mut self, one: usize) {
        let id = self.attempts[one].id.clone();
        let body = json!({"prompt": "say more"});
        let (status, answer) = self.post_as("POST", &format!("/api/task-attempts/{id}/follow-up"), &body);
        assert!(status == 200, "{status} {answer}");
        self.rest(one);
        self.remember(one);
    }

    /// Waits until nothing of an attempt runs.
    fn rest(&self, one: usize) {
        let id = &self.attempts[one].id;
        eventually(&format!("{id} rests"), || {
            let attempt = self.get(&format!("/api/task-attempts/{id}"));
            let state = attempt["state"].as_str().unwrap_or_default().to_string();
            ["finished", "failed", "stopped"].contains(&state.as_str()).then_some(())
        });
    }

    /// Remembers what the newest snapshot is of.
    fn remember(&mut self, one: usize) {
        let snapshots = self.get(&format!("/api/task-attempts/{}/snapshots", self.attempts[one].id));
        let newest = &snapshots[0];
        assert_eq!(newest["left_out"], json!([]), "everything fits into a snapshot here");
        let id = newest["id"].as_str().unwrap().to_string();
        let now = files(&self.attempts[one].worktree);
        self.attempts[one].known.push((id, now));
    }

    /// Goes back to something known, looks, and undoes it.
    fn travel(&mut self, one: usize) {
        let Attempt { id, worktree, known } = &self.attempts[one];
        if known.is_empty() {
            return;
        }
        let (snapshot, wanted) = known[self.dice.roll(known.len())].clone();
        let before = worktree.exists().then(|| without_ignored(files(worktree)));
        let path = format!("/api/task-attempts/{id}/restore");
        let (status, answer) = self.post_as("POST", &path, &json!({"snapshot_id": snapshot}));
        if status == 409 {
            // A conflict is open in there; that is told, and nothing was touched.
            assert_eq!(before, worktree.exists().then(|| without_ignored(files(worktree))), "{answer}");
            return;
        }
        assert_eq!(status, 200, "{answer}");
        let found = without_ignored(files(worktree));
        let wanted = without_ignored(wanted);
        assert!(wanted == found, "{answer}\n{:#?}\n{}", differing(&wanted, &found), self.told());
        let undo = answer["data"]["undo_snapshot_id"].clone();
        let (status, answer) = self.post_as("POST", &path, &json!({"snapshot_id": undo}));
        assert_eq!(status, 200, "{answer}");
        if let Some(before) = before {
            let found = without_ignored(files(worktree));
            assert!(before == found, "undone: {:#?}\n{}", differing(&before, &found), self.told());
        }
    }

    /// One verb that moves or removes things; refusals are fine, losses are not.
    fn act(&self, one: usize, which: usize) -> (u16, Value) {
        act(&self.world, &self.attempts[one].id, which).unwrap()
    }

    /// Kills the server in the middle of a verb and starts another.
    fn kill_during(&mut self, one: usize, which: usize) {
        let id = self.attempts[one].id.clone();
        let after = Duration::from_millis(self.dice.roll(120) as u64);
        let server = self.server.take().unwrap();
        let world = &self.world;
        std::thread::scope(|scope| {
            // It may never answer: that is the point.
            scope.spawn(move || {
                let _told = act(world, &id, which);
            });
            std::thread::sleep(after);
            server.signal(Signal::KILL);
        });
        server.end();
        self.server = Some(self.world.serve());
        self.rest(one);
    }

    fn check(&mut self) {
        let now = Persons::look(&self.world);
        assert!(now == self.persons, "{now:#?}\nwas {:#?}\n{}", self.persons, self.told());
        self.world.git(&["fsck", "--no-dangling", "--no-progress"]);
    }

    fn told(&self) -> String {
        self.steps.join("\n")
    }
}

fn act(world: &World, id: &str, which: usize) -> Option<(u16, Value)> {
    let path = |verb: &str| format!("/api/task-attempts/{id}/{verb}");
    match which {
        0 => answer_if_any(world, "POST", &path("merge"), &json!({})),
        1 => {
            let said = answer_if_any(world, "POST", &path("rebase"), &json!({}))?;
            if said.1["error_data"]["type"] == "merge_conflicts" {
                return answer_if_any(world, "POST", &path("conflicts/abort"), &json!({}));
            }
            Some(said)
        }
        2 => answer_if_any(world, "POST", "/api/gc", &json!({})),
        3 => answer_if_any(world, "POST", &path("merge/undo"), &json!({})),
        _ => answer_if_any(world, "POST", &path("follow-up"), &json!({"prompt": "say more"})),
    }
}

fn write(path: &Path, content: &[u8]) {
    let _ = fs::create_dir_all(path.parent().unwrap());
    // A directory or a link may have the name by now; then this edit does not happen.
    if is_free(path) || is_file(path) {
        let _ = fs::write(path, content);
    }
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

fn is_free(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err()
}

fn without_ignored(files: Files) -> Files {
    files.into_iter().filter(|(path, _)| path.extension() != Some(OsStr::new("ign"))).collect()
}

/// Runs git as an agent would, whatever comes of it.
fn git(world: &World, directory: &Path, args: &[&str]) {
    let _ = world.program("git").current_dir(directory).args(args).output().unwrap();
}

fn walk(seed: u64, steps: usize) {
    let mut walk = Walk::begin(seed);
    walk.turn(0);
    walk.turn(1);
    for step in 0..steps {
        let one = walk.dice.roll(2);
        let kind = walk.dice.roll(11);
        walk.steps.push(format!("step {step}: attempt {one} kind {kind}"));
        match kind {
            0..=2 => {
                walk.mutate(one);
                walk.turn(one);
            }
            3 => {
                walk.mutate(one);
                walk.travel(one);
            }
            4 => {
                let said = walk.act(one, 0);
                walk.steps.push(format!("  merge: {} {}", said.0, said.1["message"]));
            }
            8 => {
                let said = walk.act(one, 3);
                walk.steps.push(format!("  undo of the merge: {} {}", said.0, said.1["message"]));
            }
            5 => {
                let said = walk.act(one, 1);
                walk.steps.push(format!("  rebase: {} {}", said.0, said.1["message"]));
            }
            6 => {
                walk.mutate(one);
                let there = walk.attempts[one].worktree.clone();
                let before = there.exists().then(|| files(&there));
                walk.act(one, 2);
                walk.turn(one);
                if let Some(before) = before {
                    let found = files(&there);
                    assert!(
                        before == found,
                        "cleaned up: {:#?}\n{}",
                        differing(&before, &found),
                        walk.told()
                    );
                }
            }
            7 => {
                let name = format!("persons-{}.txt", walk.dice.roll(3));
                fs::write(walk.world.repository().join(&name), format!("theirs {step}\n")).unwrap();
                walk.world.git(&["add", &name]);
                walk.world.git(&["commit", "--quiet", "--message=the person's", "--", &name]);
            }
            _ => {
                walk.mutate(one);
                let which = walk.dice.roll(5);
                walk.steps.push(format!("  killed during {which}"));
                walk.kill_during(one, which);
                let said = answer(
                    &walk.world,
                    "POST",
                    &format!("/api/task-attempts/{}/conflicts/abort", walk.attempts[one].id),
                    &json!({}),
                );
                walk.steps.push(format!("  abort: {} {}", said.0, said.1["message"]));
            }
        }
        walk.check();
    }
    for one in 0..walk.attempts.len() {
        walk.turn(one);
        let count = walk.attempts[one].known.len();
        for _ in 0..count.min(6) {
            walk.travel(one);
        }
    }
    walk.check();
    assert!(!walk.project.is_empty());
}

#[test]
fn no_byte_is_lost_on_a_random_walk_with_kills() {
    walk(seed(), 30);
}
