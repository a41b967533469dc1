//! What arrives at a referee: matches from the manager, late answers from players.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use league_agent::caller::CallError;
use league_agent::component::Component;
use league_agent::desk::{self, Desk, Deviated, Signed, is_news, refusal, shown_token};
use league_agent::endpoint::{Answer, Service};
use league_agent::guard::lock;
use league_agent::log::talk;
use league_agent::meter::Meter;
use league_core::draw::Seed;
use league_core::game;
use league_core::id::{AgentId, MatchId};
use league_core::referee::Command;
use league_core::seat::Seat;
use league_wire::frame::parse;
use league_wire::lenient::Reading;
use league_wire::message::{Ack, ErrorReport, Pong, StartMatch, StartMatchAck};
use league_wire::{Code, Decision, Dialect, Envelope, Letter, Message, MessageType, Sender};
use tokio::sync::mpsc;

use super::account;
use super::bout::{self, Bout};
use super::heard::{self, Said};
use super::outbound::Letters;
use super::{Referee, Rules, Running, standing};
use crate::limits::MATCH_INBOX_MAX;

/// A referee behind its endpoint.
#[derive(Debug)]
pub(super) struct RefereeDesk {
    referee: Arc<Referee>,
    /// The body that is being answered, if it is a single request.
    body: Option<Bytes>,
}

type Answered = Result<Signed, Box<ErrorReport>>;

impl RefereeDesk {
    pub(super) const fn new(referee: Arc<Referee>) -> Self {
        Self { referee, body: None }
    }

    async fn start(&self, envelope: &Envelope, order: StartMatch) -> Answered {
        let me = self.referee.enrolment.wait().await?;
        me.check_manager(envelope)?;
        self.referee.enrolment.hear();
        let (match_id, attempt) = (order.match_id, order.attempt);
        // Whatever is wrong with an order must not cost the attempt that is running.
        let rules = self.rules(&order)?;
        let pledge = order.draw_commitment.clone().filter(|_| order.draw_seed.is_some());
        let mut running = lock(&self.referee.running);
        let known = running.get(&match_id);
        match self.referee.latest_attempt(known, match_id) {
            Some(latest) if latest > attempt => {
                return Err(refusal(Code::E030, "a later attempt at this match is known here"));
            }
            Some(latest) if latest == attempt => return Ok(accepted((match_id, attempt), pledge)),
            Some(_) | None => {}
        }
        if let Some(known) = known {
            known.task.abort();
        }
        let (inbox, answers) = mpsc::channel(MATCH_INBOX_MAX);
        let skew = rules.1.clock_skew_warning();
        let letters = Arc::new(Letters::new(me, order, bout::conversation(match_id), skew));
        let bout = Bout::new(self.referee.clone(), letters.clone(), rules);
        let task = self.referee.spawn(bout.run(answers));
        running.insert(match_id, Running { letters, inbox, task });
        Ok(accepted((match_id, attempt), pledge))
    }

    /// The game and the policy of an order that can be carried out.
    fn rules(&self, order: &StartMatch) -> Result<Rules, Box<ErrorReport>> {
        let Some(game) = game::by_name(order.game_type.as_str()) else {
            let text = format!("this referee does not know the game {}", order.game_type);
            return Err(refusal(Code::G003, &text));
        };
        let seed = order.draw_seed.as_ref().map(|seed| seed.reveal().parse::<Seed>());
        if let Some(Err(_)) = seed {
            return Err(refusal(Code::E003, "draw_seed is not the seed of a draw"));
        }
        for (_, player) in order.players.iter() {
            if let Err(CallError::Forbidden(why)) = self.referee.players.check(&player.endpoint) {
                // The operator has to do something about it, and the player must not be charged.
                let (id, advice) = (player.player_id, "start the referee with --allow-network");
                return Err(refusal(Code::E003, &format!("{id} is not called: {why}; {advice}")));
            }
        }
        let policy = self.referee.policy(&order.rules);
        let policy = policy.map_err(|bad| refusal(Code::E003, &bad.to_string()))?;
        Ok((game, policy))
    }

