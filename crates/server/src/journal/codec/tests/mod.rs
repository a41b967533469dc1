//! Rows that were written once and must decode for ever, and events as nobody would make them.

use std::sync::Arc;

use league_core::game::{Move, Turn};
use league_core::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_core::manager::{
    Charter, ChoiceEvidence, DrawEvidence, Fact, Profile, ProtocolVersion, Recorded, Scheduled,
    StartRule,
};
use league_core::schedule::Pairing;
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;
use league_core::verdict::Verdict;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;

mod later;

/// A name and the row in hex, one a line. Lines are only ever added.
const GOLDEN: &str = include_str!("../golden.txt");

#[test]
fn every_row_ever_written_decodes_and_is_written_alike() {
    let examples = examples();
    let expected: Vec<String> =
        examples.iter().map(|(name, event)| format!("{name} {}", hex(&encode(event)))).collect();
    let golden: Vec<&str> = GOLDEN.lines().collect();
    assert_eq!(golden, expected);
    for ((name, event), line) in examples.iter().zip(golden) {
        let (_, digits) = line.split_once(' ').unwrap();
        let row = unhex(digits);
        assert_eq!(decode(&row).as_ref(), Ok(event), "{name}");
        assert_skimmed_alike(&row);
    }
}

#[test]
fn there_is_a_row_of_every_kind() {
    let mut missing: Vec<&str> = vec![
        "LeagueCreated",
        "PlayerRegistered",
        "RefereeRegistered",
        "LeagueStarted",
        "RoundOpened",
        "MatchReassigned",
        "ResultRecorded",
        "ReportRefused",
        "RoundClosed",
        "LeagueCompleted",
        "ConductNoted",
        "AgentChanged",
        "Walkover",
        "MatchCancelled",
        "MatchStuck",
        "RematchOrdered",
        "AdmissionSet",
        "CodeRedeemed",
        "Administered",
        "PlayerReturned",
        "RefereeReturned",
        "TokenReplaced",
        "MatchPassedOn",
        "ShapeSettled",
    ];
    for (_, event) in examples() {
        // A kind that is added must be named here, and above.
        let kind = match event.fact {
            Fact::LeagueCreated(_) => "LeagueCreated",
            Fact::PlayerRegistered { .. } => "PlayerRegistered",
            Fact::RefereeRegistered { .. } => "RefereeRegistered",
            Fact::LeagueStarted => "LeagueStarted",
            Fact::RoundOpened { .. } => "RoundOpened",
            Fact::MatchReassigned { .. } => "MatchReassigned",
            Fact::ResultRecorded(_) => "ResultRecorded",
            Fact::ReportRefused { .. } => "ReportRefused",
            Fact::RoundClosed { .. } => "RoundClosed",
            Fact::LeagueCompleted => "LeagueCompleted",
            Fact::ConductNoted { .. } => "ConductNoted",
            Fact::AgentChanged { .. } => "AgentChanged",
            Fact::Walkover { .. } => "Walkover",
            Fact::MatchCancelled { .. } => "MatchCancelled",
            Fact::MatchStuck { .. } => "MatchStuck",
            Fact::RematchOrdered { .. } => "RematchOrdered",
            Fact::AdmissionSet(_) => "AdmissionSet",
            Fact::CodeRedeemed { .. } => "CodeRedeemed",
            Fact::Administered { .. } => "Administered",
            Fact::PlayerReturned { .. } => "PlayerReturned",
            Fact::RefereeReturned { .. } => "RefereeReturned",
            Fact::TokenReplaced { .. } => "TokenReplaced",
            Fact::MatchPassedOn { .. } => "MatchPassedOn",
            Fact::ShapeSettled { .. } => "ShapeSettled",
        };
        missing.retain(|name| *name != kind);
    }
    assert_eq!(missing, [""; 0]);
}

#[test]
fn what_is_not_exactly_one_event_is_refused() {
    let row = encode(&Event { at: Timestamp::default(), fact: Fact::LeagueStarted });
    assert_eq!(decode(&[]), Err(CodecError::Empty));
    assert_skimmed_alike(&[]);
    assert_eq!(decode(&[2, 0, 3]), Err(CodecError::UnknownVersion(2)));
    assert!(matches!(decode(&row[..row.len() - 1]), Err(CodecError::Malformed(_))));
    let longer = [&row[..], &[0, 0]].concat();
    assert_eq!(decode(&longer), Err(CodecError::Trailing(2)));
    let unknown_kind = [1, 0, 200];
    assert!(matches!(decode(&unknown_kind), Err(CodecError::Malformed(_))));
}

