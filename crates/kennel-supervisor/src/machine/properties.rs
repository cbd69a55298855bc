//! Random lives: whatever happens in whatever order, the promises of the machine hold.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy)]
enum Act {
    Wake,
    Restart,
    Suspect,
    Shutdown,
    Pass(u64),
    Stage,
    Launch,
    Open,
    Refuse,
    Fail(Permanence),
    Die(Permanence),
    StopDone,
    Alive,
    Answer,
    Work(bool),
    Block(bool),
}

/// What exists of an instance outside of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thing {
    Nothing,
    Start,
    Process,
}

/// What is known of the eras of an instance's processes.
struct EraBook {
    plan: EraPlan,
    /// The era of the process there is.
    process: Option<Era>,
    /// The era in which a process was ready last, unless one has refused it since.
    proven: Option<Era>,
    /// Whether someone wants what comes after the process that is being stopped.
    wanted: bool,
    /// How many processes there were in this attempt.
    in_attempt: usize,
}

impl EraBook {
    /// Counts a process of this era. One that follows the end of another `goes_on` with its attempt, unless someone
    /// wanted it.
    fn count(&mut self, goes_on: bool, era: Era) {
        self.in_attempt = if goes_on && !self.wanted { self.in_attempt + 1 } else { 1 };
        self.wanted = false;
        assert!(self.in_attempt <= 2, "{} processes in an attempt", self.in_attempt);
        if self.plan.is_fixed {
            assert_eq!((self.in_attempt, era), (1, self.plan.first), "the plan is fixed");
        }
        if self.in_attempt == 1 {
            assert!(self.proven.is_none_or(|proven| proven == era), "another era than the one that was ready");
        }
    }
}

struct World {
    machine: Machine,
    settings: Arc<Settings>,
    now: Instant,
    thing: Thing,
    stopping: bool,
    ready: BTreeSet<Generation>,
    gone: BTreeSet<Generation>,
    /// Starts that the machine made by itself since the operator last gave a budget.
    own_starts: Vec<Instant>,
    /// Those since a process was last ready.
    in_a_row: u32,
    shut_down: bool,
    quits: usize,
    eras: EraBook,
    in_flight: usize,
    last_needed: Instant,
    blocked: bool,
}

