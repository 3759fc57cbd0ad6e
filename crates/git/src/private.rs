//! A private git directory over a checkout's files: reads the files exactly as they are, and runs nothing.
//!
//! The repository's config, attributes and hooks are not even opened, so there is no list of dangerous settings to
//! keep up with. Objects are written into it, in front of the repository's; the index is a copy.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::call::{Call, line};
use crate::changes::Changes;
use crate::checkout::{Checkout, ObjectFormat, read_path};
use crate::drivers::joined;
use crate::error::{Error, Failure, Result, io_error};
use crate::files::{Staged, read_staged};
use crate::index_file::{self, SUBMODULE, Special};
use crate::quarantine::{Quarantine, is_partial_clone};
use crate::scratch::Scratch;

/// Settings of the repository that say how its filesystem behaves or what is ignored. They name no command. The last
/// two are asked for and not copied: they say what git would do to line ends.
const COPIED: &str = r"^core\.(excludesfile|filemode|symlinks|ignorecase|precomposeunicode|trustctime|checkstat|autocrlf|attributesfile)$";

/// The HEAD of a git directory without commits.
pub(crate) const UNBORN: &str = "ref: refs/heads/none\n";

/// A private git directory for the length of one snapshot.
pub(crate) struct Private<'a> {
    checkout: &'a Checkout,
    pub(crate) quarantine: Quarantine<'a>,
    scratch: Scratch,
    settings: Vec<(String, OsString)>,
    /// Settings of the checkout's that say how it converts files.
    pub(crate) conversions: Vec<(String, OsString)>,
    /// Its calls let everything else on the machine go first.
    is_gentle: bool,
}

/// Settings of a checkout that count for its private git directory.
pub(crate) struct Settings(Vec<(String, OsString)>);

/// What one look at the index tells.
#[derive(Debug, Default)]
pub(crate) struct Indexed {
    /// Submodules with files in them.
    pub(crate) submodules: Vec<PathBuf>,
    /// Files with attributes.
    pub(crate) attributes: Vec<PathBuf>,
}

