//! What will be done: flags checked and resolved.

use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{anyhow, ensure};
use league_agent::ambient::OsDice;
use league_agent::player::Cast;
use league_core::dice::Dice;
use league_core::game;
use league_core::limits::{PLAYERS_MAX, REFEREES_MAX};
use league_core::policy::{BadRule, Policy, RuleSet};
use league_core::proof::Secret;
use league_core::schedule;
use league_server::runtime::PlayPlan;
use league_wire::Dialect;

use crate::args::PlayArgs;
use crate::report::Hint;

/// Holds the secret where files are not wanted.
const SECRET_VARIABLE: &str = "LEAGUE_SECRET";
/// Factors with which a league on one machine still works.
const TIME_SCALES: RangeInclusive<f64> = 0.001..=1000.0;
/// Nobody on this machine needs time to get ready for a round.
const LEAD: [(&str, &str); 1] = [("announcement_lead", "0s")];

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
    let names: Vec<_> = Cast::all().map(Cast::name).collect();
    let find = |name: &String| {
        known("--strategies", name.trim(), &names)?;
        Cast::find(name.trim()).ok_or_else(|| anyhow!("--strategies: no strategy"))
    };
    let strategies = args.strategies.iter().map(find).collect::<anyhow::Result<_>>()?;
    let names: Vec<_> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
    let find = |name: &String| {
        known("--dialects", name.trim(), &names)?;
        name.trim().parse().map_err(|_| anyhow!("--dialects: no dialect"))
    };
    let dialects = args.dialects.iter().map(find).collect::<anyhow::Result<_>>()?;
    Ok(PlayPlan {
        policy: policy(&args.rules, &args.set, args.time_scale)?,
        players: args.players,
        referees: args.referees,
        game: args.game.clone(),
        format: args.format.clone(),
        strategies,
        dialects,
        seed: args.seed.unwrap_or_else(|| OsDice.below(u64::MAX)),
        data: args.data.clone(),
        secret: secret(&args.data)?,
        new: args.new,
    })
}

/// The secret of the environment, which must never be repeated, however wrong it is.
fn secret(data: &Path) -> anyhow::Result<Option<Secret>> {
    let Some(text) = std::env::var_os(SECRET_VARIABLE) else { return Ok(None) };
    let secret = text.to_str().and_then(|text| text.trim().parse().ok());
    secret.map(Some).ok_or_else(|| {
        let file = data.join("secret");
        let hint =
            format!("`openssl rand -hex 32` makes one; without it {} counts", file.display());
        anyhow!("{SECRET_VARIABLE}: expected a secret of 64 lower-case hex digits")
            .context(Hint(hint))
    })
}

/// The rules of a rule set with those that were set, in `factor` times the time.
pub(crate) fn policy(rules: &str, set: &[String], factor: f64) -> anyhow::Result<Policy> {
    let rule_set: RuleSet = rules.parse().map_err(|bad| wrong("--rules", &bad))?;
    let mut typed = vec![];
    for assignment in set {
        let (key, value) = assignment
            .split_once('=')
            .ok_or_else(|| anyhow!("--set: expected KEY=VALUE, got `{assignment}`"))?;
        let (key, value) = (key.trim(), value.trim());
        if !Policy::KEYS.contains(&key) {
            let hint = "`league rules` lists them".to_string();
            return Err(anyhow!("--set: there is no rule `{key}`").context(Hint(hint)));
        }
        typed.push((key, value));
    }
    let policy = built(rule_set, &typed).map_err(|bad| blame(rule_set, &typed, &bad))?;
    ensure!(
        TIME_SCALES.contains(&factor),
        "--time-scale: expected {} to {}, got `{factor}`",
        TIME_SCALES.start(),
        TIME_SCALES.end()
    );
    let scaled = policy.time_scaled(factor);
    scaled.map_err(|bad| anyhow!("--time-scale {factor}: {bad}"))
}

fn built(rule_set: RuleSet, typed: &[(&str, &str)]) -> Result<Policy, BadRule> {
    Policy::build(rule_set, LEAD.iter().chain(typed).copied())
}

/// What is wrong with the rules, named after what was typed: a rule that nobody touched may only
/// contradict one that somebody did.
fn blame(rule_set: RuleSet, typed: &[(&str, &str)], bad: &BadRule) -> anyhow::Error {
    let own = typed.iter().rev().find(|(key, _)| *key == bad.key);
    if let Some((key, value)) = own {
        let got = if bad.got == "0" { value } else { bad.got.as_str() };
        return anyhow!("--set {key}: expected {}, got `{got}`", bad.expected);
    }
    let without = |index: usize| {
        let (before, after) = (&typed[..index], &typed[index + 1..]);
        built(rule_set, &[before, after].concat())
    };
    let culprit = (0..typed.len()).rev().find(|index| without(*index).as_ref() != Err(bad));
    match culprit {
        Some(index) => anyhow!("--set {}={}: {bad}", typed[index].0, typed[index].1),
        None => anyhow!("--set: {bad}"),
    }
}

/// What is wrong with the value of `flag`.
fn wrong(flag: &str, bad: &BadRule) -> anyhow::Error {
    anyhow!("{flag}: expected {}, got `{}`", bad.expected, bad.got)
}

pub(crate) fn known(flag: &str, got: &str, names: &[&str]) -> anyhow::Result<()> {
    let (last, others) = names.split_last().expect("there is always something to choose from");
    let list = match others {
        [] => (*last).to_string(),
        others => format!("{} or {last}", others.join(", ")),
    };
    ensure!(names.contains(&got), "{flag}: expected {list}, got `{got}`");
    Ok(())
}
