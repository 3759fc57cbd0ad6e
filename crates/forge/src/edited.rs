//! A text that a person changes in an editor of theirs. Where there is no editor, or it says no, nothing happens.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::environment::{self, EDITOR, VISUAL};
use crate::exit::{Failure, Result};
use crate::private_file;

/// Shows a text in the person's editor and returns what became of it; none when it is the same.
pub(crate) fn edited(name: &str, text: &str) -> Result<Option<String>> {
    let editor = environment::text(VISUAL).or_else(|| environment::text(EDITOR)).ok_or_else(|| {
        Failure::invalid(format!("there is no editor; set {EDITOR}, or use `set` instead of `edit`"))
    })?;
    let secret = private_file::secret(8)
        .map_err(|error| Failure::away(format!("could not draw a random name: {error}")))?;
    let path = environment::temporary().join(format!("forge-{secret}-{name}"));
    let changed = change(&editor, &path, text);
    // Whatever happened, the copy is of no use any more; a system that cleans its temporary files does so later.
    let _ = fs::remove_file(&path);
    Ok(changed?.filter(|changed| changed != text))
}

fn change(editor: &str, path: &Path, text: &str) -> Result<Option<String>> {
    let failed = |what: &str, error: std::io::Error| {
        Failure::away(format!("could not {what} {}: {error}", path.display()))
    };
    private_file::replace(path, text.as_bytes()).map_err(|error| failed("write", error))?;
    // An editor may be given with options, as git takes it.
    let status = Command::new("sh").args(["-c", &format!("{editor} \"$1\""), editor]).arg(path).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => {
            return Err(Failure::conflict(format!("{editor} said no ({status}); nothing is changed")));
        }
        Err(error) => return Err(Failure::away(format!("could not start {editor}: {error}"))),
    }
    fs::read_to_string(path).map(Some).map_err(|error| failed("read", error))
}
