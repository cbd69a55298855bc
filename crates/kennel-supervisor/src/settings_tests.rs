use super::*;

#[test]
fn the_defaults_fit_together() {
    Settings::default().check().unwrap();
}

#[test]
fn settings_that_cannot_work_are_named() {
    let zero = |name| Err(SettingsError::Zero { name });
    let good = Settings::default;
    let cases = [
        (Settings { probe_failures: 0, ..good() }, zero("probe_failures")),
        (Settings { probe_timeout: Duration::ZERO, ..good() }, zero("probe_timeout")),
        (Settings { line_bytes: 0, ..good() }, zero("line_bytes")),
        (
            Settings { budgets: PhaseBudgets { discover: Duration::ZERO, ..PhaseBudgets::default() }, ..good() },
            zero("budgets.discover"),
        ),
        (
            Settings { backoff: Backoff { jitter_percent: 101, ..Backoff::default() }, ..good() },
            Err(SettingsError::Jitter(101)),
        ),
        (
            Settings { backoff: Backoff { max: Duration::from_secs(1), ..Backoff::default() }, ..good() },
            Err(SettingsError::Backoff { base: Duration::from_secs(2), max: Duration::from_secs(1) }),
        ),
        (
            Settings { idle_stop: Some(Duration::from_secs(5)), ..good() },
            Err(SettingsError::Idle { idle: Duration::from_secs(5), probe: Duration::from_secs(5) }),
        ),
        (Settings { idle_stop: None, ..good() }, Ok(())),
    ];
    for (settings, expected) in cases {
        assert_eq!(settings.check(), expected);
    }
}

#[test]
fn clients_must_be_told_to_wait_longer_than_the_longest_start_and_stop() {
    let settings = Settings::default();
    let longest = settings.longest_start() + settings.longest_stop();
    settings.check_told(longest + Duration::from_secs(1)).unwrap();
    assert!(matches!(settings.check_told(longest), Err(SettingsError::LongerThanTold { .. })));
}

#[test]
fn the_longest_start_has_two_processes_one_of_them_silent_and_stopped() {
    let second = Duration::from_secs;
    let budgets = PhaseBudgets {
        install: second(1),
        create_box: second(10),
        start_process: second(100),
        handshake: second(1000),
        discover: second(500),
        preflight: second(10_000),
    };
    let graces = Graces { stdin: second(2), term: second(3) };
    let settings = Settings { budgets, graces, drain: second(4), ..Settings::default() };
    assert_eq!(settings.longest_start(), second(110 + 500 + 9 + 110 + 1000 + 10_000));
    let discover = second(5000);
    let settings = Settings { budgets: PhaseBudgets { discover, ..budgets }, ..settings };
    assert_eq!(settings.longest_start(), second(110 + 1000 + 9 + 110 + 1000 + 10_000));
}

#[test]
fn chance_only_shortens_a_delay_and_by_no_more_than_it_may() {
    let backoff = Backoff::default();
    assert_eq!(backoff.delay(0, 0.0), Duration::from_secs(2));
    assert_eq!(backoff.delay(2, 0.5), Duration::from_millis(7200));
    assert_eq!(backoff.delay(99, 0.0), Duration::from_mins(1));
    assert_eq!(backoff.delay(99, 1.0), Duration::from_secs(48));
}
