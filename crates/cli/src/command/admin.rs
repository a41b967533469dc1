//! `league create`, `league start` and their like: the administrator's side of a running manager.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, anyhow};
use league_core::policy::Policy;
use league_server::manager::blueprint::{Blueprint, Start};
use league_server::runtime::roster::{self, Roster};
use serde_json::{Value, json};

use super::look;
use crate::admin_args::{
    ActArgs, AgentActArgs, CreateArgs, ManagerArgs, MatchActArgs, OrderArgs, RosterAddArgs,
    TokenArgs,
};
use crate::client::Client;
use crate::output;
use crate::report::{Failure, Hint};

pub(super) fn create(args: &CreateArgs) -> Result<(), Failure> {
    let mut wanted = blueprint(args).map_err(|error| Failure::usage("create", error))?;
    let client = administrator("create", &args.manager, &args.token)?;
    if let Some(file) = &args.roster {
        let Roster { places, codes } = roster::read(file).map_err(anyhow::Error::new)?;
        wanted.roster = Some(places);
        if let Some(codes) = codes {
            output::say(&format!("the join codes are in {}", codes.display()));
        }
        if let Some(warning) = wanted.crowding() {
            output::say(&format!("warning: {warning}"));
        }
    }
    let wanted = serde_json::to_value(&wanted).context("the league cannot be written")?;
    let founded = look::block_on(client.post("/api/v1/admin/leagues", &wanted))?;
    if args.manager.json {
        look::written(&format!("{founded}\n"))?;
        return Ok(());
    }
    let league = founded["league_id"].as_str().unwrap_or_default();
    let key = founded["join_key"].as_str().unwrap_or_default();
    let url = args.manager.manager.trim_end_matches('/');
    look::written(&format!("  {}\n", look::summary(&founded)))?;
    let code = if args.roster.is_some() { " --join-code CODE" } else { "" };
    // The manager's own directory has it too, and then it need not be shown.
    let file = args.token.data().join(format!("join-key-{league}"));
    let is_there = std::fs::read_to_string(&file).is_ok_and(|kept| kept.trim() == key);
    let (before, key) = match is_there {
        true => (String::new(), format!(" --join-key {}", file.display())),
        false => (format!("LEAGUE_JOIN_KEY={key} "), String::new()),
    };
    // Agents listen on loopback unless told, where only a manager of this machine calls them.
    let is_here = ["127.", "localhost", "[::1]"]
        .iter()
        .any(|here| url.trim_start_matches("http://").starts_with(here));
    let listen = |port: u16| match is_here {
        true => String::new(),
        false => format!(" --listen YOUR-ADDRESS:{port}"),
    };
    let near = if is_here { "" } else { " --allow-network NETWORK" };
    look::written(&format!(
        "\n  To join it:\n    {before}league referee --manager {url} --league {league}{key}{}{near} \
         --data my-referee\n    league player --manager {url} --league {league}{code}{} --data \
         my-player\n",
        listen(8001),
        listen(8101)
    ))?;
    if founded["start"] == json!("manual") {
        look::written(&format!("  To start it:\n    league start {league} --manager {url}\n"))?;
    }
    Ok(())
}

/// Does something to a league.
pub(super) fn act(action: &str, args: &ActArgs) -> Result<(), Failure> {
    let league = args.league.as_deref();
    post(action, (&args.manager, &args.token), league, &json!({}))
}

/// Does something to a league that needs a reason.
pub(super) fn order(action: &str, args: &OrderArgs) -> Result<(), Failure> {
    let (act, details) = (&args.act, json!({"reason": args.reason}));
    post(action, (&act.manager, &act.token), act.league.as_deref(), &details)
}

/// Does something to an agent.
pub(super) fn act_on_agent(action: &str, args: &AgentActArgs) -> Result<(), Failure> {
    let details = json!({"agent": args.agent, "reason": args.reason});
    post(action, (&args.manager, &args.token), args.league.as_deref(), &details)
}

/// Puts more people on a roster.
pub(super) fn enrol(args: &RosterAddArgs) -> Result<(), Failure> {
    let Roster { places, codes } = roster::read(&args.file).map_err(anyhow::Error::new)?;
    if let Some(codes) = codes {
        output::say(&format!("the join codes are in {}", codes.display()));
    }
    let details = json!({"roster": places, "reason": args.reason});
    post("roster", (&args.manager, &args.token), args.league.as_deref(), &details)
}

/// Does something to a match.
pub(super) fn act_on_match(action: &str, args: &MatchActArgs) -> Result<(), Failure> {
    let details = json!({"match": args.match_id, "reason": args.reason});
    post(action, (&args.manager, &args.token), args.league.as_deref(), &details)
}

