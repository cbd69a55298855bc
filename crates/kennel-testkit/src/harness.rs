//! Runs tests in a program that is also the helper that makes boxes, which a test program of Cargo's cannot be.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// A test by its name.
pub type Test = (&'static str, fn());

/// Runs those that the arguments name, all where they name none, so many at once; `--list` lists them.
#[must_use]
pub fn run_tests(tests: &[Test], at_once: usize) -> ExitCode {
    let words = std::env::args().skip(1).collect::<Vec<_>>();
    let filters = words.iter().filter(|word| !word.starts_with('-')).collect::<Vec<_>>();
    let is_chosen = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    let tests = tests.iter().filter(|(name, _)| is_chosen(name)).collect::<Vec<_>>();
    if words.iter().any(|word| word == "--list") {
        for (name, _) in tests {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..at_once.max(1) {
            scope.spawn(|| {
                while let Some((name, test)) = tests.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let begin = Instant::now();
                    let outcome = catch_unwind(AssertUnwindSafe(test));
                    let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
                    println!("test {name} ... {verdict} ({:.1} s)", begin.elapsed().as_secs_f64());
                    failed.fetch_add(usize::from(outcome.is_err()), Ordering::SeqCst);
                }
            });
        }
    });
    println!("{} tests, {} failed", tests.len(), failed.load(Ordering::SeqCst));
    if failed.load(Ordering::SeqCst) == 0 { ExitCode::SUCCESS } else { ExitCode::from(101) }
}
