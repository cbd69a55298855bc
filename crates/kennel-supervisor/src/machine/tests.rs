//! Starts, failures, restarts, and the operator.

use super::bench::*;

#[test]
fn any_number_of_wakes_cause_one_start() {
    let mut bench = Bench::new(Settings::default());
    for _ in 0..3 {
        bench.tell(Input::Wake);
    }
    bench.get_ready();
    bench.tell(Input::Wake);
    assert_eq!(starts(&bench.said), 1);
}

#[test]
fn each_phase_has_its_own_budget_and_names_itself() {
    let budgets = Settings::default().budgets;
    let phases = [
        (vec![Phase::Install], budgets.install),
        (vec![Phase::CreateBox], budgets.create_box),
        (vec![Phase::StartProcess], budgets.start_process),
        (vec![Phase::Connect], budgets.handshake),
        (vec![Phase::Connect, Phase::Handshake, Phase::Preflight], budgets.preflight),
    ];
    for (path, budget) in phases {
        let mut bench = Bench::new(Settings::default());
        bench.tell(Input::Wake);
        bench.tell(Input::Staged);
        for phase in &path {
            bench.tell(Input::Entered(*phase));
        }
        assert!(bench.pass(budget.saturating_sub(SECOND)).is_empty(), "{path:?} failed within its budget");
        let effects = bench.pass(SECOND);
        let failed = effects.iter().find_map(|effect| match effect {
            Effect::Failed(failure, _) => Some((failure.phase, failure.cause.clone())),
            _ => None,
        });
        let expected = Cause::TimedOut { budget, junk: None };
        assert_eq!(failed, Some((*path.last().unwrap(), expected)));
        assert_eq!(count(&effects, &Effect::Stop), 1);
    }
}

#[test]
fn the_first_bytes_do_not_give_the_handshake_more_time() {
    let mut bench = Bench::new(Settings::default());
    bench.tell(Input::Wake);
    bench.tell(Input::Staged);
    bench.tell(Input::Entered(Phase::Connect));
    bench.pass(59 * SECOND);
    bench.tell(Input::Entered(Phase::Handshake));
    bench.pass(SECOND);
    assert_eq!(bench.state(), State::Stopping);
}

#[test]
fn waiting_for_a_turn_costs_no_budget() {
    let mut bench = Bench::new(Settings::default());
    bench.tell(Input::Wake);
    assert!(bench.pass(Duration::from_hours(1)).is_empty());
    assert_eq!(bench.state(), State::Queued);
}

#[test]
fn delays_double_up_to_the_limit() {
    let mut bench =
        Bench::new(Settings { restarts: crate::RestartBudget { count: 100, window: SECOND }, ..Settings::default() });
    bench.tell(Input::Wake);
    let delays: Vec<_> = (0..7)
        .map(|_| {
            bench.tell(Input::Ended(fault()));
            let Some(Next::RetryIn(delay)) = bench.last_next() else { panic!("no retry") };
            assert!(bench.pass(delay.saturating_sub(Duration::from_millis(1))).is_empty(), "too early");
            assert_eq!(starts(&bench.pass(Duration::from_millis(1))), 1);
            delay.as_secs()
        })
        .collect();
    assert_eq!(delays, [2, 4, 8, 16, 32, 60, 60]);
}

#[test]
fn restarts_end_with_the_budget_and_begin_again_with_the_operator() {
    let mut bench = Bench::new(Settings::default());
    bench.tell(Input::Wake);
    bench.tell(Input::Ended(fault()));
    for _ in 0..100 {
        bench.pass(60 * SECOND);
        bench.tell(Input::Ended(fault()));
    }
    assert_eq!((bench.state(), bench.last_next()), (State::Parked, Some(Next::Parked)));
    assert_eq!(starts(&bench.said), 6);
    bench.tell(Input::Wake);
    assert!(bench.pass(Duration::from_hours(24)).is_empty(), "a parked instance started by itself");
    assert_eq!(starts(&bench.tell(Input::Restart)), 1);
    bench.tell(Input::Ended(fault()));
    assert_eq!(bench.state(), State::Waiting);
}

#[test]
fn slow_failures_are_not_retried_for_ever() {
    let mut bench = Bench::new(Settings::default());
    bench.tell(Input::Wake);
    for _ in 0..50 {
        bench.tell(Input::Staged);
        bench.tell(Input::Entered(Phase::Connect));
        bench.pass(60 * SECOND);
        bench.tell(Input::Ended(fault()));
        bench.pass(60 * SECOND);
    }
    assert_eq!(bench.state(), State::Parked);
    assert_eq!(starts(&bench.said), 6);
}

