use super::*;
use proptest::prelude::*;

const MIB: usize = 1 << 20;

#[test]
fn what_is_short_takes_nothing() {
    let intake = Intake::new(4 * MIB, MIB);
    let mut all = intake.share(Standing::Session);
    all.grow(4 * MIB + FREE).expect("all there is");
    assert_eq!(intake.share(Standing::Session).grow(FREE), Ok(()));
    assert_eq!(intake.share(Standing::Session).grow(FREE + 1), Err(Exhausted));
    drop(all);
    assert_eq!(intake.share(Standing::Session).grow(FREE + 1), Ok(()));
}

#[test]
fn without_a_session_half_is_left_to_sessions() {
    let intake = Intake::new(8 * MIB, MIB);
    let mut sessionless = intake.share(Standing::None);
    assert_eq!(sessionless.grow(4 * MIB + FREE), Ok(()));
    assert_eq!(sessionless.grow(4 * MIB + FREE + 1), Err(Exhausted));
    assert_eq!(intake.share(Standing::Session).grow(4 * MIB + FREE), Ok(()));
}

#[test]
fn one_message_of_the_greatest_length_always_fits() {
    for standing in [Standing::Session, Standing::None] {
        let intake = Intake::new(0, 64 * MIB);
        assert_eq!(intake.share(standing).grow(64 * MIB), Ok(()));
    }
}

proptest! {
    #[test]
    fn the_bound_holds_and_all_is_given_back(
        acts in proptest::collection::vec((0..8usize, 0..3 * MIB, any::<bool>()), 0..64)
    ) {
        let intake = Intake::new(4 * MIB, MIB);
        let mut shares: Vec<Share> = (0..8).map(|at| intake.share(if at % 2 == 0 { Standing::Session } else { Standing::None })).collect();
        for (at, length, clears) in acts {
            if clears {
                shares[at].clear();
            } else {
                let _ = shares[at].grow(length);
            }
            let used = intake.used.load(Ordering::Relaxed);
            prop_assert!(used <= 4 * MIB);
            prop_assert_eq!(used, shares.iter().map(|share| share.taken).sum::<usize>());
        }
        drop(shares);
        prop_assert_eq!(intake.used.load(Ordering::Relaxed), 0);
    }
}
