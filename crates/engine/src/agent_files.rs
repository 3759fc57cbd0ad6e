//! Files that an agent has Forge read or write for it: regular files beneath its own worktree, and no others.
//!
//! No link is followed, `.git` is left alone, and what is too large or no text is refused with a sentence for the
//! agent. What came of it is written down before the agent hears it, so it is not done a second time after a restart;
//! and a write that was done but not written down changes nothing when it is done again.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use forge_model::Run;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::background::blocking;
use crate::copied_files::{open_below, open_top, reason};
use crate::error::whole;
use crate::input::Input;
use crate::store::inputs;
use crate::{Engine, Result};

/// The most that is read for an agent at a time. It is written down in the run's log, so it stays small.
const MOST_READ: usize = 1 << 20;

/// The most that is written for an agent at a time.
const MOST_WRITTEN: usize = 16 << 20;

/// Something that an agent waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wish {
    /// `limit` lines of a file from `line`, counted from 1.
    Read {
        key: String,
        path: String,
        line: Option<u32>,
        limit: Option<u32>,
    },
    Write {
        key: String,
        path: String,
        content: String,
    },
}

impl Wish {
    /// Returns the agent's own name for it.
    pub(crate) fn key(&self) -> &str {
        match self {
            Wish::Read { key, .. } | Wish::Write { key, .. } => key,
        }
    }
}

impl Engine {
    /// Does what an agent waits for and writes down what came of it; says whether there is something new to tell.
    /// `folded` is how many inputs its conversation has heard.
    pub(crate) async fn grant(
        &self,
        run: &Run,
        worktree: &str,
        wishes: &[Wish],
        folded: u64,
    ) -> Result<bool> {
        let (id, after) = (run.id, i64::try_from(folded).unwrap_or(i64::MAX));
        let mut new = false;
        for wish in wishes {
            let key = wish.key().to_string();
            let told = self.inner.store.read(move |conn| inputs::after(conn, id, after)).await?;
            let is_told = |body: &str| matches!(Input::read(body), Some(Input::File { key: known, .. }) if known == key);
            if told.iter().any(|(_, body)| is_told(body)) {
                continue;
            }
            let (wish, top) = (wish.clone(), worktree.to_string());
            let came = blocking(move || grant(Path::new(&top), &wish, &format!(".forge-draft-{id}"))).await?;
            self.inner.seam.pass("files.done", "").await;
            let body = Input::File { key, came }.write();
            self.inner.store.write(move |tx| inputs::add(tx.conn(), id, &body, tx.now()).map(drop)).await?;
            new = true;
        }
        Ok(new)
    }
}

fn grant(worktree: &Path, wish: &Wish, draft: &str) -> std::result::Result<String, String> {
    match wish {
        Wish::Read { path, line, limit, .. } => read(worktree, path, *line, *limit),
        Wish::Write { path, content, .. } => write(worktree, path, content, draft).map(|()| String::new()),
    }
}

fn read(
    worktree: &Path,
    path: &str,
    line: Option<u32>,
    limit: Option<u32>,
) -> std::result::Result<String, String> {
    let place = beneath(worktree, path)?;
    let top = open_top(worktree).map_err(|error| whole(&error))?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = open_below(&top, &place, false)
        .and_then(|(dir, name)| rustix::fs::openat(&dir, name, flags, Mode::empty()))
        .map_err(|errno| format!("{path} could not be read: {}", reason(errno)))?;
    let file = File::from(opened);
    if !file.metadata().is_ok_and(|meta| meta.is_file()) {
        return Err(format!("{path} is no regular file"));
    }
    let failed = |error: std::io::Error| format!("{path} could not be read: {error}");
    let mut reader = BufReader::new(file);
    let mut skip = line.unwrap_or(1).max(1) - 1;
    while skip > 0 && reader.skip_until(b'\n').map_err(failed)? > 0 {
        skip -= 1;
    }
    let mut bytes = Vec::new();
    let most = MOST_READ as u64 + 1;
    match limit {
        None => drop(reader.take(most).read_to_end(&mut bytes).map_err(failed)?),
        Some(lines) => {
            let mut reader = reader.take(most);
            for _ in 0..lines {
                if reader.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
                    break;
                }
            }
        }
    }
    if bytes.len() > MOST_READ {
        return Err(format!("{path} is larger than {} KB; read fewer lines at a time", MOST_READ >> 10));
    }
    String::from_utf8(bytes).map_err(|_| format!("{path} is no text"))
}

