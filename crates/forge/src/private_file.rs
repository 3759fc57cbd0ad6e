//! Small files that only their owner may read, written whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Puts a file in place of whatever has that name. A link there is replaced, never followed.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}", std::process::id()));
    let draft = path.with_file_name(name);
    // A draft of that name can only be left over from a dead process that had our id.
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    let placed = written.and_then(|()| fs::rename(&draft, path));
    if placed.is_err() {
        // What matters is why it was not placed; the draft is at worst replaced next time.
        let _ = fs::remove_file(&draft);
    }
    placed
}

/// Draws a secret of `bytes` random bytes, in hex.
pub(crate) fn secret(bytes: usize) -> io::Result<String> {
    use std::io::Read;
    let mut drawn = vec![0; bytes];
    fs::File::open("/dev/urandom")?.read_exact(&mut drawn)?;
    Ok(drawn.iter().map(|byte| format!("{byte:02x}")).collect())
}
