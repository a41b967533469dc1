//! A practice room: an office, house players, and a referee for each match.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use league_agent::ambient;
use league_agent::caller::Caller;
use league_agent::endpoint::serve;
use league_agent::exchange::{Exchange, new_conversation};
use league_agent::guard;
use league_agent::player::Cast;
use league_agent::register::{Application, Membership, RegisterError};
use league_agent::targets::Targets;
use league_core::game::{self, Game};
use league_core::id::{PlayerId, RefereeId};
use league_core::manager::ProtocolVersion;
use league_core::policy::Policy;
use league_core::proof::{Token, match_proof, reply_proof};
use league_core::seat::{Seat, Seats};
use league_wire::message::{AssignedPlayer, Meta, StartMatch};
use league_wire::{AuthToken, Dialect, DrawSeed, Envelope, Letter, Message, MessageType, Sender};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::go_between::{GoBetween, Seen};
use super::ledger::Ledger;
use super::office::{Office, Told};
use super::{Drill, Fault, Numbers, PracticeError, Practised, Pupil, Terms};
use crate::limits::{PRACTICE_PATIENCE, PRACTICE_SLACK};
use crate::referee::Referee;

const REFEREE_AGENT: &str = concat!("referee/", env!("CARGO_PKG_VERSION"));
const PLAYER_AGENT: &str = concat!("player/", env!("CARGO_PKG_VERSION"));
const MANAGER_AGENT: &str = concat!("league_manager/", env!("CARGO_PKG_VERSION"));

/// A room in which one agent practises, a match at a time.
#[derive(Debug)]
pub struct Room {
    pupil: Pupil,
    terms: Terms,
    game: Arc<dyn Game>,
    office: Arc<Office>,
    /// Where the office is called.
    address: String,
    /// Whom the referee calls.
    targets: Targets,
    /// The house players that have been asked for so far, by name.
    partners: BTreeMap<&'static str, Partner>,
    ledger: Ledger,
    played: u32,
    stop: watch::Sender<bool>,
    serving: JoinSet<Result<(), RegisterError>>,
}

/// A house player that waits for its match.
#[derive(Debug, Clone)]
struct Partner {
    membership: Membership<PlayerId>,
    at: SocketAddr,
}

impl Room {
    /// A room for `pupil`, whose referee calls only whom `targets` allow, and our own.
    ///
    /// # Errors
    /// If there is no such game, or no port.
    pub async fn open(
        pupil: Pupil,
        terms: Terms,
        numbers: Numbers,
        targets: Targets,
    ) -> Result<Self, PracticeError> {
        let game = game::by_name(terms.game.as_str());
        let game = game.ok_or_else(|| PracticeError::NoGame(terms.game.clone()))?;
        let (listener, at) = listen().await?;
        let address = endpoint(at);
        let office = Office::new(pupil.league.clone(), numbers.referee, numbers.house);
        let (office, stop) = (Arc::new(office), watch::Sender::new(false));
        let mut serving = JoinSet::new();
        let served = serve(listener, office.clone(), stop.subscribe());
        serving.spawn(async move {
            served.await;
            Ok(())
        });
        let (partners, played, mut ledger) = (BTreeMap::new(), 0, Ledger::default());
        ledger.open(pupil.id, "You".into());
        Ok(Self {
            pupil,
            terms,
            game,
            office,
            address,
            targets,
            partners,
            ledger,
            played,
            stop,
            serving,
        })
    }

    /// Plays one match.
    ///
    /// # Errors
    /// If we could not; what the agent does wrong is no error.
    pub async fn play(&mut self, drill: &Drill) -> Result<Practised, PracticeError> {
        let partner = self.partner(drill.against).await?;
        // Sides alternate, where they differ.
        let seat = if self.played.is_multiple_of(2) { Seat::A } else { Seat::B };
        self.played += 1;
        let policy = self.policy(drill.fault).clone();
        let between = match drill.fault {
            Some(fault) => Some(Between::stand(fault, &self.pupil, &self.targets, &policy).await?),
            None => None,
        };
        let order = self.order(drill, (seat, between.as_ref()), &partner);
        let mut heard = self.office.expect(drill.match_id);
        let whistle = self.whistle(between.as_ref()).await?;
        let patience = policy.longest_match(self.game.steps_max()) + PRACTICE_SLACK;
        let begun = self.begin(&whistle, order).await;
        let over = match begun {
            Ok(()) => {
                let over = heard.wait_for(|(_, told)| told.is_over());
                tokio::time::timeout(patience, over).await.is_ok()
            }
            Err(_) => false,
        };
        // What was said after the report comes when the referee leaves.
        whistle.leave().await;
        let seen = match between {
            Some(between) => Some(between.leave().await),
            None => None,
        };
        begun?;
        let told = heard.borrow().1.clone();
        if !over {
            return Err(PracticeError::NoReport(drill.match_id));
        }
        self.judge(drill, seat, &told, seen)
    }

    /// Sends everybody home.
    pub async fn close(mut self) {
        self.stop.send_replace(true);
        while let Some(left) = self.serving.join_next().await {
            // How a house player leaves changes nothing for anybody.
            drop(guard::outcome(left));
        }
    }