#[test]
fn a_process_that_dies_after_each_first_answer_is_parked() {
    let mut bench = Bench::ready();
    for _ in 0..5 {
        bench.tell(Input::Answered);
        bench.tell(Input::Ended(fault()));
        assert_eq!(bench.last_next(), Some(Next::RetryIn(2 * SECOND)), "the delay did not begin anew");
        bench.pass(2 * SECOND);
        bench.get_ready();
    }
    bench.tell(Input::Answered);
    bench.tell(Input::Ended(fault()));
    assert_eq!(bench.state(), State::Parked);
}

#[test]
fn a_process_that_dies_now_and_then_is_restarted_each_time() {
    let mut bench = Bench::ready();
    for _ in 0..50 {
        for _ in 0..16 {
            bench.pass(5 * SECOND);
            bench.tell(Input::Answered);
        }
        bench.tell(Input::Ended(fault()));
        assert_eq!(bench.last_next(), Some(Next::RetryIn(2 * SECOND)));
        bench.pass(2 * SECOND);
        bench.get_ready();
    }
}

#[test]
fn a_process_that_got_ready_but_never_answered_does_not_reset_the_delay() {
    let mut bench = Bench::ready();
    bench.tell(Input::Ended(fault()));
    bench.pass(2 * SECOND);
    bench.get_ready();
    bench.tell(Input::Ended(fault()));
    assert_eq!(bench.last_next(), Some(Next::RetryIn(4 * SECOND)));
}

#[test]
fn a_process_that_stays_ready_for_a_while_resets_the_delay_without_any_answer() {
    let mut bench = Bench::ready();
    bench.tell(Input::Ended(fault()));
    bench.pass(2 * SECOND);
    bench.get_ready();
    for _ in 0..15 {
        bench.pass(4 * SECOND);
        bench.tell(Input::Alive);
    }
    bench.tell(Input::Ended(fault()));
    assert_eq!(bench.last_next(), Some(Next::RetryIn(2 * SECOND)));
}

#[test]
fn a_permanent_failure_and_a_missing_engine_are_not_retried() {
    let missing = Failure::new(Phase::EngineUnavailable, Cause::Launch(String::new()), Permanence::Transient);
    for failure in [permanent(), missing] {
        let mut bench = Bench::new(Settings::default());
        bench.tell(Input::Wake);
        bench.tell(Input::Staged);
        bench.tell(Input::Failed(failure.clone()));
        assert_eq!(bench.last_next(), Some(Next::Never), "told before the process has ended");
        bench.tell(Input::Ended(fault()));
        assert_eq!(bench.state(), State::Failed);
        bench.tell(Input::Wake);
        bench.pass(Duration::from_hours(24));
        assert_eq!(starts(&bench.said), 1);
        assert_eq!(starts(&bench.tell(Input::Restart)), 1);
    }
}

#[test]
fn a_failed_start_is_over_before_the_next_begins() {
    let mut bench = Bench::new(Settings::default());
    bench.tell(Input::Wake);
    bench.tell(Input::Staged);
    bench.tell(Input::Failed(fault()));
    assert!(bench.pass(60 * SECOND).is_empty(), "a second process while the first is being stopped");
    bench.tell(Input::Ended(fault()));
    assert_eq!(starts(&bench.pass(Duration::ZERO)), 1, "the delay counts from the failure");
}

#[test]
fn the_operator_replaces_a_process_without_a_delay() {
    let mut bench = Bench::ready();
    bench.tell(Input::Restart);
    assert_eq!(bench.state(), State::Stopping);
    let effects = bench.tell(Input::Ended(fault()));
    let generation = Generation::new(1);
    assert_eq!(count(&effects, &Effect::Gone(generation, End::Stopped(StopReason::Restart))), 1);
    assert_eq!(count(&effects, &Effect::Start(generation.next())), 1);
}

#[test]
fn shutdown_wins_over_everything_that_comes_later_or_came_before() {
    for before in [Input::Wake, Input::Restart, Input::Shutdown] {
        let mut bench = Bench::ready();
        bench.tell(before);
        bench.tell(Input::Shutdown);
        bench.tell(Input::Restart);
        bench.tell(Input::Wake);
        let effects = bench.tell(Input::Ended(fault()));
        assert_eq!((starts(&effects), count(&effects, &Effect::Quit)), (0, 1));
    }
}
