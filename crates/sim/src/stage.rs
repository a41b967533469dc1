//! What a node has in hand while it acts: its clock, its dice, and a way to send.

use league_core::dice::Dice;
use league_core::id::{ConversationId, MatchId};
use league_core::manager::Event;
use league_core::referee::State;
use league_core::standings::Row;
use league_core::time::Timestamp;

use crate::fate::Fate;
use crate::message::{Leg, Letter, Node, Packet};
use crate::sabotage::Sabotage;

/// A node's turn.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    pub(crate) me: Node,
    /// What the node's own clock shows.
    pub(crate) now: Timestamp,
    pub(crate) fate: &'a mut Fate,
    pub(crate) calls: &'a mut u64,
    pub(crate) sent: &'a mut Vec<Packet>,
    pub(crate) seen: &'a mut Vec<Seen>,
    pub(crate) sabotage: Option<Sabotage>,
}

/// What the checkers are shown beside the packets.
#[derive(Debug)]
pub(crate) enum Seen {
    /// The manager published events that are in its journal.
    Published { events: Vec<Event>, table: Vec<Row> },
    /// The manager opened its journal and found these events.
    Replayed { events: Vec<Event>, table: Vec<Row> },
    /// A match went from one state to another.
    Moved { match_id: MatchId, from: State, to: State },
    /// Folding a machine's events did not give the machine.
    Diverged(&'static str),
}

impl Stage<'_> {
    /// Calls another node; the number tells the answer.
    pub(crate) fn call(&mut self, to: Node, letter: Letter) -> u64 {
        *self.calls += 1;
        let call = *self.calls;
        self.sent.push(Packet { from: self.me, to, call, leg: Leg::Request, letter });
        call
    }

    /// Answers a call.
    pub(crate) fn reply(&mut self, request: &Packet, letter: Letter) {
        self.answer(request.from, request.call, letter);
    }

    /// Answers the call of this number.
    pub(crate) fn answer(&mut self, to: Node, call: u64, letter: Letter) {
        self.sent.push(Packet { from: self.me, to, call, leg: Leg::Reply, letter });
    }

    /// A conversation that nobody can guess.
    pub(crate) fn conversation(&mut self, prefix: &str) -> ConversationId {
        let text = format!("{prefix}{}", &league_core::proof::hex(&self.fate.bytes32())[..32]);
        text.parse().expect("letters and digits")
    }

    /// Whether this bug is wanted.
    pub(crate) fn is_sabotaged(&self, by: Sabotage) -> bool {
        self.sabotage == Some(by)
    }
}
