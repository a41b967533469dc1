//! Places in a league: when there are none left, when it is too late, and who may come back.

use league_wire::Code;
use serde_json::{Value, json};

use super::case;
use super::door::{League, Plan};
use super::guest::{Guest, Identity, Kind};
use super::said::{Reply, Strict};
use super::speech::Stamp;
use super::visit::Visit;
use crate::case::Case;
use crate::verdict::{Halt, Outcome};

pub(super) const CASES: &[Case] = &[
    case! {
        "manager.place.full": Must, EVERY, ["REG-7"], "docs/protocol/league-v2.md#league_register_request, 004 Error Codes",
        "A league that is full",
        sent: "a third registration in a league of two",
        wanted: "a refusal, L002 where the document has it",
        why: "A schedule for more players than were planned does not end in time.",
        full
    },
    case! {
        "manager.place.full-limit": Should, EVERY, ["REG-7"], "docs/protocol/league-v2.md#league_register_request",
        "How many a full league takes",
        sent: "a third registration in a league of two",
        wanted: "L002, and the limit in what the error says",
        why: "The author sees that it is no mistake of its own.",
        full_limit
    },
    case! {
        "manager.place.late-player": Must, EVERY, ["REG-5"], "docs/protocol/league-v2.md#league_register_request, 002 §4.7.2",
        "A player that comes too late",
        sent: "a registration after the start",
        wanted: "a refusal, E019 where the document has it",
        why: "The schedule is made, and nobody can be put into it.",
        late_player
    },
    case! {
        "manager.place.late-code": Should, EVERY, ["REG-5"], "docs/protocol/league-v2.md#error-codes",
        "The code for who comes too late",
        sent: "a registration after the start",
        wanted: "E019 (document 004: L001)",
        why: "It tells waiting in vain from a mistake in the message.",
        late_code
    },
    case! {
        "manager.place.late-referee": Must, EVERY, ["ARCH-4", "REG-5"], "docs/protocol/league-v2.md#referee_register_request, 002 US-12",
        "A referee that joins a running league",
        sent: "REFEREE_REGISTER_REQUEST after the start",
        wanted: "an accepted registration",
        why: "A league whose only referee dies can go on.",
        late_referee
    },
    case! {
        "manager.place.back": Should, EVERY, ["REG-6"], "docs/protocol/league-v2.md#league_register_request",
        "A player that registers again before the start",
        sent: "a registration with its own token and id",
        wanted: "the same id",
        why: "Whoever restarts its agent is not another player.",
        back
    },
    case! {
        "manager.place.back-later": Should, EVERY, ["REG-6"], "docs/protocol/league-v2.md#league_register_request",
        "A player that registers again after the start",
        sent: "a registration with its own token and id, in a league that runs",
        wanted: "the same id",
        why: "An agent that crashes in round one can still play round two.",
        back_later
    },
    case! {
        "manager.place.moved": Should, EVERY, ["REG-6"], "docs/protocol/league-v2.md#league_register_request",
        "A player that comes back at another address",
        sent: "a registration with its own token from a new endpoint, while the old one is closed",
        wanted: "the same id",
        why: "The old port may be taken after a crash.",
        moved
    },
    case! {
        "manager.place.back-forged": Must, EVERY, ["REG-6", "AUTH-2"], "docs/protocol/league-v2.md#league_register_request",
        "Somebody who pretends to come back",
        sent: "a registration as a registered player with a token that is not its own",
        wanted: "a refusal, E012 where the document has it",
        why: "It would take over the player's matches.",
        back_forged
    },
    case! {
        "manager.place.back-stolen": Must, EVERY, ["REG-6", "AUTH-2"], "docs/protocol/league-v2.md#league_register_request",
        "A player that comes back as another one",
        sent: "a registration as P with the token of Q",
        wanted: "a refusal, E012 where the document has it",
        why: "It would take over the other's matches.",
        back_stolen
    },
];

/// The league that is full, and the answer to who comes then.
async fn turned_away(visit: &Visit) -> Result<Reply, Halt> {
    let plan = Plan { starts_with: None, players_max: 2 };
    let league = visit.found(plan).await?;
    let visit = visit.within(&league);
    let _two = [
        visit.register(Kind::Player, &league).await?,
        visit.register(Kind::Player, &league).await?,
    ];
    let third = visit.guest(Kind::Player).await?;
    visit.send(&visit.application(&third, &league)).await
}

async fn full(visit: &Visit) -> Outcome {
    let reply = turned_away(visit).await?;
    reply.refused("a third player in a league of two", Code::L002, Strict::AsListed)
}

