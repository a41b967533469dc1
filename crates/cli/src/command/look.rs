//! `league status`, `league standings` and `league watch`: what anybody may see of a manager.

use std::time::Duration;

use anyhow::{Context, anyhow};
use league_core::id::LeagueId;
use serde_json::Value;

use super::{admin, roster};
use crate::admin_args::{ManagerArgs, StandingsArgs, StatusArgs, TokenArgs, WatchArgs};
use crate::client::{Client, Unreachable};
use crate::report::{Failure, Hint};
use crate::summary::tie;
use crate::{interrupt, near, output};

/// Pause between two looks at a league.
const LOOK_EVERY: Duration = Duration::from_millis(500);

pub(super) fn status(args: &StatusArgs) -> Result<(), Failure> {
    let anybody = client("status", &args.manager)?;
    let league = named("status", args.league.as_deref())?;
    let client = match league {
        Some(_) => reader("status", &args.manager, &args.token)?,
        None => client("status", &args.manager)?,
    };
    let document = block_on(async {
        let mut document = match league {
            Some(id) => anybody.get(&format!("/api/v1/leagues/{id}")).await?,
            None => anybody.get("/api/v1/leagues").await?,
        };
        if let Some(id) = league {
            let known = client.look(&format!("/api/v1/leagues/{id}/agents")).await?;
            for key in ["figures_since", "agents", "not_joined"] {
                if let Some(value) = known.get(key) {
                    document[key] = value.clone();
                }
            }
        }
        Ok(document)
    })?;
    if args.manager.json {
        written(&format!("{document}\n"))?;
        return Ok(());
    }
    match document["leagues"].as_array() {
        None => written(&format!("{}\n{}", told(&document), roster::table(&document)))?,
        Some(leagues) if leagues.is_empty() => {
            written("  no league yet: `league create` founds one\n")?;
        }
        Some(leagues) => {
            written(&leagues.iter().map(told).collect::<String>())?;
        }
    }
    Ok(())
}

pub(super) fn standings(args: &StandingsArgs) -> Result<(), Failure> {
    let (client, anybody) =
        (reader("standings", &args.manager, &args.token)?, client("standings", &args.manager)?);
    let league = named("standings", args.league.as_deref())?;
    let document = block_on(async {
        let league = chosen(&anybody, league).await?;
        client.look(&format!("/api/v1/leagues/{league}/standings")).await
    })?;
    Ok(show_standings(&document, args.manager.json)?)
}

pub(super) fn watch(args: &WatchArgs) -> Result<(), Failure> {
    let client = client("watch", &args.manager)?;
    let league = named("watch", args.league.as_deref())?;
    let outcome = interrupt::run(async |mut stop| {
        tokio::select! {
            biased;
            _ = stop.wait_for(|stopped| *stopped) => Ok(None),
            end = to_the_end(&client, league) => end.map(Some),
        }
    });
    if let Some(document) = outcome.context("cannot start the runtime")?? {
        show_standings(&document, args.manager.json)?;
    }
    Ok(())
}

