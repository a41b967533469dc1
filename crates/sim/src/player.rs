//! A player: checks who asks, joins, chooses, and keeps quiet about it. What it does wrong, it does
//! because of its [`Guest`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use league_core::dice::Dice;
use league_core::game::EvenOddNumbers;
use league_core::id::{AgentId, LeagueId, MatchId, RefereeId};
use league_core::proof::{SentChoice, choice_proof, match_proof, reply_proof};
use league_core::time::Timestamp;

use crate::applicant::{Applicant, Membership};
use crate::guests::{Guest, THINKING_MAX};
use crate::message::{Body, Chosen, Denial, Leg, Letter, News, Node, Packet};
use crate::plan::random_text;
use crate::stage::Stage;

/// Later than every window of every policy.
const FAR_TOO_LATE: Duration = Duration::from_secs(400);
/// Whoever is shut down tries once more after so long: perhaps it has been forgiven.
const SECOND_CHANCE: Duration = Duration::from_secs(70);
const WORDS: &[&str] = &["even", "odd"];
const NUMBERS: &[&str] = &["1", "2", "3", "4", "5"];

/// A player.
#[derive(Debug)]
pub(crate) struct Player {
    guest: Guest,
    league: LeagueId,
    choice_timeout: Duration,
    /// What can be chosen in its league's game.
    options: &'static [&'static str],
    applicant: Applicant,
    chosen: BTreeMap<(MatchId, u32), Chosen>,
    /// What it is about to say.
    later: BTreeMap<(Timestamp, u64), Saying>,
    said: u64,
}

#[derive(Debug)]
enum Saying {
    Reply { to: Node, call: u64, letter: Letter },
    Call { to: Node, letter: Letter },
}

/// A request that has proved itself.
struct Asked<'a> {
    request: &'a Packet,
    me: Membership,
    match_id: MatchId,
    attempt: u32,
}

impl Player {
    /// A player of a league and its game.
    pub(crate) fn new(
        guest: Guest,
        (league, game): (LeagueId, &str),
        choice_timeout: Duration,
    ) -> Self {
        Self {
            guest,
            league,
            choice_timeout,
            options: if game == EvenOddNumbers::NAME { NUMBERS } else { WORDS },
            applicant: Applicant::player(),
            chosen: BTreeMap::new(),
            later: BTreeMap::new(),
            said: 0,
        }
    }

    /// Whether it knows who it is.
    pub(crate) const fn member(&self) -> Option<&Membership> {
        self.applicant.member()
    }

    pub(crate) fn next_wake(&self) -> Option<Timestamp> {
        let later = self.later.keys().next().map(|(at, _)| *at);
        [self.applicant.next_wake(), later].into_iter().flatten().min()
    }

    pub(crate) fn wake(&mut self, stage: &mut Stage<'_>) {
        self.applicant.wake(stage);
        while let Some(entry) = self.later.first_entry() {
            if entry.key().0 > stage.now {
                break;
            }
            match entry.remove() {
                Saying::Reply { to, call, letter } => stage.answer(to, call, letter),
                Saying::Call { to, letter } => {
                    stage.call(to, letter);
                }
            }
        }
    }

    pub(crate) fn fail(&mut self, stage: &mut Stage<'_>, call: u64) {
        self.applicant.answered(stage, call, None);
    }

    /// What it was about to say is forgotten; who it is and what it chose is not.
    pub(crate) fn crash(&mut self) {
        self.applicant.crash();
        self.later.clear();
    }

