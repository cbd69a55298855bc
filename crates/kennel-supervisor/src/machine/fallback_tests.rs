//! Processes that turn out to speak the other era only.

use super::bench::*;

const MODERN_FIRST: EraPlan = EraPlan { first: Era::Modern, is_fixed: false };
const LEGACY_FIRST: EraPlan = EraPlan { first: Era::Legacy, is_fixed: false };

/// A process that has just been asked who it is.
fn asked(plan: EraPlan) -> Bench {
    let mut bench = Bench::with_plan(Settings::default(), plan);
    bench.tell(Input::Wake);
    ask(&mut bench);
    bench
}

fn ask(bench: &mut Bench) {
    bench.tell(Input::Staged);
    bench.tell(Input::Entered(Phase::Connect));
}

fn refusal(text: &str) -> Failure {
    Failure::new(Phase::Handshake, Cause::Protocol(text.to_owned()), Permanence::Permanent)
}

fn refused(effects: &[Effect]) -> Vec<Era> {
    effects.iter().filter_map(|effect| if let Effect::EraRefused(era) = effect { Some(*era) } else { None }).collect()
}

fn failures(effects: &[Effect]) -> Vec<Failure> {
    let failure =
        |effect: &Effect| if let Effect::Failed(failure, _) = effect { Some((**failure).clone()) } else { None };
    effects.iter().filter_map(failure).collect()
}

#[test]
fn a_refused_process_is_stopped_and_the_other_era_follows_at_once_and_for_nothing() {
    for (plan, second) in [(MODERN_FIRST, Era::Legacy), (LEGACY_FIRST, Era::Modern)] {
        let mut bench = asked(plan);
        assert_eq!(bench.machine.era(), plan.first);
        let effects = bench.tell(Input::Refused(refusal("no")));
        assert_eq!((count(&effects, &Effect::Stop), starts(&effects)), (1, 0), "one after the other");
        assert_eq!(refused(&effects), [plan.first]);
        let effects = bench.tell(Input::Ended(fault()));
        assert_eq!((starts(&effects), bench.machine.era()), (1, second));
        assert_eq!(bench.machine.view().attempt, 1);
        bench.get_ready();
        assert_eq!(failures(&bench.said), []);
        assert_eq!(bench.last_next(), None);
    }
}

#[test]
fn changing_eras_leaves_the_budget_of_restarts_as_it_was() {
    let budget = crate::RestartBudget { count: 2, window: Duration::from_hours(1) };
    let mut bench = Bench::with_plan(Settings { restarts: budget, ..Settings::default() }, MODERN_FIRST);
    bench.tell(Input::Wake);
    for attempt in 1..=3 {
        ask(&mut bench);
        assert_eq!((bench.machine.era(), bench.machine.view().attempt), (Era::Modern, attempt));
        bench.tell(Input::Ended(fault()));
        ask(&mut bench);
        assert_eq!((bench.machine.era(), bench.machine.view().attempt), (Era::Legacy, attempt));
        bench.tell(Input::Ended(fault()));
        bench.pass(60 * SECOND);
    }
    assert_eq!((bench.state(), starts(&bench.said), failures(&bench.said).len()), (State::Parked, 6, 3));
}

#[test]
fn a_process_that_ends_when_it_is_discovered_is_followed_by_one_of_the_legacy_era() {
    let mut bench = asked(MODERN_FIRST);
    let effects = bench.tell(Input::Ended(fault()));
    assert_eq!((starts(&effects), count(&effects, &Effect::Stop), refused(&effects)), (1, 0, vec![Era::Modern]));
    ask(&mut bench);
    let effects = bench.tell(Input::Ended(fault()));
    assert_eq!((refused(&effects), failures(&effects)), (vec![], vec![fault()]), "an ordinary failure");
    assert_eq!(bench.state(), State::Waiting);
}

#[test]
fn a_process_that_ends_before_or_after_it_is_discovered_has_failed() {
    let mut bench = Bench::with_plan(Settings::default(), MODERN_FIRST);
    bench.tell(Input::Wake);
    bench.tell(Input::Staged);
    bench.tell(Input::Ended(fault()));
    assert_eq!((bench.state(), refused(&bench.said)), (State::Waiting, vec![]));
    let mut bench = asked(MODERN_FIRST);
    bench.tell(Input::Entered(Phase::Handshake));
    bench.tell(Input::Entered(Phase::Preflight));
    bench.tell(Input::Ended(fault()));
    assert_eq!((bench.state(), refused(&bench.said)), (State::Waiting, vec![]));
}

