//! Leagues whose processes are killed and frozen at any moment, again and again until they end.
//! Every match must be in the books once, and nothing that was ever shown may be gone.
//!
//! `LEAGUE_LONG=1` plays 100 leagues, `LEAGUE_SEED` repeats one.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use league_agent::ambient::Mark;
use league_core::dice::{Dice, SeededDice};
use league_core::id::{MatchId, PlayerId};
use league_core::manager::{Event, Fact};
use league_core::policy::{Policy, RuleSet};
use league_core::schedule::Pairing;
use league_core::seat::Seat;
use league_core::verdict::{Score, Verdict};
use league_server::journal::{Head, Journal, SqliteJournal, codec};
use serde_json::{Value, json};

use crate::program::Place;
use crate::service::{PATIENCE, Service, get, request, request_within, until};

const LEAGUE: &str = "/api/v1/leagues/spring";
const PLAYERS: usize = 10;
const PLAYERS_EACH: usize = 2;
/// Longest time between two misfortunes, and longest time that one lasts.
const CALM_MAX: u64 = 250;
const FREEZE_MAX: u64 = 700;
const DEATH_MAX: u64 = 300;
/// Whoever looks longer leaves a misfortune too much time.
const LOOK_MAX: Duration = Duration::from_secs(2);

// req: ERR-6, RESULT-1, RESULT-3
#[cfg(unix)]
#[test]
fn leagues_survive_the_death_of_anybody_at_any_moment() {
    let given = env::var("LEAGUE_SEED").ok().map(|seed| seed.parse().unwrap());
    let count = if env::var_os("LEAGUE_LONG").is_some() { 100 } else { 5 };
    let seeds = given.map_or(1..=count, |seed| seed..=seed);
    for seed in seeds {
        println!("LEAGUE_SEED={seed}");
        let began = Mark::set();
        let story = Ordeal::begin(seed).endure();
        println!("  {story} in {:?}", began.elapsed());
    }
}

/// A process of the league, and how it is started again.
struct Post {
    line: String,
    service: Option<Service>,
}

impl Post {
    fn new(line: String) -> Self {
        Self { line, service: None }
    }

    fn start(&mut self, place: &Place) {
        // Whoever was there before has gone first.
        self.service = None;
        self.service = Some(Service::start(place, &self.line));
    }

    fn signal(&self, signal: &str) {
        if let Some(service) = &self.service {
            let id = service.id().to_string();
            // One that has ended by itself cannot be frozen.
            let _sent = Command::new("kill").args([signal, &id]).status().unwrap();
        }
    }
}

/// A league under misfortune.
struct Ordeal {
    place: Place,
    dice: SeededDice,
    address: String,
    /// The manager first, then the referees, then the players.
    posts: Vec<Post>,
    /// What the manager has shown: the last row and its hash are a promise about every row before.
    promised: BTreeMap<u64, String>,
    last: Value,
    kills: u32,
    freezes: u32,
}

impl Ordeal {
    fn begin(seed: u64) -> Self {
        let place = Place::new();
        let mut ports = free_ports();
        let mut port = || ports.next().expect("there are free ports");
        let address = format!("127.0.0.1:{}", port());
        let manager = format!("--manager http://{address} --league spring --json");
        let key = "--join-key league-data/join-key-spring";
        let mut posts = vec![Post::new(format!("serve --listen {address} --json"))];
        for number in 0..2 {
            let agent = format!("referee {key} --listen 127.0.0.1:{}", port());
            posts.push(Post::new(format!("{agent} {manager} --data referee-{number}")));
        }
        for number in 0..PLAYERS / PLAYERS_EACH {
            let way = match number {
                0 => "--pull".into(),
                _ => format!("--listen 127.0.0.1:{}", port()),
            };
            let agent = format!("player --count {PLAYERS_EACH} {way}");
            posts.push(Post::new(format!("{agent} {manager} --data players-{number}")));
        }
        let (dice, promised) = (SeededDice::new(seed), BTreeMap::new());
        let (last, kills, freezes) = (Value::Null, 0, 0);
        let mut ordeal = Self { place, dice, address, posts, promised, last, kills, freezes };
        ordeal.found();
        ordeal
    }

    /// Founds the league and waits until everybody has joined.
    fn found(&mut self) {
        let start = format!("start = {{ players = {PLAYERS} }}");
        let text = format!("[league]\nid = \"spring\"\n{start}\n[league.set]\n{}", rules());
        std::fs::write(self.place.path().join("league.toml"), text).unwrap();
        for post in &mut self.posts {
            post.start(&self.place);
            post.service.as_mut().unwrap().announced();
        }
    }

