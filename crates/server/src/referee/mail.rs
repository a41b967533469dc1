//! What a referee's matches tell the manager at the same time goes out together: one call at a
//! time, and whatever has come meanwhile is the next.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use league_agent::caller::{Answered, CallError};
use league_agent::exchange::{BatchError, Question};
use league_agent::guard::lock;
use tokio::sync::oneshot;

use super::Referee;
use crate::limits::{LETTERS_BYTES_MAX, MENTIONS_MAX, MENTIONS_WAIT, REPORTS_TOGETHER_MAX};

/// Letters to the manager that wait for the one that is out.
#[derive(Debug, Default)]
pub(super) struct Mail(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    letters: VecDeque<Posted>,
    /// Whether somebody is at it.
    is_carried: bool,
    /// What is in no hurry: it goes with the next letter, or after a while.
    mentions: VecDeque<Question>,
    /// Whether somebody sees to it that they go.
    is_watched: bool,
    /// Whether they have waited long enough to go alone.
    is_due: bool,
}

/// A letter and who waits for what comes back.
#[derive(Debug)]
struct Posted {
    question: Question,
    timeout: Duration,
    /// Whether nobody waits, and it may be left out.
    is_mention: bool,
    answer: oneshot::Sender<Result<Answered, CallError>>,
}

impl Mail {
    fn post(&self, posted: Posted) -> bool {
        let mut waiting = lock(&self.0);
        waiting.letters.push_back(posted);
        !std::mem::replace(&mut waiting.is_carried, true)
    }

    /// The letters that go out next; there is nothing to carry any more if there are none.
    fn collect(&self) -> Vec<Posted> {
        let mut waiting = lock(&self.0);
        let (mut taken, mut bytes) = (vec![], 0);
        while let Some(next) = waiting.letters.front() {
            bytes += next.question.body().len();
            let is_full = taken.len() == REPORTS_TOGETHER_MAX || bytes > LETTERS_BYTES_MAX;
            if is_full && !taken.is_empty() {
                break;
            }
            taken.extend(waiting.letters.pop_front());
        }
        if !taken.is_empty() || waiting.is_due {
            waiting.is_due = false;
            let timeout = taken.first().map_or(MENTIONS_WAIT, |posted: &Posted| posted.timeout);
            for _ in 0..REPORTS_TOGETHER_MAX {
                let Some(next) = waiting.mentions.front() else { break };
                bytes += next.body().len();
                if bytes > LETTERS_BYTES_MAX && !taken.is_empty() {
                    break;
                }
                let Some(question) = waiting.mentions.pop_front() else { break };
                let (answer, _nobody) = oneshot::channel();
                taken.push(Posted { question, timeout, is_mention: true, answer });
            }
        }
        waiting.is_carried = !taken.is_empty();
        taken
    }

    /// Adds what is in no hurry; whether somebody must see to it that it goes.
    fn mention(&self, question: Question) -> bool {
        let mut waiting = lock(&self.0);
        if waiting.mentions.len() >= MENTIONS_MAX {
            waiting.mentions.pop_front();
        }
        waiting.mentions.push_back(question);
        !std::mem::replace(&mut waiting.is_watched, true)
    }

    /// What was mentioned has waited long enough; whether somebody must carry it.
    fn is_overdue(&self) -> bool {
        let mut waiting = lock(&self.0);
        (waiting.is_watched, waiting.is_due) = (false, !waiting.mentions.is_empty());
        waiting.is_due && !std::mem::replace(&mut waiting.is_carried, true)
    }
}

impl Referee {
    /// Sends `question` to the manager, together with others that wait for the same.
    pub(super) async fn send_with_others(
        self: &Arc<Self>,
        question: Question,
        timeout: Duration,
    ) -> Result<Answered, CallError> {
        let (answer, wait) = oneshot::channel();
        if self.mail.post(Posted { question, timeout, is_mention: false, answer }) {
            let carrier = self.clone();
            self.spawn(async move { carrier.carry().await });
        }
        wait.await.unwrap_or_else(|_| Err(CallError::Ours("the referee is leaving".into())))
    }

