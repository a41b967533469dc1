//! A whole league in which everybody is the checker's: it begins, is announced, its results are
//! reported. Cases look at what the manager says meanwhile.

use std::sync::Arc;

use league_wire::MessageType;
use serde_json::{Value, json};

use super::door::{League, Plan};
use super::guest::{Call, Guest, Kind};
use super::said::Reply;
use super::speech::Stamp;
use super::visit::Visit;
use crate::limits::NEWS_TIME;
use crate::verdict::Halt;

/// A league and everybody in it.
pub(super) struct Story {
    pub(super) visit: Visit,
    pub(super) league: League,
    pub(super) referees: Vec<Guest>,
    pub(super) players: Vec<Guest>,
}

/// A match as it was announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fixture {
    pub(super) id: String,
    pub(super) round: u64,
    pub(super) a: String,
    pub(super) b: String,
    /// Which of the story's referees has it.
    pub(super) referee: usize,
}

/// What a referee tells of a match.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) choices: [&'static str; 2],
    pub(super) number: u32,
    pub(super) points: [u32; 2],
    /// 0 for the first player, 1 for the second, none for a draw.
    pub(super) winner: Option<usize>,
}

impl Told {
    /// The first player chose even, the second odd, and 8 was drawn.
    pub(super) const WIN: Self =
        Self { choices: ["even", "odd"], number: 8, points: [3, 0], winner: Some(0) };
    /// Both chose odd, and 7 was drawn.
    pub(super) const DRAW: Self =
        Self { choices: ["odd", "odd"], number: 7, points: [1, 1], winner: None };
    /// The same match, won by the other side: odd, and 7 was drawn.
    pub(super) const OTHER: Self =
        Self { choices: ["even", "odd"], number: 7, points: [0, 3], winner: Some(1) };

    /// The fields of MATCH_RESULT_REPORT, as documents 000 and 002 list them.
    pub(super) fn fields(&self, fixture: &Fixture, league: Option<&str>) -> Value {
        let Fixture { id, round, a, b, .. } = fixture;
        let winner = self.winner.map(|seat| if seat == 0 { a } else { b });
        let word = |seat: usize| match self.winner {
            None => "TIE",
            Some(winner) if winner == seat => "WIN",
            Some(_) => "LOSS",
        };
        let side = |seat: usize| {
            let (choice, points) = (self.choices[seat], self.points[seat]);
            json!({"choice": choice, "result": word(seat), "points": points})
        };
        json!({
            "league_id": league,
            "round_id": round,
            "match_id": id,
            "game_type": "even_odd",
            "result": {
                "winner": winner,
                "score": {a: self.points[0], b: self.points[1]},
                "details": {
                    "drawn_number": self.number,
                    "choices": {a: self.choices[0], b: self.choices[1]},
                },
            },
            "players": {a: side(0), b: side(1)},
            "drawn_number": self.number,
        })
    }
}

impl Story {
    /// A league of its own with that many players and referees, which has just begun.
    pub(super) async fn begin(visit: &Visit, players: u32, referees: u32) -> Result<Self, Halt> {
        let mut story = Self::prepare(visit, players, referees).await?;
        for _ in 0..players {
            story.add_player().await?;
        }
        Ok(story)
    }

    /// The same without players yet; the league begins with the last of them.
    pub(super) async fn prepare(visit: &Visit, players: u32, referees: u32) -> Result<Self, Halt> {
        let league = visit.found(Plan::of(players)).await?;
        let visit = visit.within(&league);
        let mut seated = Vec::new();
        for _ in 0..referees {
            seated.push(visit.register(Kind::Referee, &league).await?);
        }
        Ok(Self { visit, league, referees: seated, players: Vec::new() })
    }

    /// Another player.
    pub(super) async fn add_player(&mut self) -> Result<(), Halt> {
        self.players.push(self.visit.register(Kind::Player, &self.league).await?);
        Ok(())
    }

    /// The announcement of `round`, as `guest` heard it.
    pub(super) async fn announced(&self, guest: &Guest, round: u64) -> Result<Arc<Call>, Halt> {
        let is_it = |call: &Call| {
            call.kind == Some(MessageType::RoundAnnouncement) && call.round() == Some(round)
        };
        let heard = guest.wait(NEWS_TIME, is_it).await;
        heard.ok_or_else(|| {
            let (id, limit) = (guest.me().map(|me| me.id).unwrap_or_default(), NEWS_TIME.as_secs());
            Halt::fail(
                format!("{id} did not hear ROUND_ANNOUNCEMENT of round {round} within {limit} s"),
                "announce every round to every player and referee, at its contact_endpoint",
            )
        })
    }

