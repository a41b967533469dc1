//! What waits for one pull player, what it was given, and whether it is there. Reads no clock and
//! does no I/O: whoever asks says what time it is.

use std::collections::BTreeMap;

use bytes::Bytes;
use league_core::id::RefereeId;
use league_core::time::Timestamp;
use tokio::sync::oneshot;

use crate::limits::{
    POLL_BYTES_FULL, PRESENCE, TURNS_MAX, TURNS_PER_CALLER_MAX, TURNS_UNPROVED_MAX,
};

/// Who calls a pull player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// The manager of its league.
    Manager,
    /// A referee that has proved that it officiates.
    Referee(RefereeId),
    /// Somebody who has proved nothing.
    Unproved,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The player has answered with this body.
    Posted(Bytes),
    /// The player is there, which is all that an invitation asks.
    Present,
}

/// A turn as the player gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// By which it is answered; later turns have greater ones.
    pub turn: u64,
    /// Who calls.
    pub from: From,
    /// When it could first be fetched.
    pub since: Timestamp,
    /// Whether somebody waits for an answer. Invitations that were accepted are told, not asked.
    pub needs_answer: bool,
    /// The JSON-RPC call.
    pub body: Bytes,
}

/// What an answer was good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It went to whoever called.
    Counted,
    /// Nobody waits for it: it was answered before, its time has passed, or it needed no answer.
    Over,
    /// There was no such turn.
    Unknown,
}

/// There is no room for another turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many calls wait for this player")]
pub struct Full;

/// What waits for one player.
#[derive(Debug, Default)]
pub(super) struct Turns {
    waiting: BTreeMap<u64, Turn>,
    /// The latest turn there ever was.
    latest: u64,
    /// Polls that are under way.
    polls: u32,
    /// When the last one began or ended.
    polled: Option<Timestamp>,
    /// When the player may have polled, for all we know: a manager that has just started does not
    /// know who was there before, and nobody must pay for that.
    presumed: Option<Timestamp>,
}

#[derive(Debug)]
struct Turn {
    from: From,
    since: Timestamp,
    need: Need,
    is_given: bool,
    body: Bytes,
}

#[derive(Debug)]
enum Need {
    Answer(oneshot::Sender<Reply>),
    /// That the player polls.
    Presence(oneshot::Sender<Reply>),
    /// That the player has seen it.
    Notice,
}

impl Turn {
    /// Whether whoever called has left.
    fn is_forsaken(&self) -> bool {
        match &self.need {
            Need::Answer(caller) | Need::Presence(caller) => caller.is_closed(),
            Need::Notice => false,
        }
    }

    fn given(&self, turn: u64) -> Given {
        let (from, since, needs_answer) = (self.from, self.since, self.needs_answer());
        Given { turn, from, since, needs_answer, body: self.body.clone() }
    }

    const fn needs_answer(&self) -> bool {
        match self.need {
            Need::Answer(_) | Need::Presence(_) => true,
            Need::Notice => false,
        }
    }
}

/// A call for the player.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who calls.
    pub from: From,
    /// Whether it is answered by the player's presence alone.
    pub is_invitation: bool,
    /// The JSON-RPC call.
    pub body: Bytes,
}

impl Turns {
    /// Puts a call in as turn `id`, which must be greater than any before.
    pub(super) fn put(
        &mut self,
        now: Timestamp,
        id: u64,
        call: Call,
    ) -> Result<oneshot::Receiver<Reply>, Full> {
        self.waiting.retain(|_, turn| !turn.is_forsaken());
        let Call { from, is_invitation, body } = call;
        let of_caller = self.waiting.values().filter(|turn| turn.from == from);
        let most = match from {
            From::Manager | From::Referee(_) => TURNS_PER_CALLER_MAX,
            From::Unproved => TURNS_UNPROVED_MAX,
        };
        if of_caller.count() >= most {
            self.forget_notice(|turn| turn.from == from).ok_or(Full)?;
        }
        if self.waiting.len() >= TURNS_MAX {
            self.forget_notice(|_| true).ok_or(Full)?;
        }
        let (caller, reply) = oneshot::channel();
        let need = match is_invitation {
            true if self.is_present(now) => {
                // Nobody can have left yet.
                drop(caller.send(Reply::Present));
                Need::Notice
            }
            true => Need::Presence(caller),
            false => Need::Answer(caller),
        };
        self.latest = id;
        self.waiting.insert(id, Turn { from, since: now, need, is_given: false, body });
        Ok(reply)
    }

