//! The only writer to stdout and stderr. Data goes to stdout, everything else to stderr.

use std::io::{self, Write};

use league_core::standings::Row;
use league_server::runtime::PlayReport;

/// Writes data. A reader that went away is not our failure.
pub(crate) fn print(text: &str) {
    let _gone = io::stdout().lock().write_all(text.as_bytes());
}

/// Writes a line for people.
pub(crate) fn say(line: &str) {
    let _gone = writeln!(io::stderr().lock(), "{line}");
}

/// The final table of a league and where its record lies.
pub(crate) fn play_report(report: &PlayReport) -> String {
    let recount = &report.recount;
    let league = &recount.league;
    let rows = league.table();
    let name = |row: &Row| {
        let player = league.player(row.player);
        player.map_or_else(String::new, |player| player.profile.display_name.to_string())
    };
    let width = rows.iter().map(|row| name(row).chars().count()).max().unwrap_or(0).max(6);
    let mut out = format!(
        "\n  rank  id     {:width$}  played   won  drawn  lost  technical  points\n",
        "player"
    );
    for row in &rows {
        let record = &row.record;
        let line = format!(
            "  {:>4}  {:5}  {:width$}  {:>6}  {:>4}  {:>5}  {:>4}  {:>9}  {:>6}\n",
            row.rank,
            row.player.to_string(),
            name(row),
            record.played,
            record.wins,
            record.draws,
            record.losses - record.technical_losses,
            record.technical_losses,
            record.points,
        );
        out.push_str(&line);
    }
    if let Some(champion) = rows.first() {
        out.push_str(&format!("\n  Champion: {} ({})\n", name(champion), champion.player));
    }
    let seconds = report.wall.as_secs_f64();
    out.push_str(&format!(
        "  {} of {} matches played in {:.2} s ({:.0} a second), {} HTTP calls\n",
        recount.played,
        recount.results,
        seconds,
        per_second(recount.results, seconds),
        report.http_calls,
    ));
    out.push_str(&format!("  Record: {}, league {}\n", report.journal.display(), league.id()));
    out
}

/// A rate that survives a clock that did not move.
pub(crate) fn per_second(count: u64, seconds: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let count = count as f64;
    count / seconds.max(1e-9)
}
