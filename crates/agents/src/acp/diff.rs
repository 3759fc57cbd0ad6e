//! A change of a text as a unified diff of one hunk.

/// How many lines that stay are shown around a change.
const CONTEXT: usize = 3;

/// Shows the change from one text to another. Where the text lies in its file is not known: lines count from its
/// beginning.
pub(super) fn unified(path: &str, old: &str, new: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let from = head.saturating_sub(CONTEXT);
    let (old_to, new_to) =
        (old.len() - tail.saturating_sub(CONTEXT), new.len() - tail.saturating_sub(CONTEXT));
    let mut diff = format!(
        "--- a/{path}\n+++ b/{path}\n@@ -{},{} +{},{} @@\n",
        from + 1,
        old_to - from,
        from + 1,
        new_to - from
    );
    let mut put = |sign: char, lines: &[&str]| {
        for line in lines {
            diff.push(sign);
            diff.push_str(line);
            diff.push('\n');
        }
    };
    put(' ', &old[from..head]);
    put('-', &old[head..old.len() - tail]);
    put('+', &new[head..new.len() - tail]);
    put(' ', &old[old.len() - tail..old_to]);
    diff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_shown_with_three_lines_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\nand a half\n6\n7\n8\n9\n";
        let expected = "--- a/x\n+++ b/x\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+and a half\n 6\n 7\n 8\n";
        assert_eq!(unified("x", old, new), expected);
    }

    #[test]
    fn the_same_lines_twice_and_nothing_at_all_are_no_trouble() {
        assert_eq!(unified("x", "a\na\n", "a\n"), "--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n a\n-a\n");
        assert_eq!(unified("x", "", ""), "--- a/x\n+++ b/x\n@@ -1,0 +1,0 @@\n");
        assert_eq!(unified("x", "a", "a"), "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n a\n");
    }
}
