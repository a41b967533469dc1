//! A small referee that does everything right but one thing: the service.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use league_agent::ambient;
use league_agent::caller::Caller;
use league_agent::exchange::{Exchange, new_conversation};
use league_agent::keep::Keep;
use league_agent::register::{self, Application, Membership};
use league_core::id::{ConversationId, MatchId, RefereeId};
use league_core::seat::Seats;
use league_wire::dialect::{decode_request, encode_answer, encode_refusal};
use league_wire::frame::{Incoming, Request, parse};
use league_wire::message::{Ack, ErrorReport, Meta, Pong, StartMatch, StartMatchAck};
use league_wire::{AuthToken, Code, Decision, Dialect, Envelope, Letter, Message, Sender};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::back::Manager;
use super::front::{Asked, Ended, Front, Told, serve};
use super::officiate::Match;
use super::player::{PATIENCE, starts, told, variable};

/// Runs until somebody ends the process.
pub(super) async fn run(broken: &str) {
    let (port, data): (u16, _) =
        (variable("PORT").parse().unwrap(), PathBuf::from(variable("DATA")));
    if starts(&data) == 2 && broken == "referee.service.restart" {
        return;
    }
    let front = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await.unwrap();
    let back = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let keep = (broken != "referee.service.same-referee").then(|| Keep::new(data.join("kept")));
    let application = Application {
        manager: format!("http://{}/mcp", back.local_addr().unwrap()),
        league: None,
        dialect: Dialect::Flat,
        meta: meta(port),
        timeout: PATIENCE,
        troubles: None,
        keep,
    };
    let referee = Arc::new(Referee {
        broken: broken.into(),
        me: OnceLock::new(),
        exchange: Exchange::new(Caller::new("referee/1.0.0", PATIENCE)),
        running: Mutex::default(),
        tasks: Mutex::default(),
        sulks: Mutex::default(),
    });
    let manager = Arc::new(Manager::new(broken, |_| {}));
    let joining = async {
        let me = register::referee(&referee.exchange, &application).await.unwrap();
        referee.me.set(me).unwrap();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = serve(back, manager) => {}
        () = serve(front, Arc::new(referee.clone())) => {}
        () = joining => {}
    }
}

fn meta(port: u16) -> Meta {
    Meta {
        display_name: "Breakable".into(),
        version: "1.0.0".into(),
        protocol_version: Some("2.1.0".into()),
        game_types: vec!["even_odd".parse().unwrap()],
        contact_endpoint: Some(format!("http://127.0.0.1:{port}/mcp")),
        contact_email: None,
        max_concurrent_matches: Some(16),
        dialect: None,
        batch: false,
        pull: false,
        join: None,
    }
}

pub(super) struct Referee {
    broken: String,
    me: OnceLock<Membership<RefereeId>>,
    pub(super) exchange: Exchange,
    running: Mutex<BTreeMap<MatchId, Running>>,
    tasks: Mutex<JoinSet<()>>,
    /// Whether it refuses the next match because of garbage that it got.
    sulks: Mutex<bool>,
}

struct Running {
    attempt: u32,
    conversation: ConversationId,
    inbox: Seats<mpsc::Sender<Letter>>,
    order: StartMatch,
    task: AbortHandle,
}

/// What is said to a letter.
enum Answered {
    Yes(Box<Message>),
    No(ErrorReport),
}

fn no(code: Code, text: &str) -> Answered {
    Answered::No(ErrorReport::new(code, text))
}

impl Referee {
    pub(super) fn is(&self, case: &str) -> bool {
        self.broken.strip_prefix("referee.") == Some(case)
    }

    pub(super) fn me(&self) -> &Membership<RefereeId> {
        self.me.get().unwrap()
    }

    pub(super) fn envelope(&self, conversation: ConversationId, token: &str) -> Envelope {
        Envelope {
            sender: Sender::Referee(self.me().id.to_string().into()),
            timestamp: ambient::now(),
            conversation,
            token: Some(AuthToken::new(token)),
            league_id: Some(self.me().league.clone()),
        }
    }

