//! Joining a league: what is accepted, and every way in which a registration can be wrong.

use std::collections::BTreeSet;

use league_agent::ambient::Mark;
use league_wire::{Code, Dialect};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::case;
use super::door::League;
use super::guest::{Guest, Identity, Kind};
use super::said::{Reply, Strict};
use super::speech::{Stamp, merge};
use super::transport::in_time;
use super::visit::Visit;
use crate::case::Case;
use crate::limits::REGISTER_TIME;
use crate::verdict::{Halt, Outcome};

/// How many register at the same time.
const CROWD: usize = 16;
/// Dialects in which the two documents' names of a field meet.
const FLAT_FAMILY: &[Dialect] = &[Dialect::Flat, Dialect::Typed, Dialect::V21];

pub(super) const CASES: &[Case] = &[
    case! {
        "manager.register.player": Must, EVERY, ["REG-1"], "docs/protocol/league-v2.md#league_register_request, 000 §3.1",
        "A player registers",
        sent: "LEAGUE_REGISTER_REQUEST as the document prints it",
        wanted: "`status` ACCEPTED, `player_id` and `auth_token`, in the request's dialect",
        why: "Everything else begins with it.",
        player
    },
    case! {
        "manager.register.referee": Must, EVERY, ["REG-1"], "docs/protocol/league-v2.md#referee_register_request, 000 §3.1",
        "A referee registers",
        sent: "REFEREE_REGISTER_REQUEST as the document prints it",
        wanted: "`status` ACCEPTED, `referee_id` and `auth_token`, in the request's dialect",
        why: "Without a referee no match is played.",
        referee
    },
    case! {
        "manager.register.league-id": Must, EVERY, ["REG-1"], "000 §3.1, 002 §4.3.2",
        "Which league it is",
        sent: "a registration",
        wanted: "`league_id` in the accepted answer",
        why: "Every later message names the league.",
        league_id
    },
    case! {
        "manager.register.in-time": Must, EVERY, ["REG-1", "ERR-5"], "docs/protocol/league-v2.md#timing",
        "How long a registration takes",
        sent: "a registration",
        wanted: "the answer within 10 s",
        why: "Agents give up after that.",
        registered_in_time
    },
    case! {
        "manager.register.sequence": Should, EVERY, ["REG-2"], "002 §4.3.2",
        "Ids in sequence",
        sent: "two registrations, one after the other",
        wanted: "ids such as P01 and P02",
        why: "Standings and match ids are read by people.",
        sequence
    },
    case! {
        "manager.register.tokens": Must, EVERY, ["AUTH-1"], "docs/protocol/league-v2.md#envelope, 000 §7",
        "A token for each",
        sent: "two registrations",
        wanted: "two different tokens that nobody can guess, of 16 characters at least",
        why: "Whoever knows a token can act as its owner.",
        tokens
    },
    case! {
        "manager.register.token-form": Should, EVERY, ["AUTH-1"], "000 §7, 002 §4.3.3",
        "The form of a token",
        sent: "a registration",
        wanted: "`tok_` and at least 32 random characters",
        why: "People and programs recognise secrets by it, and hide them in logs.",
        token_form
    },
    case! {
        "manager.register.no-meta": Must, EVERY, ["WIRE-6"], "docs/protocol/league-v2.md#league_register_request",
        "A registration without `player_meta`",
        sent: "LEAGUE_REGISTER_REQUEST with its envelope only",
        wanted: "a refusal, E003 where the document has codes",
        why: "A player of which nothing is known cannot be called.",
        no_meta
    },
    case! {
        "manager.register.no-name": Must, EVERY, ["WIRE-6"], "docs/protocol/league-v2.md#league_register_request",
        "A registration without `display_name`",
        sent: "`player_meta` without `display_name`",
        wanted: "a refusal, E003 where the document has codes",
        why: "The standings would have a row without a name.",
        no_name
    },
    case! {
        "manager.register.no-version": Must, EVERY, ["WIRE-6"], "docs/protocol/league-v2.md#league_register_request",
        "A registration without `version`",
        sent: "`player_meta` without `version`",
        wanted: "a refusal, E003 where the document has codes",
        why: "All documents list it as mandatory.",
        no_version
    },
    case! {
        "manager.register.no-games": Must, EVERY, ["WIRE-6", "REG-9"], "docs/protocol/league-v2.md#league_register_request",
        "A registration without `game_types`",
        sent: "`player_meta` without `game_types`",
        wanted: "a refusal, E003 where the document has codes",
        why: "Nobody knows whether it can play.",
        no_games
    },
    case! {
        "manager.register.name-type": Must, EVERY, ["WIRE-6"], "docs/protocol/league-v2.md#league_register_request",
        "A name that is a number",
        sent: "`display_name` 7",
        wanted: "a refusal, E003 where the document has codes",
        why: "What is written into the books must be what was meant.",
        name_type
    },
    case! {
        "manager.register.games-type": Must, EVERY, ["WIRE-6"], "docs/protocol/league-v2.md#league_register_request",
        "Games that are no list",
        sent: "`game_types` \"even_odd\"",
        wanted: "a refusal, E003 where the document has codes",
        why: "A text taken for a list is a list of letters.",
        games_type
    },
    case! {
        "manager.register.blank-name": Should, EVERY, ["REG-1"], "docs/protocol/league-v2.md#league_register_request",
        "A name that nobody can see",
        sent: "`display_name` of three spaces",
        wanted: "a refusal",
        why: "The standings would have a row without a name.",
        blank_name
    },
    case! {
        "manager.register.endpoint": Should, EVERY, ["REG-8"], "docs/protocol/league-v2.md#transport",
        "An address that cannot be called",
        sent: "`contact_endpoint` \"localhost:8101\"",
        wanted: "a refusal that says so",
        why: "The author learns it now, and not by lost matches.",
        endpoint
    },
    case! {
        "manager.register.unknown-game": Should, EVERY, ["REG-9"], "docs/protocol/league-v2.md#error-codes",
        "A player of another game",
        sent: "`game_types` [\"chess\"]",
        wanted: "a refusal, L001",
        why: "It would lose every match without having understood a question.",
        unknown_game
    },
    case! {
        "manager.register.two-names": Should, FLAT_FAMILY, ["WIRE-8"], "docs/protocol/dialects.md#vocabulary",
        "Two names of one field with different values",
        sent: "`game_types` [\"even_odd\"] and `supported_games` [\"chess\"]",
        wanted: "E003",
        why: "Whoever guesses which one is meant guesses wrong for half of them.",
        two_names
    },
    case! {
        "manager.register.version": Must, [Dialect::V21], ["REG-3"], "docs/protocol/league-v2.md#league_register_request, 002 §4.9.1",
        "A version that is not supported",
        sent: "`protocol_version` 1.5.0",
        wanted: "a refusal, E018",
        why: "Document 002 supports 2.0.0 to 2.1.x.",
        version
    },
    case! {
        "manager.register.version-range": Should, EVERY, ["REG-3"], "docs/protocol/league-v2.md#league_error, 002 §4.9.1",
        "Which versions are supported",
        sent: "`protocol_version` 1.5.0",
        wanted: "E018, and 2.0.0 in what the error says",
        why: "The author need not look for it.",
        version_range
    },
    case! {
        "manager.register.patch": Must, [Dialect::V21], ["REG-3"], "docs/protocol/league-v2.md#league_register_request, 002 §4.9.1",
        "A patch of a supported version",
        sent: "`protocol_version` 2.0.7",
        wanted: "an accepted registration",
        why: "Patches change nothing on the wire.",
        patch
    },
    case! {
        "manager.register.same-name": Must, EVERY, ["REG-4"], "002 §4.3.2",
        "Two players of the same name",
        sent: "two registrations with the same `display_name`",
        wanted: "both accepted, with different ids",
        why: "Document 002 allows it: ids tell them apart.",
        same_name
    },
    case! {
        "manager.register.duplicate": Must, EVERY, ["REG-4"], "docs/protocol/league-v2.md#league_register_request, 002 §4.3.2",
        "The same player twice",
        sent: "another registration from the same `contact_endpoint`",
        wanted: "a refusal, L003 where the document has it",
        why: "Who is in the table twice plays against itself.",
        duplicate
    },
    case! {
        "manager.register.again": Should, EVERY, ["REG-4"], "docs/protocol/league-v2.md#league_register_request",
        "The same registration again",
        sent: "the very same request a second time",
        wanted: "the same answer as before",
        why: "Whose answer was lost on the way asks again, and needs its token.",
        again
    },
    case! {
        "manager.register.unknown-league": Should, EVERY, ["ARCH-5"], "docs/protocol/league-v2.md#error-codes, 000 §4",
        "A league that does not exist",
        sent: "a registration with `league_id` \"nowhere\"",
        wanted: "a refusal, E014",
        why: "Who mistypes a name must not end up in another league.",
        unknown_league
    },
    case! {
        "manager.register.capacity": Should, EVERY, ["REG-9"], "docs/protocol/league-v2.md#referee_register_request",
        "A referee that takes no match",
        sent: "`max_concurrent_matches` 0",
        wanted: "a refusal",
        why: "Its matches would wait for ever.",
        capacity
    },
    case! {
        "manager.register.crowd": Must, EVERY, ["REG-2", "ARCH-3"], "002 §4.1.1",
        "Many register at the same time",
        sent: "16 registrations at once",
        wanted: "16 different ids and tokens",
        why: "A class starts its agents when the teacher says go.",
        crowd
    },
];

