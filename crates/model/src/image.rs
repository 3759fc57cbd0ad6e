//! An image: a picture that a person gave, to be looked at by agents.

use crate::{ImageId, Time};

/// The directory in a worktree that pictures are put into, and that prompts name them by.
const DIRECTORY: &str = ".forge-images";

/// A picture. The same bytes are the same image, whoever gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub id: ImageId,
    /// The name of its file, made of its hash.
    pub file: String,
    /// What the person called it.
    pub original_name: String,
    pub mime_type: Option<String>,
    pub size_bytes: i64,
    /// SHA-256 of the bytes, in hex.
    pub hash: String,
    pub created_at: Time,
    pub updated_at: Time,
}

impl Image {
    /// The directory in a worktree that pictures are put into.
    pub const DIRECTORY: &'static str = DIRECTORY;

    /// Where it is in a worktree, relative to its top; prompts name it so.
    pub fn path(&self) -> String {
        format!("{DIRECTORY}/{}", self.file)
    }
}

/// Makes the paths of pictures in a prompt absolute: an agent may look from anywhere.
///
/// Only the pictures of Markdown count, `![alt](.forge-images/x.png)`; what else is said about the directory stays.
pub fn with_absolute_images(prompt: &str, worktree: &str) -> String {
    with_images_in(prompt, &format!("{}/{DIRECTORY}", worktree.trim_end_matches('/')))
}

/// Makes the paths of pictures in a prompt lead to a directory, as [`with_absolute_images`].
pub fn with_images_in(prompt: &str, directory: &str) -> String {
    let target = format!("]({DIRECTORY}/");
    let mut out = String::with_capacity(prompt.len());
    let mut rest = prompt;
    while let Some(at) = rest.find(&target) {
        let (before, after) = rest.split_at(at);
        let line = before.rsplit('\n').next().unwrap_or_default();
        out.push_str(before);
        if line.contains("![") {
            out.push_str(&format!("]({directory}/"));
        } else {
            out.push_str(&target);
        }
        rest = &after[target.len()..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_a_prompt_get_absolute_paths_and_nothing_else_does() {
        let told = |prompt: &str| with_absolute_images(prompt, "/w/a1");
        assert_eq!(told("see ![a](.forge-images/x.png) now"), "see ![a](/w/a1/.forge-images/x.png) now");
        assert_eq!(
            told("![](.forge-images/x.png)![é](.forge-images/y.png)"),
            "![](/w/a1/.forge-images/x.png)![é](/w/a1/.forge-images/y.png)"
        );
        for same in
            ["![a](/w/a1/.forge-images/x.png)", "[a](.forge-images/x.png)", ".forge-images/x.png", "![a]", ""]
        {
            assert_eq!(told(same), same);
        }
        let twice = told("![a](.forge-images/x.png)");
        assert_eq!(told(&twice), twice);
    }
}
