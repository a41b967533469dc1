//! What a player is told, in plain words, for those who read rather than parse.

use league_core::id::PlayerId;
use league_wire::message::{GameOver, RoundAnnouncement, StandingRow};
use league_wire::{Message, MoveValue, PlayerResult};

/// Rows of a table that are told.
const ROWS_MAX: usize = 5;

/// What `message` says to `me`; nothing if it is of no interest to a person.
#[expect(clippy::wildcard_enum_match_arm, reason = "everything else is between programs")]
pub(super) fn told(me: PlayerId, message: &Message) -> Option<String> {
    Some(match message {
        Message::GameInvitation(it) => format!(
            "You are invited to match {} against {} and have joined it; you will be asked for \
             your move.",
            it.match_id, it.opponent_id
        ),
        Message::RoundAnnouncement(it) => round(me, it),
        Message::RoundCompleted(it) => format!("Round {} is over.", it.round_id),
        Message::LeagueStandingsUpdate(it) => {
            format!("Standings: {}.", table(me, it.standings.items()))
        }
        Message::GameOver(it) => over(me, it),
        Message::LeagueCompleted(it) => {
            let champion = it.champion.as_ref().map_or_else(String::new, |champion| {
                format!(" Champion: {} ({}).", champion.display_name, champion.player_id)
            });
            let standings = table(me, it.final_standings.items());
            format!("The league is over.{champion} Final standings: {standings}.")
        }
        Message::GameError(it) | Message::LeagueError(it) => {
            format!("Something went wrong: {}. {}.", it.description, it.action_required)
        }
        Message::SuspensionNotice(it) => {
            format!("You are {}: {}. {}.", it.state.word(), it.reason, it.action_required)
        }
        _ => return None,
    })
}

fn round(me: PlayerId, round: &RoundAnnouncement) -> String {
    let own = round.matches.items().iter().find_map(|listed| {
        let is_mine = |player: &PlayerId| *player == me;
        let opponent = match (is_mine(&listed.players.a), is_mine(&listed.players.b)) {
            (true, _) => listed.players.b,
            (_, true) => listed.players.a,
            (false, false) => return None,
        };
        Some(format!("you play {} in match {}", opponent, listed.match_id))
    });
    let own = own.unwrap_or_else(|| "you do not play".into());
    format!("Round {} begins: {own}.", round.round_id)
}

fn over(me: PlayerId, over: &GameOver) -> String {
    let own = over.players.get(&me);
    let outcome = match own.and_then(|line| line.result) {
        Some(PlayerResult::Win) => "you won",
        Some(PlayerResult::Loss) => "you lost",
        Some(PlayerResult::Tie) => "it is a draw",
        Some(PlayerResult::TechnicalLoss) => "you lost without playing",
        Some(PlayerResult::Cancelled) | None if over.winner == Some(me) => "you won",
        Some(PlayerResult::Cancelled) | None => "it brings no points to you",
    };
    let number = over.drawn_number.map(|number| format!(", the number was {number}"));
    let choices = over.players.iter().filter_map(|(player, line)| {
        let who = if *player == me { "you".to_string() } else { player.to_string() };
        Some(format!(", {who} chose {}", option(line.choice.as_ref()?)))
    });
    let choices: String = choices.collect();
    let (match_id, reason) = (over.match_id, &over.reason);
    let number = number.unwrap_or_default();
    format!("Match {match_id} is over: {outcome}{number}{choices}. {reason}")
}

fn table(me: PlayerId, rows: &[StandingRow]) -> String {
    let is_told = |(at, row): &(usize, &StandingRow)| *at < ROWS_MAX || row.player_id == me;
    let told = rows.iter().enumerate().filter(is_told).map(|(_, row)| {
        let you = if row.player_id == me { " (you)" } else { "" };
        format!("{}. {}{you} {} points", row.rank, row.display_name, row.points)
    });
    told.collect::<Vec<_>>().join(", ")
}

/// A move as people write it.
pub(super) fn option(value: &MoveValue) -> String {
    match value {
        MoveValue::Text(text) => text.clone(),
        MoveValue::Number(number) => number.to_string(),
    }
}
