//! One realistic letter of every type, as they appear in the examples of the documentation.

use std::collections::BTreeMap;

use league_core::conduct::Conduct;
use league_core::id::{
    AgentId, ConversationId, GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId,
};
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;
use league_wire::lenient::Tally;
use league_wire::message::{
    Ack, AnnouncedMatch, AssignedMatches, AssignedPlayer, Assignment, Champion, ErrorReport,
    GameInvitation, GameJoinAck, GameOver, GameOverAck, GameStart, GetAssignedMatches,
    LeagueCompleted, LeagueQuery, LeagueQueryResponse, MatchOutcome, MatchProgress,
    MatchProgressAck, MatchResultAck, MatchResultReport, Meta, MoveCall, MoveResponse, ParityCall,
    ParityResponse, Ping, PlayerLine, PlayerRegistration, Pong, RefereeRegistration,
    RegisterResponse, ReportedPlayer, Retry, RoundAnnouncement, RoundCompleted, RoundResult,
    RoundStart, StandingRow, StandingsUpdate, StartLeague, StartMatch, StartMatchAck,
    SuspensionNotice,
};
use league_wire::{
    AgentState, AuthToken, Code, Decision, Dialect, DrawSeed, Envelope, Fragment, Letter, Listed,
    MatchState, Message, MessageType, MoveValue, Parity, PlayerResult, QueryType, ResultStatus,
    Sender,
};

const P01: PlayerId = PlayerId::new(1);
const P02: PlayerId = PlayerId::new(2);
const MATCH: MatchId = MatchId::new(RoundId::FIRST, 1);
const COMMITMENT: &str = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
const SEED: &str = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab";
const NONCES: [&str; 2] = ["b1946ac92492d2347c6235b4d2611184", "591785b794601e212b260e25925636fd"];

/// A letter of type `kind`, as its usual sender would write it.
pub(crate) fn letter(kind: MessageType) -> Letter {
    let message = message(kind);
    let (sender, token) = match kind {
        MessageType::RefereeRegisterRequest => (Sender::Referee("alpha".into()), None),
        MessageType::LeagueRegisterRequest => (Sender::Player("alice".into()), None),
        MessageType::StartLeague => (Sender::Administrator, Some("tok_admin_4f2d")),
        MessageType::StartMatchAck
        | MessageType::MatchProgress
        | MessageType::GetAssignedMatches
        | MessageType::MatchResultReport => (referee(), Some("tok_referee_REF01_77aa")),
        MessageType::GameInvitation
        | MessageType::GameStart
        | MessageType::ChooseParityCall
        | MessageType::GameMoveCall
        | MessageType::GameOver
        | MessageType::GameError => (referee(), Some("prf_0d6be69b264717f2")),
        MessageType::GameJoinAck
        | MessageType::ChooseParityResponse
        | MessageType::GameMoveResponse
        | MessageType::GameOverAck => (player(), Some("prf_d9298a10d1b0735837dc")),
        MessageType::LeagueQuery | MessageType::Pong | MessageType::Ack => {
            (player(), Some("tok_player_P01_c0ffee"))
        }
        MessageType::RefereeRegisterResponse | MessageType::LeagueRegisterResponse => {
            (Sender::MANAGER, None)
        }
        _ => (Sender::MANAGER, Some("tok_player_P01_c0ffee")),
    };
    let registers =
        matches!(kind, MessageType::RefereeRegisterRequest | MessageType::LeagueRegisterRequest);
    Letter {
        envelope: Envelope {
            sender,
            timestamp: at("2025-01-15T10:30:00Z"),
            conversation: conversation(),
            token: token.map(AuthToken::new),
            league_id: (!registers).then(|| "league_2025_even_odd".parse::<LeagueId>().unwrap()),
        },
        message,
    }
}

/// The answer to a registration that was refused.
pub(crate) fn refusal() -> Letter {
    let mut letter = letter(MessageType::LeagueRegisterResponse);
    letter.message =
        Message::LeagueRegisterResponse(RegisterResponse::Rejected(wrong_version().into()));
    letter
}

/// The error about a version that is not spoken.
pub(crate) fn version_error() -> Letter {
    let mut letter = letter(MessageType::LeagueError);
    letter.message = Message::LeagueError(wrong_version());
    letter
}

fn wrong_version() -> ErrorReport {
    let context = r#"{"agent_version":"1.5.0","min_supported":"2.0.0","current":"2.1.0"}"#;
    let text = "Agent protocol version 1.5.0 not supported. Required: 2.0.0 - 2.1.0";
    ErrorReport { context: fragment(context), ..ErrorReport::new(Code::E018, text) }
}