    fn start(self: &Arc<Self>, envelope: &Envelope, order: StartMatch) -> Answered {
        let shown = envelope.token.as_ref().map_or("", |token| token.reveal());
        if !self.me().token.matches(shown) && !self.is("order.forged") {
            return no(Code::E012, "not my manager");
        }
        if std::mem::take(&mut *self.sulks.lock().unwrap()) {
            return no(Code::Internal, "I do not feel well");
        }
        if order.game_type.as_str() != "even_odd" && !self.is("order.unknown-game") {
            return no(Code::G003, "never heard of it");
        }
        let mut running = self.running.lock().unwrap();
        let known = running.get(&order.match_id).map(|known| known.attempt);
        let is_again = known == Some(order.attempt) && !self.is("order.twice");
        if order.attempt == 2 && self.is("order.later-attempt") {
            return no(Code::E030, "once is enough");
        }
        let is_refused = self.is("order.accepts");
        let ack = StartMatchAck {
            match_id: order.match_id,
            attempt: order.attempt + u32::from(self.is("order.names-match")),
            status: if is_refused { Decision::Rejected } else { Decision::Accepted },
            reason: None,
            draw_commitment: order.draw_commitment.clone(),
        };
        if is_again || is_refused {
            return Answered::Yes(Message::StartMatchAck(ack).into());
        }
        if let Some(known) =
            running.get(&order.match_id).filter(|known| known.attempt == 1 && order.attempt == 2)
        {
            known.task.abort();
        }
        let busy = running.values().filter(|known| !known.task.is_finished()).count();
        let is_forgotten = busy >= 3 && self.is("service.several");
        let conversation = match self.is("match.new-conversation") {
            true => "always-the-same".parse().unwrap(),
            false => new_conversation("conv"),
        };
        let ((a, answers_a), (b, answers_b)) = (mpsc::channel(16), mpsc::channel(16));
        let (inbox, answers) = (Seats::new(a, b), Seats::new(answers_a, answers_b));
        let game = Match::new(self.clone(), order.clone(), conversation.clone(), answers);
        let task = self.tasks.lock().unwrap().spawn(async move {
            if !is_forgotten {
                game.run().await;
            }
        });
        let (attempt, match_id) = (order.attempt, order.match_id);
        running.insert(match_id, Running { attempt, conversation, inbox, order, task });
        Answered::Yes(Message::StartMatchAck(ack).into())
    }

    /// A choice that comes as a call of its own.
    fn late(&self, letter: Letter, match_id: MatchId) -> Answered {
        if self.is("trust.answer-apart") {
            return no(Code::MethodNotFound, "not like this");
        }
        let running = self.running.lock().unwrap();
        let known = running.get(&match_id);
        let known = match known {
            Some(known) if known.conversation == letter.envelope.conversation => known,
            _ if self.is("trust.stray-answer") => {
                return Answered::Yes(Message::Ack(Ack { of: None }).into());
            }
            _ => return no(Code::G003, "no such match"),
        };
        let sender = letter.envelope.sender.to_string();
        let mut players = known.order.players.iter();
        let player = players.find(|(_, player)| sender == format!("player:{}", player.player_id));
        let Some((seat, player)) = player else {
            return no(Code::E012, "not a player of this match");
        };
        if letter.envelope.token != player.reply_proof && !self.is("trust.impostor") {
            return no(Code::E012, "not the proof of this match");
        }
        known.inbox[seat].try_send(letter).unwrap();
        Answered::Yes(Message::Ack(Ack { of: None }).into())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not for referees is refused")]
    fn receive(self: &Arc<Self>, letter: Letter) -> Answered {
        match letter.message {
            Message::StartMatch(order) => self.start(&letter.envelope, order),
            Message::ChooseParityResponse(ref choice) => {
                let match_id = choice.match_id;
                self.late(letter, match_id)
            }
            Message::Ping(_) if !self.is("service.ping") => {
                Answered::Yes(Message::Pong(Pong { state: None }).into())
            }
            _ => no(Code::MethodNotFound, "not for referees"),
        }
    }

    fn respond(self: &Arc<Self>, request: &Request<'_>) -> Vec<u8> {
        let unknown = match self.is("service.unknown-method") {
            true => Code::Internal,
            false => Code::MethodNotFound,
        };
        let (dialect, conversation, outcome) = match decode_request(request) {
            Ok(decoded) => {
                let conversation = decoded.letter.envelope.conversation.clone();
                (decoded.dialect, conversation, self.receive(decoded.letter))
            }
            Err(error) => {
                let outcome = no(unknown, &error.to_string());
                (Dialect::Flat, new_conversation("err"), outcome)
            }
        };
        let token = self.me().token.expose().to_string();
        let envelope = self.envelope(conversation, &token);
        match outcome {
            Answered::Yes(message) => {
                let message = *message;
                encode_answer(dialect, request, &Letter { envelope, message }).unwrap()
            }
            Answered::No(report) => {
                let message = Message::GameError(report);
                encode_refusal(dialect, request, &Letter { envelope, message })
            }
        }
    }
}

/// A referee behind its front.
impl Front for Arc<Referee> {
    async fn answer(&self, asked: Asked) -> Option<Told> {
        if asked.get {
            let is_there = asked.path == "/health" && !self.is("service.health");
            return Some(told(if is_there { 200 } else { 404 }, b"{}".to_vec()));
        }
        while self.me.get().is_none() {
            tokio::task::yield_now().await;
        }
        let body = match parse(&asked.body) {
            Incoming::Single(Ok(request)) => self.respond(&request),
            Incoming::Single(Err(error)) => {
                *self.sulks.lock().unwrap() = self.is("service.survives-garbage");
                match self.is("service.parse-error") {
                    true => {
                        br#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#.to_vec()
                    }
                    false => error.answer(),
                }
            }
            Incoming::Batch(_) => b"[]".to_vec(),
        };
        Some(told(200, body))
    }

    fn ended(&self, _: Ended) {}

    fn is_single(&self) -> bool {
        false
    }
}
