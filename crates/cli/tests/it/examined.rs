//! The checker is checked: our own manager passes every case, and a manager that does one thing
//! wrong fails exactly the case that is about it.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use league_check::manager::Door;
use league_check::{Case, Level, Plan, Report, Role, Target, Verdict, cases, check};
use league_wire::Dialect;

use crate::liar::{Liar, Switch};
use crate::lies;
use crate::program::{Place, Run};
use crate::service::Office;

/// Managers that lie at the same time.
const AT_ONCE: usize = 4;
/// One of so many lies is told where time is short.
const SAMPLE: usize = 5;

/// Checks a manager at `address` as its administrator.
fn examine(address: &str, token: &str, dialect: Dialect, only: &[&str]) -> Report {
    let plan = Plan {
        role: Role::Manager,
        target: Target::Running(format!("http://{address}/mcp").parse().unwrap()),
        dialect: Some(dialect),
        only: only.iter().map(ToString::to_string).collect(),
        level: Level::Should,
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        patience: Duration::from_secs(10),
        token: None,
        league: None,
        door: Door { admin: Some(token.into()), ..Door::default() },
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(check(&plan, &mut |_| {})).unwrap()
}

/// A manager, and the administrator's token.
fn office(place: &Place) -> (Office, String) {
    let office = Office::open(place);
    let token = std::fs::read_to_string(place.data().join("admin-token")).unwrap();
    (office, token.trim().to_string())
}

/// What became of the cases that did not pass.
fn troubles(report: &Report) -> Vec<String> {
    let told = report.checked.iter().filter_map(|checked| {
        let id = checked.case.id;
        match &checked.verdict {
            Verdict::Pass => None,
            Verdict::Skipped(reason) if reason.starts_with("not tried in") => None,
            Verdict::Skipped(reason) => Some(format!("{id} skipped: {reason}")),
            Verdict::Fail(finding) => Some(format!("{id} failed: {}", finding.sentence)),
            Verdict::CheckerError(why) => Some(format!("{id} not judged: {why}")),
        }
    });
    told.collect()
}

// req: WIRE-8, REG-1, RESULT-2
#[test]
fn our_own_manager_passes_every_case_in_every_dialect() {
    let place = Place::new();
    let (office, token) = office(&place);
    for dialect in Dialect::ALL {
        let report = examine(&office.address, &token, dialect, &[]);
        assert_eq!(troubles(&report), [""; 0], "{dialect}");
        let tried = report.checked.iter().filter(|one| one.verdict == Verdict::Pass).count();
        assert!(tried >= 120, "only {tried} cases in {dialect}");
    }
}

/// A command that starts our manager as somebody else's: nobody is its administrator.
const STRANGER: &str = "printf '[league]\\nid = \"own\"\\nplayers_max = {players}\\n[league.start]\\n\
     players = {players}\\n[league.set]\\nannouncement_lead = \"0s\"\\n' > {data}/league.toml && \
     exec LEAGUE serve --config {data}/league.toml --listen 127.0.0.1:{port} --data {data}/d";

#[test]
fn a_manager_that_nobody_may_found_leagues_at_is_started_for_each_of_them() {
    let place = Place::new();
    let command = STRANGER.replace("LEAGUE", env!("CARGO_BIN_EXE_league"));
    let mut check =
        place.command("check manager --json --only manager.report --only manager.place");
    let run = Run::of(check.args(["--start", &command]).output().unwrap());
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let cases = report["cases"].as_array().unwrap();
    assert!(cases.len() > 30, "{}", cases.len());
    for case in cases {
        assert_eq!(case["verdict"], "pass", "{case}");
    }
}

#[test]
fn there_is_a_lie_for_every_case() {
    let lies: BTreeSet<&str> = lies::all().iter().map(|switch| switch.case).collect();
    let cases: BTreeSet<&str> = cases(Role::Manager).iter().map(|case| case.id).collect();
    let without: Vec<_> = cases.difference(&lies).collect();
    let unknown: Vec<_> = lies.difference(&cases).collect();
    assert!(without.is_empty() && unknown.is_empty(), "{without:?} {unknown:?}");
}

fn is_long() -> bool {
    std::env::var_os("LEAGUE_LONG").is_some()
}

/// The cases that are tried beside the one that must fail: those of its group.
fn beside(case: &str) -> Vec<&str> {
    let group = case.rsplit_once('.').map(|(group, _)| group);
    // Registering is what everything begins with.
    group.into_iter().chain(["manager.register.player"]).collect()
}

/// What is wrong with the verdicts about a manager that lies as `switch` says.
fn judge(switch: Switch) -> Option<String> {
    // A manager of its own: each takes only so many registrations in a minute.
    let place = Place::new();
    let (office, token) = office(&place);
    let liar = Liar::before(&office.address, switch);
    let only = beside(switch.case);
    let report = examine(&liar.address.to_string(), &token, switch.dialect, &only);
    let failed: Vec<&'static Case> = report
        .checked
        .iter()
        .filter(|one| matches!(one.verdict, Verdict::Fail(_)))
        .map(|one| one.case)
        .collect();
    let is_alone = failed.len() == 1 && failed[0].id == switch.case;
    let is_judged = !report.checked.iter().any(|one| {
        let skipped = |reason: &str| {
            reason.starts_with("not tried in") || reason.starts_with("what it builds on fails")
        };
        match &one.verdict {
            Verdict::Pass | Verdict::Fail(_) => false,
            Verdict::Skipped(reason) => !skipped(reason),
            Verdict::CheckerError(_) => true,
        }
    });
    let told = || format!("{}: {:#?}", switch.case, troubles(&report));
    (!is_alone || !is_judged).then(told)
}

#[test]
fn every_lie_is_found_by_its_case_and_by_no_other() {
    let (only, every) = match std::env::var("LEAGUE_LIE") {
        Ok(only) => (only, 1),
        Err(_) => (String::new(), if is_long() { 1 } else { SAMPLE }),
    };
    let lies = lies::all().into_iter().filter(|switch| switch.case.contains(&only));
    let lies: Vec<Switch> = lies.step_by(every).collect();
    let (waiting, wrong) = (Mutex::new(lies), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(switch) = { waiting.lock().unwrap().pop() } {
                    let found = judge(switch);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} lies: {}", wrong.len(), wrong.join("\n"));
}
