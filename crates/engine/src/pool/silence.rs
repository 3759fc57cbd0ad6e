//! Noticing that somebody touched a directory tree which nobody should touch.
//!
//! One inotify instance watches every directory of every tree. Whether a tree was touched is asked, never told:
//! the answer counts for the moment of the question. Where there is no inotify, or no room in it, a tree is not
//! watched, and its owner has to look at the files.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The most directories that are watched: the person's own programs need what the kernel has of it, too.
pub(crate) const MOST: usize = 16_384;

/// Watches trees.
#[derive(Debug)]
pub(crate) struct Silence {
    notices: Option<Notices>,
    most: usize,
    watched: Mutex<Watched>,
}

/// A tree that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Tree(u64);

#[derive(Debug, Default)]
struct Watched {
    last: u64,
    /// Which tree a watch belongs to.
    trees: HashMap<i32, Tree>,
    /// The watches of a tree, and whether one of them heard something.
    watches: HashMap<Tree, (Vec<i32>, bool)>,
}

impl Silence {
    /// Prepares to watch that many directories at most.
    pub(crate) fn new(most: usize) -> Self {
        Self { notices: Notices::open(), most, watched: Mutex::default() }
    }

    /// Watches a tree from now on; none when that cannot be done for the whole of it.
    pub(crate) fn watch(&self, top: &Path) -> Option<Tree> {
        let notices = self.notices.as_ref()?;
        let tree = {
            let mut watched = self.lock();
            watched.last += 1;
            let tree = Tree(watched.last);
            watched.watches.insert(tree, (Vec::new(), false));
            tree
        };
        if self.add_all(notices, tree, top).is_none() {
            self.drop_tree(&mut self.lock(), tree);
            return None;
        }
        Some(tree)
    }

    /// Says whether nothing was heard of a tree since it is watched.
    pub(crate) fn is_silent(&self, tree: Tree) -> bool {
        let mut watched = self.lock();
        self.hear(&mut watched);
        watched.watches.get(&tree).is_some_and(|(_, heard)| !heard)
    }

    /// Watches a tree no longer.
    pub(crate) fn forget(&self, tree: Tree) {
        let mut watched = self.lock();
        self.drop_tree(&mut watched, tree);
        self.hear(&mut watched);
    }

    /// Watches each directory before it looks into it, so that none can come to be unseen. Nothing is locked while the
    /// disk is read: a start may be asking about another tree.
    fn add_all(&self, notices: &Notices, tree: Tree, dir: &Path) -> Option<()> {
        {
            let mut watched = self.lock();
            if watched.trees.len() >= self.most {
                return None;
            }
            let watch = notices.add(dir)?;
            watched.trees.insert(watch, tree);
            watched.watches.get_mut(&tree)?.0.push(watch);
        }
        for entry in std::fs::read_dir(dir).ok()? {
            let entry = entry.ok()?;
            if entry.file_type().ok()?.is_dir() {
                self.add_all(notices, tree, &entry.path())?;
            }
        }
        Some(())
    }

    fn drop_tree(&self, watched: &mut Watched, tree: Tree) {
        let Some((watches, _)) = watched.watches.remove(&tree) else { return };
        for watch in watches {
            watched.trees.remove(&watch);
            if let Some(notices) = &self.notices {
                notices.remove(watch);
            }
        }
    }

    /// Takes in what was heard so far.
    fn hear(&self, watched: &mut Watched) {
        let Some(notices) = &self.notices else { return };
        let Watched { trees, watches, .. } = watched;
        let whole = notices.take(|watch| {
            if let Some((_, heard)) = trees.get(&watch).and_then(|tree| watches.get_mut(tree)) {
                *heard = true;
            }
        });
        if !whole {
            // Something was lost, and it may have been about any of them.
            watches.values_mut().for_each(|(_, heard)| *heard = true);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Notices(std::os::fd::OwnedFd);

#[cfg(target_os = "linux")]
impl Notices {
    fn open() -> Option<Self> {
        use rustix::fs::inotify::{CreateFlags, init};
        init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok().map(Self)
    }

    fn add(&self, dir: &Path) -> Option<i32> {
        use rustix::fs::inotify::{WatchFlags, add_watch};
        let changes = WatchFlags::MODIFY | WatchFlags::ATTRIB | WatchFlags::CREATE | WatchFlags::DELETE;
        let moves = WatchFlags::MOVE | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        add_watch(&self.0, dir, changes | moves | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW).ok()
    }

    fn remove(&self, watch: i32) {
        // A directory that was removed took its watch with it.
        let _ = rustix::fs::inotify::remove_watch(&self.0, watch);
    }

    /// Hands over the watches that heard something; says whether that was all there was.
    fn take(&self, mut heard: impl FnMut(i32)) -> bool {
        use rustix::fs::inotify::{ReadFlags, Reader};
        use rustix::io::Errno;
        let mut buffer = [std::mem::MaybeUninit::uninit(); 16 * 1024];
        let mut reader = Reader::new(&self.0, &mut buffer);
        let mut whole = true;
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => whole = false,
                Ok(event) => heard(event.wd()),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return whole,
                Err(_) => return false,
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct Notices;

#[cfg(not(target_os = "linux"))]
impl Notices {
    fn open() -> Option<Self> {
        None
    }

    fn add(&self, _dir: &Path) -> Option<i32> {
        None
    }

    fn remove(&self, _watch: i32) {}

    fn take(&self, _heard: impl FnMut(i32)) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::*;

    type Touch = fn(&Path);

    #[test]
    fn every_touch_of_a_tree_is_noticed_and_none_of_its_neighbour() {
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| dir.path().join(name);
        let touches: [(&str, Touch); 6] = [
            ("write", |top| fs::write(top.join("a/b/file"), "other").unwrap()),
            ("add", |top| fs::write(top.join("a/new"), "").unwrap()),
            ("delete", |top| fs::remove_file(top.join("a/b/file")).unwrap()),
            ("rename", |top| fs::rename(top.join("a/b"), top.join("a/c")).unwrap()),
            ("chmod", |top| {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(top.join("a/b/file"), fs::Permissions::from_mode(0o700)).unwrap();
            }),
            ("move away", |top| fs::rename(top, top.with_extension("away")).unwrap()),
        ];
        let silence = Silence::new(MOST);
        for (name, touch) in touches {
            let tops = [place(name), place(&format!("{name}-neighbour"))];
            let trees = tops.each_ref().map(|top| {
                fs::create_dir_all(top.join("a/b")).unwrap();
                fs::write(top.join("a/b/file"), "text").unwrap();
                silence.watch(top).unwrap()
            });
            fs::read(tops[0].join("a/b/file")).unwrap();
            assert!(silence.is_silent(trees[0]), "{name}: reading is no touch");
            touch(&tops[0]);
            assert!(!silence.is_silent(trees[0]), "{name}");
            assert!(silence.is_silent(trees[1]), "{name}");
            silence.forget(trees[0]);
            silence.forget(trees[1]);
        }
        let watched = silence.lock();
        assert!(watched.trees.is_empty() && watched.watches.is_empty());
    }

    #[test]
    fn a_tree_with_too_many_directories_is_not_watched_at_all() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
        assert!(Silence::new(4).watch(dir.path()).is_some());
        let silence = Silence::new(3);
        assert_eq!(silence.watch(dir.path()), None);
        assert!(silence.lock().trees.is_empty());
    }
}
