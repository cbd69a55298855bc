//! Every time and bound of an instance's life, with its default, and whether they fit together.

use kennel_exec::Graces;
use std::time::Duration;

const MIB: usize = 1024 * 1024;

/// How an instance is started, watched, restarted and stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How long a ready process may be silent before it is asked whether it lives.
    pub probe_interval: Duration,
    /// How long an answer to that may take.
    pub probe_timeout: Duration,
    /// After how many missing answers in a row a process is ill.
    pub probe_failures: u32,
    /// How long each phase of a start may take.
    pub budgets: PhaseBudgets,
    /// How long to wait before a restart.
    pub backoff: Backoff,
    /// How many restarts there may be.
    pub restarts: RestartBudget,
    /// After how long without calls the process is stopped; never if `None`.
    pub idle_stop: Option<Duration>,
    /// The tools without which the server is of no use.
    pub required_tools: Vec<String>,
    /// The longest line of standard output that is taken for a message.
    pub line_bytes: usize,
    /// How many pages the list of tools may have.
    pub tool_pages: usize,
    /// How many bytes these pages may have together.
    pub tool_bytes: usize,
    /// How politely the process is stopped.
    pub graces: Graces,
    /// How long the last messages of a process that was stopped may take to be handed over.
    pub drain: Duration,
}

/// How long each phase of a start may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseBudgets {
    /// Installing dependencies.
    pub install: Duration,
    /// Making the box.
    pub create_box: Duration,
    /// Starting the program.
    pub start_process: Duration,
    /// From the first byte sent to the end of the handshake.
    pub handshake: Duration,
    /// How long `server/discover` may stay without an answer before the process is tried in the legacy era, where that
    /// is possible; where it is not, or where this is longer, `handshake` counts.
    pub discover: Duration,
    /// Listing the tools.
    pub preflight: Duration,
}

/// How long to wait before a restart: twice as long each time, up to a limit, and a random part less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Before the first restart.
    pub base: Duration,
    /// Never longer than this.
    pub max: Duration,
    /// How much of the delay is left to chance, in percent.
    pub jitter_percent: u32,
}

/// How many restarts there may be: in a window of time, and in a row without a success between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartBudget {
    /// How many.
    pub count: u32,
    /// In which time.
    pub window: Duration,
}

/// Why settings make no sense together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// With none of it, nothing would ever work.
    #[error("setting `{name}` must be more than nothing")]
    Zero {
        /// The setting's name.
        name: &'static str,
    },
    /// A percentage of more than everything.
    #[error("setting `backoff.jitter_percent` is {0}; it must be at most 100")]
    Jitter(u32),
    /// The longest wait is shorter than the first.
    #[error("setting `backoff.max` ({max:?}) must be at least `backoff.base` ({base:?})")]
    Backoff {
        /// The first wait.
        base: Duration,
        /// The longest wait.
        max: Duration,
    },
    /// An idle process would be stopped before it was ever asked whether it lives.
    #[error("setting `idle_stop` ({idle:?}) must be longer than `probe_timeout` ({probe:?})")]
    Idle {
        /// The time without calls.
        idle: Duration,
        /// The time for an answer.
        probe: Duration,
    },
    /// Clients would give up before Kennel can tell them what happened.
    #[error(
        "a start may take {start:?} and a stop {stop:?}, together longer than the {told:?} that clients are told to wait; \
         shorten `budgets` or `graces`, or let clients wait longer"
    )]
    LongerThanTold {
        /// The longest start.
        start: Duration,
        /// The longest stop.
        stop: Duration,
        /// What clients are told.
        told: Duration,
    },
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            probe_interval: Duration::from_secs(5),
            probe_timeout: Duration::from_secs(5),
            probe_failures: 3,
            budgets: PhaseBudgets::default(),
            backoff: Backoff::default(),
            restarts: RestartBudget::default(),
            idle_stop: Some(Duration::from_mins(15)),
            required_tools: Vec::new(),
            line_bytes: 64 * MIB,
            tool_pages: 1000,
            tool_bytes: 64 * MIB,
            graces: Graces::default(),
            drain: Duration::from_secs(2),
        }
    }
}

