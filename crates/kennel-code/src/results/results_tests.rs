use super::*;

fn limits() -> ResultLimits {
    ResultLimits {
        owner_bytes: 100,
        owner_results: 20,
        total_bytes: 150,
        page_bytes: 10,
        most_page_bytes: 20,
        remembered: 2,
    }
}

fn kept(text: &str) -> Arc<Kept> {
    Arc::new(Kept { head: Bytes::copy_from_slice(text.as_bytes()), tail: Bytes::new(), total: text.len() as u64 })
}

fn owner(name: &str) -> Holder {
    Holder::stateless(Owner::new(name, None))
}

#[test]
fn pages_follow_each_other_to_the_end() {
    let results = Results::new(limits());
    let text = "abcdefghiäklmnopqrstuvwxyz€";
    let mut next = results.keep(&owner("a"), &kept(text));
    let (mut read, mut pages) = (String::new(), 0);
    while let Some(uri) = next {
        let page = results.read(&owner("a"), &uri).unwrap();
        assert_eq!((page.offset, page.length), (read.len(), text.len()));
        assert!(page.text.len() <= 10);
        read += &page.text;
        next = page.next;
        pages += 1;
    }
    assert_eq!((read.as_str(), pages), (text, 4));
}

#[test]
fn offset_and_limit_choose_the_part() {
    let results = Results::new(limits());
    let uri = results.keep(&owner("a"), &kept(&"0123456789".repeat(5))).unwrap();
    let page = |query: &str| results.read(&owner("a"), &format!("{uri}{query}"));
    assert_eq!(page("?offset=45&limit=4").unwrap().text, "5678");
    assert_eq!(page("?limit=1000").unwrap().text.len(), 20);
    assert!(page("?limit=12").unwrap().next.unwrap().ends_with("?offset=12&limit=12"));
    assert_eq!(page("?offset=50").unwrap().text, "");
    assert!(matches!(page("?offset=51"), Err(ReadError::PastEnd { offset: 51, length: 50, .. })));
    assert!(matches!(page("?offset=x"), Err(ReadError::Malformed { .. })));
    assert!(matches!(page("?page=2"), Err(ReadError::Malformed { .. })));
    assert!(matches!(results.read(&owner("a"), "kennel://result/"), Err(ReadError::Malformed { .. })));
}

#[test]
fn what_was_not_kept_of_a_stream_is_named_in_its_place() {
    let results = Results::new(ResultLimits { page_bytes: 1000, most_page_bytes: 1000, ..ResultLimits::default() });
    let kept = Kept { head: Bytes::from_static(b"begin"), tail: Bytes::from_static(b"end"), total: 5008 };
    let uri = results.keep(&owner("a"), &Arc::new(kept)).unwrap();
    let all = "begin\n… 5,000 bytes not kept …\nend";
    assert_eq!(results.read(&owner("a"), &uri).unwrap().text, all);
    assert_eq!(results.read(&owner("a"), &format!("{uri}?offset={}", all.len() - 2)).unwrap().text, "nd");
}

#[test]
fn nobody_else_reads_a_result() {
    let results = Results::new(limits());
    let uri = results.keep(&owner("a"), &kept("secret")).unwrap();
    assert_eq!(results.read(&owner("b"), &uri), Err(ReadError::Unknown { uri: uri.clone() }));
    results.forget(owner("b").owner());
    assert!(results.read(&owner("a"), &uri).is_ok());
    results.forget(owner("a").owner());
    assert_eq!(results.read(&owner("a"), &uri), Err(ReadError::Unknown { uri }));
    let one = Holder::conversation(Owner::new("a", None), 1);
    let uri = results.keep(&one, &kept("secret")).unwrap();
    let others = [
        Holder::conversation(Owner::new("a", None), 2),
        Holder::conversation(Owner::new("a", Some("view")), 1),
        owner("a"),
    ];
    for other in &others {
        assert_eq!(results.read(other, &uri), Err(ReadError::Unknown { uri: uri.clone() }));
    }
    assert!(results.read(&one, &uri).is_ok());
}

#[test]
fn the_oldest_go_first_and_say_why() {
    let results = Results::new(limits());
    let (a, b) = (owner("a"), owner("b"));
    let first = results.keep(&a, &kept(&"x".repeat(60))).unwrap();
    let other = results.keep(&b, &kept(&"x".repeat(50))).unwrap();
    let second = results.keep(&a, &kept(&"x".repeat(60))).unwrap();
    let gone = |uri: &str| match results.read(if uri == other { &b } else { &a }, uri) {
        Err(ReadError::Gone { why, .. }) => Some(why),
        other => other.map(|_| None).unwrap(),
    };
    assert_eq!(gone(&first), Some(GoneWhy::OwnerFull { limit: 100 }));
    assert_eq!((gone(&other), gone(&second)), (None, None));
    results.keep(&owner("c"), &kept(&"x".repeat(90))).unwrap();
    assert_eq!(gone(&other), Some(GoneWhy::Full { limit: 150 }));
    assert_eq!(gone(&second), None);
    assert_eq!(results.keep(&a, &kept(&"x".repeat(101))), None);
    assert_eq!(gone(&second), None);
    let error = results.read(&owner("a"), &first).unwrap_err().to_string();
    assert!(error.contains("100 bytes are kept for one owner"), "{error}");
}

#[test]
fn the_memory_of_those_gone_is_bounded() {
    let results = Results::new(limits());
    let all = (0..5).map(|_| results.keep(&owner("a"), &kept(&"x".repeat(60))).unwrap()).collect::<Vec<_>>();
    let errors = all.iter().map(|uri| results.read(&owner("a"), uri).err()).collect::<Vec<_>>();
    assert!(matches!(errors[..2], [Some(ReadError::Unknown { .. }), Some(ReadError::Unknown { .. })]));
    assert!(matches!(errors[2..], [Some(ReadError::Gone { .. }), Some(ReadError::Gone { .. }), None]));
}

#[test]
fn the_number_of_results_is_bounded_as_well() {
    let results = Results::new(limits());
    let all = (0..21).map(|_| results.keep(&owner("a"), &kept("x")).unwrap()).collect::<Vec<_>>();
    let gone = |uri: &String| results.read(&owner("a"), uri).err();
    assert_eq!(gone(&all[0]), Some(ReadError::Gone { uri: all[0].clone(), why: GoneWhy::TooMany { limit: 20 } }));
    assert!(all[1..].iter().all(|uri| gone(uri).is_none()));
}
