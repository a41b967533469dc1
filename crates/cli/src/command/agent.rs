//! `league referee` and `league player`: agents as processes of their own.

use std::cell::RefCell;
use std::path::Path;

use anyhow::{Context, anyhow, ensure};
use league_agent::ambient::OsDice;
use league_agent::component::Component;
use league_agent::log::Level;
use league_agent::player::Cast;
use league_agent::register::RegisterError;
use league_core::dice::Dice;
use league_core::limits::REFEREE_MATCHES_MAX;
use league_server::runtime::{self, AgentError, AgentNews, AgentPlan, Ending, Joined, PlayersPlan};
use league_wire::message::ErrorReport;
use league_wire::{Code, Dialect, JoinCode};
use serde_json::{Value, json};

use crate::report::{Failure, Hint};
use crate::service_args::{JoinArgs, PlayerArgs, RefereeArgs};
use crate::{client, interrupt, logging, output, settings};

pub(super) fn referee(args: &RefereeArgs) -> Result<(), Failure> {
    let plan = referee_plan(args).map_err(|error| Failure::usage("referee", error))?;
    client::resolve(&args.join.manager)?;
    let log = args.join.log.wanted().map_err(|error| Failure::usage("referee", error))?;
    let _log = logging::start(log, Level::Info);
    warn_in_the_open(&args.join, Component::Referee);
    let voice = Voice::new(args.join.json, 1, Component::Referee);
    let tell = |news| voice.tell(news);
    let outcome = interrupt::run(|stop| runtime::referee(&plan, args.capacity, stop, tell));
    finish(outcome.context("cannot start the runtime")?, &voice)
}

pub(super) fn players(args: &PlayerArgs) -> Result<(), Failure> {
    let plan = players_plan(args).map_err(|error| Failure::usage("player", error))?;
    client::resolve(&args.join.manager)?;
    let log = args.join.log.wanted().map_err(|error| Failure::usage("player", error))?;
    let _log = logging::start(log, Level::Info);
    warn_in_the_open(&args.join, Component::Player);
    let voice = Voice::new(args.join.json, plan.count.into(), Component::Player);
    let tell = |news| voice.tell(news);
    let outcome = interrupt::run(|stop| runtime::players(&plan, stop, tell));
    finish(outcome.context("cannot start the runtime")?, &voice)
}

fn warn_in_the_open(args: &JoinArgs, component: Component) {
    if args.listen.is_some_and(|at| !at.ip().to_canonical().is_loopback()) {
        logging::tell(Level::Warning, component, output::UNENCRYPTED);
    }
}

fn finish(outcome: Result<Ending, AgentError>, voice: &Voice) -> Result<(), Failure> {
    let text = match outcome.map_err(explained)? {
        Ending::LeagueOver => "the league is over",
        Ending::Stopped => "stopped",
    };
    match voice.joined.borrow().first() {
        Some(joined) => logging::tell_of(&joined.league, Level::Info, voice.component, text),
        None => logging::tell(Level::Info, voice.component, text),
    }
    Ok(())
}

fn referee_plan(args: &RefereeArgs) -> anyhow::Result<AgentPlan> {
    ensure!(
        (1..=REFEREE_MATCHES_MAX).contains(&args.capacity),
        "--capacity: expected 1 to {REFEREE_MATCHES_MAX}, got {}",
        args.capacity
    );
    let join = args.join_key.as_deref().map(join_key).transpose()?;
    let plan = plan(&args.join, args.name.clone(), Dialect::Flat, join)?;
    Ok(AgentPlan { networks: args.allow_network.clone(), ..plan })
}

fn players_plan(args: &PlayerArgs) -> anyhow::Result<PlayersPlan> {
    ensure!(args.count >= 1, "--count: expected at least 1, got {}", args.count);
    ensure!(
        args.count == 1 || args.join.endpoint.is_none(),
        "--endpoint: several players cannot be called at the same address"
    );
    ensure!(
        !args.pull || (args.join.listen.is_none() && args.join.endpoint.is_none()),
        "--pull: a player that fetches its turns listens nowhere; leave out --listen and --endpoint"
    );
    let dialect = args.dialect.parse().map_err(|_| {
        let names: Vec<_> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
        anyhow!("--dialect: expected one of {}, got `{}`", names.join(", "), args.dialect)
    })?;
    let names: Vec<_> = Cast::all().map(Cast::name).collect();
    let find = |name: &String| {
        settings::known("--strategy", name.trim(), &names)?;
        Cast::find(name.trim()).ok_or_else(|| anyhow!("--strategy: no strategy"))
    };
    let join = args.join_code.as_deref().map(|code| JoinCode::new(code.trim()));
    Ok(PlayersPlan {
        agent: plan(&args.join, args.name.clone(), dialect, join)?,
        count: args.count,
        strategies: args.strategy.iter().map(find).collect::<anyhow::Result<_>>()?,
        seed: args.seed.unwrap_or_else(|| OsDice.below(u64::MAX)),
        pull: args.pull,
    })
}

