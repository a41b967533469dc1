//! One match that the referee under test runs: the checker is its manager and both its players.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use league_agent::ambient::{self, OsDice};
use league_agent::endpoint::serve;
use league_core::dice::Dice;
use league_core::draw::{Draw, Seed};
use league_core::id::{AgentId, MatchId, PlayerId, RefereeId};
use league_core::proof::{Token, hex, match_proof, reply_proof};
use league_core::seat::{Seat, Seats};
use league_wire::dialect::encode_request;
use league_wire::message::{
    AssignedPlayer, ErrorReport, MatchProgressAck, MatchResultAck, MatchResultReport, StartMatch,
    StartMatchAck,
};
use league_wire::{
    AuthToken, Code, Decision, Dialect, DrawSeed, Envelope, Fragment, Letter, Message, MessageType,
    Parity,
};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::guest::{Guest, Manner, Sent, Who};
use super::notebook::{Ear, Note, Notebook};
use crate::answer::Asked;
use crate::bench::Bench;
use crate::limits::{ORDER_TIME, REPORT_TIME, WORST_TIME};
use crate::stage::{Answering, Office};
use crate::transcript::Way;
use crate::verdict::Halt;

/// What the manager does with reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reception {
    /// Records them at once.
    Prompt,
    /// Records them after this time.
    Slow(Duration),
    /// Cannot write its books the first time.
    BusyOnce,
}

/// How a match is set up.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) manners: Seats<Manner>,
    pub(super) reception: Reception,
    pub(super) rules: &'static [(&'static str, &'static str)],
    pub(super) attempt: u32,
    pub(super) match_id: Option<MatchId>,
    pub(super) dialects: Option<Seats<Dialect>>,
}

/// Times that are long enough for a busy machine.
const USUAL: &[(&str, &str)] = &[
    ("invitation_timeout", "4s"),
    ("choice_timeout", "4s"),
    ("choice_backoff", "fixed 500ms"),
    ("report_backoff", "fixed 300ms"),
    ("game_over_timeout", "2s"),
];
/// Times that are short, for players from whom no answer comes.
pub(super) const HURRIED: &[(&str, &str)] = &[
    ("invitation_timeout", "1s"),
    ("choice_timeout", "1s"),
    ("choice_backoff", "fixed 600ms"),
    ("report_backoff", "fixed 300ms"),
    ("game_over_timeout", "1s"),
];

impl Default for Setup {
    fn default() -> Self {
        let manners = Seats::new(Manner::choosing(Parity::Even), Manner::choosing(Parity::Odd));
        let (reception, rules) = (Reception::Prompt, USUAL);
        Self { manners, reception, rules, attempt: 1, match_id: None, dialects: None }
    }
}

/// A match at the referee under test.
#[derive(Debug)]
pub(super) struct Bout<'a> {
    pub(super) bench: &'a Bench,
    pub(super) match_id: MatchId,
    pub(super) attempt: u32,
    pub(super) guests: Seats<Arc<Guest>>,
    pub(super) notebook: Arc<Notebook>,
    pub(super) seed: Seed,
    pub(super) own_token: Option<Token>,
    addresses: Seats<SocketAddr>,
    dialects: Seats<Dialect>,
    rules: BTreeMap<String, String>,
}

impl<'a> Bout<'a> {
    /// Seats the players; nothing is sent yet.
    pub(super) async fn new(bench: &'a Bench, setup: Setup) -> Result<Self, Halt> {
        let match_id = setup.match_id.unwrap_or_else(|| bench.next_match());
        let notebook = Arc::new(Notebook::new(bench.transcript.clone()));
        let (stop, stopping) = watch::channel(false);
        let mut serving = JoinSet::new();
        let (mut guests, mut addresses) = (Vec::new(), Vec::new());
        let Setup { manners: Seats { a, b }, attempt, .. } = setup;
        for (seat, manner) in [(Seat::A, a), (Seat::B, b)] {
            let ours = |error: std::io::Error| Halt::Ours(error.to_string());
            let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
            let listener = TcpListener::bind(anywhere).await.map_err(ours)?;
            addresses.push(listener.local_addr().map_err(ours)?);
            let id = PlayerId::new(if seat == Seat::A { 1 } else { 2 });
            let token = bench.subject.stage.token(AgentId::Player(id));
            let who = Who { seat, id, token, league: bench.me().league, attempt };
            let guest = Arc::new(Guest::new(who, manner, notebook.clone(), caller(bench)));
            serving.spawn(serve(listener, guest.clone(), stopping.clone()));
            guests.push(guest);
        }
        // They stay at their addresses: what is sent late must not reach the next match's players.
        bench.subject.keep(stop, serving);
        let [a, b] = [guests.remove(0), guests.remove(0)];
        let office = Books { notebook: notebook.clone(), reception: setup.reception };
        bench.subject.stage.open(match_id, Arc::new(office));
        let mut bytes = [0; 32];
        OsDice.fill(&mut bytes);
        let seed = hex(&bytes).parse();
        let rules = setup.rules.iter().map(|(key, value)| ((*key).into(), (*value).into()));
        let dialect = bench.dialect();
        Ok(Self {
            bench,
            match_id,
            attempt,
            guests: Seats::new(a, b),
            notebook,
            seed: seed.map_err(|_| Halt::Ours("a seed that is none".into()))?,
            own_token: bench.me().token,
            addresses: Seats::new(addresses[0], addresses[1]),
            dialects: setup.dialects.unwrap_or_else(|| Seats::new(dialect, dialect)),
            rules: rules.collect(),
        })
    }