/// Registers `guest` with a meta that was changed.
async fn with_meta(visit: &Visit, kind: Kind, change: Value) -> Result<(Guest, Reply), Halt> {
    let league = visit.lobby().await?;
    let guest = visit.guest(kind).await?;
    let request = changed(visit, &guest, &league, change);
    let reply = visit.send(&request).await?;
    Ok((guest, reply))
}

/// The registration of `guest` with other values in its meta; null leaves a field out.
fn changed(visit: &Visit, guest: &Guest, league: &League, change: Value) -> Value {
    let mut request = visit.application(guest, league);
    let field = guest.kind.meta_field();
    let meta = visit.speech.path(field).iter().fold(&request["params"], |at, part| &at[part]);
    let mut meta = meta.clone();
    merge(&mut meta, change);
    if let Some(fields) = meta.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    visit.speech.set(&mut request, field, meta);
    request
}

async fn is_in(visit: &Visit, kind: Kind) -> Result<(Value, Identity), Halt> {
    let (_guest, reply) = with_meta(visit, kind, json!({})).await?;
    let message = reply.accepted("a registration")?;
    if message["status"] != "ACCEPTED" {
        return Err(Halt::fail_with(
            format!("`status` of the registration is {}", message["status"]),
            "answer with ACCEPTED or REJECTED",
            json!({"status": "ACCEPTED"}).to_string(),
        ));
    }
    let me = Identity::read(kind, &message)?;
    Ok((message, me))
}