impl Default for PhaseBudgets {
    fn default() -> Self {
        Self {
            install: Duration::from_mins(5),
            create_box: Duration::from_secs(30),
            start_process: Duration::from_secs(30),
            handshake: Duration::from_mins(1),
            discover: Duration::from_secs(10),
            preflight: Duration::from_secs(30),
        }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self { base: Duration::from_secs(2), max: Duration::from_mins(1), jitter_percent: 20 }
    }
}

impl Backoff {
    /// The wait before restart number `restart` (the first is 0), with `chance` from 0 up to 1.
    #[must_use]
    pub fn delay(&self, restart: u32, chance: f64) -> Duration {
        let factor = 2_u32.checked_pow(restart).unwrap_or(u32::MAX);
        let whole = self.base.saturating_mul(factor).min(self.max);
        let share = f64::from(self.jitter_percent.min(100)) / 100.0 * chance.clamp(0.0, 1.0);
        whole.saturating_sub(whole.mul_f64(share))
    }
}

impl Default for RestartBudget {
    fn default() -> Self {
        Self { count: 5, window: Duration::from_mins(5) }
    }
}

impl Settings {
    /// The longest start without an installation, which clients are told about separately: a process that is silent in
    /// the modern era is stopped, and another one takes as long as it may in the legacy era.
    #[must_use]
    pub fn longest_start(&self) -> Duration {
        let PhaseBudgets { create_box, start_process, handshake, discover, preflight, .. } = self.budgets;
        let launch = create_box + start_process;
        launch + discover.min(handshake) + self.longest_stop() + launch + handshake + preflight
    }

    /// The longest stop: two polite steps, and what is still to be handed over.
    #[must_use]
    pub fn longest_stop(&self) -> Duration {
        self.graces.stdin + self.graces.term + self.drain
    }

    /// Checks the settings against each other.
    pub fn check(&self) -> Result<(), SettingsError> {
        let times = [
            ("probe_interval", self.probe_interval),
            ("probe_timeout", self.probe_timeout),
            ("budgets.install", self.budgets.install),
            ("budgets.create_box", self.budgets.create_box),
            ("budgets.start_process", self.budgets.start_process),
            ("budgets.handshake", self.budgets.handshake),
            ("budgets.discover", self.budgets.discover),
            ("budgets.preflight", self.budgets.preflight),
            ("backoff.base", self.backoff.base),
            ("restarts.window", self.restarts.window),
        ];
        if let Some((name, _)) = times.into_iter().find(|(_, time)| time.is_zero()) {
            return Err(SettingsError::Zero { name });
        }
        let counts = [
            ("probe_failures", self.probe_failures as usize),
            ("line_bytes", self.line_bytes),
            ("tool_pages", self.tool_pages),
            ("tool_bytes", self.tool_bytes),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(SettingsError::Zero { name });
        }
        if self.backoff.jitter_percent > 100 {
            return Err(SettingsError::Jitter(self.backoff.jitter_percent));
        }
        if self.backoff.max < self.backoff.base {
            return Err(SettingsError::Backoff { base: self.backoff.base, max: self.backoff.max });
        }
        match self.idle_stop {
            Some(idle) if idle <= self.probe_timeout => Err(SettingsError::Idle { idle, probe: self.probe_timeout }),
            Some(_) | None => Ok(()),
        }
    }

    /// Checks that whoever waits for `told` learns what became of a start that took as long as it may.
    pub fn check_told(&self, told: Duration) -> Result<(), SettingsError> {
        let (start, stop) = (self.longest_start(), self.longest_stop());
        if start + stop >= told {
            return Err(SettingsError::LongerThanTold { start, stop, told });
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
