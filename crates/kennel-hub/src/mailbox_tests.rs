use super::*;
use std::time::Duration;
use tokio::time::timeout;

fn message(kind: OutgoingKind, text: &'static str) -> Outgoing {
    Outgoing { message: Bytes::from_static(text.as_bytes()), kind }
}

fn notification(text: &'static str) -> Outgoing {
    message(OutgoingKind::Notification, text)
}

fn texts(mailbox: &Mailbox) -> Vec<String> {
    let taken = std::iter::from_fn(|| mailbox.try_next());
    taken.map(|outgoing| String::from_utf8_lossy(&outgoing.message).into_owned()).collect()
}

fn is_taken(posted: &Posted) -> bool {
    matches!(posted, Posted::Taken)
}

#[test]
fn messages_come_out_as_they_went_in_within_the_bounds() {
    let mailbox = Mailbox::new(MailboxLimits { messages: 3, bytes: 100, all_bytes: usize::MAX });
    for text in ["1", "2", "3"] {
        assert!(is_taken(&mailbox.post(notification(text))));
    }
    assert!(matches!(mailbox.post(notification("4")), Posted::Full(back) if back.message == "4"));
    assert!(matches!(mailbox.post(message(OutgoingKind::Request, "5")), Posted::Full(_)));
    // What ends a request is always taken.
    assert!(is_taken(&mailbox.post(message(OutgoingKind::Response, "6"))));
    assert!(is_taken(&mailbox.post(message(OutgoingKind::Withdrawn, ""))));
    assert_eq!(texts(&mailbox), ["1", "2", "3", "6", ""]);
    assert!(is_taken(&mailbox.post(notification("7"))));
}

#[test]
fn bytes_are_bounded_too_but_one_message_always_fits() {
    let mailbox = Mailbox::new(MailboxLimits { messages: 10, bytes: 4, all_bytes: usize::MAX });
    assert!(is_taken(&mailbox.post(notification("larger than that"))));
    assert!(!is_taken(&mailbox.post(notification("x"))));
    assert_eq!(texts(&mailbox).len(), 1);
    assert!(is_taken(&mailbox.post(notification("123"))));
    assert!(is_taken(&mailbox.post(notification("4"))));
    assert!(!is_taken(&mailbox.post(notification("5"))));
}

