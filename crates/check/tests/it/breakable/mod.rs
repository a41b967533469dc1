//! Agents that do everything right but one thing. The checker is right if it finds exactly that.

pub(crate) mod front;
mod player;
mod sabotage;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use league_check::manager::Door;
use league_check::report::text;
use league_check::{Level, Plan, Report, Role, Target, Verdict, cases, check};
use league_wire::Dialect;

/// The name of the variable that says which case an agent's process fails.
const BREAK: &str = "LEAGUE_BREAKABLE";

/// Not a test: the process of a breakable agent, which the checker starts.
#[test]
fn an_agents_process() {
    let Ok(broken) = std::env::var(BREAK) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(player::run(&broken));
}

/// Checks an agent that fails the case `broken`, if that is the name of one.
async fn examine(broken: &str, dialect: Dialect) -> Report {
    let program = std::env::current_exe().unwrap();
    let command = format!(
        "{BREAK}={broken} MANAGER={{manager}} PORT={{port}} DATA={{data}} DIALECT={{dialect}} \
         exec '{}' --exact breakable::an_agents_process --nocapture",
        program.display()
    );
    let plan = Plan {
        role: Role::Player,
        target: Target::Started(command),
        dialect: Some(dialect),
        only: vec![],
        level: Level::Should,
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        patience: Duration::from_secs(20),
        token: None,
        league: None,
        door: Door::default(),
    };
    check(&plan, &mut |_| {}).await.unwrap()
}

fn failed(report: &Report) -> BTreeSet<&'static str> {
    let failed = |verdict: &Verdict| match verdict {
        Verdict::Fail(_) | Verdict::CheckerError(_) => true,
        Verdict::Pass | Verdict::Skipped(_) => false,
    };
    let all = report.checked.iter().filter(|checked| failed(&checked.verdict));
    all.map(|checked| checked.case.id).collect()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

#[test]
fn a_player_that_does_everything_right_fails_nothing() {
    runtime().block_on(async {
        for dialect in Dialect::ALL {
            let report = examine("nothing", dialect).await;
            assert!(failed(&report).is_empty(), "{dialect}: {}", text::whole(&report));
            let passed =
                report.checked.iter().filter(|checked| checked.verdict == Verdict::Pass).count();
            assert!(passed >= 40, "{dialect}: only {passed} passed\n{}", text::whole(&report));
        }
    });
}

/// Players that are examined at the same time.
const TOGETHER: usize = 8;

#[test]
fn a_player_that_does_one_thing_wrong_fails_exactly_that_case() {
    let all: Vec<&'static str> = cases(Role::Player).iter().map(|case| case.id).collect();
    let wrong: Vec<String> = runtime().block_on(async {
        let (mut running, mut wrong) = (tokio::task::JoinSet::new(), vec![]);
        let mut waiting = all.into_iter();
        loop {
            while running.len() < TOGETHER
                && let Some(id) = waiting.next()
            {
                let case = cases(Role::Player).into_iter().find(|case| case.id == id).unwrap();
                let dialect = case.dialects.first().copied().unwrap_or(Dialect::Flat);
                running.spawn(async move { (id, examine(id, dialect).await) });
            }
            let Some(done) = running.join_next().await else { break };
            let (id, report) = done.unwrap();
            let found = failed(&report);
            if found != BTreeSet::from([id]) {
                wrong.push(format!("{id}: found {found:?}\n{}", text::whole(&report)));
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{} switches\n{}", wrong.len(), wrong.join("\n"));
}