    /// Misfortunes until the league is over; says how it went.
    fn endure(mut self) -> String {
        let began = Mark::set();
        while !self.is_over() {
            if began.elapsed() > PATIENCE {
                let said = std::fs::read_to_string(self.place.path().join("stderr.txt"));
                panic!("not over: {}\n{}", self.last, said.unwrap_or_default());
            }
            self.pass_time(CALM_MAX, true);
            let victim = usize::try_from(self.dice.below(self.posts.len() as u64)).unwrap();
            // A manager that is frozen or dead cannot be watched.
            let watched = victim != 0;
            if self.dice.below(2) == 0 {
                self.kills += 1;
                self.posts[victim].service = None;
                self.pass_time(DEATH_MAX, watched);
                self.posts[victim].start(&self.place);
            } else {
                self.freezes += 1;
                self.posts[victim].signal("-STOP");
                self.pass_time(FREEZE_MAX, watched);
                self.posts[victim].signal("-CONT");
            }
        }
        self.check()
    }

    fn is_over(&self) -> bool {
        self.last["phase"] == "completed"
    }

    /// Lets up to `most` milliseconds pass, watching the league if it can be.
    fn pass_time(&mut self, most: u64, watched: bool) {
        let span = Duration::from_millis(self.dice.below(most));
        let began = Mark::set();
        while began.elapsed() < span && !self.is_over() {
            if watched {
                self.watch();
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Notes what the manager shows, if it answers.
    fn watch(&mut self) {
        let began = Mark::set();
        let answer = request_within(LOOK_MAX, &self.address, &get("GET", LEAGUE));
        if began.elapsed() >= LOOK_MAX {
            println!("  a look took {:?} after {} kills", began.elapsed(), self.kills);
        }
        let Some((200, body)) = answer else { return };
        self.last = serde_json::from_str(&body).unwrap();
        let rows = self.last["journal_rows"].as_u64().unwrap();
        let head = self.last["journal_head"].as_str().unwrap().to_string();
        let before = self.promised.insert(rows, head.clone());
        assert!(before.is_none_or(|before| before == head), "row {rows} has changed");
    }

    /// Every match is once in the books, nothing that was shown has gone, and the table is right.
    fn check(mut self) -> String {
        let shown = until("the standings", || {
            let (_, body) = request(&self.address, &get("GET", &format!("{LEAGUE}/standings")))?;
            Some(serde_json::from_str::<Value>(&body).unwrap())
        });
        let manager = self.posts[0].service.take().unwrap();
        manager.terminate();
        assert_eq!(manager.end(), Some(0));
        self.posts.clear();
        let rows = rows(&self.place);
        for (row, head) in &self.promised {
            let (there, _) = &rows[usize::try_from(*row).unwrap() - 1];
            assert_eq!(there.hash.to_string(), *head, "row {row} was shown and is gone");
        }
        let books = Books::of(rows.into_iter().map(|(_, event)| event));
        assert_eq!(books.results.len(), PLAYERS * (PLAYERS - 1) / 2);
        assert_eq!(books.table(), table(&shown));
        let Self { kills, freezes, promised, .. } = &self;
        format!("{kills} kills, {freezes} freezes, {} looks, {books}", promised.len())
    }
}

/// The documents' rules, fifty times as fast where that can be told from a slow machine.
fn rules() -> String {
    let policy = Policy::build(RuleSet::V21, []).unwrap().time_scaled(0.02).unwrap();
    let shorter = policy.departures().into_iter().filter(|(key, _)| {
        !["announcement_lead", "invitation_timeout", "http_timeout"].contains(key)
    });
    let own = [
        ("announcement_lead", "200ms"),
        ("invitation_timeout", "300ms"),
        ("http_timeout", "300ms"),
    ];
    let own = own.map(|(key, value)| (key, value.to_string()));
    shorter.chain(own).map(|(key, value)| format!("{key} = \"{value}\"\n")).collect()
}

/// Ports that nobody else is given by chance, each with the one that follows.
fn free_ports() -> impl Iterator<Item = u16> {
    // Tests that run at the same time have numbers beside each other, and blocks of their own.
    let first = 10_000 + 32 * u16::try_from(std::process::id() % 600).unwrap();
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let pairs = (first..32_000).step_by(2);
    pairs.filter(move |port| is_free(port) && is_free(&(port + 1)))
}

/// The record with the head at each row; the chain of hashes is checked on the way.
fn rows(place: &Place) -> Vec<(Head, Event)> {
    let journal = SqliteJournal::open(&place.data()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let id = "spring".parse().unwrap();
    let (mut all, mut position) = (vec![], Head::genesis(&id));
    loop {
        let rows = runtime.block_on(journal.read(&id, position, 1000)).unwrap();
        let Some(last) = rows.last() else { return all };
        position = last.head();
        all.extend(rows.iter().map(|row| (row.head(), codec::decode(&row.bytes).unwrap())));
    }
}

/// A league counted by somebody who knows the rules from the documents and nothing else.
#[derive(Default)]
struct Books {
    pairs: BTreeMap<MatchId, Pairing>,
    results: BTreeMap<MatchId, Verdict>,
    reassigned: u32,
    stuck: u32,
    returned: u32,
}

impl Books {
    fn of(events: impl Iterator<Item = Event>) -> Self {
        let mut books = Self::default();
        events.for_each(|event| books.add(&event.fact));
        let pairs: BTreeSet<_> =
            books.pairs.values().map(|pair| (pair.a.min(pair.b), pair.a.max(pair.b))).collect();
        assert_eq!(pairs.len(), books.pairs.len(), "every pair meets once");
        books
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only results count")]
    fn add(&mut self, fact: &Fact) {
        match fact {
            Fact::RoundOpened { round, matches, .. } => {
                let ids = (0..).map(|index| MatchId::from_index(*round, index));
                self.pairs.extend(ids.zip(matches.iter().map(|scheduled| scheduled.pairing)));
            }
            Fact::ResultRecorded(recorded) => self.record(recorded.match_id, recorded.verdict),
            Fact::Walkover { match_id, verdict, .. } => self.record(*match_id, *verdict),
            Fact::MatchCancelled { match_id, replaced, .. } => {
                assert_eq!(*replaced, None, "nobody ordered that");
                self.record(*match_id, Verdict::Cancelled);
            }
            Fact::MatchReassigned { .. } | Fact::MatchPassedOn { .. } => self.reassigned += 1,
            Fact::MatchStuck { .. } => self.stuck += 1,
            Fact::PlayerReturned { .. } | Fact::RefereeReturned { .. } => self.returned += 1,
            _ => {}
        }
    }

    fn record(&mut self, match_id: MatchId, verdict: Verdict) {
        assert!(self.pairs.contains_key(&match_id), "{match_id} was never paired");
        let twice = self.results.insert(match_id, verdict);
        assert_eq!(twice, None, "{match_id} is in the books twice");
    }

    /// Played, won, drawn, lost, lost technically, points.
    fn table(&self) -> BTreeMap<String, [u64; 6]> {
        let mut table = BTreeMap::<PlayerId, [u64; 6]>::new();
        for (id, verdict) in &self.results {
            for seat in Seat::BOTH {
                let row = table.entry(self.pairs[id].player(seat)).or_default();
                let counts = match verdict.scores()[seat] {
                    Score::Win => [1, 1, 0, 0, 0, 3],
                    Score::Draw => [1, 0, 1, 0, 0, 1],
                    Score::Loss => [1, 0, 0, 1, 0, 0],
                    Score::TechnicalLoss => [1, 0, 0, 1, 1, 0],
                    Score::None => [0; 6],
                };
                row.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
        table.into_iter().map(|(player, row)| (player.to_string(), row)).collect()
    }
}

impl std::fmt::Display for Books {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let played = self.results.values().filter(|verdict| verdict.was_played()).count();
        let Self { results, reassigned, stuck, returned, .. } = self;
        write!(f, "{played} of {} played, {reassigned} given to others, ", results.len())?;
        write!(f, "{stuck} stuck, {returned} returns")
    }
}

/// The same of the manager's own standings.
fn table(shown: &Value) -> BTreeMap<String, [u64; 6]> {
    let keys = ["played", "wins", "draws", "losses", "technical_losses", "points"];
    let rows = shown["standings"].as_array().unwrap().iter();
    let row = |row: &Value| {
        let counts = keys.map(|key| row[key].as_u64().unwrap());
        (row["player_id"].as_str().unwrap().to_string(), counts)
    };
    assert_eq!(shown["phase"], json!("completed"));
    rows.map(row).collect()
}
