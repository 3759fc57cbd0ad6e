//! Opening a data directory: nobody else may have it, its database is brought up to date, and what an
//! earlier server left behind is taken up.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forge_model::AttemptId;
use rustix::fs::FlockOperation;

use crate::background::blocking;
use crate::error::{io_error, whole};
use crate::github::{self, GitHubOptions};
use crate::identity::Identity;
use crate::older_place::OlderPlace;
use crate::paths::Paths;
use crate::seam::Seam;
use crate::store::Store;
use crate::{Engine, Error, Inner, Result, database, diffs, orphans, reserve, roots};

/// How long a dead server's lock may be held by what it was just forking, which has it until its exec.
const INHERITED: Duration = Duration::from_secs(2);

/// How an engine is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data directory.
    pub home: PathBuf,
    /// Where worktrees go; none means where the settings say, or `worktrees` in the data directory.
    pub worktrees: Option<PathBuf>,
    /// Where tools of older versions look for worktrees: when it is free or ours, each has a link there.
    pub older_place: Option<PathBuf>,
    /// The forge binary, which plays the shim and the scripted agent.
    pub forge: PathBuf,
    pub seam: Seam,
    pub agents: AgentEnvironment,
    /// Where people reach this server from elsewhere, for links in what is sent to them.
    pub public_url: Option<String>,
    pub github: GitHubOptions,
    /// The person's home directory: they may look around in it, `~` means it, and their agents keep their own
    /// settings there. With none, only projects are shown.
    pub user_home: Option<PathBuf>,
    /// Where an agent keeps its settings when the person has moved them, by the agent's name.
    pub agent_dirs: BTreeMap<&'static str, PathBuf>,
    /// Worktrees in the root that belong to no attempt are cleaned up, and not only told.
    pub clean_strays: bool,
    /// A directory that is a copy of another becomes its successor, if the other is gone.
    pub adopt: bool,
}

/// What agents find in their environment besides what the server has: a variable for each attempt's own token,
/// say. The engine does not know what any of it means.
#[derive(Clone, Default)]
pub struct AgentEnvironment(Option<Arc<Variables>>);

type Variables = dyn Fn(AttemptId) -> Vec<(String, String)> + Send + Sync;

impl AgentEnvironment {
    /// Asks `variables` at every start of an agent.
    pub fn new(variables: impl Fn(AttemptId) -> Vec<(String, String)> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(variables)))
    }

    pub(crate) fn of(&self, attempt: AttemptId) -> Vec<(String, String)> {
        self.0.as_ref().map_or_else(Vec::new, |variables| variables(attempt))
    }
}

impl std::fmt::Debug for AgentEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The values may be secrets.
        f.debug_tuple("AgentEnvironment").field(&self.0.is_some()).finish()
    }
}

impl Engine {
    /// Opens a data directory and takes up what an earlier server left behind.
    pub async fn open(options: Options) -> Result<Engine> {
        forge_git::with_each_child(forge_process::give_back_descriptors);
        let (lock, store, git, mut paths) = blocking({
            let options = options.clone();
            move || -> Result<_> {
                private_dir(&options.home)?;
                let home = options.home.canonicalize().map_err(io_error("open", &options.home))?;
                let (given, user_home) = (options.worktrees.as_deref(), options.user_home.as_deref());
                let worktrees = roots::present(&home, given, user_home)?;
                let paths = Paths { home, roots: vec![worktrees.clone()], worktrees };
                let lock = lock(&paths)?;
                if database::is_full(&paths.home) {
                    reserve::release(&paths.home);
                }
                let git = orphans::marked_git(&paths.home)?;
                if let Some(most) = options.seam.limit("git") {
                    git.limit_calls(most);
                }
                orphans::wait(&paths.home);
                private_dir(&paths.runs())?;
                private_dir(&paths.trash())?;
                let store = Store::open(&paths.home, crate::store::now().millis())
                    .map_err(|error| Error::unavailable(whole(&error)))?;
                close_to_others(&paths.home);
                Ok((lock, store, git, paths))
            }
        })
        .await??;
        let identity = Identity::settle(&store, &paths, options.adopt).await?;
        match &identity.copy {
            Some(why) => store.shut(why.clone()),
            None => paths.roots = roots::remember(&store, &paths).await?,
        }
        let older_place = options.older_place.map(|dir| OlderPlace::new(dir, paths.roots.clone()));
        let watcher = forge_process::Watcher::start()
            .map_err(|error| Error::unavailable(format!("cannot follow files: {}", whole(&error))))?;
        let engine = Engine {
            inner: Arc::new(Inner {
                diffs: diffs::Diffs::open(&paths),
                paths,
                store,
                git,
                repos: Default::default(),
                silent: Default::default(),
                trusted: Default::default(),
                watcher,
                shim: tokio::sync::OnceCell::new(),
                forge: options.forge,
                seam: options.seam,
                agents: options.agents,
                public_url: options.public_url,
                github: github::Host::new(options.github),
                user_home: options.user_home,
                agent_dirs: options.agent_dirs,
                handles: Default::default(),
                calls: Default::default(),
                calm: Default::default(),
                listing: Default::default(),
                reflogs: Default::default(),
                aside: Default::default(),
                line: Default::default(),
                limited: Default::default(),
                last_limits: Default::default(),
                owed: Default::default(),
                landings: Default::default(),
                disk: Default::default(),
                demo: Default::default(),
                troubles: Default::default(),
                crowds: Default::default(),
                entries: Default::default(),
                kept_tasks: Default::default(),
                older_place,
                pool: Default::default(),
                pulse: Default::default(),
                recent: Default::default(),
                files: Default::default(),
                images: Default::default(),
                importing: Default::default(),
                clean_strays: options.clean_strays,
                sweeping: Default::default(),
                returning: Default::default(),
                histories: Default::default(),
                warnings: Default::default(),
                identity,
                _lock: lock,
            }),
        };
        engine.look_at_room().await;
        engine.keep_checking();
        if engine.copy().is_some() {
            // What is recorded here is another's to go on with.
            return Ok(engine);
        }
        engine.read_trust().await?;
        engine.read_limits().await?;
        engine.reconcile().await?;
        engine.link_worktrees().await?;
        let warm = engine.clone();
        // The copy is made ahead of the first start; a failure is told to whoever starts something.
        engine.aside(async move {
            let _ = warm.shim().await;
        });
        engine.keep_clean();
        engine.keep_sweeping();
        engine.keep_sending();
        engine.keep_polling();
        engine.keep_starting();
        engine.keep_pool();
        engine.keep_resuming();
        engine.keep_watching();
        engine.keep_telling();
        engine.mend_aside();
        engine.keep_keeping();
        Ok(engine)
    }
}

