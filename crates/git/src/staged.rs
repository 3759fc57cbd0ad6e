//! Files and links that are whole before they get their name: who reads meanwhile sees the old one or the new one, and a
//! full disk or a killed process leaves the old one.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

/// Something that waits beside its place, under a name that nobody asks for. It goes unless it is put there.
#[derive(Debug)]
pub(crate) struct Staged<'a> {
    parent: &'a OwnedFd,
    name: OsString,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl<'a> Staged<'a> {
    pub(crate) fn file(parent: &'a OwnedFd, content: &[u8], mode: Mode) -> io::Result<Staged<'a>> {
        #[cfg(target_os = "linux")]
        if let Some(staged) = Self::nameless(parent, content, mode)? {
            return Ok(staged);
        }
        Self::named(parent, content, mode)
    }

    pub(crate) fn link(parent: &'a OwnedFd, target: &[u8]) -> io::Result<Staged<'a>> {
        let target = OsStr::from_bytes(target);
        let ((), staged) = Self::under_a_name(parent, |name| rustix::fs::symlinkat(target, parent, name))?;
        Ok(staged)
    }

    /// Puts it where it belongs, in place of the file or link that is there.
    pub(crate) fn put(&self, name: &OsStr) -> Result<(), Errno> {
        rustix::fs::renameat(self.parent, &self.name, self.parent, name)
    }

    /// A file that has no name while it is written, and is gone with a process that is killed; nothing where the file
    /// system has none of those.
    #[cfg(target_os = "linux")]
    fn nameless(parent: &'a OwnedFd, content: &[u8], mode: Mode) -> io::Result<Option<Staged<'a>>> {
        use std::os::fd::AsRawFd;

        let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
        let mut file = match rustix::fs::openat(parent, ".", flags, mode) {
            Ok(opened) => File::from(opened),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        file.write_all(content)?;
        // By its name among the open files, which needs no right that a person may lack.
        let open = format!("/proc/self/fd/{}", file.as_raw_fd());
        let linked = Self::under_a_name(parent, |name| {
            rustix::fs::linkat(rustix::fs::CWD, &open, parent, name, AtFlags::SYMLINK_FOLLOW)
        });
        match linked {
            Ok(((), staged)) => Ok(Some(staged)),
            Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::ROFS)) => Err(error.into()),
            // Nobody shows what is open, or links are not for this process or this file system.
            Err(_) => Ok(None),
        }
    }

    fn named(parent: &'a OwnedFd, content: &[u8], mode: Mode) -> io::Result<Staged<'a>> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = Self::under_a_name(parent, |name| rustix::fs::openat(parent, name, flags, mode));
        let (file, staged) = opened?;
        let mut file = File::from(file);
        file.write_all(content)?;
        // The file systems that come here may tell only now that there was no room.
        file.sync_data()?;
        Ok(staged)
    }

    /// Makes something under a name that is free.
    fn under_a_name<T>(
        parent: &'a OwnedFd,
        make: impl Fn(&OsStr) -> Result<T, Errno>,
    ) -> Result<(T, Staged<'a>), Errno> {
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!(".forge-staged-{}-{number}", process::id()));
            match make(&name) {
                Ok(made) => return Ok((made, Staged { parent, name })),
                // A dead process that had our id left one.
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        // Once it was put in its place, nothing has this name.
        let _gone = rustix::fs::unlinkat(self.parent, &self.name, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    /// A disk of 256 KB in memory.
    struct SmallDisk(tempfile::TempDir);

    impl SmallDisk {
        fn mount() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let mut mount = Command::new("mount");
            mount.args(["-t", "tmpfs", "-o", "size=256k", "forge-test"]).arg(dir.path());
            let output = mount.output().unwrap();
            let why = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "this test must mount a filesystem, which takes root: {why}");
            Self(dir)
        }
    }

    impl Drop for SmallDisk {
        fn drop(&mut self) {
            let _gone = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
        }
    }

    fn open(directory: &Path) -> OwnedFd {
        fs::File::open(directory).unwrap().into()
    }

    fn names(directory: &Path) -> Vec<OsString> {
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

    #[test]
    fn a_full_disk_leaves_the_old_file_and_nothing_beside_it() {
        let disk = SmallDisk::mount();
        let file = disk.0.path().join("file");
        fs::write(&file, "old").unwrap();
        let parent = open(disk.0.path());
        let content = vec![b'x'; 512 * 1024];
        for staged in [Staged::file(&parent, &content, MODE), Staged::named(&parent, &content, MODE)] {
            assert_eq!(staged.unwrap_err().kind(), io::ErrorKind::StorageFull);
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(names(disk.0.path()), ["file"]);
    }

    #[test]
    fn a_reader_finds_the_old_file_or_the_new_one_at_any_moment() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        let old_and_new = ["old".repeat(50_000), "new".repeat(50_000)];
        fs::write(&file, &old_and_new[0]).unwrap();
        let parent = open(dir.path());
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for round in 0..200 {
                    let content = old_and_new[round % 2].as_bytes();
                    let staged = match round % 3 {
                        0 => Staged::named(&parent, content, MODE),
                        _ => Staged::file(&parent, content, MODE),
                    };
                    staged.unwrap().put(OsStr::new("file")).unwrap();
                }
            });
            while !writer.is_finished() {
                let seen = fs::read_to_string(&file).unwrap();
                assert!(old_and_new.contains(&seen), "{} bytes", seen.len());
            }
        });
        assert_eq!(names(dir.path()), ["file"]);
    }
}
