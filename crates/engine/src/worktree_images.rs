//! Pictures in a worktree: where agents find those that a prompt names, and where git never sees them.
//!
//! The worktree belongs to a repository that may be hostile: its directory of that name may be a link, or hold
//! files of its own. Nothing is written through a link, and nothing that is there is written over.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use forge_model::{Image, ImageId, TaskId};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::background::blocking;
use crate::error::io_error;
use crate::intent::{Intent, What};
use crate::store::{attempts, images};
use crate::{Engine, Error, Result};

/// What keeps git from seeing the pictures, and this file itself.
const IGNORE_ALL: &str = "*\n";

const OPEN_DIR: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Engine {
    /// Puts the pictures that a start is about, and all others of its task, into its worktree.
    pub(crate) async fn bring_images(&self, intent: &Intent) -> Result<()> {
        let task = match &intent.what {
            What::Attempt { task, .. } => *task,
            What::Run { .. } => {
                let id = intent.attempt;
                let view = self.inner.store.read(move |conn| attempts::one(conn, id)).await?;
                view.and_then(|view| view.attempt.task)
            }
        };
        self.put_images(task, &intent.images, &intent.worktree).await
    }

    /// Puts the pictures of a task, and others by their ids, into a worktree.
    pub(crate) async fn put_images(
        &self,
        task: Option<TaskId>,
        ids: &[ImageId],
        worktree: &Path,
    ) -> Result<()> {
        let ids = ids.to_vec();
        let wanted = self.inner.store.read(move |conn| {
            let mut wanted = match task {
                Some(task) => images::of_task(conn, task)?,
                None => Vec::new(),
            };
            for id in ids {
                if !wanted.iter().any(|image: &Image| image.id == id) {
                    wanted.extend(images::one(conn, id)?);
                }
            }
            Ok(wanted)
        });
        let wanted = wanted.await?;
        if wanted.is_empty() {
            return Ok(());
        }
        let (from, worktree) = (self.inner.paths.images(), worktree.to_path_buf());
        blocking(move || put(&worktree, &from, &wanted)).await?
    }
}

fn put(worktree: &Path, from: &Path, wanted: &[Image]) -> Result<()> {
    let place = worktree.join(Image::DIRECTORY);
    let dir = directory(worktree).map_err(|errno| match errno {
        Errno::LOOP | Errno::NOTDIR => Error::invalid(format!(
            "the images cannot be put into {}, because the branch has something else than a directory there; \
             rename it on the branch, or take the images off the task",
            place.display()
        )),
        errno => io_error("open", &place)(errno.into()),
    })?;
    ignore(dir.as_fd(), &place)?;
    for image in wanted {
        let source = from.join(&image.file);
        let mut source = match File::open(&source) {
            Ok(source) => source,
            Err(error) => {
                tracing::warn!(image.id = %image.id, "image {} is not there any more: {error}", image.id);
                continue;
            }
        };
        copy(dir.as_fd(), &image.file, &mut source).map_err(io_error("write", &place.join(&image.file)))?;
    }
    Ok(())
}

/// Opens the directory of pictures in a worktree, making it when it is missing; never through a link.
fn directory(worktree: &Path) -> std::result::Result<OwnedFd, Errno> {
    let top = rustix::fs::open(worktree, OPEN_DIR, Mode::empty())?;
    match rustix::fs::mkdirat(&top, Image::DIRECTORY, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    rustix::fs::openat(&top, Image::DIRECTORY, OPEN_DIR, Mode::empty())
}

/// Makes sure that git does not see what is put here.
fn ignore(dir: BorrowedFd<'_>, place: &Path) -> Result<()> {
    let path = place.join(".gitignore");
    match create(dir, ".gitignore") {
        Ok(mut file) => {
            io::Write::write_all(&mut file, IGNORE_ALL.as_bytes()).map_err(io_error("write", &path))
        }
        Err(Errno::EXIST) => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let read = rustix::fs::openat(dir, ".gitignore", flags, Mode::empty()).map_err(io::Error::from);
            let read = read.and_then(|fd| {
                // A few bytes tell; what is longer is not ours.
                let mut text = String::new();
                io::Read::read_to_string(&mut io::Read::take(File::from(fd), 4096), &mut text)?;
                Ok(text)
            });
            match read {
                Ok(text) if text.lines().any(|line| line == "*") && !text.contains('!') => Ok(()),
                _ => Err(Error::invalid(format!(
                    "the images cannot be put into {}, because its .gitignore would let them be committed; \
                     make that file say `*`, or take the images off the task",
                    place.display()
                ))),
            }
        }
        Err(errno) => Err(io_error("write", &path)(errno.into())),
    }
}