    pub(crate) fn receive(&mut self, stage: &mut Stage<'_>, packet: &Packet) {
        if packet.leg == Leg::Reply {
            self.applicant.answered(stage, packet.call, Some(&packet.letter.body));
            return;
        }
        if let (Body::Aside(aside), Node::Administrator) = (&packet.letter.body, packet.from) {
            self.applicant.told(stage, aside);
            stage.reply(packet, Letter::bare(Body::Noted));
            return;
        }
        let Some(me) = self.member().cloned() else {
            stage.reply(packet, Letter::bare(Body::Denied(Denial::Busy)));
            return;
        };
        if self.guest == Guest::Silent {
            return;
        }
        let is_invitation = matches!(packet.letter.body, Body::Invite { .. });
        let (Body::Invite { match_id, attempt } | Body::Ask { match_id, attempt, .. }) =
            packet.letter.body
        else {
            if matches!(packet.letter.body, Body::News(News::ShutDown)) {
                self.applicant.come_back(stage.now + SECOND_CHANCE);
            }
            stage.reply(packet, Letter::bare(Body::Noted));
            return;
        };
        if !self.is_proved(&me, packet, match_id, attempt) {
            stage.reply(packet, Letter::bare(Body::Denied(Denial::Unproved)));
            return;
        }
        let asked = Asked { request: packet, me, match_id, attempt };
        if is_invitation { self.join(stage, &asked) } else { self.choose(stage, &asked) }
    }

    /// Only the referee that the manager gave this attempt to knows the proof.
    fn is_proved(&self, me: &Membership, packet: &Packet, match_id: MatchId, attempt: u32) -> bool {
        let Some(AgentId::Referee(referee)) = packet.letter.sender else { return false };
        let expected = self.match_proof(me, match_id, attempt, referee);
        packet.letter.token.as_ref().is_some_and(|shown| expected.matches(shown))
    }

    fn match_proof(
        &self,
        me: &Membership,
        match_id: MatchId,
        attempt: u32,
        referee: RefereeId,
    ) -> league_core::proof::Proof {
        match_proof(&me.token, &self.league, match_id, attempt, referee)
    }

    fn join(&mut self, stage: &mut Stage<'_>, asked: &Asked<'_>) {
        let match_id = asked.match_id;
        let body = match self.guest {
            Guest::Silent => return,
            Guest::Flaky if stage.fate.chance(350) => return,
            Guest::Noisy => Body::Noise,
            Guest::Refuser => Body::Join { match_id, accept: false },
            Guest::WrongMatch => Body::Join { match_id: another(match_id), accept: true },
            Guest::Prompt
            | Guest::Caller
            | Guest::ShowsToken
            | Guest::Plain
            | Guest::VainProof
            | Guest::FalseProof
            | Guest::Wavering
            | Guest::Mute
            | Guest::Slow
            | Guest::Late
            | Guest::Illegal
            | Guest::WrongToken
            | Guest::Flaky => Body::Join { match_id, accept: true },
        };
        let wait = if self.guest == Guest::Slow { FAR_TOO_LATE } else { thought(stage) };
        self.say(stage, asked, body, wait);
    }

    fn choose(&mut self, stage: &mut Stage<'_>, asked: &Asked<'_>) {
        let match_id = asked.match_id;
        let chosen = self.choice(stage, asked);
        let choice = |word: &str| Body::Choice {
            match_id,
            chosen: Chosen { word: word.into(), nonce: None, proof: None },
        };
        let (body, wait) = match self.guest {
            Guest::Silent | Guest::Mute => return,
            Guest::Flaky if stage.fate.chance(350) => return,
            Guest::Noisy => (Body::Noise, thought(stage)),
            Guest::Illegal => (choice("banana"), thought(stage)),
            Guest::WrongMatch => {
                let match_id = another(match_id);
                (Body::Choice { match_id, chosen }, thought(stage))
            }
            Guest::Slow => (Body::Choice { match_id, chosen }, FAR_TOO_LATE),
            Guest::Late => {
                let wait = self.choice_timeout + Duration::from_millis(500);
                (Body::Choice { match_id, chosen }, wait)
            }
            Guest::Prompt
            | Guest::Caller
            | Guest::ShowsToken
            | Guest::Plain
            | Guest::VainProof
            | Guest::FalseProof
            | Guest::Wavering
            | Guest::WrongToken
            | Guest::Refuser
            | Guest::Flaky => (Body::Choice { match_id, chosen }, thought(stage)),
        };
        self.say(stage, asked, body, wait);
        if self.guest == Guest::Wavering {
            self.waver(stage, asked, wait);
        }
    }

