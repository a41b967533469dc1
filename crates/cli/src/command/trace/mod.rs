//! `league trace`: what was said in a match or to an agent, and why a match ended as it did.

mod document;
mod mail;
mod remote;
pub(crate) mod story;

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use league_core::id::{ConversationId, LeagueId, MatchId};
use league_core::seat::Seat;
use league_server::journal::JournalError;
use league_server::journal::sqlite::{OpenError, SqliteView};
use league_server::record::{
    self, Exchanged, Found, LeagueRecord, MatchRecord, Ordered, Post, ReadError, Reshaped,
};

use crate::report::{Failure, Hint};
use crate::{near, output};

/// Show what was said in a match or to an agent, and why a match ended as it did.
///
/// Reads the record without disturbing a manager that is writing it. Without a filter it lists the
/// matches of the league. Tokens and proofs are never shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  league trace                           every match with its result and the reason
  league trace --technical               only those that somebody lost technically
  league trace --match R1M1              every message of one match, with times
  league trace --match R1M1 --bytes      the same with the bodies
  league trace --agent P01               everything that was said to and by one agent
  league trace --match R1M1 --json       one JSON document on stdout
  league trace --manager URL --league spring --match R1M1 --token my-player/player-1
                                         a match of your own player, from its manager
")]
pub(crate) struct TraceArgs {
    /// Where the record is kept; LEAGUE_DATA and league.toml in the current directory change the
    /// default
    #[arg(long, value_name = "DIR", default_value_os_t = near::data())]
    data: PathBuf,
    /// Which league; the latest if there are several
    #[arg(long, value_name = "ID")]
    league: Option<LeagueId>,
    /// Only this match
    #[arg(long = "match", value_name = "R1M1", group = "filter")]
    match_id: Option<MatchId>,
    /// Only the match with this conversation, and the manager's letters of it
    #[arg(long, value_name = "ID", group = "filter")]
    conversation: Option<ConversationId>,
    /// Only the matches of this player or referee, and what the manager and it said
    #[arg(long, value_name = "P01", group = "filter")]
    agent: Option<String>,
    /// Only matches that somebody lost technically
    #[arg(long)]
    technical: bool,
    /// Show the bodies too
    #[arg(long)]
    bytes: bool,
    /// Print one JSON document on stdout
    #[arg(long)]
    json: bool,
    /// Ask a manager elsewhere instead, for a match that is over and in which you played
    #[arg(long, value_name = "URL", requires_all = ["match_id", "league", "token"])]
    manager: Option<String>,
    /// The file with your player's token, such as the one in its --data directory
    #[arg(long, value_name = "FILE")]
    token: Option<PathBuf>,
}

const DAMAGED: &str = "if it is damaged, put a copy that `league backup` made in its place";

/// A match with its transcript.
struct Told<'a> {
    record: &'a MatchRecord,
    found: Found,
    /// Whether its end is in it, which is told after the report.
    is_whole: bool,
}

pub(crate) fn run(args: &TraceArgs) -> Result<(), Failure> {
    if let (Some(manager), Some(file)) = (&args.manager, &args.token) {
        return remote::run(args, manager, file);
    }
    let view = open(&args.data)?;
    let league = league(&view, args)?;
    let mut matches = chosen(&league, args).map_err(|error| Failure::usage("trace", error))?;
    if args.technical {
        matches.retain(|record| was_lost_technically(record));
    }
    let text = if is_filtered(args) {
        let post = Post::read(&view, &league.id, |letter| is_wanted(letter, args), &matches);
        let post = post.context("cannot read the letters")?;
        if args.conversation.is_some() && matches.is_empty() && post.letters.is_empty() {
            let error =
                anyhow!("--conversation: nothing in league {} had that conversation", league.id);
            return Err(Failure::usage("trace", error));
        }
        let mut told = vec![];
        for record in matches {
            let mut found = league.transcript(&view, record).context("cannot read a transcript")?;
            let epilogue = post.epilogue(record);
            let is_whole = epilogue.is_some();
            if let Found::Ours(transcript) = &mut found {
                transcript.entries.extend(epilogue.into_iter().flatten());
            }
            told.push(Told { record, found, is_whole });
        }
        let agent = args.agent.as_deref();
        if args.json {
            format!("{}\n", document::matches(&league, &told, &post, agent))
        } else {
            story::matches(&league, &told, &post, (agent, args.bytes))
        }
    } else if args.json {
        format!("{}\n", document::list(&league, &matches))
    } else {
        story::list(&league, &matches, &args.data)
    };
    output::print(&text).context("cannot write to stdout")?;
    Ok(())
}

/// The orders about an agent, or about the matches that are told.
fn concerning<'a>(
    league: &'a LeagueRecord,
    told: &[Told<'_>],
    agent: Option<&str>,
) -> Vec<&'a Ordered> {
    let is_told = |about: &str| told.iter().any(|told| told.record.match_id.to_string() == about);
    let concerns = |about: String| agent == Some(&about) || is_told(&about);
    league.orders.iter().filter(|order| order.about().is_some_and(concerns)).collect()
}

/// The changes of shape of an agent, or of the players of the matches that are told.
fn reshaped<'a>(
    league: &'a LeagueRecord,
    told: &[Told<'_>],
    agent: Option<&str>,
) -> Vec<&'a Reshaped> {
    let of_match = |change: &Reshaped| {
        let mut all = told.iter().flat_map(|told| league.reshaped_in(told.record));
        all.any(|other| (other.at, other.agent) == (change.at, change.agent))
    };
    let concerns = |change: &&Reshaped| match agent {
        Some(agent) => change.agent.to_string() == agent,
        None => of_match(change),
    };
    league.reshaped.iter().filter(concerns).collect()
}

