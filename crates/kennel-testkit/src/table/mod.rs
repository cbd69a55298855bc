//! Owns the catalogue: every attempt of `kennel-hostile`, by theme.
//!
//! The expectations without a box were taken by running each attempt, as root and as an
//! ordinary user, on Linux 6.18 without loadable modules.

mod bombs;
mod files;
mod kernel;
mod namespaces;
mod network;
mod processes;
mod writes;

use crate::attempt::{Attempt, Sysctl};

/// Every attempt, by theme.
pub fn attempts() -> impl Iterator<Item = &'static Attempt> {
    [
        files::ATTEMPTS,
        writes::ATTEMPTS,
        processes::ATTEMPTS,
        namespaces::ATTEMPTS,
        kernel::ATTEMPTS,
        network::ATTEMPTS,
        bombs::ATTEMPTS,
    ]
    .into_iter()
    .flatten()
}

/// The attempt of that name.
#[must_use]
pub fn attempt(name: &str) -> Option<&'static Attempt> {
    attempts().find(|attempt| attempt.name == name)
}

/// Yama keeps unrelated processes of one user apart.
const YAMA: Sysctl = Sysctl {
    file: "kernel/yama/ptrace_scope",
    refusing: (1, i64::MAX),
    reason: "Yama refuses to trace a process that is not a descendant",
};

/// No user namespaces for ordinary users.
const USER_NAMESPACES: Sysctl =
    Sysctl { file: "user/max_user_namespaces", refusing: (0, 0), reason: "the host allows no user namespaces" };

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_plain() {
        let names: BTreeSet<_> = attempts().map(|attempt| attempt.name).collect();
        assert_eq!(names.len(), attempts().count());
        for name in names {
            assert!(name.chars().all(|letter| matches!(letter, 'a'..='z' | '0'..='9' | '_')), "{name}");
        }
    }

    #[test]
    fn an_attempt_is_found_by_its_name() {
        assert_eq!(attempt("read_shadow").map(|attempt| attempt.name), Some("read_shadow"));
        assert_eq!(attempt("no_such_attempt"), None);
    }
}
