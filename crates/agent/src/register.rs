//! The handshake with the manager, for referees and players alike.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use league_core::id::{LeagueId, PlayerId};
use league_core::proof::Token;
use league_wire::message::{
    ErrorReport, Meta, PlayerRegistration, RefereeRegistration, RegisterResponse,
};
use league_wire::{
    AuthToken, Code, Dialect, Envelope, Letter, Message, MessageType, Reply, Sender,
};
use tokio::sync::{mpsc, watch};

use crate::ambient;
use crate::caller::CallError;
use crate::desk::{refusal, shown_token};
use crate::endpoint::Answer;
use crate::exchange::{AskError, Exchange, new_conversation};
use crate::keep::{Keep, KeepError};
use crate::limits::{MEMBERSHIP_WAIT, REGISTER_PAUSE_MAX, REGISTER_PAUSE_MIN};
use crate::log::talk::Talk;
use crate::log::{self, Level};
use crate::vitals::Vitals;

/// What a registered agent knows of itself.
#[derive(Debug, Clone)]
pub struct Membership<Id> {
    /// Who it is.
    pub id: Id,
    /// What it proves itself with.
    pub token: Token,
    /// Where it belongs.
    pub league: LeagueId,
}

impl<Id> Membership<Id> {
    /// What the manager sends must carry the agent's own token.
    ///
    /// # Errors
    /// E011 if there is none, E012 if it is another.
    pub fn check_manager(&self, envelope: &Envelope) -> Result<(), Box<ErrorReport>> {
        if self.token.matches(shown_token(envelope)?.reveal()) {
            return Ok(());
        }
        Err(refusal(Code::E012, "auth_token does not prove that the sender is the manager"))
    }
}

/// An agent's place for its membership, empty until it is registered.
#[derive(Debug)]
pub struct Enrolment<Id> {
    membership: watch::Sender<Option<Membership<Id>>>,
    is_over: watch::Sender<bool>,
    heard: watch::Sender<()>,
    vitals: Vitals,
}

impl<Id> Default for Enrolment<Id> {
    fn default() -> Self {
        let (membership, is_over) = (watch::Sender::new(None), watch::Sender::new(false));
        Self { membership, is_over, heard: watch::Sender::new(()), vitals: Vitals::default() }
    }
}

impl<Id: Copy> Enrolment<Id> {
    /// The agent is registered.
    pub fn settle(&self, membership: Membership<Id>) {
        self.membership.send_replace(Some(membership));
    }

    /// Who the agent is, once it is registered.
    pub fn id(&self) -> Option<Id> {
        self.membership.borrow().as_ref().map(|membership| membership.id)
    }

    /// Holds the membership as soon as there is one; closed when the agent is gone.
    pub fn watch(&self) -> watch::Receiver<Option<Membership<Id>>> {
        self.membership.subscribe()
    }

    /// The manager has said that the league is over.
    pub fn conclude(&self) {
        self.is_over.send_replace(true);
    }

    /// Becomes true when the league is over.
    pub fn watch_end(&self) -> watch::Receiver<bool> {
        self.is_over.subscribe()
    }

    /// The manager has said something, and proved to be the manager.
    pub fn hear(&self) {
        self.heard.send_replace(());
    }

    /// Changes whenever the manager has said something.
    pub fn watch_heard(&self) -> watch::Receiver<()> {
        self.heard.subscribe()
    }

    /// The page at `path` of an agent of the kind `agent`, which is ready once it is registered.
    pub fn page(&self, path: &str, agent: &str) -> Option<Answer> {
        let membership = self.membership.borrow();
        let ready = membership.as_ref().map(|_| ()).ok_or("not registered with its manager yet");
        self.vitals.page(path, agent, ready)
    }

    /// The membership. A letter that overtook the registration's answer waits a while for it.
    ///
    /// # Errors
    /// E033 if the registration takes longer.
    pub async fn wait(&self) -> Result<Membership<Id>, Box<ErrorReport>> {
        let mut watched = self.watch();
        let known = tokio::time::timeout(MEMBERSHIP_WAIT, watched.wait_for(Option::is_some)).await;
        let membership = known.ok().and_then(Result::ok).and_then(|membership| membership.clone());
        membership.ok_or_else(|| refusal(Code::E033, "this agent is not registered yet"))
    }
}

/// Why an agent is not registered.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// The manager could not be asked.
    #[error("the manager at {manager} gave no usable answer: {source}")]
    Ask {
        /// Where it was asked.
        manager: String,
        /// What went wrong.
        source: Box<AskError>,
    },
    /// The manager said no.
    #[error("registration rejected with {code}: {text}", code = .0.code, text = .0.description)]
    Rejected(Box<ErrorReport>),
    /// The manager said yes without saying what the agent needs to know.
    #[error("the manager accepted without {0}")]
    Incomplete(&'static str),
    /// Who it is cannot be kept.
    #[error(transparent)]
    Keep(#[from] KeepError),
    /// The manager does not take it back as the one it was.
    #[error(
        "the manager does not take back who is kept in {file}: {code}: {text}",
        file = file.display(), code = report.code, text = report.description
    )]
    NotTakenBack {
        /// Where that is kept.
        file: PathBuf,
        /// Why not.
        report: Box<ErrorReport>,
    },
}

