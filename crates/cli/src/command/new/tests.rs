//! That the program carries whole kits.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;

/// The files in a folder of the workspace, without what is left behind by running them.
fn listed(folder: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn no_file_of_a_kit_is_forgotten() {
    for (language, sdk) in [(Language::Python, "python"), (Language::Typescript, "typescript")] {
        let kit = Kit::of(language);
        let (inside, beside): (Vec<_>, Vec<_>) =
            kit.files().map(|file| file.path).partition(|path| path.contains('/'));
        let inside: BTreeSet<String> =
            inside.iter().map(|path| path.replace("league_agent/", "")).collect();
        assert_eq!(inside, listed(&format!("sdks/{sdk}/league_agent")), "{sdk}");
        let beside: BTreeSet<String> =
            beside.iter().map(|path| path.trim_start_matches('.').to_string()).collect();
        assert_eq!(beside, listed(&format!("sdks/{sdk}/template")), "{sdk}");
    }
}

#[test]
fn what_is_edited_is_written_and_names_the_agent() {
    for language in Language::value_variants() {
        let kit = Kit::of(*language);
        let edited = kit.files().find(|file| file.path == kit.edit).unwrap();
        assert!(edited.text.contains("{{name}}"), "{}", kit.edit);
        let readme = kit.files().find(|file| file.path == "README.md").unwrap();
        for command in [kit.run, kit.test, kit.check] {
            assert!(readme.text.contains(command), "{command} is not in README.md");
        }
    }
}

#[test]
fn what_is_written_in_rust_is_an_example_that_is_built() {
    let written = Kit::of(Language::Rust).files().find(|file| file.path == "src/main.rs").unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent/examples/player.rs");
    let example = fs::read_to_string(example).unwrap();
    assert_eq!(written.text.replace("{{name}}", "Ada"), example);
}

#[test]
fn every_name_makes_a_crate() {
    for (name, expected) in
        [("Ada the 1st", "ada-the-1st"), ("7", "player-7"), ("日本", "player"), ("Zoë!", "zo")]
    {
        assert_eq!(crate_name(name), expected, "{name}");
    }
}
