//! Objects that are written apart from the repository's store, and reach it as one pack.
//!
//! `git prune` removes whatever no reference leads to, however new it is, and git does not write again what lies in
//! the store already, although it may be about to be removed. So what we make is written into a directory of its own.
//! A pack is made of it and of everything that it leads to and the repository does not hold by a reference. The pack
//! has a `.keep` file, which `git repack` respects, until a reference leads to it; `git prune` removes no packs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::call::{Call, line};
use crate::checkout::Checkout;
use crate::error::{Failure, Result, io_error};
use crate::names::is_oid;
use crate::scratch::Scratch;

/// What our `.keep` files say, for whoever finds one.
const KEEP: &str = "forge: until a reference leads to this pack\n";

/// A `.keep` file of ours that is older than this was left by a process that is dead.
const FORGOTTEN: Duration = Duration::from_secs(24 * 60 * 60);

/// Packs below this size are small.
const SMALL: u64 = 1_000_000;

/// So many small packs become one. Git itself packs everything anew at 50.
const MANY: usize = 24;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A directory for objects, in front of a repository's store.
#[derive(Debug)]
pub(crate) struct Quarantine<'a> {
    checkout: &'a Checkout,
    directory: PathBuf,
}

/// A pack in the repository's store, which no `git repack` removes while this lives.
#[derive(Debug)]
pub(crate) struct Admitted {
    keep: PathBuf,
}

/// Commits that are kept while this lives, whether a reference leads to them or not.
#[derive(Debug)]
pub struct Held {
    pub(crate) _pack: Option<Admitted>,
}

