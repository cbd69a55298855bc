//! Probes and idleness.

use super::bench::*;

#[test]
fn silence_is_probed_and_only_the_last_missing_answer_makes_ill() {
    let mut bench = Bench::ready();
    assert_eq!(bench.pass(5 * SECOND), [Effect::Probe]);
    assert_eq!(bench.pass(5 * SECOND), [Effect::Probe]);
    assert_eq!(bench.pass(5 * SECOND), [Effect::Probe]);
    assert_eq!(count(&bench.pass(5 * SECOND), &Effect::Stop), 1);
    let effects = bench.tell(Input::Ended(fault()));
    let generation = bench.machine.generation;
    assert_eq!(count(&effects, &Effect::Gone(generation, End::Stopped(StopReason::Ill))), 1);
    assert_eq!(bench.state(), State::Waiting);
}

#[test]
fn any_message_clears_missed_probes() {
    let mut bench = Bench::ready();
    for _ in 0..10 {
        bench.pass(15 * SECOND);
        bench.tell(Input::Alive);
    }
    assert_eq!(bench.state(), State::Ready);
}

#[test]
fn a_process_that_writes_is_not_probed() {
    let mut bench = Bench::ready();
    for _ in 0..100 {
        bench.tell(Input::Alive);
        assert_eq!(bench.pass(4 * SECOND), []);
    }
}

#[test]
fn a_long_call_is_neither_probed_nor_ill() {
    let mut bench = Bench::ready();
    bench.pass(5 * SECOND);
    bench.in_flight = 1;
    assert_eq!(bench.pass(Duration::from_hours(1)), [], "probed, or stopped, in the middle of a call");
}

#[test]
fn suspicion_probes_at_once_although_calls_are_in_flight() {
    let mut bench = Bench::ready();
    bench.in_flight = 1;
    bench.pass(60 * SECOND);
    assert_eq!(bench.tell(Input::Suspect), [Effect::Probe]);
    assert_eq!(bench.tell(Input::Suspect), [], "one probe is enough");
    bench.pass(14 * SECOND);
    assert_eq!(bench.state(), State::Ready);
    bench.pass(SECOND);
    assert_eq!(bench.state(), State::Stopping);
}

#[test]
fn an_answer_ends_suspicion() {
    let mut bench = Bench::ready();
    bench.in_flight = 1;
    bench.tell(Input::Suspect);
    bench.tell(Input::Answered);
    assert_eq!(bench.pass(Duration::from_hours(1)), []);
}

#[test]
fn nothing_is_counted_while_nothing_is_read() {
    let mut bench = Bench::ready();
    bench.pass(6 * SECOND);
    bench.tell(Input::Suspect);
    bench.blocked = true;
    assert_eq!(bench.pass(Duration::from_hours(1)), []);
    bench.blocked = false;
    bench.pass(15 * SECOND);
    assert_eq!(bench.state(), State::Stopping);
}

#[test]
fn idleness_counts_from_the_last_need_and_not_during_calls() {
    let mut bench = Bench::ready();
    bench.in_flight = 1;
    bench.pass(Duration::from_hours(1));
    (bench.in_flight, bench.last_needed) = (0, bench.now);
    let answering = |bench: &mut Bench, time: Duration| {
        for _ in 0..time.as_secs() {
            bench.pass(SECOND);
            bench.tell(Input::Answered);
        }
    };
    answering(&mut bench, Duration::from_mins(14));
    assert_eq!(bench.state(), State::Ready);
    bench.last_needed = bench.now;
    answering(&mut bench, Duration::from_mins(14));
    assert_eq!(bench.state(), State::Ready);
    answering(&mut bench, Duration::from_mins(1));
    assert_eq!(bench.state(), State::Stopping);
    let effects = bench.tell(Input::Ended(fault()));
    let generation = bench.machine.generation;
    assert_eq!(count(&effects, &Effect::Gone(generation, End::Stopped(StopReason::Idle))), 1);
    assert_eq!(bench.state(), State::Asleep);
}

#[test]
fn a_wake_during_an_idle_stop_starts_again_without_a_cost() {
    let mut bench = Bench::ready_with(Settings { probe_interval: Duration::from_hours(24), ..Settings::default() });
    bench.pass(Duration::from_mins(15));
    assert_eq!(bench.state(), State::Stopping);
    bench.tell(Input::Wake);
    let effects = bench.tell(Input::Ended(fault()));
    assert_eq!(starts(&effects), 1);
    assert_eq!(bench.machine.view().attempt, 1);
}
