//! Which names may become branches and references.
//!
//! The rules are those of `git check-ref-format --branch`, written here because a process costs more than the
//! comparison; a test holds the two against each other.

use crate::error::{Error, Result};

/// Refuses a name that git would not take for a branch, or would take for an option.
pub fn check_branch_name(name: &str) -> Result<()> {
    if is_reference_tail(name) && !name.starts_with('-') && name != "HEAD" && name != "@" {
        Ok(())
    } else {
        Err(Error::BadName { name: name.to_string() })
    }
}

/// Refuses a reference that is not ours to write.
pub(crate) fn check_own_reference(reference: &str) -> Result<()> {
    match reference.strip_prefix("refs/forge/") {
        Some(tail) if is_reference_tail(tail) => Ok(()),
        _ => Err(Error::BadReference { reference: reference.to_string() }),
    }
}

/// Refuses anything but a whole object name, so that no revision syntax gets through.
pub(crate) fn is_oid(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(crate) fn is_reference_tail(name: &str) -> bool {
    let forbidden = |byte: u8| byte <= b' ' || byte == 0x7f || b"~^:?*[\\".contains(&byte);
    !name.bytes().any(forbidden)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
        && name.split('/').all(|part| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock"))
}
