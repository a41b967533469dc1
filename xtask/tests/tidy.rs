//! Holds the house rules over the whole workspace. What a rule finds is shown with its reason and
//! its remedy; the rules themselves are tested beside their code.

use xtask::border::{manifest, room, tongue};
use xtask::source::RustFile;
use xtask::tree::Tree;
use xtask::{Offence, paper, shape, size, word};

#[test]
fn tidy_borders_between_crates() {
    let tree = tree();
    let manifests = tree.ending("/Cargo.toml").filter(|path| path.starts_with("crates/"));
    accept(manifests.flat_map(|path| manifest::offences(path, &text(&tree, path))));
}

#[test]
fn tidy_borders_between_rooms() {
    accept_rust(room::offences);
}

#[test]
fn tidy_words_of_the_protocol() {
    accept_rust(tongue::offences);
}

#[test]
fn tidy_sizes() {
    accept_rust(size::offences);
}

#[test]
fn tidy_words() {
    accept_rust(word::offences);
}

#[test]
fn tidy_openings() {
    accept_rust(shape::opening_offences);
}

#[test]
fn tidy_names_and_places() {
    accept(shape::path_offences(tree().paths()));
}

#[test]
fn tidy_lock_file() {
    let tree = tree();
    accept(shape::lock_offences(tree.paths(), &text(&tree, ".gitignore")));
}

#[test]
fn tidy_decision_records() {
    let tree = tree();
    let records = tree.ending(".md").filter(|path| path.starts_with("docs/adr/"));
    let numbered = records.filter(|path| !path.ends_with("/README.md"));
    accept(numbered.flat_map(|path| paper::adr_offences(path, &text(&tree, path))));
}

#[test]
fn tidy_links() {
    let tree = tree();
    let exists = |path: &str| tree.root().join(path).exists();
    let linked = |path: &str| paper::link_offences(path, &text(&tree, path), exists);
    accept(tree.ending(".md").flat_map(linked));
}

fn accept_rust(offences: impl Fn(&RustFile) -> Vec<Offence>) {
    let files = tree().rust().expect("every Rust file can be read");
    assert!(files.len() > 10, "only {} files were looked at", files.len());
    accept(files.iter().flat_map(offences));
}

fn accept(offences: impl IntoIterator<Item = Offence>) {
    let found: Vec<String> = offences.into_iter().map(|offence| offence.to_string()).collect();
    assert!(found.is_empty(), "{} offences\n\n{}\n", found.len(), found.join("\n\n"));
}

fn tree() -> Tree {
    Tree::workspace().expect("the workspace can be walked")
}

fn text(tree: &Tree, path: &str) -> String {
    tree.text(path).expect("a file that was found can be read")
}
