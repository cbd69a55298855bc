use super::*;

const FLOOR: Duration = Duration::from_mins(1);

fn alice() -> Principal {
    Principal::new("alice")
}

fn enter(table: &Arc<Table<u32>>, id: &str, value: u32) -> InUse<u32> {
    table.reserve().expect("a place").0.take(id, &alice(), value)
}

#[tokio::test(start_paused = true)]
async fn a_session_is_found_by_its_owner_only() {
    let table = Table::new(10, FLOOR);
    drop(enter(&table, "a", 1));
    assert_eq!(*table.get("a", &alice()).expect("it is there"), 1);
    assert!(table.get("a", &Principal::new("bob")).is_none());
    assert!(table.get("b", &alice()).is_none());
    assert!(table.remove("a", &Principal::new("bob")).is_none());
    assert_eq!(table.remove("a", &alice()).expect("it is there").value, 1);
    assert!(table.get("a", &alice()).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_full_table_gives_up_the_session_unused_the_longest() {
    let table = Table::new(3, FLOOR);
    for (id, value) in [("a", 1), ("b", 2), ("c", 3)] {
        drop(enter(&table, id, value));
        tokio::time::advance(FLOOR / 3).await;
    }
    drop(table.get("a", &alice()));
    tokio::time::advance(FLOOR / 3).await;
    // `b` is unused for exactly the floor by now, `a` and `c` for less.
    let (place, evicted) = table.reserve().expect("a place");
    assert_eq!(evicted.expect("one had to go").value, 2);
    drop(place);
    // The place that was not used is free again.
    let (_place, evicted) = table.reserve().expect("a place");
    assert!(evicted.is_none());
    let full = table.reserve().expect_err("the others are too young");
    assert!(full.retry_after <= FLOOR && full.retry_after > Duration::ZERO, "{full:?}");
}

#[tokio::test(start_paused = true)]
async fn sessions_in_use_are_never_idle() {
    let table = Table::new(1, FLOOR);
    let used = enter(&table, "a", 1);
    tokio::time::advance(FLOOR * 100).await;
    assert!(table.reserve().is_err());
    assert!(table.remove_idle(FLOOR).is_empty());
    drop(used);
    tokio::time::advance(FLOOR / 2).await;
    assert!(table.remove_idle(FLOOR).is_empty(), "it counts from the end of the use");
    tokio::time::advance(FLOOR / 2).await;
    assert_eq!(table.remove_idle(FLOOR).len(), 1);
    assert_eq!(table.len(), 0);
}
