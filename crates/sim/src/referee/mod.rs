//! A referee: takes matches from the manager, runs each as a bout, forgets them all in a crash.

mod bout;
mod lies;
mod words;

use std::collections::BTreeMap;

use league_core::breaker::{Breaker, Outcome};
use league_core::id::{AgentId, LeagueId, MatchId};
use league_core::proof::Token;
use league_core::referee::{Answer, Command, Join};
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;

use crate::applicant::{Applicant, Membership};
use crate::forger::Target;
use crate::guests::Manner;
use crate::message::{Body, Denial, Leg, Letter, Node, Order, Packet};
use crate::sabotage::Sabotage;
use crate::stage::Stage;

use bout::{Bout, Purpose};

/// A referee with its bouts.
#[derive(Debug)]
pub(crate) struct Referee {
    league: LeagueId,
    manner: Manner,
    applicant: Applicant,
    bouts: BTreeMap<MatchId, Bout>,
    /// The latest attempt at each match whose result is in the manager's books.
    finished: BTreeMap<MatchId, u32>,
    desk: Desk,
}

/// What all bouts of a referee share.
#[derive(Debug, Default)]
struct Desk {
    breakers: BTreeMap<Node, Breaker>,
    /// Calls that wait for an answer, and until when.
    calls: BTreeMap<u64, Call>,
}

/// A call to a player or to the manager.
#[derive(Debug, Clone, Copy)]
struct Call {
    match_id: MatchId,
    purpose: Purpose,
    until: Timestamp,
}

impl Referee {
    pub(crate) fn new(league: LeagueId, manner: Manner, applicant: Applicant) -> Self {
        let (bouts, finished) = (BTreeMap::new(), BTreeMap::new());
        Self { league, manner, applicant, bouts, finished, desk: Desk::default() }
    }

    pub(crate) fn next_wake(&self) -> Option<Timestamp> {
        let calls = self.desk.calls.values().map(|call| call.until);
        let bouts = self.bouts.values().filter_map(Bout::next_wake);
        calls.chain(bouts).chain(self.applicant.next_wake()).min()
    }

    /// What an eavesdropper knows of its matches.
    pub(crate) fn targets(&self, me: Node) -> Vec<Target> {
        let Some(Membership { agent: AgentId::Referee(referee), .. }) = self.applicant.member()
        else {
            return vec![];
        };
        let target = |(match_id, bout): (&MatchId, &Bout)| Target {
            referee_node: me,
            referee: *referee,
            match_id: *match_id,
            attempt: bout.attempt(),
            conversation: bout.conversation().clone(),
            players: Seats::from_fn(|seat| (bout.player(seat).id, bout.player(seat).node)),
        };
        self.bouts.iter().map(target).collect()
    }

    /// The power goes: everything but its registration is forgotten.
    pub(crate) fn crash(&mut self) {
        self.applicant.crash();
        self.bouts.clear();
        self.finished.clear();
        self.desk = Desk::default();
    }

    pub(crate) fn wake(&mut self, stage: &mut Stage<'_>) {
        self.applicant.wake(stage);
        let late = self.desk.calls.iter().filter(|(_, call)| call.until <= stage.now);
        let late: Vec<u64> = late.map(|(number, _)| *number).collect();
        for number in late {
            self.unanswered(stage, number, None);
        }
        let due = self
            .bouts
            .iter()
            .filter(|(_, bout)| bout.next_wake().is_some_and(|at| at <= stage.now));
        let due: Vec<MatchId> = due.map(|(id, _)| *id).collect();
        for match_id in due {
            self.with(stage, match_id, Bout::wake);
        }
    }

    pub(crate) fn fail(&mut self, stage: &mut Stage<'_>, call: u64, delivered: bool) {
        if !self.applicant.answered(stage, call, None) {
            self.unanswered(stage, call, Some(delivered));
        }
    }