fn write(worktree: &Path, path: &str, content: &str, draft: &str) -> std::result::Result<(), String> {
    let place = beneath(worktree, path)?;
    if content.len() > MOST_WRITTEN {
        return Err(format!("{path} would be larger than {} MB", MOST_WRITTEN >> 20));
    }
    let failed = |why: String| format!("{path} could not be written: {why}");
    let top = open_top(worktree).map_err(|error| whole(&error))?;
    let (dir, name) = open_below(&top, &place, true).map_err(|errno| failed(reason(errno)))?;
    let mode = match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(there) if FileType::from_raw_mode(there.st_mode) != FileType::RegularFile => {
            return Err(format!("{path} is no regular file"));
        }
        Ok(_) if holds(&dir, name, content) => return Ok(()),
        Ok(there) => Some(Mode::from_raw_mode(there.st_mode & 0o777)),
        Err(Errno::NOENT) => None,
        Err(errno) => return Err(failed(reason(errno))),
    };
    // Half a file would be worse than none, so it gets its name when it is whole.
    // One that is there was left by a server that died over the same wish.
    let _ = rustix::fs::unlinkat(&dir, draft, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(&dir, draft, flags, Mode::from_raw_mode(0o666));
    let mut file = File::from(made.map_err(|errno| failed(reason(errno)))?);
    let done = file.write_all(content.as_bytes()).map_err(|error| error.to_string());
    let done =
        done.and_then(|()| mode.map_or(Ok(()), |mode| rustix::fs::fchmod(&file, mode)).map_err(reason));
    let done = done.and_then(|()| rustix::fs::renameat(&dir, draft, &dir, name).map_err(reason));
    if done.is_err() {
        let _ = rustix::fs::unlinkat(&dir, draft, AtFlags::empty());
    }
    done.map_err(failed)
}

/// Says whether a file holds exactly this text already.
fn holds(dir: &OwnedFd, name: &str, content: &str) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(dir, name, flags, Mode::empty()).map(File::from) else { return false };
    let mut bytes = Vec::new();
    let read = file.take(content.len() as u64 + 1).read_to_end(&mut bytes);
    read.is_ok() && bytes == content.as_bytes()
}

