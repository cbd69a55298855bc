use super::*;

fn filled(count: u32, most: usize, most_bytes: usize) -> Ring<u32> {
    let ring = Ring::new(most, most_bytes);
    (1..=count).for_each(|number| ring.push(number, 10));
    ring
}

#[test]
fn the_oldest_go_when_there_are_too_many_or_too_large_ones() {
    assert_eq!(filled(5, 3, 1000).after(0), Page { missed: 0, entries: vec![3, 4, 5], last: 5 });
    assert_eq!(filled(5, 100, 25).after(0), Page { missed: 0, entries: vec![4, 5], last: 5 });
    assert_eq!(filled(5, 100, 1).after(0).entries, [5], "the newest is kept, however large");
}

#[test]
fn a_reader_goes_on_where_it_was_and_hears_what_it_missed() {
    let ring = filled(5, 3, 1000);
    assert_eq!(ring.after(4), Page { missed: 0, entries: vec![5], last: 5 });
    assert_eq!(ring.after(5), Page { missed: 0, entries: vec![], last: 5 });
    assert_eq!(ring.after(1), Page { missed: 1, entries: vec![3, 4, 5], last: 5 });
}

#[tokio::test]
async fn a_reader_that_waits_is_woken_by_the_next() {
    let ring = filled(2, 3, 1000);
    ring.newer(1).await;
    let waiting = async {
        ring.newer(2).await;
        ring.after(2).entries
    };
    let adding = async {
        tokio::task::yield_now().await;
        ring.push(3, 1);
    };
    let (seen, ()) = tokio::join!(waiting, adding);
    assert_eq!(seen, [3]);
}
