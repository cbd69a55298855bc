//! What the fuzz target `admin` checks, which includes this file.

use super::message::{Reply, Request};

/// Any line: what is understood of a line is understood again when it is written.
pub(crate) fn admin(line: &[u8]) {
    match Request::read(line) {
        Ok(request) => {
            let written = serde_json::to_vec(&request).unwrap_or_default();
            assert!(!written.contains(&b'\n'), "a request of several lines");
            assert_eq!(Request::read(&written).as_ref(), Ok(&request), "it means something else when it is written");
        }
        Err(text) => assert!(text.len() <= line.len() * 6 + 512, "the error is longer than the request"),
    }
    if let Ok(reply) = Reply::read(line) {
        let written = serde_json::to_vec(&reply).unwrap_or_default();
        assert!(!written.contains(&b'\n'), "a reply of several lines");
        assert_eq!(Reply::read(&written).ok().as_ref(), Some(&reply), "it means something else when it is written");
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_corpus_of_the_fuzzer_has_no_findings() {
        kennel_testkit::replay_corpus("admin", super::admin).unwrap();
    }
}