async fn player(visit: &Visit) -> Outcome {
    is_in(visit, Kind::Player).await.map(drop)
}

async fn referee(visit: &Visit) -> Outcome {
    is_in(visit, Kind::Referee).await.map(drop)
}

/// A registration that works, for cases about something else.
async fn usual(visit: &Visit) -> Result<(Value, Identity), Halt> {
    is_in(visit, Kind::Player).await.map_err(|halt| halt.unless_told_by(Kind::Player.case()))
}

async fn league_id(visit: &Visit) -> Outcome {
    // Documents 003 and 004 have no such field in the answer.
    if matches!(visit.speech.0, Dialect::Typed | Dialect::Payload) && visit.door().admin.is_none() {
        return Err(Halt::skip("the document has no `league_id` in this answer"));
    }
    let (_, me) = usual(visit).await?;
    if me.league.is_some() {
        return Ok(());
    }
    Err(Halt::fail("the accepted registration has no `league_id`", "put `league_id` into it"))
}

async fn registered_in_time(visit: &Visit) -> Outcome {
    let league = visit.lobby().await?;
    let guest = visit.guest(Kind::Player).await?;
    let request =
        visit.application_as(&guest, &league, &Stamp::stranger(Kind::Player).about("timed"));
    let began = Mark::set();
    visit.send_patiently(&request).await?;
    in_time("the registration", began.elapsed(), REGISTER_TIME)
}

async fn sequence(visit: &Visit) -> Outcome {
    let league = visit.own_lobby().await?;
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(visit.register(Kind::Player, &league).await?.me()?.id);
    }
    let number = |id: &str| id.strip_prefix('P').and_then(|digits| digits.parse::<u32>().ok());
    // Where others may register too, somebody may have come between.
    let follows = |one: u32, two: u32| if league.is_own { two == one + 1 } else { two > one };
    match (number(&ids[0]), number(&ids[1])) {
        (Some(one), Some(two)) if follows(one, two) => Ok(()),
        (_, _) => Err(Halt::fail(
            format!("two players in a row got the ids {} and {}", ids[0], ids[1]),
            "count players: P01, P02, P03 and so on",
        )),
    }
}

