//! Figures over rounds, tables of them, and promises that hold or do not.

use std::time::Duration;

/// The median; of nothing it is nothing.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The value that 99 of 100 do not exceed.
pub(crate) fn percentile_99(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() * 99 / 100).copied()
}

/// One figure per round of something.
#[derive(Clone, Default)]
pub(crate) struct Rounds(Vec<f64>);

impl Rounds {
    pub(crate) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    pub(crate) fn median(&self) -> Option<f64> {
        median(self.0.clone())
    }

    /// The median of what each round was of the same round of another: noise that hits both is not in it.
    pub(crate) fn of(&self, other: &Self) -> Option<f64> {
        median(self.0.iter().zip(&other.0).map(|(own, other)| own / other).collect())
    }

    /// The smallest and the largest round.
    pub(crate) fn spread(&self) -> Option<(f64, f64)> {
        let (least, most) = (self.0.iter().copied().reduce(f64::min)?, self.0.iter().copied().reduce(f64::max)?);
        Some((least, most))
    }
}

/// A figure of a table; nothing where there is none.
pub(crate) fn shown(value: Option<f64>, digits: usize) -> String {
    value.map(|value| format!("{value:.digits$}")).unwrap_or_default()
}

/// A range of a table.
pub(crate) fn range(range: Option<(f64, f64)>, digits: usize) -> String {
    range.map(|(least, most)| format!("{least:.digits$} to {most:.digits$}")).unwrap_or_default()
}

pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Prints the head of a table.
pub(crate) fn head(title: &str, columns: &[&str]) {
    println!("\n{title}\n\n| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
}

/// The name of what failed, with why, fit for a table.
pub(crate) fn failed(name: &str, why: &impl ToString) -> String {
    let why = why.to_string();
    let plain = why.chars().filter(|letter| !letter.is_control() && *letter != '|');
    format!("{name} (failed: {})", plain.take(60).collect::<String>())
}

/// Prints a row of a table.
pub(crate) fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

/// What was promised, and what was seen.
pub(crate) struct Promise {
    text: String,
    seen: Option<f64>,
    bound: Bound,
}

/// What keeps a promise.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Promise {
    pub(crate) fn new(text: impl Into<String>, seen: Option<f64>, bound: Bound) -> Self {
        Self { text: text.into(), seen, bound }
    }

    /// What was not seen is not kept.
    fn is_kept(&self) -> bool {
        self.seen.is_some_and(|seen| match self.bound {
            Bound::AtMost(most) => seen <= most,
            Bound::AtLeast(least) => seen >= least,
        })
    }
}

/// Prints all promises and returns whether all are kept.
pub(crate) fn settle(promises: &[Promise]) -> bool {
    head("promises", &["promise", "seen", "kept"]);
    for promise in promises {
        let bound = match promise.bound {
            Bound::AtMost(most) => format!("at most {most}"),
            Bound::AtLeast(least) => format!("at least {least}"),
        };
        let kept = if promise.is_kept() { "yes" } else { "**no**" };
        row(&[format!("{}: {bound}", promise.text), shown(promise.seen, 2), kept.to_owned()]);
    }
    promises.iter().all(Promise::is_kept)
}
