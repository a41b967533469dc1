//! The cases as a list, and the page that is made from them.

use std::collections::BTreeSet;
use std::path::Path;

use league_check::{Role, cases, guide};

#[test]
fn the_page_says_what_the_cases_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/check.md");
    let page = guide::page();
    if std::env::var_os("LEAGUE_UPDATE").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(
        written == page,
        "docs/check.md is not what the cases say; LEAGUE_UPDATE=1 cargo test -p league-check"
    );
}

#[test]
fn names_are_unique_and_of_one_form() {
    let mut seen = BTreeSet::new();
    for role in [Role::Player, Role::Referee, Role::Manager] {
        for case in cases(role) {
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            let parts: Vec<&str> = case.id.split('.').collect();
            assert_eq!(parts.first(), Some(&role.name()), "{}", case.id);
            assert_eq!(parts.len(), 3, "{}", case.id);
            assert!(parts.iter().all(|part| part.chars().all(is_plain)), "{}", case.id);
            assert!(seen.insert(case.id), "{} is there twice", case.id);
            for text in [case.title, case.sent, case.wanted, case.why, case.section] {
                assert!(!text.is_empty(), "{} says too little", case.id);
            }
            assert!(case.why.ends_with('.'), "{}: why is a sentence", case.id);
            assert!(!case.title.ends_with('.'), "{}: a title has no dot", case.id);
        }
    }
}