    /// Sends `question` to the manager with whatever goes there next, or else after a while. It may
    /// get lost.
    pub(super) fn send_some_time(self: &Arc<Self>, question: Question) {
        if !self.mail.mention(question) {
            return;
        }
        let (carrier, mut leaving) = (self.clone(), self.leaving.subscribe());
        self.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(MENTIONS_WAIT) => {}
                _ = leaving.wait_for(|leaving| *leaving) => {}
            }
            if carrier.mail.is_overdue() {
                carrier.carry().await;
            }
        });
    }

    async fn carry(&self) {
        loop {
            let letters = self.mail.collect();
            match &*letters {
                [] => return,
                [_] => self.send_one_by_one(letters).await,
                [..] => self.send_all(letters).await,
            }
        }
    }

    async fn send_all(&self, letters: Vec<Posted>) {
        let questions: Vec<&Question> = letters.iter().map(|posted| &posted.question).collect();
        let timeout = letters.iter().map(|posted| posted.timeout).max().unwrap_or_default();
        let sent = self.exchange.send_together(&self.manager, &questions, timeout).await;
        let answers = match sent {
            Ok(answers) => {
                answers.into_iter().map(|answer| answer.ok_or(CallError::Busy)).collect()
            }
            Err(BatchError::Call(error)) => vec![Err(error); letters.len()],
            // It may have read none of them.
            Err(BatchError::NotABatch) => {
                let asked = letters.into_iter().filter(|posted| !posted.is_mention);
                return self.send_one_by_one(asked.collect()).await;
            }
        };
        for (posted, answer) in letters.into_iter().zip::<Vec<_>>(answers) {
            // The match may have been taken from us meanwhile.
            drop(posted.answer.send(answer));
        }
    }

    async fn send_one_by_one(&self, letters: Vec<Posted>) {
        for Posted { question, timeout, answer, .. } in letters {
            // The match may have been taken from us meanwhile.
            drop(answer.send(self.exchange.send(&self.manager, &question, timeout).await));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use bytes::Bytes;
    use league_agent::ambient;
    use league_agent::caller::Caller;
    use league_agent::endpoint::{Answer, Service, serve};
    use league_agent::exchange::{Exchange, new_conversation};
    use league_wire::frame::{parse, write_batch};
    use league_wire::message::Ping;
    use league_wire::{Dialect, Envelope, Id, Incoming, Letter, Message, Sender};
    use tokio::net::TcpListener;
    use tokio::sync::{Semaphore, watch};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    /// A manager that answers with the id it was asked with, as often as it is allowed to.
    struct Clerk {
        knows_batches: bool,
        allowed: Semaphore,
        calls: Mutex<Vec<usize>>,
    }

    impl Service for Clerk {
        async fn mcp(&self, body: Bytes, _peer: SocketAddr) -> Answer {
            let result =
                |id: &Id| format!(r#"{{"jsonrpc":"2.0","result":{{}},"id":{}}}"#, id.as_json());
            let (count, answer) = match parse(&body) {
                Incoming::Single(request) => (1, result(&request.unwrap().id.unwrap())),
                Incoming::Batch(_) if !self.knows_batches => {
                    let text =
                        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":""},"id":null}"#;
                    (0, text.into())
                }
                Incoming::Batch(requests) => {
                    let ids = requests.into_iter().rev().map(|request| request.unwrap().id);
                    let answers: Vec<_> = ids.map(|id| result(&id.unwrap())).collect();
                    (answers.len(), String::from_utf8(write_batch(&answers)).unwrap())
                }
            };
            lock(&self.calls).push(count);
            self.allowed.acquire().await.unwrap().forget();
            Answer::json(answer)
        }

        fn page(&self, _path: &str) -> Option<Answer> {
            None
        }
    }

    fn question(exchange: &Exchange) -> Question {
        let envelope = Envelope {
            sender: Sender::LeagueManager(None),
            timestamp: ambient::now(),
            conversation: new_conversation("test"),
            token: None,
            league_id: None,
        };
        exchange.question(Dialect::Flat, &Letter { envelope, message: Message::Ping(Ping {}) })
    }

    /// Posts a letter, and four more while it is out; every one must get its own answer. Gives how
    /// many letters each call brought.
    async fn post_five(knows_batches: bool) -> Vec<usize> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (allowed, calls) = (Semaphore::new(0), Mutex::default());
        let clerk = Arc::new(Clerk { knows_batches, allowed, calls });
        let (stop, stopping) = watch::channel(false);
        let serving = tokio::spawn(serve(listener, clerk.clone(), stopping));
        let referee = Referee::new(&address, Exchange::new(Caller::new("referee/0", PATIENCE)));
        let post = |_| {
            let (referee, question) = (referee.clone(), question(&referee.exchange));
            tokio::spawn(async move {
                let answered = referee.send_with_others(question.clone(), PATIENCE).await.unwrap();
                let body = String::from_utf8(answered.body.to_vec()).unwrap();
                let asked = String::from_utf8(question.body().to_vec()).unwrap();
                let id = |text: &str| text.rsplit_once("\"id\":").unwrap().1.to_string();
                assert_eq!(id(&body), id(&asked));
            })
        };
        let mut sent = vec![post(1)];
        wait_until(|| lock(&clerk.calls).len() == 1).await;
        sent.extend((2..=5).map(post));
        wait_until(|| lock(&referee.mail.0).letters.len() == 4).await;
        clerk.allowed.add_permits(100);
        for sent in sent {
            tokio::time::timeout(PATIENCE, sent).await.expect("it is answered").unwrap();
        }
        stop.send_replace(true);
        serving.await.unwrap();
        lock(&clerk.calls).clone()
    }

    // req: OBS-2
    #[tokio::test]
    async fn what_is_in_no_hurry_goes_with_the_next_letter_or_at_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (allowed, calls) = (Semaphore::new(100), Mutex::default());
        let clerk = Arc::new(Clerk { knows_batches: true, allowed, calls });
        let (stop, stopping) = watch::channel(false);
        let serving = tokio::spawn(serve(listener, clerk.clone(), stopping));
        let referee = Referee::new(&address, Exchange::new(Caller::new("referee/0", PATIENCE)));
        (0..3).for_each(|_| referee.send_some_time(question(&referee.exchange)));
        assert_eq!(lock(&clerk.calls).len(), 0);
        referee.send_with_others(question(&referee.exchange), PATIENCE).await.unwrap();
        assert_eq!(*lock(&clerk.calls), [4]);
        (0..2).for_each(|_| referee.send_some_time(question(&referee.exchange)));
        referee.leave().await;
        assert_eq!(*lock(&clerk.calls), [4, 2]);
        for _ in 0..MENTIONS_MAX + 9 {
            let _watched = referee.mail.mention(question(&referee.exchange));
        }
        assert_eq!(lock(&referee.mail.0).mentions.len(), MENTIONS_MAX);
        stop.send_replace(true);
        serving.await.unwrap();
    }

    async fn wait_until(holds: impl Fn() -> bool) {
        let waiting = async {
            while !holds() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.expect("it holds soon");
    }

    #[tokio::test]
    async fn what_comes_while_a_letter_is_out_goes_together() {
        assert_eq!(post_five(true).await, [1, 4]);
    }

    #[tokio::test]
    async fn whoever_takes_no_batches_gets_letter_by_letter() {
        assert_eq!(post_five(false).await, [1, 0, 1, 1, 1, 1]);
    }
}