proptest! {
    #[test]
    fn events_come_back_as_they_were(event in any_event()) {
        assert_skimmed_alike(&encode(&event));
        prop_assert_eq!(decode(&encode(&event)), Ok(event));
    }

    #[test]
    fn any_bytes_are_an_event_or_a_refusal(mut bytes in vec(any::<u8>(), 0..200), known: bool) {
        if let (true, Some(first)) = (known, bytes.first_mut()) {
            *first = VERSION;
        }
        assert_skimmed_alike(&bytes);
        if let Ok(event) = decode(&bytes) {
            prop_assert_eq!(decode(&encode(&event)), Ok(event));
        }
    }

    #[test]
    fn a_damaged_row_is_an_event_or_a_refusal(
        event in any_event(),
        at in any::<prop::sample::Index>(),
        byte: u8,
    ) {
        let mut row = encode(&event);
        let at = at.index(row.len());
        row[at] = byte;
        assert_skimmed_alike(&row);
        assert_skimmed_alike(&row[..at]);
        assert_skimmed_alike(&[&row[..], &[byte]].concat());
        if let Ok(event) = decode(&row) {
            prop_assert_eq!(decode(&encode(&event)), Ok(event));
        }
        prop_assert!(decode(&row[..at]).is_err(), "a row that was cut off is none");
    }
}

/// Whoever skims a row sees what whoever decodes it sees, and results are the rows that are only
/// skimmed.
fn assert_skimmed_alike(row: &[u8]) {
    match (skim(row), decode(row)) {
        (Ok(Skimmed::Result(skimmed)), Ok(Event { fact: Fact::ResultRecorded(recorded), .. })) => {
            assert_eq!(skimmed, borrowed(&recorded));
        }
        (Ok(Skimmed::Other(event)), Ok(decoded)) => {
            assert!(!matches!(event.fact, Fact::ResultRecorded(_)));
            assert_eq!(event, decoded);
        }
        (skimmed, decoded) => assert_eq!(skimmed.err(), Some(decoded.unwrap_err())),
    }
}

fn borrowed(recorded: &Recorded) -> Recorded<&str, &str> {
    Recorded {
        match_id: recorded.match_id,
        attempt: recorded.attempt,
        rematch: recorded.rematch,
        referee: recorded.referee,
        conversation: recorded.conversation.as_str(),
        verdict: recorded.verdict,
        turns: recorded.turns.clone(),
        stranded: recorded.stranded.clone(),
        nonces: Seats::from_fn(|seat| recorded.nonces[seat].as_deref()),
        choice_proofs: recorded.choice_proofs,
        draw: recorded.draw,
        choices: recorded.choices,
        reason: &recorded.reason,
        transcript: recorded.transcript,
    }
}

fn examples() -> Vec<(&'static str, Event)> {
    let at = Timestamp::from_millis(1_736_935_200_123);
    let facts = founding().into_iter().chain(playing()).chain(ending()).chain(later::facts());
    facts.map(|(name, fact)| (name, Event { at, fact })).collect()
}

fn founding() -> Vec<(&'static str, Fact)> {
    let charter = |start| {
        Fact::LeagueCreated(Box::new(Charter {
            league: "league_2025_even_odd".parse().unwrap(),
            rule_set: "v2.1".into(),
            rules: vec![("points_win".into(), "3".into()), ("lease".into(), "15s".into())],
            game: "even_odd".parse().unwrap(),
            format: "round_robin".into(),
            start,
            players_max: 300,
            key_check: [9; 32],
        }))
    };
    let nonce = std::array::from_fn(|at| u8::try_from(at).unwrap());
    let player = Fact::PlayerRegistered {
        player: PlayerId::new(1),
        profile: profile("Agent Alpha", Some("student@university.edu".into())),
        nonce,
        conversation: "conv-1".parse().unwrap(),
    };
    let referee = Fact::RefereeRegistered {
        referee: RefereeId::new(1),
        profile: profile("Schiedsrichter Ö", None),
        nonce,
        conversation: "conv-2".parse().unwrap(),
        capacity: 64,
        operated: true,
    };
    vec![
        ("created_on_command", charter(StartRule::OnCommand)),
        ("created_for_players", charter(StartRule::Players(4))),
        ("created_for_a_moment", charter(StartRule::At(Timestamp::from_millis(-1)))),
        ("player_registered", player),
        ("referee_registered", referee),
        ("started", Fact::LeagueStarted),
    ]
}

