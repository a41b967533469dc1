//! What the player is told: rounds, standings, errors, suspension, the end of the league.

use std::time::Duration;

use league_agent::ambient;
use league_core::id::{AgentId, MatchId, PlayerId, RefereeId, RoundId};
use league_core::seat::Seats;
use league_wire::message::{
    Ack, AnnouncedMatch, Champion, ErrorReport, LeagueCompleted, Retry, RoundAnnouncement,
    RoundCompleted, StandingRow, StandingsUpdate, SuspensionNotice,
};
use league_wire::{AgentState, Code, Listed, MatchState, Message, MessageType};

use super::table::{Table, even_odd};
use crate::bench::Bench;
use crate::case::{Case, Lane, Level};
use crate::limits::{CHOICE_TIME, TOLD_TIME};
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    section: "docs/protocol/league-v2.md, Messages",
    requirements: &["WIRE-7"],
    wanted: "any result",
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "player.news.round",
        title: "ROUND_ANNOUNCEMENT is answered",
        section: "docs/protocol/league-v2.md, ROUND_ANNOUNCEMENT",
        requirements: &["SCHED-4"],
        sent: "ROUND_ANNOUNCEMENT with a match of the player",
        why: "The manager tells it again and again to whoever does not answer.",
        run: |bench| Box::pin(tell(bench, News::Round)),
        ..CASE
    },
    Case {
        id: "player.news.bye",
        title: "A round without a match of its own is answered",
        section: "docs/protocol/league-v2.md, ROUND_ANNOUNCEMENT",
        requirements: &["SCHED-1", "SCHED-4"],
        sent: "ROUND_ANNOUNCEMENT in which the player has a bye",
        why: "With an odd number of players everybody sits out once.",
        run: |bench| Box::pin(tell(bench, News::Bye)),
        ..CASE
    },
    Case {
        id: "player.news.round-completed",
        title: "ROUND_COMPLETED is answered",
        section: "docs/protocol/league-v2.md, ROUND_COMPLETED",
        requirements: &["SCHED-5"],
        sent: "ROUND_COMPLETED of the last round: `next_round_id` is null",
        why: "The manager tells it again and again to whoever does not answer.",
        run: |bench| Box::pin(tell(bench, News::RoundCompleted)),
        ..CASE
    },
    Case {
        id: "player.news.standings",
        title: "LEAGUE_STANDINGS_UPDATE is answered",
        section: "docs/protocol/league-v2.md, LEAGUE_STANDINGS_UPDATE",
        requirements: &["RESULT-6"],
        sent: "LEAGUE_STANDINGS_UPDATE",
        why: "The manager tells it again and again to whoever does not answer.",
        run: |bench| Box::pin(tell(bench, News::Standings)),
        ..CASE
    },
    Case {
        id: "player.news.game-error",
        title: "GAME_ERROR is answered",
        section: "docs/protocol/league-v2.md, GAME_ERROR",
        requirements: &["ERR-2", "MATCH-4"],
        sent: "GAME_ERROR E001 in a match that was joined",
        why: "It says that a retry follows; a player that stumbles over it loses the match.",
        run: |bench| Box::pin(game_error(bench)),
        ..CASE
    },
    Case {
        id: "player.news.league-error",
        title: "LEAGUE_ERROR is answered",
        section: "docs/protocol/league-v2.md, LEAGUE_ERROR",
        requirements: &["ERR-2"],
        sent: "LEAGUE_ERROR",
        why: "It says what the agent did wrong.",
        run: |bench| Box::pin(tell(bench, News::LeagueError)),
        ..CASE
    },
    Case {
        id: "player.news.suspension",
        title: "SUSPENSION_NOTICE is answered",
        level: Level::Should,
        section: "docs/protocol/league-v2.md, SUSPENSION_NOTICE",
        requirements: &["LIFE-2"],
        sent: "SUSPENSION_NOTICE",
        why: "It says how the player comes back.",
        run: |bench| Box::pin(tell(bench, News::Suspension)),
        ..CASE
    },
    Case {
        id: "player.news.in-time",
        title: "News are answered within 1 s",
        level: Level::Should,
        section: "docs/protocol/league-v2.md, Timing",
        requirements: &["ERR-5"],
        sent: "LEAGUE_STANDINGS_UPDATE",
        wanted: "any result within 1 s",
        why: "The next message to the player waits for it.",
        run: |bench| Box::pin(in_time(bench)),
        ..CASE
    },
];

/// What a player hears last, and may end after.
pub(super) static LAST: &[Case] = &[Case {
    id: "player.news.league-completed",
    title: "LEAGUE_COMPLETED is answered",
    lane: Lane::Last,
    section: "docs/protocol/league-v2.md, LEAGUE_COMPLETED",
    requirements: &["SCHED-5"],
    sent: "LEAGUE_COMPLETED, if the checker started the agent, which may end then",
    why: "It is the last thing that a player hears, and brings the final table.",
    run: |bench| Box::pin(league_completed(bench)),
    ..CASE
}];

#[derive(Clone, Copy)]
enum News {
    Round,
    Bye,
    RoundCompleted,
    Standings,
    LeagueError,
    Suspension,
}

const ROUND: RoundId = RoundId::FIRST;
const MATCH: MatchId = MatchId::new(ROUND, 1);

