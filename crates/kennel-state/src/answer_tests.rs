use super::*;

const LONG: Duration = Duration::from_mins(1);

#[test]
fn an_answer_from_another_thread_ends_the_wait() {
    let (reply, answer) = Answer::new();
    let answering = std::thread::spawn(move || reply.send(Ok(7)).expect("somebody waits"));
    assert_eq!(answer.wait(LONG).expect("an answer"), 7);
    answering.join().expect("it answered");
    assert_eq!(Answer::ready(Ok(8)).wait(Duration::ZERO).expect("an answer"), 8);
}

#[test]
fn nobody_waits_for_ever() {
    let (_reply, answer) = Answer::<u8>::new();
    assert!(matches!(answer.wait(Duration::from_millis(5)), Err(StateError::Late)));
    let (reply, answer) = Answer::<u8>::new();
    drop(reply);
    assert!(matches!(answer.wait(LONG), Err(StateError::Closed)));
}

#[tokio::test]
async fn an_answer_can_be_waited_for_within_a_task() {
    let (reply, answer) = Answer::new();
    let answering = std::thread::spawn(move || reply.send(Ok(7)).expect("somebody waits"));
    assert_eq!(answer.wait(LONG).expect("an answer"), 7);
    answering.join().expect("it answered");
    assert_eq!(Answer::ready(Ok(8)).await.expect("an answer"), 8);
}
