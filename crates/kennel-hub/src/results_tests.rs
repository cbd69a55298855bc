use super::*;
use crate::client::Introduction;
use crate::mailbox::{Mailbox, MailboxLimits};
use crate::principal::{Principal, SessionId};

fn client(key: u64) -> Arc<Client> {
    let mailbox = Mailbox::new(MailboxLimits::default());
    let id = SessionId::random().expect("randomness");
    Arc::new(Client::new(ClientKey(key), id, Principal::local(), Introduction::plain(), mailbox))
}

async fn keep(results: &Results, client: &Arc<Client>, length: usize) {
    let result = RawJson::string(&"x".repeat(length));
    results.keep(client, result, &Id::number(1)).await.expect("it is kept");
}

fn bytes(results: &Results) -> (usize, u64) {
    let archive = lock(&results.archive);
    (archive.kept.len(), archive.bytes)
}

#[tokio::test]
async fn what_is_kept_is_counted_down_to_the_last_byte() {
    let results = Results::new(None, 1000);
    let (one, other) = (client(1), client(2));
    keep(&results, &one, 398).await;
    keep(&results, &other, 398).await;
    assert_eq!(bytes(&results), (2, 800));
    keep(&results, &one, 198).await;
    assert_eq!(bytes(&results), (3, 1000));
    keep(&results, &one, 8).await;
    assert_eq!(bytes(&results), (3, 610), "the oldest went");
    results.forget(one.key);
    assert_eq!(bytes(&results), (1, 400));
    results.forget(other.key);
    assert_eq!(bytes(&results), (0, 0));
}

#[tokio::test]
async fn one_that_is_larger_than_all_room_is_kept_alone() {
    let results = Results::new(None, 1000);
    let client = client(1);
    keep(&results, &client, 100).await;
    keep(&results, &client, 5000).await;
    assert_eq!(bytes(&results), (1, 5002));
}

#[tokio::test]
async fn nothing_is_kept_for_a_session_that_has_ended_meanwhile() {
    let results = Results::new(None, 1000);
    let client = client(1);
    client.close();
    keep(&results, &client, 100).await;
    assert_eq!(bytes(&results), (0, 0));
}

#[tokio::test]
async fn files_have_no_names_and_a_directory_that_is_not_there_is_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let results = Results::new(Some(directory.path().to_owned()), 1000);
    let client = client(1);
    keep(&results, &client, 100).await;
    assert_eq!(std::fs::read_dir(directory.path()).expect("it can be read").count(), 0);
    let results = Results::new(Some(directory.path().join("missing")), 1000);
    assert!(results.keep(&client, RawJson::empty_object(), &Id::number(1)).await.is_err());
}
