//! What a referee says: to the players of a match, and to the manager about it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use league_agent::ambient;
use league_agent::exchange::AskError;
use league_agent::guard::lock;
use league_agent::register::Membership;
use league_core::conduct::Conduct;
use league_core::game::{EvenOdd, Move, Options, Turn};
use league_core::id::{ConversationId, PlayerId, RefereeId};
use league_core::proof::TokenHash;
use league_core::referee::{Match, Phase, State};
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;
use league_wire::lenient::{Reading, Tally};
use league_wire::message::{
    GameInvitation, GameStart, MatchProgress, MoveCall, ParityCall, StartMatch,
};
use league_wire::{
    AuthToken, Dialect, Envelope, Fragment, Letter, MatchState, Message, MessageType, MoveValue,
    Reply, ReplyEnvelope, Sender,
};

use serde_json::json;

use super::Referee;
use super::asking::Wanted;
use super::recorder::{About, Recorder};
use super::search::Search;
use crate::limits::FAMILIAR_BYTES_MIN;

/// What the manager is called in a transcript.
const MANAGER: &str = "manager";

/// What came of a match beside the game, as the referee saw it.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// What went wrong with the calls to each player.
    pub(super) conduct: Seats<Conduct>,
    /// How many of them brought an answer that could not be used.
    pub(super) unusable: Seats<u32>,
    /// Why a player lost technically, in words.
    pub(super) losses: Seats<Option<String>>,
}

/// Everything that is said about one attempt at a match.
#[derive(Debug)]
pub(super) struct Letters {
    pub(super) me: Membership<RefereeId>,
    pub(super) order: StartMatch,
    pub(super) conversation: ConversationId,
    /// How far a clock may be off before it is told.
    pub(super) clock_skew: Duration,
    /// Whether a player showed its whole token where a proof would have done.
    pub(super) token_shown: Seats<AtomicBool>,
    /// Where the match is.
    pub(super) state: Mutex<MatchState>,
    /// The shape in which each player is spoken to.
    pub(super) dialects: Seats<Mutex<Dialect>>,
    /// What was not as it should be in answers that were understood.
    pub(super) deviations: Seats<Mutex<Tally>>,
    /// What was found out about the shapes that the players answer to.
    pub(super) searches: Seats<Mutex<Search>>,
    /// What was said so far.
    pub(super) recorder: Mutex<Recorder>,
}

impl Letters {
    pub(super) fn new(
        me: Membership<RefereeId>,
        order: StartMatch,
        conversation: ConversationId,
        clock_skew: Duration,
    ) -> Self {
        let about = About {
            referee: me.id,
            league: me.league.clone(),
            match_id: order.match_id,
            conversation: conversation.clone(),
        };
        let (token_shown, recorder) = (Seats::default(), Mutex::new(Recorder::new(about)));
        let dialects = Seats::from_fn(|seat| Mutex::new(order.players[seat].dialect));
        Self {
            me,
            order,
            conversation,
            clock_skew,
            token_shown,
            state: Mutex::new(MatchState::Pending),
            dialects,
            deviations: Seats::default(),
            searches: Seats::default(),
            recorder,
        }
    }

    /// The shape in which a player is spoken to.
    pub(super) fn dialect(&self, seat: Seat) -> Dialect {
        *lock(&self.dialects[seat])
    }

    /// The shape in which a player has answered a question.
    pub(super) fn answered_dialect(&self, seat: Seat) -> Option<Dialect> {
        let is_answered = lock(&self.searches[seat]).is_answered;
        is_answered.then(|| self.dialect(seat))
    }

    /// Whether `shown` proves that the player at `seat` speaks.
    pub(super) fn is_proof(&self, seat: Seat, shown: &AuthToken) -> bool {
        let player = &self.order.players[seat];
        if player.reply_proof.as_ref() == Some(shown) {
            return true;
        }
        let hash: Option<TokenHash> = player.token_hash.as_ref().and_then(|hash| hash.parse().ok());
        let is_token = hash.is_some_and(|hash| hash.matches(shown.reveal()));
        if is_token {
            self.token_shown[seat].store(true, Ordering::Relaxed);
        }
        is_token
    }

    /// A reply that shows a credential must show the right one.
    pub(super) fn is_proved(&self, seat: Seat, envelope: &ReplyEnvelope) -> bool {
        envelope.token.as_ref().is_none_or(|shown| self.is_proof(seat, shown))
    }