    fn judge(
        &mut self,
        drill: &Drill,
        seat: Seat,
        told: &Told,
        seen: Option<Seen>,
    ) -> Result<Practised, PracticeError> {
        let Some(report) = &told.report else {
            let why = told.annulled.clone().unwrap_or_default();
            return Err(PracticeError::Annulled(why));
        };
        self.ledger.note(report);
        let practised = Practised::new(*drill, (self.pupil.id, seat), report, told);
        self.pupil.dialect = practised.dialect;
        Ok(match seen {
            Some(seen) => practised.seen_by(seen, self.pupil.id),
            None => practised,
        })
    }

    /// The house player `cast`, which comes when it is asked for the first time.
    async fn partner(&mut self, cast: Cast) -> Result<Partner, PracticeError> {
        if let Some(partner) = self.partners.get(cast.name()) {
            return Ok(partner.clone());
        }
        let (listener, at) = listen().await?;
        let number = u64::try_from(self.partners.len()).unwrap_or(0);
        let player = Arc::new(cast.player(self.terms.seed.wrapping_add(number)));
        let mut membership = player.membership();
        let name = format!("House player ({cast})");
        let application = self.application(name.clone(), at);
        let exchange = own_exchange(PLAYER_AGENT);
        self.serving.spawn(player.run(listener, exchange, application, self.stop.subscribe()));
        let membership = settled(&mut membership).await?;
        self.ledger.open(membership.id, name);
        let partner = Partner { membership, at };
        self.partners.insert(cast.name(), partner.clone());
        Ok(partner)
    }

    /// A referee of its own for the next match.
    async fn whistle(&self, between: Option<&Between>) -> Result<Whistle, PracticeError> {
        let (listener, at) = listen().await?;
        let manager = own_exchange(REFEREE_AGENT);
        let own = self.partners.values().map(|partner| partner.at);
        let own = own.chain(between.map(|between| between.at));
        let targets = own.fold(self.targets.clone(), Targets::and_at);
        let connect_timeout = self.terms.policy.http_timeout();
        let players = Exchange::new(Caller::within(targets, REFEREE_AGENT, connect_timeout));
        let referee = Referee::within(&self.address, manager, players);
        let mut membership = referee.membership();
        let application = self.application("Practice referee".into(), at);
        let (stop, mut running) = (watch::Sender::new(false), JoinSet::new());
        running.spawn(referee.run(listener, application, stop.subscribe()));
        let membership = settled(&mut membership).await?;
        Ok(Whistle { endpoint: endpoint(at), membership, stop, running })
    }

    async fn begin(&self, whistle: &Whistle, order: StartMatch) -> Result<(), PracticeError> {
        let exchange = own_exchange(MANAGER_AGENT);
        let envelope = Envelope {
            sender: Sender::MANAGER,
            timestamp: ambient::now(),
            conversation: new_conversation("practice"),
            token: Some(AuthToken::new(whistle.membership.token.expose())),
            league_id: Some(self.office.league().clone()),
        };
        let letter = Letter { envelope, message: Message::StartMatch(order) };
        let expected = [MessageType::StartMatchAck];
        let endpoint = &whistle.endpoint;
        exchange.ask(endpoint, Dialect::Flat, &letter, &expected, PRACTICE_PATIENCE).await?;
        Ok(())
    }

    fn policy(&self, fault: Option<Fault>) -> &Policy {
        match fault {
            Some(fault) if fault.takes_a_window() => &self.terms.hasty,
            Some(_) | None => &self.terms.policy,
        }
    }

    /// The order for the referee, as a manager would give it.
    fn order(
        &self,
        drill: &Drill,
        (seat, between): (Seat, Option<&Between>),
        partner: &Partner,
    ) -> StartMatch {
        let (league, match_id) = (self.office.league(), drill.match_id);
        let about = |player_id: PlayerId, endpoint: String, dialect, token: Option<&Token>| {
            let (attempt, referee) = (ATTEMPT, self.office.referee());
            let to_send = token.map(|token| match_proof(token, league, match_id, attempt, referee));
            let to_expect = token.map(|token| reply_proof(token, league, match_id, attempt));
            AssignedPlayer {
                player_id,
                endpoint,
                dialect,
                relayed: false,
                match_proof: to_send.map(|proof| AuthToken::new(&proof.expose())),
                reply_proof: to_expect.map(|proof| AuthToken::new(&proof.expose())),
                token_hash: token.map(|token| token.hash().to_string()),
                your_standings: self.ledger.row(player_id),
                game_history: self.ledger.history(player_id),
            }
        };
        let pupil = &self.pupil;
        let address = between.map_or_else(|| pupil.address.clone(), |between| endpoint(between.at));
        let own = about(pupil.id, address, pupil.dialect, pupil.token.as_ref());
        let Partner { membership, at } = partner;
        let theirs = about(membership.id, endpoint(*at), Dialect::Flat, Some(&membership.token));
        let (draw, seed) = self.office.draw(match_id);
        StartMatch {
            match_id,
            round_id: match_id.round,
            attempt: ATTEMPT,
            rematch: 0,
            game_type: self.terms.game.clone(),
            rules: rules(self.policy(drill.fault)),
            players: match seat {
                Seat::A => Seats::new(own, theirs),
                Seat::B => Seats::new(theirs, own),
            },
            draw_commitment: Some(draw.commitment(&seed).to_string()),
            draw_seed: Some(DrawSeed::new(&seed.reveal())),
            standings: Some(self.ledger.table()),
            scheduled_start: None,
            result_deadline: None,
            lease_ms: None,
            lenient: self.terms.lenient,
        }
    }

