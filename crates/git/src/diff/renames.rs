//! Which deleted file an added one is: the same content, or as much alike as git asks for.
//!
//! Alike is what git means by it: lines, or pieces of long lines, are compared as sets weighted by their length, and
//! half of the longer file must be in both.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use super::sides::Side;

/// With more pairs than this only files with the same content are found.
const MOST_PAIRS: usize = 40_000;

/// Long lines are taken in pieces of this many bytes.
const PIECE: usize = 64;

/// A file that came or went.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) path: &'a Path,
    pub(super) side: &'a Side,
}

/// Finds pairs of a deleted and an added file; each is in one pair at most.
pub(super) fn pairs(deleted: &[Candidate<'_>], added: &[Candidate<'_>]) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    let (mut old, mut new) = (vec![true; deleted.len()], vec![true; added.len()]);
    let mut take = |from: usize, to: usize, old: &mut [bool], new: &mut [bool]| {
        (old[from], new[to]) = (false, false);
        found.push((deleted[from].path.to_path_buf(), added[to].path.to_path_buf()));
    };

    let mut same = HashMap::<_, Vec<usize>>::new();
    for (at, file) in deleted.iter().enumerate() {
        // That two files are empty says nothing about them.
        if let Some(print) = file.side.print().filter(|print| !print.is_empty()) {
            same.entry(print).or_default().push(at);
        }
    }
    for (to, file) in added.iter().enumerate() {
        let Some(sources) = file.side.print().and_then(|print| same.get_mut(&print)) else { continue };
        // Of several, the one with the same name is the likelier.
        let alike = sources.iter().position(|from| deleted[*from].path.file_name() == file.path.file_name());
        if !sources.is_empty() {
            take(sources.remove(alike.unwrap_or(0)), to, &mut old, &mut new);
        }
    }

    let rest = |free: &[bool], files: &[Candidate<'_>]| -> Vec<(usize, Pieces)> {
        let rest = files.iter().enumerate().filter(|(at, _)| free[*at]);
        rest.filter_map(|(at, file)| Some((at, Pieces::of(file.side.text()?)?))).collect()
    };
    if old.iter().filter(|free| **free).count() * new.iter().filter(|free| **free).count() > MOST_PAIRS {
        return found;
    }
    let (sources, targets) = (rest(&old, deleted), rest(&new, added));
    let mut scores = Vec::new();
    for (from, source) in &sources {
        for (to, target) in &targets {
            let score = source.likeness(target);
            if score >= 50 {
                let same_name = deleted[*from].path.file_name() == added[*to].path.file_name();
                scores.push((score, same_name, *from, *to));
            }
        }
    }
    // The most alike first; the order of paths settles the rest, so that the same files give the same pairs.
    scores.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then((a.2, a.3).cmp(&(b.2, b.3))));
    for (_, _, from, to) in scores {
        if old[from] && new[to] {
            take(from, to, &mut old, &mut new);
        }
    }
    found
}

/// The pieces of a text: how many bytes of it are in pieces of each hash.
struct Pieces {
    weights: HashMap<u64, usize>,
    length: usize,
}

impl Pieces {
    fn of(text: &str) -> Option<Pieces> {
        let mut weights = HashMap::new();
        for line in text.as_bytes().split_inclusive(|byte| *byte == b'\n') {
            for piece in line.chunks(PIECE) {
                let mut hasher = DefaultHasher::new();
                piece.hash(&mut hasher);
                *weights.entry(hasher.finish()).or_insert(0) += piece.len();
            }
        }
        (!text.is_empty()).then_some(Pieces { weights, length: text.len() })
    }

    /// How many percent of the longer text are in both.
    fn likeness(&self, other: &Pieces) -> usize {
        let (shorter, longer) = (self.length.min(other.length), self.length.max(other.length));
        if shorter * 2 < longer {
            return 0;
        }
        let shared = |(hash, weight): (&u64, &usize)| other.weights.get(hash).map_or(0, |it| *it.min(weight));
        self.weights.iter().map(shared).sum::<usize>() * 100 / longer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(deleted: &[(&str, &str)], added: &[(&str, &str)]) -> Vec<(String, String)> {
        let sides = |files: &[(&str, &str)]| -> Vec<Side> {
            files.iter().map(|(_, text)| Side::read(text.as_bytes().to_vec())).collect()
        };
        let (old, new) = (sides(deleted), sides(added));
        let old: Vec<_> = deleted
            .iter()
            .zip(&old)
            .map(|((path, _), side)| Candidate { path: Path::new(path), side })
            .collect();
        let new: Vec<_> = added
            .iter()
            .zip(&new)
            .map(|((path, _), side)| Candidate { path: Path::new(path), side })
            .collect();
        let told = |path: PathBuf| path.to_str().unwrap().to_string();
        pairs(&old, &new).into_iter().map(|(from, to)| (told(from), told(to))).collect()
    }

    fn pair(from: &str, to: &str) -> (String, String) {
        (from.to_string(), to.to_string())
    }

    #[test]
    fn the_same_content_is_found_first_and_under_its_old_name_if_there_is_one() {
        let seen = found(&[("a/x", "same\n"), ("a/y", "same\n")], &[("b/y", "same\n")]);
        assert_eq!(seen, [pair("a/y", "b/y")]);
    }

    #[test]
    fn half_of_the_longer_file_must_be_in_both() {
        let text = "one\ntwo\nthree\nfour\n";
        assert_eq!(found(&[("a", text)], &[("b", "one\ntwo\nthree\n4444\n")]), [pair("a", "b")]);
        assert_eq!(found(&[("a", text)], &[("b", "1\n2\nthree\nother lines\n")]), []);
    }

    #[test]
    fn the_most_alike_are_paired_and_empty_files_are_nobody() {
        let text = "one\ntwo\nthree\nfour\n";
        let seen = found(&[("a", text), ("e", "")], &[("b", "one\ntwo\nthree\n4\n"), ("c", text), ("f", "")]);
        assert_eq!(seen, [pair("a", "c")]);
    }
}
