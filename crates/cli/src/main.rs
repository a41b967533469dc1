//! The `league` program: parse, run, exit code.

mod admin_args;
mod args;
mod client;
mod command;
mod config;
mod files;
mod interrupt;
mod logging;
mod near;
mod output;
mod report;
mod service_args;
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
        Command::New(args) => command::new::run(args),
        Command::Rules(args) => command::rules::run(args),
        Command::Check(args) => command::check::run(args),
        Command::Spar(args) => command::spar::run(args),
        Command::Sim(args) => command::sim::run(args),
        Command::Service(command) => command::service(command),
        Command::Admin(command) => command::admin(command),
        Command::Trace(args) => command::trace::run(args),
        Command::Backup(args) => command::backup::run(args),
        Command::Prune(args) => command::prune::run(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report::fail(&failure),
    }
}