async fn tokens(visit: &Visit) -> Outcome {
    let league = visit.lobby().await?;
    let one = visit.register(Kind::Player, &league).await?.me()?.token;
    let two = visit.register(Kind::Player, &league).await?.me()?.token;
    if one == two {
        return Err(Halt::fail("two players got the same token", "make a new one for each"));
    }
    if one.len() < 16 || two.len() < 16 {
        let sentence = format!("a token has only {} characters", one.len().min(two.len()));
        return Err(Halt::fail(sentence, "write at least 32 random hex digits into it"));
    }
    Ok(())
}

async fn token_form(visit: &Visit) -> Outcome {
    let (_, me) = usual(visit).await?;
    if me.token.len() < 16 {
        return Err(Halt::skip("what it builds on fails: see manager.register.tokens"));
    }
    let random = me.token.rsplit('_').next().unwrap_or_default();
    if me.token.starts_with("tok_") && random.len() >= 32 {
        return Ok(());
    }
    Err(Halt::fail(
        format!("the token is not `tok_` and 32 random characters, but has {}", random.len()),
        "write `tok_` and 32 random hex digits (document 002: tok_player_P01_ and 64)",
    ))
}

async fn refused(visit: &Visit, change: Value, what: &str, code: Code, strict: Strict) -> Outcome {
    let (_guest, reply) = with_meta(visit, Kind::Player, change).await?;
    reply.refused(what, code, strict)
}

async fn no_meta(visit: &Visit) -> Outcome {
    let league = visit.lobby().await?;
    let guest = visit.guest(Kind::Player).await?;
    let mut request = visit.application(&guest, &league);
    visit.speech.remove(&mut request, "player_meta");
    let reply = visit.send(&request).await?;
    reply.refused("a registration without `player_meta`", Code::E003, Strict::AsListed)
}

async fn no_name(visit: &Visit) -> Outcome {
    let what = "a registration without `display_name`";
    refused(visit, json!({"display_name": null}), what, Code::E003, Strict::AsListed).await
}

async fn no_version(visit: &Visit) -> Outcome {
    let what = "a registration without `version`";
    refused(visit, json!({"version": null}), what, Code::E003, Strict::AsListed).await
}

async fn no_games(visit: &Visit) -> Outcome {
    let change = json!({"game_types": null, "supported_games": null});
    let what = "a registration without `game_types`";
    refused(visit, change, what, Code::E003, Strict::AsListed).await
}

async fn name_type(visit: &Visit) -> Outcome {
    let what = "a `display_name` that is a number";
    refused(visit, json!({"display_name": 7}), what, Code::E003, Strict::AsListed).await
}

async fn games_type(visit: &Visit) -> Outcome {
    let change = json!({"game_types": "even_odd", "supported_games": null});
    let what = "a `game_types` that is no list";
    refused(visit, change, what, Code::E003, Strict::AsListed).await
}

async fn blank_name(visit: &Visit) -> Outcome {
    let what = "a name of three spaces";
    refused(visit, json!({"display_name": "   "}), what, Code::E003, Strict::AsListed).await
}

async fn endpoint(visit: &Visit) -> Outcome {
    let change = json!({"contact_endpoint": "localhost:8101"});
    let what = "an address without `http://`";
    refused(visit, change, what, Code::E003, Strict::AsListed).await
}

async fn unknown_game(visit: &Visit) -> Outcome {
    let change = json!({"game_types": ["chess"], "supported_games": null});
    refused(visit, change, "a player of chess", Code::L001, Strict::Always).await
}

async fn two_names(visit: &Visit) -> Outcome {
    let change = json!({"game_types": ["even_odd"], "supported_games": ["chess"]});
    let what = "`game_types` and `supported_games` with different values";
    refused(visit, change, what, Code::E003, Strict::Always).await
}

async fn version(visit: &Visit) -> Outcome {
    let change = json!({"protocol_version": "1.5.0"});
    refused(visit, change, "the protocol version 1.5.0", Code::E018, Strict::AsListed).await
}

