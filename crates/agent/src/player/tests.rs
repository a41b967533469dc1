//! A player that is asked again, in the wrong order, and by people who hope for another answer.

use league_core::id::RoundId;
use league_core::seat::Seat;
use league_wire::ResultStatus;
use league_wire::message::{GameInvitation, MoveCall, ParityCall, ParityResponse, PlayerLine};

use super::*;
use crate::exchange::new_conversation;
use crate::strategy::House;

pub(super) fn me() -> Membership<PlayerId> {
    Membership {
        id: "P01".parse().unwrap(),
        token: "tok_of_the_player".parse().unwrap(),
        league: "league_test".parse().unwrap(),
    }
}

fn player() -> Player {
    let player = Player::new(House::Random.strategy(1));
    player.enrolment.settle(me());
    player
}

/// What the referee of this attempt sends.
pub(super) fn letter(match_id: MatchId, attempt: u32, message: Message) -> Letter {
    let me = me();
    let referee = "REF01".parse().unwrap();
    let proof = match_proof(&me.token, &me.league, match_id, attempt, referee).expose();
    let envelope = Envelope {
        sender: Sender::Referee("REF01".into()),
        timestamp: ambient::now(),
        conversation: new_conversation("test"),
        token: Some(AuthToken::new(&proof)),
        league_id: Some(me.league),
    };
    Letter { envelope, message }
}

pub(super) fn first() -> MatchId {
    "R1M1".parse().unwrap()
}

async fn invite(player: &Player, match_id: MatchId, attempt: u32) -> Result<(), Code> {
    let invitation = invitation(match_id, attempt, None);
    receive(player, letter(match_id, attempt, invitation)).await.map(drop)
}

pub(super) fn invitation(match_id: MatchId, attempt: u32, budget_ms: Option<u64>) -> Message {
    Message::GameInvitation(GameInvitation {
        match_id,
        round_id: None::<RoundId>,
        game_type: "even_odd".parse().unwrap(),
        role: Seat::A,
        opponent_id: "P02".parse().unwrap(),
        attempt: Some(attempt),
        rematch: None,
        budget_ms,
        last_rtt_ms: None,
        draw_commitment: None,
        game_state: None,
    })
}

/// Asks as the referee of attempt `by`, naming `attempt`.
async fn ask(player: &Player, by: u32, attempt: Option<u32>) -> Result<ParityResponse, Code> {
    let call = parity_call(attempt, None);
    let answered = receive(player, letter(first(), by, call)).await?;
    let Message::ChooseParityResponse(response) = answered.message else { panic!("a choice") };
    Ok(response)
}

pub(super) fn parity_call(attempt: Option<u32>, budget_ms: Option<u64>) -> Message {
    Message::ChooseParityCall(ParityCall {
        match_id: first(),
        player_id: None,
        game_type: None,
        deadline: None,
        opponent_id: "P02".parse().unwrap(),
        round_id: None,
        your_standings: None,
        standings: None,
        game_history: None,
        attempt,
        budget_ms,
        last_rtt_ms: None,
        game_state: None,
    })
}

async fn end(player: &Player, attempt: u32) {
    let over = GameOver {
        match_id: first(),
        round_id: None,
        game_type: None,
        attempt: Some(attempt),
        rematch: None,
        status: ResultStatus::Draw,
        winner: None,
        technical_losers: vec![],
        reason: String::new(),
        drawn_number: Some(8),
        number_parity: None,
        players: [("P01", "odd"), ("P02", "even")].map(line).into(),
        game_state: None,
        draw_seed: None,
        draw_commitment: None,
    };
    receive(player, letter(first(), attempt, Message::GameOver(over))).await.unwrap();
}

fn line((player, choice): (&str, &str)) -> (PlayerId, PlayerLine) {
    let choice = Some(MoveValue::Text(choice.into()));
    (player.parse().unwrap(), PlayerLine { choice, ..PlayerLine::default() })
}

async fn receive(player: &Player, letter: Letter) -> Result<Signed, Code> {
    let peer = SocketAddr::from(([127, 0, 0, 1], 1));
    let answered = Desk::receive(player, letter, Dialect::Flat, peer).await;
    answered.map_err(|report| report.code.known().unwrap())
}

