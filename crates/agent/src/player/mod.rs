//! A whole player around a strategy: registers, accepts invitations, chooses, proves its choices
//! and believes nobody who cannot prove who they are.

mod answer;
mod fetch;
mod guest;
mod host;
mod standing;
#[cfg(test)]
mod tests;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::{FutureExt, Shared};
use league_core::game;
use league_core::id::{MatchId, PlayerId};
use league_core::proof::{match_proof, reply_proof};
use league_wire::frame::parse;
use league_wire::message::{Ack, ErrorReport, GameJoinAck, GameOver, GameOverAck, Pong};
use league_wire::{
    AuthToken, Code, Dialect, Envelope, Letter, Message, MessageType, MoveValue, Parity, Sender,
};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::ambient;
use crate::component::Component;
use crate::desk::{self, Desk, Signed, is_news, refusal, shown_token};
use crate::endpoint::{Answer, Service, serve};
use crate::exchange::{Exchange, random_hex};
use crate::guard::lock;
use crate::limits::{HISTORY_MAX, INVITATIONS_MAX, STEPS_MAX};
use crate::log::{self, Level, talk};
use crate::register::{self, Application, Enrolment, Membership, RegisterError};
use crate::strategy::{Played, Situation, Strategy};

use answer::{Question, Sealed};

pub use guest::{Conduct, Guest};
pub use host::{Cast, HostError, Hosted, host};

/// A player that is listening.
pub struct Player {
    enrolment: Enrolment<PlayerId>,
    conduct: Conduct,
    mind: Mutex<Mind>,
}

struct Mind {
    strategy: Box<dyn Strategy>,
    matches: u32,
    /// The latest of them, the latest last.
    history: VecDeque<Played>,
    /// What it knows of each match it was invited to.
    known: BTreeMap<MatchId, Known>,
}

/// The latest attempt at a match that a player was invited to.
struct Known {
    attempt: u32,
    /// What it answers at each step. Repeated whenever it is asked again: somebody with several
    /// choices of the same player to show could take the one that suits.
    answers: BTreeMap<u32, Deciding>,
    is_over: bool,
}

/// A choice that is made once, whoever waits for it; nothing if no move is known.
type Deciding = Shared<Pin<Box<dyn Future<Output = Option<Sealed>> + Send>>>;

impl std::fmt::Debug for Player {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Player").finish_non_exhaustive()
    }
}

impl Player {
    /// A player that plays by `strategy`.
    pub fn new(strategy: Box<dyn Strategy>) -> Self {
        Self::behaving(strategy, Conduct::proper())
    }

    /// A player that plays by `strategy` as far as its `conduct` lets it.
    pub fn behaving(strategy: Box<dyn Strategy>, conduct: Conduct) -> Self {
        let history = VecDeque::new();
        let mind = Mind { strategy, matches: 0, history, known: BTreeMap::new() };
        Self { enrolment: Enrolment::default(), conduct, mind: Mutex::new(mind) }
    }

    /// Listens, registers, and plays until `stop` says so.
    ///
    /// # Errors
    /// If the registration fails.
    pub async fn run(
        self: Arc<Self>,
        listener: TcpListener,
        exchange: Exchange,
        application: Application,
        stop: watch::Receiver<bool>,
    ) -> Result<(), RegisterError> {
        let serving = serve(listener, self.clone(), stop);
        let joining = register::player(&exchange, &application);
        // It must listen before it registers: the first letter may come before the answer does.
        let mut serving = std::pin::pin!(serving);
        tokio::select! {
            () = &mut serving => return Ok(()),
            joined = joining => self.enrolment.settle(joined?),
        };
        serving.await;
        Ok(())
    }

    /// Holds the player's membership as soon as it is registered; closed when the player is gone.
    pub fn membership(&self) -> watch::Receiver<Option<Membership<PlayerId>>> {
        self.enrolment.watch()
    }

    /// Becomes true when the manager has said that the league is over.
    pub fn league_end(&self) -> watch::Receiver<bool> {
        self.enrolment.watch_end()
    }

    /// Changes whenever the manager has said something.
    pub fn heard(&self) -> watch::Receiver<()> {
        self.enrolment.watch_heard()
    }

    fn accept(
        &self,
        me: &Membership<PlayerId>,
        letter: &Letter,
        match_id: MatchId,
        attempt: u32,
    ) -> Result<Signed, Box<ErrorReport>> {
        check_referee(me, &letter.envelope, match_id, attempt)?;
        lock(&self.mind).note(match_id, attempt)?;
        told(me.id, match_id, &letter.envelope, "a match begins");
        let arrival = Some(ambient::now());
        let player_id = Some(me.id);
        let ack = GameJoinAck { match_id, player_id, accept: true, arrival, reason: None };
        let ack = self.conduct.join(ack);
        Ok(signed(me, match_id, attempt, Message::GameJoinAck(ack)))
    }

