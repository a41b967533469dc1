//! What waits for one pull player, what it was given, and whether it is there. Reads no clock and
//! does no I/O: whoever asks says what time it is.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use league_core::id::RefereeId;
use league_core::time::Timestamp;
use tokio::sync::oneshot;

use super::TURNS_PER_DAY;
use crate::limits::{
    POLL_BYTES_FULL, PRESENCE, TURNS_MAX, TURNS_PER_CALLER_MAX, TURNS_REMEMBERED,
    TURNS_UNPROVED_MAX,
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
    /// There is no such turn, and was none lately.
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
    /// The first turn that this manager may give.
    first: u64,
    /// The latest turns there were, waiting or not.
    latest: VecDeque<u64>,
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
    /// Whether nothing is lost if nobody answers it.
    is_news: bool,
    body: Bytes,
}

/// Whoever waits for a reply; a call may have to make room while it waits.
type Caller = oneshot::Sender<Result<Reply, Full>>;

#[derive(Debug)]
enum Need {
    Answer(Caller),
    /// That the player polls.
    Presence(Caller),
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

    /// Whether it is given to whoever has seen everything up to `after`.
    fn is_due(&self, after: Option<u64>) -> bool {
        !self.is_forsaken() && (after.is_some() || !self.is_done())
    }

    /// Whether it was given and needs no answer.
    const fn is_done(&self) -> bool {
        self.is_given && !self.needs_answer()
    }

    /// How readily it makes room for another call: the least goes first.
    const fn worth(&self) -> Worth {
        match (self.needs_answer(), self.is_news, self.is_given) {
            (false, _, _) => Worth::Notice,
            (true, true, true) => Worth::OldNews,
            (true, true, false) => Worth::News,
            (true, false, _) => Worth::Question,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// What nobody waits for.
    Notice,
    /// What the player has seen.
    OldNews,
    News,
    Question,
}

/// What a call wants of the player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// That it is there, which accepts an invitation.
    Presence,
    /// An answer that counts in a match.
    Answer,
    /// That it takes note. Makes room for what counts.
    Notice,
}

/// A call for the player.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who calls.
    pub from: From,
    /// What it wants.
    pub want: Want,
    /// The JSON-RPC call.
    pub body: Bytes,
}

impl Turns {
    /// Turns from `first` on.
    pub(super) fn from(first: u64) -> Self {
        Self { first, ..Self::default() }
    }

    /// Puts a call in as turn `id`, which must be greater than any before.
    pub(super) fn put(
        &mut self,
        now: Timestamp,
        id: u64,
        call: Call,
    ) -> Result<oneshot::Receiver<Result<Reply, Full>>, Full> {
        self.waiting.retain(|_, turn| !turn.is_forsaken());
        let Call { from, want, body } = call;
        let of_caller = self.waiting.values().filter(|turn| turn.from == from);
        let most = match from {
            From::Manager | From::Referee(_) => TURNS_PER_CALLER_MAX,
            From::Unproved => TURNS_UNPROVED_MAX,
        };
        let below = match (from, want) {
            (From::Unproved, _) => Worth::OldNews,
            (From::Manager | From::Referee(_), Want::Notice) => Worth::News,
            (From::Manager | From::Referee(_), Want::Presence | Want::Answer) => Worth::Question,
        };
        if of_caller.count() >= most {
            self.make_room(below, |turn| turn.from == from)?;
        }
        if self.waiting.len() >= TURNS_MAX {
            self.make_room(below, |_| true)?;
        }
        let (caller, reply) = oneshot::channel();
        let need = match want {
            Want::Presence if self.is_present(now) => {
                // Nobody can have left yet.
                drop(caller.send(Ok(Reply::Present)));
                Need::Notice
            }
            Want::Presence => Need::Presence(caller),
            Want::Answer | Want::Notice => Need::Answer(caller),
        };
        if self.latest.len() == TURNS_REMEMBERED {
            self.latest.pop_front();
        }
        self.latest.push_back(id);
        let is_news = want == Want::Notice;
        self.waiting.insert(id, Turn { from, since: now, need, is_given: false, is_news, body });
        Ok(reply)
    }

    /// A poll begins. Whoever polls is there, which accepts the invitations that wait; what it has
    /// seen up to `after` and needs no answer is done with.
    pub(super) fn begin_poll(&mut self, now: Timestamp, after: Option<u64>) {
        (self.polls, self.polled) = (self.polls + 1, Some(now));
        let seen = |id: u64| after.is_some_and(|after| id <= after);
        self.waiting.retain(|id, turn| {
            let is_done = seen(*id) && turn.is_done();
            !(is_done || turn.is_forsaken())
        });
        for turn in self.waiting.values_mut() {
            if let Need::Presence(_) = turn.need
                && let Need::Presence(caller) = std::mem::replace(&mut turn.need, Need::Notice)
            {
                // Whoever has left meanwhile does not care.
                drop(caller.send(Ok(Reply::Present)));
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
    /// poll gives what would be too much. Whoever names no turn is not told again what needs no
    /// answer.
    pub(super) fn give(&mut self, after: Option<u64>) -> Vec<Given> {
        let due = self.waiting.range_mut(first(after)..);
        let due = due.filter(|(_, turn)| turn.is_due(after));
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
        self.since(Some(0)).map(|(id, turn)| turn.given(*id)).collect()
    }

    /// The player answers a turn with `body`.
    pub(super) fn settle(&mut self, id: u64, body: Bytes) -> Settled {
        match self.waiting.remove(&id).map(|turn| turn.need) {
            Some(Need::Answer(caller) | Need::Presence(caller)) => {
                let sent = caller.send(Ok(Reply::Posted(body)));
                if sent.is_ok() { Settled::Counted } else { Settled::Over }
            }
            Some(Need::Notice) => Settled::Over,
            None if self.latest.contains(&id) || self.is_of_before(id) => Settled::Over,
            None => Settled::Unknown,
        }
    }

    /// Whether a manager may have given turn `id` before this one was started.
    fn is_of_before(&self, id: u64) -> bool {
        (self.first.saturating_sub(TURNS_PER_DAY)..self.first).contains(&id)
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
        self.waiting.range(first(after)..).filter(move |(_, turn)| turn.is_due(after))
    }

    /// Makes room by what is worth least, and of that the oldest, if it is worth less than `below`.
    /// Whoever waits for it is told that there is none.
    fn make_room(&mut self, below: Worth, is_one: impl Fn(&Turn) -> bool) -> Result<(), Full> {
        let those = self.waiting.iter().filter(|(_, turn)| is_one(turn) && turn.worth() < below);
        let id = *those.min_by_key(|(_, turn)| turn.worth()).ok_or(Full)?.0;
        let need = self.waiting.remove(&id).map(|turn| turn.need);
        if let Some(Need::Answer(caller) | Need::Presence(caller)) = need {
            // Whoever has left meanwhile does not care.
            drop(caller.send(Err(Full)));
        }
        Ok(())
    }
}

/// The first turn that may come after `after`.
fn first(after: Option<u64>) -> u64 {
    after.map_or(0, |after| after.saturating_add(1))
}
