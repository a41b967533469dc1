//! `league trace --manager`: what a player may read of its own match, asked of the manager.

use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use super::TraceArgs;
use crate::client::Client;
use crate::command::look;
use crate::report::{Failure, Hint};

pub(super) fn run(args: &TraceArgs, manager: &str, file: &Path) -> Result<(), Failure> {
    let (Some(league), Some(match_id)) = (&args.league, args.match_id) else {
        unreachable!("both are asked for together with the manager")
    };
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the token in {}", file.display()))?;
    // In the file that our players keep it comes last.
    let token = text.split_whitespace().last().unwrap_or_default().to_string();
    let client = Client::new(manager, Some(token));
    let client = client.map_err(|error| Failure::usage("trace", error))?;
    let path = format!("/api/v1/leagues/{league}/matches/{match_id}/trace");
    let hint = "the players of a match may read it once it is over, each with its own token";
    let told = look::block_on(client.post(&path, &json!({})));
    let told: Value = told.map_err(|error| error.context(Hint(hint.into())))?;
    let shown = if args.json { format!("{told}\n") } else { story(&told, args.bytes) };
    Ok(look::written(&shown)?)
}

fn story(told: &Value, bytes: bool) -> String {
    let text = |key: &str| told[key].as_str().unwrap_or_default().to_string();
    let player = |at: usize| told["players"][at].as_str().unwrap_or_default();
    let (one, other) = (player(0), player(1));
    let mut out = format!("{}  {one} against {other}: {}\n", text("match_id"), text("result"));
    out.push_str(&format!("  Why: {}\n", text("reason")));
    out.push_str(&format!("  league {}, referee {}\n", text("league_id"), text("referee_id")));
    for remark in told["remarks"].as_array().into_iter().flatten() {
        let part = |key: &str| remark[key].as_str().unwrap_or_default();
        out.push_str(&format!("  {}  {}\n", part("at"), part("text")));
    }
    if let Some(note) = told["note"].as_str() {
        out.push_str(&format!("  {note}\n"));
    }
    for entry in told["transcript"]["entries"].as_array().into_iter().flatten() {
        let part = |key: &str| entry[key].as_str().unwrap_or_default();
        let at = entry["at_us"].as_f64().unwrap_or_default() / 1_000.0;
        let line = [part("kind"), part("peer"), part("name"), part("text")];
        let line: Vec<&str> = line.into_iter().filter(|part| !part.is_empty()).collect();
        out.push_str(&format!("  {at:>10.3} ms  {}\n", line.join("  ")));
        let body = [&entry["body"], &entry["raw"]].into_iter().find(|body| !body.is_null());
        if let Some(body) = body.filter(|_| bytes) {
            out.push_str(&format!("                 {body}\n"));
        }
    }
    out
}
