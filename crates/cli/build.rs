//! Tells the program which commit it was built from, where that is known.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for watched in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", watched]) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    let version = match commit {
        Some(commit) => format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
        None => env!("CARGO_PKG_VERSION").to_string(),
    };
    println!("cargo:rustc-env=LEAGUE_VERSION={version}");
}

/// What git says, if there is one and it knows.
fn git(arguments: &[&str]) -> Option<String> {
    let told =
        Command::new("git").args(arguments).output().ok().filter(|told| told.status.success())?;
    let text = String::from_utf8(told.stdout).ok()?;
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}
