//! Watching a process that is ready: is it alive, and does anybody need it?

use super::Situation;
use crate::settings::Settings;
use std::time::Instant;

/// What became of a look at the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Well,
    Probe,
    Idle,
    Ill,
}

#[derive(Debug)]
pub(super) struct Watch {
    since: Instant,
    last_sign: Instant,
    /// When to look whether a probe is needed; later signs of life are looked up then, so that they cost nothing now.
    look_at: Instant,
    /// Until when the probe that was sent has to be answered.
    answer_by: Option<Instant>,
    /// When to look whether anybody needs the process.
    idle_at: Option<Instant>,
    missed: u32,
    suspected: bool,
}

impl Watch {
    pub(super) fn new(now: Instant, settings: &Settings) -> Self {
        Self {
            since: now,
            last_sign: now,
            look_at: now + settings.probe_interval,
            answer_by: None,
            idle_at: settings.idle_stop.map(|idle| now + idle),
            missed: 0,
            suspected: false,
        }
    }

    pub(super) fn deadline(&self) -> Instant {
        let probe = self.answer_by.unwrap_or(self.look_at);
        self.idle_at.map_or(probe, |idle| idle.min(probe))
    }

    /// A sign of life clears the process of every suspicion.
    pub(super) fn alive(&mut self, now: Instant, settings: &Settings) {
        self.last_sign = now;
        self.missed = 0;
        self.suspected = false;
        if self.answer_by.take().is_some() {
            self.look_at = now + settings.probe_interval;
        }
    }

    /// Whether the process has lasted so long that it has proved itself without any answer.
    pub(super) fn has_lasted(&self, now: Instant, settings: &Settings) -> bool {
        now.saturating_duration_since(self.since) >= settings.backoff.max
    }

    #[cfg(test)]
    pub(super) fn is_suspected(&self) -> bool {
        self.suspected
    }

    /// Counts missing answers from now on although calls are in flight. Returns whether to send a probe.
    pub(super) fn suspect(&mut self, now: Instant, settings: &Settings) -> bool {
        self.suspected = true;
        let probe = self.answer_by.is_none();
        if probe {
            self.answer_by = Some(now + settings.probe_timeout);
        }
        probe
    }

    pub(super) fn tick(&mut self, now: Instant, situation: Situation, settings: &Settings) -> Verdict {
        if self.is_idle(now, situation, settings) {
            return Verdict::Idle;
        }
        // A call that takes its time is no illness, unless it took too much.
        let busy = situation.in_flight > 0 && !self.suspected;
        match self.answer_by {
            Some(by) if now < by => Verdict::Well,
            Some(_) if situation.blocked => {
                // The answer may be among what is not read.
                self.answer_by = Some(now + settings.probe_timeout);
                Verdict::Well
            }
            Some(_) if busy => {
                self.answer_by = None;
                self.look_at = now + settings.probe_interval;
                Verdict::Well
            }
            Some(_) => {
                self.missed += 1;
                if self.missed >= settings.probe_failures {
                    return Verdict::Ill;
                }
                self.answer_by = Some(now + settings.probe_timeout);
                Verdict::Probe
            }
            None if now < self.look_at => Verdict::Well,
            None if busy || situation.blocked => {
                self.look_at = now + settings.probe_interval;
                Verdict::Well
            }
            None if now < self.last_sign + settings.probe_interval => {
                self.look_at = self.last_sign + settings.probe_interval;
                Verdict::Well
            }
            None => {
                self.answer_by = Some(now + settings.probe_timeout);
                Verdict::Probe
            }
        }
    }

    fn is_idle(&mut self, now: Instant, situation: Situation, settings: &Settings) -> bool {
        let (Some(idle), Some(at)) = (settings.idle_stop, self.idle_at) else { return false };
        if now < at {
            return false;
        }
        let needed = if situation.in_flight > 0 || situation.blocked { now } else { situation.last_needed };
        let idle_at = needed.max(self.since) + idle;
        self.idle_at = Some(idle_at);
        now >= idle_at
    }
}