impl<'a> Quarantine<'a> {
    /// Makes one in a directory that is `scratch`'s.
    pub(crate) fn make(checkout: &'a Checkout, scratch: &Scratch) -> Result<Quarantine<'a>> {
        let directory = scratch.path().join("objects");
        let mut alternates = b"\"".to_vec();
        for byte in checkout.common_dir.join("objects").as_os_str().as_encoded_bytes() {
            match byte {
                b'"' | b'\\' => alternates.extend([b'\\', *byte]),
                b'\n' => alternates.extend(b"\\n"),
                byte => alternates.push(*byte),
            }
        }
        alternates.extend(b"\"\n");
        scratch.write("objects/info/alternates", alternates)?;
        Ok(Quarantine { checkout, directory })
    }

    /// Lets a call write its objects here.
    pub(crate) fn catch(&self, call: Call) -> Call {
        // They are compressed when the pack is made, and that is soon.
        call.env("GIT_OBJECT_DIRECTORY", &self.directory).setting("core.looseCompression", "0")
    }

    /// Brings into the repository's store all that `new` leads to and `known` does not. It fails when one of these
    /// objects is not there any more. `new` and `known` are revisions; those in `known` must be held by references.
    pub(crate) fn admit(&self, new: &[&str], known: &[&str]) -> Result<Option<Admitted>, Failure> {
        let mut input = new.join("\n");
        input.push_str("\n--not\n");
        for known in known {
            input.push_str(known);
            input.push('\n');
        }
        self.pack(&["--revs", "--sparse"], input)
    }

    /// Brings these objects into the repository's store, and nothing that they lead to.
    pub(crate) fn admit_only(&self, objects: &[String]) -> Result<Option<Admitted>, Failure> {
        self.pack(&[], objects.join("\n") + "\n")
    }

    fn pack(&self, options: &[&str], input: String) -> Result<Option<Admitted>, Failure> {
        let mut call = self.catch(pack_objects(self.checkout));
        for option in options {
            call = call.arg(option);
        }
        // In a partial clone, what nobody touched may not be here; the promise of a remote keeps it whole.
        if is_partial_clone(&self.checkout.common_dir) {
            call = call.arg("--missing=allow-any");
        }
        let base = self.directory.join("made");
        let name = call.arg(&base).input(input.into_bytes()).run().map(line)?;
        if name.is_empty() {
            return Ok(None);
        }
        if !is_oid(&name) {
            return Err(Failure::answer("pack-objects", &name));
        }
        let place = place(self.checkout, &name);
        let admitted = Admitted { keep: place.with_extension("keep") };
        let stored = store(&base, &name, &place, Some(&admitted));
        stored.map_err(|(path, source)| Failure::Store { path, source })?;
        Ok(Some(admitted))
    }
}

impl Admitted {
    /// Tells whether the pack is in the store.
    pub(crate) fn stands(&self) -> bool {
        ["pack", "idx"].iter().all(|kind| self.keep.with_extension(kind).exists())
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        // One that stays behind is removed when small packs are gathered.
        let _left = fs::remove_file(&self.keep);
    }
}

fn pack_objects(checkout: &Checkout) -> Call {
    // What is new is small as a rule: a search for deltas would take longer than it saves, and git itself makes them
    // when it packs everything.
    let call = checkout.refs("pack-objects").args(["-q", "--non-empty", "--window=0", "--delta-base-offset"]);
    call.setting("pack.compression", "1")
        .setting("pack.threads", "1")
        .setting("pack.packSizeLimit", "0")
        .setting("pack.writeReverseIndex", "false")
}

/// A place for a pack that nobody has. Packs with the same content have the same name in git, and one of them could be
/// removed while we rely on the other.
fn place(checkout: &Checkout, name: &str) -> PathBuf {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let nanoseconds = u64::try_from(since.as_nanos()).unwrap_or_default();
    let number = NEXT.fetch_add(1, Ordering::Relaxed) & 0xffff;
    let own = format!("{nanoseconds:016x}{:08x}{number:04x}", process::id());
    packs(checkout).join(format!("pack-{own}{}.pack", &name[own.len()..]))
}

fn packs(checkout: &Checkout) -> PathBuf {
    checkout.common_dir.join("objects/pack")
}

/// Moves a pack into the store. Git sees it when its index is there.
fn store(
    base: &Path,
    name: &str,
    place: &Path,
    keep: Option<&Admitted>,
) -> Result<(), (PathBuf, std::io::Error)> {
    let told = |path: &Path| {
        let path = path.to_path_buf();
        move |error| (path, error)
    };
    if let Some(directory) = place.parent() {
        fs::create_dir_all(directory).map_err(told(directory))?;
    }
    if let Some(Admitted { keep }) = keep {
        fs::write(keep, KEEP).map_err(told(keep))?;
    }
    for kind in ["pack", "idx"] {
        let mut from = base.as_os_str().to_os_string();
        from.push(format!("-{name}.{kind}"));
        let (from, to) = (PathBuf::from(from), place.with_extension(kind));
        match fs::rename(&from, &to) {
            Ok(()) => {}
            // The store is on another file system.
            Err(error) if error.kind() == ErrorKind::CrossesDevices => {
                // A name that git takes for something half-written.
                let half = to.with_file_name(format!("tmp_forge_{name}.{kind}"));
                let copied = fs::copy(&from, &half).and_then(|_| fs::rename(&half, &to));
                if copied.is_err() {
                    let _left = fs::remove_file(&half);
                }
                copied.map_err(told(&to))?;
            }
            Err(error) => return Err(told(&to)(error)),
        }
    }
    Ok(())
}

/// Makes one pack of many small ones, which would make every call of git slower. What they hold stays, to the last
/// object. Does nothing as long as they are few.
pub(crate) fn gather(checkout: &Checkout) -> Result<()> {
    let directory = packs(checkout);
    if small(&directory, SystemTime::now()).len() < MANY {
        return Ok(());
    }
    checkout.queued(|| {
        let small = small(&directory, SystemTime::now());
        if small.len() < MANY {
            return Ok(());
        }
        let scratch = Scratch::make(&checkout.git_dir)?;
        let base = scratch.path().join("gathered");
        let mut input = Vec::new();
        for pack in &small {
            input.extend(pack.file_name().unwrap_or_default().as_encoded_bytes());
            input.push(b'\n');
        }
        let act = || format!("gather the small packs in {}", directory.display());
        let quarantine = Quarantine::make(checkout, &scratch)?;
        let call = quarantine.catch(pack_objects(checkout)).arg("--stdin-packs").arg(&base).gently();
        let name = call.input(input).run().map(line).map_err(|failure| failure.during(act()))?;
        if !is_oid(&name) {
            return Err(Failure::answer("pack-objects", &name).during(act()));
        }
        let place = place(checkout, &name);
        store(&base, &name, &place, None).map_err(|(path, error)| io_error("write", &path)(error))?;
        for pack in &small {
            for kind in ["idx", "rev", "pack"] {
                // What stays behind is in the gathered pack too.
                let _left = fs::remove_file(pack.with_extension(kind));
            }
        }
        Ok(())
    })
}

/// Lists the small packs that nothing else has to do with.
fn small(directory: &Path, now: SystemTime) -> Vec<PathBuf> {
    // It says what is in which pack, so that none may go without it.
    if directory.join("multi-pack-index").exists() || directory.join("multi-pack-index.d").exists() {
        return Vec::new();
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let names: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    let mut small = Vec::new();
    for path in names.iter().filter(|path| path.extension().is_some_and(|kind| kind == "pack")) {
        let with = |kind: &str| names.contains(&path.with_extension(kind));
        let is_special = ["promisor", "mtimes", "bitmap"].into_iter().any(with);
        // Asked anew: the list may be from before it was there.
        let keep = path.with_extension("keep");
        if !with("idx") || is_special || (keep.exists() && !forget(&keep, now)) {
            continue;
        }
        if fs::metadata(path).is_ok_and(|found| found.len() < SMALL) {
            small.push(path.clone());
        }
    }
    small
}

/// Removes a `.keep` file of ours that was left behind, and says whether it is gone.
fn forget(keep: &Path, now: SystemTime) -> bool {
    let age = fs::metadata(keep).and_then(|found| found.modified()).ok();
    let is_old = age.and_then(|at| now.duration_since(at).ok()).is_some_and(|age| age > FORGOTTEN);
    is_old && fs::read_to_string(keep).is_ok_and(|text| text == KEEP) && fs::remove_file(keep).is_ok()
}

pub(crate) fn is_partial_clone(common_dir: &Path) -> bool {
    let packs = fs::read_dir(common_dir.join("objects/pack"));
    packs.is_ok_and(|packs| {
        packs.flatten().any(|pack| pack.path().extension().is_some_and(|kind| kind == "promisor"))
    })
}