    /// A poll begins. Whoever polls is there, which accepts the invitations that wait; what it has
    /// seen up to `after` and needs no answer is done with.
    pub(super) fn begin_poll(&mut self, now: Timestamp, after: Option<u64>) {
        (self.polls, self.polled) = (self.polls + 1, Some(now));
        let seen = |id: u64| after.is_some_and(|after| id <= after);
        self.waiting.retain(|id, turn| {
            let is_done = seen(*id) && turn.is_given && !turn.needs_answer();
            !(is_done || turn.is_forsaken())
        });
        for turn in self.waiting.values_mut() {
            if let Need::Presence(_) = turn.need
                && let Need::Presence(caller) = std::mem::replace(&mut turn.need, Need::Notice)
            {
                // Whoever has left meanwhile does not care.
                drop(caller.send(Reply::Present));
            }
        }
    }

    /// A poll has ended, however.
    pub(super) fn end_poll(&mut self, now: Timestamp) {
        (self.polls, self.polled) = (self.polls.saturating_sub(1), Some(now));
    }

    /// Whether there is a turn after `after` that was never given.
    pub(super) fn has_news(&self, after: Option<u64>) -> bool {
        self.since(after).any(|(_, turn)| !turn.is_given)
    }

    /// Whether there is any turn after `after`.
    pub(super) fn has_any(&self, after: Option<u64>) -> bool {
        self.since(after).next().is_some()
    }

    /// Gives the turns after `after`, also those that were given before and not answered; a later
    /// poll gives what would be too much.
    pub(super) fn give(&mut self, after: Option<u64>) -> Vec<Given> {
        let first = after.map_or(0, |after| after.saturating_add(1));
        let due = self.waiting.range_mut(first..).filter(|(_, turn)| !turn.is_forsaken());
        let mut bytes = 0;
        let due = due.take_while(|(_, turn)| {
            let is_full = bytes > POLL_BYTES_FULL;
            bytes += turn.body.len();
            !is_full
        });
        let given = due.map(|(id, turn)| {
            turn.is_given = true;
            turn.given(*id)
        });
        given.collect()
    }

    /// Every turn, for a look.
    pub(super) fn look(&self) -> Vec<Given> {
        self.since(None).map(|(id, turn)| turn.given(*id)).collect()
    }

    /// The player answers a turn with `body`.
    pub(super) fn settle(&mut self, id: u64, body: Bytes) -> Settled {
        match self.waiting.remove(&id).map(|turn| turn.need) {
            Some(Need::Answer(caller) | Need::Presence(caller)) => {
                let sent = caller.send(Reply::Posted(body));
                if sent.is_ok() { Settled::Counted } else { Settled::Over }
            }
            Some(Need::Notice) => Settled::Over,
            None if id <= self.latest => Settled::Over,
            None => Settled::Unknown,
        }
    }

    /// Whether the player polls, or did a while ago.
    pub(super) fn is_present(&self, now: Timestamp) -> bool {
        let known = self.polled.max(self.presumed);
        self.polls > 0 || known.is_some_and(|at| now.since(at) <= PRESENCE)
    }

    /// The player may have polled just now.
    pub(super) fn presume(&mut self, now: Timestamp) {
        self.presumed = Some(now);
    }

    /// When the player last polled; now if it does.
    pub(super) fn last_poll(&self, now: Timestamp) -> Option<Timestamp> {
        if self.polls > 0 { Some(now) } else { self.polled }
    }

    /// Whoever waits for an answer waits in vain.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    fn since(&self, after: Option<u64>) -> impl Iterator<Item = (&u64, &Turn)> {
        let first = after.map_or(0, |after| after.saturating_add(1));
        self.waiting.range(first..).filter(|(_, turn)| !turn.is_forsaken())
    }

    /// Makes room by the oldest of what nobody waits for.
    fn forget_notice(&mut self, is_one: impl Fn(&Turn) -> bool) -> Option<()> {
        let is_notice = |turn: &Turn| is_one(turn) && !turn.needs_answer();
        let id = *self.waiting.iter().find(|(_, turn)| is_notice(turn))?.0;
        self.waiting.remove(&id).map(drop)
    }
}
