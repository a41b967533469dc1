//! One file per command, or per family of commands.

mod admin;
mod agent;
pub(crate) mod backup;
pub(crate) mod check;
mod look;
pub(crate) mod new;
pub(crate) mod play;
pub(crate) mod prune;
mod roster;
pub(crate) mod rules;
mod serve;
pub(crate) mod sim;
pub(crate) mod spar;
pub(crate) mod trace;

use crate::admin_args::{AdminCommand, RosterCommand};
use crate::report::Failure;
use crate::service_args::ServiceCommand;

pub(crate) fn service(command: &ServiceCommand) -> Result<(), Failure> {
    match command {
        ServiceCommand::Serve(args) => serve::run(args),
        ServiceCommand::Referee(args) => agent::referee(args),
        ServiceCommand::Player(args) => agent::players(args),
    }
}

pub(crate) fn admin(command: &AdminCommand) -> Result<(), Failure> {
    match command {
        AdminCommand::Create(args) => admin::create(args),
        AdminCommand::Start(args) => admin::act("start", args),
        AdminCommand::Pause(args) => admin::order("pause", args),
        AdminCommand::Resume(args) => admin::order("resume", args),
        AdminCommand::Close(args) => admin::order("close", args),
        AdminCommand::Archive(args) => admin::order("archive", args),
        AdminCommand::Approve(args) => admin::act_on_agent("approve", args),
        AdminCommand::Ban(args) => admin::act_on_agent("ban", args),
        AdminCommand::Reinstate(args) => admin::act_on_agent("reinstate", args),
        AdminCommand::Rotate(args) => admin::act_on_agent("rotate", args),
        AdminCommand::Release(args) => admin::act_on_agent("release", args),
        AdminCommand::Roster(RosterCommand::Add(args)) => admin::enrol(args),
        AdminCommand::Rematch(args) => admin::act_on_match("rematch", args),
        AdminCommand::Annul(args) => admin::act_on_match("annul", args),
        AdminCommand::Status(args) => look::status(args),
        AdminCommand::Standings(args) => look::standings(args),
        AdminCommand::Watch(args) => look::watch(args),
    }
}
