//! The page `docs/check.md`: every case, from the cases themselves.

use crate::case::{Case, Level, Role};
use crate::cases;

const INTRODUCTION: &str = include_str!("guide.md");

/// The page as it must stand.
pub fn page() -> String {
    let mut out = String::from(INTRODUCTION);
    for role in [Role::Player, Role::Referee, Role::Manager] {
        let cases = cases(role);
        if cases.is_empty() {
            continue;
        }
        let count = |level| cases.iter().filter(|case| case.level == level).count();
        let (must, should) = (count(Level::Must), count(Level::Should));
        let name = role.name();
        out.push_str(&format!("\n## Cases for a {name}\n\n{must} must, {should} should.\n"));
        cases.iter().for_each(|case| out.push_str(&entry(case)));
    }
    out
}

fn entry(case: &Case) -> String {
    let dialects = match case.dialects {
        [] => "every dialect".to_string(),
        some => some.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", "),
    };
    let requirements = match case.requirements {
        [] => String::new(),
        some => format!(" ({})", some.join(", ")),
    };
    format!(
        "\n### `{}`\n\n{}. **{}**, in {dialects}.\n\n* Sent: {}\n* Wanted: {}\n* Why: {}\n* See: {}{requirements}\n",
        case.id,
        case.title,
        case.level.name(),
        case.sent,
        case.wanted,
        case.why,
        case.section,
    )
}