/// Returns a path relative to the worktree, as it is written; links are looked at when it is opened.
fn beneath(worktree: &Path, path: &str) -> std::result::Result<String, String> {
    let refused = || format!("{path} is not in the worktree {}", worktree.display());
    let given = Path::new(path);
    let below = match given.is_absolute() {
        false => given.to_path_buf(),
        true => {
            let real = worktree.canonicalize();
            let real = real.as_deref().unwrap_or(worktree);
            given
                .strip_prefix(worktree)
                .or_else(|_| given.strip_prefix(real))
                .map_err(|_| refused())?
                .to_path_buf()
        }
    };
    let mut names = Vec::new();
    for part in below.components() {
        match part {
            Component::Normal(name) => names.push(name.to_str().ok_or_else(refused)?),
            Component::CurDir => {}
            _ => return Err(refused()),
        }
    }
    match names.first() {
        None => Err(format!("{path} is no regular file")),
        Some(first) if first.eq_ignore_ascii_case(".git") => {
            Err(format!("{path} belongs to git; Forge does not touch it for an agent"))
        }
        Some(_) => Ok(names.join("/")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn write(top: &Path, path: &str, content: &str) -> std::result::Result<(), String> {
        super::write(top, path, content, ".forge-draft")
    }

    fn worktree() -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(top.path().join("src")).unwrap();
        std::fs::write(top.path().join("src/a.txt"), "one\ntwo\nthree\n").unwrap();
        top
    }

    #[test]
    fn a_file_is_read_whole_or_by_lines_and_by_either_kind_of_path() {
        let top = worktree();
        let whole = "one\ntwo\nthree\n".to_string();
        assert_eq!(read(top.path(), "src/a.txt", None, None), Ok(whole.clone()));
        let absolute = top.path().join("src/a.txt");
        assert_eq!(read(top.path(), absolute.to_str().unwrap(), None, None), Ok(whole));
        assert_eq!(read(top.path(), "src/a.txt", Some(2), Some(1)), Ok("two\n".into()));
        assert_eq!(read(top.path(), "src/a.txt", Some(3), None), Ok("three\n".into()));
        assert_eq!(read(top.path(), "src/a.txt", Some(9), Some(u32::MAX)), Ok(String::new()));
        assert_eq!(read(top.path(), "src/a.txt", Some(0), Some(0)), Ok(String::new()));
    }

    #[test]
    fn nothing_outside_the_worktree_is_read_or_written() {
        let (top, outside) = (worktree(), tempfile::tempdir().unwrap());
        let secret = outside.path().join("secret");
        std::fs::write(&secret, "secret").unwrap();
        symlink(&secret, top.path().join("link")).unwrap();
        symlink(outside.path(), top.path().join("dir")).unwrap();
        symlink("src/a.txt", top.path().join("inner")).unwrap();
        std::fs::write(top.path().join(".git"), "gitdir: /elsewhere").unwrap();
        let elsewhere = [
            "../secret",
            "src/../../secret",
            secret.to_str().unwrap(),
            "/etc/passwd",
            "link",
            "dir/secret",
            "inner",
            ".git",
            ".git/config",
            ".GIT/config",
            "",
            ".",
            "/",
            "src",
            "src/missing/../a.txt",
            "dir/new",
        ];
        for path in elsewhere {
            assert!(read(top.path(), path, None, None).is_err(), "{path} was read");
            assert!(write(top.path(), path, "changed").is_err(), "{path} was written");
        }
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
        assert_eq!(std::fs::read_to_string(top.path().join(".git")).unwrap(), "gitdir: /elsewhere");
        assert_eq!(std::fs::read_to_string(top.path().join("src/a.txt")).unwrap(), "one\ntwo\nthree\n");
    }

    #[test]
    fn a_sibling_whose_name_begins_alike_is_outside() {
        let top = worktree();
        let sibling = format!("{}-2/a.txt", top.path().display());
        assert!(read(top.path(), &sibling, None, None).unwrap_err().contains("is not in the worktree"));
    }

    #[test]
    fn what_is_large_or_no_text_is_refused_and_a_part_of_it_is_not() {
        let top = worktree();
        std::fs::write(top.path().join("large"), "line\n".repeat(MOST_READ)).unwrap();
        assert!(read(top.path(), "large", None, None).unwrap_err().contains("larger than 1024 KB"));
        assert!(read(top.path(), "large", None, Some(u32::MAX)).unwrap_err().contains("larger than"));
        assert_eq!(read(top.path(), "large", Some(7), Some(2)), Ok("line\nline\n".into()));
        std::fs::write(top.path().join("picture"), b"\x89PNG\xff").unwrap();
        assert!(read(top.path(), "picture", None, None).unwrap_err().contains("is no text"));
        assert!(write(top.path(), "large", &"x".repeat(MOST_WRITTEN + 1)).is_err());
    }

    #[test]
    fn a_write_makes_what_is_missing_keeps_the_mode_and_done_again_changes_nothing() {
        let top = worktree();
        write(top.path(), "new/deep/file", "hi\n").unwrap();
        assert_eq!(std::fs::read_to_string(top.path().join("new/deep/file")).unwrap(), "hi\n");
        let script = top.path().join("src/a.txt");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        write(top.path(), "src/a.txt", "changed").unwrap();
        let first = script.metadata().unwrap();
        assert_eq!(first.permissions().mode() & 0o777, 0o755);
        write(top.path(), "src/a.txt", "changed").unwrap();
        assert_eq!(first.modified().unwrap(), script.metadata().unwrap().modified().unwrap());
        let names: Vec<_> = std::fs::read_dir(top.path().join("src")).unwrap().collect();
        assert_eq!(names.len(), 1, "a draft was left behind");
    }

    #[test]
    fn a_pipe_does_not_hang_the_reader() {
        let top = worktree();
        let flags = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, top.path().join("pipe"), flags, Mode::RUSR | Mode::WUSR, 0)
            .unwrap();
        assert!(read(top.path(), "pipe", None, None).unwrap_err().contains("no regular file"));
        assert!(write(top.path(), "pipe", "x").unwrap_err().contains("no regular file"));
    }
}
