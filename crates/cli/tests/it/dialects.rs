//! Players of every dialect at one table, ours and other people's.

use league_wire::Dialect;
use serde_json::json;

use crate::program::Place;
use crate::service::{Office, Service};
use crate::services::{REFEREE, check_record, found};

// req: WIRE-8
#[test]
fn players_of_every_dialect_meet_in_one_league() {
    let place = Place::new();
    let office = Office::open(&place);
    let line = "--league spring --start players=7 --set announcement_lead=0s";
    assert_eq!(found(&office, &place, line)["players_max"], json!(7));
    let mut agents: Vec<Service> = vec![office.seat(&place, REFEREE)];
    for dialect in Dialect::ALL {
        let line = format!("player --name {dialect} --strategy random --dialect {dialect}");
        agents.push(office.seat(&place, &line));
    }
    let standings = office.standings_at_the_end("spring");
    for agent in agents {
        assert_eq!(agent.end(), Some(0), "everybody has heard that the league is over");
    }
    check_record(&place, office, &standings, 21);
}