    async fn choose(
        &self,
        me: &Membership<PlayerId>,
        letter: &Letter,
        question: Question<'_>,
    ) -> Result<Signed, Box<ErrorReport>> {
        let (attempt, deciding) = self.consider(me, letter, question)?;
        let Some(sealed) = deciding.await else {
            lock(&self.mind).forget(question, attempt);
            return Err(refusal(Code::E003, NO_MOVE));
        };
        let sealed = self.conduct.choose(me, attempt, sealed);
        Ok(self.conduct.sign(signed(me, question.match_id(), attempt, sealed.message())))
    }

    /// The attempt that a question is about, and the choice that is being made.
    fn consider(
        &self,
        me: &Membership<PlayerId>,
        letter: &Letter,
        question: Question<'_>,
    ) -> Result<(u32, Deciding), Box<ErrorReport>> {
        let match_id = question.match_id();
        let mut mind = lock(&self.mind);
        let Mind { strategy, matches, history, known } = &mut *mind;
        let invited = known.get_mut(&match_id);
        let invited = invited.filter(|known| question.attempt().is_none_or(|n| n <= known.attempt));
        let Some(known) = invited else {
            return Err(refusal(Code::G003, "this player was not invited to that match"));
        };
        let attempt = question.attempt().unwrap_or(known.attempt);
        check_referee(me, &letter.envelope, match_id, attempt)?;
        if attempt < known.attempt {
            return Err(refusal(Code::E030, LATER_ATTEMPT));
        }
        let step = question.step();
        if let Some(deciding) = known.answers.get(&step) {
            return Ok((attempt, deciding.clone()));
        }
        if known.answers.len() >= STEPS_MAX {
            return Err(refusal(Code::E003, "step: this player makes no more moves in one match"));
        }
        let (opponent, history) = (question.opponent(), history.make_contiguous());
        let situation = Situation { matches_before: *matches, opponent, history };
        let thought = strategy.think(&situation, &question.asked());
        let (me, read) = (me.clone(), question.answered_by());
        let sealing = async move {
            let choice = thought.await.and_then(read)?;
            Some(Sealed::new(&me, (match_id, attempt, step), choice, random_hex()))
        };
        let deciding = (Box::pin(sealing) as Pin<Box<dyn Future<Output = _> + Send>>).shared();
        known.answers.insert(step, deciding.clone());
        Ok((attempt, deciding))
    }

    fn end(&self, me: PlayerId, over: &GameOver, attempt: u32) -> Message {
        let match_id = over.match_id;
        let mut mind = lock(&self.mind);
        if let Some(known) = mind.known.get_mut(&match_id)
            && known.attempt == attempt
            && !std::mem::replace(&mut known.is_over, true)
        {
            mind.matches += 1;
            mind.remember(me, over);
            mind.strategy.over(me, over);
        }
        Message::GameOverAck(GameOverAck { match_id, acknowledged: true })
    }
}

impl Mind {
    /// Notes what a match that is over has shown.
    fn remember(&mut self, me: PlayerId, over: &GameOver) {
        let mut others = over.players.iter().filter(|(player, _)| **player != me);
        let Some((opponent, line)) = others.next() else { return };
        let theirs = match &line.choice {
            Some(MoveValue::Text(word)) => Parity::find(word),
            Some(MoveValue::Number(_)) | None => None,
        };
        let of_game = |parity| match parity {
            Parity::Even => game::Parity::Even,
            Parity::Odd => game::Parity::Odd,
        };
        let (theirs, drawn) = (theirs.map(of_game), over.drawn_number.map(game::Parity::of));
        if self.history.len() >= HISTORY_MAX {
            self.history.pop_front();
        }
        self.history.push_back(Played { opponent: *opponent, theirs, drawn });
    }

    /// Lets a question be asked anew to which there was no move.
    fn forget(&mut self, question: Question<'_>, attempt: u32) {
        if let Some(known) = self.known.get_mut(&question.match_id())
            && known.attempt == attempt
        {
            known.answers.remove(&question.step());
        }
    }