#[tokio::test(start_paused = true)]
async fn a_reader_waits_for_the_next_message_and_hears_of_the_end() {
    let mailbox = Mailbox::new(MailboxLimits::default());
    let (next, ()) = tokio::join!(mailbox.next(), async {
        tokio::task::yield_now().await;
        mailbox.post(notification("1"));
    });
    assert_eq!(next.map(|outgoing| outgoing.message), Some(Bytes::from_static(b"1")));
    mailbox.post(notification("2"));
    let (_, ()) = tokio::join!(async { (mailbox.next().await, mailbox.next().await) }, async {
        tokio::task::yield_now().await;
        mailbox.finish();
    });
    assert!(matches!(mailbox.post(notification("3")), Posted::Closed));
    assert!(mailbox.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn what_is_there_is_read_after_the_end_but_not_after_a_close() {
    let mailbox = Mailbox::new(MailboxLimits::default());
    mailbox.post(notification("1"));
    mailbox.finish();
    assert!(mailbox.next().await.is_some());
    assert!(mailbox.next().await.is_none());
    let mailbox = Mailbox::new(MailboxLimits::default());
    mailbox.post(notification("1"));
    mailbox.close();
    assert!(mailbox.next().await.is_none());
    assert!(matches!(mailbox.post(message(OutgoingKind::Response, "2")), Posted::Closed));
    // An end after a close changes nothing.
    mailbox.finish();
    assert!(mailbox.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_patient_writer_goes_on_when_there_is_room() {
    let mailbox = Mailbox::new(MailboxLimits { messages: 1, bytes: 100, all_bytes: usize::MAX });
    mailbox.post(notification("1"));
    let writer = {
        let mailbox = Arc::clone(&mailbox);
        tokio::spawn(async move { mailbox.post_patiently(notification("2")).await })
    };
    tokio::task::yield_now().await;
    assert!(!writer.is_finished());
    assert_eq!(texts(&mailbox), ["1"]);
    assert_eq!(timeout(Duration::from_secs(1), writer).await.ok().and_then(Result::ok), Some(true));
    assert_eq!(texts(&mailbox), ["2"]);
}

#[tokio::test(start_paused = true)]
async fn a_patient_writer_gives_up_when_nothing_will_be_read() {
    for end in [Mailbox::close, Mailbox::finish] {
        let mailbox = Mailbox::new(MailboxLimits { messages: 1, bytes: 100, all_bytes: usize::MAX });
        mailbox.post(notification("1"));
        let writer = {
            let mailbox = Arc::clone(&mailbox);
            tokio::spawn(async move { mailbox.post_patiently(notification("2")).await })
        };
        tokio::task::yield_now().await;
        end(&mailbox);
        assert_eq!(timeout(Duration::from_secs(1), writer).await.ok().and_then(Result::ok), Some(false));
    }
}

#[test]
fn a_reader_is_there_as_long_as_it_says() {
    let mailbox = Mailbox::new(MailboxLimits::default());
    assert!(!mailbox.is_attached());
    let (one, other) = (mailbox.attach(), mailbox.attach());
    drop(one);
    assert!(mailbox.is_attached());
    drop(other);
    assert!(!mailbox.is_attached());
}

/// Puts a mark before each message, and keeps what is secret to itself.
#[derive(Debug)]
struct Marked;

impl Lens for Marked {
    fn through(&self, outgoing: Outgoing) -> Option<Outgoing> {
        let text = String::from_utf8_lossy(&outgoing.message).into_owned();
        (text != "secret").then(|| Outgoing { message: format!(">{text}").into(), kind: outgoing.kind })
    }
}

#[test]
fn messages_are_changed_on_another_way_into_a_mailbox() {
    let mailbox = Mailbox::new(MailboxLimits { messages: 2, bytes: 100, all_bytes: usize::MAX });
    let onward = Mailbox::onward(&mailbox, Arc::new(Marked));
    assert!(is_taken(&onward.post(notification("1"))));
    assert!(is_taken(&onward.post(notification("secret"))), "nobody has to try that again");
    assert!(is_taken(&mailbox.post(notification("2"))));
    assert!(matches!(onward.post(notification("3")), Posted::Full(back) if back.message == "3"), "as it was posted");
    assert!(is_taken(&onward.post(message(OutgoingKind::Response, "4"))));
    assert_eq!(texts(&mailbox), [">1", "2", ">4"]);
    assert!(onward.try_next().is_none(), "nothing stays on the way");
    let attached = mailbox.attach();
    assert!(onward.is_attached());
    drop(attached);
    assert!(!onward.is_attached());
    // The end of the way is not that of the mailbox, but its end is that of the way.
    onward.finish();
    onward.close();
    assert!(is_taken(&onward.post(notification("5"))));
    mailbox.close();
    assert!(matches!(onward.post(notification("6")), Posted::Closed));
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_on_another_way_waits_for_room_in_the_mailbox() {
    let mailbox = Mailbox::new(MailboxLimits { messages: 1, bytes: 100, all_bytes: usize::MAX });
    let onward = Mailbox::onward(&mailbox, Arc::new(Marked));
    onward.post(notification("1"));
    let waiting = tokio::spawn(async move { onward.post_patiently(notification("2")).await });
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(!waiting.is_finished());
    assert_eq!(texts(&mailbox), [">1"]);
    assert!(timeout(Duration::from_secs(1), waiting).await.expect("there is room").expect("it does not panic"));
    assert_eq!(texts(&mailbox), [">2"], "changed once");
}

#[test]
fn answers_that_nobody_reads_are_refused_when_all_mailboxes_hold_too_much() {
    // Other tests hold next to nothing.
    let limits = MailboxLimits { messages: 10, bytes: 100, all_bytes: 10 << 20 };
    let answer = |id: u32| {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"{}"}}"#, "x".repeat(4 << 20));
        Outgoing { message: message.into(), kind: OutgoingKind::Response }
    };
    let (one, other) = (Mailbox::new(limits), Mailbox::new(limits));
    one.post(answer(1));
    one.post(answer(2));
    other.post(answer(3));
    assert!(one.try_next().unwrap().message.len() > 4 << 20);
    let refused = other.try_next().unwrap();
    assert!(refused.message.len() < 1000);
    let text = String::from_utf8_lossy(&refused.message).into_owned();
    assert!(text.contains(r#""id":3"#) && text.contains("-31004") && text.contains("have not read"), "{text}");
    other.post(answer(4));
    assert!(other.try_next().unwrap().message.len() > 4 << 20, "what was read makes room");
    other.post(answer(5));
    one.close();
    drop(other);
    other_mailbox_takes(&limits, answer(6));
}

/// What closed and dropped mailboxes held counts no more.
fn other_mailbox_takes(limits: &MailboxLimits, outgoing: Outgoing) {
    let mailbox = Mailbox::new(*limits);
    let length = outgoing.message.len();
    mailbox.post(outgoing.clone());
    mailbox.post(outgoing);
    assert_eq!(mailbox.try_next().unwrap().message.len(), length);
    assert_eq!(mailbox.try_next().unwrap().message.len(), length);
}