    /// The matches of `round`, as the first player heard of them.
    pub(super) async fn fixtures(&self, round: u64) -> Result<Vec<Fixture>, Halt> {
        let told = |halt: Halt| halt.unless_told_by("manager.round.announced");
        let call = self.announced(&self.players[0], round).await.map_err(told)?;
        let listed = call.message["matches"].as_array().cloned().unwrap_or_default();
        listed.iter().map(|entry| self.fixture(round, entry)).collect()
    }

    fn fixture(&self, round: u64, entry: &Value) -> Result<Fixture, Halt> {
        let text = |names: &[&str]| {
            let found = names.iter().find_map(|name| entry[*name].as_str());
            found.map(str::to_string)
        };
        let endpoint = text(&["referee_endpoint"]);
        let name = text(&["referee_id"]);
        let is_its = |guest: &Guest| {
            let id = guest.me().map(|me| me.id).ok();
            endpoint.as_ref() == Some(&guest.url()) || (name.is_some() && name == id)
        };
        // Where there is only one, it need not be named to be known.
        let only = (self.referees.len() == 1 && endpoint.is_none()).then_some(0);
        let referee = self.referees.iter().position(is_its).or(only);
        let parts = (
            text(&["match_id"]),
            text(&["player_A_id", "player1_id"]),
            text(&["player_B_id", "player2_id"]),
            referee,
        );
        let (Some(id), Some(a), Some(b), Some(referee)) = parts else {
            return Err(Halt::skip("what it builds on fails: see manager.round.fields"));
        };
        Ok(Fixture { id, round, a, b, referee })
    }

    /// Reports what `told` says of a match, as the referee that has it.
    pub(super) async fn report(&self, fixture: &Fixture, told: &Told) -> Result<Reply, Halt> {
        let me = self.referees[fixture.referee].me()?;
        self.report_as(fixture, told, &Stamp::own(Kind::Referee, &me)).await
    }

    /// The same as somebody else.
    pub(super) async fn report_as(
        &self,
        fixture: &Fixture,
        told: &Told,
        stamp: &Stamp,
    ) -> Result<Reply, Halt> {
        let fields = told.fields(fixture, self.league.id.as_deref());
        self.visit.say(MessageType::MatchResultReport, stamp, fields).await
    }

    /// Reports the first player's win; that it is taken is told by another case.
    pub(super) async fn settle(&self, fixture: &Fixture) -> Result<(), Halt> {
        let told = |halt: Halt| halt.unless_told_by("manager.report.accepted");
        let reply = self.report(fixture, &Told::WIN).await.map_err(told)?;
        reply.accepted("a result").map(drop).map_err(told)
    }

    /// Reports every match of `round`.
    pub(super) async fn settle_round(&self, round: u64) -> Result<Vec<Fixture>, Halt> {
        let fixtures = self.fixtures(round).await?;
        for fixture in &fixtures {
            self.settle(fixture).await?;
        }
        Ok(fixtures)
    }

    /// Plays the whole league, round after round.
    pub(super) async fn settle_all(&self) -> Result<Vec<Fixture>, Halt> {
        let players = self.players.len() as u64;
        let rounds = if players.is_multiple_of(2) { players - 1 } else { players };
        let mut all = Vec::new();
        for round in 1..=rounds {
            all.extend(self.settle_round(round).await?);
        }
        Ok(all)
    }

    /// What `guest` hears of `kind` next that `wanted` accepts; a failure if it does not.
    pub(super) async fn hears(
        &self,
        guest: &Guest,
        kind: MessageType,
        wanted: impl Fn(&Call) -> bool,
    ) -> Result<Arc<Call>, Halt> {
        let heard = guest.wait(NEWS_TIME, |call| call.kind == Some(kind) && wanted(call)).await;
        heard.ok_or_else(|| {
            let (id, limit) = (guest.me().map(|me| me.id).unwrap_or_default(), NEWS_TIME.as_secs());
            let name = kind.name(self.visit.speech.0);
            Halt::fail(
                format!("{id} did not hear {name} within {limit} s"),
                format!("send {name} to every player, at its contact_endpoint"),
            )
        })
    }
}
