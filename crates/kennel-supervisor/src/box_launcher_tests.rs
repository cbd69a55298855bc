use super::*;
use kennel_jail::{Stage, StageError};
use std::path::PathBuf;

const ENOENT: i32 = 2;
const EPERM: i32 = 1;
const EIO: i32 = 5;
const EAGAIN: i32 = 11;
const ENOMEM: i32 = 12;
const EMFILE: i32 = 24;

fn stage(stage: Stage, errno: i32) -> StageError {
    StageError { stage, subject: "server".to_owned(), errno }
}

fn verdict(error: JailError) -> (Phase, Permanence) {
    let failure = failure(&StartError::Box(BoxError::Jail(error)));
    (failure.phase, failure.permanence)
}

#[test]
fn a_machine_without_boxes_is_told_from_a_box_that_failed() {
    use Permanence::{Permanent, Transient};
    let helper = JailError::HelperStart { program: PathBuf::from("/kennel"), source: std::io::Error::other("no") };
    let no_process = std::io::Error::from_raw_os_error(EAGAIN);
    let no_process = JailError::HelperStart { program: PathBuf::from("/kennel"), source: no_process };
    let cases = [
        (helper, (Phase::EngineUnavailable, Permanent)),
        (JailError::HelperGone, (Phase::CreateBox, Transient)),
        (no_process, (Phase::CreateBox, Transient)),
        (JailError::Refused(stage(Stage::Clone, EAGAIN)), (Phase::CreateBox, Transient)),
        (JailError::Refused(stage(Stage::UserNamespace, ENOMEM)), (Phase::CreateBox, Transient)),
        (JailError::Refused(stage(Stage::Mount, EMFILE)), (Phase::CreateBox, Transient)),
        (JailError::NotStarted(stage(Stage::Fork, EAGAIN)), (Phase::StartProcess, Transient)),
        (JailError::Refused(stage(Stage::Clone, EPERM)), (Phase::EngineUnavailable, Permanent)),
        (JailError::Refused(stage(Stage::UserNamespace, EPERM)), (Phase::EngineUnavailable, Permanent)),
        (JailError::Refused(stage(Stage::Grant, EIO)), (Phase::CreateBox, Transient)),
        (JailError::BoxEnded, (Phase::CreateBox, Transient)),
        (JailError::NotStarted(stage(Stage::Execute, ENOENT)), (Phase::StartProcess, Permanent)),
        (JailError::NotStarted(stage(Stage::Execute, EIO)), (Phase::StartProcess, Transient)),
    ];
    for (error, expected) in cases {
        let text = error.to_string();
        assert_eq!(verdict(error), expected, "{text}");
    }
}

#[test]
fn the_hint_of_the_box_is_kept() {
    let error = JailError::NotStarted(stage(Stage::Execute, ENOENT));
    let failure = failure(&StartError::Box(BoxError::Jail(error)));
    assert!(failure.hint.is_some_and(|hint| hint.contains("--read")));
    assert!(failure.text.contains("`server`"));
}
