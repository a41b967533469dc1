//! Every guest over real sockets, met by a referee that does everything right.

use std::net::SocketAddr;
use std::sync::Arc;

use league_core::proof::{SentChoice, choice_proof, reply_proof};
use league_wire::message::{Ping, PlayerRegistration, RegisterResponse};
use league_wire::{Dialect, Letter, MessageType, Reply, Sender};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::super::tests::{first, invitation, letter, me, parity_call};
use super::super::{Cast, Hosted, Player, host};
use super::*;
use crate::ambient::Mark;
use crate::caller::{CallError, Caller};
use crate::desk::{self, Desk, refusal};
use crate::endpoint::{Service, serve};
use crate::exchange::{AskError, Exchange};
use crate::register::Application;
use crate::strategy::House;
use league_wire::Parity;
use league_wire::message::ParityResponse;

const PATIENCE: Duration = Duration::from_secs(10);
/// The time that a guest is told it has.
const BUDGET: Duration = Duration::from_millis(200);

/// A player at its endpoint.
struct Table {
    address: String,
    exchange: Exchange,
    _quit: watch::Sender<bool>,
}

impl Table {
    async fn with(cast: Cast) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/mcp", listener.local_addr().unwrap());
        let player: Player = cast.player(1);
        player.enrolment.settle(me());
        let (quit, stop) = watch::channel(false);
        tokio::spawn(serve(listener, Arc::new(player), stop));
        let exchange = Exchange::new(Caller::new("referee/test", PATIENCE));
        Self { address, exchange, _quit: quit }
    }

    async fn ask(&self, message: Message, timeout: Duration) -> Result<Reply, AskError> {
        let expected = [MessageType::GameJoinAck, MessageType::ChooseParityResponse];
        let letter = letter(first(), 1, message);
        self.exchange.ask(&self.address, Dialect::Flat, &letter, &expected, timeout).await
    }

    async fn join(&self, timeout: Duration) -> Result<GameJoinAck, AskError> {
        let budget = u64::try_from(BUDGET.as_millis()).ok();
        let reply = self.ask(invitation(first(), 1, budget), timeout).await?;
        let Message::GameJoinAck(ack) = reply.message else { panic!("{reply:?}") };
        Ok(ack)
    }

    async fn choose(&self, timeout: Duration) -> Result<(ParityResponse, Reply), AskError> {
        let budget = u64::try_from(BUDGET.as_millis()).ok();
        let reply = self.ask(parity_call(Some(1), budget), timeout).await?;
        let Message::ChooseParityResponse(response) = &reply.message else { panic!("{reply:?}") };
        Ok((response.clone(), reply))
    }
}

async fn guest(guest: Guest) -> Table {
    Table::with(Cast::Guest(guest)).await
}

/// Whether `response` proves `choice`.
fn proves(response: &ParityResponse, choice: Parity) -> bool {
    let me = me();
    let nonce = response.nonce.as_deref().unwrap();
    let sent = SentChoice { step: 1, choice: choice.word(), nonce };
    let proof = choice_proof(&me.token, &me.league, first(), 1, sent).expose();
    response.choice_proof.as_deref() == Some(&proof)
}

fn is_signed(reply: &Reply) -> bool {
    let me = me();
    let proof = reply_proof(&me.token, &me.league, first(), 1).expose();
    reply.envelope.token == Some(AuthToken::new(&proof))
}

#[tokio::test]
async fn a_house_player_does_everything_right() {
    for house in House::ALL {
        let table = Table::with(Cast::House(house)).await;
        assert!(table.join(PATIENCE).await.unwrap().accept);
        let (response, reply) = table.choose(PATIENCE).await.unwrap();
        assert_eq!(response.match_id, first());
        assert!(proves(&response, response.choice) && is_signed(&reply), "{}", house.name());
    }
}

#[tokio::test]
async fn the_silent_one_joins_and_does_not_choose() {
    let table = guest(Guest::Silent).await;
    assert!(table.join(PATIENCE).await.unwrap().accept);
    let error = table.choose(BUDGET).await.unwrap_err();
    assert!(matches!(error, AskError::Call(CallError::TimedOut(_))), "{error}");
}

#[tokio::test]
async fn the_slow_one_takes_its_time_and_the_late_one_more_than_that() {
    for (who, least) in [(Guest::Slow, BUDGET / 2), (Guest::Late, BUDGET * 11 / 10)] {
        let table = guest(who).await;
        let asked = Mark::set();
        assert!(table.join(PATIENCE).await.unwrap().accept);
        assert!(asked.elapsed() >= least, "{who:?} {:?}", asked.elapsed());
        let asked = Mark::set();
        let (response, _) = table.choose(PATIENCE).await.unwrap();
        assert!(asked.elapsed() >= least, "{who:?} {:?}", asked.elapsed());
        assert!(proves(&response, response.choice), "{who:?}");
    }
    let error = guest(Guest::Late).await.join(BUDGET).await.unwrap_err();
    assert!(matches!(error, AskError::Call(CallError::TimedOut(_))), "{error}");
}

#[tokio::test]
async fn garbage_is_no_answer() {
    let table = guest(Guest::Garbage).await;
    assert!(table.join(PATIENCE).await.unwrap().accept);
    let error = table.choose(PATIENCE).await.unwrap_err();
    assert!(matches!(error, AskError::Frame { status: 200, .. }), "{error}");
}