/// Where and how to register.
#[derive(Debug, Clone)]
pub struct Application {
    /// The manager's address.
    pub manager: String,
    /// The league to join; the manager chooses if there is none.
    pub league: Option<LeagueId>,
    /// The shape to speak in.
    pub dialect: Dialect,
    /// What the agent says of itself.
    pub meta: Meta,
    /// How long to wait for the answer.
    pub timeout: Duration,
    /// Where to say that the manager cannot be asked just now, for an agent that goes on trying.
    /// One without it fails at once.
    pub troubles: Option<mpsc::Sender<RegisterError>>,
    /// Where the agent keeps who it is, to come back as the same one.
    pub keep: Option<Keep>,
}

/// Registers a player.
///
/// # Errors
/// If the manager cannot be reached or says no.
pub async fn player(
    exchange: &Exchange,
    application: &Application,
) -> Result<Membership<PlayerId>, RegisterError> {
    join(exchange, application, as_player(application)).await
}

fn as_player(application: &Application) -> Role<PlayerId> {
    let meta = application.meta.clone();
    Role {
        sender: |id| Sender::Player(id.into()),
        message: Message::LeagueRegisterRequest(PlayerRegistration { meta }),
        read: |message| {
            let Message::LeagueRegisterResponse(response) = message else {
                return Err(RegisterError::Incomplete("a registration response for players"));
            };
            Ok(response)
        },
    }
}

