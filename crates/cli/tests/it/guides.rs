//! The guides, followed word by word: every block that is marked is written, run or kept running,
//! in the order in which it stands there.
//!
//! After the language of a block may follow `run` (it must end well), `terminal` (it keeps
//! running), `file=PATH` (it is written), and `long` or `check` (only with LEAGUE_LONG, or where
//! the program has that command).

use std::fs;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::kits::languages;
use crate::program::Place;
use crate::service::{PATIENCE, Service, free_address, get, request, until, until_within};

/// Where everything happens in the guides.
const WRITTEN: &str = "127.0.0.1:8000";

struct Block {
    line: usize,
    marks: Vec<String>,
    text: String,
}

impl Block {
    fn is(&self, mark: &str) -> bool {
        self.marks.iter().any(|own| own == mark)
    }

    fn file(&self) -> Option<&str> {
        self.marks.iter().find_map(|mark| mark.strip_prefix("file="))
    }
}

/// The blocks of a document that are marked.
fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = vec![];
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(info) if !inside => {
                inside = true;
                let marks = info.split_whitespace().skip(1).map(Into::into).collect();
                found.push(Block { line: index + 1, marks, text: String::new() });
            }
            Some(_) => inside = false,
            None if inside => {
                let block = found.last_mut().expect("a block was begun");
                block.text += line;
                block.text.push('\n');
            }
            None => {}
        }
    }
    found.retain(|block| !block.marks.is_empty());
    found
}

/// Somebody who follows a guide.
struct Reader {
    place: Place,
    address: SocketAddr,
    terminals: Vec<Service>,
    /// The processes whose children may still run.
    begun: Vec<u32>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        // What a block left in the background is gone by now, if nothing went wrong.
        for group in &self.begun {
            let mut kill = Command::new("kill");
            kill.args(["-TERM", "--", &format!("-{group}")]).stderr(Stdio::null());
            drop(kill.status());
        }
    }
}

impl Reader {
    fn shell(&self, text: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["-e", "-u", "-o", "pipefail", "-c", text]);
        command.current_dir(self.place.path()).stdin(Stdio::null());
        let programs = Path::new(env!("CARGO_BIN_EXE_league")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::split_paths(&path);
        let path = std::env::join_paths([programs.into()].into_iter().chain(path)).unwrap();
        command.env("PATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
        // `league serve` takes this port if nothing is said, and everybody looks for it there.
        command.env("LEAGUE_LISTEN", self.address.to_string());
        command.env("LEAGUE_MANAGER", format!("http://{}", self.address));
        for name in ["DATA", "SECRET", "ADMIN_TOKEN", "JOIN_KEY", "JOIN_CODE", "LOG", "BIN"] {
            command.env_remove(format!("LEAGUE_{name}"));
        }
        command
    }

    fn follow(&mut self, block: &Block) {
        let text = block.text.replace(WRITTEN, &self.address.to_string());
        if let Some(file) = block.file() {
            let file = self.place.path().join(file);
            fs::write(&file, text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        } else if block.is("terminal") {
            // The program takes the place of the shell, so that it is what is ended.
            let text = match text.trim_end().rsplit_once("&& ") {
                Some((before, last)) => format!("{before}&& exec {last}"),
                None => format!("exec {}", text.trim_end()),
            };
            self.terminals.push(Service::spawn(&self.place, self.shell(&text)));
            if text.contains("league serve") {
                let ready = get("GET", "/ready");
                until("the manager is ready", || {
                    request(&self.address.to_string(), &ready).filter(|(status, _)| *status == 200)
                });
            }
        } else {
            assert!(block.is("run"), "line {}: {:?}", block.line, block.marks);
            self.run(block, &text);
        }
    }

    /// Runs a block to its end, which must be a good one.
    fn run(&mut self, block: &Block, text: &str) {
        let line = block.line;
        let patience = if block.is("long") { PATIENCE * 10 } else { PATIENCE };
        let log = self.place.path().join(format!("block-{line}.txt"));
        let out = fs::File::create(&log).unwrap();
        let mut command = self.shell(text);
        command.stdout(out.try_clone().unwrap()).stderr(out);
        let mut child = command.process_group(0).spawn().unwrap();
        self.begun.push(child.id());
        let ended = until_within(patience, text, || child.try_wait().unwrap());
        let said = fs::read_to_string(log).unwrap();
        assert!(ended.success(), "line {line}: {ended}\n{text}\n{said}");
    }

    /// The league was played to its end, and nobody failed to play.
    fn check_league(&self, league: &str) {
        let page = get("GET", &format!("/api/v1/leagues/{league}/standings"));
        let (_, body) = request(&self.address.to_string(), &page).expect("the manager answers");
        let document: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(document["phase"], "completed", "{document}");
        let rows = document["standings"].as_array().unwrap();
        assert!(
            rows.iter().all(|row| row["played"] != 0 && row["technical_losses"] == 0),
            "{body}"
        );
    }
}

/// Follows the guide called `name`, in which a league is played.
fn follow(name: &str, league: &str) {
    if languages().is_none() {
        return;
    }
    let is_there = Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_ok();
    assert!(is_there || std::env::var_os("LEAGUE_STRANGERS").is_none(), "there is no curl");
    if !is_there {
        eprintln!("SKIPPED: curl is not there, and the guides need it");
        return;
    }
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide").join(name);
    let blocks = blocks(&fs::read_to_string(guide).unwrap());
    let place = Place::new();
    let can_check = place.run("check --help").code == Some(0);
    let is_long = std::env::var_os("LEAGUE_LONG").is_some();
    let mut reader = Reader { place, address: free_address(), terminals: vec![], begun: vec![] };
    for block in &blocks {
        if (block.is("long") && !is_long) || (block.is("check") && !can_check) {
            continue;
        }
        reader.follow(block);
    }
    reader.check_league(league);
}

#[test]
fn a_player_is_written_in_ten_minutes() {
    follow("write-a-player.md", "mine");
}

#[test]
fn any_language_will_do() {
    follow("own-language.md", "mine");
}

#[test]
fn a_league_is_run_for_a_class() {
    follow("class.md", "spring");
}

#[test]
fn a_language_model_plays() {
    follow("language-model.md", "chat");
}

#[test]
fn blocks_are_told_apart_by_their_marks() {
    let text = "a\n```sh run\nx\ny\n```\n```json\n{}\n```\n```sh terminal long\nz\n```\n";
    let found = blocks(text);
    assert_eq!(found.len(), 2, "what is not marked is only shown");
    assert_eq!((found[0].line, found[0].text.as_str()), (2, "x\ny\n"));
    assert!(found[1].is("terminal") && found[1].is("long") && !found[1].is("run"));
}
