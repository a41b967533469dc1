//! A league for tests, with everything it needs around it.

use std::sync::Arc;

use super::super::*;
use crate::dice::SeededDice;
use crate::draw::Draw;
use crate::game::{EvenOdd, Turn};
use crate::policy::RuleSet;
use crate::proof::{Keys, Secret, SentChoice, choice_proof};
use crate::schedule::Format;
use crate::seat::{Seat, Seats};
use crate::verdict::Verdict;

/// A league with its clock, dice, keys and books.
pub(super) struct Hall {
    pub(super) league: League,
    pub(super) now: Timestamp,
    pub(super) dice: SeededDice,
    pub(super) keys: Keys,
    pub(super) books: Vec<Event>,
}

impl Hall {
    pub(super) fn new(start: StartRule) -> Self {
        Self::with(RuleSet::V21, start, None)
    }

    pub(super) fn with(
        rule_set: RuleSet,
        start: StartRule,
        format: Option<Arc<dyn Format>>,
    ) -> Self {
        let mut dice = SeededDice::new(1);
        let keys = Keys::derive(&Secret::roll(&mut dice));
        let charter = Charter {
            league: "test".parse().unwrap(),
            rule_set: rule_set.to_string(),
            rules: vec![("announcement_lead".into(), "0s".into())],
            game: "even_odd".parse().unwrap(),
            format: "round_robin".into(),
            start,
            players_max: 200,
            key_check: keys.check_value(),
        };
        let now = Timestamp::from_millis(1_000_000);
        let (mut league, created) = League::found(now, charter).unwrap();
        if let Some(format) = format {
            league.articles.format = format;
        }
        Self { league, now, dice, keys, books: vec![created] }
    }

    /// The same league with another game.
    pub(super) fn playing(mut self, game: &str) -> Self {
        self.league.articles.game = crate::game::by_name(game).unwrap();
        self
    }

    pub(super) fn ask(&mut self, command: Command) -> Result<Reply, Refusal> {
        let (events, reply) = self.league.drive(self.now, command, &mut self.dice)?;
        self.books.extend(events);
        Ok(reply)
    }

    pub(super) fn join_player(&mut self, number: u32) -> Result<Reply, Refusal> {
        let profile = profile(8_100 + number);
        self.ask(joining(profile))
    }

    pub(super) fn join_referee(&mut self, number: u32, capacity: u32) -> Result<Reply, Refusal> {
        let profile = profile(8_000 + number);
        self.ask(officiating(profile, capacity, true))
    }

    pub(super) fn filled(players: u32, referees: u32) -> Self {
        let mut hall = Self::new(StartRule::OnCommand);
        hall.fill(players, referees);
        hall
    }

    pub(super) fn started(players: u32, referees: u32) -> Self {
        let mut hall = Self::filled(players, referees);
        hall.ask(Command::Start).unwrap();
        hall
    }

    pub(super) fn fill(&mut self, players: u32, referees: u32) {
        (1..=players).for_each(|n| drop(self.join_player(n).unwrap()));
        (1..=referees).for_each(|n| drop(self.join_referee(n, 4).unwrap()));
    }

    /// An honest report of a match, both sides choosing as given.
    pub(super) fn report(&self, match_id: MatchId, choices: [&str; 2]) -> Report {
        let open = self.league.open_match(match_id).unwrap();
        let draw = Draw::new(self.league.id(), match_id, open.rematch);
        let number = u32::from(draw.number(&draw.seed(&self.keys), Seats::new("", "")));
        let moves = Seats::new(Move::word(choices[0]), Move::word(choices[1]));
        let play = Play {
            turns: vec![Turn::Moves(moves), Turn::Drawn(number)],
            stranded: Seats::default(),
            nonces: Seats::default(),
            choice_proofs: Seats::default(),
        };
        let verdict = match crate::game::replay(&EvenOdd, &play.turns).unwrap() {
            crate::game::Outcome::Won(seat) => Verdict::Won(seat),
            crate::game::Outcome::Drawn => Verdict::Drawn,
        };
        self.sign(match_id, verdict, play)
    }

