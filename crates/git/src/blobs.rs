//! The contents of many blobs, read a bounded amount at a time.

use crate::call::Call;
use crate::error::Failure;

/// How many bytes are read at once, unless one blob alone is larger.
const AT_ONCE: u64 = 32 * 1024 * 1024;

/// Reads blobs in their order and gives each to `take`. `call` makes a call of `cat-file` where they are.
pub(crate) fn read<E: From<Failure>>(
    call: impl Fn() -> Call,
    oids: &[&str],
    mut take: impl FnMut(usize, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    if oids.is_empty() {
        return Ok(());
    }
    let answer = call().arg("--batch-check=%(objectsize)").input(lines(oids)).run()?;
    let text = String::from_utf8_lossy(&answer);
    let sizes: Option<Vec<u64>> = text.lines().map(|line| line.parse().ok()).collect();
    let Some(sizes) = sizes.filter(|sizes| sizes.len() == oids.len()) else {
        return Err(Failure::answer("cat-file", &text).into());
    };
    let mut begin = 0;
    while begin < oids.len() {
        let (mut end, mut bytes) = (begin, 0);
        while end < oids.len() && (end == begin || bytes + sizes[end] <= AT_ONCE) {
            bytes += sizes[end];
            end += 1;
        }
        let answer = call().arg("--batch").input(lines(&oids[begin..end])).run()?;
        let mut rest = answer.as_slice();
        for (index, size) in sizes.iter().enumerate().take(end).skip(begin) {
            let size = usize::try_from(*size).unwrap_or(usize::MAX);
            let header = rest.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let content = header.and_then(|from| rest.get(from..from.checked_add(size)?));
            let (Some(from), Some(content)) = (header, content) else {
                return Err(Failure::answer("cat-file", "less than it promised").into());
            };
            take(index, content)?;
            rest = rest.get(from + size + 1..).unwrap_or_default();
        }
        begin = end;
    }
    Ok(())
}

fn lines(oids: &[&str]) -> Vec<u8> {
    oids.iter().flat_map(|oid| [oid.as_bytes(), b"\n"]).collect::<Vec<_>>().concat()
}
