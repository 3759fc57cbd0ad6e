//! Putting back what keeps git from reading a repository, or makes it read another one: by files, because git fails
//! exactly there. Each act tells what it found, and does nothing where everything is as it should be.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use crate::call::Call;
use crate::checkout::read_path;
use crate::error::{Error, Result, io_error};
use crate::names::is_oid;
use crate::plain_refs::{self, Packed, Plain};
use crate::repo::Repo;

/// So much of a file that git does not understand is shown.
const SHOWN: usize = 80;

/// What stands above packed references that are not sorted out further.
const HEADER: &str = "# pack-refs with: sorted \n";

/// Something that is as it was again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    /// A path in the git directory, or a reference.
    pub subject: String,
    pub was: Option<String>,
    pub found: Option<String>,
}

impl Mended {
    fn new(subject: &str, was: Option<&str>, found: Option<&str>) -> Mended {
        Mended { subject: subject.into(), was: was.map(str::to_string), found: found.map(str::to_string) }
    }
}

impl Repo {
    /// Has git recognise the person's git directory again: HEAD says something that git understands, and no file leads
    /// it to another repository. `head` is what HEAD said before.
    pub fn mend_git_dir(&self, head: Option<&str>) -> Result<Vec<Mended>> {
        let (git_dir, common_dir) = (&self.checkout.git_dir, self.common_dir());
        let mut mended = Vec::new();
        // The git directory that all share leads nowhere else; git itself never writes such a file there.
        let astray = common_dir.join("commondir");
        if let Some(found) = shown(&astray) {
            fs::remove_file(&astray).map_err(io_error("remove", &astray))?;
            mended.push(Mended::new("commondir", None, Some(&found)));
        }
        let file = git_dir.join("HEAD");
        if let Some(head) = head.filter(|_| !is_head(&file)) {
            let found = shown(&file);
            clear(&file)?;
            write_whole(&file, format!("{head}\n").as_bytes())?;
            mended.push(Mended::new("HEAD", Some(head), found.as_deref()));
        }
        let heads = common_dir.join("refs/heads");
        if fs::symlink_metadata(&heads).is_err() && !common_dir.join("reftable").exists() {
            fs::create_dir_all(&heads).map_err(io_error("make", &heads))?;
            mended.push(Mended::new("refs/heads", Some("a directory"), None));
        }
        Ok(mended)
    }

    /// Has git read the references again: a file in the place of one that says nothing is replaced by what was there
    /// before, and a file of packed references that cannot be read, or that git did not write, by one of all that there
    /// were. `is_missed` says whether a reference that was there before should be there.
    pub fn mend_references(
        &self,
        before: &BTreeMap<String, String>,
        had_packed: bool,
        is_missed: impl Fn(&str) -> bool,
    ) -> Result<Vec<Mended>> {
        let common_dir = self.common_dir();
        let Some(plain) = plain_refs::look(common_dir) else { return Ok(Vec::new()) };
        let mut mended = Vec::new();
        // Git writes no reference as long as it cannot read those that are packed.
        if plain.packed == Packed::Broken || (had_packed && plain.packed != Packed::Whole) {
            mended.push(self.pack_again(&plain, before, is_missed)?);
        }
        for reference in &plain.broken {
            let file = common_dir.join(reference);
            let found = shown(&file);
            clear(&file)?;
            // What is packed, or was before, counts again.
            let was = before.get(reference).or_else(|| plain.refs.get(reference)).map(String::as_str);
            if let Some(was) = was {
                self.set_reference(reference, was)?;
            }
            mended.push(Mended::new(reference, was, found.as_deref()));
        }
        Ok(mended)
    }

