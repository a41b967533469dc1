//! `league new`: an agent to begin with, in a folder of its own.

mod kit;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::output;
use crate::report::{Failure, Hint};
use kit::Kit;

/// Write an agent to begin with into a new folder.
///
/// Its author edits one function. Registering, proofs, history, health and shutdown are done by a
/// kit that lies in the same folder, so that Python and Node need nothing but the language. In Rust
/// the kit is the crate `league-agent`, in the sources of the league on this machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  league new player --lang python ada            then: cd ada && python3 agent.py --help
  league new player --lang typescript ben        then: cd ben && node agent.js --help
  league new player --lang rust cem              then: cd cem && cargo run -- --help
  league new player --lang python ada --name \"Ada the First\"

The folder says in README.md how the agent is run, tested and checked.
Exit codes: 0 written, 1 failed, 2 wrong usage.
")]
pub(crate) struct NewArgs {
    /// What to write
    what: What,
    /// The language to write it in
    #[arg(long, value_name = "LANGUAGE")]
    lang: Language,
    /// The name that people will see [default: that of the folder]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Where the sources of the league are, for an agent in Rust [default: those that this program
    /// was built from]
    #[arg(long, value_name = "DIR")]
    sources: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long)]
    json: bool,
    /// The folder, which must be empty or not there yet
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    Player,
}

/// A language that there is a kit for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    Python,
    Typescript,
    Rust,
}

pub(crate) fn run(args: &NewArgs) -> Result<(), Failure> {
    let What::Player = args.what;
    let name = name(args).map_err(|error| Failure::usage("new", error))?;
    let folder = &args.folder;
    must_be_empty(folder)?;
    let kit = Kit::of(args.lang);
    let agent = match args.lang {
        Language::Rust => agent_crate(args)?,
        Language::Python | Language::Typescript => String::new(),
    };
    let words = [("{{name}}", &name), ("{{crate}}", &crate_name(&name)), ("{{agent}}", &agent)];
    let mut written = vec![];
    for file in kit.files() {
        let filled = |text: String, (word, meant): (&str, &String)| text.replace(word, meant);
        write(&folder.join(file.path), &words.into_iter().fold(file.text.into(), filled))?;
        written.push(file.path);
    }
    let told = if args.json {
        format!("{}\n", for_programs(args, &kit, &name, &written))
    } else {
        for_people(folder, &kit)
    };
    output::print(&told).context("cannot write to stdout")?;
    Ok(())
}

/// The name that people will see. It goes into source text, between quotes.
fn name(args: &NewArgs) -> anyhow::Result<String> {
    let of_folder = || {
        let name = args.folder.file_name().unwrap_or_default().to_string_lossy();
        let plain = |letter: &char| !is_special(*letter);
        let name: String = name.chars().filter(plain).take(32).collect();
        if name.trim().is_empty() { "Player".into() } else { name }
    };
    let name = args.name.clone().map_or_else(of_folder, |name| name.trim().into());
    let is_fine = (1..=128).contains(&name.len()) && !name.contains(is_special);
    is_fine.then_some(name).ok_or_else(|| {
        anyhow!("--name: expected 1 to 128 bytes without quotes, backslashes or line ends")
    })
}

fn is_special(letter: char) -> bool {
    letter.is_control() || matches!(letter, '"' | '\'' | '`' | '\\' | '{' | '}')
}

/// The name as cargo likes it.
fn crate_name(name: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = name.chars().map(plain).collect::<String>().to_lowercase();
    let name = name.trim_matches('-');
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return name.into();
    }
    format!("player-{name}").trim_end_matches('-').into()
}

/// Where the crate `league-agent` is.
fn agent_crate(args: &NewArgs) -> anyhow::Result<String> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sources = args.sources.as_ref().unwrap_or(&own);
    let found = fs::canonicalize(sources.join("crates/agent"));
    let found = found.ok().filter(|agent| agent.join("Cargo.toml").is_file());
    let path = found.as_ref().and_then(|agent| agent.to_str());
    // It goes into a literal of TOML.
    let path = path.filter(|path| !path.contains(['\'', '\n']));
    path.map(Into::into).ok_or_else(|| {
        let hint = "an agent in Rust needs the sources of the league: say with --sources DIR where they are";
        anyhow!("{} does not hold the crate league-agent", sources.display()).context(Hint(hint.into()))
    })
}

fn must_be_empty(folder: &Path) -> anyhow::Result<()> {
    let occupied = |why: &str| {
        let hint = Hint("choose another folder, or move what is in this one".into());
        Err(anyhow!("{} {why}", folder.display()).context(hint))
    };
    match fs::read_dir(folder).map(|mut inside| inside.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => occupied("is not empty"),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => occupied("is not a folder"),
        Err(error) => Err(error).with_context(|| format!("cannot look into {}", folder.display())),
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(cannot)?;
    }
    fs::write(path, text).with_context(cannot)
}

fn for_people(folder: &Path, kit: &Kit) -> String {
    let here = folder.display();
    let Kit { language, edit, run, test, check, .. } = kit;
    format!(
        "A player in {language} is in {here}. Edit the function `choose` in {edit}.\n\
         \n  cd {here}\n  {run:<56} # play\n  {test:<56} # try `choose`\n  {check:<56} # does it speak the protocol?\n"
    )
}

fn for_programs(args: &NewArgs, kit: &Kit, name: &str, files: &[&str]) -> serde_json::Value {
    let Kit { edit, run, test, check, .. } = kit;
    let folder = args.folder.to_string_lossy();
    let language = args.lang.to_possible_value();
    json!({
        "language": language.as_ref().map(PossibleValue::get_name), "display_name": name, "folder": folder, "files": files,
        "edit": edit, "run": run, "test": test, "check": check,
    })
}
