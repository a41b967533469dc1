//! Rows of the agents' lives and of what administrators order.

use league_core::conduct::Conduct;
use league_core::id::{AgentId, MatchId, PlayerId, RefereeId, RoundId};
use league_core::manager::{
    Admission, ChoiceEvidence, DrawEvidence, Fact, Invited, Order, PlayerAdmission,
    RefereeAdmission, StuckCause,
};
use league_core::roster::{Reason, StateKind, Transition};
use league_core::seat::{Seat, Seats};
use league_core::verdict::Verdict;
use proptest::prelude::*;

use super::{any_match, any_text, profile, recorded};

const AGENTS: [AgentId; 2] =
    [AgentId::Player(PlayerId::new(7)), AgentId::Referee(RefereeId::new(2))];

pub(super) fn facts() -> Vec<(&'static str, Fact)> {
    let later = lives().into_iter().chain(matches()).chain(admission()).chain(orders());
    later.chain(places()).collect()
}

fn match_id() -> MatchId {
    MatchId::from_index(RoundId::new(3), 1)
}

fn lives() -> Vec<(&'static str, Fact)> {
    let quiet = Conduct { answered: true, timeouts: 1, connection_errors: 0, invalid_moves: 0 };
    let rude = Conduct { answered: false, timeouts: 0, connection_errors: 2, invalid_moves: 300 };
    let changed = |agent, from, to, reason| Fact::AgentChanged {
        agent,
        transition: Transition { from, to, reason },
    };
    let (active, suspended, shutdown) =
        (StateKind::Active, StateKind::Suspended, StateKind::Shutdown);
    let [player, referee] = AGENTS;
    vec![
        ("conduct", Fact::ConductNoted { match_id: match_id(), conduct: Seats::new(quiet, rude) }),
        ("suspended_silent", changed(player, active, suspended, Reason::Timeouts(3))),
        ("suspended_unreachable", changed(player, active, suspended, Reason::ConnectionErrors(5))),
        ("suspended_invalid", changed(player, active, suspended, Reason::InvalidMoves(5))),
        ("recovered", changed(player, suspended, active, Reason::Recovered)),
        ("recovered_early", changed(player, suspended, StateKind::Registered, Reason::Reinstated)),
        ("gone", changed(player, suspended, shutdown, Reason::RecoveryFailed)),
        ("failed", changed(player, active, shutdown, Reason::Failures(10))),
        ("banned", changed(referee, StateKind::Registered, shutdown, Reason::Banned)),
        ("broken", changed(referee, StateKind::Init, shutdown, Reason::CriticalError)),
    ]
}

fn matches() -> Vec<(&'static str, Fact)> {
    let match_id = match_id();
    let walkover =
        |verdict| Fact::Walkover { match_id, verdict, reason: "P07 has left the league".into() };
    let cancelled =
        |replaced| Fact::MatchCancelled { match_id, replaced, reason: "a broken lamp".into() };
    let stuck = |cause| Fact::MatchStuck { match_id, cause, reason: "no sockets".into() };
    let rematch = |replaced| Fact::RematchOrdered {
        match_id,
        attempt: 4,
        rematch: 1,
        referee: RefereeId::new(2),
        replaced,
    };
    let mut contradicted = recorded(Verdict::BothLost, vec![], DrawEvidence::None);
    if let Fact::ResultRecorded(recorded) = &mut contradicted {
        recorded.choices.a = ChoiceEvidence::Contradicted;
    }
    vec![
        ("contradicted", contradicted),
        ("walkover", walkover(Verdict::TechnicalLoss(Seat::A))),
        ("walkover_of_both", walkover(Verdict::BothLost)),
        ("called_off", cancelled(None)),
        ("called_off_afterwards", cancelled(Some(Verdict::Drawn))),
        ("stuck_annulled", stuck(StuckCause::Annulments)),
        ("stuck_given_away", stuck(StuckCause::Attempts)),
        ("stuck_without_referee", stuck(StuckCause::NoReferee)),
        ("rematch", rematch(None)),
        ("rematch_afterwards", rematch(Some(Verdict::Won(Seat::B)))),
    ]
}