    /// Notes an invitation. A later attempt replaces an earlier one, never the other way round.
    fn note(&mut self, match_id: MatchId, attempt: u32) -> Result<(), Box<ErrorReport>> {
        let fresh = Known { attempt, answers: BTreeMap::new(), is_over: false };
        match self.known.entry(match_id) {
            Entry::Occupied(known) if known.get().attempt > attempt => {
                return Err(refusal(Code::E030, LATER_ATTEMPT));
            }
            Entry::Occupied(known) if known.get().attempt == attempt => return Ok(()),
            Entry::Occupied(mut known) => drop(known.insert(fresh)),
            Entry::Vacant(place) => drop(place.insert(fresh)),
        }
        // The earliest match is forgotten first, and cannot be answered anew after that.
        let forgotten =
            if self.known.len() > INVITATIONS_MAX { self.known.pop_first() } else { None };
        match forgotten {
            Some((forgotten, _)) if forgotten == match_id => {
                Err(refusal(Code::E030, "this match is long over"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

const LATER_ATTEMPT: &str = "this player is at a later attempt at that match";
const NO_MOVE: &str =
    "move_request.valid_options: there is nothing among them that this player can choose";

impl Desk for Player {
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not for players is refused")]
    async fn receive(
        &self,
        letter: Letter,
        _dialect: Dialect,
        _peer: SocketAddr,
    ) -> Result<Signed, Box<ErrorReport>> {
        let me = self.enrolment.wait().await?;
        match &letter.message {
            Message::GameInvitation(invitation) => {
                let attempt = invitation.attempt.unwrap_or(1);
                self.accept(&me, &letter, invitation.match_id, attempt)
            }
            Message::GameStart(start) => {
                check_referee(&me, &letter.envelope, start.match_id, start.attempt.unwrap_or(1))?;
                Ok(Message::Ack(Ack { of: Some(MessageType::GameStart) }).into())
            }
            Message::ChooseParityCall(call) => {
                self.choose(&me, &letter, Question::Parity(call)).await
            }
            Message::GameMoveCall(call) => self.choose(&me, &letter, Question::Move(call)).await,
            Message::GameOver(over) => {
                let attempt = over.attempt.unwrap_or(1);
                check_referee(&me, &letter.envelope, over.match_id, attempt)?;
                told(me.id, over.match_id, &letter.envelope, "a match is over");
                Ok(self.end(me.id, over, attempt).into())
            }
            Message::GameError(_) => {
                Ok(Message::Ack(Ack { of: Some(MessageType::GameError) }).into())
            }
            Message::SuspensionNotice(notice) => {
                me.check_manager(&letter.envelope)?;
                self.enrolment.hear();
                talk::notified(Component::Player, &me.league, notice);
                Ok(Message::Ack(Ack { of: Some(MessageType::SuspensionNotice) }).into())
            }
            Message::Unread(kind) => {
                me.check_manager(&letter.envelope)?;
                self.enrolment.hear();
                if *kind == MessageType::LeagueCompleted {
                    self.enrolment.conclude();
                }
                Ok(Message::Ack(Ack { of: Some(*kind) }).into())
            }
            Message::Ping(_) => Ok(Message::Pong(Pong { state: None }).into()),
            _ => Err(refusal(Code::MethodNotFound, "a player does not take this message")),
        }
    }

    fn reads(&self, kind: MessageType) -> bool {
        !is_news(kind)
    }

    fn sender(&self) -> Sender {
        let id = self.enrolment.id();
        Sender::Player(id.map_or_else(|| "new".into(), |id| id.to_string().into()))
    }

    fn error(&self, report: ErrorReport) -> Message {
        Message::GameError(report)
    }
}

impl Service for Player {
    async fn mcp(&self, body: Bytes, peer: SocketAddr) -> Answer {
        if let Some(answer) = self.conduct.interrupt(&body).await {
            return answer;
        }
        let incoming = parse(&body);
        match standing::answer(self, &incoming) {
            Some(answer) => answer,
            None => desk::answer_parsed(self, incoming, &body, peer).await,
        }
    }

    fn page(&self, path: &str) -> Option<Answer> {
        self.enrolment.page(path, "player")
    }
}

fn signed(me: &Membership<PlayerId>, match_id: MatchId, attempt: u32, message: Message) -> Signed {
    let proof = reply_proof(&me.token, &me.league, match_id, attempt).expose();
    Signed { token: Some(AuthToken::new(&proof)), ..message.into() }
}

/// Tells the log how matches come and go.
fn told(me: PlayerId, match_id: MatchId, envelope: &Envelope, what: &str) {
    log::at(Level::Info, Component::Player, |line| {
        line.agent(me).match_id(match_id).envelope(envelope).say(what);
    });
}

/// What a referee sends must carry the manager's proof that it has this match.
fn check_referee(
    me: &Membership<PlayerId>,
    envelope: &Envelope,
    match_id: MatchId,
    attempt: u32,
) -> Result<(), Box<ErrorReport>> {
    let Sender::Referee(referee) = &envelope.sender else {
        return Err(refusal(Code::E012, "only a referee may send this"));
    };
    let referee = referee.parse();
    let referee = referee.map_err(|_| refusal(Code::E012, "the sender is not a referee"))?;
    let shown = shown_token(envelope)?;
    let proof = match_proof(&me.token, &me.league, match_id, attempt, referee);
    if proof.matches(shown.reveal()) {
        return Ok(());
    }
    Err(refusal(Code::E012, "auth_token does not prove that the sender officiates this match"))
}
