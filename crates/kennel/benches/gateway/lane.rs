//! A lane of a race: one way to call the fixture, its callers, and what it showed in every round.

use std::io;
use std::time::Duration;
use tokio::time::timeout;

use crate::caller::{Caller, Door};
use crate::processes::processor_time;
use crate::program::{Kind, Program, Running};
use crate::report::{Rounds, failed, micros};

/// The longest that one turn of a lane may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program that was started.
pub(crate) struct Entrant {
    pub(crate) program: Program,
    pub(crate) running: Running,
}

/// One door of one program.
pub(crate) struct Lane<'a> {
    pub(crate) name: &'static str,
    pub(crate) entrant: &'a Entrant,
    pub(crate) door: Door,
    pub(crate) callers: Vec<Caller>,
    /// One figure per round.
    pub(crate) rounds: Rounds,
    /// Single figures of all rounds together.
    pub(crate) samples: Vec<f64>,
    /// The processor time that the gateway took for a call, one figure per round in µs. Other load on the machine
    /// changes it less than the time on the clock.
    pub(crate) processor: Rounds,
    /// Why it takes part no more.
    pub(crate) failed: Option<String>,
}

impl<'a> Lane<'a> {
    /// A lane for every door, each with so many callers.
    pub(crate) async fn open(entrants: &'a [Entrant], callers: usize) -> io::Result<Vec<Self>> {
        let mut lanes = Vec::new();
        for entrant in entrants {
            for (name, door) in &entrant.program.doors {
                let mut lane = Self {
                    name,
                    entrant,
                    door: *door,
                    callers: Vec::new(),
                    rounds: Rounds::default(),
                    samples: Vec::new(),
                    processor: Rounds::default(),
                    failed: None,
                };
                let connecting = timeout(PATIENCE, lane.connect(callers)).await;
                lane.settle(connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())))?;
                lanes.push(lane);
            }
        }
        Ok(lanes)
    }

    async fn connect(&mut self, callers: usize) -> io::Result<()> {
        // To a pipe only one can speak.
        let callers = if self.door == Door::Pipe { 1 } else { callers };
        for _ in 0..callers {
            self.callers.push(self.entrant.running.connect(self.door).await?);
        }
        Ok(())
    }

    /// Takes a turn, which returns how many calls it made, unless it has failed before.
    async fn turn(&mut self, turn: impl AsyncFnOnce(&mut Self) -> io::Result<u32>) -> io::Result<()> {
        if self.failed.is_some() {
            return Ok(());
        }
        let before = self.processor_time();
        let outcome = timeout(PATIENCE, async {
            for caller in &mut self.callers {
                caller.revive().await?;
            }
            turn(self).await
        });
        let outcome = outcome.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        if let (Some(before), Some(after), Ok(calls)) = (before, self.processor_time(), &outcome) {
            self.processor.push(micros(after.saturating_sub(before)) / f64::from(*calls));
        }
        self.settle(outcome.map(drop))
    }

    fn processor_time(&self) -> Option<Duration> {
        self.entrant.running.id().map(processor_time)
    }

    /// Forgets what it showed, before the rounds that count.
    pub(crate) fn forget(&mut self) {
        (self.rounds, self.samples, self.processor) = Default::default();
    }

    /// What others cannot do is a finding; what Kennel and the measures to compare it with cannot do is an error.
    fn settle(&mut self, outcome: io::Result<()>) -> io::Result<()> {
        match outcome {
            Err(error) if self.kind() == Kind::Peer => {
                self.failed = Some(error.to_string());
                Ok(())
            }
            Err(error) => Err(io::Error::other(format!("{}: {error}", self.name))),
            Ok(()) => Ok(()),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.entrant.program.kind
    }

    pub(crate) fn tool_prefix(&self) -> &'static str {
        self.entrant.program.tool_prefix
    }

    /// The name for a table, with what went wrong.
    pub(crate) fn label(&self) -> String {
        match &self.failed {
            Some(why) => failed(self.name, why),
            None => self.name.to_owned(),
        }
    }
}

/// The floor among the lanes, to compare with.
pub(crate) fn floor<'l, 'a>(lanes: &'l [Lane<'a>]) -> io::Result<&'l Lane<'a>> {
    let floor = lanes.iter().find(|lane| lane.kind() == Kind::Floor);
    floor.ok_or_else(|| io::Error::other("there is no floor to compare with"))
}

/// What Kennel's main door is of the floor, round by round.
pub(crate) fn shared_of_floor(lanes: &[Lane<'_>]) -> Option<f64> {
    lanes.iter().find(|lane| lane.kind() == Kind::Shared)?.rounds.of(&floor(lanes).ok()?.rounds)
}

/// Rounds over all lanes; a turn returns how many calls it made. Every round begins with another lane, so that none always follows the same one.
pub(crate) async fn race(
    lanes: &mut [Lane<'_>],
    rounds: usize,
    turn: impl AsyncFn(&mut Lane<'_>) -> io::Result<u32>,
) -> io::Result<()> {
    for round in 0..rounds {
        for place in 0..lanes.len() {
            let lane = (place + round) % lanes.len();
            lanes[lane].turn(async |lane| turn(lane).await).await?;
        }
    }
    Ok(())
}