/// Says how a league goes on until it is over; then its final standings.
async fn to_the_end(client: &Client, league: Option<&str>) -> anyhow::Result<Value> {
    let league = chosen(client, league).await?;
    let (place, mut said) = (format!("/api/v1/leagues/{league}"), String::new());
    loop {
        let line = match client.get(&place).await {
            Ok(document) if document["phase"] == "completed" => {
                return client.get(&format!("{place}/standings")).await;
            }
            Ok(document) => summary(&document),
            // It restarts; what it knew it will know again.
            Err(error) if error.downcast_ref::<Unreachable>().is_some() => {
                "the manager cannot be reached; looking again".to_string()
            }
            Err(error) => return Err(error),
        };
        if line != said {
            output::say(&format!("  {line}"));
            said = line;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The league that was named, or the only one.
pub(super) async fn chosen(client: &Client, league: Option<&str>) -> anyhow::Result<String> {
    if let Some(league) = league {
        return Ok(league.to_string());
    }
    let document = client.get("/api/v1/leagues").await?;
    let leagues = document["leagues"].as_array().cloned().unwrap_or_default();
    let names: Vec<_> = leagues.iter().filter_map(|one| one["league_id"].as_str()).collect();
    match names[..] {
        [only] => Ok(only.to_string()),
        [] => {
            Err(anyhow!("the manager has no league")
                .context(Hint("`league create` founds one".into())))
        }
        _ => Err(anyhow!("the manager has several leagues")
            .context(Hint(format!("name one of them: {}", names.join(", "))))),
    }
}

/// A league in one line, and what does not go on by itself in two more each.
fn told(league: &Value) -> String {
    let mut out = format!("  {}\n", summary(league));
    for alert in league["alerts"].as_array().into_iter().flatten() {
        let text = |key: &str| alert[key].as_str().unwrap_or_default();
        out.push_str(&format!("    alert: {}\n      {}\n", text("text"), text("remedy")));
    }
    out
}

/// One line about a league.
pub(super) fn summary(league: &Value) -> String {
    let text = |key: &str| league[key].as_str().unwrap_or_default();
    let number = |key: &str| league[key].as_u64().unwrap_or(0);
    let count = |key: &str| {
        let one = key.trim_end_matches('s');
        format!("{} {}", number(key), if number(key) == 1 { one } else { key })
    };
    let waiting = match number("referees_waiting") {
        0 => String::new(),
        waiting => format!(", {waiting} not approved"),
    };
    let agents = format!("{}, {}{waiting}", count("players"), count("referees"));
    let progress = match text("phase") {
        "registering" => {
            let start = &league["start"];
            match (start["players"].as_u64(), start["at"].as_str()) {
                (Some(players), _) => format!("open for players, starts with {players}"),
                (None, Some(at)) => format!("open for players, starts at {at}"),
                (None, None) => "open for players, waits for `league start`".to_string(),
            }
        }
        "completed" => {
            let done = number("matches_done");
            let matches = if done == 1 { "match" } else { "matches" };
            format!("over after {done} {matches}, {}", champion(&league["champion"]))
        }
        _ => {
            let total = league["matches_total"].as_u64();
            let total = total.map_or_else(String::new, |total| format!(" of {total}"));
            format!("round {}, {}{total} matches", number("round"), number("matches_done"))
        }
    };
    let is = |key: &str| league[key].as_bool().unwrap_or(false);
    let ordered = match text("phase") {
        "completed" if is("archived") => ", put away",
        "completed" => "",
        _ if is("paused") => ", paused until `league resume`",
        "registering" if is("closed") => ", closed for further players",
        _ => "",
    };
    format!("{}: {progress}{ordered} ({agents})", text("league_id"))
}

/// Who won, and whom only the order of registration puts behind it.
fn champion(champion: &Value) -> String {
    let Some(name) = champion["display_name"].as_str() else {
        return "no champion: nobody played".into();
    };
    let tied = champion["tied_with"].as_array().into_iter().flatten();
    let tied: Vec<_> = tied.filter_map(Value::as_str).map(String::from).collect();
    format!("champion {name}{}", tie(&tied))
}

fn show_standings(document: &Value, json: bool) -> anyhow::Result<()> {
    let text = if json { format!("{document}\n") } else { table(document) };
    written(&text)
}

/// Writes what was asked for.
pub(super) fn written(text: &str) -> anyhow::Result<()> {
    output::print(text).context("cannot write to stdout")
}

fn table(document: &Value) -> String {
    let rows = document["standings"].as_array().cloned().unwrap_or_default();
    let names = roster::names("player", &rows);
    let mut out =
        format!("  rank  id     {}  played   won  drawn  lost  technical  points\n", names[0]);
    for (row, name) in rows.iter().zip(&names[1..]) {
        let number = |key: &str| row[key].as_u64().unwrap_or(0);
        out.push_str(&format!(
            "  {:>4}  {:5}  {}  {:>6}  {:>4}  {:>5}  {:>4}  {:>9}  {:>6}\n",
            number("rank"),
            row["player_id"].as_str().unwrap_or_default(),
            name,
            number("played"),
            number("wins"),
            number("draws"),
            number("losses").saturating_sub(number("technical_losses")),
            number("technical_losses"),
            number("points"),
        ));
    }
    let done = document["matches_done"].as_u64().unwrap_or(0);
    let league = document["league_id"].as_str().unwrap_or_default();
    let matches = if done == 1 { "match" } else { "matches" };
    let end = match (document["phase"].as_str(), document.get("champion")) {
        (Some("completed"), Some(first)) => format!(", {}", champion(first)),
        (_, Some(_) | None) => String::new(),
    };
    out.push_str(&format!("\n  {league}: {done} {matches} with a result{end}\n"));
    out
}

/// A client that shows the administrator's token if there is one to be found. A token that merely
/// lies here is nothing to a manager elsewhere, which could take our own leagues with it.
fn reader(command: &str, manager: &ManagerArgs, token: &TokenArgs) -> Result<Client, Failure> {
    let found = admin::found_token(&token.data()).ok();
    let is_shown = token.is_given() || near::is_own(&manager.manager);
    if found.is_some() && !is_shown {
        output::say(
            "the administrator's token here is not shown to a manager elsewhere; if it is the one of \
             that manager, --data DIR or LEAGUE_ADMIN_TOKEN says so",
        );
    }
    let token = found.filter(|_| is_shown);
    Client::new(&manager.manager, token).map_err(|error| Failure::usage(command, error))
}

fn client(command: &str, manager: &ManagerArgs) -> Result<Client, Failure> {
    Client::new(&manager.manager, None).map_err(|error| Failure::usage(command, error))
}

/// The league that was typed, if it is a name that can stand in an address.
pub(super) fn named<'a>(command: &str, typed: Option<&'a str>) -> Result<Option<&'a str>, Failure> {
    let Some(league) = typed else { return Ok(None) };
    match league.parse::<LeagueId>() {
        Ok(_) => Ok(Some(league)),
        Err(bad) => Err(Failure::usage(command, anyhow!("LEAGUE: {bad}"))),
    }
}

pub(super) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().context("cannot start the runtime")?.block_on(work)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_league_is_told_in_one_line() {
        let league = json!({"league_id": "a", "phase": "registering", "start": {"players": 4},
                            "players": 2, "referees": 1});
        assert_eq!(summary(&league), "a: open for players, starts with 4 (2 players, 1 referee)");
        let league = json!({"league_id": "a", "phase": "playing", "round": 2, "matches_done": 3,
                            "matches_total": 6, "players": 4, "referees": 2});
        assert_eq!(summary(&league), "a: round 2, 3 of 6 matches (4 players, 2 referees)");
    }
}
