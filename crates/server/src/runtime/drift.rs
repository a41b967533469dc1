//! Where a configuration says something else than the league was founded with.

use std::collections::BTreeMap;
use std::path::Path;

use league_core::manager::{Charter, PlayerAdmission, StartRule};
use league_wire::iso;

/// What `wanted` says otherwise than `there`, each as a sentence. A league keeps what it was
/// founded with, and whoever edits a file should not believe otherwise.
pub(super) fn differences(wanted: &Charter, there: &Charter) -> Vec<String> {
    let founded: BTreeMap<_, _> = there.rules.iter().map(|(key, value)| (key, value)).collect();
    let changed = wanted.rules.iter().filter_map(|(key, value)| {
        let had = founded.get(key).map_or("another value", |had| had.as_str());
        (had != value).then(|| (key.as_str(), value.clone(), had.to_string()))
    });
    let texts = [
        ("game", wanted.game.to_string(), there.game.to_string()),
        ("format", wanted.format.clone(), there.format.clone()),
        ("rules", wanted.rule_set.clone(), there.rule_set.clone()),
        ("start", start(wanted.start), start(there.start)),
        ("players_max", wanted.players_max.to_string(), there.players_max.to_string()),
    ];
    let texts = texts.into_iter().filter(|(_, wanted, had)| wanted != had);
    let sentence = |(key, wanted, had)| format!("{key} is {had} and not {wanted}");
    texts.chain(changed).map(sentence).collect()
}

/// What is wrong with a roster that is named for a league which is there already.
pub(super) fn roster(file: &Path, players: &PlayerAdmission) -> Option<String> {
    match players {
        PlayerAdmission::Open => {
            Some(format!("everybody may play, {} is not read", file.display()))
        }
        PlayerAdmission::Codes(_) if !file.is_file() => {
            let file = file.display();
            Some(format!("the roster is the one of the founding, and {file} is not there"))
        }
        PlayerAdmission::Codes(_) => None,
    }
}

fn start(rule: StartRule) -> String {
    match rule {
        StartRule::OnCommand => "manual".into(),
        StartRule::Players(count) => format!("{{ players = {count} }}"),
        StartRule::At(moment) => format!("{{ at = {} }}", iso::format(moment)),
    }
}

#[cfg(test)]
mod tests {
    use league_core::proof::{Keys, Secret};

    use super::*;
    use crate::manager::blueprint::{Blueprint, Start};

    fn charter(start: u32, timeout: &str) -> Charter {
        let keys = Keys::derive(&"ab".repeat(32).parse::<Secret>().unwrap());
        let wanted = Blueprint {
            league_id: Some("spring".into()),
            set: BTreeMap::from([("choice_timeout".into(), timeout.into())]),
            start: Some(Start::Players(start)),
            ..Blueprint::default()
        };
        wanted.charter(&keys).unwrap()
    }

    #[test]
    fn every_difference_is_named_with_what_holds() {
        let there = charter(2, "10s");
        assert_eq!(differences(&there, &there), Vec::<String>::new());
        let found = differences(&charter(7, "99s"), &there);
        assert_eq!(
            found,
            [
                "start is { players = 2 } and not { players = 7 }",
                "players_max is 2 and not 7",
                "choice_timeout is 10s and not 99s",
            ]
        );
    }

    #[test]
    fn a_roster_that_does_not_count_is_named() {
        let file = Path::new("/nowhere/nope.csv");
        assert!(roster(file, &PlayerAdmission::Open).unwrap().contains("everybody may play"));
        let codes = PlayerAdmission::Codes(vec![]);
        assert!(roster(file, &codes).unwrap().contains("nope.csv is not there"));
    }
}
