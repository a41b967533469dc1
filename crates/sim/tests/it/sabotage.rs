//! Every bug that is built in on purpose is found, by the checker that is there for it.

use league_sim::{Rule, Sabotage, Tally, run_with, sweep};

/// Seeds within which every bug must have been found.
const SEEDS_MAX: u64 = 400;

#[test]
fn every_bug_is_found() {
    for sabotage in Sabotage::ALL {
        let (mut found, mut tally) = (None, Tally::default());
        sweep(
            0..SEEDS_MAX,
            2,
            |seed| run_with(seed, Some(sabotage), false),
            |outcome| {
                tally.add(&outcome.tally);
                let rule = outcome.violation.as_ref().map(|violation| violation.rule);
                if rule.is_some_and(|rule| expected(sabotage).contains(&rule)) {
                    found = Some((outcome.seed, rule));
                }
                found.is_none()
            },
        );
        assert!(found.is_some(), "{sabotage:?} was not found in {SEEDS_MAX} seeds: {tally:?}");
    }
}

const fn expected(sabotage: Sabotage) -> &'static [Rule] {
    match sabotage {
        Sabotage::AcknowledgeBeforeAppend => &[Rule::Kept],
        Sabotage::CountTwice => &[Rule::Once],
        Sabotage::ForgetRetry => &[Rule::Progress],
        Sabotage::SkipProof => &[Rule::Truth],
        Sabotage::BelieveAnybody
        | Sabotage::ChargeOwnDelay
        | Sabotage::ForfeitByBreaker
        | Sabotage::ForgetRecovery
        | Sabotage::CountForgeries => &[Rule::Fair],
        Sabotage::MisrankTable => &[Rule::Table],
        Sabotage::TellEarly | Sabotage::LeakChoice => &[Rule::Silence],
        Sabotage::SwapProofs | Sabotage::WrongReferee | Sabotage::BelieveReturning => {
            &[Rule::Secrets]
        }
    }
}

#[test]
fn every_bug_has_a_name_of_its_own() {
    for sabotage in Sabotage::ALL {
        assert_eq!(Sabotage::by_name(sabotage.name()), Some(sabotage));
    }
    assert_eq!(Sabotage::by_name("no-such-bug"), None);
}
