//! The record for people: a list of matches, or one match message by message.

use std::fmt::Write;
use std::path::Path;

use league_core::game::{Move, Turn};
use league_core::manager::{ChoiceEvidence, DrawEvidence, Recorded};
use league_core::seat::Seat;
use league_core::time::Timestamp;
use league_core::verdict::Verdict;
use league_server::record::{
    Entry, Exchanged, Found, Kept, Kind, LeagueRecord, MatchRecord, Ordered, Post, Reshaped,
    TOLERATED, Transcript,
};
use league_wire::{Dialect, MessageType, iso};

use super::Told;
use super::mail::{self, Dated};

/// Every match with its result, the reason, and whether there is more to see.
pub(super) fn list(league: &LeagueRecord, matches: &[&MatchRecord], data: &Path) -> String {
    let mut out = String::new();
    let lines: Vec<_> = matches.iter().copied().map(line).collect();
    let width = |index: usize| lines.iter().map(|line| line[index].chars().count()).max();
    let widths: Vec<_> = (0..4).map(|index| width(index).unwrap_or(0)).collect();
    for [id, who, result, transcript, reason] in &lines {
        let [a, b, c, d] = [widths[0], widths[1], widths[2], widths[3]];
        let text = format!("  {id:a$}  {who:b$}  {result:c$}  {transcript:d$}  {reason}");
        out.push_str(text.trim_end());
        out.push('\n');
    }
    orders(&mut out, &league.orders.iter().collect::<Vec<_>>());
    let data = data.display();
    let first = matches.first().map(|record| record.match_id.to_string());
    match first {
        None if !league.matches.is_empty() => {
            writeln!(out, "  no such match among {} of league {}", league.matches.len(), league.id)
        }
        Some(id) => write!(
            out,
            "\n  `league trace --data {data} --league {} --match {id}` shows what was said\n",
            league.id
        ),
        None => writeln!(out, "  no match of league {} has been announced yet", league.id),
    }
    .expect("a string takes everything");
    out
}

/// What the administrator ordered, and why.
fn orders(out: &mut String, orders: &[&Ordered]) {
    if orders.is_empty() {
        return;
    }
    out.push_str("\n  orders of the administrator\n");
    for order in orders {
        let (at, word) = (iso::format(order.at), order.word());
        let about = order.about().map(|about| format!(" {about}")).unwrap_or_default();
        out.push_str(&format!("  {at}  {word}{about}: {}\n", printable(&order.reason)));
    }
}

/// Which agents turned out to want another shape than they registered with.
fn shapes(out: &mut String, changes: &[&Reshaped]) {
    if changes.is_empty() {
        return;
    }
    out.push_str("\n  shapes that were found\n");
    for change in changes {
        let (at, told) = (iso::format(change.at), printable(&change.told()));
        out.push_str(&format!("  {at}  {told}\n"));
    }
    out.push('\n');
}

fn line(record: &MatchRecord) -> [String; 5] {
    let pairing = record.pairing;
    let who = format!("{} – {}", pairing.a, pairing.b);
    let id = record.match_id.to_string();
    match &record.decided {
        None => [id, who, "no result yet".into(), String::new(), String::new()],
        Some((_, verdict, reason)) => {
            let transcript = match record.kept {
                Kept::Whole => "recorded",
                Kept::Expired => "expired",
                Kept::Nothing => "no transcript",
            };
            [id, who, result(record, *verdict), transcript.into(), printable(reason)]
        }
    }
}

/// How a match ended, in as few words as a list bears.
pub(super) fn result(record: &MatchRecord, verdict: Verdict) -> String {
    let player = |seat| record.pairing.player(seat);
    match verdict {
        Verdict::Won(seat) => format!("{} won", player(seat)),
        Verdict::Drawn => "draw".into(),
        Verdict::TechnicalLoss(seat) => format!("{} lost technically", player(seat)),
        Verdict::BothLost => "both lost technically".into(),
        Verdict::Cancelled => "cancelled".into(),
    }
}

