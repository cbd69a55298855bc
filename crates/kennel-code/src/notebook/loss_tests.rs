use super::*;

#[test]
fn each_loss_is_told_in_few_words() {
    let ended = |cause, status| Loss::Ended(ExitReport { status, cause });
    for (loss, text) in [
        (ended(ExitCause::OutOfMemory, ExitStatus::Signal(9)), "out of memory"),
        (ended(ExitCause::Exited, ExitStatus::Code(3)), "exited with code 3"),
        (ended(ExitCause::Signalled, ExitStatus::Signal(11)), "killed by signal 11"),
        (ended(ExitCause::PidsLimit, ExitStatus::Code(1)), "too many processes and threads (exit code 1)"),
        (ended(ExitCause::Seccomp, ExitStatus::Signal(31)), "forbidden system call (signal 31)"),
        (ended(ExitCause::BoxEnded, ExitStatus::Signal(9)), "the box ended"),
        (Loss::ChannelClosed, "it closed its channel to Kennel"),
        (Loss::DidNotStop { grace: Duration::from_secs(3) }, "killed because it did not stop within 3 s"),
        (Loss::Idle(Duration::from_mins(5)), "idle for 5 minutes"),
        (Loss::Idle(Duration::from_mins(1)), "idle for 1 minute"),
        (Loss::Idle(Duration::from_secs(90)), "idle for 90 s"),
        (Loss::Idle(Duration::from_millis(1500)), "idle for 1.5 s"),
        (Loss::Idle(Duration::from_millis(200)), "idle for 200 ms"),
    ] {
        assert_eq!(loss.to_string(), text);
    }
}