    pub(super) fn sign(&self, match_id: MatchId, verdict: Verdict, play: Play) -> Report {
        let open = self.league.open_match(match_id).unwrap();
        let tokens = Seats::from_fn(|seat| {
            let player = self.league.player(open.pairing.player(seat)).unwrap();
            let form = self.league.policy().token_form();
            self.keys.token(form, self.league.id(), AgentId::Player(player.id), &player.nonce)
        });
        let scales = Scales {
            keys: &self.keys,
            game: &EvenOdd,
            league: self.league.id(),
            match_id,
            attempt: open.attempt,
            rematch: open.rematch,
            tokens: Seats::new(&tokens.a, &tokens.b),
            revealed: None,
            seed_was_given: true,
        };
        let scores = verdict.scores();
        Report {
            referee: open.referee,
            match_id,
            attempt: Some(open.attempt),
            conversation: format!("conv{match_id}").parse().unwrap(),
            verdict,
            points: Seats::from_fn(|seat| Some(scores[seat].points(self.league.policy()))),
            evidence: Evidence::weigh(&scales, &play),
            roles: Seats::default(),
            play,
            reason: "test".into(),
            transcript: None,
            conduct: Seats::default(),
        }
    }

    /// A player's own proof that it chose `choice`.
    pub(super) fn proof_of(&self, match_id: MatchId, seat: Seat, choice: &str) -> [u8; 32] {
        let open = self.league.open_match(match_id).unwrap();
        let player = self.league.player(open.pairing.player(seat)).unwrap();
        let form = self.league.policy().token_form();
        let agent = AgentId::Player(player.id);
        let token = self.keys.token(form, self.league.id(), agent, &player.nonce);
        let sent = SentChoice { step: 1, choice, nonce: "" };
        choice_proof(&token, self.league.id(), match_id, open.attempt, sent).bytes()
    }

    pub(super) fn file(&mut self, report: Report) -> Result<Reply, Refusal> {
        self.ask(filed(report))
    }

    pub(super) fn play_to_the_end(&mut self) {
        while self.league.open_round().is_some() {
            self.play_round();
        }
    }

    /// Reports every match of the open round that has no result.
    pub(super) fn play_round(&mut self) {
        let round = self.league.open_round().unwrap();
        let open: Vec<MatchId> = (0..round.matches.len())
            .filter(|&index| round.matches[index].filed.is_none())
            .map(|index| MatchId::from_index(round.id, index))
            .collect();
        for match_id in open {
            let report = self.report(match_id, ["even", "odd"]);
            assert_eq!(self.file(report), Ok(Reply::Recorded { again: false }));
        }
    }

    pub(super) fn replayed(&self) -> League {
        let mut again = League::open(self.league.charter()).unwrap();
        again.articles.format = self.league.articles.format.clone();
        self.books.iter().for_each(|event| again.apply(event));
        again
    }
}

pub(super) fn profile(port: u32) -> Profile {
    Profile {
        display_name: "Agent Alpha".into(),
        version: "1.0.0".into(),
        protocol_version: ProtocolVersion::CURRENT,
        games: vec!["even_odd".parse().unwrap()],
        endpoint: format!("http://127.0.0.1:{port}/mcp").into(),
        dialect: "flat".into(),
        email: None,
        batch: true,
    }
}

pub(super) fn joining(profile: Profile) -> Command {
    Command::RegisterPlayer(Box::new(application(profile)))
}

pub(super) fn application(profile: Profile) -> Application {
    Application::new(profile, host(), conversation())
}

pub(super) fn officiating(profile: Profile, capacity: u32, operated: bool) -> Command {
    let application = Box::new(application(profile));
    Command::RegisterReferee { application, capacity, operated }
}

pub(super) fn host() -> Arc<str> {
    "10.0.0.7".into()
}

pub(super) fn conversation() -> ConversationId {
    "c".parse().unwrap()
}

pub(super) fn filed(report: Report) -> Command {
    Command::RecordResult(Box::new(report))
}

pub(super) fn first() -> MatchId {
    MatchId::new(RoundId::FIRST, 1)
}

pub(super) fn nothing() -> Play {
    Play {
        turns: vec![],
        stranded: Seats::default(),
        nonces: Seats::default(),
        choice_proofs: Seats::default(),
    }
}

pub(super) fn order(order: Order) -> Command {
    Command::Administer { order, reason: "a test".into() }
}
