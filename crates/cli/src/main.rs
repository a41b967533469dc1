//! The `league` program: parse, run, exit code.

mod args;
mod command;
mod files;
mod output;
mod report;
mod settings;
mod signal;
mod summary;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match &args.command {
        Command::Play(args) => command::play::run(args),
        Command::Rules(args) => command::rules::run(args),
        Command::Sim(args) => command::sim::run(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report::fail(&failure),
    }
}
