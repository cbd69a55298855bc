use super::*;

fn ring(lines: usize, bytes: usize, line: usize) -> StderrRing {
    StderrRing::new(&Limits { stderr_lines: lines, stderr_bytes: bytes, stderr_line_bytes: line, ..Limits::default() })
}

#[test]
fn the_last_lines_are_kept_in_order() {
    let mut ring = ring(3, 1000, 100);
    ring.push(Bytes::from_static(b"one\ntwo\nthr"));
    ring.push(Bytes::from_static(b"ee\r\nfour\n"));
    assert_eq!(ring.last(10), ["two", "three", "four"]);
    assert_eq!(ring.last(2), ["three", "four"]);
}

#[test]
fn a_line_without_end_is_shown_once_before_and_after_the_end() {
    let mut ring = ring(3, 1000, 100);
    ring.push(Bytes::from_static(b"error\nPassword: "));
    assert_eq!(ring.last(10), ["error", "Password: …"], "more of it may come");
    assert_eq!(ring.last(1), ["Password: …"]);
    ring.finish();
    assert_eq!(ring.last(10), ["error", "Password: "]);
}

#[test]
fn bytes_are_bounded_as_well_as_lines() {
    let mut ring = ring(1000, 20, 100);
    for _ in 0..100 {
        ring.push(Bytes::from_static(b"12345678\n"));
    }
    assert_eq!(ring.last(1000).len(), 2);
}

#[test]
fn of_an_over_long_line_the_beginning_is_kept() {
    let mut ring = ring(10, 10_000, 16);
    ring.push(Bytes::from(vec![b'x'; 5000]));
    ring.push(Bytes::from_static(b"\nafter\n"));
    let lines = ring.last(10);
    assert!(lines[0].starts_with("xxxx") && lines[0].ends_with("… (5000 bytes)") && lines[0].len() < 1100);
    assert_eq!(lines[1], "after");
}

#[test]
fn bytes_that_are_not_text_are_shown_and_do_no_harm() {
    let mut ring = ring(10, 1000, 100);
    ring.push(Bytes::from_static(b"caf\xe9 \xff\n"));
    assert_eq!(ring.last(1), ["caf\u{fffd} \u{fffd}"]);
}