fn playing() -> Vec<(&'static str, Fact)> {
    let scheduled = |a, b, referee, wave| Scheduled {
        pairing: Pairing::new(PlayerId::new(a), PlayerId::new(b)),
        referee: RefereeId::new(referee),
        wave,
    };
    let opened = Fact::RoundOpened {
        round: RoundId::new(3),
        starts_at: Timestamp::from_millis(1_736_935_260_123),
        deadline: Timestamp::from_millis(1_736_935_460_123),
        matches: vec![scheduled(1, 4, 1, 0), scheduled(3, 2, 2, 1)],
        byes: vec![PlayerId::new(5)],
    };
    let reassigned = |annulled, reason: &str| Fact::MatchReassigned {
        match_id: MatchId::from_index(RoundId::new(3), 1),
        attempt: 2,
        referee: RefereeId::new(1),
        annulled,
        reason: reason.into(),
    };
    let words = Seats::new(Move::word("even"), Move::word("odd"));
    let played = vec![Turn::Moves(words), Turn::Drawn(8)];
    let numbers = vec![Turn::Moves(Seats::new(Some(Move::Number(-5)), None)), Turn::Drawn(10)];
    let won = Verdict::Won(Seat::A);
    vec![
        ("round_opened", opened),
        ("reassigned", reassigned(false, "the referee showed no sign of life")),
        ("annulled", reassigned(true, "no sockets")),
        ("won", recorded(won, played, DrawEvidence::Verified)),
        ("drawn", recorded(Verdict::Drawn, numbers, DrawEvidence::NotVerifiable)),
        ("lost", recorded(Verdict::TechnicalLoss(Seat::B), vec![], DrawEvidence::None)),
        ("both_lost", recorded(Verdict::BothLost, vec![], DrawEvidence::None)),
        ("cancelled", recorded(Verdict::Cancelled, vec![], DrawEvidence::None)),
    ]
}

fn ending() -> Vec<(&'static str, Fact)> {
    let refused = Fact::ReportRefused {
        match_id: MatchId::from_index(RoundId::new(1), 0),
        referee: RefereeId::new(2),
        reason: "the points are not those of this result".into(),
    };
    vec![
        ("report_refused", refused),
        ("round_closed", Fact::RoundClosed { round: RoundId::new(3) }),
        ("completed", Fact::LeagueCompleted),
    ]
}

fn profile(name: &str, email: Option<Arc<str>>) -> Profile {
    Profile {
        display_name: name.into(),
        version: "1.0.0".into(),
        protocol_version: ProtocolVersion { major: 2, minor: 1, patch: 7 },
        games: vec!["even_odd".parse().unwrap()],
        endpoint: "http://127.0.0.1:8101/mcp".into(),
        dialect: "flat".into(),
        email,
        batch: true,
    }
}

fn recorded(verdict: Verdict, turns: Vec<Turn>, draw: DrawEvidence) -> Fact {
    let was_played = !turns.is_empty();
    let stranded = if was_played { None } else { Move::word("even") };
    Fact::ResultRecorded(Box::new(Recorded {
        match_id: MatchId::from_index(RoundId::new(2), 299),
        attempt: 1,
        rematch: 0,
        referee: RefereeId::new(2),
        conversation: "convr2m300".parse().unwrap(),
        verdict,
        turns,
        stranded: Seats::new(stranded, None),
        nonces: Seats::new(Some("a nonce".into()), None),
        choice_proofs: Seats::new(None, Some([5; 32])),
        draw,
        choices: Seats::new(ChoiceEvidence::Unclear, ChoiceEvidence::Proved),
        reason: "P01 chose even, number was 8 (even)".into(),
        transcript: was_played.then_some([3; 32]),
    }))
}

fn any_event() -> impl Strategy<Value = Event> {
    (any::<i64>(), any_fact())
        .prop_map(|(millis, fact)| Event { at: Timestamp::from_millis(millis), fact })
}

fn any_fact() -> impl Strategy<Value = Fact> {
    let registered = (1..u32::MAX, any_profile(), any::<[u8; 32]>(), 0..u32::MAX);
    let player = registered.prop_map(|(id, profile, nonce, _)| Fact::PlayerRegistered {
        player: PlayerId::new(id),
        profile,
        nonce,
        conversation: "conv".parse().unwrap(),
    });
    let registered = (1..u32::MAX, any_profile(), any::<[u8; 32]>(), 0..u32::MAX);
    let referee = registered.prop_map(|(id, profile, nonce, capacity)| Fact::RefereeRegistered {
        referee: RefereeId::new(id),
        profile,
        nonce,
        conversation: "conv".parse().unwrap(),
        capacity,
        operated: capacity % 2 == 0,
    });
    let reassigned = (any_match(), 1..u32::MAX, any::<bool>(), any_text()).prop_map(
        |(match_id, number, annulled, reason)| Fact::MatchReassigned {
            match_id,
            attempt: number,
            referee: RefereeId::new(number),
            annulled,
            reason,
        },
    );
    let refused = (any_match(), 1..u32::MAX, any_text()).prop_map(|(match_id, id, reason)| {
        Fact::ReportRefused { match_id, referee: RefereeId::new(id), reason }
    });
    prop_oneof![
        any_charter(),
        player,
        referee,
        Just(Fact::LeagueStarted),
        any_round(),
        reassigned,
        any_recorded(),
        refused,
        (1..u32::MAX).prop_map(|round| Fact::RoundClosed { round: RoundId::new(round) }),
        Just(Fact::LeagueCompleted),
        later::any_fact(),
    ]
}