    /// A player's answer that comes as a call of its own.
    fn late(&self, letter: &Letter, match_id: MatchId) -> Answered {
        let (letters, inbox) = {
            let running = lock(&self.referee.running);
            let known = running.get(&match_id);
            let known =
                known.ok_or_else(|| refusal(Code::G003, "no such match is running here"))?;
            if known.letters.conversation != letter.envelope.conversation {
                return Err(refusal(Code::E015, "conversation_id is not that of this match"));
            }
            (known.letters.clone(), known.inbox.clone())
        };
        let mut seats = Seat::BOTH.into_iter();
        let shown = shown_token(&letter.envelope);
        let seat = shown.map(|shown| seats.find(|seat| letters.is_proof(*seat, shown)));
        let no_proof = || refusal(Code::E012, "auth_token is not the proof of this match");
        let seat = seat.and_then(|seat| seat.ok_or_else(no_proof));
        let is_sender = |seat: &Seat| {
            letter.envelope.sender.agent() == Some(AgentId::Player(letters.player(*seat)))
        };
        let no_sender = || refusal(Code::E012, "auth_token is not the proof of the sender");
        let seat = seat.and_then(|seat| is_sender(&seat).then_some(seat).ok_or_else(no_sender));
        let player = seat.as_ref().ok().map(|seat| letters.player(*seat).to_string());
        let outcome = seat.and_then(|seat| Self::pass_on(letter, seat, &inbox));
        let refused = outcome.as_ref().err().map(|report| report.description.clone());
        let name = letter.message.kind().name(Dialect::Flat);
        lock(&letters.recorder).called(player, name, self.body.as_ref(), refused);
        outcome
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only few messages are answers")]
    fn pass_on(letter: &Letter, seat: Seat, inbox: &mpsc::Sender<Command>) -> Answered {
        let command = match &letter.message {
            Message::GameJoinAck(ack) => Command::Join { seat, answer: heard::join(ack) },
            message => {
                let not_taken = || refusal(Code::MethodNotFound, "a referee does not take this");
                let said = Said::of(message).ok_or_else(not_taken)?;
                let answer = heard::answer("params", &said);
                let answer = answer.map_err(|error| Box::new(ErrorReport::from(&error)))?;
                Command::Answer { seat, answer }
            }
        };
        let full = |_| refusal(Code::E033, "too many answers wait for this match");
        inbox.try_send(command).map_err(full)?;
        Ok(Message::Ack(Ack { of: Some(letter.message.kind()) }).into())
    }
}

impl Desk for RefereeDesk {
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not for referees is refused")]
    async fn receive(&self, letter: Letter, _dialect: Dialect, _peer: SocketAddr) -> Answered {
        match letter.message {
            Message::StartMatch(order) => self.start(&letter.envelope, order).await,
            Message::GameJoinAck(ref ack) => self.late(&letter, ack.match_id),
            Message::ChooseParityResponse(ref response) => self.late(&letter, response.match_id),
            Message::GameMoveResponse(ref response) => self.late(&letter, response.match_id),
            Message::SuspensionNotice(notice) => {
                let me = self.referee.enrolment.wait().await?;
                me.check_manager(&letter.envelope)?;
                talk::notified(Component::Referee, &me.league, &notice);
                Ok(Message::Ack(Ack { of: Some(MessageType::SuspensionNotice) }).into())
            }
            Message::Unread(kind) => {
                self.referee.enrolment.wait().await?.check_manager(&letter.envelope)?;
                self.referee.enrolment.hear();
                if kind == MessageType::LeagueCompleted {
                    self.referee.enrolment.conclude();
                }
                Ok(Message::Ack(Ack { of: Some(kind) }).into())
            }
            Message::Ping(_) => Ok(Message::Pong(Pong { state: None }).into()),
            _ => Err(refusal(Code::MethodNotFound, "a referee does not take this message")),
        }
    }

    fn reads(&self, kind: MessageType) -> bool {
        !is_news(kind)
    }

    fn reading(&self) -> Reading {
        let running = lock(&self.referee.running);
        Reading::of(running.values().any(|running| running.letters.order.lenient))
    }

    fn deviated(&self, letter: &Deviated<'_>) {
        Meter::of(Component::Referee).deviated(letter.deviations);
        let Some(AgentId::Player(player)) = letter.sender.agent() else { return };
        let running = lock(&self.referee.running);
        let theirs = running.values().map(|running| &running.letters).find_map(|letters| {
            let seat = Seat::BOTH.into_iter().find(|seat| letters.player(*seat) == player)?;
            Some((letters, seat))
        });
        if let Some((letters, seat)) = theirs {
            lock(&letters.deviations[seat]).note(letter.deviations);
        }
    }

    fn sender(&self) -> Sender {
        let id = self.referee.enrolment.id();
        Sender::Referee(id.map_or_else(|| "new".into(), |id| id.to_string().into()))
    }

    fn error(&self, report: ErrorReport) -> Message {
        Message::GameError(report)
    }
}

impl Service for RefereeDesk {
    async fn mcp(&self, body: Bytes, peer: SocketAddr) -> Answer {
        // Letters of a batch are not told apart: what belongs to another match stays out.
        let is_single = body.trim_ascii_start().starts_with(b"{");
        let desk = Self { referee: self.referee.clone(), body: is_single.then(|| body.clone()) };
        let incoming = parse(&body);
        match standing::answer(&self.referee, &incoming) {
            Some(answer) => answer,
            None => desk::answer_parsed(&desk, incoming, &body, peer).await,
        }
    }

    fn component(&self) -> Component {
        Component::Referee
    }

    fn page(&self, path: &str) -> Option<Answer> {
        if path == "/metrics" {
            return Some(account::figures());
        }
        self.referee.enrolment.page(path, "referee")
    }
}

/// The match is taken; with the seed that came with it we draw, and say so.
fn accepted((match_id, attempt): (MatchId, u32), draw_commitment: Option<String>) -> Signed {
    let (status, reason) = (Decision::Accepted, None);
    let ack = StartMatchAck { match_id, attempt, status, reason, draw_commitment };
    Message::StartMatchAck(ack).into()
}
