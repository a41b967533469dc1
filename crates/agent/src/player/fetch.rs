//! A player without an open port: it fetches what it is sent, for as long as its league lasts.

use std::sync::Arc;

use league_core::id::PlayerId;
use tokio::sync::watch;

use super::Player;
use crate::ambient::Mark;
use crate::component::Component;
use crate::exchange::Exchange;
use crate::limits::{POLL_PAUSE_MAX, REGISTER_PAUSE_MAX, REGISTER_PAUSE_MIN};
use crate::log::{self, Level};
use crate::pull::{self, Mailbox, PullError};
use crate::register::{self, Application, Membership, RegisterError};

impl Player {
    /// Registers and plays until `stop` says so, without listening anywhere. A manager that is
    /// away is waited for, one that has forgotten the player is shown its token again.
    ///
    /// The application must say `pull` and name no address.
    ///
    /// # Errors
    /// If the registration fails.
    pub async fn run_without_port(
        self: Arc<Self>,
        exchange: Exchange,
        application: Application,
        mut stop: watch::Receiver<bool>,
    ) -> Result<(), RegisterError> {
        let mut me = tokio::select! {
            biased;
            () = stopped(&mut stop) => return Ok(()),
            joined = register::player(&exchange, &application) => joined?,
        };
        self.enrolment.settle(me.clone());
        let mut pause = REGISTER_PAUSE_MIN;
        loop {
            let mailbox =
                Mailbox::new(exchange.caller().clone(), &application.manager, me.token.clone());
            let begun = Mark::set();
            let Err(error) = pull::serve(&mailbox, &*self, stop.clone()).await else {
                return Ok(());
            };
            if begun.elapsed() > POLL_PAUSE_MAX {
                pause = REGISTER_PAUSE_MIN;
            }
            // The same trouble is told once.
            if pause == REGISTER_PAUSE_MIN {
                told(&me, &error);
            }
            if let PullError::NotMine(_) = error {
                let again = tokio::select! {
                    biased;
                    () = stopped(&mut stop) => return Ok(()),
                    again = register::player_again(&exchange, &application, &me) => again?,
                };
                match again {
                    Some(again) => me = again,
                    None => self.enrolment.conclude(),
                }
                self.enrolment.settle(me.clone());
            }
            let wait = match &error {
                PullError::Busy { retry_after: Some(wait), .. } => pause.max(*wait),
                PullError::TakenOver => REGISTER_PAUSE_MAX,
                PullError::Busy { retry_after: None, .. }
                | PullError::Call(_)
                | PullError::NotMine(_)
                | PullError::Unexpected(_)
                | PullError::Unreadable(_) => pause,
            };
            tokio::select! {
                biased;
                () = stopped(&mut stop) => return Ok(()),
                () = tokio::time::sleep(wait) => {}
            }
            pause = (pause * 2).min(POLL_PAUSE_MAX);
        }
    }
}

fn told(me: &Membership<PlayerId>, error: &PullError) {
    log::at(Level::Warning, Component::Player, |line| {
        line.agent(me.id).league(&me.league);
        line.say(format!("no turns can be fetched, trying again: {error}"));
    });
}

/// Comes back when `stop` says so.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    // A sender that is gone will not say anything else.
    drop(stop.wait_for(|stopped| *stopped).await);
}
