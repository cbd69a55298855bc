use super::*;
use kennel_box::ExitStatus;

fn exited(cause: ExitCause) -> Failure {
    let report = ExitReport { status: ExitStatus::Signal(9), cause };
    Failure::exited(Phase::Runtime, report, vec!["opening /home/me/secret".to_owned()])
}

#[test]
fn the_operator_sees_everything() {
    let text = exited(ExitCause::OutOfMemory).to_string();
    for part in ["runtime", "out of memory", "signal 9", "hint: raise the memory limit", "opening /home/me/secret"] {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

#[test]
fn the_client_sees_the_kind_of_failure_and_the_phase_only() {
    let cases = [
        (exited(ExitCause::OutOfMemory), "the server ran out of memory (phase runtime)"),
        (exited(ExitCause::Seccomp), "the server made a forbidden system call (phase runtime)"),
        (exited(ExitCause::Signalled), "the server ended unexpectedly (phase runtime)"),
    ];
    for (failure, text) in cases {
        assert_eq!(failure.client_text(), text);
    }
}

#[test]
fn nothing_that_a_process_or_launcher_wrote_reaches_the_client() {
    let secret = "/home/me/secret";
    let causes = [
        Cause::Launch(secret.to_owned()),
        Cause::TimedOut { budget: Duration::from_secs(1), junk: Some(secret.to_owned()) },
        Cause::Protocol(secret.to_owned()),
        Cause::TooLarge { length: 1 },
        Cause::MissingTools(vec![secret.to_owned()]),
        Cause::Lost(secret.to_owned()),
    ];
    for cause in causes {
        let failure =
            Failure { hint: Some(secret.to_owned()), ..Failure::new(Phase::Call, cause, Permanence::Permanent) };
        let failure = Failure { remark: Some(secret.to_owned()), ..failure };
        assert!(failure.to_string().contains(secret));
        assert!(!failure.client_text().contains(secret), "{}", failure.client_text());
    }
}

#[test]
fn what_else_was_tried_is_told_to_the_operator() {
    let failure = Failure { remark: Some("and so on".to_owned()), ..exited(ExitCause::Seccomp) };
    assert!(failure.to_string().contains("; and so on\nhint: "), "{failure}");
    assert_eq!(serde_json::to_value(&failure).unwrap()["remark"], "and so on");
}

#[test]
fn the_admin_sees_it_in_parts() {
    let value = serde_json::to_value(exited(ExitCause::PidsLimit)).unwrap();
    assert_eq!(value["phase"], "runtime");
    assert_eq!(value["permanence"], "transient");
    assert_eq!(value["stderr"][0], "opening /home/me/secret");
    assert_eq!(value["client_text"], "the server reached its limit of processes (phase runtime)");
}