fn message(kind: MessageType) -> Message {
    use MessageType as Type;
    match kind {
        Type::RefereeRegisterRequest
        | Type::RefereeRegisterResponse
        | Type::LeagueRegisterRequest
        | Type::LeagueRegisterResponse => registration(kind),
        Type::StartMatch
        | Type::StartMatchAck
        | Type::MatchProgress
        | Type::MatchProgressAck
        | Type::GetAssignedMatches
        | Type::AssignedMatches => assignment(kind),
        Type::StartLeague => Message::StartLeague(StartLeague {}),
        Type::RoundAnnouncement => Message::RoundAnnouncement(announcement()),
        Type::RoundCompleted => Message::RoundCompleted(RoundCompleted {
            round_id: RoundId::FIRST,
            completed_matches: vec![MATCH, MatchId::new(RoundId::FIRST, 2)],
            matches_played: 2,
            next_round_id: Some(RoundId::new(2)),
            journal_head: Some(COMMITMENT.into()),
            key_fingerprint: Some("SHA256:q83vEjRWeJA".into()),
        }),
        Type::RoundStart | Type::RoundResult | Type::GameStart => course(kind),
        Type::GameInvitation
        | Type::GameJoinAck
        | Type::ChooseParityCall
        | Type::ChooseParityResponse
        | Type::GameMoveCall
        | Type::GameMoveResponse => play(kind),
        Type::GameOver => Message::GameOver(game_over()),
        Type::GameOverAck => {
            Message::GameOverAck(GameOverAck { match_id: MATCH, acknowledged: true })
        }
        Type::MatchResultReport => Message::MatchResultReport(report()),
        Type::MatchResultAck => Message::MatchResultAck(MatchResultAck {
            match_id: MATCH,
            duplicate: false,
            standings_updated: true,
            assignments: Vec::new(),
        }),
        Type::LeagueStandingsUpdate => Message::LeagueStandingsUpdate(StandingsUpdate {
            round_id: Some(RoundId::FIRST),
            last_updated: Some(at("2025-01-15T11:06:00Z")),
            standings: Listed::Items(rows()),
            total_players: Some(2),
        }),
        Type::LeagueCompleted => Message::LeagueCompleted(completed()),
        Type::LeagueQuery => Message::LeagueQuery(LeagueQuery {
            query_type: QueryType::Standings,
            round_id: Some(RoundId::FIRST),
            match_id: None,
            agent_id: None,
            offset: None,
            limit: Some(20),
        }),
        Type::LeagueQueryResponse => Message::LeagueQueryResponse(LeagueQueryResponse {
            query_type: QueryType::Standings,
            data: Fragment::parse(r#"{"standings":[]}"#).unwrap(),
        }),
        Type::SuspensionNotice | Type::Ping | Type::Pong | Type::Ack => notice(kind),
        Type::LeagueError => Message::LeagueError(ErrorReport {
            context: fragment(r#"{"field":"auth_token"}"#),
            ..ErrorReport::new(Code::E012, "The token belongs to another agent")
        }),
        Type::GameError => Message::GameError(game_error()),
    }
}

fn course(kind: MessageType) -> Message {
    match kind {
        MessageType::RoundStart => Message::RoundStart(RoundStart {
            round_id: RoundId::FIRST,
            total_matches: Some(2),
            total_rounds: Some(3),
        }),
        MessageType::RoundResult => Message::RoundResult(RoundResult {
            round_id: RoundId::FIRST,
            results: Listed::Items(vec![MatchOutcome {
                match_id: MATCH,
                players: Seats::new(P01, P02),
                status: ResultStatus::Win,
                winner: Some(P01),
            }]),
            total_matches: Some(1),
            more: None,
        }),
        _ => Message::GameStart(GameStart {
            match_id: MATCH,
            round_id: Some(RoundId::FIRST),
            game_type: Some("even_odd".parse().unwrap()),
            role: Some(Seat::A),
            opponent_id: P02,
            attempt: Some(1),
            game_state: Some(MatchState::CollectingChoices),
        }),
    }
}

fn registration(kind: MessageType) -> Message {
    use MessageType as Type;
    match kind {
        Type::RefereeRegisterRequest => {
            let mut meta = meta("Referee Alpha", "http://127.0.0.1:8001/mcp");
            meta.max_concurrent_matches = Some(5);
            Message::RefereeRegisterRequest(RefereeRegistration { meta })
        }
        Type::RefereeRegisterResponse => {
            Message::RefereeRegisterResponse(RegisterResponse::Accepted {
                id: RefereeId::new(1),
                token: AuthToken::new("tok_referee_REF01_77aa"),
                note: None,
            })
        }
        Type::LeagueRegisterRequest => {
            let mut meta = meta("Agent Alpha", "http://127.0.0.1:8101/mcp");
            meta.contact_email = Some("student@university.edu".into());
            Message::LeagueRegisterRequest(PlayerRegistration { meta })
        }
        _ => Message::LeagueRegisterResponse(RegisterResponse::Accepted {
            id: P01,
            token: AuthToken::new("tok_player_P01_c0ffee"),
            note: None,
        }),
    }
}

fn assignment(kind: MessageType) -> Message {
    use MessageType as Type;
    match kind {
        Type::StartMatch => Message::StartMatch(start_match()),
        Type::StartMatchAck => Message::StartMatchAck(StartMatchAck {
            match_id: MATCH,
            attempt: 1,
            status: Decision::Accepted,
            reason: None,
            draw_commitment: None,
        }),
        Type::MatchProgress => Message::MatchProgress(MatchProgress {
            match_id: MATCH,
            attempt: 1,
            game_state: MatchState::CollectingChoices,
            choices_hash: Some(COMMITMENT.into()),
            annulled: None,
            epilogue: None,
        }),
        Type::MatchProgressAck => Message::MatchProgressAck(MatchProgressAck {
            match_id: MATCH,
            attempt: 1,
            status: Decision::Accepted,
            lease_ms: Some(15_000),
            draw_seed: Some(DrawSeed::new(SEED)),
        }),
        Type::GetAssignedMatches => {
            Message::GetAssignedMatches(GetAssignedMatches { limit: Some(5) })
        }
        _ => {
            let league_id = Some("league_2025_even_odd".parse().unwrap());
            let assignment = Assignment { league_id, order: start_match() };
            Message::AssignedMatches(AssignedMatches { assignments: vec![assignment] })
        }
    }
}

fn play(kind: MessageType) -> Message {
    match kind {
        MessageType::GameInvitation => Message::GameInvitation(GameInvitation {
            match_id: MATCH,
            round_id: Some(RoundId::FIRST),
            game_type: game("even_odd"),
            role: Seat::A,
            opponent_id: P02,
            attempt: Some(1),
            rematch: Some(0),
            budget_ms: Some(5_000),
            last_rtt_ms: Some(12),
            draw_commitment: Some(COMMITMENT.into()),
            game_state: Some(MatchState::Inviting),
        }),
        MessageType::GameJoinAck => Message::GameJoinAck(GameJoinAck {
            match_id: MATCH,
            player_id: Some(P01),
            accept: true,
            arrival: Some(at("2025-01-15T10:30:00.012Z")),
            reason: None,
        }),
        MessageType::ChooseParityCall => Message::ChooseParityCall(ParityCall {
            match_id: MATCH,
            player_id: Some(P01),
            game_type: Some(game("even_odd")),
            deadline: Some(at("2025-01-15T10:30:30Z")),
            opponent_id: P02,
            round_id: Some(RoundId::FIRST),
            your_standings: Some(rows()[0].encode()),
            standings: Some(StandingRow::encode_list(&rows())),
            game_history: fragment("[]"),
            attempt: Some(1),
            budget_ms: Some(30_000),
            last_rtt_ms: Some(12),
            game_state: Some(MatchState::CollectingChoices),
        }),
        MessageType::ChooseParityResponse => Message::ChooseParityResponse(ParityResponse {
            match_id: MATCH,
            player_id: Some(P01),
            choice: Parity::Odd,
            nonce: Some(NONCES[0].into()),
            choice_proof: Some("prf_2c1743a391305fbf367df8e4".into()),
            reasoning: Some("Opponent tends to pick even".into()),
        }),
        _ => other_move(kind),
    }
}

fn other_move(kind: MessageType) -> Message {
    match kind {
        MessageType::GameMoveCall => Message::GameMoveCall(MoveCall {
            match_id: MATCH,
            player_id: Some(P01),
            game_type: game("rock_paper_scissors"),
            step: Some(1),
            deadline: Some(at("2025-01-15T10:30:30Z")),
            opponent_id: Some(P02),
            round_id: Some(RoundId::FIRST),
            move_type: "choose".into(),
            valid_options: ["rock", "paper", "scissors"].map(word).into(),
            context: fragment(r#"{"turn":1}"#),
            your_standings: Some(rows()[0].encode()),
            standings: None,
            game_history: fragment("[]"),
            attempt: Some(1),
            budget_ms: Some(30_000),
            last_rtt_ms: None,
            game_state: Some(MatchState::CollectingChoices),
        }),
        _ => Message::GameMoveResponse(MoveResponse {
            match_id: MATCH,
            player_id: Some(P01),
            move_data: word("paper"),
            nonce: None,
            choice_proof: None,
            reasoning: None,
        }),
    }
}

fn notice(kind: MessageType) -> Message {
    match kind {
        MessageType::SuspensionNotice => Message::SuspensionNotice(SuspensionNotice {
            agent_id: AgentId::Player(P01),
            state: AgentState::Suspended,
            reason: "3 timeouts in a row".into(),
            recovery_deadline: Some(at("2025-01-15T10:35:00Z")),
            action_required: "Answer a ping before the deadline".into(),
        }),
        MessageType::Ping => Message::Ping(Ping {}),
        MessageType::Pong => Message::Pong(Pong { state: Some(AgentState::Active) }),
        _ => Message::Ack(Ack { of: Some(MessageType::LeagueStandingsUpdate) }),
    }
}

fn meta(name: &str, endpoint: &str) -> Meta {
    Meta {
        display_name: name.into(),
        version: "1.0.0".into(),
        protocol_version: Some("2.1.0".into()),
        game_types: vec![game("even_odd")],
        contact_endpoint: Some(endpoint.into()),
        contact_email: None,
        max_concurrent_matches: None,
        dialect: None,
        batch: false,
        pull: false,
        join: None,
    }
}

fn announcement() -> RoundAnnouncement {
    let pairing = |number, a, b, referee| AnnouncedMatch {
        match_id: MatchId::new(RoundId::FIRST, number),
        game_type: Some(game("even_odd")),
        players: Seats::new(PlayerId::new(a), PlayerId::new(b)),
        referee_id: Some(RefereeId::new(referee)),
        referee_endpoint: Some(format!("http://127.0.0.1:800{referee}/mcp")),
        scheduled_start: Some(at("2025-01-15T11:00:00Z")),
        officiated: None,
    };
    RoundAnnouncement {
        round_id: RoundId::FIRST,
        matches: Listed::Items(vec![pairing(1, 1, 2, 1), pairing(2, 3, 4, 2)]),
        byes: vec![PlayerId::new(5)],
        round_deadline: Some(at("2025-01-15T12:00:00Z")),
        total_matches: Some(2),
        total_rounds: Some(5),
        more: None,
    }
}

fn start_match() -> StartMatch {
    let player = |id: PlayerId, proof: &str| AssignedPlayer {
        player_id: id,
        endpoint: format!("http://127.0.0.1:{}/mcp", 8100 + id.number()),
        dialect: if id == P01 { Dialect::Flat } else { Dialect::V21 },
        relayed: false,
        match_proof: Some(AuthToken::new(&format!("prf_0d6be69b{proof}"))),
        reply_proof: Some(AuthToken::new(&format!("prf_d9298a10{proof}"))),
        token_hash: Some(COMMITMENT.into()),
        your_standings: Some(rows()[id.index()].encode()),
        game_history: fragment("[]"),
    };
    StartMatch {
        match_id: MATCH,
        round_id: RoundId::FIRST,
        attempt: 1,
        rematch: 0,
        game_type: game("even_odd"),
        rules: BTreeMap::from([("choice_timeout".into(), "30s".into())]),
        players: Seats::new(player(P01, "aa"), player(P02, "bb")),
        draw_commitment: Some(COMMITMENT.into()),
        draw_seed: Some(DrawSeed::new(SEED)),
        standings: Some(StandingRow::encode_list(&rows())),
        scheduled_start: Some(at("2025-01-15T11:00:00Z")),
        result_deadline: Some(at("2025-01-15T12:00:00Z")),
        lease_ms: Some(15_000),
        lenient: false,
    }
}

/// A match that the second player lost by silence.
pub(crate) fn technical_loss() -> Letter {
    let mut letter = letter(MessageType::GameOver);
    if let Message::GameOver(over) = &mut letter.message {
        over.status = ResultStatus::TechnicalLoss;
        over.technical_losers = vec![P02];
        over.reason = "no answer within 30 seconds".into();
        (over.drawn_number, over.number_parity) = (None, None);
        let line = over.players.get_mut(&P02).unwrap();
        (line.choice, line.result, line.nonce) = (None, Some(PlayerResult::TechnicalLoss), None);
    }
    letter
}

fn game_over() -> GameOver {
    let line = |choice, result, points, nonce: &str| PlayerLine {
        choice: Some(word(choice)),
        result: Some(result),
        points: Some(points),
        nonce: Some(nonce.into()),
        role: None,
    };
    GameOver {
        match_id: MATCH,
        round_id: Some(RoundId::FIRST),
        game_type: Some(game("even_odd")),
        attempt: Some(1),
        rematch: Some(0),
        status: ResultStatus::Win,
        winner: Some(P01),
        technical_losers: Vec::new(),
        reason: "P01 chose odd, number was 7 (odd)".into(),
        drawn_number: Some(7),
        number_parity: Some(Parity::Odd),
        players: BTreeMap::from([
            (P01, line("odd", PlayerResult::Win, 3, NONCES[0])),
            (P02, line("even", PlayerResult::Loss, 0, NONCES[1])),
        ]),
        game_state: Some(MatchState::Completed),
        draw_seed: Some(DrawSeed::new(SEED)),
        draw_commitment: Some(COMMITMENT.into()),
    }
}

fn report() -> MatchResultReport {
    let over = game_over();
    let evidence = |(id, line): (PlayerId, PlayerLine)| {
        let player = ReportedPlayer {
            line,
            choice_proof: Some("prf_2c1743a391305fbf367df8e4".into()),
            dialect: Some(Dialect::Flat),
            token_shown: false,
            conduct: Conduct::default(),
            unusable_answers: 0,
            response_us: vec![1_200, 34_000],
            deviations: Tally::default(),
        };
        (id, player)
    };
    MatchResultReport {
        match_id: MATCH,
        round_id: RoundId::FIRST,
        game_type: over.game_type,
        attempt: Some(1),
        rematch: Some(0),
        match_conversation: Some(conversation()),
        status: Some(ResultStatus::Win),
        winner: Some(P01),
        technical_losers: Vec::new(),
        reason: over.reason,
        drawn_number: Some(7),
        players: over.players.into_iter().map(evidence).collect(),
        game_state: Some(MatchState::Completed),
        draw_seed: over.draw_seed,
        draw_commitment: over.draw_commitment,
        referee_signature: Some("sig_ref01_abc".into()),
        transcript: fragment("[]"),
    }
}

fn completed() -> LeagueCompleted {
    LeagueCompleted {
        total_rounds: 3,
        total_matches: 6,
        champion: Some(Champion { player_id: P01, display_name: "Agent Alpha".into(), points: 7 }),
        final_standings: Listed::Items(rows()),
        journal_head: Some(COMMITMENT.into()),
        key_fingerprint: Some("SHA256:q83vEjRWeJA".into()),
    }
}

fn game_error() -> ErrorReport {
    ErrorReport {
        context: fragment(r#"{"elapsed_time":30.5,"expected_message":"CHOOSE_PARITY_RESPONSE"}"#),
        match_id: Some(MATCH),
        affected_player: Some(P01),
        action_required: "Answer before the deadline".into(),
        retry: Some(Retry { count: 1, max: 3, next_at: Some(at("2025-01-15T10:30:32Z")) }),
        deadline: Some(at("2025-01-15T10:31:02Z")),
        consequence: "Technical loss after the last attempt".into(),
        game_state: Some(MatchState::CollectingChoices),
        ..ErrorReport::new(Code::E001, "Response not received within 30 seconds")
    }
}

fn rows() -> Vec<StandingRow> {
    let row = |rank, id, name: &str, wins, losses, points, rate| StandingRow {
        rank,
        player_id: id,
        display_name: name.into(),
        played: 3,
        wins,
        draws: 1,
        losses,
        technical_losses: 0,
        points,
        win_rate_thousandths: rate,
        state: Some(AgentState::Active),
    };
    vec![row(1, P01, "Agent Alpha", 2, 0, 7, 667), row(2, P02, "Agent Beta", 1, 1, 4, 333)]
}

fn referee() -> Sender {
    Sender::from(AgentId::Referee(RefereeId::new(1)))
}

fn player() -> Sender {
    Sender::from(AgentId::Player(P01))
}

fn conversation() -> ConversationId {
    "convr1m18d777f385d3dfec8815d20f7496026dc".parse().unwrap()
}

fn game(name: &str) -> GameType {
    name.parse().unwrap()
}

fn word(text: &str) -> MoveValue {
    MoveValue::Text(text.into())
}

fn fragment(json: &str) -> Option<Fragment> {
    Fragment::parse(json)
}

fn at(text: &str) -> Timestamp {
    league_wire::iso::parse(text).unwrap()
}