async fn version_range(visit: &Visit) -> Outcome {
    let change = json!({"protocol_version": "1.5.0"});
    let (_guest, reply) = with_meta(visit, Kind::Player, change).await?;
    if visit.speech.0 == Dialect::V21 {
        reply.refused_as_told_by("manager.register.version")?;
    }
    reply.refused("the protocol version 1.5.0", Code::E018, Strict::Always)?;
    let text = reply.refusal().map(|refusal| refusal.text).unwrap_or_default();
    if text.contains("2.0.0") {
        return Ok(());
    }
    let sentence = format!("the refusal does not name the supported versions: {text}");
    Err(Halt::fail(sentence, "say that 2.0.0 to 2.1.x are supported"))
}

async fn patch(visit: &Visit) -> Outcome {
    let change = json!({"protocol_version": "2.0.7"});
    usual(visit).await?;
    let (_guest, reply) = with_meta(visit, Kind::Player, change).await?;
    reply.accepted("the protocol version 2.0.7").map(drop)
}

async fn same_name(visit: &Visit) -> Outcome {
    let league = visit.lobby().await?;
    let first = visit.register(Kind::Player, &league).await?;
    let second = visit.guest(Kind::Player).await?;
    let request = changed(visit, &second, &league, json!({"display_name": first.name}));
    let message = visit.send(&request).await?.accepted("a second player of the same name")?;
    let me = Identity::read(Kind::Player, &message)?;
    if me.id == first.me()?.id {
        let sentence = format!("two players of the same name are both {}", me.id);
        return Err(Halt::fail(sentence, "give the second one an id of its own"));
    }
    Ok(())
}

async fn duplicate(visit: &Visit) -> Outcome {
    let league = visit.lobby().await?;
    let guest = visit.register(Kind::Player, &league).await?;
    let reply = visit.send(&visit.application(&guest, &league)).await?;
    let what = "a second registration from the same `contact_endpoint`";
    reply.refused(what, Code::L003, Strict::AsListed)
}

async fn again(visit: &Visit) -> Outcome {
    let league = visit.lobby().await?;
    let guest = visit.guest(Kind::Player).await?;
    let request = visit.application(&guest, &league);
    let told = |halt: Halt| halt.unless_told_by(Kind::Player.case());
    let first = visit.send(&request).await?.accepted("a registration").map_err(told)?;
    let first = Identity::read(Kind::Player, &first).map_err(told)?;
    let second = visit.send(&request).await?.accepted("the same registration again")?;
    let second = Identity::read(Kind::Player, &second)?;
    if (&first.id, &first.token) == (&second.id, &second.token) {
        return Ok(());
    }
    Err(Halt::fail(
        format!("the same request was answered with {} and then with {}", first.id, second.id),
        "answer the same request (conversation, meta, address) with what was answered before",
    ))
}

async fn unknown_league(visit: &Visit) -> Outcome {
    let league = visit.lobby().await?;
    let guest = visit.guest(Kind::Player).await?;
    let mut request = visit.application(&guest, &league);
    visit.speech.set(&mut request, "league_id", json!("nowhere"));
    let reply = visit.send(&request).await?;
    reply.refused("a registration in the league `nowhere`", Code::E014, Strict::Always)
}

async fn capacity(visit: &Visit) -> Outcome {
    let change = json!({"max_concurrent_matches": 0});
    let (_guest, reply) = with_meta(visit, Kind::Referee, change).await?;
    reply.refused("a referee of no match at once", Code::E003, Strict::AsListed)
}

async fn crowd(visit: &Visit) -> Outcome {
    let league = visit.own_lobby().await?;
    let mut joining = JoinSet::new();
    for _ in 0..CROWD {
        let (visit, league) = (visit.clone(), league.clone());
        joining.spawn(async move {
            let guest = visit.guest(Kind::Player).await?;
            let stamp = Stamp::stranger(Kind::Player).about("crowd");
            visit.register_as(&guest, &league, &stamp).await?;
            guest.me()
        });
    }
    let (mut ids, mut tokens) = (BTreeSet::new(), BTreeSet::new());
    while let Some(joined) = joining.join_next().await {
        let me = joined.map_err(|error| Halt::Ours(error.to_string()))??;
        ids.insert(me.id);
        tokens.insert(me.token);
    }
    if (ids.len(), tokens.len()) == (CROWD, CROWD) {
        return Ok(());
    }
    Err(Halt::fail(
        format!("{CROWD} players that registered at once share {} ids", ids.len()),
        "count and write down a registration before the next one is looked at",
    ))
}
