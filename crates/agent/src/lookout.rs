//! An agent that hears nothing asks its manager now and then whether it still belongs: whose token
//! was replaced is told nothing any more, and who missed the end of its league would stay for ever.

use std::time::Duration;

use league_core::id::LeagueId;
use league_core::proof::Token;
use league_wire::message::{ErrorReport, LeagueQuery};
use league_wire::{
    AuthToken, Code, Dialect, Envelope, Letter, Message, MessageType, QueryType, Sender,
};
use tokio::sync::watch;

use crate::ambient;
use crate::exchange::{AskError, Exchange, new_conversation};
use crate::limits::LOOK_AFTER;
use crate::register::is_past;

/// How an agent asks.
#[derive(Debug)]
pub struct Lookout {
    /// What it calls with.
    pub exchange: Exchange,
    /// The manager's address.
    pub manager: String,
    /// The shape to speak in.
    pub dialect: Dialect,
    /// Who asks.
    pub sender: Sender,
    /// What it proves itself with.
    pub token: Token,
    /// Where it belongs, or did.
    pub league: LeagueId,
    /// How long to wait for an answer.
    pub timeout: Duration,
    /// Changes whenever the manager has said something.
    pub heard: watch::Receiver<()>,
}

/// What an agent has learnt.
#[derive(Debug)]
pub enum Learnt {
    /// The league is over or gone.
    Over,
    /// The agent's token no longer works; the manager's words.
    Expelled(Box<ErrorReport>),
}

impl Lookout {
    /// Asks after every silence until there is news.
    pub async fn watch(mut self) -> Learnt {
        loop {
            silence(&mut self.heard, LOOK_AFTER).await;
            if let Some(learnt) = self.look().await {
                return learnt;
            }
        }
    }

    /// Asks once. A manager that is not there just now is no news.
    async fn look(&self) -> Option<Learnt> {
        let envelope = Envelope {
            sender: self.sender.clone(),
            timestamp: ambient::now(),
            conversation: new_conversation("look"),
            token: Some(AuthToken::new(self.token.expose())),
            league_id: Some(self.league.clone()),
        };
        let message = Message::LeagueQuery(LeagueQuery {
            query_type: QueryType::League,
            round_id: None,
            match_id: None,
            agent_id: None,
            offset: None,
            limit: None,
        });
        let letter = Letter { envelope, message };
        let expected = [MessageType::LeagueQueryResponse];
        let Self { exchange, manager, dialect, timeout, .. } = self;
        match exchange.ask(manager, *dialect, &letter, &expected, *timeout).await {
            Ok(reply) => {
                let Message::LeagueQueryResponse(told) = reply.message else { return None };
                told.league_is_over().then_some(Learnt::Over)
            }
            Err(AskError::Refused { report: Some(report), .. }) => {
                learnt_from(report, self.dialect)
            }
            Err(_) => None,
        }
    }
}

/// Comes back when nothing was heard for so long.
async fn silence(heard: &mut watch::Receiver<()>, length: Duration) {
    while let Ok(Ok(())) = tokio::time::timeout(length, heard.changed()).await {}
}

fn learnt_from(report: Box<ErrorReport>, dialect: Dialect) -> Option<Learnt> {
    if report.code.known() == Some(Code::E012.told(dialect)) {
        return Some(Learnt::Expelled(report));
    }
    is_past(&report, dialect).then_some(Learnt::Over)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ambient::Mark;

    #[test]
    fn whoever_hears_its_manager_does_not_ask() {
        let length = Duration::from_millis(100);
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().build().unwrap().block_on(async {
            let (manager, mut heard) = watch::channel(());
            let mut silence = std::pin::pin!(silence(&mut heard, length));
            let mut last = Mark::set();
            let mut is_silent = false;
            for _ in 0..10 {
                manager.send_replace(());
                last = Mark::set();
                is_silent = tokio::time::timeout(length / 4, &mut silence).await.is_ok();
                if is_silent {
                    break;
                }
            }
            if !is_silent {
                silence.await;
            }
            assert!(last.elapsed() >= length, "only {:?} after it heard something", last.elapsed());
        });
    }

    #[test]
    fn only_a_token_that_no_longer_works_and_a_league_that_is_over_are_news() {
        let learnt = |code| learnt_from(Box::new(ErrorReport::new(code, "")), Dialect::Flat);
        assert!(matches!(learnt(Code::E012), Some(Learnt::Expelled(_))));
        assert!(matches!(learnt(Code::E014), Some(Learnt::Over)));
        assert!(learnt(Code::E033).is_none() && learnt(Code::E003).is_none());
    }
}
