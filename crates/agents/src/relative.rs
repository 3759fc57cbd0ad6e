//! Paths as entries show them: relative to the worktree, where they lie below it.

/// Makes a path relative to the first root it lies below.
pub(crate) fn relative(path: &str, roots: &[String]) -> String {
    let below = |root: &String| path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/');
    roots.iter().filter(|root| !root.is_empty()).find_map(below).unwrap_or(path).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_a_root_are_relative_and_others_stay() {
        let roots = ["/home/ada/repo/".to_string(), String::new()];
        assert_eq!(relative("/home/ada/repo/src/a.rs", &roots), "src/a.rs");
        assert_eq!(relative("/home/ada/repository/a.rs", &roots), "/home/ada/repository/a.rs");
        assert_eq!(relative("/etc/hosts", &roots), "/etc/hosts");
    }
}