/// Asks for an action and shows where the league stands then.
fn post(
    action: &str,
    (manager, token): (&ManagerArgs, &TokenArgs),
    league: Option<&str>,
    details: &Value,
) -> Result<(), Failure> {
    let client = administrator(action, manager, token)?;
    let league = look::named(action, league)?;
    let answer: Value = look::block_on(async {
        let league = look::chosen(&client, league).await?;
        client.post(&format!("/api/v1/admin/leagues/{league}/{action}"), details).await
    })?;
    if manager.json {
        return Ok(look::written(&format!("{answer}\n"))?);
    }
    let done = done(action, details) + &handed_over(&answer);
    Ok(look::written(&format!("{done}  {}\n", look::summary(&answer)))?)
}

/// What an order has done, in a line; nothing where the league's own line says it.
fn done(action: &str, details: &Value) -> String {
    let whom = |key: &str| details[key].as_str().unwrap_or_default().to_string();
    let (agent, played) = (whom("agent"), whom("match"));
    match action {
        "approve" => format!("  {agent} may officiate\n"),
        "ban" => format!(
            "  {agent} is banned: its token no longer works, and what it has not played is lost\n"
        ),
        "reinstate" => format!(
            "  {agent} goes on if it was suspended; if it was banned or shut down, it may register \
             once more with its token and gets its id back\n"
        ),
        "release" => format!(
            "  {agent}'s place is let go: whoever registers next with its join code, or from its \
             address where there are no codes, is {agent} and gets a new token; until then the old \
             one works\n"
        ),
        "roster" => "  the roster has everybody in the file\n".into(),
        "rematch" => format!("  {played} is played again\n"),
        "annul" => format!("  {played} counts for nobody\n"),
        _ => String::new(),
    }
}

/// A new token, and how it reaches its agent.
fn handed_over(answer: &Value) -> String {
    let text = |key: &str| answer[key].as_str();
    let (Some(agent), Some(token)) = (text("agent_id"), text("token")) else {
        return String::new();
    };
    let league = text("league_id").unwrap_or_default();
    format!(
        "  {agent} has a new token and the old one no longer works. Hand it over, it is shown this \
         once:\n    {token}\n  One of our agents takes it from its --data directory: in the file there that \
         says {league} {agent}, put\n    {league} {agent} {token}\n  in place of it, and start the agent \
         again\n"
    )
}

fn administrator(
    command: &str,
    manager: &ManagerArgs,
    token: &TokenArgs,
) -> Result<Client, Failure> {
    let token = admin_token(&token.data())?;
    Client::new(&manager.manager, Some(token)).map_err(|error| Failure::usage(command, error))
}

/// The administrator's token of the environment, or of the manager's data directory.
fn admin_token(data: &Path) -> anyhow::Result<String> {
    let file = data.join("admin-token");
    let hint = "set LEAGUE_ADMIN_TOKEN, or name the manager's data directory with --data DIR";
    found_token(data)
        .with_context(|| format!("cannot read the administrator's token in {}", file.display()))
        .map_err(|error| error.context(Hint(hint.into())))
}

/// The token, if there is one to be found.
pub(super) fn found_token(data: &Path) -> std::io::Result<String> {
    if let Ok(token) = std::env::var("LEAGUE_ADMIN_TOKEN")
        && !token.trim().is_empty()
    {
        return Ok(token.trim().to_string());
    }
    let read = std::fs::read_to_string(data.join("admin-token"));
    read.map(|text| text.trim().to_string())
}

fn blueprint(args: &CreateArgs) -> anyhow::Result<Blueprint> {
    let mut set = BTreeMap::new();
    for assignment in &args.set {
        let (key, value) = assignment
            .split_once('=')
            .ok_or_else(|| anyhow!("--set: expected KEY=VALUE, got `{assignment}`"))?;
        if !Policy::KEYS.contains(&key.trim()) {
            let hint = format!("the rules are {}", Policy::KEYS.join(", "));
            return Err(anyhow!("--set: there is no rule `{key}`").context(Hint(hint)));
        }
        set.insert(key.trim().to_string(), value.trim().to_string());
    }
    Ok(Blueprint {
        league_id: args.league.clone(),
        game: args.game.clone(),
        format: args.format.clone(),
        rules: args.rules.clone(),
        set,
        start: Some(start_rule(&args.start)?),
        players_max: args.players_max,
        roster: None,
    })
}

fn start_rule(text: &str) -> anyhow::Result<Start> {
    let wrong = || anyhow!("--start: expected manual, players=N or at=TIME, got `{text}`");
    match text.split_once('=') {
        None if text == "manual" => Ok(Start::Manual),
        Some(("players", number)) => Ok(Start::Players(number.parse().map_err(|_| wrong())?)),
        Some(("at", moment)) => Ok(Start::At(moment.into())),
        None | Some(_) => Err(wrong()),
    }
}
