//! The document in which a player without an open port fetches what it was sent.

use league_core::time::Timestamp;

use crate::code::Code;
use crate::decode::DecodeError;
use crate::fields::Fields;
use crate::fragment::Fragment;
use crate::json::Json;
use crate::write::Object;

/// What a poll brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turns {
    /// Where it is.
    pub league_id: String,
    /// Who it is.
    pub player_id: String,
    /// The last of them, or after which one was asked for more.
    pub cursor: Option<u64>,
    /// In the order in which they came.
    pub turns: Vec<Turn>,
}

/// A call that waits for the player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// By which it is answered.
    pub turn: u64,
    /// Who calls.
    pub from: String,
    /// When it could first be fetched.
    pub since: Timestamp,
    /// Whether somebody waits for an answer.
    pub needs_answer: bool,
    /// The JSON-RPC call as it was sent.
    pub call: Fragment,
}

impl Turns {
    /// Reads what was fetched.
    ///
    /// # Errors
    /// If it is something else.
    pub fn read(text: &str) -> Result<Self, DecodeError> {
        let json = Json::parse(text).map_err(|error| {
            DecodeError::wrong(Code::ParseError, "turns", "a JSON document", error.to_string())
        })?;
        let fields = Fields::read("turns", json)?;
        let turns = fields.objects("turns", Turn::read)?;
        Ok(Self {
            league_id: fields.required("league_id")?,
            player_id: fields.required("player_id")?,
            cursor: fields.optional("cursor")?,
            turns: turns.ok_or_else(|| fields.missing("turns", "a list of turns"))?,
        })
    }

    /// The document as it is fetched.
    pub fn write(&self) -> Vec<u8> {
        let calls: usize = self.turns.iter().map(|turn| turn.call.as_str().len()).sum();
        let mut out = Vec::with_capacity(calls + 256);
        Object::write(&mut out, |o| {
            o.field("league_id", &self.league_id);
            o.field("player_id", &self.player_id);
            o.field("cursor", &self.cursor);
            o.objects("turns", &self.turns, Turn::write);
        });
        out.push(b'\n');
        out
    }
}

impl Turn {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            turn: f.required("turn")?,
            from: f.required("from")?,
            since: f.required("since")?,
            needs_answer: f.required("needs_answer")?,
            call: f.required("call")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("turn", &self.turn);
        o.field("from", &self.from);
        o.field("since", &self.since);
        o.field("needs_answer", &self.needs_answer);
        o.field("call", &self.call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let call = r#"[{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[{}]}}]"#;
        let turn = Turn {
            turn: 1_794_775_758_571_006,
            from: "REF01".into(),
            since: Timestamp::from_millis(1_794_775_758_571),
            needs_answer: true,
            call: Fragment::parse(call).unwrap(),
        };
        let told = Turn { turn: 3, needs_answer: false, ..turn.clone() };
        for turns in [vec![], vec![turn, told]] {
            let (league_id, player_id) = ("spring".into(), "P01".into());
            let cursor = turns.last().map(|turn| turn.turn);
            let turns = Turns { league_id, player_id, cursor, turns };
            let text = String::from_utf8(turns.write()).unwrap();
            assert_eq!(Turns::read(&text).unwrap(), turns, "{text}");
        }
        for bad in ["", "{}", "[]", r#"{"league_id":"l","player_id":"P01","turns":[{}]}"#] {
            assert!(Turns::read(bad).is_err(), "{bad}");
        }
    }
}