async fn full_limit(visit: &Visit) -> Outcome {
    let reply = turned_away(visit).await?;
    reply.refused_as_told_by("manager.place.full")?;
    reply.refused("a third player in a league of two", Code::L002, Strict::Always)?;
    let text = reply.refusal().map(|refusal| refusal.text).unwrap_or_default();
    if text.contains('2') {
        return Ok(());
    }
    let sentence = format!("the refusal does not say how many players the league takes: {text}");
    Err(Halt::fail(sentence, "name the limit"))
}

/// A league of two that runs.
struct Running {
    visit: Visit,
    league: League,
    players: [Guest; 2],
    _referee: Guest,
}

async fn running(visit: &Visit) -> Result<Running, Halt> {
    let league = visit.found(Plan::of(2)).await?;
    let visit = visit.within(&league);
    let referee = visit.register(Kind::Referee, &league).await?;
    let players = [
        visit.register(Kind::Player, &league).await?,
        visit.register(Kind::Player, &league).await?,
    ];
    Ok(Running { visit, league, players, _referee: referee })
}

async fn late(visit: &Visit, kind: Kind) -> Result<Reply, Halt> {
    let Running { visit, league, .. } = &running(visit).await?;
    let guest = visit.guest(kind).await?;
    visit.send(&visit.application(&guest, league)).await
}

async fn late_player(visit: &Visit) -> Outcome {
    // A league of two with two players is full as well.
    let reply = late(visit, Kind::Player).await?;
    let codes = [Code::E019, Code::L002, Code::L001];
    reply.refused_with_any("a player that comes after the start", &codes, Strict::AsListed)
}

async fn late_code(visit: &Visit) -> Outcome {
    let reply = late(visit, Kind::Player).await?;
    reply.refused_as_told_by("manager.place.late-player")?;
    reply.refused("a player that comes after the start", Code::E019, Strict::Always)
}

async fn late_referee(visit: &Visit) -> Outcome {
    let reply = late(visit, Kind::Referee).await?;
    reply.accepted("a referee that joins after the start").map(drop)
}

/// Registers `guest` as `me`.
async fn come_back(
    visit: &Visit,
    league: &League,
    guest: &Guest,
    me: &Identity,
) -> Result<Reply, Halt> {
    let stamp = Stamp::own(Kind::Player, me);
    visit.send(&visit.application_as(guest, league, &stamp)).await
}

/// The answer must give `me` its id back.
fn same_id(reply: &Reply, me: &Identity) -> Outcome {
    let message: Value = reply.accepted(&format!("{} that shows its own token", me.id))?;
    if message["player_id"] == json!(me.id) {
        return Ok(());
    }
    let sentence = format!("{} that shows its own token became {}", me.id, message["player_id"]);
    let right = json!({"status": "ACCEPTED", "player_id": me.id}).to_string();
    Err(Halt::fail_with(sentence, "give it its id back", right))
}

async fn back(visit: &Visit) -> Outcome {
    let league = visit.own_lobby().await?;
    let guest = visit.register(Kind::Player, &league).await?;
    let me = guest.me()?;
    same_id(&come_back(visit, &league, &guest, &me).await?, &me)
}

async fn back_later(visit: &Visit) -> Outcome {
    let scene = running(visit).await?;
    let guest = &scene.players[0];
    let me = guest.me()?;
    same_id(&come_back(&scene.visit, &scene.league, guest, &me).await?, &me)
}

async fn moved(visit: &Visit) -> Outcome {
    let league = visit.own_lobby().await?;
    let guest = visit.register(Kind::Player, &league).await?;
    let me = guest.me()?;
    guest.leave().await;
    let elsewhere = visit.guest(Kind::Player).await?;
    same_id(&come_back(visit, &league, &elsewhere, &me).await?, &me)
}

async fn back_forged(visit: &Visit) -> Outcome {
    let league = visit.own_lobby().await?;
    let guest = visit.register(Kind::Player, &league).await?;
    let me = guest.me()?;
    let token = format!("tok_player_{}_{}", me.id, "0".repeat(64));
    let forged = Identity { token, ..me };
    let reply = come_back(visit, &league, &guest, &forged).await?;
    let codes = [Code::E012, Code::L003];
    let what = "a registration as a registered player with a forged token";
    reply.refused_with_any(what, &codes, Strict::AsListed)
}

async fn back_stolen(visit: &Visit) -> Outcome {
    let league = visit.own_lobby().await?;
    let guest = visit.register(Kind::Player, &league).await?;
    let other = visit.register(Kind::Player, &league).await?;
    let stolen = Identity { token: other.me()?.token, ..guest.me()? };
    let reply = come_back(visit, &league, &guest, &stolen).await?;
    let codes = [Code::E012, Code::L003];
    let what = "a registration as one player with the token of another";
    reply.refused_with_any(what, &codes, Strict::AsListed)
}