fn admission() -> Vec<(&'static str, Fact)> {
    let invited = |code, group: Option<&str>| Invited {
        code: [code; 32],
        student: "Ada".into(),
        group: group.map(Into::into),
    };
    let codes = PlayerAdmission::Codes(vec![invited(1, None), invited(2, Some("blue"))]);
    let set = |players, referees| Fact::AdmissionSet(Box::new(Admission { players, referees }));
    let returned = Fact::PlayerReturned {
        player: PlayerId::new(7),
        profile: profile("Agent Alpha", None),
        conversation: "conv-9".parse().unwrap(),
    };
    let referee_returned = Fact::RefereeReturned {
        referee: RefereeId::new(2),
        profile: profile("Referee", None),
        conversation: "conv-9".parse().unwrap(),
        capacity: 3,
        operated: false,
    };
    vec![
        ("admission_open", set(PlayerAdmission::Open, RefereeAdmission::Open)),
        ("admission_by_code", set(codes, RefereeAdmission::KeyOrApproval)),
        ("code_redeemed", Fact::CodeRedeemed { player: PlayerId::new(7), code: [2; 32] }),
        ("player_returned", returned),
        ("referee_returned", referee_returned),
    ]
}

fn orders() -> Vec<(&'static str, Fact)> {
    let ordered = |order| Fact::Administered { order, reason: "because".into() };
    let [player, referee] = AGENTS;
    vec![
        ("ban", ordered(Order::Ban(player))),
        ("reinstate", ordered(Order::Reinstate(referee))),
        ("approve", ordered(Order::Approve(RefereeId::new(2)))),
        ("pause", ordered(Order::Pause)),
        ("resume", ordered(Order::Resume)),
        ("close_registration", ordered(Order::CloseRegistration)),
        ("cancel", ordered(Order::Cancel(match_id()))),
        ("order_rematch", ordered(Order::Rematch(match_id()))),
        ("archive", ordered(Order::Archive)),
    ]
}

fn places() -> Vec<(&'static str, Fact)> {
    let ordered = |order| Fact::Administered { order, reason: "because".into() };
    let replaced = |agent| Fact::TokenReplaced { agent, nonce: [5; 32] };
    let [player, referee] = AGENTS;
    vec![
        ("rotate", ordered(Order::Rotate(player))),
        ("release", ordered(Order::Release(referee))),
        ("token_replaced", replaced(player)),
        ("token_of_referee_replaced", replaced(referee)),
        ("passed_on", passed_on()),
        ("enrol", ordered(Order::Enrol)),
        ("shape_settled", Fact::ShapeSettled { agent: player, dialect: "tool".into() }),
    ]
}

fn passed_on() -> Fact {
    let (attempt, referee, reason) = (2, RefereeId::new(2), "connection refused".into());
    Fact::MatchPassedOn { match_id: match_id(), attempt, referee, reason }
}

pub(super) fn any_fact() -> impl Strategy<Value = Fact> {
    let counts = (any::<bool>(), any::<u32>(), any::<u32>(), any::<u32>());
    let conduct = (any_match(), counts).prop_map(|(match_id, counts)| {
        let (answered, timeouts, connection_errors, invalid_moves) = counts;
        let conduct = Conduct { answered, timeouts, connection_errors, invalid_moves };
        Fact::ConductNoted { match_id, conduct: Seats::new(conduct, Conduct::default()) }
    });
    let walkover = (any_match(), any_text()).prop_map(|(match_id, reason)| Fact::Walkover {
        match_id,
        verdict: Verdict::BothLost,
        reason,
    });
    let ordered = (any_match(), any_text()).prop_map(|(match_id, reason)| Fact::Administered {
        order: Order::Cancel(match_id),
        reason,
    });
    let examples = prop::sample::select(facts()).prop_map(|(_, fact)| fact);
    prop_oneof![conduct, walkover, ordered, examples]
}
