//! Owns how a change of a text is shown: as a unified diff, in which every line may be shown otherwise than it is.

use std::fmt::Write;

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;
/// Beyond so many comparisons the two middles are shown as a whole, one after the other.
const MOST_COMPARISONS: usize = 4_000_000;

/// Shows the change from one text to another. `shown_before` and `shown_after` are the same texts as they may be seen,
/// line by line.
#[must_use]
pub fn unified(name: &str, before: [&str; 2], after: [&str; 2]) -> String {
    let (old, new) = (lines(before[0]), lines(after[0]));
    let (old_shown, new_shown) = (lines(before[1]), lines(after[1]));
    let steps = steps(&old, &new);
    let mut text = String::new();
    for hunk in hunks(&steps) {
        if text.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "--- {name}\n+++ {name}");
        }
        let count = |wanted: fn(&Step) -> bool| hunk.iter().filter(|step| wanted(step)).count();
        let first = hunk.first().map_or((0, 0), |step| step.at());
        let (olds, news) =
            (count(|step| !matches!(step, Step::Add(..))), count(|step| !matches!(step, Step::Drop(..))));
        // A side without lines is said by the line before it.
        let start = |at: usize, count: usize| if count == 0 { at } else { at + 1 };
        let _ = writeln!(text, "@@ -{},{olds} +{},{news} @@", start(first.0, olds), start(first.1, news));
        for step in hunk {
            let (sign, line) = match step {
                Step::Keep(at, _) => (' ', old_shown.get(*at)),
                Step::Drop(at, _) => ('-', old_shown.get(*at)),
                Step::Add(_, at) => ('+', new_shown.get(*at)),
            };
            let _ = writeln!(text, "{sign}{}", line.copied().unwrap_or("…").trim_end_matches('\r'));
        }
    }
    text
}

fn lines(text: &str) -> Vec<&str> {
    text.split_terminator('\n').collect()
}

/// What becomes of a line, with where it would be in the old and in the new text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Keep(usize, usize),
    Drop(usize, usize),
    Add(usize, usize),
}

impl Step {
    fn at(self) -> (usize, usize) {
        match self {
            Self::Keep(old, new) | Self::Drop(old, new) | Self::Add(old, new) => (old, new),
        }
    }
}

fn steps(old: &[&str], new: &[&str]) -> Vec<Step> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_middle, new_middle) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
    let mut steps: Vec<Step> = (0..head).map(|at| Step::Keep(at, at)).collect();
    steps.extend(middle(old_middle, new_middle).into_iter().map(|step| match step {
        Step::Keep(old, new) => Step::Keep(head + old, head + new),
        Step::Drop(old, new) => Step::Drop(head + old, head + new),
        Step::Add(old, new) => Step::Add(head + old, head + new),
    }));
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    steps.extend((0..tail).map(|at| Step::Keep(old_end + at, new_end + at)));
    steps
}

/// The longest common subsequence, by the table of its lengths from the end.
fn middle(old: &[&str], new: &[&str]) -> Vec<Step> {
    let width = new.len() + 1;
    let mut steps = Vec::new();
    let (mut at, mut to) = (0, 0);
    if old.len().saturating_mul(new.len()) <= MOST_COMPARISONS {
        let mut lengths = vec![0_u32; (old.len() + 1) * width];
        for row in (0..old.len()).rev() {
            for column in (0..new.len()).rev() {
                lengths[row * width + column] = if old[row] == new[column] {
                    lengths[(row + 1) * width + column + 1] + 1
                } else {
                    lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
                };
            }
        }
        while at < old.len() && to < new.len() {
            if old[at] == new[to] {
                steps.push(Step::Keep(at, to));
                (at, to) = (at + 1, to + 1);
            } else if lengths[(at + 1) * width + to] >= lengths[at * width + to + 1] {
                steps.push(Step::Drop(at, to));
                at += 1;
            } else {
                steps.push(Step::Add(at, to));
                to += 1;
            }
        }
    }
    steps.extend((at..old.len()).map(|line| Step::Drop(line, to)));
    steps.extend((to..new.len()).map(|line| Step::Add(old.len(), line)));
    steps
}

/// The changes with their surroundings; those that are near each other together.
fn hunks(steps: &[Step]) -> Vec<&[Step]> {
    let mut hunks: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in steps.iter().enumerate().filter(|(_, step)| !matches!(step, Step::Keep(..))) {
        let (start, end) = (at.saturating_sub(CONTEXT), (at + 1 + CONTEXT).min(steps.len()));
        match hunks.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => hunks.push(start..end),
        }
    }
    hunks.into_iter().map(|range| &steps[range]).collect()
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
