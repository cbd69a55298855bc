//! What the operator of the hub is told, beside counters: the interface to whoever writes logs.

use kennel_supervisor::{Failure, LifecycleEvent, Next, Noise};

/// Takes what happens to instances. Called from their tasks, so it must not block for long.
///
/// `instance` names one among those of the server.
pub trait Observer: Send + Sync + 'static {
    /// An instance has changed.
    fn lifecycle(&self, instance: &str, event: &LifecycleEvent);

    /// A start failed, or a process did.
    fn failed(&self, instance: &str, failure: &Failure, next: Next);

    /// A process wrote a line to standard error.
    fn diagnostics(&self, instance: &str, line: &[u8]);

    /// A process wrote something to standard output that is not a message.
    fn noise(&self, instance: &str, noise: &Noise);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn lifecycle(&self, _instance: &str, _event: &LifecycleEvent) {}
    fn failed(&self, _instance: &str, _failure: &Failure, _next: Next) {}
    fn diagnostics(&self, _instance: &str, _line: &[u8]) {}
    fn noise(&self, _instance: &str, _noise: &Noise) {}
}
