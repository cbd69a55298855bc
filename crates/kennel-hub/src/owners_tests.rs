use super::*;

fn owner(name: &str, key: u64, number: Number) -> Owner {
    let progress = Progress { generation: Generation::new(1), number, token: Id::string(name) };
    Owner { client: ClientKey(key), principal: Principal::new(name), progress: Some(progress) }
}

#[test]
fn progress_is_found_until_it_is_settled() {
    let mut owners = Owners::default();
    owners.note("a".to_owned(), owner("ann", 1, 10));
    owners.note("b".to_owned(), owner("bob", 2, 11));
    let found = |owners: &Owners, generation, number| {
        owners.reporting(Generation::new(generation), number).map(|(owner, _)| owner.client)
    };
    assert_eq!(found(&owners, 1, 11), Some(ClientKey(2)));
    assert_eq!(found(&owners, 2, 11), None, "another process may use the number again");
    owners.settle("b");
    assert_eq!(found(&owners, 1, 11), None);
    assert!(owners.get("b").is_some(), "it is still somebody's");
    owners.settle("unknown");
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut owners = Owners::default();
    for number in 0..MOST + 10 {
        owners.note(number.to_string(), owner("ann", 1, 0));
        owners.note(number.to_string(), owner("bob", 2, 0));
    }
    assert_eq!((owners.owners.len(), owners.order.len()), (MOST, MOST));
    assert!(owners.get("9").is_none() && owners.get("10").is_some_and(|owner| owner.client == ClientKey(2)));
}