/// Makes a directory that only its owner may look into.
pub(crate) fn private_dir(path: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io_error("create", path))
}

/// Closes the files that hold keys to others, in case that somebody opens the directory around them. Older versions,
/// and hands, have left them open.
fn close_to_others(home: &Path) {
    for name in ["forge.db", "forge.db-wal", "forge.db-shm", "config.json", "profiles.json"] {
        let path = home.join(name);
        let Ok(found) = std::fs::symlink_metadata(&path) else { continue };
        let mode = found.permissions().mode();
        if !found.is_file() || mode & 0o077 == 0 {
            continue;
        }
        let closed = std::fs::set_permissions(&path, Permissions::from_mode(mode & 0o700));
        if let Err(error) = closed {
            tracing::warn!("{} may be read by others, and cannot be closed: {error}", path.display());
        }
    }
}

/// What keeps others from a data directory for as long as it is held.
#[derive(Debug)]
pub(crate) struct Lock {
    /// The directory itself: a file in it can be removed, and then another one be locked.
    _directory: File,
    /// By this one servers of older versions know that it is taken. None on a disk that is so full that it cannot be made.
    _file: Option<File>,
}

/// Takes the lock of a data directory, or says who has it.
fn lock(paths: &Paths) -> Result<Lock> {
    let home = &paths.home;
    let directory = File::open(home).map_err(io_error("open", home))?;
    let path = paths.lock();
    let opened =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    let mut file = match opened {
        Ok(file) => Some(file),
        Err(error) if error.kind() == ErrorKind::StorageFull => None,
        Err(error) => return Err(io_error("open", &path)(error)),
    };
    let mut holder = String::new();
    // The pid tells a holder from what a dead one left, and makes the sentence better.
    let _ = file.as_mut().map(|file| file.read_to_string(&mut holder));
    let try_both = || try_lock_directory(&directory) && file.as_ref().is_none_or(try_lock);
    let deadline = Instant::now() + INHERITED;
    let mut locked = try_both();
    while !locked && !is_alive(holder.trim()) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
        locked = try_both();
    }
    if !locked {
        let holder = match holder.trim() {
            "" => String::new(),
            pid => format!(" (process {pid})"),
        };
        return Err(Error::conflict(format!(
            "another Forge{holder} is using {}; stop it with `forge serve --stop`, or give this one another \
             directory with --data",
            home.display()
        ))
        .with_code("locked"));
    }
    if let Some(file) = &mut file {
        let pid = std::process::id().to_string();
        let written =
            file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(pid.as_bytes()));
        if let Err(error) = written {
            // The lock is held; only the sentence of whoever is refused is worse without the pid.
            tracing::warn!("could not write {}: {error}", path.display());
        }
    }
    Ok(Lock { _directory: directory, _file: file })
}

fn try_lock(file: &File) -> bool {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// NFS cannot lock a directory; the lock on the file must do there.
fn try_lock_directory(directory: &File) -> bool {
    let locked = rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive);
    !matches!(locked, Err(rustix::io::Errno::WOULDBLOCK))
}

fn is_alive(pid: &str) -> bool {
    let pid = pid.parse().ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}