fn message(bench: &Bench, news: News) -> Result<Message, Halt> {
    let me = bench.player()?;
    let opponent = Table::new(bench).opponent;
    Ok(match news {
        News::Round => Message::RoundAnnouncement(announcement(me, opponent, vec![])),
        News::Bye => {
            let (one, other) = (PlayerId::new(98), PlayerId::new(99));
            Message::RoundAnnouncement(announcement(one, other, vec![me]))
        }
        News::RoundCompleted => Message::RoundCompleted(RoundCompleted {
            round_id: ROUND,
            completed_matches: vec![MATCH],
            matches_played: 1,
            next_round_id: None,
            journal_head: None,
            key_fingerprint: None,
        }),
        News::Standings => Message::LeagueStandingsUpdate(StandingsUpdate {
            round_id: Some(ROUND),
            last_updated: Some(ambient::now()),
            standings: Listed::Items(vec![row(1, me), row(2, opponent)]),
            total_players: Some(2),
        }),
        News::LeagueError => {
            let code = Code::E014.told(bench.dialect());
            let report = ErrorReport::new(code, "a message of yours named an unknown league");
            let context = league_wire::Fragment::parse("{}");
            Message::LeagueError(ErrorReport { context, ..report })
        }
        News::Suspension => Message::SuspensionNotice(SuspensionNotice {
            agent_id: AgentId::Player(me),
            state: AgentState::Suspended,
            reason: "3 timeouts in a row".into(),
            recovery_deadline: Some(ambient::now() + Duration::from_secs(300)),
            action_required: "answer a ping".into(),
        }),
    })
}

/// The standings, as they are told.
pub(super) fn standings(bench: &Bench) -> Result<Message, Halt> {
    message(bench, News::Standings)
}

fn announcement(a: PlayerId, b: PlayerId, byes: Vec<PlayerId>) -> RoundAnnouncement {
    let start = ambient::now() + Duration::from_secs(3_600);
    let listed = AnnouncedMatch {
        match_id: MATCH,
        game_type: Some(even_odd()),
        players: Seats::new(a, b),
        referee_id: Some(RefereeId::new(1)),
        referee_endpoint: Some("http://127.0.0.1:8001/mcp".into()),
        scheduled_start: Some(start),
        officiated: None,
    };
    RoundAnnouncement {
        round_id: ROUND,
        matches: Listed::Items(vec![listed]),
        byes,
        round_deadline: Some(start + Duration::from_secs(600)),
        total_matches: Some(1),
        total_rounds: Some(1),
        more: None,
    }
}

fn row(rank: u32, player_id: PlayerId) -> StandingRow {
    StandingRow {
        rank,
        player_id,
        display_name: format!("Player {player_id}"),
        played: 1,
        wins: 2 - rank,
        draws: 0,
        losses: rank - 1,
        technical_losses: 0,
        points: (2 - rank) * 3,
        win_rate_thousandths: (2 - rank) * 1_000,
        state: Some(AgentState::Active),
    }
}

async fn tell(bench: &Bench, news: News) -> Outcome {
    let message = message(bench, news)?;
    told(bench, message, TOLD_TIME).await
}

/// Whether a message of the manager is heard.
async fn told(bench: &Bench, message: Message, limit: Duration) -> Outcome {
    let kind: MessageType = message.kind();
    let asked = bench.ask(&bench.from_manager(message), limit).await;
    let ideal = Table::new(bench).answer(Message::Ack(Ack { of: Some(kind) }));
    if bench.me().token.is_none() && matches!(asked.refused(&ideal), Ok(Some(_))) {
        return Err(Halt::skip(
            "it believes only its manager, and its token is not known: use --start, --listen, or \
             --token and --league",
        ));
    }
    asked.heard(&ideal)
}

async fn in_time(bench: &Bench) -> Outcome {
    let base = |halt: Halt| halt.unless_told_by("player.news.standings");
    tell(bench, News::Standings).await.map_err(base)?;
    told(bench, message(bench, News::Standings)?, Duration::from_secs(1)).await
}

async fn game_error(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.join().await?;
    let report = ErrorReport {
        match_id: Some(table.match_id),
        affected_player: Some(bench.player()?),
        retryable: true,
        retry: Some(Retry { count: 1, max: 3, next_at: Some(ambient::now()) }),
        deadline: Some(ambient::now() + CHOICE_TIME),
        consequence: "technical loss after 3 attempts".into(),
        game_state: Some(MatchState::CollectingChoices),
        ..ErrorReport::new(Code::E001, "no choice within 30 s").waited(CHOICE_TIME, "a choice")
    };
    let letter = table.letter(Message::GameError(report));
    let ack = Message::Ack(Ack { of: Some(MessageType::GameError) });
    bench.ask(&letter, TOLD_TIME).await.heard(&table.answer(ack))
}

async fn league_completed(bench: &Bench) -> Outcome {
    if bench.subject.agent.is_none() {
        return Err(Halt::skip("it may end the agent, which the checker did not start"));
    }
    let (me, opponent) = (bench.player()?, Table::new(bench).opponent);
    let champion = Champion { player_id: me, display_name: "Champion".into(), points: 3 };
    let message = Message::LeagueCompleted(LeagueCompleted {
        total_rounds: 1,
        total_matches: 1,
        champion: Some(champion),
        final_standings: Listed::Items(vec![row(1, me), row(2, opponent)]),
        journal_head: None,
        key_fingerprint: None,
    });
    told(bench, message, TOLD_TIME).await
}