    pub(super) async fn ask_manager(
        &self,
        referee: &Referee,
        message: Message,
        expected: &[MessageType],
        timeout: Duration,
    ) -> Result<Reply, AskError> {
        let letter = self.to_manager(message);
        let who = (MANAGER.into(), &*referee.manager, Dialect::Flat);
        let wanted = Wanted { expected, reading: Reading::Strict, judge: &|_| None };
        let question = referee.exchange.question(Dialect::Flat, &letter);
        let heard = self.ask(&referee.exchange, who, (&letter, question), &wanted, timeout).await;
        heard.reply.map(|heard| heard.meaning)
    }

    /// Reports to the manager, with whatever else its matches have to report just now. That is
    /// after the transcript's end, so it is not recorded.
    pub(super) async fn report_to_manager(
        &self,
        referee: &Arc<Referee>,
        report: Message,
        timeout: Duration,
    ) -> Result<Reply, AskError> {
        let question = referee.exchange.question(Dialect::Flat, &self.to_manager(report));
        let answered = referee.send_with_others(question.clone(), timeout).await?;
        question.read(&[MessageType::MatchResultAck], &answered)
    }

    /// Tells the manager something that is in no hurry and needs no answer.
    pub(super) fn mention_to_manager(&self, referee: &Arc<Referee>, message: Message) {
        referee.send_some_time(referee.exchange.question(Dialect::Flat, &self.to_manager(message)));
    }

    fn to_manager(&self, message: Message) -> Letter {
        let token = AuthToken::new(self.me.token.expose());
        Letter { envelope: self.envelope(Some(token)), message }
    }

    pub(super) fn response_times(&self, seat: Seat) -> Vec<u64> {
        lock(&self.recorder).response_times(&self.player(seat).to_string())
    }

    /// What was said so far, for the report.
    pub(super) fn transcript(&self) -> Option<Fragment> {
        lock(&self.recorder).transcript(self)
    }

    /// Long things that we pass on as they come from the manager, each with its name.
    pub(super) fn familiar(&self) -> Vec<(&'static str, &str)> {
        let all = self.order.long_parts().map(|(what, json)| (what, json.as_str()));
        all.filter(|(_, json)| json.len() > FAMILIAR_BYTES_MIN).collect()
    }

    /// Everything in our hands with which somebody could act as somebody else, or know a draw
    /// before its time.
    pub(super) fn secrets(&self) -> Vec<String> {
        self.order.secrets().chain([self.me.token.expose().to_string()]).collect()
    }

    /// A player gets the manager's proof that we have its match, never our own token.
    pub(super) fn to_player(&self, seat: Seat, message: Message) -> Letter {
        let proof = self.order.players[seat].match_proof.clone();
        Letter { envelope: self.envelope(proof), message }
    }

    fn envelope(&self, token: Option<AuthToken>) -> Envelope {
        Envelope {
            sender: Sender::Referee(self.me.id.to_string().into()),
            timestamp: ambient::now(),
            conversation: self.conversation.clone(),
            token,
            league_id: Some(self.me.league.clone()),
        }
    }

    pub(super) fn player(&self, seat: Seat) -> PlayerId {
        self.order.players[seat].player_id
    }

    pub(super) fn invitation(&self, seat: Seat, budget: Duration) -> Message {
        Message::GameInvitation(GameInvitation {
            match_id: self.order.match_id,
            round_id: Some(self.order.round_id),
            game_type: self.order.game_type.clone(),
            role: seat,
            opponent_id: self.player(seat.other()),
            attempt: Some(self.order.attempt),
            rematch: Some(self.order.rematch),
            budget_ms: u64::try_from(budget.as_millis()).ok(),
            last_rtt_ms: None,
            draw_commitment: self.order.draw_commitment.clone(),
            game_state: Some(MatchState::Inviting),
        })
    }

    /// What a player of document 004 is told before it is asked for its first move.
    pub(super) fn opening(&self, seat: Seat) -> Option<Message> {
        let is_told = self.dialect(seat) == Dialect::Payload;
        is_told.then(|| {
            Message::GameStart(GameStart {
                match_id: self.order.match_id,
                round_id: Some(self.order.round_id),
                game_type: Some(self.order.game_type.clone()),
                role: Some(seat),
                opponent_id: self.player(seat.other()),
                attempt: Some(self.order.attempt),
                game_state: Some(MatchState::CollectingChoices),
            })
        })
    }