    fn application(&self, display_name: String, at: SocketAddr) -> Application {
        let meta = Meta {
            display_name,
            version: env!("CARGO_PKG_VERSION").into(),
            protocol_version: Some(ProtocolVersion::CURRENT.to_string()),
            game_types: vec![self.terms.game.clone()],
            pull: false,
            contact_endpoint: Some(endpoint(at)),
            contact_email: None,
            max_concurrent_matches: None,
            dialect: Some(Dialect::Flat),
            batch: true,
            join: None,
        };
        Application {
            manager: self.address.clone(),
            league: None,
            dialect: Dialect::Flat,
            meta,
            timeout: PRACTICE_PATIENCE,
            troubles: None,
            keep: None,
        }
    }
}

/// As many failures in a row as a breaker can be told to bear.
const BREAKER_FAILURES: u32 = 1_000_000;
/// Every match of a room is played once.
const ATTEMPT: u32 = 1;

/// A referee that has one match to run.
struct Whistle {
    endpoint: String,
    membership: Membership<RefereeId>,
    stop: watch::Sender<bool>,
    running: JoinSet<Result<(), RegisterError>>,
}

impl Whistle {
    /// Tells the players what is decided, tells the office what was said, and goes.
    async fn leave(mut self) {
        self.stop.send_replace(true);
        while let Some(left) = self.running.join_next().await {
            // It was registered, and nothing else of it can fail.
            drop(guard::outcome(left));
        }
    }
}

/// A go-between that stands between the referee and the agent.
struct Between {
    go_between: Arc<GoBetween>,
    at: SocketAddr,
    stop: watch::Sender<bool>,
    serving: JoinSet<()>,
}

impl Between {
    async fn stand(
        fault: Fault,
        pupil: &Pupil,
        targets: &Targets,
        policy: &Policy,
    ) -> Result<Self, PracticeError> {
        let (listener, at) = listen().await?;
        let caller = Caller::within(targets.clone(), REFEREE_AGENT, policy.http_timeout());
        let go_between = Arc::new(GoBetween::new(fault, &pupil.address, caller, policy));
        let (stop, mut serving) = (watch::Sender::new(false), JoinSet::new());
        serving.spawn(serve(listener, go_between.clone(), stop.subscribe()));
        Ok(Self { go_between, at, stop, serving })
    }

    /// Steps aside and tells what it has seen.
    async fn leave(mut self) -> Seen {
        self.stop.send_replace(true);
        while let Some(left) = self.serving.join_next().await {
            guard::outcome(left);
        }
        self.go_between.seen()
    }
}

// Whoever gives a match up in the middle does not wait: everybody leaves by itself when the sender
// of `stop` is gone. A referee that was ended at once would go on reporting to nobody.

impl Drop for Room {
    fn drop(&mut self) {
        self.serving.detach_all();
    }
}

impl Drop for Whistle {
    fn drop(&mut self) {
        self.running.detach_all();
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        self.serving.detach_all();
    }
}

/// The membership of somebody who registers with our own office.
async fn settled<Id: Clone>(
    membership: &mut watch::Receiver<Option<Membership<Id>>>,
) -> Result<Membership<Id>, PracticeError> {
    let settled = membership.wait_for(Option::is_some);
    let settled = tokio::time::timeout(PRACTICE_PATIENCE, settled).await;
    let settled = settled.ok().and_then(Result::ok).and_then(|settled| settled.clone());
    let unsettled = || PracticeError::Register(RegisterError::Incomplete("an answer in time"));
    settled.ok_or_else(unsettled)
}

/// The rules as an order names them. Nobody is helped by waiting for an address that does not
/// answer: there is no other match that it could hold up.
fn rules(policy: &Policy) -> BTreeMap<String, String> {
    let departures = policy.departures().into_iter();
    let rules = departures.map(|(key, value)| (key.to_string(), value));
    let patient = ("breaker_failures".to_string(), BREAKER_FAILURES.to_string());
    let rule_set = ("rule_set".to_string(), policy.rule_set().to_string());
    rules.chain([patient, rule_set]).collect()
}

/// Calls among ourselves.
fn own_exchange(user_agent: &'static str) -> Exchange {
    Exchange::new(Caller::new(user_agent, PRACTICE_PATIENCE))
}

/// A place that only this machine can reach, and where it is.
async fn listen() -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let at = listener.local_addr()?;
    Ok((listener, at))
}

fn endpoint(at: SocketAddr) -> String {
    format!("http://{at}/mcp")
}