    /// Writes the file of packed references again, from what can be read and what there was before.
    fn pack_again(
        &self,
        plain: &Plain,
        before: &BTreeMap<String, String>,
        is_missed: impl Fn(&str) -> bool,
    ) -> Result<Mended> {
        let common_dir = self.common_dir();
        let mut packed: BTreeMap<&String, &String> = plain.refs.iter().collect();
        let mut missed = 0;
        for (name, oid) in before.iter().filter(|(name, _)| !plain.broken.contains(name)) {
            if !packed.contains_key(name) && is_missed(name) {
                packed.insert(name, oid);
                missed += 1;
            }
        }
        let lines = packed.iter().filter(|(_, oid)| is_oid(oid)).map(|(name, oid)| format!("{oid} {name}\n"));
        let text: String = std::iter::once(HEADER.to_string()).chain(lines).collect();
        let (file, lock) = (common_dir.join("packed-refs"), common_dir.join("packed-refs.lock"));
        let found = shown(&file);
        self.queued(|| {
            // Git's own way of writing it: whoever has the lock writes, and nobody else meanwhile.
            let mut locked = fs::File::create_new(&lock).map_err(io_error("lock", &lock))?;
            let written = locked.write_all(text.as_bytes()).and_then(|()| fs::rename(&lock, &file));
            if written.is_err() {
                // What matters is why it was not written.
                let _gone = fs::remove_file(&lock);
            }
            written.map_err(io_error("write", &file))
        })?;
        let was = format!("a list with {missed} references that are missing");
        Ok(Mended::new("packed-refs", Some(&was), found.as_deref()))
    }

    /// Makes a reference one of its own again, whatever is in its place.
    pub fn set_reference(&self, reference: &str, to: &str) -> Result<()> {
        let file = self.common_dir().join(reference);
        if fs::symlink_metadata(&file).is_ok_and(|kind| kind.is_symlink()) {
            fs::remove_file(&file).map_err(io_error("remove", &file))?;
        }
        let call = match to.strip_prefix("ref: ") {
            Some(target) => self.checkout.refs("symbolic-ref").args([
                "-m",
                "forge: put back",
                "--end-of-options",
                reference,
                target,
            ]),
            None => {
                self.check_oid(to)?;
                let call = self.checkout.refs("update-ref").args(["-m", "forge: put back", "--no-deref"]);
                call.args(["--end-of-options", reference, to])
            }
        };
        let written = self.queued(|| call.run());
        written.map(drop).map_err(|failure| failure.during(format!("put {reference} back")))
    }

    /// Ties a linked worktree to its entry in the repository again, when the worktree itself still names that entry:
    /// the entry is made anew where it is gone, and says where the repository and the worktree are. What is staged in a
    /// worktree whose entry was gone is no longer; its files stay. `head` and `lock` are what the entry had.
    pub fn mend_entry(
        &self,
        name: &str,
        place: &Path,
        head: &str,
        lock: Option<&str>,
    ) -> Result<Vec<Mended>> {
        let entry = self.common_dir().join("worktrees").join(name);
        let names_it = read_path(&place.join(".git"), "gitdir: ").is_some_and(|named| {
            let named = place.join(named);
            let parent = named.parent().and_then(|parent| fs::canonicalize(parent).ok());
            named == entry || (parent.as_deref() == entry.parent() && named.file_name() == entry.file_name())
        });
        if !names_it {
            return Ok(Vec::new());
        }
        let subject = |file: &str| format!("worktrees/{name}/{file}").trim_end_matches('/').to_string();
        let mut mended = Vec::new();
        let is_gone = !entry.is_dir();
        if is_gone {
            fs::create_dir_all(&entry).map_err(io_error("make", &entry))?;
            if let Some(reason) = lock {
                write_whole(&entry.join("locked"), reason.as_bytes())?;
            }
            mended.push(Mended::new(&subject(""), Some("the entry of a worktree"), None));
        }
        let mut check = |file: &str, is_right: bool, text: Vec<u8>| -> Result<()> {
            if is_right {
                return Ok(());
            }
            let path = entry.join(file);
            let found = shown(&path);
            clear(&path)?;
            write_whole(&path, &text)?;
            if !is_gone {
                let was = String::from_utf8_lossy(&text).trim_end().to_string();
                mended.push(Mended::new(&subject(file), Some(&was), found.as_deref()));
            }
            Ok(())
        };
        let leads_here = leads_to(&entry, self.common_dir());
        check("commondir", leads_here, b"../..\n".to_vec())?;
        let back = place.join(".git");
        let points_back = read_path(&entry.join("gitdir"), "").is_some_and(|file| entry.join(file) == back);
        let mut text = back.into_os_string().into_vec();
        text.push(b'\n');
        check("gitdir", points_back, text)?;
        check("HEAD", is_head(&entry.join("HEAD")), format!("{head}\n").into_bytes())?;
        if is_gone {
            let worktree = self.worktree(place)?;
            let read =
                worktree.checkout.files("read-tree").arg("HEAD").without_env("GIT_OPTIONAL_LOCKS").run();
            read.map_err(|failure| failure.during(format!("make the index of {} anew", place.display())))?;
        }
        Ok(mended)
    }

