//! The JSON Schemas of the protocol, for whoever writes an agent: `/schemas/` is the list of them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use bytes::Bytes;
use league_agent::endpoint::Answer;
use league_core::proof::hex;
use league_wire::{Dialect, MessageType, schema};
use sha2::{Digest, Sha256};

/// A page that never changes, and the mark by which a reader knows that it has it already.
struct Page {
    body: Bytes,
    mark: String,
}

/// Every page by its path.
static PAGES: LazyLock<BTreeMap<String, Page>> = LazyLock::new(|| {
    let page = |body: String| {
        let mark = hex(&Sha256::digest(&body)[..MARK_BYTES]);
        Page { body: body.into(), mark }
    };
    let kinds = || {
        Dialect::ALL
            .into_iter()
            .flat_map(|dialect| MessageType::ALL.iter().map(move |kind| (dialect, *kind)))
    };
    let mut pages: BTreeMap<_, _> = kinds()
        .map(|(dialect, kind)| {
            let path = format!("/schemas/{dialect}/{}", schema::file_name(kind));
            (path, page(schema::of(dialect, kind)))
        })
        .collect();
    pages.insert("/schemas/".into(), page(schema::index()));
    pages
});

/// As much of a hash as nobody meets twice by chance.
const MARK_BYTES: usize = 16;

/// The page at `path`; `None` if it is about something else.
pub(super) fn page(path: &str) -> Option<Answer> {
    let rest = path.strip_prefix("/schemas")?;
    let path = if rest.is_empty() { "/schemas/" } else { path };
    let page = PAGES.get(path)?;
    let answer =
        Answer { content_type: "application/schema+json", ..Answer::json(page.body.clone()) };
    let answer = if path == "/schemas/" { Answer::json(page.body.clone()) } else { answer };
    Some(answer.marked(page.mark.clone()))
}