impl World {
    fn new(plan: EraPlan) -> Self {
        let now = Instant::now();
        let settings = Arc::new(Settings { idle_stop: Some(Duration::from_mins(2)), ..Settings::default() });
        Self {
            machine: Machine::new(Arc::clone(&settings), plan, Box::new(|| 0.5)),
            settings,
            now,
            thing: Thing::Nothing,
            stopping: false,
            ready: BTreeSet::new(),
            gone: BTreeSet::new(),
            own_starts: Vec::new(),
            in_a_row: 0,
            shut_down: false,
            quits: 0,
            eras: EraBook { plan, process: None, proven: None, wanted: false, in_attempt: 0 },
            in_flight: 0,
            last_needed: now,
            blocked: false,
        }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Wake => {
                // That is heard only by a process that was stopped for idleness.
                self.eras.wanted |= self.stopping && self.ready.contains(&self.machine.view().generation);
                self.tell(Input::Wake);
            }
            Act::Restart => {
                self.eras.wanted = true;
                self.own_starts.clear();
                self.in_a_row = 0;
                self.tell(Input::Restart);
            }
            Act::Suspect => self.tell(Input::Suspect),
            Act::Shutdown => {
                self.shut_down = true;
                self.tell(Input::Shutdown);
            }
            Act::Pass(millis) => self.pass(Duration::from_millis(millis)),
            Act::Stage if self.thing == Thing::Start => self.tell(Input::Staged),
            Act::Launch if self.thing == Thing::Start => {
                self.thing = Thing::Process;
                self.eras.process = Some(self.machine.era());
                self.tell(Input::Entered(Phase::Connect));
            }
            Act::Refuse if self.thing == Thing::Process => {
                if self.machine.view().state == State::Starting && self.eras.process == self.eras.proven {
                    self.eras.proven = None;
                }
                self.tell(Input::Refused(fault(Permanence::Permanent)));
            }
            Act::Open if self.thing == Thing::Process => self.tell(Input::Opened),
            Act::Fail(permanence) if self.thing == Thing::Process => self.tell(Input::Failed(fault(permanence))),
            Act::Die(permanence) if self.thing != Thing::Nothing => self.end(permanence),
            Act::StopDone if self.stopping => self.end(Permanence::Transient),
            Act::Alive if self.thing == Thing::Process => self.tell(Input::Alive),
            Act::Answer if self.thing == Thing::Process => self.tell(Input::Answered),
            Act::Work(begins) => {
                self.in_flight = if begins { self.in_flight + 1 } else { self.in_flight.saturating_sub(1) };
                self.last_needed = self.now;
            }
            Act::Block(blocked) => self.blocked = blocked,
            Act::Stage
            | Act::Launch
            | Act::Open
            | Act::Refuse
            | Act::Fail(_)
            | Act::Die(_)
            | Act::StopDone
            | Act::Alive
            | Act::Answer => {}
        }
    }

    fn end(&mut self, permanence: Permanence) {
        (self.thing, self.stopping, self.eras.process) = (Thing::Nothing, false, None);
        self.tell(Input::Ended(fault(permanence)));
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(deadline) = self.machine.deadline().filter(|deadline| *deadline <= end) {
            self.now = self.now.max(deadline);
            let (in_flight, last_needed, blocked) = (self.in_flight, self.last_needed, self.blocked);
            self.tell(Input::Tick(Situation { in_flight, last_needed, blocked }));
            let next = self.machine.deadline();
            assert!(next.is_none_or(|next| next > self.now), "the machine wants to be told the same time for ever");
        }
        self.now = end;
    }

    fn tell(&mut self, input: Input) {
        let (own, ended) = (matches!(input, Input::Tick(_)), matches!(input, Input::Ended(_)));
        let before = self.machine.era();
        let effects = self.machine.handle(self.now, input);
        let failed = effects.iter().any(|effect| matches!(effect, Effect::Failed(..)));
        for effect in effects {
            match effect {
                Effect::Start(_) => {
                    self.started(own);
                    assert!(!failed, "a start beside a failure");
                    self.eras.count(ended, self.machine.era());
                }
                Effect::Stop => {
                    assert_ne!(self.thing, Thing::Nothing, "there is nothing to stop");
                    assert!(!self.stopping, "stopped twice");
                    self.stopping = true;
                }
                Effect::Probe => {
                    assert_eq!((self.thing, self.stopping), (Thing::Process, false));
                    assert!(self.in_flight == 0 || !own || self.machine.suspects(), "probed in the middle of a call");
                }
                Effect::Ready(generation) => {
                    assert_eq!((self.thing, self.stopping), (Thing::Process, false));
                    assert!(self.ready.insert(generation), "ready twice");
                    self.in_a_row = 0;
                    self.eras.proven = self.eras.process;
                }
                Effect::EraRefused(era) => assert_eq!(era, before, "refused what was not tried"),
                Effect::Gone(generation, _) => {
                    assert_eq!(self.thing, Thing::Nothing, "gone while it is there");
                    assert!(self.ready.contains(&generation), "gone before it was ready");
                    assert!(self.gone.insert(generation), "gone twice");
                }
                Effect::Quit => self.quits += 1,
                Effect::Failed(..) | Effect::Event(_) => {}
            }
        }
        let state = self.machine.view().state;
        let has_thing = matches!(state, State::Queued | State::Starting | State::Ready | State::Stopping);
        assert_eq!(has_thing, self.thing != Thing::Nothing, "{state:?} with {:?}", self.thing);
        assert_eq!(self.stopping, state == State::Stopping);
        if !self.stopping && self.eras.process.is_some() {
            assert_eq!(self.eras.process, Some(self.machine.era()), "a process is locked to its era");
        }
    }

    fn started(&mut self, own: bool) {
        assert_eq!(self.thing, Thing::Nothing, "a second process");
        assert!(!self.shut_down, "a start after the shutdown");
        self.thing = Thing::Start;
        if own {
            self.own_starts.push(self.now);
            self.in_a_row += 1;
            let budget = self.settings.restarts;
            let recent = |at: &&Instant| self.now.saturating_duration_since(**at) < budget.window;
            let lately = self.own_starts.iter().filter(recent).count();
            assert!(lately <= budget.count as usize, "{lately} restarts in the window");
            assert!(self.in_a_row <= budget.count, "{} restarts in a row", self.in_a_row);
        }
    }
}

fn fault(permanence: Permanence) -> Failure {
    Failure::new(Phase::Runtime, Cause::Lost("fault".to_owned()), permanence)
}

fn permanence() -> impl Strategy<Value = Permanence> {
    prop_oneof![9 => Just(Permanence::Transient), 1 => Just(Permanence::Permanent)]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => Just(Act::Wake),
        1 => Just(Act::Restart),
        1 => Just(Act::Suspect),
        6 => (0_u64..90_000).prop_map(Act::Pass),
        6 => Just(Act::Stage),
        6 => Just(Act::Launch),
        6 => Just(Act::Open),
        3 => Just(Act::Refuse),
        2 => permanence().prop_map(Act::Fail),
        4 => permanence().prop_map(Act::Die),
        4 => Just(Act::StopDone),
        2 => Just(Act::Alive),
        2 => Just(Act::Answer),
        2 => any::<bool>().prop_map(Act::Work),
        1 => any::<bool>().prop_map(Act::Block),
    ]
}

fn plan() -> impl Strategy<Value = EraPlan> {
    let first = prop_oneof![Just(Era::Legacy), Just(Era::Modern)];
    (first, prop::bool::weighted(0.2)).prop_map(|(first, is_fixed)| EraPlan { first, is_fixed })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn every_life_keeps_the_promises(plan in plan(), life in prop::collection::vec(act(), 0..120), afterlife in prop::collection::vec(act(), 0..30)) {
        let mut world = World::new(plan);
        for act in life {
            world.act(act);
        }
        world.act(Act::Shutdown);
        for act in afterlife {
            world.act(act);
        }
        world.act(Act::StopDone);
        prop_assert_eq!(world.thing, Thing::Nothing);
        prop_assert_eq!(world.quits, 1);
        prop_assert_eq!(&world.ready, &world.gone, "every process that was ready is gone once");
    }
}