    /// A second, different choice by a call of its own, after the first.
    fn waver(&mut self, stage: &Stage<'_>, asked: &Asked<'_>, wait: Duration) {
        let first = &self.chosen[&(asked.match_id, asked.attempt)];
        let chosen = self.sealed(asked, self.other(&first.word), first.nonce.clone());
        let letter = self.letter(asked, Body::Choice { match_id: asked.match_id, chosen }, None);
        let at = stage.now + wait + THINKING_MAX;
        self.put(at, Saying::Call { to: asked.request.from, letter });
    }

    /// What it chooses in this attempt; asked again it says the same again.
    fn choice(&mut self, stage: &mut Stage<'_>, asked: &Asked<'_>) -> Chosen {
        let key = (asked.match_id, asked.attempt);
        if let Some(chosen) = self.chosen.get(&key) {
            return chosen.clone();
        }
        let word = stage.fate.pick(self.options);
        let nonce: Arc<str> = random_text(stage.fate)[..16].into();
        let mut chosen = self.sealed(asked, word, Some(nonce));
        if self.guest == Guest::Plain {
            (chosen.nonce, chosen.proof) = (None, None);
        }
        if self.guest == Guest::FalseProof {
            chosen.proof = self.sealed(asked, self.other(word), chosen.nonce.clone()).proof;
        }
        if self.guest == Guest::VainProof {
            chosen.proof = Some(format!("prf_{}", random_text(stage.fate)).into());
        }
        self.chosen.insert(key, chosen.clone());
        chosen
    }

    fn sealed(&self, asked: &Asked<'_>, word: &str, nonce: Option<Arc<str>>) -> Chosen {
        let sent =
            SentChoice { step: 1, choice: word, nonce: nonce.as_deref().unwrap_or_default() };
        let (match_id, attempt) = (asked.match_id, asked.attempt);
        let proof = choice_proof(&asked.me.token, &self.league, match_id, attempt, sent);
        Chosen { word: word.into(), nonce, proof: Some(proof.expose().into()) }
    }

    /// Something else that it could have chosen.
    fn other(&self, word: &str) -> &'static str {
        if word == self.options[0] { self.options[1] } else { self.options[0] }
    }

    fn say(&mut self, stage: &mut Stage<'_>, asked: &Asked<'_>, body: Body, wait: Duration) {
        let (to, call) = (asked.request.from, asked.request.call);
        let wrong = (self.guest == Guest::WrongToken).then(|| random_text(stage.fate));
        let letter = self.letter(asked, body, wrong);
        if self.guest == Guest::Caller {
            stage.answer(to, call, Letter::bare(Body::Noted));
            self.put(stage.now + wait, Saying::Call { to, letter });
            return;
        }
        self.put(stage.now + wait, Saying::Reply { to, call, letter });
    }

    fn letter(&self, asked: &Asked<'_>, body: Body, wrong: Option<String>) -> Letter {
        let Asked { request, me, match_id, attempt } = asked;
        let proof = || {
            if self.guest == Guest::ShowsToken {
                return me.token.expose().to_string();
            }
            reply_proof(&me.token, &self.league, *match_id, *attempt).expose()
        };
        Letter {
            sender: Some(me.agent),
            token: Some(wrong.unwrap_or_else(proof).into()),
            conversation: request.letter.conversation.clone(),
            body,
        }
    }

    fn put(&mut self, at: Timestamp, saying: Saying) {
        self.said += 1;
        self.later.insert((at, self.said), saying);
    }
}

fn another(match_id: MatchId) -> MatchId {
    MatchId::new(match_id.round.next(), match_id.number())
}

fn thought(stage: &mut Stage<'_>) -> Duration {
    let most = u64::try_from(THINKING_MAX.as_millis()).expect("a moment");
    Duration::from_millis(stage.fate.below(most))
}