/// The journal in `data`, for reading.
fn open(data: &Path) -> Result<SqliteView, Failure> {
    SqliteView::open(data).map_err(|error| Failure::Failed(explained(error, data)))
}

/// What is wrong with the directory, and what to try.
pub(crate) fn explained(error: OpenError, data: &Path) -> anyhow::Error {
    let data = data.display();
    let hint = match &error {
        OpenError::Unusable { .. } => {
            format!("is there a record in {data}? --data DIR says where to look")
        }
        OpenError::InUse { .. } => {
            "stop the manager that writes it, run this again, then start the manager".into()
        }
        OpenError::Newer { .. } => "update this program".into(),
        OpenError::Foreign { .. } => {
            format!("--data must name the directory of a league, {data} is none")
        }
        OpenError::Database { .. } => DAMAGED.into(),
    };
    anyhow::Error::new(error).context(Hint(hint))
}

const fn is_filtered(args: &TraceArgs) -> bool {
    args.match_id.is_some() || args.conversation.is_some() || args.agent.is_some()
}

/// Whether a letter is one of those that are asked for.
fn is_wanted(letter: &Exchanged, args: &TraceArgs) -> bool {
    let is = |wanted: &str, is: Option<&str>| is == Some(wanted);
    let of_match = args.match_id.map(|id| is(&id.to_string(), letter.match_id.as_deref()));
    let conversation = args.conversation.as_ref();
    let of_conversation =
        conversation.map(|id| is(&id.to_string(), Some(letter.conversation.as_str())));
    let of_agent = args.agent.as_ref().map(|id| is(id, Some(letter.peer.as_str())));
    [of_match, of_conversation, of_agent].into_iter().flatten().all(|holds| holds)
}

fn was_lost_technically(record: &MatchRecord) -> bool {
    let verdict = record.decided.as_ref().map(|(_, verdict, _)| *verdict);
    verdict.is_some_and(|verdict| Seat::BOTH.into_iter().any(|seat| verdict.lost_technically(seat)))
}

/// Why the record cannot be read, and what to try.
fn unread(error: impl Into<ReadError>) -> anyhow::Error {
    let error: ReadError = error.into();
    let is_damaged = match &error {
        ReadError::Journal(error) => matches!(error, JournalError::Corrupt { .. }),
        ReadError::Codec { .. } => true,
    };
    let error = anyhow::Error::new(error).context("cannot read the record");
    if is_damaged { error.context(Hint(DAMAGED.into())) } else { error }
}

/// The league that is asked for, else the one that was founded last.
fn league(view: &SqliteView, args: &TraceArgs) -> Result<LeagueRecord, Failure> {
    let ids = view.leagues().map_err(unread)?;
    if let Some(id) = &args.league {
        if !ids.contains(id) {
            let names: Vec<_> = ids.iter().rev().take(5).map(LeagueId::as_str).collect();
            let error = anyhow!("--league: there is no league `{id}` in {}", args.data.display());
            let hint = Hint(format!("there are: {}", names.join(", ")));
            return Err(Failure::usage("trace", error.context(hint)));
        }
        return Ok(LeagueRecord::read(view, id).map_err(unread)?);
    }
    let since = |id| record::founded(view, id).map(|at| (at, id));
    let all = ids.iter().map(since).collect::<Result<Vec<_>, _>>();
    let latest = all.map_err(unread)?.into_iter().max_by_key(|(at, _)| *at);
    let (_, latest) =
        latest.ok_or_else(|| anyhow!("no league was founded in {}", args.data.display()))?;
    if ids.len() > 1 {
        let count = ids.len();
        output::say(&format!("league {latest}, the latest of {count}; --league chooses another"));
    }
    Ok(LeagueRecord::read(view, latest).map_err(unread)?)
}

/// The matches that are asked for.
fn chosen<'a>(league: &'a LeagueRecord, args: &TraceArgs) -> anyhow::Result<Vec<&'a MatchRecord>> {
    let all = league.matches.values();
    if let Some(id) = args.match_id {
        let found = league.matches.get(&id);
        let error = || {
            let hint = "`league trace` lists the matches".into();
            anyhow!("--match: {id} is no match of league {}", league.id).context(Hint(hint))
        };
        return Ok(vec![found.ok_or_else(error)?]);
    }
    if let Some(conversation) = &args.conversation {
        let is_it = |record: &&MatchRecord| {
            let recorded = record.result.as_ref().map(|(_, _, recorded)| recorded);
            recorded.is_some_and(|recorded| recorded.conversation == *conversation)
        };
        return Ok(all.filter(is_it).collect());
    }
    let Some(agent) = &args.agent else { return Ok(all.collect()) };
    if !league.names.contains_key(agent) {
        let ids: Vec<_> = league.names.keys().take(8).map(String::as_str).collect();
        let hint = format!("agents are called, for example, {}", ids.join(", "));
        let error = anyhow!("--agent: there is no agent `{agent}` in league {}", league.id);
        return Err(error.context(Hint(hint)));
    }
    let concerns = |record: &&MatchRecord| {
        let pairing = record.pairing;
        [pairing.a.to_string(), pairing.b.to_string(), record.referee.to_string()].contains(agent)
    };
    Ok(all.filter(concerns).collect())
}
