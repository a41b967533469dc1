//! What will be done: flags checked and resolved.

use anyhow::{anyhow, ensure};
use league_agent::ambient::OsDice;
use league_agent::strategy::House;
use league_core::dice::Dice;
use league_core::game;
use league_core::limits::{PLAYERS_MAX, REFEREES_MAX};
use league_core::policy::{BadRule, Policy, RuleSet};
use league_core::schedule;
use league_server::runtime::PlayPlan;

use crate::args::PlayArgs;
use crate::report::Hint;

/// The league that `args` describe.
pub(crate) fn play(args: &PlayArgs) -> anyhow::Result<PlayPlan> {
    ensure!(
        (2..=PLAYERS_MAX).contains(&args.players),
        "--players: expected 2 to {PLAYERS_MAX}, got {}",
        args.players
    );
    ensure!(
        (1..=REFEREES_MAX).contains(&args.referees),
        "--referees: expected 1 to {REFEREES_MAX}, got {}",
        args.referees
    );
    known("--game", &args.game, game::NAMES)?;
    known("--format", &args.format, schedule::NAMES)?;
    let names: Vec<_> = House::ALL.iter().map(|house| house.name()).collect();
    let find = |name: &String| {
        known("--strategies", name, &names)?;
        House::find(name).ok_or_else(|| anyhow!("--strategies: no strategy"))
    };
    let strategies = args.strategies.iter().map(find).collect::<anyhow::Result<_>>()?;
    Ok(PlayPlan {
        policy: policy(args)?,
        players: args.players,
        referees: args.referees,
        game: args.game.clone(),
        format: args.format.clone(),
        strategies,
        seed: args.seed.unwrap_or_else(|| OsDice.below(u64::MAX)),
        data: args.data.clone(),
    })
}

fn policy(args: &PlayArgs) -> anyhow::Result<Policy> {
    let rule_set: RuleSet = args.rules.parse().map_err(|bad| wrong("--rules", &bad))?;
    let mut rules = vec![("announcement_lead", "0s")];
    for assignment in &args.set {
        let (key, value) = assignment
            .split_once('=')
            .ok_or_else(|| anyhow!("--set: expected KEY=VALUE, got `{assignment}`"))?;
        if !Policy::KEYS.contains(&key) {
            let hint = format!("the rules are {}", Policy::KEYS.join(", "));
            return Err(anyhow!("--set: there is no rule `{key}`").context(Hint(hint)));
        }
        rules.push((key, value));
    }
    let policy = Policy::build(rule_set, rules);
    let policy = policy.map_err(|bad| wrong(&format!("--set {}", bad.key), &bad))?;
    policy.time_scaled(args.time_scale).map_err(|bad| wrong("--time-scale", &bad))
}

/// What is wrong with the value of `flag`.
fn wrong(flag: &str, bad: &BadRule) -> anyhow::Error {
    anyhow!("{flag}: expected {}, got `{}`", bad.expected, bad.got)
}

fn known(flag: &str, got: &str, names: &[&str]) -> anyhow::Result<()> {
    let (last, others) = names.split_last().expect("there is always something to choose from");
    let list = match others {
        [] => (*last).to_string(),
        others => format!("{} or {last}", others.join(", ")),
    };
    ensure!(names.contains(&got), "{flag}: expected {list}, got `{got}`");
    Ok(())
}
