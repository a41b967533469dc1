//! Random letters of every type, the same ones for the same seed.

use std::collections::BTreeMap;

use league_core::conduct::Conduct;
use league_core::dice::{Dice, SeededDice};
use league_core::id::{
    AgentId, ConversationId, GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId,
};
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;
use league_wire::lenient::{Deviations, Slip, Tally};
use league_wire::message::{
    Ack, AnnouncedMatch, AssignedMatches, AssignedPlayer, Assignment, Champion, ErrorCode,
    ErrorReport, GameInvitation, GameJoinAck, GameOver, GameOverAck, GameStart, GetAssignedMatches,
    LeagueCompleted, LeagueQuery, LeagueQueryResponse, MatchOutcome, MatchProgress,
    MatchProgressAck, MatchResultAck, MatchResultReport, Meta, MoveCall, MoveResponse, Officiated,
    ParityCall, ParityResponse, Ping, PlayerLine, PlayerRegistration, Pong, RefereeRegistration,
    RegisterResponse, ReportedPlayer, Retry, RoundAnnouncement, RoundCompleted, RoundResult,
    RoundStart, StandingRow, StandingsUpdate, StartLeague, StartMatch, StartMatchAck,
    SuspensionNotice,
};
use league_wire::{
    AgentState, AuthToken, Code, Decision, Dialect, DrawSeed, Envelope, Fragment, JoinCode, Letter,
    Listed, MatchState, Message, MessageType, MoveValue, Parity, PlayerResult, QueryType,
    ResultStatus, Sender,
};

/// A random letter of type `kind` with everything that document 001 wants beside it.
pub(crate) fn letter(kind: MessageType, seed: u64) -> Letter {
    let mut dice = SeededDice::new(seed);
    let mut envelope = Envelope::roll(&mut dice);
    let mut message = message(kind, &mut dice);
    match &mut message {
        Message::LeagueRegisterResponse(_) | Message::RefereeRegisterResponse(_) => {
            envelope.token = None;
        }
        Message::ChooseParityCall(call) => call.game_type = Some(dice.any()),
        Message::GameOver(over) => over.game_type = Some(dice.any()),
        Message::MatchResultReport(report) => report.game_type = Some(dice.any()),
        Message::GameError(report) => report.match_id = Some(dice.any()),
        _ => {}
    }
    Letter { envelope, message }
}

trait Roll: Sized {
    fn roll(dice: &mut SeededDice) -> Self;
}

trait Any {
    fn any<T: Roll>(&mut self) -> T;
    fn one<T: Clone>(&mut self, of: &[T]) -> T;
}

impl Any for SeededDice {
    fn any<T: Roll>(&mut self) -> T {
        T::roll(self)
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()].clone()
    }
}

macro_rules! rolls {
    ($($type:ty: |$dice:ident| $make:expr;)*) => {
        $(impl Roll for $type {
            fn roll($dice: &mut SeededDice) -> Self {
                $make
            }
        })*
    };
}

