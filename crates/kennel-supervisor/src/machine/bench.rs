//! A machine with its clock, for the tests.

pub(super) use super::*;

pub(super) const SECOND: Duration = Duration::from_secs(1);

/// A machine with its clock and everything it has said.
pub(super) struct Bench {
    pub(super) machine: Machine,
    pub(super) now: Instant,
    pub(super) said: Vec<Effect>,
    pub(super) in_flight: usize,
    pub(super) last_needed: Instant,
    pub(super) blocked: bool,
}

impl Bench {
    /// A machine of the legacy era only.
    pub(super) fn new(settings: Settings) -> Self {
        Self::with_plan(settings, EraPlan { first: Era::Legacy, is_fixed: true })
    }

    pub(super) fn with_plan(settings: Settings, plan: EraPlan) -> Self {
        let now = Instant::now();
        let machine = Machine::new(Arc::new(settings), plan, Box::new(|| 0.0));
        Self { machine, now, said: Vec::new(), in_flight: 0, last_needed: now, blocked: false }
    }

    pub(super) fn ready() -> Self {
        Self::ready_with(Settings::default())
    }

    pub(super) fn ready_with(settings: Settings) -> Self {
        let mut bench = Self::new(settings);
        bench.tell(Input::Wake);
        bench.get_ready();
        bench
    }

    pub(super) fn tell(&mut self, input: Input) -> Vec<Effect> {
        let effects = self.machine.handle(self.now, input);
        self.said.extend(effects.clone());
        effects
    }

    pub(super) fn get_ready(&mut self) {
        self.tell(Input::Staged);
        self.tell(Input::Entered(Phase::Connect));
        self.tell(Input::Opened);
        assert_eq!(self.state(), State::Ready);
    }

    /// Lets time pass, with a tick at each deadline, and returns what was said.
    pub(super) fn pass(&mut self, time: Duration) -> Vec<Effect> {
        let (end, mut effects) = (self.now + time, Vec::new());
        while let Some(deadline) = self.machine.deadline().filter(|deadline| *deadline <= end) {
            self.now = self.now.max(deadline);
            let (in_flight, last_needed, blocked) = (self.in_flight, self.last_needed, self.blocked);
            effects.extend(self.tell(Input::Tick(Situation { in_flight, last_needed, blocked })));
        }
        self.now = end;
        effects
    }

    pub(super) fn state(&self) -> State {
        self.machine.view().state
    }

    pub(super) fn last_next(&self) -> Option<Next> {
        let next = |effect: &Effect| if let Effect::Failed(_, next) = effect { Some(*next) } else { None };
        self.said.iter().rev().find_map(next)
    }
}

pub(super) fn count(effects: &[Effect], wanted: &Effect) -> usize {
    effects.iter().filter(|effect| *effect == wanted).count()
}

pub(super) fn starts(effects: &[Effect]) -> usize {
    effects.iter().filter(|effect| matches!(effect, Effect::Start(_))).count()
}

pub(super) fn fault() -> Failure {
    Failure::new(Phase::Handshake, Cause::Lost("fault".to_owned()), Permanence::Transient)
}

pub(super) fn permanent() -> Failure {
    Failure { permanence: Permanence::Permanent, ..fault() }
}
