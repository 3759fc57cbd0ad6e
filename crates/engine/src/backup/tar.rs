//! An archive that every `tar` reads: headers of 512 bytes, files filled up to the same. Only plain files, for their
//! owner alone.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;

use super::read_full;

const BLOCK: usize = 512;
/// How much of a file is held at once; whole blocks.
const PIECE: usize = 256 * 1024;

pub(super) struct Archive<W> {
    to: W,
}

impl<W: Write> Archive<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to }
    }

    /// Adds a file as long as it is now. A log grows while it is read: what comes later is not in it.
    pub(super) fn file(&mut self, name: &str, file: &mut File) -> io::Result<()> {
        let found = file.metadata()?;
        let length = found.len();
        self.to.write_all(&header(name, length, found.mtime().max(0).unsigned_abs())?)?;
        let mut piece = vec![0; PIECE];
        let mut left = length;
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            let count = read_full(&mut file.take(left), &mut piece[..wanted])?;
            // A file that became shorter is filled up: its length is told already.
            piece[count..wanted].fill(0);
            let filled = wanted.next_multiple_of(BLOCK);
            piece[wanted..filled].fill(0);
            self.to.write_all(&piece[..filled])?;
            left -= wanted as u64;
        }
        Ok(())
    }

    /// Writes the end, without which it is no archive.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.to.write_all(&[0; 2 * BLOCK])
    }
}

fn header(name: &str, length: u64, modified: u64) -> io::Result<[u8; BLOCK]> {
    let mut block = [0; BLOCK];
    let (prefix, name) = split(name).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidFilename, format!("the name {name} is too long"))
    })?;
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, b"0000600\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    match length < 1 << 33 {
        true => put(124, format!("{length:011o}\0").as_bytes()),
        // Beyond eight gigabytes a length is binary, which its first bit tells.
        false => {
            put(124, &[0x80, 0, 0, 0]);
            put(128, &length.to_be_bytes());
        }
    }
    put(136, format!("{modified:011o}\0").as_bytes());
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    put(345, prefix.as_bytes());
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(block)
}

/// A long name is cut at a slash.
fn split(name: &str) -> Option<(&str, &str)> {
    if name.len() <= 100 {
        return Some(("", name));
    }
    name.match_indices('/')
        .map(|(at, _)| (&name[..at], &name[at + 1..]))
        .find(|(prefix, rest)| prefix.len() <= 155 && rest.len() <= 100)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_is_archived_is_what_tar_takes_out() {
        let dir = tempfile::tempdir().unwrap();
        let long = format!("{}/{}", "d".repeat(90), "f".repeat(40));
        let mut files = vec![("empty".to_string(), Vec::new()), (long, vec![7; 512])];
        files.push(("large".into(), (0..PIECE * 2 + 3).map(|at| at as u8).collect()));
        let mut archive = Archive::new(Vec::new());
        for (name, bytes) in &files {
            let path = dir.path().join("source");
            std::fs::write(&path, bytes).unwrap();
            archive.file(name, &mut File::open(&path).unwrap()).unwrap();
        }
        archive.finish().unwrap();
        std::fs::write(dir.path().join("all.tar"), &archive.to).unwrap();
        let out = dir.path().join("out");
        std::fs::create_dir(&out).unwrap();
        let taken =
            Command::new("tar").arg("-xf").arg(dir.path().join("all.tar")).arg("-C").arg(&out).status();
        assert!(taken.unwrap().success());
        for (name, bytes) in &files {
            assert!(std::fs::read(out.join(name)).unwrap() == *bytes, "{name}");
        }
    }

    #[test]
    fn a_name_that_fits_nowhere_is_refused() {
        assert!(header(&"x".repeat(101), 0, 0).is_err());
    }
}