/// Every message of the matches, the reason first.
pub(super) fn matches(
    league: &LeagueRecord,
    told: &[Told<'_>],
    post: &Post,
    (agent, bytes): (Option<&str>, bool),
) -> String {
    let is_shown = |letter: &&Exchanged| {
        told.iter().any(|told| Some(&told.record.match_id.to_string()) == letter.match_id.as_ref())
    };
    let (inside, outside): (Vec<&Exchanged>, Vec<&Exchanged>) =
        post.letters.iter().partition(is_shown);
    let mut outside = outside.into_iter().peekable();
    let mut out = String::new();
    orders(&mut out, &super::concerning(league, told, agent));
    shapes(&mut out, &super::reshaped(league, told, agent));
    for Told { record, found, is_whole } in told {
        if let Some(begins) = beginning(found, record) {
            let mut before = vec![];
            while let Some(letter) = outside.next_if(|letter| letter.at < begins) {
                before.push(letter);
            }
            letters(&mut out, &before, bytes);
        }
        head(&mut out, league, record, found);
        let id = record.match_id.to_string();
        let own = inside.iter().filter(|letter| letter.match_id.as_ref() == Some(&id));
        let own: Vec<&Exchanged> = own.copied().collect();
        match found {
            Found::Ours(transcript) => entries(&mut out, (transcript, &own), agent, bytes),
            Found::Foreign(json) => {
                out.push_str("\n  The referee sent a transcript in a form of its own:\n");
                indent(&mut out, &pretty(json));
            }
            Found::None if record.result.is_some() => {
                out.push_str("\n  transcript not available: the referee sent none\n");
            }
            Found::None if record.decided.is_some() => {
                out.push_str("\n  transcript not available: it was decided without a report\n");
            }
            Found::None => out.push_str("\n  transcript not available: there is no result yet\n"),
            Found::Expired => {
                out.push_str("\n  transcript expired: it was deleted, its hash is kept\n");
            }
            Found::Unreadable(why) => {
                out.push_str(&format!("\n  transcript not readable: {why}\n"));
            }
        }
        match found {
            Found::Ours(_) if *is_whole => {}
            Found::Ours(_) => {
                out.push_str("  what was said after the report has not been told (yet)\n")
            }
            Found::None | Found::Expired | Found::Foreign(_) | Found::Unreadable(_) => {
                letters(&mut out, &own, bytes);
            }
        }
        out.push('\n');
    }
    letters(&mut out, &outside.collect::<Vec<_>>(), bytes);
    if post.dropped > 0 {
        out.push_str(&format!("  {} letters of the league were not kept\n", post.dropped));
    }
    if post.unreadable > 0 {
        out.push_str(&format!("  {} letters of the league cannot be read\n", post.unreadable));
    }
    out
}

/// Everything that was said in one match, with the bodies if `bytes` are wanted.
pub(crate) fn transcript(transcript: &Transcript, bytes: bool) -> String {
    let mut out = String::new();
    entries(&mut out, (transcript, &[]), None, bytes);
    out
}

/// When a match began, as far as somebody told.
fn beginning(found: &Found, record: &MatchRecord) -> Option<Timestamp> {
    let told = match found {
        Found::Ours(transcript) => iso::parse(&transcript.began).ok(),
        Found::None | Found::Expired | Found::Foreign(_) | Found::Unreadable(_) => None,
    };
    told.or_else(|| record.decided.as_ref().map(|(at, ..)| *at))
}

/// Letters of the manager that belong to no match that is shown.
fn letters(out: &mut String, letters: &[&Exchanged], bytes: bool) {
    if letters.is_empty() {
        return;
    }
    let mut lines: Vec<_> =
        letters.iter().flat_map(|letter| mail::lines(letter, None, bytes)).collect();
    lines.sort_by_key(|(at, _)| *at);
    lines.iter().for_each(|(_, line)| out.push_str(line));
    out.push('\n');
}

/// Who played, who lost, and why.
fn head(out: &mut String, league: &LeagueRecord, record: &MatchRecord, found: &Found) {
    let named = |seat: Seat| {
        let id = record.pairing.player(seat).to_string();
        let name = league.names.get(&id).map_or("", String::as_str);
        format!("{id} {}", printable(name))
    };
    let players = format!("{} against {}", named(Seat::A), named(Seat::B));
    let (Some((_, verdict, reason)), Some((at, _, recorded))) = (&record.decided, &record.result)
    else {
        let decided = record.decided.as_ref();
        let how = decided.map(|(_, verdict, _)| result(record, *verdict));
        let how = how.unwrap_or_else(|| "no result yet".into());
        out.push_str(&format!("{}  {players}: {how}\n", record.match_id));
        if let Some((_, _, reason)) = decided {
            out.push_str(&format!("  Why: {}\n", printable(reason)));
        }
        out.push_str(&format!("  league {}, referee {}\n", league.id, record.referee));
        remarks(out, record);
        return;
    };
    out.push_str(&format!("{}  {players}: {}\n", record.match_id, result(record, *verdict)));
    out.push_str(&format!("  Why: {}\n", printable(reason)));
    if let Found::Ours(transcript) = found {
        for seat in Seat::BOTH.into_iter().filter(|seat| verdict.lost_technically(*seat)) {
            came_last(out, transcript, &record.pairing.player(seat).to_string(), reason);
        }
    }
    moves(out, record, recorded);
    out.push_str(&format!(
        "  league {}, attempt {}, referee {}, conversation {}, recorded {}\n",
        league.id,
        recorded.attempt,
        recorded.referee,
        recorded.conversation,
        iso::format(*at)
    ));
    remarks(out, record);
}

/// What came from `player` in place of what it owed, as far as the `reason` does not tell it.
fn came_last(out: &mut String, transcript: &Transcript, player: &str, reason: &str) {
    let theirs = |entry: &&Entry| entry.peer.as_deref() == Some(player);
    let came = |entry: &&Entry| match entry.kind {
        Kind::Received | Kind::Failed | Kind::Called => {
            entry.text.as_ref().is_some_and(|text| !text.starts_with(TOLERATED))
        }
        Kind::Sent | Kind::Event => false,
    };
    let question = |entry: &Entry| {
        let asked = |sent: &&Entry| sent.kind == Kind::Sent && sent.call == entry.call;
        transcript.entries.iter().find(asked).and_then(|sent| sent.name.as_deref())
    };
    // What became of the news of the loss says nothing about its cause.
    let is_owed = |entry: &&Entry| !question(entry).is_some_and(is_news_of_loss);
    let mut entries = transcript.entries.iter();
    let last = entries.rfind(|entry| theirs(entry) && came(entry) && is_owed(entry));
    let Some(entry) = last else { return };
    let question = question(entry).map_or_else(String::new, |name| format!(" to {name}"));
    let text = entry.text.as_deref().unwrap_or_default();
    let body = entry.body.as_deref().map(|body| body.get()).or(entry.raw.as_deref());
    let is_told = reason.contains(text);
    match (is_told, body) {
        (true, None) => return,
        (true, Some(_)) => out.push_str(&format!("  What came{question}:\n")),
        (false, _) => out.push_str(&format!("  What came{question}: {}\n", printable(text))),
    }
    if let Some(body) = body {
        let mut short: String = printable(body).chars().take(400).collect();
        if short.len() < body.len() {
            short.push('…');
        }
        out.push_str(&format!("    {short}\n"));
    }
}

fn is_news_of_loss(name: &str) -> bool {
    let kinds = [MessageType::GameError, MessageType::GameOver];
    kinds.iter().any(|kind| Dialect::ALL.iter().any(|dialect| kind.name(*dialect) == name))
}

fn moves(out: &mut String, record: &MatchRecord, recorded: &Recorded) {
    let mut said = vec![];
    for turn in &recorded.turns {
        match turn {
            Turn::Moves(moves) => {
                for (seat, made) in moves.iter() {
                    said.extend(made.as_ref().map(|made| chose(record, seat, made)));
                }
            }
            Turn::Drawn(number) => said.push(format!("the number was {number}")),
        }
    }
    for (seat, made) in recorded.stranded.iter() {
        said.extend(made.as_ref().map(|made| chose(record, seat, made)));
    }
    match recorded.draw {
        DrawEvidence::NotVerifiable => said.push("the referee drew by itself".into()),
        DrawEvidence::Verified | DrawEvidence::None => {}
    }
    if !said.is_empty() {
        out.push_str(&format!("  Moves: {}\n", said.join(", ")));
        out.push_str(&format!("  Proofs: {}\n", proofs(record, recorded).join(", ")));
    }
}

/// What is known about each side's choice and about the number, besides the referee's word.
fn proofs(record: &MatchRecord, recorded: &Recorded) -> Vec<String> {
    let mut said = vec![];
    for (seat, evidence) in recorded.choices.iter() {
        let player = record.pairing.player(seat);
        said.push(match evidence {
            ChoiceEvidence::Proved => format!("{player} proved its choice"),
            ChoiceEvidence::None => format!("{player} proved nothing"),
            ChoiceEvidence::Unclear => {
                format!("unclear for {player}, whose proof fits no choice with the reported nonce")
            }
            ChoiceEvidence::Contradicted => format!("{player} proved another choice"),
        });
    }
    match recorded.draw {
        DrawEvidence::Verified => said.push("the draw is the committed one".into()),
        DrawEvidence::NotVerifiable => said.push("the draw cannot be verified".into()),
        DrawEvidence::None => {}
    }
    said
}

fn chose(record: &MatchRecord, seat: Seat, made: &Move) -> String {
    let player = record.pairing.player(seat);
    match made {
        Move::Word(word) => format!("{player} chose {}", printable(&word.to_string())),
        Move::Number(number) => format!("{player} chose {number}"),
    }
}

fn remarks(out: &mut String, record: &MatchRecord) {
    for (at, text) in &record.remarks {
        out.push_str(&format!("  {}  {}\n", iso::format(*at), printable(text)));
    }
}

fn entries(
    out: &mut String,
    (transcript, letters): (&Transcript, &[&Exchanged]),
    agent: Option<&str>,
    bytes: bool,
) {
    for party in &transcript.players {
        let (endpoint, dialect) = (printable(&party.endpoint), printable(&party.dialect));
        out.push_str(&format!("  {} is at {endpoint}, spoken to in {dialect}\n", party.player));
    }
    out.push_str(&format!("  times from {} on the referee's clock\n\n", transcript.began));
    let is_player = |agent: &str| transcript.players.iter().any(|party| party.player == agent);
    let agent = agent.filter(|agent| is_player(agent));
    let concerns =
        |entry: &&Entry| agent.is_none() || entry.peer.is_none() || entry.peer.as_deref() == agent;
    let began = iso::parse(&transcript.began).ok();
    let mut lines: Vec<Dated> = vec![];
    for entry in transcript.entries.iter().filter(concerns) {
        let mut line = String::new();
        self::entry(&mut line, entry, bytes);
        lines.push((began.map_or(0, mail::micros).saturating_add_unsigned(entry.at_us), line));
    }
    lines.extend(letters.iter().flat_map(|letter| mail::lines(letter, began, bytes)));
    lines.sort_by_key(|(at, _)| *at);
    lines.iter().for_each(|(_, line)| out.push_str(line));
    if transcript.left_out > 0 {
        out.push_str(&format!("  {} further calls were not kept\n", transcript.left_out));
    }
}

fn entry(out: &mut String, entry: &Entry, bytes: bool) {
    let (arrow, name) = match entry.kind {
        Kind::Sent => ("→", String::new()),
        Kind::Received => ("←", String::new()),
        Kind::Failed => ("✗", "no answer".to_string()),
        Kind::Called => ("⇐", "called us:".to_string()),
        Kind::Event => ("·", String::new()),
    };
    let mut said = vec![];
    let named = entry.name.as_deref().map(printable).unwrap_or_default();
    let unread = if entry.kind == Kind::Received && named.is_empty() { "answer" } else { "" };
    let title = [name.as_str(), &named, unread]
        .iter()
        .filter(|part| !part.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(" ");
    said.push(title);
    said.extend(entry.status.map(|status| format!("HTTP {status}")));
    said.extend(entry.bytes.map(|bytes| format!("{bytes} bytes")));
    said.extend(entry.took_us.map(|took| format!("after {}", span(took))));
    let peer = entry.peer.as_deref().map(printable).unwrap_or_default();
    let at = format!("+{}.{:06}", entry.at_us / 1_000_000, entry.at_us % 1_000_000);
    let text = entry.text.as_deref().map(printable);
    let text = text.map_or_else(String::new, |text| format!(": {text}"));
    let line = format!("  {at:>13} s  {peer:7}  {arrow}  {}{text}", said.join(", "));
    out.push_str(line.trim_end());
    out.push('\n');
    if entry.cut {
        out.push_str("                     (the body was too much for the transcript)\n");
    }
    if bytes {
        if let Some(body) = &entry.body {
            indent(out, &pretty(body.get()));
        }
        if let Some(raw) = &entry.raw {
            indent(out, raw);
        }
    }
}

pub(crate) fn span(micros: u64) -> String {
    if micros < 1_000_000 {
        return format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100);
    }
    format!("{}.{:03} s", micros / 1_000_000, micros % 1_000_000 / 1_000)
}

/// Valid JSON with a line for every value, in the order in which it was written.
pub(super) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(2 * json.len());
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        if quoted {
            out.push(c);
            quoted = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            c if c.is_whitespace() => {}
            '{' | '[' => {
                out.push(c);
                while chars.next_if(|c| c.is_whitespace()).is_some() {}
                if let Some(end) = chars.next_if(|c| "}]".contains(*c)) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c => {
                quoted = c == '"';
                out.push(c);
            }
        }
    }
    out
}

pub(super) fn indent(out: &mut String, text: &str) {
    for line in text.lines() {
        out.push_str(&format!("        {}\n", printable(line)));
    }
}

/// What strangers wrote, without what would move the cursor about.
pub(crate) fn printable(text: &str) -> String {
    let safe = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_laid_out_in_the_order_in_which_it_came() {
        let json = r#"{"b":[1, 2],"a":{"x":"{[,:\\\"}"} , "c":[ ],"d":{}}"#;
        let expected = "{\n  \"b\": [\n    1,\n    2\n  ],\n  \"a\": {\n    \
                        \"x\": \"{[,:\\\\\\\"}\"\n  },\n  \"c\": [],\n  \"d\": {}\n}";
        assert_eq!(pretty(json), expected);
    }

    #[test]
    fn what_strangers_write_does_not_move_the_cursor() {
        assert_eq!(printable("a\u{1b}[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
    }

    #[test]
    fn times_have_as_many_digits_as_tell_something() {
        assert_eq!(span(1_250), "1.2 ms");
        assert_eq!(span(30_001_900), "30.001 s");
    }
}