    pub(crate) fn receive(&mut self, stage: &mut Stage<'_>, packet: &Packet) {
        if packet.leg == Leg::Reply {
            if !self.applicant.answered(stage, packet.call, Some(&packet.letter.body)) {
                self.answered(stage, packet);
            }
            return;
        }
        let body = match &packet.letter.body {
            Body::Order(order) => self.take(stage, packet, order),
            Body::Join { match_id, .. } | Body::Choice { match_id, .. } => {
                self.late(stage, packet, *match_id)
            }
            Body::News(_) | Body::Probe if self.is_from_manager(packet) => Body::Noted,
            Body::News(_) | Body::Probe => Body::Denied(Denial::Unproved),
            Body::Aside(aside) if packet.from == Node::Administrator => {
                self.applicant.told(stage, aside);
                Body::Noted
            }
            Body::Register(_)
            | Body::Registered { .. }
            | Body::StartLeague
            | Body::Administer(_)
            | Body::Stuck { .. }
            | Body::Report(_)
            | Body::Recorded { .. }
            | Body::Progress { .. }
            | Body::Held { .. }
            | Body::Invite { .. }
            | Body::Ask { .. }
            | Body::Trouble { .. }
            | Body::Over { .. }
            | Body::Aside(_)
            | Body::Noted
            | Body::Noise
            | Body::Denied(_) => Body::Denied(Denial::Final),
        };
        stage.reply(packet, Letter::bare(body));
    }

    fn is_from_manager(&self, packet: &Packet) -> bool {
        let shown = packet.letter.token.as_ref();
        let me = self.applicant.member();
        me.zip(shown).is_some_and(|(me, shown)| me.token.matches(shown))
    }

    /// An order: a new attempt replaces an older one, the same one is already under way.
    fn take(
        &mut self,
        stage: &mut Stage<'_>,
        packet: &Packet,
        order: &std::sync::Arc<Order>,
    ) -> Body {
        if !self.is_from_manager(packet) {
            return Body::Denied(Denial::Unproved);
        }
        if self.manner == Manner::Unwilling {
            return Body::Denied(Denial::Final);
        }
        let (match_id, attempt) = (order.match_id, order.attempt);
        let running = self.bouts.get(&match_id).map(Bout::attempt);
        let latest = running.max(self.finished.get(&match_id).copied());
        match latest {
            Some(latest) if latest > attempt => return Body::Denied(Denial::Final),
            Some(latest) if latest == attempt => return Body::Noted,
            Some(_) | None => {}
        }
        self.leave(match_id);
        if self.manner == Manner::Idle {
            return Body::Noted;
        }
        let prefix = format!("convr{}m{}", match_id.round, match_id.number());
        let conversation = stage.conversation(&prefix);
        let bout = Bout::new(order.clone(), &self.league, self.manner, conversation);
        self.bouts.insert(match_id, bout);
        self.with(stage, match_id, Bout::begin);
        Body::Noted
    }

    /// A player's answer that comes as a call of its own.
    fn late(&mut self, stage: &mut Stage<'_>, packet: &Packet, match_id: MatchId) -> Body {
        let Some(bout) = self.bouts.get(&match_id) else { return Body::Denied(Denial::Final) };
        if packet.letter.conversation.as_ref() != Some(bout.conversation()) {
            return Body::Denied(Denial::Final);
        }
        let Some(shown) = &packet.letter.token else { return Body::Denied(Denial::Unproved) };
        let proved = Seat::BOTH.into_iter().find(|seat| bout.is_proof(*seat, shown));
        let is_named =
            |seat: &Seat| packet.letter.sender == Some(AgentId::Player(bout.player(*seat).id));
        let named = Seat::BOTH.into_iter().find(is_named);
        let believed = named.filter(|_| stage.is_sabotaged(Sabotage::BelieveAnybody));
        let Some(seat) = proved.or(believed) else {
            if let (Some(seat), true) = (named, stage.is_sabotaged(Sabotage::CountForgeries)) {
                self.with(stage, match_id, |bout, _| bout.conduct[seat].invalid_moves += 1);
            }
            return Body::Denied(Denial::Unproved);
        };
        let command = command(seat, match_id, &packet.letter.body);
        self.with(stage, match_id, |bout, hall| bout.hear(hall, command));
        Body::Noted
    }