#[test]
fn silence_is_waited_for_a_short_time_and_is_no_refusal() {
    let mut bench = asked(MODERN_FIRST);
    bench.pass(5 * SECOND);
    bench.tell(Input::Entered(Phase::Handshake));
    assert_eq!(bench.pass(4 * SECOND), [], "what it writes does not give it more time, nor less");
    let effects = bench.pass(SECOND);
    assert_eq!((count(&effects, &Effect::Stop), refused(&effects), failures(&effects)), (1, vec![], vec![]));
    bench.tell(Input::Ended(fault()));
    assert_eq!((bench.state(), bench.machine.era()), (State::Queued, Era::Legacy));
    ask(&mut bench);
    assert_eq!(bench.pass(59 * SECOND), [], "the legacy era has the whole budget of the handshake");
    let effects = bench.pass(SECOND);
    let expected = Cause::TimedOut { budget: 60 * SECOND, junk: None };
    assert_eq!(failures(&effects)[0], Failure::new(Phase::Connect, expected, Permanence::Transient));
}

#[test]
fn discovery_has_no_more_time_than_any_handshake() {
    let budgets = crate::PhaseBudgets { handshake: 3 * SECOND, ..crate::PhaseBudgets::default() };
    let mut bench = Bench::with_plan(Settings { budgets, ..Settings::default() }, MODERN_FIRST);
    bench.tell(Input::Wake);
    ask(&mut bench);
    bench.pass(3 * SECOND);
    assert_eq!(bench.state(), State::Stopping);
}

#[test]
fn silence_with_a_fixed_plan_is_waited_for_as_in_any_handshake() {
    let mut bench = asked(EraPlan { is_fixed: true, ..MODERN_FIRST });
    assert_eq!(bench.pass(59 * SECOND), []);
    let failed = failures(&bench.pass(SECOND));
    assert_eq!(failed[0].cause, Cause::TimedOut { budget: 60 * SECOND, junk: None });
}

#[test]
fn the_failure_of_the_first_era_is_told_when_the_second_is_refused_too() {
    for (plan, second) in [(MODERN_FIRST, Era::Legacy), (LEGACY_FIRST, Era::Modern)] {
        let mut bench = asked(plan);
        bench.tell(Input::Refused(refusal("first")));
        bench.tell(Input::Ended(Failure { stderr: vec!["old".to_owned()], ..fault() }));
        ask(&mut bench);
        let effects = bench.tell(Input::Refused(refusal("second")));
        assert_eq!(refused(&effects), [second]);
        let [failure] = &failures(&effects)[..] else { panic!("{effects:?}") };
        assert_eq!((failure.phase, failure.cause.to_string()), (Phase::Handshake, "first".to_owned()));
        assert!(failure.remark.as_ref().is_some_and(|remark| remark.ends_with("refused too: second")), "{failure}");
        assert_eq!(failure.stderr, ["old"]);
        assert_eq!(bench.last_next(), Some(Next::Never));
        bench.tell(Input::Ended(fault()));
        assert_eq!(bench.state(), State::Failed);
        bench.tell(Input::Restart);
        assert_eq!(bench.machine.era(), plan.first, "the operator begins anew");
    }
}

#[test]
fn a_refusal_that_comes_too_late_changes_nothing() {
    let mut bench = Bench::ready();
    assert_eq!(bench.tell(Input::Refused(refusal("late"))), []);
    let mut bench = asked(MODERN_FIRST);
    bench.tell(Input::Shutdown);
    assert_eq!(bench.tell(Input::Refused(refusal("late"))), []);
    assert_eq!(count(&bench.tell(Input::Ended(fault())), &Effect::Quit), 1);
}

#[test]
fn what_is_wanted_meanwhile_wins() {
    let mut bench = asked(MODERN_FIRST);
    bench.tell(Input::Refused(refusal("no")));
    bench.tell(Input::Wake);
    bench.tell(Input::Shutdown);
    let effects = bench.tell(Input::Ended(fault()));
    assert_eq!((starts(&effects), count(&effects, &Effect::Quit)), (0, 1));
    let mut bench = asked(MODERN_FIRST);
    bench.tell(Input::Refused(refusal("no")));
    bench.tell(Input::Restart);
    assert_eq!(starts(&bench.tell(Input::Ended(fault()))), 1);
    assert_eq!(bench.machine.era(), Era::Modern, "the operator begins anew");
}
