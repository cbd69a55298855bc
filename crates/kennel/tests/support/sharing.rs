//! A process outside of boxes that shares memory, semaphores and messages with whoever can reach them.

use crate::support::ground::Ground;
use crate::support::running::Running;
use std::process::Stdio;

/// A process that shares, until somebody asks what has become of it.
pub(crate) struct Sharing {
    /// The numbers of its segment, its semaphores and its messages, and the name of its POSIX queue.
    pub(crate) names: Vec<String>,
    running: Option<Running>,
}

impl Sharing {
    /// Starts it as the caller.
    pub(crate) fn start(ground: &Ground) -> Self {
        let mut command = ground.command([ground.hostile().as_os_str(), "--act".as_ref(), "share".as_ref()]);
        command.stdin(Stdio::piped());
        let mut running = Running::start(command);
        running.wait_for("\n");
        let names = running.out().split_whitespace().map(str::to_owned).collect();
        Self { names, running: Some(running) }
    }

    /// Ends it, and says what of its own somebody else has touched.
    pub(crate) fn complaint(&mut self) -> Option<String> {
        let mut running = self.running.take()?;
        drop(running.kept.stdin());
        let ran = running.finish();
        let untouched = ran.out().lines().any(|line| line == "touched: nothing");
        (!untouched).then(|| format!("what an outside process shares was touched: {ran:?}"))
    }
}

/// What it shares goes with it, whoever asks.
impl Drop for Sharing {
    fn drop(&mut self) {
        let _ = self.complaint();
    }
}