    /// Whether even or odd is what players choose, for which there is a call of its own.
    pub(super) fn is_about_parity(&self) -> bool {
        self.order.game_type.as_str() == EvenOdd::NAME
    }

    /// The kind of call that asks for a move of this game.
    pub(super) fn call_kind(&self) -> MessageType {
        if self.is_about_parity() {
            MessageType::ChooseParityCall
        } else {
            MessageType::GameMoveCall
        }
    }

    /// Asks for the move that `seat` owes.
    pub(super) fn move_call(
        &self,
        machine: &Match,
        seat: Seat,
        deadline: Timestamp,
        budget: Duration,
    ) -> Message {
        let player = &self.order.players[seat];
        let call = ParityCall {
            match_id: self.order.match_id,
            player_id: Some(player.player_id),
            game_type: Some(self.order.game_type.clone()),
            deadline: Some(deadline),
            opponent_id: self.player(seat.other()),
            round_id: Some(self.order.round_id),
            your_standings: player.your_standings.clone(),
            standings: self.order.standings.clone(),
            game_history: player.game_history.clone(),
            attempt: Some(self.order.attempt),
            budget_ms: u64::try_from(budget.as_millis()).ok(),
            last_rtt_ms: None,
            game_state: Some(MatchState::CollectingChoices),
        };
        if self.is_about_parity() {
            return Message::ChooseParityCall(call);
        }
        let options = machine.options(seat).as_ref().map(Options::listed).unwrap_or_default();
        let steps = machine.record().turns.iter().filter(|turn| matches!(turn, Turn::Moves(_)));
        Message::GameMoveCall(MoveCall {
            match_id: call.match_id,
            player_id: call.player_id,
            game_type: self.order.game_type.clone(),
            step: u32::try_from(steps.count() + 1).ok(),
            deadline: call.deadline,
            opponent_id: Some(call.opponent_id),
            round_id: call.round_id,
            move_type: machine.step().map_or("move", |step| step.kind).into(),
            valid_options: options.iter().map(move_value).collect(),
            context: roles(machine, seat),
            your_standings: call.your_standings,
            standings: call.standings,
            game_history: call.game_history,
            attempt: call.attempt,
            budget_ms: call.budget_ms,
            last_rtt_ms: call.last_rtt_ms,
            game_state: call.game_state,
        })
    }

    pub(super) fn progress(&self, machine: &Match) -> Message {
        Message::MatchProgress(MatchProgress {
            match_id: self.order.match_id,
            attempt: self.order.attempt,
            game_state: state(machine.state()),
            choices_hash: None,
            annulled: annulled(machine),
            epilogue: None,
        })
    }

    /// What was said after the report, for the record.
    pub(super) fn epilogue(&self, machine: &Match) -> Message {
        Message::MatchProgress(MatchProgress {
            match_id: self.order.match_id,
            attempt: self.order.attempt,
            game_state: state(machine.state()),
            choices_hash: None,
            annulled: None,
            epilogue: lock(&self.recorder).epilogue(self),
        })
    }
}

/// Why the attempt is given up, if it is.
fn annulled(machine: &Match) -> Option<String> {
    let Phase::Annulled { reason } = machine.phase() else { return None };
    Some(reason.to_string())
}

/// What a player is told of the position: who has which role, where the game has roles.
fn roles(machine: &Match, seat: Seat) -> Option<Fragment> {
    let role = |seat| machine.game().role(seat);
    let (own, other) = (role(seat)?, role(seat.other())?);
    Fragment::parse(&json!({ "your_role": own, "opponent_role": other }).to_string())
}

pub(super) fn move_value(made: &Move) -> MoveValue {
    match made {
        Move::Word(word) => MoveValue::Text(word.to_string()),
        Move::Number(number) => MoveValue::Number(*number),
    }
}

pub(super) const fn state(state: State) -> MatchState {
    match state {
        State::Pending => MatchState::Pending,
        State::Inviting => MatchState::Inviting,
        State::CollectingChoices => MatchState::CollectingChoices,
        State::Evaluating => MatchState::Evaluating,
        State::Completed => MatchState::Completed,
        State::Aborted => MatchState::Aborted,
    }
}
