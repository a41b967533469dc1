//! The `league` program: parse, run, exit code.

mod args;
mod command;
mod output;
mod report;
mod settings;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match &args.command {
        Command::Play(args) => command::play::run(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report::fail(&failure),
    }
}
