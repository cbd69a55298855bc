//! Runs tests in a program that is also the helper that makes boxes, which the usual harness cannot be.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A test by its name.
pub(crate) type Test = (&'static str, fn() -> Pin<Box<dyn Future<Output = ()>>>);

/// A table of tests: each module with its functions.
macro_rules! tests {
    ($($module:ident: $($name:ident),+ $(,)?;)+) => {
        &[$($((concat!(stringify!($module), "::", stringify!($name)), || Box::pin(crate::$module::$name())),)+)+]
    };
}
pub(crate) use tests;

/// Runs those that the arguments name, all where they name none, as many at once as there are processors.
pub(crate) fn run(tests: &[Test]) -> ExitCode {
    let words = std::env::args().skip(1).collect::<Vec<_>>();
    let filters = words.iter().filter(|word| !word.starts_with('-')).collect::<Vec<_>>();
    let chosen = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    let tests = tests.iter().filter(|(name, _)| chosen(name)).collect::<Vec<_>>();
    if words.iter().any(|word| word == "--list") {
        for (name, _) in tests {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((name, test)) = tests.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let outcome = catch_unwind(AssertUnwindSafe(|| {
                        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                        runtime.block_on(test());
                    }));
                    println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
                    failed.fetch_add(usize::from(outcome.is_err()), Ordering::SeqCst);
                }
            });
        }
    });
    println!("{} tests, {} failed", tests.len(), failed.load(Ordering::SeqCst));
    if failed.load(Ordering::SeqCst) == 0 { ExitCode::SUCCESS } else { ExitCode::from(101) }
}