    fn answered(&mut self, stage: &mut Stage<'_>, packet: &Packet) {
        let Some(call) = self.desk.calls.remove(&packet.call) else { return };
        if let Some(breaker) = self.desk.breakers.get_mut(&packet.from) {
            breaker.apply(Outcome::Succeeded, stage.now);
        }
        self.with(stage, call.match_id, |bout, hall| {
            bout.answered(hall, call.purpose, &packet.letter);
        });
    }

    /// A call that got no answer in time, or failed.
    fn unanswered(&mut self, stage: &mut Stage<'_>, number: u64, failed: Option<bool>) {
        let Some(call) = self.desk.calls.remove(&number) else { return };
        self.with(stage, call.match_id, |bout, hall| {
            if let Some(seat) = call.purpose.seat()
                && let Some(breaker) = hall.desk.breakers.get_mut(&bout.player(seat).node)
            {
                breaker.apply(Outcome::Failed, hall.stage.now);
            }
            bout.unanswered(hall, call.purpose, failed);
        });
    }

    /// Lets a bout act, and leaves it if it is done.
    fn with(
        &mut self,
        stage: &mut Stage<'_>,
        match_id: MatchId,
        act: impl FnOnce(&mut Bout, &mut Hall<'_, '_>),
    ) {
        let Some(bout) = self.bouts.get_mut(&match_id) else { return };
        let me = self.applicant.member().expect("only members get orders");
        let mut hall = Hall { stage, desk: &mut self.desk, token: &me.token, agent: me.agent };
        act(bout, &mut hall);
        let waits = hall
            .desk
            .calls
            .values()
            .any(|call| call.match_id == match_id && call.purpose.is_errand());
        if bout.is_done(waits) {
            if bout.is_acknowledged() {
                self.finished.insert(match_id, bout.attempt());
            }
            self.leave(match_id);
        }
    }

    fn leave(&mut self, match_id: MatchId) {
        self.bouts.remove(&match_id);
        self.desk.calls.retain(|_, call| call.match_id != match_id);
    }
}

/// Where a bout acts: its referee's desk, in its referee's name.
struct Hall<'a, 'b> {
    stage: &'a mut Stage<'b>,
    desk: &'a mut Desk,
    token: &'a Token,
    agent: AgentId,
}

impl Hall<'_, '_> {
    fn call(&mut self, to: Node, letter: Letter, call: Call) {
        let number = self.stage.call(to, letter);
        self.desk.calls.insert(number, call);
    }
}

/// What a player's answer means for the match.
fn command(seat: Seat, match_id: MatchId, body: &Body) -> Command {
    use league_core::game::Move;
    use league_core::proof::Proof;
    use league_core::referee::{Fault, Sealed};

    let faulty = |fault| {
        let answer = Answer::Faulty { fault, got: body.to_string().into() };
        Command::Answer { seat, answer }
    };
    match body {
        Body::Join { match_id: named, accept } if *named == match_id => {
            let answer = if *accept { Join::Accept } else { Join::Refuse { reason: None } };
            Command::Join { seat, answer }
        }
        Body::Choice { match_id: named, .. } if *named != match_id => faulty(Fault::WrongMatch),
        Body::Choice { chosen, .. } => {
            let number = chosen.word.parse().ok().map(Move::Number);
            let Some(made) = number.or_else(|| Move::word(&chosen.word)) else {
                return faulty(Fault::MissingField);
            };
            let proof = chosen.proof.clone().filter(|proof| proof.parse::<Proof>().is_ok());
            let nonce = chosen.nonce.clone();
            Command::Answer { seat, answer: Answer::Move(Sealed { chosen: made, nonce, proof }) }
        }
        // An answer that names another match, or is none, is as if it had not come.
        Body::Join { .. }
        | Body::Register(_)
        | Body::Registered { .. }
        | Body::StartLeague
        | Body::Administer(_)
        | Body::Stuck { .. }
        | Body::Report(_)
        | Body::Recorded { .. }
        | Body::Progress { .. }
        | Body::Held { .. }
        | Body::Order(_)
        | Body::Probe
        | Body::News(_)
        | Body::Invite { .. }
        | Body::Ask { .. }
        | Body::Trouble { .. }
        | Body::Over { .. }
        | Body::Aside(_)
        | Body::Noted
        | Body::Noise
        | Body::Denied(_) => Command::Wake,
    }
}
