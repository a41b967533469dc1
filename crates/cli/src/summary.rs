//! What a league came to: a table for people, one JSON document for programs.

use std::collections::BTreeMap;

use league_core::id::PlayerId;
use league_core::manager::League;
use league_core::standings::Row;
use league_server::runtime::{PlayPlan, PlayReport, Recount};
use serde_json::{Value, json};

/// Longest name in the table, in characters.
const NAME_CHARS_MAX: usize = 32;
/// Most of those who tied with the champion that are named.
const TIED_NAMED_MAX: usize = 3;

/// The final table of a league and where its record lies.
pub(crate) fn for_people(report: &PlayReport) -> String {
    let recount = &report.recount;
    let league = &recount.league;
    let rows = league.table();
    let mut out = table(league, &rows);
    match league.leaders().split_first() {
        Some((champion, tied)) => {
            let name = shown(name(league, *champion));
            let tied: Vec<_> = tied.iter().map(PlayerId::to_string).collect();
            out.push_str(&format!("\n  Champion: {name} ({champion}){}\n", tie(&tied)));
        }
        None => out.push_str("\n  No champion: nobody played\n"),
    }
    let seconds = report.wall.as_secs_f64();
    out.push_str(&format!(
        "  {} in {seconds:.2} s ({} a second), {} HTTP calls\n",
        tally(recount),
        rate(per_second(this_time(report), seconds)),
        report.http_calls,
    ));
    out.push_str(&format!("  Record: {}, league {}\n", report.journal.display(), league.id()));
    let data = report.journal.parent().map_or_else(String::new, |data| data.display().to_string());
    let id = league.id();
    out.push_str(&format!("  Why it ended so: league trace --data {data} --league {id}\n"));
    out
}

fn table(league: &League, rows: &[Row]) -> String {
    let names: Vec<_> = rows.iter().map(|row| shown(name(league, row.player))).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    let mut out = format!(
        "\n  rank  id     {:width$}  played   won  drawn  lost  technical  points\n",
        "player"
    );
    for (row, name) in rows.iter().zip(&names) {
        let record = &row.record;
        out.push_str(&format!(
            "  {:>4}  {:5}  {name:width$}  {:>6}  {:>4}  {:>5}  {:>4}  {:>9}  {:>6}\n",
            row.rank,
            row.player.to_string(),
            record.played,
            record.wins,
            record.draws,
            record.losses - record.technical_losses,
            record.technical_losses,
            record.points,
        ));
    }
    out
}

/// How the matches went; what went as it should is not mentioned.
fn tally(recount: &Recount) -> String {
    let mut out = format!("{} of {} matches played", recount.played, recount.results);
    let technical =
        if recount.technical_losses == 1 { "technical loss" } else { "technical losses" };
    for (count, what) in [
        (recount.cancelled, "cancelled"),
        (recount.technical_losses, technical),
        (recount.annulled, "annulled and played again"),
    ] {
        if count > 0 {
            out.push_str(&format!(", {count} {what}"));
        }
    }
    out
}

/// Those who did exactly as well as the champion, tie-breakers included, in words.
pub(crate) fn tie(tied: &[String]) -> String {
    let mut names: Vec<_> = tied.iter().take(TIED_NAMED_MAX).cloned().collect();
    if tied.len() > TIED_NAMED_MAX {
        names.push(format!("{} more", tied.len() - TIED_NAMED_MAX));
    }
    let list = match names.split_last() {
        None => return String::new(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    };
    format!(", tied with {list}, decided by order of registration")
}

/// Everything about the league that programs may want.
pub(crate) fn for_programs(plan: &PlayPlan, report: &PlayReport) -> Value {
    let recount = &report.recount;
    let league = &recount.league;
    let rows = league.table();
    let leaders = league.leaders();
    let champion = rows.first().zip(leaders.split_first()).map(|(row, (_, tied))| {
        json!({
            "player_id": row.player.to_string(),
            "display_name": name(league, row.player),
            "points": row.record.points,
            "tied_with": tied.iter().map(PlayerId::to_string).collect::<Vec<_>>(),
        })
    });
    let wall_s = report.wall.as_secs_f64();
    let changed_rules: BTreeMap<_, _> = plan.policy.departures().into_iter().collect();
    json!({
        "league_id": league.id().as_str(),
        "rules": plan.policy.rule_set().name(),
        "changed_rules": changed_rules,
        "players": plan.players,
        "referees": plan.referees,
        "rounds": league.past().len(),
        "matches": recount.results,
        "played": recount.played,
        "technical_losses": recount.technical_losses,
        "cancelled": recount.cancelled,
        "annulled": recount.annulled,
        "http_calls": report.http_calls,
        "wall_s": wall_s,
        "matches_before": report.before,
        "matches_per_s": per_second(this_time(report), wall_s),
        "champion": champion,
        "standings": rows.iter().map(|row| standing(league, row)).collect::<Vec<_>>(),
        "journal": report.journal,
        "journal_head": recount.head.hash.to_string(),
    })
}

fn standing(league: &League, row: &Row) -> Value {
    json!({
        "rank": row.rank,
        "player_id": row.player.to_string(),
        "display_name": name(league, row.player),
        "played": row.record.played,
        "wins": row.record.wins,
        "draws": row.record.draws,
        "losses": row.record.losses,
        "technical_losses": row.record.technical_losses,
        "games_lost": row.record.losses.saturating_sub(row.record.technical_losses),
        "points": row.record.points,
    })
}

fn name(league: &League, player: PlayerId) -> &str {
    league.player(player).map_or("", |player| &player.profile.display_name)
}

/// A name as long as the table bears.
fn shown(name: &str) -> String {
    if name.chars().count() <= NAME_CHARS_MAX {
        return name.into();
    }
    name.chars().take(NAME_CHARS_MAX - 1).chain(['…']).collect()
}

/// Matches that got their result since the program was started.
fn this_time(report: &PlayReport) -> u64 {
    report.recount.results.saturating_sub(report.before.unwrap_or(0))
}

/// A rate that survives a clock that did not move.
pub(crate) fn per_second(count: u64, seconds: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let count = count as f64;
    count / seconds.max(1e-9)
}

/// A rate with as many digits as tell something.
fn rate(rate: f64) -> String {
    if rate >= 10.0 { format!("{rate:.0}") } else { format!("{rate:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_leagues_have_a_rate_too() {
        assert_eq!(rate(per_second(6, 12.0)), "0.50");
        assert_eq!(rate(per_second(6, 0.0225)), "267");
    }

    #[test]
    fn long_names_are_cut_and_short_ones_are_not() {
        assert_eq!(shown("Ärger"), "Ärger");
        let exact = "Ä".repeat(NAME_CHARS_MAX);
        assert_eq!(shown(&exact), exact);
        let cut = shown(&"Ä".repeat(NAME_CHARS_MAX + 1));
        assert_eq!(cut.chars().count(), NAME_CHARS_MAX);
        assert!(cut.ends_with('…'));
    }

    #[test]
    fn few_of_many_who_tied_are_named() {
        let players: Vec<PlayerId> =
            ["P02", "P03", "P04", "P05", "P06"].map(|id| id.parse().unwrap()).into();
        for (count, expected) in [
            (0, ""),
            (1, ", tied with P02, decided by order of registration"),
            (3, ", tied with P02, P03 and P04, decided by order of registration"),
            (5, ", tied with P02, P03, P04 and 2 more, decided by order of registration"),
        ] {
            let tied: Vec<_> = players[..count].iter().map(PlayerId::to_string).collect();
            assert_eq!(tie(&tied), expected);
        }
    }
}