fn plan(
    args: &JoinArgs,
    name: String,
    dialect: Dialect,
    join: Option<JoinCode>,
) -> anyhow::Result<AgentPlan> {
    let league = args.league.as_ref().map(|id| id.parse()).transpose();
    let unspecified = args.listen.is_some_and(|at| at.ip().is_unspecified());
    ensure!(
        !unspecified || args.endpoint.is_some(),
        "--listen: nobody can call {}; say with --endpoint where this machine is called",
        args.listen.map(|at| at.ip().to_string()).unwrap_or_default()
    );
    Ok(AgentPlan {
        manager: client::mcp(&args.manager)?,
        league: league.map_err(|bad| anyhow!("--league: {bad}"))?,
        listen: args.listen,
        endpoint: args.endpoint.clone(),
        name,
        dialect,
        join,
        data: args.data.clone(),
        networks: vec![],
    })
}

/// The key itself, or what stands in the file of that name.
fn join_key(given: &str) -> anyhow::Result<JoinCode> {
    let path = Path::new(given);
    if path.is_file() {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the join key in {given}"))?;
        return Ok(JoinCode::new(text.trim()));
    }
    // What looks like a path must not be sent anywhere as if it were a key.
    ensure!(!given.contains(['/', '\\']), "--join-key: there is no file {given}");
    Ok(JoinCode::new(given.trim()))
}

/// What an agent says: who it is once it has joined, and what keeps it from joining.
struct Voice {
    json: bool,
    count: usize,
    component: Component,
    joined: RefCell<Vec<Joined>>,
    complained: RefCell<Option<String>>,
}

impl Voice {
    fn new(json: bool, count: usize, component: Component) -> Self {
        let (joined, complained) = (RefCell::new(vec![]), RefCell::new(None));
        Self { json, count, component, joined, complained }
    }

    fn tell(&self, news: AgentNews) {
        match news {
            AgentNews::Trouble(error) => self.complain(&error),
            AgentNews::Joined(joined) => self.welcome(joined),
        }
    }

    /// The same trouble is told once.
    fn complain(&self, error: &RegisterError) {
        let text = error.to_string();
        if self.complained.borrow().as_ref() != Some(&text) {
            let told = format!("{text}; trying again until it answers, Ctrl-C stops");
            logging::tell(Level::Warning, self.component, &told);
            self.complained.replace(Some(text));
        }
    }

    fn welcome(&self, new: Joined) {
        if !self.json {
            let Joined { id, name, league, endpoint } = &new;
            let way = match endpoint {
                Some(endpoint) => format!("called at {endpoint}"),
                None => "fetches its turns".into(),
            };
            let does = match self.component {
                Component::Referee => "officiates in",
                Component::Player | Component::Manager => "plays in",
            };
            output::offer(&format!("  {id} ({name}) {does} {league}, {way}\n"));
        }
        let mut joined = self.joined.borrow_mut();
        joined.push(new);
        if self.json && joined.len() == self.count {
            let agents: Vec<Value> = joined.iter().map(as_json).collect();
            output::offer(&format!("{}\n", json!({"agents": agents})));
        }
    }
}

fn as_json(joined: &Joined) -> Value {
    json!({
        "id": joined.id,
        "display_name": joined.name,
        "league_id": joined.league.as_str(),
        "endpoint": joined.endpoint,
    })
}

fn explained(error: AgentError) -> Failure {
    let hint = match &error {
        AgentError::Listen { .. } => "choose another address with --listen, port 0 is a free one",
        AgentError::Data { .. } | AgentError::Register(RegisterError::Keep(_)) => {
            "choose another directory with --data DIR"
        }
        AgentError::Register(RegisterError::NotTakenBack { .. }) => {
            "remove that file to register as a newcomer; a new token from the administrator goes into it"
        }
        AgentError::Register(RegisterError::Rejected(report)) => refused(report),
        AgentError::Expelled { .. } => {
            "start it again with the token that the administrator of the league has for it: with \
             --data DIR it goes into the file in which the old one is kept; an agent that was \
             banned or shut down must be reinstated first (`league reinstate`)"
        }
        AgentError::Register(RegisterError::Ask { .. } | RegisterError::Incomplete(_)) => {
            "does --manager lead to a league manager?"
        }
    };
    Failure::Failed(anyhow::Error::new(error).context(Hint(hint.into())))
}

/// What to try after the manager's no.
fn refused(report: &ErrorReport) -> &'static str {
    match report.code.known() {
        Some(Code::L003) => {
            "an agent at this address is in the league already: one that was started with --data DIR \
             comes back under its id; one that lost its token needs the administrator's `league \
             release`, or `league rotate` if it is on another machine now; for another one choose another port with --listen"
        }
        Some(Code::E012) => {
            "players of a league with a roster need their own code (--join-code), each works once \
             unless the administrator lets the place go (`league release`); referees the league's key (--join-key), which lies in the manager's data directory"
        }
        Some(Code::E003) => {
            "a manager that others can reach calls private addresses only if its administrator lists \
             them (allowed_networks); --endpoint says where this agent is called"
        }
        Some(Code::E019 | Code::L002) => {
            "`league create` founds another league; --league chooses one"
        }
        Some(Code::E018 | Code::L001) => "is this program as new as the manager?",
        _ => "`league status --manager URL` shows the leagues of a manager; --league chooses one",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_no_has_a_hint_that_fits() {
        for (code, expected) in [
            (Code::L003, "--data DIR"),
            (Code::E012, "--join-code"),
            (Code::E003, "allowed_networks"),
            (Code::E019, "league create"),
            (Code::E014, "league status"),
        ] {
            let hint = refused(&ErrorReport::new(code, ""));
            assert!(hint.contains(expected), "{code:?}: {hint}");
        }
    }
}