    /// Says whether the entry of a linked worktree is there and leads to this repository.
    pub fn is_entry_ours(&self, name: &str) -> bool {
        leads_to(&self.common_dir().join("worktrees").join(name), self.common_dir())
    }

    /// Says whether git, called as a person would in this checkout, reads the commit that is checked out.
    pub fn is_readable(&self) -> Result<bool> {
        let call = Call::new(&self.checkout.git, "rev-parse").from(self.top()).with_hooks();
        let read = call.args(["--quiet", "--verify", "--end-of-options", "HEAD^{tree}"]).output();
        let read =
            read.map_err(|failure| failure.during(format!("read HEAD of {}", self.top().display())))?;
        Ok(read.status.success())
    }

    /// Says whether the repository has an object.
    pub fn has_object(&self, oid: &str) -> Result<bool> {
        self.check_oid(oid)?;
        let there = self.checkout.refs("cat-file").args(["-e", oid]).output();
        Ok(there.map_err(|failure| failure.during(format!("look for {oid}")))?.status.success())
    }

    /// Deletes a reference that is what was seen.
    pub fn drop_reference(&self, reference: &str, seen: &str) -> Result<()> {
        let dropped = self.queued(|| self.delete_reference(reference, seen));
        dropped.map_err(|failure| failure.during(format!("delete {reference}")))
    }

    /// Writes a file of the git directory whole; nothing takes it away.
    pub fn write_git_file(&self, name: &str, content: Option<&[u8]>) -> Result<()> {
        let path = self.common_dir().join(name);
        match content {
            Some(content) => write_whole(&path, content),
            None => fs::remove_file(&path).map_err(io_error("remove", &path)),
        }
    }
}

/// Says whether the entry of a linked worktree leads to a repository.
pub(crate) fn leads_to(entry: &Path, common_dir: &Path) -> bool {
    let file = entry.join("commondir");
    let is_file = fs::symlink_metadata(&file).is_ok_and(|kind| kind.is_file());
    let named = is_file.then(|| read_path(&file, "")).flatten();
    // What git writes, which is found without following a link.
    named.is_some_and(|named| {
        named == Path::new("../..")
            || fs::canonicalize(entry.join(named)).is_ok_and(|there| there == common_dir)
    })
}

/// Says whether a HEAD says something that git understands.
pub(crate) fn is_head(file: &Path) -> bool {
    // Git takes a link for a reference when it looks like one.
    if let Ok(target) = fs::read_link(file) {
        return target.starts_with("refs");
    }
    let Ok(text) = fs::read_to_string(file) else { return false };
    let named = text.strip_prefix("ref:").map(|name| name.trim());
    let is_reference =
        named.is_some_and(|name| name.strip_prefix("refs/").is_some_and(crate::names::is_reference_tail));
    is_reference || is_oid(text.trim_end())
}

/// What people are shown of a file; none when there is nothing.
fn shown(path: &Path) -> Option<String> {
    let kind = fs::symlink_metadata(path).ok()?;
    if kind.is_symlink() {
        return Some(format!("a link to {}", fs::read_link(path).unwrap_or_default().display()));
    }
    if !kind.is_file() {
        return Some("no file".to_string());
    }
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text[..text.len().min(SHOWN * 4)]).trim().to_string();
    Some(match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if text.is_empty() => "an empty file".to_string(),
        None => text,
    })
}

/// Takes away what is in the place of a file; an empty directory too.
fn clear(path: &Path) -> Result<()> {
    let gone = match fs::symlink_metadata(path) {
        Ok(kind) if kind.is_dir() => fs::remove_dir(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    gone.map_err(io_error("remove", path))
}

/// Writes a file so that a reader sees the old content or the new one.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!("{name}.forge"));
    let written = fs::write(&draft, content).and_then(|()| fs::rename(&draft, path));
    written.map_err(|source| Error::Io { act: "write", path: path.to_path_buf(), source })
}
