//! A copy of a program under the name of its content, so that replacing the program on disk does
//! not disturb the shims that run it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest, Sha256};

use crate::{Error, Launcher, Result};

/// Has the launcher's program copy itself to `bin_dir/forge-<hash>`, and returns that path.
///
/// The copy is written by a process of its own. Whatever this process forks meanwhile would inherit a file
/// that is open for writing and hold it until its exec, and the kernel runs no program that is held so.
pub fn install_launcher(launcher: &Launcher, bin_dir: &Path) -> Result<PathBuf> {
    let failed = |source: io::Error| Error::io("install", &launcher.program, source);
    let mut command = Command::new(&launcher.program);
    command.args(&launcher.args).arg("install").arg(bin_dir).stdin(Stdio::null());
    let output = command.output().map_err(failed)?;
    if output.status.success() {
        let mut path = output.stdout;
        path.truncate(path.trim_ascii_end().len());
        return Ok(PathBuf::from(OsString::from_vec(path)));
    }
    Err(failed(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned())))
}

/// Copies `source` to `bin_dir/forge-<hash>` and returns that path. A copy that is there is used.
pub fn install_binary(source: &Path, bin_dir: &Path) -> Result<PathBuf> {
    let (hash, len) = hash(source).map_err(|error| Error::io("read", source, error))?;
    let installed = bin_dir.join(format!("forge-{hash}"));
    if fs::metadata(&installed).is_ok_and(|there| there.is_file() && there.len() == len) {
        return Ok(installed);
    }
    fs::create_dir_all(bin_dir).map_err(|error| Error::io("create", bin_dir, error))?;
    // A name of its own for every copy: two servers may start at once.
    static COPIES: AtomicU32 = AtomicU32::new(0);
    let copy = COPIES.fetch_add(1, Ordering::Relaxed);
    let partial = bin_dir.join(format!(".forge-{hash}.{}.{copy}", std::process::id()));
    let result = copy_to(source, &partial).and_then(|()| fs::rename(&partial, &installed));
    if let Err(error) = result {
        // The partial copy is of no use to anybody; that it cannot be removed changes nothing.
        let _ = fs::remove_file(&partial);
        return Err(Error::io("install", installed, error));
    }
    Ok(installed)
}

fn hash(path: &Path) -> io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut block = vec![0; 256 * 1024];
    let mut len = 0;
    loop {
        let read = file.read(&mut block)?;
        if read == 0 {
            break;
        }
        digest.update(&block[..read]);
        len += read as u64;
    }
    let hash = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok((hash, len))
}

fn copy_to(source: &Path, target: &Path) -> io::Result<()> {
    let mut from = File::open(source)?;
    let mut to = OpenOptions::new().write(true).create_new(true).mode(0o700).open(target)?;
    io::copy(&mut from, &mut to)?;
    to.flush()?;
    to.set_permissions(fs::Permissions::from_mode(0o755))?;
    to.sync_all()
}