/// Copies a picture to where nothing is yet, whole or not at all.
fn copy(dir: BorrowedFd<'_>, name: &str, source: &mut File) -> io::Result<()> {
    if rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        // Put here for an earlier run, or the repository's own.
        return Ok(());
    }
    let draft = format!("{name}.part");
    match rustix::fs::unlinkat(dir, &draft, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno.into()),
    }
    let mut out = create(dir, &draft)?;
    let copied = io::copy(source, &mut out);
    let linked = copied.and_then(|_| match rustix::fs::linkat(dir, &draft, dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno.into()),
    });
    rustix::fs::unlinkat(dir, &draft, AtFlags::empty())?;
    linked
}

fn create(dir: BorrowedFd<'_>, name: &str) -> std::result::Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o644)).map(File::from)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use forge_model::Time;

    use super::*;

    fn image(file: &str) -> Image {
        Image {
            id: ImageId::random(),
            file: file.into(),
            original_name: "a.png".into(),
            mime_type: None,
            size_bytes: 1,
            hash: file.into(),
            created_at: Time::from_millis(0),
            updated_at: Time::from_millis(0),
        }
    }

    fn world() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let (worktree, from) = (dir.path().join("worktree"), dir.path().join("images"));
        std::fs::create_dir(&worktree).unwrap();
        std::fs::create_dir(&from).unwrap();
        std::fs::write(from.join("a.png"), "picture").unwrap();
        (dir, worktree, from)
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let (dir, worktree, from) = world();
        let outside = dir.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, worktree.join(Image::DIRECTORY)).unwrap();
        let error = put(&worktree, &from, &[image("a.png")]).unwrap_err();
        assert!(error.to_string().contains("something else than a directory"), "{error}");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    }

    #[test]
    fn a_link_in_place_of_a_picture_is_left_alone() {
        let (dir, worktree, from) = world();
        let outside = dir.path().join("outside");
        let place = worktree.join(Image::DIRECTORY);
        std::fs::create_dir(&place).unwrap();
        for name in ["a.png", "a.png.part"] {
            std::os::unix::fs::symlink(&outside, place.join(name)).unwrap();
        }
        put(&worktree, &from, &[image("a.png")]).unwrap();
        assert!(!outside.exists());
        std::fs::remove_file(place.join("a.png")).unwrap();
        put(&worktree, &from, &[image("a.png")]).unwrap();
        assert!(!outside.exists());
        assert_eq!(std::fs::read_to_string(place.join("a.png")).unwrap(), "picture");
    }

    #[test]
    fn what_the_repository_has_there_is_not_written_over() {
        let (_dir, worktree, from) = world();
        let place = worktree.join(Image::DIRECTORY);
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join("a.png"), "theirs").unwrap();
        put(&worktree, &from, &[image("a.png")]).unwrap();
        assert_eq!(std::fs::read_to_string(place.join("a.png")).unwrap(), "theirs");
        assert_eq!(std::fs::read_to_string(place.join(".gitignore")).unwrap(), "*\n");
        std::fs::write(place.join(".gitignore"), "*\n!a.png\n").unwrap();
        let error = put(&worktree, &from, &[image("a.png")]).unwrap_err();
        assert!(error.to_string().contains(".gitignore"), "{error}");
    }
}
