//! Agents that do everything right but one thing. The checker is right if it finds exactly that.

mod back;
mod front;
mod officiate;
mod player;
mod referee;
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
    runtime.block_on(async {
        match broken.starts_with("referee.") {
            true => referee::run(&broken).await,
            false => player::run(&broken).await,
        }
    });
}

/// Checks an agent that fails the case `broken`, if that is the name of one.
async fn examine(broken: &str, dialect: Dialect) -> Report {
    let program = std::env::current_exe().unwrap();
    let command = format!(
        "{BREAK}={broken} MANAGER={{manager}} PORT={{port}} DATA={{data}} DIALECT={{dialect}} \
         exec '{}' --exact breakable::an_agents_process --nocapture",
        program.display()
    );
    let role = if broken.starts_with("referee.") { Role::Referee } else { Role::Player };
    // Whether several matches run at once shows only where nothing else does.
    let is_crowd = broken == "referee.service.several";
    let plan = Plan {
        role,
        target: Target::Started(command),
        dialect: Some(dialect),
        only: if is_crowd { vec!["referee.service".into()] } else { vec![] },
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

#[test]
fn a_referee_that_does_everything_right_fails_nothing() {
    let report = runtime().block_on(examine("referee.nothing", Dialect::Flat));
    assert!(failed(&report).is_empty(), "{}", text::whole(&report));
    let passed = report.checked.iter().filter(|checked| checked.verdict == Verdict::Pass).count();
    assert!(passed >= 30, "only {passed} passed\n{}", text::whole(&report));
}

/// Agents that are examined at the same time.
const TOGETHER: usize = 6;
/// One of so many switches is tried where time is short.
const SAMPLE: usize = 5;

/// Breaks an agent in every way there is a case for, and says where something else was found.
async fn each_switch(role: Role) -> Vec<String> {
    // One crowd at a time: times are judged, and the machine may be small.
    static CROWD: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let _alone = CROWD.lock().await;
    let (mut running, mut wrong) = (tokio::task::JoinSet::new(), vec![]);
    let every = if std::env::var_os("LEAGUE_LONG").is_some() { 1 } else { SAMPLE };
    let mut waiting = cases(role).into_iter().step_by(every);
    loop {
        while running.len() < TOGETHER
            && let Some(case) = waiting.next()
        {
            let dialect = case.dialects.first().copied().unwrap_or(Dialect::Flat);
            running.spawn(async move { (case.id, examine(case.id, dialect).await) });
        }
        let Some(done) = running.join_next().await else { return wrong };
        let (id, report) = done.unwrap();
        let found = failed(&report);
        if found != BTreeSet::from([id]) {
            wrong.push(format!("{id}: found {found:?}\n{}", text::whole(&report)));
        }
    }
}

#[test]
fn a_player_that_does_one_thing_wrong_fails_exactly_that_case() {
    let wrong = runtime().block_on(each_switch(Role::Player));
    assert!(wrong.is_empty(), "{} switches\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_referee_that_does_one_thing_wrong_fails_exactly_that_case() {
    let wrong = runtime().block_on(each_switch(Role::Referee));
    assert!(wrong.is_empty(), "{} switches\n{}", wrong.len(), wrong.join("\n"));
}