#[tokio::test]
async fn a_wrong_token_a_wrong_match_and_a_lie_are_each_the_only_thing_wrong() {
    for who in [Guest::WrongToken, Guest::WrongMatch, Guest::Liar] {
        let table = guest(who).await;
        assert!(table.join(PATIENCE).await.unwrap().accept, "{who:?}");
        let (response, reply) = table.choose(PATIENCE).await.unwrap();
        assert_eq!(is_signed(&reply), who != Guest::WrongToken, "{who:?}");
        assert!(reply.envelope.token.is_some(), "{who:?}");
        assert_eq!(response.match_id == first(), who != Guest::WrongMatch, "{who:?}");
        assert_eq!(proves(&response, response.choice), who != Guest::Liar, "{who:?}");
        let other = match response.choice {
            Parity::Even => Parity::Odd,
            Parity::Odd => Parity::Even,
        };
        assert_eq!(proves(&response, other), who == Guest::Liar, "{who:?}");
    }
}

#[tokio::test]
async fn the_refuser_says_no_and_why() {
    let ack = guest(Guest::Refuser).await.join(PATIENCE).await.unwrap();
    assert!(!ack.accept && ack.reason.is_some(), "{ack:?}");
}

#[tokio::test]
async fn the_flaky_one_hangs_up_fails_or_plays() {
    let table = guest(Guest::Flaky).await;
    let (mut hung_up, mut failed, mut joined) = (0, 0, 0);
    for _ in 0..64 {
        match table.join(PATIENCE).await {
            Ok(_) => joined += 1,
            Err(AskError::Frame { status: 500, .. }) => failed += 1,
            Err(AskError::Call(CallError::Broken(_) | CallError::NotConnected(_))) => hung_up += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(hung_up > 0 && failed > 0 && joined > 0, "{hung_up} {failed} {joined}");
    let moods = |seed| {
        let mut dice = SeededDice::new(seed);
        (0..64).map(|_| mood(&mut dice).map(|answer| answer.status)).collect::<Vec<_>>()
    };
    assert_eq!(moods(1), moods(1));
    assert_ne!(moods(1), moods(2));
}

/// A manager that lets everybody in.
#[derive(Default)]
struct Office(Mutex<Vec<PlayerRegistration>>);

impl Desk for Office {
    async fn receive(
        &self,
        letter: Letter,
        _: Dialect,
        _: SocketAddr,
    ) -> Result<Signed, Box<league_wire::message::ErrorReport>> {
        let Message::LeagueRegisterRequest(registration) = letter.message else {
            return Err(refusal(league_wire::Code::MethodNotFound, "no"));
        };
        let mut known = lock(&self.0);
        known.push(registration);
        let id: PlayerId = format!("P{:02}", known.len()).parse().unwrap();
        let token = AuthToken::new(&format!("tok_of_{id}"));
        let accepted = RegisterResponse::Accepted { id, token, note: None };
        let message = Message::LeagueRegisterResponse(accepted);
        Ok(Signed { league: Some(me().league), ..message.into() })
    }

    fn sender(&self) -> Sender {
        Sender::LeagueManager(None)
    }

    fn error(&self, report: league_wire::message::ErrorReport) -> Message {
        Message::LeagueError(report)
    }
}

impl Service for Office {
    async fn mcp(&self, body: bytes::Bytes, peer: SocketAddr) -> Answer {
        desk::answer(self, &body, peer).await
    }

    fn page(&self, _: &str) -> Option<Answer> {
        None
    }
}

fn application(manager: String) -> Application {
    let meta = league_wire::message::Meta {
        display_name: "in place of a name".into(),
        version: "1.0.0".into(),
        protocol_version: None,
        game_types: vec!["even_odd".parse().unwrap()],
        contact_endpoint: None,
        contact_email: None,
        max_concurrent_matches: None,
        dialect: None,
        batch: true,
        pull: false,
        join: None,
    };
    let dialect = Dialect::Flat;
    Application {
        manager,
        league: None,
        dialect,
        meta,
        timeout: PATIENCE,
        troubles: None,
        keep: None,
    }
}

#[tokio::test]
async fn many_players_live_in_one_process() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let manager = format!("http://{}/mcp", listener.local_addr().unwrap());
    let office = Arc::new(Office::default());
    let (quit, stop) = watch::channel(false);
    let managing = tokio::spawn(serve(listener, office.clone(), stop.clone()));
    let casts = [Cast::House(House::Pattern), Cast::Guest(Guest::Liar)];
    let players = Hosted::line_up(&casts, 5, 7, SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let exchange = Exchange::new(Caller::new("player/test", PATIENCE));
    let hosting = tokio::spawn(host(players, exchange.clone(), application(manager), stop));
    while lock(&office.0).len() < 5 {
        tokio::task::yield_now().await;
    }
    let metas: Vec<_> = lock(&office.0).iter().map(|known| known.meta.clone()).collect();
    let ping = letter(first(), 1, Message::Ping(Ping {}));
    for (number, meta) in (1..).zip(&metas) {
        let part = if number % 2 == 1 { "pattern" } else { "liar" };
        assert_eq!(meta.display_name, format!("Player {number} ({part})"));
        let address = meta.contact_endpoint.as_deref().unwrap();
        let expected = [MessageType::Pong];
        let pong = exchange.ask(address, Dialect::Flat, &ping, &expected, PATIENCE).await;
        assert_eq!(pong.unwrap().message.kind(), MessageType::Pong);
    }
    quit.send_replace(true);
    tokio::time::timeout(PATIENCE, hosting).await.expect("they leave").unwrap().unwrap();
    managing.await.unwrap();
}

#[tokio::test]
async fn who_is_not_let_in_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let manager = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let (_quit, stop) = watch::channel(false);
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let players = Hosted::line_up(&[Cast::House(House::Even)], 2, 7, listen).unwrap();
    let exchange = Exchange::new(Caller::new("player/test", PATIENCE));
    let error = host(players, exchange, application(manager), stop).await.unwrap_err();
    assert!(error.to_string().starts_with("Player 1 (even): "), "{error}");
}
