use super::GivenUp::{Ended, Refused, Silent};
use super::*;
use crate::failure::{Cause, Permanence};
use crate::phase::Phase;
use Era::{Legacy, Modern};

fn eras(first: Era) -> Eras {
    let mut eras = Eras::new(EraPlan { first, is_fixed: false });
    eras.begin();
    eras
}

fn fault(text: &str) -> Failure {
    Failure::new(Phase::Handshake, Cause::Lost(text.to_owned()), Permanence::Transient)
}

/// Gives the present era up. Returns whether that counts as a refusal, and the failure's cause and remark, if any.
fn give_up(eras: &mut Eras, how: GivenUp) -> (bool, Option<(String, Option<String>)>) {
    let text = format!("{how:?} {:?}", eras.now());
    let Verdict { is_refused, failure } = eras.give_up(fault(&text), how);
    (is_refused, failure.map(|failure| (failure.cause.to_string(), failure.remark)))
}

/// The same for an ordinary failure.
fn plain(text: &str) -> (bool, Option<(String, Option<String>)>) {
    (false, Some((text.to_owned(), None)))
}

#[test]
fn what_follows_the_first_era() {
    let cases = [
        (Modern, Refused, (true, None), Legacy),
        (Modern, Ended, (true, None), Legacy),
        (Modern, Silent, (false, None), Legacy),
        (Legacy, Refused, (true, None), Modern),
        (Legacy, Ended, plain("Ended Legacy"), Legacy),
        (Legacy, Silent, plain("Silent Legacy"), Legacy),
    ];
    for (first, how, expected, now) in cases {
        let mut eras = eras(first);
        assert_eq!((give_up(&mut eras, how), eras.now()), (expected, now), "{first:?} {how:?}");
    }
}

#[test]
fn a_fixed_plan_has_one_era_only() {
    for first in [Modern, Legacy] {
        for how in [Refused, Ended, Silent] {
            let mut eras = Eras::new(EraPlan { first, is_fixed: true });
            eras.begin();
            assert!(!eras.is_probing());
            let expected = (how == Refused, plain(&format!("{how:?} {first:?}")).1);
            assert_eq!((give_up(&mut eras, how), eras.now()), (expected, first));
            eras.begin();
            assert_eq!(eras.now(), first);
        }
    }
}

#[test]
fn when_both_are_given_up_the_first_is_told_with_what_became_of_the_second() {
    let cases = [
        (Modern, Refused, Refused, "era with `initialize` (up to 2025-11-25) was refused too: Refused Legacy"),
        (Modern, Ended, Refused, "era with `initialize` (up to 2025-11-25) was refused too: Refused Legacy"),
        (Modern, Silent, Refused, "era with `initialize` (up to 2025-11-25) was refused too: Refused Legacy"),
        (Legacy, Refused, Refused, "era without sessions (2026-07-28) was refused too: Refused Modern"),
        (Legacy, Refused, Ended, "era without sessions (2026-07-28) was refused too: Ended Modern"),
        (Legacy, Refused, Silent, "era without sessions (2026-07-28) was not opened either: Silent Modern"),
    ];
    for (first, how, then, remark) in cases {
        let mut eras = eras(first);
        give_up(&mut eras, how);
        let expected = Some((format!("{how:?} {first:?}"), Some(format!("the {remark}"))));
        assert_eq!(give_up(&mut eras, then), (then != Silent, expected));
        eras.begin();
        assert_eq!(eras.now(), first, "{first:?} {how:?} {then:?}");
        let probing = first == Modern && how != Silent;
        assert_eq!(eras.is_probing(), probing, "{first:?} {how:?} {then:?}");
    }
}

#[test]
fn a_legacy_server_that_fails_after_the_modern_era_was_given_up_fails_by_itself() {
    for how in [Refused, Ended, Silent] {
        for then in [Ended, Silent] {
            let mut eras = eras(Modern);
            give_up(&mut eras, how);
            assert_eq!(give_up(&mut eras, then), plain(&format!("{then:?} Legacy")));
            eras.begin();
            assert_eq!(eras.now(), if how == Refused { Legacy } else { Modern }, "only an answer counts");
        }
    }
}

#[test]
fn the_era_that_was_ready_is_first_from_then_on_and_only_an_answer_speaks_against_it() {
    let mut eras = eras(Legacy);
    give_up(&mut eras, Refused);
    eras.opened();
    for how in [Ended, Silent] {
        eras.begin();
        assert_eq!((eras.now(), eras.is_probing()), (Modern, false));
        assert_eq!(give_up(&mut eras, how), plain(&format!("{how:?} Modern")));
    }
    eras.begin();
    assert_eq!((give_up(&mut eras, Refused), eras.now()), ((true, None), Legacy));
    give_up(&mut eras, Refused);
    eras.begin();
    assert_eq!(eras.now(), Modern, "two refusals leave what was known");
    give_up(&mut eras, Refused);
    eras.opened();
    eras.begin();
    assert_eq!(eras.now(), Legacy, "the last era that was ready");
}

#[test]
fn a_slow_modern_server_gets_more_time_once_it_has_refused_the_legacy_era() {
    let mut eras = eras(Modern);
    assert!(eras.is_probing());
    give_up(&mut eras, Silent);
    give_up(&mut eras, Refused);
    eras.begin();
    assert_eq!((eras.now(), eras.is_probing()), (Modern, false));
    assert_eq!(give_up(&mut eras, Silent), plain("Silent Modern"));
    eras.begin();
    assert!(eras.is_probing(), "if that was not it, both eras are tried again");
}

#[test]
fn what_was_refused_is_tried_again_for_the_operator() {
    let mut eras = eras(Modern);
    give_up(&mut eras, Refused);
    eras.forget_refusals();
    eras.begin();
    assert_eq!((eras.now(), eras.is_probing()), (Modern, true));
}

#[test]
fn the_second_era_has_all_the_time() {
    let mut eras = eras(Legacy);
    give_up(&mut eras, Refused);
    assert_eq!((eras.now(), eras.is_probing()), (Modern, false));
}

#[test]
fn last_words_belong_to_the_failure_that_was_set_aside() {
    let mut eras = eras(Modern);
    give_up(&mut eras, Silent);
    eras.note_last_words(vec!["why".to_owned()]);
    let failure = eras.give_up(fault(""), Refused).failure.unwrap();
    assert_eq!(failure.stderr, ["why"]);
}
