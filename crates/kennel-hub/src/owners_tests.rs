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
    assert_eq!((owners.by_id.len(), owners.order.len()), (MOST, MOST));
    assert!(owners.get("9").is_none() && owners.get("10").is_some_and(|owner| owner.client == ClientKey(2)));
}

#[test]
fn what_is_remembered_is_bounded_by_its_bytes_too() {
    let mut owners = Owners::default();
    let id = |number: usize| format!("{number}-{}", "x".repeat(MOST_BYTES / 8));
    for number in 0..100 {
        owners.note(id(number), owner("ann", 1, 0));
        assert!(owners.bytes <= MOST_BYTES, "{}", owners.bytes);
    }
    assert!(owners.get(&id(99)).is_some() && owners.get(&id(90)).is_none());
    owners.note("y".repeat(MOST_BYTES + 1), owner("ann", 1, 0));
    assert_eq!((owners.by_id.len(), owners.order.len(), owners.bytes), (0, 0, 0), "one that fits nowhere is nobody's");
    for _ in 0..3 {
        owners.note("a".to_owned(), owner("bob", 1, 0));
    }
    owners.settle("a");
    assert_eq!(owners.bytes, 1);
}
