//! Links to worktrees in the place where older tools look for them.
//!
//! The place is used when it is free or ours: when it is not there yet, or is a directory of this user's that holds
//! nothing but links into our own worktree roots. Then every worktree has a link there, by its own name. Nothing there
//! is ever replaced, and nothing removed but our own links whose worktrees are gone. None of it is worth failing for.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

use crate::background::blocking;
use crate::store::lodgings;
use crate::{Engine, Result};

/// The place, and the roots that its links lead into.
#[derive(Debug, Clone)]
pub(crate) struct OlderPlace {
    dir: PathBuf,
    roots: Vec<PathBuf>,
}

impl OlderPlace {
    pub(crate) fn new(dir: PathBuf, roots: Vec<PathBuf>) -> Self {
        Self { dir, roots }
    }

    /// Makes the links of worktrees, unless the place is somebody else's. Blocks.
    pub(crate) fn link(&self, worktrees: &[PathBuf]) {
        if worktrees.is_empty() || !self.take() {
            return;
        }
        for worktree in worktrees {
            let Some(name) = worktree.file_name() else { continue };
            match symlink(worktree, self.dir.join(name)) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    tracing::warn!("{} has no link in {}: {error}", worktree.display(), self.dir.display());
                }
                // What has that name is our own link already, for nothing else is there.
                _ => {}
            }
        }
    }

    /// Removes our own links whose worktrees are gone. Blocks.
    pub(crate) fn tidy(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let link = entry.path();
            if self.is_our_link(&link) && !link.exists() {
                // Somebody else may have removed it, which is as good.
                let _gone = fs::remove_file(&link);
            }
        }
    }

    /// Says whether the place is ours to use, and makes it when there is none.
    fn take(&self) -> bool {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir);
        made.is_ok()
            && self.is_private()
            && fs::read_dir(&self.dir).is_ok_and(|entries| {
                entries.into_iter().all(|entry| entry.is_ok_and(|entry| self.is_our_link(&entry.path())))
            })
    }

    /// Says whether nobody else can put anything there: it and what it is in belong to this user alone.
    fn is_private(&self) -> bool {
        let own = rustix::process::geteuid().as_raw();
        [Some(self.dir.as_path()), self.dir.parent()].into_iter().flatten().all(|dir| {
            let found = fs::symlink_metadata(dir);
            found.is_ok_and(|meta| meta.is_dir() && meta.uid() == own && meta.mode() & 0o022 == 0)
        })
    }

    fn is_our_link(&self, path: &Path) -> bool {
        let Ok(target) = fs::read_link(path) else { return false };
        let is_below = |root: &PathBuf| target.parent() == Some(root.as_path());
        self.roots.iter().any(is_below) && target.file_name() == path.file_name()
    }
}

impl Engine {
    /// Gives a worktree its link. Nobody waits for it.
    pub(crate) fn link_worktree(&self, worktree: PathBuf) {
        if let Some(place) = self.inner.older_place.clone() {
            tokio::task::spawn_blocking(move || place.link(&[worktree]));
        }
    }

    /// Gives every worktree that there is its link, and removes those whose worktrees are gone.
    pub(crate) async fn link_worktrees(&self) -> Result<()> {
        let Some(place) = self.inner.older_place.clone() else { return Ok(()) };
        let known = self.inner.store.read(lodgings::linked).await?;
        blocking(move || {
            place.tidy();
            let there: Vec<PathBuf> = known.into_iter().filter(|worktree| worktree.is_dir()).collect();
            place.link(&there);
        })
        .await
    }

    /// Removes the links of worktrees that are gone.
    pub(crate) async fn drop_dead_links(&self) -> Result<()> {
        let Some(place) = self.inner.older_place.clone() else { return Ok(()) };
        blocking(move || place.tidy()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scene {
        dir: tempfile::TempDir,
        place: OlderPlace,
    }

    impl Scene {
        fn new() -> Scene {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().join("root");
            fs::create_dir_all(root.join("one")).unwrap();
            let place = OlderPlace::new(dir.path().join("older/worktrees"), vec![root]);
            Scene { dir, place }
        }

        fn worktree(&self, name: &str) -> PathBuf {
            self.dir.path().join("root").join(name)
        }
    }

    #[test]
    fn a_free_place_is_used_and_a_link_goes_when_its_worktree_is_gone() {
        let scene = Scene::new();
        let link = scene.place.dir.join("one");
        for _ in 0..2 {
            scene.place.link(&[scene.worktree("one")]);
            assert_eq!(fs::read_link(&link).unwrap(), scene.worktree("one"));
        }
        scene.place.tidy();
        assert!(link.exists());
        fs::remove_dir(scene.worktree("one")).unwrap();
        scene.place.tidy();
        assert!(fs::symlink_metadata(&link).is_err());
    }

    #[test]
    fn a_place_with_anything_of_somebody_elses_is_left_as_it_is() {
        type Taken = fn(&Path);
        let cases: [(&str, Taken); 4] = [
            ("a worktree of an older Forge", |dir| fs::create_dir(dir.join("one")).unwrap()),
            ("a file", |dir| fs::write(dir.join("note"), "theirs").unwrap()),
            ("a link elsewhere", |dir| symlink("/elsewhere/one", dir.join("one")).unwrap()),
            ("rights for others", |dir| {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(dir, fs::Permissions::from_mode(0o777)).unwrap();
            }),
        ];
        for (what, taken) in cases {
            let scene = Scene::new();
            fs::create_dir_all(&scene.place.dir).unwrap();
            taken(&scene.place.dir);
            let list = || -> Vec<_> {
                let entries = fs::read_dir(&scene.place.dir).unwrap().flatten();
                entries.map(|entry| (entry.file_name(), fs::read_link(entry.path()).ok())).collect()
            };
            let before = list();
            scene.place.link(&[scene.worktree("one")]);
            scene.place.tidy();
            assert_eq!(list(), before, "{what}");
        }
    }

    #[test]
    fn a_place_that_is_itself_a_link_is_not_used() {
        let scene = Scene::new();
        let elsewhere = scene.dir.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::create_dir(scene.dir.path().join("older")).unwrap();
        symlink(&elsewhere, &scene.place.dir).unwrap();
        scene.place.link(&[scene.worktree("one")]);
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }
}
