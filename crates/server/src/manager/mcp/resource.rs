//! What can be read of a league as a resource: the same answers that the tools give.

use league_core::id::LeagueId;
use league_wire::QueryType;
use league_wire::message::{ErrorReport, LeagueQuery};
use rmcp::model::{Resource, ResourceTemplate};

use super::errand;
use crate::limits::LIST_WHOLE_MAX;
use crate::manager::Manager;

const JSON: &str = "application/json";
const SCHEME: &str = "league://";

/// What there is to read: two documents of each league, and of so many leagues as lists are whole.
pub(super) fn list(manager: &Manager) -> Vec<Resource> {
    let of_league = |id: &LeagueId| {
        let document = |page: &str, title: &str, text: &str| {
            let resource = Resource::new(format!("{SCHEME}{id}/{page}"), format!("{id} {page}"));
            let resource = resource.with_title(format!("{title} of {id}"));
            resource.with_description(text).with_mime_type(JSON)
        };
        [
            document("standings", "Standings", "The table, best player first, as it is now."),
            document("schedule", "Schedule", "Every match with players, status and winner."),
        ]
    };
    let leagues = manager.leagues().all();
    leagues.iter().take(LIST_WHOLE_MAX).flat_map(|(id, _)| of_league(id)).collect()
}

/// How the address of a document is made.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |page: &str, name: &str, text: &str| {
        let template = ResourceTemplate::new(format!("{SCHEME}{{league_id}}/{page}"), name);
        template.with_description(text).with_mime_type(JSON)
    };
    vec![
        template("standings", "standings", "The table of a league, as it is now."),
        template("schedule", "schedule", "The matches of a league with status and winner."),
        template(
            "matches/{match_id}",
            "match record",
            "One match, such as R2M1: players, referee, status, winner, and after it has ended \
             how its result is proved.",
        ),
    ]
}

/// Why a document cannot be read.
pub(super) enum Unread {
    /// Its address means nothing here.
    NoSuchAddress,
    /// There is no such thing.
    Refused(Box<ErrorReport>),
}

/// The document at `uri`.
pub(super) fn read(manager: &Manager, uri: &str) -> Result<String, Unread> {
    let rest = uri.strip_prefix(SCHEME).ok_or(Unread::NoSuchAddress)?;
    let (league, page) = rest.split_once('/').ok_or(Unread::NoSuchAddress)?;
    let league: LeagueId = league.parse().map_err(|_| Unread::NoSuchAddress)?;
    let query = |query_type, match_id| LeagueQuery {
        query_type,
        match_id,
        round_id: None,
        agent_id: None,
        offset: None,
        limit: None,
    };
    let query = match page.split_once('/') {
        None if page == "standings" => query(QueryType::Standings, None),
        None if page == "schedule" => query(QueryType::Schedule, None),
        Some(("matches", id)) => {
            let id = id.parse().map_err(|_| Unread::NoSuchAddress)?;
            query(QueryType::Match, Some(id))
        }
        None | Some(_) => return Err(Unread::NoSuchAddress),
    };
    errand::ask(manager, Some(&league), &query).map_err(Unread::Refused)
}
