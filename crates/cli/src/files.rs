//! Whether this process may open as many files as a league of that size needs.

use anyhow::{anyhow, ensure};

use crate::output;
use crate::report::Hint;

/// An agent's door and both ends of one connection: with less it cannot even register.
const FILES_PER_AGENT_MIN: u64 = 3;
/// What an agent needs when everybody is talking.
const FILES_PER_AGENT: u64 = 8;
/// The journal, the runtime and the terminal.
const FILES_OWN: u64 = 16;

/// Refuses a league that cannot be seated, and warns of one that may get stuck.
pub(crate) fn check(agents: u64) -> anyhow::Result<()> {
    let Some(limit) = limit() else { return Ok(()) };
    let wanted = agents * FILES_PER_AGENT + FILES_OWN;
    let text = format!("{agents} agents need about {wanted} open files, and {limit} are allowed");
    let hint = format!("raise the limit with `ulimit -n {wanted}`, or play with fewer agents");
    ensure!(limit >= agents * FILES_PER_AGENT_MIN + FILES_OWN, anyhow!(text).context(Hint(hint)));
    if limit < wanted {
        output::say(&format!("warning: {text}; {hint}"));
    }
    Ok(())
}

/// The limit in force, where the system tells.
fn limit() -> Option<u64> {
    soft_limit(&std::fs::read_to_string("/proc/self/limits").ok()?)
}

fn soft_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_read_and_no_limit_is_none() {
        let text =
            "Limit  Soft Limit  Hard Limit  Units\nMax open files   1024   524288   files \n";
        assert_eq!(soft_limit(text), Some(1024));
        assert_eq!(soft_limit("Max open files  unlimited  unlimited  files"), None);
        assert_eq!(soft_limit(""), None);
    }
}
