//! `league prune`: transcripts and letters are not kept for ever, the record is.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use league_agent::ambient;
use league_core::time::Timestamp;
use league_server::journal::sqlite::{SqlitePruner, SqliteView};
use league_server::record::{expire, rehearse};

use super::trace::explained;
use crate::report::{Failure, Hint};
use crate::{near, output};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Transcripts are kept at least this long unless somebody insists.
const KEPT_MIN: Duration = Duration::from_secs(30 * DAY.as_secs());

/// Delete the transcripts of old matches and old letters. Results and hashes stay for ever.
///
/// The manager of the directory may run; the file then keeps its size, and what comes next uses the
/// room.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  league prune --older-than 30d --dry-run        what would be deleted
  league prune --older-than 90d
")]
pub(crate) struct PruneArgs {
    /// Where the record is kept; LEAGUE_DATA and league.toml in the current directory change the
    /// default
    #[arg(long, value_name = "DIR", default_value_os_t = near::data())]
    data: PathBuf,
    /// Delete what is older than this, such as 30d, 12h or 0s; less than 30d needs --force
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Duration,
    /// Only say what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Delete also what is younger than 30 days
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &PruneArgs) -> Result<(), Failure> {
    if args.older_than < KEPT_MIN && !(args.force || args.dry_run) {
        let error = anyhow!("--older-than: transcripts are kept for 30 days at least");
        let hint = "--force deletes them all the same, --dry-run says what that would be";
        return Err(Failure::usage("prune", error.context(Hint(hint.into()))));
    }
    near::check().context("nothing was deleted")?;
    let age = i64::try_from(args.older_than.as_millis()).unwrap_or(i64::MAX);
    let before = Timestamp::from_millis(ambient::now().as_millis().saturating_sub(age));
    let expired = if args.dry_run {
        let view = SqliteView::open(&args.data).map_err(|error| explained(error, &args.data))?;
        rehearse(&view, before)
    } else {
        let journal = SqlitePruner::open(&args.data);
        let mut journal = journal.map_err(|error| explained(error, &args.data))?;
        expire(&mut journal, before)
    };
    let expired = expired.context("cannot prune the record")?;
    let verb = if args.dry_run { "would be deleted" } else { "deleted" };
    let is_reused = !args.dry_run && !expired.is_smaller && expired.bytes > 0;
    let room = if is_reused { "; a manager is running, which uses the room again" } else { "" };
    output::print(&format!(
        "{} transcripts with {} bytes {verb}, {} kept; {} letters {verb}, {} kept; every result \
         and hash stays{room}\n",
        expired.transcripts, expired.bytes, expired.kept, expired.letters, expired.letters_kept
    ))
    .context("cannot write to stdout")?;
    Ok(())
}

fn age(text: &str) -> Result<Duration, &'static str> {
    let wrong = "expected an age such as 30d, 12h, 90m or 45s";
    let split = text.find(|c: char| !c.is_ascii_digit()).ok_or(wrong)?;
    let (number, unit) = text.split_at(split);
    let number: u64 = number.parse().map_err(|_| wrong)?;
    let unit = match unit {
        "d" => DAY.as_secs(),
        "h" => 60 * 60,
        "m" => 60,
        "s" => 1,
        _ => return Err(wrong),
    };
    number.checked_mul(unit).map(Duration::from_secs).ok_or(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_unit() {
        for (text, seconds) in [("30d", 2_592_000), ("12h", 43_200), ("90m", 5_400), ("0s", 0)] {
            assert_eq!(age(text), Ok(Duration::from_secs(seconds)));
        }
        for text in
            ["", "30", "d", "-1d", "1w", "1.5d", "99999999999999999999d", "9999999999999999d"]
        {
            assert!(age(text).is_err(), "{text}");
        }
    }
}