fn any_charter() -> impl Strategy<Value = Fact> {
    let start = prop_oneof![
        Just(StartRule::OnCommand),
        any::<u32>().prop_map(StartRule::Players),
        any::<i64>().prop_map(|millis| StartRule::At(Timestamp::from_millis(millis))),
    ];
    let rules = vec((any::<String>(), any::<String>()), 0..5);
    ("[a-z0-9_.-]{1,128}", any::<String>(), rules, start, any::<u32>(), any::<[u8; 32]>()).prop_map(
        |(league, rule_set, rules, start, players_max, key_check)| {
            Fact::LeagueCreated(Box::new(Charter {
                league: league.parse().unwrap(),
                format: rule_set.clone(),
                rule_set,
                rules,
                game: "even_odd".parse().unwrap(),
                start,
                players_max,
                key_check,
            }))
        },
    )
}

fn any_round() -> impl Strategy<Value = Fact> {
    let ids = (1..u32::MAX, 1..u32::MAX, 1..u32::MAX, any::<u32>());
    let scheduled = ids.prop_map(|(a, b, referee, wave)| Scheduled {
        pairing: Pairing::new(PlayerId::new(a), PlayerId::new(b)),
        referee: RefereeId::new(referee),
        wave,
    });
    let byes = vec((1..u32::MAX).prop_map(PlayerId::new), 0..3);
    (1..u32::MAX, any::<i64>(), any::<i64>(), vec(scheduled, 0..5), byes).prop_map(
        |(round, starts_at, deadline, matches, byes)| Fact::RoundOpened {
            round: RoundId::new(round),
            starts_at: Timestamp::from_millis(starts_at),
            deadline: Timestamp::from_millis(deadline),
            matches,
            byes,
        },
    )
}

fn any_recorded() -> impl Strategy<Value = Fact> {
    let verdict = prop::sample::select(vec![
        Verdict::Won(Seat::A),
        Verdict::Won(Seat::B),
        Verdict::Drawn,
        Verdict::TechnicalLoss(Seat::A),
        Verdict::TechnicalLoss(Seat::B),
        Verdict::BothLost,
        Verdict::Cancelled,
    ]);
    let draw = prop::sample::select(vec![
        DrawEvidence::None,
        DrawEvidence::Verified,
        DrawEvidence::NotVerifiable,
    ]);
    let turn = prop_oneof![
        (any_move(), any_move()).prop_map(|(a, b)| Turn::Moves(Seats::new(a, b))),
        any::<u32>().prop_map(Turn::Drawn),
    ];
    let texts = (option::of(any_text()), option::of(any::<[u8; 32]>()));
    let play = (vec(turn, 0..6), any_move(), any_move(), texts);
    let rest = (any_text(), option::of(any::<[u8; 32]>()), 1..u32::MAX);
    (any_match(), verdict, draw, play, rest).prop_map(|(match_id, verdict, draw, play, rest)| {
        let (turns, a, b, (nonce, proof)) = play;
        let (reason, transcript, number) = rest;
        Fact::ResultRecorded(Box::new(Recorded {
            match_id,
            attempt: number,
            rematch: number / 2,
            referee: RefereeId::new(number),
            conversation: "conv".parse().unwrap(),
            verdict,
            turns,
            stranded: Seats::new(a, b),
            nonces: Seats::new(nonce, None),
            choice_proofs: Seats::new(None, proof),
            draw,
            choices: Seats::new(ChoiceEvidence::Unclear, ChoiceEvidence::None),
            reason,
            transcript,
        }))
    })
}

fn any_match() -> impl Strategy<Value = MatchId> {
    (1..u32::MAX, 0..1_000_000_usize)
        .prop_map(|(round, index)| MatchId::from_index(RoundId::new(round), index))
}

fn any_move() -> impl Strategy<Value = Option<Move>> {
    let word = any_text().prop_map(|text| Move::Word((&*text).into()));
    option::of(prop_oneof![word, any::<i64>().prop_map(Move::Number)])
}

fn any_text() -> impl Strategy<Value = Arc<str>> {
    ".{0,40}".prop_map(Into::into)
}

fn any_profile() -> impl Strategy<Value = Profile> {
    let version = (any::<u32>(), any::<u32>(), any::<u32>());
    (any_text(), version, any_text(), option::of(any_text()), any::<bool>()).prop_map(
        |(name, (major, minor, patch), endpoint, email, batch)| Profile {
            protocol_version: ProtocolVersion { major, minor, patch },
            endpoint,
            batch,
            ..profile(&name, email)
        },
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}