impl<'a> Private<'a> {
    /// Makes it in a directory of the caller's; in the checkout's own git directory unless nothing is to be written
    /// there.
    pub(crate) fn make(
        parent: &Path,
        checkout: &'a Checkout,
        head: Option<&str>,
        settings: Settings,
    ) -> Result<Private<'a>> {
        let head = head.map_or(UNBORN.into(), |oid| format!("{oid}\n"));
        let scratch = make_git_dir(parent, checkout.object_format, &head)?;
        let exclude = checkout.common_dir.join("info/exclude");
        match fs::read(&exclude) {
            Ok(patterns) => drop(scratch.write("info/exclude", patterns)?),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(io_error("read", &exclude)(error)),
        }
        copy_index(&checkout.git_dir, scratch.path())?;
        let quarantine = Quarantine::make(checkout, &scratch)?;
        let (conversions, settings) = settings
            .0
            .into_iter()
            .partition(|(key, _)| matches!(key.as_str(), "core.autocrlf" | "core.attributesfile"));
        Ok(Private { checkout, quarantine, scratch, settings, conversions, is_gentle: false })
    }

    /// Lets everything else on the machine go first.
    pub(crate) fn gently(mut self) -> Private<'a> {
        self.is_gentle = true;
        self
    }

    /// Finds what differs from the index, nested repositories apart.
    pub(crate) fn changes(&self) -> Result<Changes> {
        Changes::ask(self.call("status"), "--untracked-files=all").map_err(|failure| self.reading(failure))
    }

    /// Lists what the index says, submodules apart.
    pub(crate) fn staged(&self) -> Result<Vec<(PathBuf, Staged)>> {
        let answer = self.call("ls-files").args(["--stage", "-z"]).run();
        let mut staged = read_staged(&answer.map_err(|failure| self.reading(failure))?);
        staged.retain(|(_, staged)| staged.mode != 0o160_000);
        Ok(staged)
    }

    /// Finds what is special in the index, and brings back into sight what flags in it hide from `changes`.
    pub(crate) fn unhide(&self) -> Result<Indexed> {
        let mut submodules = BTreeSet::new();
        let mut attributes = Vec::new();
        let mut hidden = Vec::new();
        for Special { path, mode, is_hidden } in self.special()? {
            if path.as_os_str().as_bytes().ends_with(b".gitattributes") {
                attributes.push(path.clone());
            }
            if mode == SUBMODULE {
                if fs::symlink_metadata(self.checkout.top.join(&path).join(".git")).is_ok() {
                    submodules.insert(path);
                }
            } else if is_hidden && fs::symlink_metadata(self.checkout.top.join(&path)).is_ok() {
                hidden.push(path);
            }
        }
        for flag in ["--no-assume-unchanged", "--no-skip-worktree"] {
            if !hidden.is_empty() {
                let call = self.call("update-index").args([flag, "-z", "--stdin"]).input(joined(&hidden));
                call.run().map_err(|failure| self.reading(failure))?;
            }
        }
        Ok(Indexed { submodules: submodules.into_iter().collect(), attributes })
    }

    /// Finds the entries of the index that something has to be known about.
    fn special(&self) -> Result<Vec<Special>> {
        let index = fs::read(self.scratch.path().join("index")).unwrap_or_default();
        if let Some(special) = index_file::special(&index, self.checkout.object_format) {
            return Ok(special);
        }
        let answer = self.call("ls-files").args(["--stage", "-v", "-z"]).run();
        let answer = answer.map_err(|failure| self.reading(failure))?;
        let entries = answer.split(|byte| *byte == 0).filter_map(|entry| {
            // `H 100644 <oid> 0<tab>path`; a small letter means assume-unchanged, S skip-worktree.
            let (tab, tag) = (entry.iter().position(|byte| *byte == b'\t')?, entry.first()?);
            let path = PathBuf::from(OsStr::from_bytes(&entry[tab + 1..]));
            let mode = if entry[2..].starts_with(b"160000") { SUBMODULE } else { 0 };
            Some(Special { path, mode, is_hidden: tag.is_ascii_lowercase() || *tag == b'S' })
        });
        Ok(entries.collect())
    }

    /// Lists the files of a nested repository, and of those inside it, relative to the checkout.
    pub(crate) fn nested_files(&self, nested: &Path) -> Result<Vec<PathBuf>> {
        let top = self.checkout.top.join(nested);
        let inner = make_git_dir(self.scratch.path(), self.checkout.object_format, UNBORN)?;
        // Its index only tells what is tracked although ignored; without a readable one, ignored files stay out.
        let its_git_dir =
            read_path(&top.join(".git"), "gitdir: ").map_or(top.join(".git"), |target| top.join(target));
        let copied = fs::copy(its_git_dir.join("index"), inner.path().join("index")).is_ok();
        let list = |git_dir: &Path| {
            let call = self.over(git_dir, &top, "ls-files");
            call.args(["-z", "--cached", "--others", "--exclude-standard"]).run()
        };
        let mut answer = list(inner.path());
        if answer.is_err() && copied {
            let index = inner.path().join("index");
            fs::remove_file(&index).map_err(io_error("remove", &index))?;
            answer = list(inner.path());
        }
        let answer = answer.map_err(|failure| self.reading(failure))?;
        let mut files = Vec::new();
        for name in answer.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let path = nested.join(OsStr::from_bytes(name.strip_suffix(b"/").unwrap_or(name)));
            match fs::symlink_metadata(self.checkout.top.join(&path)) {
                Ok(kind) if kind.is_dir() => {
                    if fs::symlink_metadata(self.checkout.top.join(&path).join(".git")).is_ok() {
                        files.extend(self.nested_files(&path)?);
                    }
                }
                Ok(_) => files.push(path),
                Err(_) => {}
            }
        }
        Ok(files)
    }

    /// Puts files into the private index as they are now. Returns those that git could not take, and why.
    pub(crate) fn add(&self, paths: &[PathBuf]) -> Result<Vec<(PathBuf, String)>> {
        self.add_to(paths, &|call| call)
    }

    /// Lists what the index has and the commit has not.
    pub(crate) fn staged_paths(&self) -> Result<Vec<PathBuf>> {
        let tree = self.call("diff-index").args(["--cached", "-z", "--name-only", "HEAD"]).run();
        // Before the first commit everything in the index is.
        let list = tree.or_else(|_| self.call("ls-files").args(["-z"]).run());
        Ok(crate::call::paths(&list.map_err(|failure| self.reading(failure))?))
    }

    /// Puts files into the private index as they are now, although git takes them for unchanged.
    pub(crate) fn add_afresh(&self, paths: &[PathBuf]) -> Result<Vec<(PathBuf, String)>> {
        if !paths.is_empty() {
            let call = self.call("update-index").args(["--force-remove", "-z", "--stdin"]);
            call.input(joined(paths)).run().map_err(|failure| self.reading(failure))?;
        }
        self.add(paths)
    }

    /// Writes files as a tree into the object store at `objects`, and nothing of them anywhere else.
    pub(crate) fn write_aside(
        &self,
        paths: &[PathBuf],
        objects: &Path,
    ) -> Result<(String, Vec<(PathBuf, String)>)> {
        let index = self.scratch.path().join("index-aside");
        // Here they stay as they are written.
        let aside = |call: Call| {
            let call = call.env("GIT_OBJECT_DIRECTORY", objects).env("GIT_INDEX_FILE", &index);
            call.setting("core.looseCompression", "1")
        };
        let refused = self.add_to(paths, &aside)?;
        let tree = aside(self.call("write-tree")).run().map(line);
        Ok((tree.map_err(|failure| self.reading(failure))?, refused))
    }

    fn add_to(&self, paths: &[PathBuf], to: &dyn Fn(Call) -> Call) -> Result<Vec<(PathBuf, String)>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let call = self.call("update-index").args(["--add", "--remove", "--replace", "-z", "--stdin"]);
        match to(call).input(joined(paths)).run() {
            Ok(_) => Ok(Vec::new()),
            Err(failure) if !matches!(failure, Failure::Exit { .. }) || failure.is_shortage() => {
                Err(self.reading(failure))
            }
            Err(failure) if paths.len() == 1 => Ok(vec![(paths[0].clone(), failure.stderr().to_string())]),
            // One bad path makes git refuse them all and write nothing, so look for it by halves.
            Err(_) => {
                let (left, right) = paths.split_at(paths.len() / 2);
                let mut refused = self.add_to(left, to)?;
                refused.extend(self.add_to(right, to)?);
                Ok(refused)
            }
        }
    }

    /// Writes the private index as a tree.
    pub(crate) fn write_tree(&self) -> Result<String> {
        let mut call = self.call("write-tree");
        // In a partial clone, files that nobody touched may not be here; the promise of a remote keeps them whole.
        if is_partial_clone(&self.checkout.common_dir) {
            call = call.arg("--missing-ok");
        }
        call.run().map(line).map_err(|failure| self.reading(failure))
    }

    pub(crate) fn call(&self, verb: &'static str) -> Call {
        self.over(self.scratch.path(), &self.checkout.top, verb)
    }

    fn over(&self, git_dir: &Path, top: &Path, verb: &'static str) -> Call {
        let empty_tree = match self.checkout.object_format {
            ObjectFormat::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            ObjectFormat::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        };
        let call = Call::new(&self.checkout.git, verb)
            .from(top)
            .global_path("--git-dir=", git_dir)
            .global_path("--work-tree=", top)
            .global(format!("--attr-source={empty_tree}"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .setting("core.attributesFile", "/dev/null")
            .setting("core.splitIndex", "false")
            // Nobody else reads this index, and the sum over it takes longer than writing it.
            .setting("index.skipHash", "true")
            .settings(&self.settings);
        let call = self.quarantine.catch(call);
        if self.is_gentle { call.gently() } else { call }
    }

    fn reading(&self, failure: Failure) -> Error {
        failure.during(format!("read the files of {}", self.checkout.top.display()))
    }
}

/// Makes the least that git takes for a git directory.
fn make_git_dir(parent: &Path, format: ObjectFormat, head: &str) -> Result<Scratch> {
    let scratch = Scratch::make(parent)?;
    write_git_dir(scratch.path(), format, head)?;
    Ok(scratch)
}

/// Writes the least that git takes for a git directory into an empty one.
pub(crate) fn write_git_dir(directory: &Path, format: ObjectFormat, head: &str) -> Result<()> {
    let config = match format {
        ObjectFormat::Sha1 => "[core]\n\trepositoryformatversion = 0\n",
        ObjectFormat::Sha256 => {
            "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
        }
    };
    for (name, content) in [("config", config), ("HEAD", head)] {
        let path = directory.join(name);
        fs::write(&path, content).map_err(io_error("write", &path))?;
    }
    for name in ["objects", "refs"] {
        let path = directory.join(name);
        fs::create_dir_all(&path).map_err(io_error("make", &path))?;
    }
    Ok(())
}

/// Copies the index and its time: git takes a file for unchanged only if it is older than the index, so a copy that
/// looked newer would hide a change made in the second in which the index was written.
fn copy_index(from: &Path, to: &Path) -> Result<()> {
    let index = from.join("index");
    match copy_file(&index, &to.join("index")) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(io_error("copy", &index)(error)),
    }
    let entries = fs::read_dir(from).map_err(io_error("list", from))?;
    for entry in entries.flatten() {
        if entry.file_name().as_bytes().starts_with(b"sharedindex.") {
            let path = entry.path();
            copy_file(&path, &to.join(entry.file_name())).map_err(io_error("copy", &path))?;
        }
    }
    Ok(())
}

/// Copies a file and its time.
pub(crate) fn copy_file(source: &Path, target: &Path) -> io::Result<()> {
    let mut source = fs::File::open(source)?;
    let mut target = fs::File::create(target)?;
    io::copy(&mut source, &mut target)?;
    target.set_modified(source.metadata()?.modified()?)
}

impl Settings {
    pub(crate) fn of(checkout: &Checkout) -> Result<Settings> {
        copied(checkout).map(Settings)
    }
}

fn copied(checkout: &Checkout) -> Result<Vec<(String, OsString)>> {
    let answer = checkout.refs("config").args(["--null", "--type=path", "--get-regexp", COPIED]).ask();
    let act = || format!("read the config of {}", checkout.top.display());
    let answer = answer.map_err(|failure| failure.during(act()))?.unwrap_or_default();
    let entries = answer.split(|byte| *byte == 0).filter_map(|entry| {
        let newline = entry.iter().position(|byte| *byte == b'\n')?;
        let key = String::from_utf8_lossy(&entry[..newline]).into_owned();
        Some((key, OsString::from_vec(entry[newline + 1..].to_vec())))
    });
    Ok(entries.collect())
}