#[tokio::test]
async fn whoever_asks_again_gets_the_same_answer() {
    let player = player();
    invite(&player, first(), 1).await.unwrap();
    let answer = ask(&player, 1, Some(1)).await.unwrap();
    for _ in 0..10 {
        assert_eq!(ask(&player, 1, Some(1)).await.unwrap(), answer);
        assert_eq!(ask(&player, 1, None).await.unwrap(), answer);
    }
    for _ in 0..2 {
        end(&player, 1).await;
    }
    invite(&player, first(), 1).await.unwrap();
    assert_eq!(ask(&player, 1, Some(1)).await.unwrap(), answer, "also after the end");
    assert_eq!(lock(&player.mind).matches, 1, "one match, however often it ends");
    let even = Some(game::Parity::Even);
    let shown = Played { opponent: "P02".parse().unwrap(), theirs: even, drawn: even };
    assert_eq!(lock(&player.mind).history, [shown]);
}

#[tokio::test]
async fn a_player_never_goes_back_to_an_earlier_attempt() {
    let player = player();
    invite(&player, first(), 1).await.unwrap();
    let one = ask(&player, 1, Some(1)).await.unwrap();
    assert_eq!(ask(&player, 2, Some(2)).await, Err(Code::G003), "not invited to it yet");
    invite(&player, first(), 2).await.unwrap();
    assert_eq!(invite(&player, first(), 1).await, Err(Code::E030), "it came late");
    assert_eq!(ask(&player, 1, Some(1)).await, Err(Code::E030));
    assert_eq!(ask(&player, 1, None).await, Err(Code::E012), "the proof is of the first");
    let two = ask(&player, 2, None).await.unwrap();
    assert_ne!(two.nonce, one.nonce);
    assert_eq!(ask(&player, 2, Some(2)).await.unwrap(), two);
}

#[tokio::test]
async fn what_a_player_has_forgotten_it_does_not_answer_anew() {
    let player = player();
    invite(&player, first(), 1).await.unwrap();
    ask(&player, 1, Some(1)).await.unwrap();
    for number in 0..INVITATIONS_MAX {
        invite(&player, format!("R2M{}", number + 1).parse().unwrap(), 1).await.unwrap();
    }
    assert_eq!(lock(&player.mind).known.len(), INVITATIONS_MAX);
    assert_eq!(invite(&player, first(), 1).await, Err(Code::E030));
    assert_eq!(ask(&player, 1, Some(1)).await, Err(Code::G003));
}

async fn pick(player: &Player, options: &[MoveValue]) -> Result<Message, Code> {
    let call = Message::GameMoveCall(MoveCall {
        match_id: first(),
        player_id: None,
        game_type: "even_odd_numbers".parse().unwrap(),
        step: Some(1),
        deadline: None,
        opponent_id: None,
        round_id: None,
        move_type: "number".into(),
        valid_options: options.into(),
        context: None,
        your_standings: None,
        standings: None,
        game_history: None,
        attempt: Some(1),
        budget_ms: None,
        last_rtt_ms: None,
        game_state: None,
    });
    receive(player, letter(first(), 1, call)).await.map(|signed| signed.message)
}

#[tokio::test]
async fn a_number_is_proved_and_repeated_like_any_choice() {
    let options: Vec<MoveValue> = (1..=5).map(MoveValue::Number).collect();
    for (house, liked) in [(House::Even, vec![2, 4]), (House::Random, vec![1, 2, 3, 4, 5])] {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..60 {
            let player = Player::new(house.strategy(seed));
            player.enrolment.settle(me());
            invite(&player, first(), 1).await.unwrap();
            let answer = pick(&player, &options).await.unwrap();
            assert_eq!(pick(&player, &options).await.unwrap(), answer);
            let Message::GameMoveResponse(response) = answer else { panic!("{answer:?}") };
            let MoveValue::Number(number) = response.move_data else { panic!("{response:?}") };
            let nonce = response.nonce.unwrap();
            let text = number.to_string();
            let sent = league_core::proof::SentChoice { step: 1, choice: &text, nonce: &nonce };
            let me = me();
            let proof =
                league_core::proof::choice_proof(&me.token, &me.league, first(), 1, sent).expose();
            assert_eq!(response.choice_proof, Some(proof));
            seen.insert(number);
        }
        assert_eq!(Vec::from_iter(seen), liked, "{}", house.name());
    }
    let player = player();
    invite(&player, first(), 1).await.unwrap();
    let words = [MoveValue::Text("rock".into())];
    assert_eq!(pick(&player, &words).await, Err(Code::E003));
}