    pub(super) fn referee(&self) -> RefereeId {
        match self.bench.me().id {
            AgentId::Referee(id) => id,
            AgentId::Player(_) => RefereeId::new(1),
        }
    }

    fn draw(&self) -> Draw {
        Draw::new(&self.bench.me().league, self.match_id, 0)
    }

    /// What the number must be, if the referee draws with the seed it was given.
    pub(super) fn number(&self, nonces: Seats<&str>) -> u8 {
        self.draw().number(&self.seed, nonces)
    }

    pub(super) fn start_match(&self) -> StartMatch {
        let assigned = |seat: Seat| {
            let guest = &self.guests[seat];
            let (token, league) = (&guest.token, &guest.league);
            let proof = match_proof(token, league, self.match_id, self.attempt, self.referee());
            let reply = reply_proof(token, league, self.match_id, self.attempt);
            AssignedPlayer {
                player_id: guest.id,
                endpoint: format!("http://{}/mcp", self.addresses[seat]),
                dialect: self.dialects[seat],
                relayed: false,
                match_proof: Some(AuthToken::new(&proof.expose())),
                reply_proof: Some(AuthToken::new(&reply.expose())),
                token_hash: Some(token.hash().to_string()),
                your_standings: Fragment::parse("{\"wins\":7,\"losses\":1,\"draws\":2}"),
                game_history: Fragment::parse("[{\"match_id\":\"R77M1\",\"result\":\"WIN\"}]"),
            }
        };
        StartMatch {
            match_id: self.match_id,
            round_id: self.match_id.round,
            attempt: self.attempt,
            rematch: 0,
            game_type: super::even_odd(),
            rules: self.rules.clone(),
            players: Seats::new(assigned(Seat::A), assigned(Seat::B)),
            draw_commitment: Some(self.draw().commitment(&self.seed).to_string()),
            draw_seed: Some(DrawSeed::new(&self.seed.reveal())),
            standings: Fragment::parse("[{\"rank\":1,\"player_id\":\"P01\",\"points\":23}]"),
            scheduled_start: Some(ambient::now()),
            result_deadline: Some(ambient::now() + WORST_TIME),
            lease_ms: Some(120_000),
            lenient: false,
        }
    }

    /// The order, as the manager sends it.
    pub(super) fn order(&self) -> Letter {
        self.bench.from_manager(Message::StartMatch(self.start_match()))
    }

    /// The acknowledgement that should come.
    pub(super) fn ack(&self) -> Letter {
        self.bench.from_agent(Message::StartMatchAck(StartMatchAck {
            match_id: self.match_id,
            attempt: self.attempt,
            status: Decision::Accepted,
            reason: None,
            draw_commitment: None,
        }))
    }

    pub(super) fn read_ack(&self, asked: &Asked) -> Result<StartMatchAck, Halt> {
        let reply = asked.reply(&[MessageType::StartMatchAck], &self.ack())?;
        let Message::StartMatchAck(ack) = reply.message else {
            return Err(Halt::Ours("an acknowledgement was read as something else".into()));
        };
        Ok(ack)
    }

    /// A referee that refuses us because we cannot prove anything has done nothing wrong.
    pub(super) fn unguarded(&self, asked: &Asked) -> Result<(), Halt> {
        let is_refused = || matches!(asked.refused(&self.ack()), Ok(Some(_)));
        if self.bench.me().token.is_none() && is_refused() {
            return Err(Halt::skip(
                "it believes only its manager, and its token is not known: use --start, --listen, \
                 or --token and --league",
            ));
        }
        Ok(())
    }

    /// Gives the match to the referee, for cases that are about what follows.
    pub(super) async fn start(&self) -> Result<StartMatchAck, Halt> {
        let asked = self.bench.ask(&self.order(), ORDER_TIME).await;
        self.unguarded(&asked)?;
        let told = |halt: Halt| halt.unless_told_by("referee.order.accepts");
        let ack = self.read_ack(&asked).map_err(told)?;
        if ack.status == Decision::Accepted {
            return Ok(ack);
        }
        Err(Halt::skip("what it builds on fails: see referee.order.accepts"))
    }

