//! Names of branches and worktrees, made from titles.

/// How long a slug may be.
const LONGEST: usize = 16;

/// Makes a slug: lower case, every run of other characters one `-`, at most sixteen long, no `-` at either end.
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    for character in title.to_lowercase().chars() {
        if character.is_ascii_lowercase() || character.is_ascii_digit() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(LONGEST);
    slug.trim_end_matches('-').to_string()
}

/// Names an attempt from its short id and its title: `6a0c-fix-login`, or `6a0c` when the title has no letters.
pub fn attempt_name(short: &str, title: &str) -> String {
    match slug(title) {
        slug if slug.is_empty() => short.to_string(),
        slug => format!("{short}-{slug}"),
    }
}

/// Takes the title of a task from its prompt: the first line that is not blank, cut at 80 characters.
pub fn title_from_prompt(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_cut_at_sixteen_and_never_ends_in_a_dash() {
        assert_eq!(slug("Fix: Login & Sign-up flow!!"), "fix-login-sign-u");
        assert_eq!(slug("  Ação  "), "a-o");
        assert_eq!(slug("0123456789abcde fg"), "0123456789abcde");
    }

    #[test]
    fn a_title_without_letters_gives_the_short_id_alone() {
        assert_eq!(attempt_name("6a0c", "!!!"), "6a0c");
        assert_eq!(attempt_name("6a0c", "Fix login"), "6a0c-fix-login");
    }

    #[test]
    fn a_title_is_the_first_line_of_the_prompt() {
        assert_eq!(title_from_prompt("\n  Fix it \nplease"), "Fix it");
        assert_eq!(title_from_prompt(&"x".repeat(200)).chars().count(), 81);
    }
}