/// Registers a player that has been here again, with its token; `None` if its league is over.
///
/// # Errors
/// If the manager cannot be reached or says no.
pub async fn player_again(
    exchange: &Exchange,
    application: &Application,
    me: &Membership<PlayerId>,
) -> Result<Option<Membership<PlayerId>>, RegisterError> {
    match ask(exchange, application, &as_player(application), Some(me)).await {
        Ok(member) => Ok(Some(member)),
        Err(RegisterError::Rejected(report)) if is_past(&report, application.dialect) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Registers a referee.
///
/// # Errors
/// If the manager cannot be reached or says no.
pub async fn referee(
    exchange: &Exchange,
    application: &Application,
) -> Result<Membership<league_core::id::RefereeId>, RegisterError> {
    let meta = application.meta.clone();
    let role = Role {
        sender: |id| Sender::Referee(id.into()),
        message: Message::RefereeRegisterRequest(RefereeRegistration { meta }),
        read: |message| {
            let Message::RefereeRegisterResponse(response) = message else {
                return Err(RegisterError::Incomplete("a registration response for referees"));
            };
            Ok(response)
        },
    };
    join(exchange, application, role).await
}

/// How an agent of some kind registers.
struct Role<Id> {
    sender: fn(String) -> Sender,
    message: Message,
    read: fn(Message) -> Result<RegisterResponse<Id>, RegisterError>,
}

/// Registers, as the one that was kept if there is one.
async fn join<Id: FromStr + Display>(
    exchange: &Exchange,
    application: &Application,
    role: Role<Id>,
) -> Result<Membership<Id>, RegisterError> {
    let Some(keep) = &application.keep else {
        return ask(exchange, application, &role, None).await;
    };
    let wanted = |league: &LeagueId| application.league.as_ref().is_none_or(|id| id == league);
    let kept: Option<Membership<Id>> =
        keep.read()?.filter(|kept: &Membership<Id>| wanted(&kept.league));
    let joined = match ask(exchange, application, &role, kept.as_ref()).await {
        // The league it was in is over or gone; it joins another one as a newcomer.
        Err(RegisterError::Rejected(report))
            if kept.is_some() && is_past(&report, application.dialect) =>
        {
            ask(exchange, application, &role, None).await?
        }
        Err(RegisterError::Rejected(report)) if kept.is_some() => {
            return Err(RegisterError::NotTakenBack { file: keep.file().into(), report });
        }
        outcome => outcome?,
    };
    keep.write(&joined)?;
    Ok(joined)
}

async fn ask<Id: Display>(
    exchange: &Exchange,
    application: &Application,
    role: &Role<Id>,
    known: Option<&Membership<Id>>,
) -> Result<Membership<Id>, RegisterError> {
    let league = known.map(|known| &known.league).or(application.league.as_ref());
    let envelope = Envelope {
        sender: (role.sender)(known.map_or_else(|| "new".into(), |known| known.id.to_string())),
        timestamp: ambient::now(),
        conversation: new_conversation("reg"),
        token: known.map(|known| AuthToken::new(known.token.expose())),
        league_id: league.cloned(),
    };
    let letter = Letter { envelope, message: role.message.clone() };
    let reply = send(exchange, application, letter).await?;
    let (member, note) = settle((role.read)(reply.message)?, reply.envelope.league_id)?;
    joined(exchange, &member.id, &member.league, note.as_deref());
    Ok(member)
}

/// Whether the league that an agent wants to come back to is over, or not there any more, as the
/// agent's own dialect tells it. What may mean something else as well is no reason to give up a
/// token: document 004 has one code for all that can be wrong with a registration.
pub(crate) fn is_past(report: &ErrorReport, dialect: Dialect) -> bool {
    let past = [Code::E014, Code::E019, Code::E005].map(|code| code.told(dialect));
    report.code.known().is_some_and(|code| code != Code::L001 && past.contains(&code))
}

fn joined(exchange: &Exchange, id: impl ToString, league: &LeagueId, note: Option<&str>) {
    let level = if note.is_some() { Level::Warning } else { Level::Info };
    log::at(level, exchange.component(), |line| {
        line.agent(id).league(league);
        match note {
            Some(note) => line.say(format!("registered, but {note}")),
            None => line.say("registered"),
        };
    });
}

async fn send(
    exchange: &Exchange,
    application: &Application,
    mut letter: Letter,
) -> Result<Reply, RegisterError> {
    let expected = [MessageType::LeagueRegisterResponse, MessageType::RefereeRegisterResponse];
    let (manager, dialect) = (&application.manager, application.dialect);
    let talk = Talk::sent(Sender::MANAGER, &letter);
    let mut pause = REGISTER_PAUSE_MIN;
    loop {
        // The conversation stays: a manager that has heard us before gives the same answer again.
        letter.envelope.timestamp = ambient::now();
        let question = exchange.question(dialect, &letter);
        talk.went(question.body());
        let sent = exchange.send(manager, &question, application.timeout).await;
        let asked = sent.map_err(AskError::from);
        let asked = asked.and_then(|answered| question.read(&expected, &answered));
        let source = match asked {
            Ok(reply) if !(is_busy(&reply.message) && application.troubles.is_some()) => {
                return Ok(reply);
            }
            Ok(_) => AskError::Call(CallError::Busy),
            Err(source) => source,
        };
        let is_passing = is_passing(&source) && application.troubles.is_some();
        if let AskError::Call(error) = &source
            && !is_passing
        {
            talk.failed(error);
        }
        let error = RegisterError::Ask { manager: manager.clone(), source: Box::new(source) };
        let Some(troubles) = application.troubles.as_ref().filter(|_| is_passing) else {
            return Err(error);
        };
        talk.retried(&error.to_string());
        // Nobody needs to hear all of them.
        let _unheard = troubles.try_send(error);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(REGISTER_PAUSE_MAX);
    }
}

/// Whether the manager cannot write its books just now.
#[expect(clippy::wildcard_enum_match_arm, reason = "only registrations are rejected")]
fn is_busy(message: &Message) -> bool {
    match message {
        Message::LeagueRegisterResponse(RegisterResponse::Rejected(report))
        | Message::RefereeRegisterResponse(RegisterResponse::Rejected(report)) => {
            report.code.known() == Some(Code::E033)
        }
        _ => false,
    }
}

/// Whether the manager may well answer later: it is not there yet, restarts, or has much to do.
fn is_passing(error: &AskError) -> bool {
    match error {
        AskError::Call(call) => matches!(
            call,
            CallError::NotConnected(_)
                | CallError::Broken(_)
                | CallError::TimedOut(_)
                | CallError::Busy
                | CallError::Ours(_)
        ),
        AskError::Frame { status, .. } => *status >= 500,
        AskError::Refused { .. } | AskError::WrongId { .. } => false,
        AskError::Decode(_) | AskError::Deviates(_) => false,
    }
}

fn settle<Id>(
    response: RegisterResponse<Id>,
    league: Option<LeagueId>,
) -> Result<(Membership<Id>, Option<String>), RegisterError> {
    match response {
        RegisterResponse::Accepted { id, token, note } => {
            let league = league.ok_or(RegisterError::Incomplete("league_id"))?;
            let token = token.reveal().parse();
            let token = token.map_err(|_| RegisterError::Incomplete("a token of ours"))?;
            Ok((Membership { id, token, league }, note))
        }
        RegisterResponse::Rejected(report) => Err(RegisterError::Rejected(report)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_given_up_only_for_a_league_that_is_past() {
        for (dialect, code, expected) in [
            (Dialect::Flat, Code::E014, true),
            (Dialect::Flat, Code::E019, true),
            (Dialect::Flat, Code::E005, true),
            (Dialect::Flat, Code::L001, false),
            (Dialect::Flat, Code::L004, false),
            (Dialect::Flat, Code::L005, false),
            (Dialect::Flat, Code::E018, false),
            (Dialect::Payload, Code::L005, true),
            (Dialect::Payload, Code::L004, true),
            (Dialect::Payload, Code::L001, false),
            (Dialect::Payload, Code::E012, false),
        ] {
            let report = ErrorReport::new(code, "");
            assert_eq!(is_past(&report, dialect), expected, "{dialect:?} {code}");
        }
    }
}
