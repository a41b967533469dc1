//! Rule sets against the documents, and rules as nobody should set them.

use super::*;

#[test]
fn the_two_rule_sets_differ_where_the_documents_do() {
    let (v21, v20) = (built(RuleSet::V21, &[]), built(RuleSet::V20, &[]));
    assert_eq!(v21.invitation_silence(), InvitationSilence::Forfeit);
    assert_eq!(v20.invitation_silence(), InvitationSilence::Cancel);
    assert_eq!((v21.choice_attempts(), v20.choice_attempts()), (3, 4));
    assert_eq!(v21.announcement_lead(), secs(60));
    assert_eq!(v20.announcement_lead(), secs(0));
    assert_eq!((v21.invalid_choices_max(), v20.invalid_choices_max()), (3, 1));
}

// req: ERR-3
#[test]
fn waits_between_attempts_are_fixed_or_doubled() {
    let waits = |policy: Policy| [1, 2, 3].map(|n| policy.choice_backoff().after(n).as_secs());
    assert_eq!(waits(built(RuleSet::V21, &[])), [2, 2, 2]);
    assert_eq!(waits(built(RuleSet::V20, &[])), [1, 2, 4]);
}

// req: ERR-5
#[test]
fn the_documents_timeouts_are_defaults_and_can_be_set() {
    let policy = built(RuleSet::V20, &[]);
    let defaults = [
        policy.register_timeout(),
        policy.invitation_timeout(),
        policy.choice_timeout(),
        policy.game_over_timeout(),
        policy.report_timeout(),
        policy.default_timeout(),
        policy.http_timeout(),
    ];
    assert_eq!(defaults.map(|span| span.as_secs()), [10, 5, 30, 5, 10, 10, 5]);
    let policy = built(RuleSet::V20, &[("choice_timeout", "1500ms")]);
    assert_eq!(policy.choice_timeout(), Duration::from_millis(1_500));
}

#[test]
fn every_rule_can_be_written_and_set_again() {
    for rule_set in RuleSet::ALL {
        let policy = built(rule_set, &[("breaker_open", "12.5ms")]);
        let written = policy.written();
        let pairs: Vec<_> = written.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let other = if rule_set == RuleSet::V21 { RuleSet::V20 } else { RuleSet::V21 };
        let again = Policy::build(other, pairs).unwrap();
        assert_eq!(again.written(), written);
    }
}

#[test]
fn nonsense_is_refused_with_what_was_expected() {
    for (key, value, expected) in [
        ("choice_timeout", "soon", "a time such as 500ms"),
        ("choice_timeout", "0s", "a time above 0"),
        ("choice_timeout", "-3s", "a time such as"),
        ("points_win", "0", "win ≥ draw"),
        ("points_technical_loss", "1", "at most the points of a lost game"),
        ("lease_renewal", "5100ms", "at most a third of lease = 15s"),
        ("lease", "5ms", "at least 10ms"),
        ("tie_breakers", "luck", "head_to_head"),
        ("colour", "blue", "one of token_form"),
    ] {
        let refusal = Policy::build(RuleSet::V21, [(key, value)]).unwrap_err().to_string();
        assert!(refusal.contains(expected), "{refusal}");
    }
}

#[test]
fn scaling_time_leaves_counts_alone() {
    let policy = built(RuleSet::V21, &[]).time_scaled(0.02).unwrap();
    assert_eq!(policy.choice_timeout(), Duration::from_millis(600));
    assert_eq!(policy.choice_backoff(), Backoff::Fixed(Duration::from_millis(40)));
    assert_eq!(policy.choice_attempts(), 3);
    assert!(built(RuleSet::V21, &[]).time_scaled(0.0).is_err());
    assert!(built(RuleSet::V21, &[]).time_scaled(f64::NAN).is_err());
}

#[test]
fn times_stay_within_a_year_however_they_are_scaled() {
    assert!(built(RuleSet::V21, &[]).time_scaled(1_000.0).is_ok());
    let refusal = built(RuleSet::V21, &[]).time_scaled(1e6).unwrap_err().to_string();
    assert!(refusal.contains("within a year"), "{refusal}");
    for factor in [0.01, 0.02, 0.3, 1.0 / 3.0, 0.007, 17.3] {
        let scaled = built(RuleSet::V20, &[]).time_scaled(factor).unwrap();
        let written = scaled.written();
        let pairs = written.iter().map(|(k, v)| (*k, v.as_str()));
        assert!(Policy::build(RuleSet::V20, pairs).is_ok(), "{factor}");
    }
}

#[test]
fn no_choice_of_rules_overflows_the_longest_match() {
    for backoff in ["exponential 8760h", "fixed 8760h", "exponential 1ms"] {
        let rules = [
            ("choice_backoff", backoff),
            ("choice_attempts", "1000000"),
            ("choice_timeout", "8760h"),
        ];
        assert!(built(RuleSet::V21, &rules).longest_match(u32::MAX) >= secs(365 * 24 * 3_600));
    }
    let long = built(RuleSet::V20, &[("choice_attempts", "41")]).longest_match(1);
    let waits: u64 = (0..40_u32).map(|n| 2_u64.pow(n).min(u64::from(u32::MAX))).sum();
    assert_eq!(long, secs(5 + 41 * 30 + waits));
}

#[test]
fn the_longest_match_counts_every_attempt_and_wait() {
    assert_eq!(built(RuleSet::V21, &[]).longest_match(1), secs(5 + 3 * 30 + 2 * 2));
    assert_eq!(built(RuleSet::V20, &[]).longest_match(1), secs(5 + 4 * 30 + 1 + 2 + 4));
}

fn built(rule_set: RuleSet, overrides: &[(&str, &str)]) -> Policy {
    Policy::build(rule_set, overrides.iter().copied()).unwrap()
}

#[test]
fn clocks_do_not_run_faster_because_a_league_does() {
    let rules = Policy::build(RuleSet::V21, [("clock_skew_warning", "7s")]).unwrap();
    let quick = rules.time_scaled(0.01).unwrap();
    assert_eq!(quick.clock_skew_warning(), Duration::from_secs(7));
    assert_eq!(quick.choice_timeout(), Duration::from_millis(300));
}
