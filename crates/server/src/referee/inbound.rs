//! What arrives at a referee: matches from the manager, late answers from players.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use league_agent::desk::{self, Desk, Signed, refusal, shown_token};
use league_agent::endpoint::{Answer, Service};
use league_agent::guard::lock;
use league_core::draw::Seed;
use league_core::game;
use league_core::id::MatchId;
use league_core::referee::Command;
use league_core::seat::Seat;
use league_wire::message::{Ack, ErrorReport, Pong, StartMatch, StartMatchAck};
use league_wire::{Code, Decision, Dialect, Envelope, Letter, Message, Sender};
use tokio::sync::mpsc;

use super::bout::{self, Bout};
use super::heard;
use super::outbound::Letters;
use super::{Referee, Rules, Running};
use crate::limits::MATCH_INBOX_MAX;

/// A referee behind its endpoint.
#[derive(Debug)]
pub(super) struct RefereeDesk(pub(super) Arc<Referee>);

type Answered = Result<Signed, Box<ErrorReport>>;

impl RefereeDesk {
    async fn start(&self, envelope: &Envelope, order: StartMatch) -> Answered {
        let me = self.0.enrolment.wait().await?;
        me.check_manager(envelope)?;
        let (match_id, attempt) = (order.match_id, order.attempt);
        // Whatever is wrong with an order must not cost the attempt that is running.
        let rules = self.rules(&order)?;
        let mut running = lock(&self.0.running);
        let known = running.get(&match_id);
        match self.0.latest_attempt(known, match_id) {
            Some(latest) if latest > attempt => {
                return Err(refusal(Code::E030, "a later attempt at this match is known here"));
            }
            Some(latest) if latest == attempt => return Ok(accepted(match_id, attempt)),
            Some(_) | None => {}
        }
        if let Some(known) = known {
            known.task.abort();
        }
        let (inbox, answers) = mpsc::channel(MATCH_INBOX_MAX);
        let letters = Arc::new(Letters::new(me, order, bout::conversation(match_id)));
        let bout = Bout::new(self.0.clone(), letters.clone(), rules);
        let task = self.0.spawn(bout.run(answers));
        running.insert(match_id, Running { letters, inbox, task });
        Ok(accepted(match_id, attempt))
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
        let policy = self.0.policy(&order.rules);
        let policy = policy.map_err(|bad| refusal(Code::E003, &bad.to_string()))?;
        Ok((game, policy))
    }

    /// A player's answer that comes as a call of its own.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only two messages are answers")]
    fn late(&self, letter: &Letter, match_id: MatchId) -> Answered {
        let (inbox, seat) = {
            let running = lock(&self.0.running);
            let known = running.get(&match_id);
            let known =
                known.ok_or_else(|| refusal(Code::G003, "no such match is running here"))?;
            if known.letters.conversation != letter.envelope.conversation {
                return Err(refusal(Code::E015, "conversation_id is not that of this match"));
            }
            let shown = shown_token(&letter.envelope)?;
            let mut seats = Seat::BOTH.into_iter();
            let seat = seats.find(|seat| known.letters.is_proof(*seat, shown));
            let no_proof = || refusal(Code::E012, "auth_token is not the proof of this match");
            (known.inbox.clone(), seat.ok_or_else(no_proof)?)
        };
        let command = match &letter.message {
            Message::GameJoinAck(ack) => Command::Join { seat, answer: heard::join(ack) },
            Message::ChooseParityResponse(response) => {
                let answer = heard::answer("params", response);
                let answer = answer.map_err(|error| Box::new(ErrorReport::from(&error)))?;
                Command::Answer { seat, answer }
            }
            _ => return Err(refusal(Code::MethodNotFound, "a referee does not take this")),
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
            Message::RoundAnnouncement(_)
            | Message::RoundCompleted(_)
            | Message::LeagueStandingsUpdate(_)
            | Message::LeagueCompleted(_)
            | Message::SuspensionNotice(_) => {
                self.0.enrolment.wait().await?.check_manager(&letter.envelope)?;
                if matches!(letter.message, Message::LeagueCompleted(_)) {
                    self.0.enrolment.conclude();
                }
                Ok(Message::Ack(Ack { of: Some(letter.message.kind()) }).into())
            }
            Message::Ping(_) => Ok(Message::Pong(Pong { state: None }).into()),
            _ => Err(refusal(Code::MethodNotFound, "a referee does not take this message")),
        }
    }

    fn sender(&self) -> Sender {
        let id = self.0.enrolment.id();
        Sender::Referee(id.map_or_else(|| "new".into(), |id| id.to_string().into()))
    }

    fn error(&self, report: ErrorReport) -> Message {
        Message::GameError(report)
    }
}

impl Service for RefereeDesk {
    async fn mcp(&self, body: Bytes, peer: SocketAddr) -> Answer {
        desk::answer(self, &body, peer).await
    }

    fn page(&self, path: &str) -> Option<Answer> {
        self.0.enrolment.page(path, "referee")
    }
}

fn accepted(match_id: MatchId, attempt: u32) -> Signed {
    let status = Decision::Accepted;
    Message::StartMatchAck(StartMatchAck { match_id, attempt, status, reason: None }).into()
}
