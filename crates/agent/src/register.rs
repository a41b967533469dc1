//! The handshake with the manager, for referees and players alike.

use std::time::Duration;

use league_core::id::LeagueId;
use league_core::proof::Token;
use league_wire::message::{
    ErrorReport, Meta, PlayerRegistration, RefereeRegistration, RegisterResponse,
};
use league_wire::{Code, Dialect, Envelope, Letter, Message, MessageType, Reply, Sender};
use tokio::sync::watch;

use crate::ambient;
use crate::desk::{refusal, shown_token};
use crate::exchange::{AskError, Exchange, new_conversation};
use crate::limits::MEMBERSHIP_WAIT;

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
pub struct Enrolment<Id>(watch::Sender<Option<Membership<Id>>>);

impl<Id> Default for Enrolment<Id> {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl<Id: Copy> Enrolment<Id> {
    /// The agent is registered.
    pub fn settle(&self, membership: Membership<Id>) {
        self.0.send_replace(Some(membership));
    }

    /// Who the agent is, once it is registered.
    pub fn id(&self) -> Option<Id> {
        self.0.borrow().as_ref().map(|membership| membership.id)
    }

    /// Holds the membership as soon as there is one; closed when the agent is gone.
    pub fn watch(&self) -> watch::Receiver<Option<Membership<Id>>> {
        self.0.subscribe()
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
}

/// Registers a player.
///
/// # Errors
/// If the manager cannot be reached or says no.
pub async fn player(
    exchange: &Exchange,
    application: &Application,
) -> Result<Membership<league_core::id::PlayerId>, RegisterError> {
    let message =
        Message::LeagueRegisterRequest(PlayerRegistration { meta: application.meta.clone() });
    let reply = send(exchange, application, Sender::Player("new".into()), message).await?;
    let Message::LeagueRegisterResponse(response) = reply.message else {
        return Err(RegisterError::Incomplete("a registration response for players"));
    };
    settle(response, reply.envelope.league_id)
}

/// Registers a referee.
///
/// # Errors
/// If the manager cannot be reached or says no.
pub async fn referee(
    exchange: &Exchange,
    application: &Application,
) -> Result<Membership<league_core::id::RefereeId>, RegisterError> {
    let message =
        Message::RefereeRegisterRequest(RefereeRegistration { meta: application.meta.clone() });
    let reply = send(exchange, application, Sender::Referee("new".into()), message).await?;
    let Message::RefereeRegisterResponse(response) = reply.message else {
        return Err(RegisterError::Incomplete("a registration response for referees"));
    };
    settle(response, reply.envelope.league_id)
}

async fn send(
    exchange: &Exchange,
    application: &Application,
    sender: Sender,
    message: Message,
) -> Result<Reply, RegisterError> {
    let envelope = Envelope {
        sender,
        timestamp: ambient::now(),
        conversation: new_conversation("reg"),
        token: None,
        league_id: application.league.clone(),
    };
    let letter = Letter { envelope, message };
    let expected = [MessageType::LeagueRegisterResponse, MessageType::RefereeRegisterResponse];
    let (manager, dialect) = (&application.manager, application.dialect);
    exchange
        .ask(manager, dialect, &letter, &expected, application.timeout)
        .await
        .map_err(|source| RegisterError::Ask { manager: manager.clone(), source: Box::new(source) })
}

fn settle<Id>(
    response: RegisterResponse<Id>,
    league: Option<LeagueId>,
) -> Result<Membership<Id>, RegisterError> {
    match response {
        RegisterResponse::Accepted { id, token } => {
            let league = league.ok_or(RegisterError::Incomplete("league_id"))?;
            let token = token.reveal().parse();
            let token = token.map_err(|_| RegisterError::Incomplete("a token of ours"))?;
            Ok(Membership { id, token, league })
        }
        RegisterResponse::Rejected(report) => Err(RegisterError::Rejected(report)),
    }
}
