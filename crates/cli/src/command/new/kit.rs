//! What `league new` writes: templates, and the kits themselves, which the program carries with it.

use super::Language;

/// A file that is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct File {
    /// Where, in the new folder.
    pub(super) path: &'static str,
    /// What stands in it; `{{name}}` is the agent's name, `{{crate}}` that of its crate, and
    /// `{{agent}}` where the crate `league-agent` is.
    pub(super) text: &'static str,
}

/// An agent to begin with.
#[derive(Debug)]
pub(super) struct Kit {
    /// What people call the language.
    pub(super) language: &'static str,
    /// The file that the author edits.
    pub(super) edit: &'static str,
    /// How the agent is run, in its folder.
    pub(super) run: &'static str,
    /// How it is tested.
    pub(super) test: &'static str,
    /// How it is checked.
    pub(super) check: &'static str,
    templates: &'static [File],
    carried: &'static [File],
}

/// The files at `$paths` of the folder `$root`, which lies in the folder of the workspace.
macro_rules! files {
    ($root:literal: $($path:literal)*) => {
        files!($root: $($path => $path)*)
    };
    ($root:literal: $($from:literal => $path:literal)*) => {
        &[$(File {
            path: $path,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $root, $from)),
        },)*]
    };
}

impl Kit {
    /// The kit of a language.
    pub(super) const fn of(language: Language) -> Self {
        match language {
            Language::Python => PYTHON,
            Language::Typescript => TYPESCRIPT,
            Language::Rust => RUST,
        }
    }

    /// Everything that is written.
    pub(super) fn files(&self) -> impl Iterator<Item = &'static File> {
        self.templates.iter().chain(self.carried)
    }
}

const PYTHON: Kit = Kit {
    language: "Python",
    edit: "agent.py",
    run: "python3 agent.py --manager http://127.0.0.1:8000",
    test: "python3 -m unittest",
    check: "python3 agent.py --check",
    templates: files!("sdks/python/template/":
        "agent.py" => "agent.py"
        "test_agent.py" => "test_agent.py"
        "README.md" => "README.md"
        "gitignore" => ".gitignore"
    ),
    carried: files!("sdks/python/":
        "league_agent/__init__.py"
        "league_agent/agent.py"
        "league_agent/call.py"
        "league_agent/check.py"
        "league_agent/chooser.py"
        "league_agent/desk.py"
        "league_agent/endpoint.py"
        "league_agent/keep.py"
        "league_agent/lookout.py"
        "league_agent/mailbox.py"
        "league_agent/manager.py"
        "league_agent/match.py"
        "league_agent/message.py"
        "league_agent/player.py"
        "league_agent/program.py"
        "league_agent/proof.py"
        "league_agent/py.typed"
        "league_agent/refusal.py"
        "league_agent/register.py"
        "league_agent/settings.py"
        "league_agent/trust.py"
        "league_agent/version.py"
    ),
};

const TYPESCRIPT: Kit = Kit {
    language: "JavaScript, with types for TypeScript,",
    edit: "agent.js",
    run: "node agent.js --manager http://127.0.0.1:8000",
    test: "node --test",
    check: "node agent.js --check",
    templates: files!("sdks/typescript/template/":
        "agent.js" => "agent.js"
        "agent.test.js" => "agent.test.js"
        "package.json" => "package.json"
        "README.md" => "README.md"
        "gitignore" => ".gitignore"
    ),
    carried: files!("sdks/typescript/":
        "league_agent/agent.js"
        "league_agent/call.js"
        "league_agent/check.js"
        "league_agent/chooser.js"
        "league_agent/desk.js"
        "league_agent/endpoint.js"
        "league_agent/index.d.ts"
        "league_agent/index.js"
        "league_agent/keep.js"
        "league_agent/log.js"
        "league_agent/lookout.js"
        "league_agent/mailbox.js"
        "league_agent/manager.js"
        "league_agent/match.js"
        "league_agent/message.js"
        "league_agent/player.js"
        "league_agent/program.js"
        "league_agent/proof.js"
        "league_agent/refusal.js"
        "league_agent/register.js"
        "league_agent/settings.js"
        "league_agent/trust.js"
        "league_agent/version.js"
    ),
};

const RUST: Kit = Kit {
    language: "Rust",
    edit: "src/main.rs",
    run: "cargo run --release -- --manager http://127.0.0.1:8000",
    test: "cargo test",
    check: "cargo run --release -- --check",
    templates: files!("sdks/rust/template/":
        "main.rs" => "src/main.rs"
        "manifest.toml" => "Cargo.toml"
        "README.md" => "README.md"
        "gitignore" => ".gitignore"
    ),
    carried: &[],
};
