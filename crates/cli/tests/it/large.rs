//! Leagues with many players, good and bad. `LEAGUE_LONG=1` makes them as large as they are meant.

use std::env;
use std::time::Duration;

use league_agent::ambient::Mark;
use serde_json::Value;

use crate::program::Place;
use crate::service::{Office, Service, until};

fn is_long() -> bool {
    env::var_os("LEAGUE_LONG").is_some()
}

/// So many of each, and how fast their clocks run.
struct Crowd {
    silent: usize,
    slow: usize,
    garbage: usize,
    healthy: usize,
    times: &'static str,
}

impl Crowd {
    /// A whole classroom, or a bench of it with windows that a busy machine can keep.
    fn gather() -> Self {
        if is_long() {
            let times = "--referees 4 --time-scale 0.02";
            return Self { silent: 5, slow: 3, garbage: 2, healthy: 40, times };
        }
        let times = "--time-scale 0.1 --set choice_timeout=4s";
        Self { silent: 1, slow: 1, garbage: 1, healthy: 3, times }
    }

    fn line(&self) -> String {
        let Self { silent, slow, garbage, healthy, times } = self;
        let parts = [("silent", silent), ("slow", slow), ("garbage", garbage), ("random", healthy)];
        let cast: Vec<_> = parts.into_iter().flat_map(|(name, count)| vec![name; *count]).collect();
        let (players, cast) = (cast.len(), cast.join(","));
        format!("play --players {players} {times} --strategies {cast} --json")
    }
}

// req: LIFE-2, LIFE-4, MATCH-4
#[test]
fn bad_guests_cost_nobody_else_a_match() {
    let crowd = Crowd::gather();
    let run = Place::new().run(&crowd.line());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let good = crowd.healthy;
    assert!(report["played"].as_u64() >= Some((good * (good - 1) / 2) as u64), "{report}");
    for row in report["standings"].as_array().unwrap() {
        let name = row["display_name"].as_str().unwrap();
        let losses = row["technical_losses"].as_u64().unwrap();
        // Whoever takes most of its time may be late on a machine that is busy otherwise.
        if !name.ends_with("(slow)") {
            let is_good = name.ends_with("(random)");
            assert_eq!(losses == 0, is_good, "{name} lost {losses} matches technically");
        }
    }
    assert!(report["wall_s"].as_f64() < Some(60.0), "{report}");
}

// req: SCHED-7
#[test]
fn a_schedule_stands_as_soon_as_the_last_player_has_come() {
    let (players, most) = if is_long() { (100, 15) } else { (50, 5) };
    let place = Place::new();
    let text = format!("[league]\nid = \"spring\"\nstart = {{ players = {players} }}\n");
    std::fs::write(place.path().join("league.toml"), text).unwrap();
    let office = Office::open(&place);
    let _referee = office.seat(&place, "referee --join-key league-data/join-key-spring");
    let _all_but_one = office.seat(&place, &format!("player --count {}", players - 1));
    let league = || office.look("/api/v1/leagues/spring");
    assert_eq!(league().unwrap()["phase"], "registering");
    let _last = office.seat(&place, "player");
    let came = Mark::set();
    let scheduled = until("the first round is announced", || {
        league().filter(|league| league["phase"] == "playing")
    });
    assert!(came.elapsed() < Duration::from_secs(most), "{:?}", came.elapsed());
    assert_eq!(scheduled["matches_total"].as_u64(), Some(players * (players - 1) / 2));
}

// req: ARCH-3
#[cfg(target_os = "linux")]
#[test]
fn a_manager_needs_little_memory() {
    const MOST_KIB: u64 = 64 * 1024;
    let (players, referees) = if is_long() { (100, 10) } else { (20, 2) };
    let place = Place::new();
    let start = format!("start = {{ players = {players} }}\nset.announcement_lead = \"0s\"\n");
    let text = format!("[league]\nid = \"spring\"\n{start}");
    std::fs::write(place.path().join("league.toml"), text).unwrap();
    let office = Office::open(&place);
    let referee = "referee --join-key league-data/join-key-spring";
    let mut agents: Vec<Service> = (0..referees).map(|_| office.seat(&place, referee)).collect();
    agents.push(office.seat(&place, &format!("player --count {players}")));
    office.standings_at_the_end("spring");
    let most = until("the system tells", || {
        let status = format!("/proc/{}/status", office.service.id());
        let status = std::fs::read_to_string(status).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    });
    println!("the manager of {players} players needed {most} KiB at most");
    assert!(most < MOST_KIB, "{most} KiB");
}