rolls! {
    bool: |dice| dice.below(2) == 0;
    u32: |dice| { let top = dice.one(&[1, 10, u64::from(u32::MAX)]); dice.below(top + 1) as u32 };
    u64: |dice| dice.below(1 << 40);
    i64: |dice| dice.below(2_000) as i64 - 1_000;
    String: |dice| {
        let length = dice.below(12);
        let of: Vec<char> = "aZ09 _-.\"\\/\n\t\u{1}é€😀{}[]:,".chars().collect();
        (0..length).map(|_| dice.one(&of)).collect()
    };
    Timestamp: |dice| Timestamp::from_millis(dice.below(4_000_000_000_000) as i64);
    PlayerId: |dice| PlayerId::new(1 + dice.below(200) as u32);
    RefereeId: |dice| RefereeId::new(1 + dice.below(200) as u32);
    RoundId: |dice| RoundId::new(1 + dice.below(200) as u32);
    MatchId: |dice| MatchId::new(dice.any(), 1 + dice.below(200) as u32);
    AgentId: |dice| match dice.any() {
        true => AgentId::Player(dice.any()),
        false => AgentId::Referee(dice.any()),
    };
    LeagueId: |dice| format!("league_{}", dice.below(1_000)).parse().unwrap();
    GameType: |dice| dice.one(&["even_odd", "tic-tac-toe", "a.b"]).parse().unwrap();
    ConversationId: |dice| dice.one(&["convr1m1x", "\"\\{}", "é€😀"]).parse().unwrap();
    AuthToken: |dice| AuthToken::new(&format!("tok_{}{}", dice.below(1_000), dice.any::<String>()));
    JoinCode: |dice| JoinCode::new(&format!("join{}", dice.any::<String>()));
    DrawSeed: |dice| DrawSeed::new(&format!("seed{}", dice.any::<String>()));
    Fragment: |dice| {
        let of = [r#"{"a":[1,{"b":"\u00e9\"}"}]}"#, "[]", "[1,2,[]]", r#""text""#, "-1.5e3", "true"];
        Fragment::parse(dice.one(&of)).unwrap()
    };
    MoveValue: |dice| match dice.any() {
        true => MoveValue::Text(dice.any()),
        false => MoveValue::Number(dice.any()),
    };
    Seat: |dice| dice.one(&Seat::BOTH);
    Dialect: |dice| dice.one(&Dialect::ALL);
    Parity: |dice| dice.one(Parity::ALL);
    Decision: |dice| dice.one(Decision::ALL);
    AgentState: |dice| dice.one(AgentState::ALL);
    MatchState: |dice| dice.one(MatchState::ALL);
    ResultStatus: |dice| dice.one(ResultStatus::ALL);
    PlayerResult: |dice| dice.one(PlayerResult::ALL);
    QueryType: |dice| dice.one(QueryType::ALL);
    MessageType: |dice| dice.one(MessageType::ALL);
    Sender: |dice| {
        let id = format!("x{}", dice.any::<String>());
        dice.one(&[
            Sender::MANAGER,
            Sender::LeagueManager(Some(id.as_str().into())),
            Sender::Referee(id.as_str().into()),
            Sender::Player(id.as_str().into()),
            Sender::Administrator,
        ])
    };
    ErrorCode: |dice| {
        let known = ErrorCode::Known(dice.one(Code::ALL));
        dice.one(&[known, ErrorCode::Other("X999".into())])
    };
    Retry: |dice| Retry { count: 1 + dice.any::<u32>() / 2, max: dice.any(), next_at: dice.any() };
}

impl<T: Roll> Roll for Option<T> {
    fn roll(dice: &mut SeededDice) -> Self {
        dice.any::<bool>().then(|| dice.any())
    }
}

impl<T: Roll> Roll for Vec<T> {
    fn roll(dice: &mut SeededDice) -> Self {
        (0..dice.below(4)).map(|_| dice.any()).collect()
    }
}

impl<K: Roll + Ord, V: Roll> Roll for BTreeMap<K, V> {
    fn roll(dice: &mut SeededDice) -> Self {
        (0..dice.below(4)).map(|_| (dice.any(), dice.any())).collect()
    }
}

impl<T: Roll> Roll for Seats<T> {
    fn roll(dice: &mut SeededDice) -> Self {
        Self::from_fn(|_| dice.any())
    }
}

impl<T: Roll> Roll for Listed<T> {
    fn roll(dice: &mut SeededDice) -> Self {
        Self::Items(dice.any())
    }
}

impl<T: Roll> Roll for Box<T> {
    fn roll(dice: &mut SeededDice) -> Self {
        Self::new(dice.any())
    }
}

impl<Id: Roll> Roll for RegisterResponse<Id> {
    fn roll(dice: &mut SeededDice) -> Self {
        if dice.any() {
            return Self::Accepted { id: dice.any(), token: dice.any(), note: dice.any() };
        }
        Self::Rejected(dice.any())
    }
}

macro_rules! structs {
    ($($type:ident { $($field:ident)* })*) => {
        $(impl Roll for $type {
            fn roll(_dice: &mut SeededDice) -> Self {
                Self { $($field: _dice.any(),)* }
            }
        })*
    };
}

structs! {
    RefereeRegistration { meta }
    PlayerRegistration { meta }
    ErrorReport {
        code description retryable context match_id affected_player action_required retry deadline
        consequence game_state
    }
    RoundAnnouncement {
        round_id matches byes round_deadline total_matches total_rounds more
    }
    AnnouncedMatch {
        match_id game_type players referee_id referee_endpoint scheduled_start officiated
    }
    Officiated { attempt rematch rules players }
    RoundCompleted {
        round_id completed_matches matches_played next_round_id journal_head key_fingerprint
    }
    LeagueCompleted {
        total_rounds total_matches champion final_standings journal_head key_fingerprint
    }
    Champion { player_id display_name points }
    StandingsUpdate { round_id last_updated standings total_players }
    StandingRow {
        rank player_id display_name played wins draws losses technical_losses points
        win_rate_thousandths state
    }
    RoundStart { round_id total_matches total_rounds }
    RoundResult { round_id results total_matches more }
    MatchOutcome { match_id players status winner }
    GameStart { match_id round_id game_type role opponent_id attempt game_state }
    StartLeague {}
    StartMatch {
        match_id round_id attempt rematch game_type rules players draw_commitment draw_seed
        standings scheduled_start result_deadline lease_ms lenient
    }
    AssignedPlayer {
        player_id endpoint dialect relayed match_proof reply_proof token_hash your_standings
        game_history
    }
    StartMatchAck { match_id attempt status reason draw_commitment }
    MatchProgress { match_id attempt game_state choices_hash annulled epilogue }
    MatchProgressAck { match_id attempt status lease_ms draw_seed }
    GetAssignedMatches { limit }
    AssignedMatches { assignments }
    Assignment { league_id order }
    GameInvitation {
        match_id round_id game_type role opponent_id attempt rematch budget_ms last_rtt_ms
        draw_commitment game_state
    }
    GameJoinAck { match_id player_id accept arrival reason }
    ParityCall {
        match_id player_id game_type deadline opponent_id round_id your_standings standings
        game_history attempt budget_ms last_rtt_ms game_state
    }
    ParityResponse { match_id player_id choice nonce choice_proof reasoning }
    MoveCall {
        match_id player_id game_type step deadline opponent_id round_id move_type valid_options
        context your_standings standings game_history attempt budget_ms last_rtt_ms game_state
    }
    MoveResponse { match_id player_id move_data nonce choice_proof reasoning }
    GameOver {
        match_id round_id game_type attempt rematch status winner technical_losers reason
        drawn_number number_parity players game_state draw_seed draw_commitment
    }
    PlayerLine { choice result points nonce role }
    GameOverAck { match_id acknowledged }
    MatchResultReport {
        match_id round_id game_type attempt rematch match_conversation status winner
        technical_losers reason drawn_number players game_state draw_seed draw_commitment
        referee_signature transcript
    }
    ReportedPlayer {
        line choice_proof dialect token_shown conduct unusable_answers response_us deviations
    }
    Conduct { answered timeouts connection_errors invalid_moves }
    MatchResultAck { match_id duplicate standings_updated assignments }
    LeagueQuery { query_type round_id match_id agent_id offset limit }
    LeagueQueryResponse { query_type data }
    SuspensionNotice { agent_id state reason recovery_deadline action_required }
    Ping {}
    Pong { state }
    Ack { of }
}

rolls! {
    Tally: |dice| {
        let mut deviations = Deviations::default();
        for slip in Slip::ALL {
            if dice.any() {
                deviations.note(slip.at(dice.any::<String>()));
            }
        }
        let mut tally = Tally::default();
        tally.note(&deviations);
        tally
    };
    Envelope: |dice| Envelope {
        sender: dice.any(),
        timestamp: dice.any(),
        conversation: dice.any(),
        token: dice.any(),
        league_id: Some(dice.any()),
    };
    Meta: |dice| Meta {
        display_name: dice.any(),
        version: dice.any(),
        protocol_version: dice.any(),
        game_types: vec![dice.any(), dice.any()],
        contact_endpoint: dice.any(),
        contact_email: dice.any(),
        max_concurrent_matches: dice.any(),
        dialect: dice.any(),
        batch: dice.any(),
        pull: dice.any(),
        join: dice.any(),
    };
}

macro_rules! messages {
    ($($kind:ident)*) => {
        fn message(kind: MessageType, dice: &mut SeededDice) -> Message {
            match kind {
                $(MessageType::$kind => Message::$kind(dice.any()),)*
            }
        }
    };
}

messages! {
    RefereeRegisterRequest RefereeRegisterResponse LeagueRegisterRequest LeagueRegisterResponse
    StartLeague RoundAnnouncement RoundCompleted RoundStart RoundResult GameStart
    StartMatch StartMatchAck MatchProgress
    MatchProgressAck GetAssignedMatches AssignedMatches GameInvitation GameJoinAck ChooseParityCall
    ChooseParityResponse GameMoveCall GameMoveResponse GameOver GameOverAck MatchResultReport
    MatchResultAck LeagueStandingsUpdate LeagueCompleted LeagueQuery LeagueQueryResponse
    SuspensionNotice Ping Pong Ack LeagueError GameError
}
