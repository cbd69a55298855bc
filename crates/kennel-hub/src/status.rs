//! How the hub is, in words and in numbers.

use crate::settings::ProcessModel;
use kennel_supervisor::State;
use kennel_wire::Era;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a server and what serves it are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The server's name.
    pub server: String,
    /// Who shares its processes.
    pub model: ProcessModel,
    /// The eras that it speaks, as far as is known.
    pub eras: Vec<EraName>,
    /// How many sessions there are.
    pub sessions: usize,
    /// Its instances.
    pub instances: Vec<InstanceStatus>,
    /// Whether calls can be made.
    pub readiness: Readiness,
    /// Why nothing is started, where somebody wants it so.
    pub held: Option<String>,
}

/// An era as it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EraName {
    /// With sessions: up to 2025-11-25.
    Legacy,
    /// Without: since 2026-07-28.
    Modern,
}

impl From<Era> for EraName {
    fn from(era: Era) -> Self {
        match era {
            Era::Legacy => Self::Legacy,
            Era::Modern => Self::Modern,
        }
    }
}

/// How one instance is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstanceStatus {
    /// Its name among those of the server.
    pub name: String,
    /// The era in which its process is talked to, while it has one that is ready.
    pub era: Option<EraName>,
    /// How it is.
    #[serde(flatten)]
    pub status: kennel_supervisor::Status,
}

/// Whether calls can be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// As far as is known, yes; a process that sleeps wakes with the next call.
    Ready,
    /// A process is on its way.
    Starting,
    /// No, and not without somebody's help.
    Failed {
        /// Why, as far as clients may know it.
        cause: String,
    },
    /// The hub is being shut down.
    Closing,
}

impl Status {
    /// Whether calls can be made.
    #[must_use]
    pub fn ready(&self) -> &Readiness {
        &self.readiness
    }
}

/// What the instances say about whether calls can be made: one that works is enough.
pub(crate) fn readiness(instances: &[InstanceStatus]) -> Readiness {
    let has = |wanted: &[State]| instances.iter().any(|instance| wanted.contains(&instance.status.state));
    if instances.is_empty() || has(&[State::Ready, State::Asleep, State::Ended, State::Stopping]) {
        return Readiness::Ready;
    }
    let failed = instances.iter().find(|instance| matches!(instance.status.state, State::Parked | State::Failed));
    match failed {
        Some(instance) => {
            let failure = instance.status.last_failure.as_ref();
            Readiness::Failed { cause: failure.map_or_else(String::new, |failure| failure.client_text()) }
        }
        None => Readiness::Starting,
    }
}

/// One number for those who watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Its name, without the prefix of all of Kennel's.
    pub name: &'static str,
    /// What it counts.
    pub help: &'static str,
    /// How it behaves.
    pub kind: MetricKind,
    /// What it is about.
    pub labels: Vec<(&'static str, String)>,
    /// The number.
    pub value: u64,
}

/// How a number behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What the hub counts.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) requests: Counter,
    pub(crate) faults: Counter,
    pub(crate) dropped_notifications: Counter,
    pub(crate) refused_notifications: Counter,
    pub(crate) stray_answers: Counter,
    pub(crate) noise: Counter,
    pub(crate) restarts: Counter,
    pub(crate) failures: Counter,
    pub(crate) kept_results: Counter,
    pub(crate) dropped_own_requests: Counter,
}

impl Counters {
    pub(crate) fn metrics(&self) -> impl Iterator<Item = Metric> {
        let counters = [
            ("requests_total", "Requests of clients.", &self.requests),
            ("faults_total", "Requests that Kennel answered with an error of its own.", &self.faults),
            (
                "dropped_notifications_total",
                "Messages to clients that were dropped because they did not read them or were not entitled.",
                &self.dropped_notifications,
            ),
            (
                "refused_notifications_total",
                "Notifications of clients that were not passed on because clients have no such to send.",
                &self.refused_notifications,
            ),
            ("stray_answers_total", "Answers of processes that nobody waited for any more.", &self.stray_answers),
            ("noise_lines_total", "Lines of standard output that were no messages.", &self.noise),
            ("restarts_total", "Processes that became ready after another one.", &self.restarts),
            ("failures_total", "Starts that failed and processes that died.", &self.failures),
            (
                "dropped_own_requests_total",
                "Requests of Kennel's own that were not made because too many were unanswered.",
                &self.dropped_own_requests,
            ),
            ("kept_results_total", "Results that were too large to pass and were kept instead.", &self.kept_results),
        ];
        let values = counters.map(|(name, help, counter)| (name, help, counter.get()));
        values.into_iter().map(|(name, help, value)| Metric {
            name,
            help,
            kind: MetricKind::Counter,
            labels: Vec::new(),
            value,
        })
    }
}
