//! One line of a log: what it is about, and its two forms.

use std::fmt::Write;

use league_core::time::Timestamp;
use league_wire::message::ErrorCode;
use league_wire::redact::redact;
use league_wire::shown::{field, payload, quoted};
use league_wire::{Code, Dialect, Envelope, MessageType, Sender, iso};

use super::{Format, Level};
use crate::component::Component;

/// A line that is being written.
#[derive(Debug)]
pub struct Line {
    level: Level,
    component: Component,
    message: String,
    fields: Vec<(&'static str, Shown)>,
}

#[derive(Debug)]
enum Shown {
    Text(String),
    /// JSON as it stands.
    Json(String),
}

impl Line {
    pub(super) const fn new(level: Level, component: Component) -> Self {
        Self { level, component, message: String::new(), fields: Vec::new() }
    }

    /// What happened, in words.
    pub fn say(&mut self, message: impl Into<String>) -> &mut Self {
        self.message = message.into();
        self
    }

    /// The agent that it is about.
    pub fn agent(&mut self, agent: impl ToString) -> &mut Self {
        self.text(field::AGENT, agent)
    }

    /// The agent that speaks, or whoever else does.
    pub fn sender(&mut self, sender: &Sender) -> &mut Self {
        match sender {
            Sender::Referee(id) | Sender::Player(id) => self.agent(id),
            Sender::LeagueManager(_) | Sender::Administrator => self.agent(sender),
        }
    }

    /// The match that it is about.
    pub fn match_id(&mut self, match_id: impl ToString) -> &mut Self {
        self.text(field::MATCH, match_id)
    }

    /// The league that it is about.
    pub fn league(&mut self, league: impl ToString) -> &mut Self {
        self.text(field::LEAGUE, league)
    }

    /// The exchange that it belongs to.
    pub fn conversation(&mut self, conversation: impl ToString) -> &mut Self {
        self.text(field::CONVERSATION, conversation)
    }

    /// The message that it is about.
    pub fn message_type(&mut self, kind: MessageType) -> &mut Self {
        self.message_name(kind.name(Dialect::Flat))
    }

    /// The message that it is about, by the name that somebody gives it.
    pub fn message_name(&mut self, name: &str) -> &mut Self {
        self.text(field::MESSAGE_TYPE, name)
    }

    /// What the envelope of a message says, but for who sent it.
    pub fn envelope(&mut self, envelope: &Envelope) -> &mut Self {
        if let Some(league) = &envelope.league_id {
            self.league(league);
        }
        self.conversation(&envelope.conversation)
    }

    /// The code that stands for what went wrong.
    pub fn code(&mut self, code: Code) -> &mut Self {
        self.text(field::CODE, code.as_str())
    }

    /// The code in an error, whoever wrote it.
    pub fn error_code(&mut self, code: &ErrorCode) -> &mut Self {
        self.text(field::CODE, code)
    }

    /// A message as far as it may be shown, and how long it is.
    pub fn payload(&mut self, body: &[u8]) -> &mut Self {
        self.detail("payload_bytes", body.len());
        if let Some(shown) = payload(body) {
            self.fields.push(("payload", Shown::Json(shown)));
        }
        self
    }

    /// A figure.
    pub fn detail(&mut self, name: &'static str, figure: impl ToString) -> &mut Self {
        self.fields.push((name, Shown::Json(figure.to_string())));
        self
    }

    /// Anything else.
    pub fn text(&mut self, name: &'static str, text: impl ToString) -> &mut Self {
        self.fields.push((name, Shown::Text(text.to_string())));
        self
    }

    pub(super) fn render(&self, format: Format, now: Timestamp) -> String {
        match format {
            Format::Json => self.json(now),
            Format::Text => self.plain(now),
        }
    }

    fn json(&self, now: Timestamp) -> String {
        let mut out = format!(
            "{{\"time\":\"{}\",\"level\":\"{}\",\"component\":\"{}\",\"message\":{}",
            iso::format(now),
            self.level.name(),
            self.component.name(),
            quoted(&redact(&self.message, &[])),
        );
        for (name, value) in &self.fields {
            let value = match value {
                Shown::Text(text) => quoted(&redact(text, &[])),
                Shown::Json(json) => json.clone(),
            };
            // A string takes everything.
            let _written = write!(out, ",\"{name}\":{value}");
        }
        out.push_str("}\n");
        out
    }

    fn plain(&self, now: Timestamp) -> String {
        let mut out = format!(
            "{} {:8} {}: {}",
            iso::format(now),
            self.level.name(),
            self.component.name(),
            tame(&redact(&self.message, &[])),
        );
        for (name, value) in &self.fields {
            let value = match value {
                Shown::Text(text) => tame(&redact(text, &[])),
                Shown::Json(json) => tame(json),
            };
            // A string takes everything.
            let _written = write!(out, " {name}={value}");
        }
        out.push('\n');
        out
    }
}

/// `text` in its line, whoever wrote it.
fn tame(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        let mut line = Line::new(Level::Critical, Component::Referee);
        line.say("a \"lie\"\nwith tok_player_P01_ab").agent("P01").match_id("R1M1");
        line.code(Code::E012).message_type(MessageType::Ping).detail("tries", 3_u32);
        line.payload(br#"{"choice":"even"}"#).text("peer", "prf_12\x1b[2J");
        line
    }

    // req: OBS-1
    #[test]
    fn json_has_every_field_and_no_secret() {
        let now = Timestamp::from_millis(0);
        let expected = concat!(
            r#"{"time":"1970-01-01T00:00:00.000Z","level":"CRITICAL","component":"referee","#,
            r#""message":"a \"lie\"\nwith [redacted]","agent_id":"P01","match_id":"R1M1","#,
            r#""error_code":"E012","message_type":"PING","tries":3,"payload_bytes":17,"#,
            r#""payload":{"choice":"[redacted]"},"peer":"[redacted]\u001b[2J"}"#,
            "\n"
        );
        assert_eq!(line().render(Format::Json, now), expected);
    }

    #[test]
    fn text_stays_in_its_line() {
        let text = line().render(Format::Text, Timestamp::from_millis(0));
        assert_eq!(text.matches(char::is_control).collect::<String>(), "\n");
        let start = "1970-01-01T00:00:00.000Z CRITICAL referee: a \"lie\"\u{fffd}with [redacted]";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains(" agent_id=P01 match_id=R1M1 error_code=E012 "), "{text}");
    }
}
