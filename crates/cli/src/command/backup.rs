//! `league backup`: the record in another file, also while it is being written.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use league_server::journal::sqlite::{CopyError, SqliteView};

use super::trace::explained;
use crate::report::{Failure, Hint};
use crate::{near, output};

/// Copy the record to another file, also while a manager writes it.
///
/// The copy holds everything that was durable when it began. To go back to it, put it as
/// `league.db` into an empty directory, together with the file `secret` of the old one.
#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// Where the record is kept; LEAGUE_DATA and league.toml in the current directory change the
    /// default
    #[arg(long, value_name = "DIR", default_value_os_t = near::data())]
    data: PathBuf,
    /// The file to write, which must not exist
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

pub(crate) fn run(args: &BackupArgs) -> Result<(), Failure> {
    let view = SqliteView::open(&args.data).map_err(|error| explained(error, &args.data))?;
    view.copy_to(&args.to).map_err(|error| {
        let hint = match &error {
            CopyError::Exists { .. } => "choose another name with --to FILE",
            CopyError::Database { .. } | CopyError::Io { .. } => {
                "check that the directory exists, can be written, and has room"
            }
        };
        anyhow::Error::new(error).context(Hint(hint.into()))
    })?;
    let bytes = std::fs::metadata(&args.to).context("cannot look at the backup")?.len();
    let leagues = view.leagues().context("cannot read the record")?.len();
    let noun = if leagues == 1 { "league" } else { "leagues" };
    output::print(&format!(
        "{leagues} {noun}, {bytes} bytes: {}\nThe secret is not in it: keep {} too, in a safe \
         place\n",
        args.to.display(),
        args.data.join("secret").display()
    ))
    .context("cannot write to stdout")?;
    Ok(())
}