    /// Waits for the report of the match.
    pub(super) async fn report(
        &self,
        limit: Duration,
    ) -> Result<Option<(MatchResultReport, Envelope)>, Halt> {
        let kind = MessageType::MatchResultReport;
        let came = tokio::select! {
            came = self.notebook.hears(Ear::Manager, kind, 1, limit) => came,
            // A program that has ended reports nothing any more.
            true = ended(self.bench, limit) => false,
        };
        if !came {
            return Ok(None);
        }
        let notes = self.notebook.heard(Ear::Manager, kind);
        let letter = notes.into_iter().next().and_then(|note| note.letter.ok());
        match letter {
            Some(Letter { envelope, message: Message::MatchResultReport(report) }) => {
                Ok(Some((report, envelope)))
            }
            _ => Err(Halt::Ours("a report was noted that cannot be found".into())),
        }
    }

    /// Whether ordinary matches are reported at all; asked once in a run. Without it nothing can be
    /// said of others.
    pub(super) async fn founded(&self) -> Result<(), Halt> {
        let plays = || async {
            let Ok(bout) = Bout::new(self.bench, Setup::default()).await else { return false };
            let started = bout.start().await.is_ok();
            started && matches!(bout.report(REPORT_TIME).await, Ok(Some(_)))
        };
        if *self.bench.subject.founded.get_or_init(plays).await {
            return Ok(());
        }
        Err(Halt::skip("what it builds on fails: see referee.report.comes"))
    }

    /// Plays an ordinary match to its report, for cases that look at a part of it.
    pub(super) async fn play(&self) -> Result<(MatchResultReport, Envelope), Halt> {
        self.start().await?;
        let report = self.report(REPORT_TIME).await?;
        report.ok_or_else(|| Halt::skip("what it builds on fails: see referee.report.comes"))
    }

    /// The same, and waits until both players know the result, or surely never will.
    pub(super) async fn play_out(&self) -> Result<(MatchResultReport, Envelope), Halt> {
        let played = self.play().await?;
        for seat in Seat::BOTH {
            let ear = Ear::Player(seat);
            self.notebook.hears(ear, MessageType::GameOver, 1, ORDER_TIME).await;
        }
        Ok(played)
    }

    pub(super) fn notes(&self, seat: Seat, kind: MessageType) -> Vec<Note> {
        self.notebook.heard(Ear::Player(seat), kind)
    }

    /// Everything that a player was sent.
    pub(super) fn sent_to(&self, seat: Seat) -> Vec<Note> {
        let is_theirs = |note: &Note| note.ear == Ear::Player(seat);
        self.notebook.notes().into_iter().filter(is_theirs).collect()
    }
}

/// Waits until the agent's process has ended, if the checker started it.
async fn ended(bench: &Bench, limit: Duration) -> bool {
    match &bench.subject.agent {
        Some(agent) => agent.ended_within(limit).await,
        None => false,
    }
}

/// How a guest reaches the referee with a call of its own.
fn caller(bench: &Bench) -> Sent {
    let (subject, transcript) = (bench.subject.clone(), bench.transcript.clone());
    Sent(Box::new(move |letter| {
        let bench = Bench { subject: subject.clone(), transcript: transcript.clone() };
        Box::pin(async move {
            let body = encode_request(bench.dialect(), bench.next_id(), &letter);
            // What becomes of it shows in the result.
            let _whatever = bench.post(&body, ORDER_TIME).await;
        })
    }))
}

/// The manager's books of one match.
#[derive(Debug)]
struct Books {
    notebook: Arc<Notebook>,
    reception: Reception,
}

impl Office for Books {
    #[expect(clippy::wildcard_enum_match_arm, reason = "an office is shown nothing else")]
    fn receive<'a>(&'a self, letter: &'a Letter) -> Answering<'a> {
        Box::pin(async move {
            let known = self.notebook.heard(Ear::Manager, MessageType::MatchResultReport).len();
            self.notebook.note(Ear::Manager, Ok(letter.clone()), Dialect::Flat, "");
            match &letter.message {
                Message::MatchResultReport(report) => {
                    match self.reception {
                        Reception::Slow(time) => tokio::time::sleep(time).await,
                        Reception::BusyOnce if known == 0 => {
                            let text = "the books cannot be written just now";
                            return Err(Box::new(ErrorReport::new(Code::E033, text)));
                        }
                        Reception::BusyOnce | Reception::Prompt => {}
                    }
                    Ok(Message::MatchResultAck(MatchResultAck {
                        match_id: report.match_id,
                        duplicate: known > 0,
                        standings_updated: true,
                        assignments: vec![],
                    }))
                }
                Message::MatchProgress(progress) => {
                    Ok(Message::MatchProgressAck(MatchProgressAck {
                        match_id: progress.match_id,
                        attempt: progress.attempt,
                        status: Decision::Accepted,
                        lease_ms: Some(120_000),
                        draw_seed: None,
                    }))
                }
                _ => Err(Box::new(ErrorReport::new(Code::E003, "not about a match"))),
            }
        })
    }

    fn saw(&self, body: &str, answer: &[u8]) {
        self.notebook.show(Ear::Manager, Way::Came, body.as_bytes());
        self.notebook.show(Ear::Manager, Way::Sent, answer);
    }
}
