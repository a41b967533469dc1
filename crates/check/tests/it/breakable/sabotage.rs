//! One thing wrong for each case: what is done to requests and answers of a player that speaks
//! flat. Whatever else it says stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use league_core::id::{LeagueId, MatchId, RoundId};
use league_core::proof::{SentChoice, Token, choice_proof, match_proof};
use serde_json::{Value, json};

/// What a player behind the front has been told.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) drop_next: bool,
    token: Option<(Token, LeagueId)>,
    attempts: BTreeMap<String, i64>,
    invited: BTreeSet<(String, i64)>,
    last_invited: String,
    asked: BTreeMap<String, usize>,
    asking: BTreeSet<String>,
    over: BTreeSet<String>,
    complained: BTreeSet<String>,
    last_ack: Value,
    last_choice: Value,
    forged: usize,
}

impl Memory {
    pub(super) fn registered(&mut self, result: &Value) {
        let text = |name: &str| result[name].as_str();
        if let (Some(token), Some(league)) = (text("auth_token"), text("league_id")) {
            self.token = Some((token.parse().unwrap(), league.parse().unwrap()));
        }
    }

    /// The number of the match whose proof for this referee and attempt `request` shows.
    fn proves(&self, request: &Value, attempt: u32) -> Option<u32> {
        let (token, league) = self.token.as_ref()?;
        let params = &request["params"];
        let referee = "REF01".parse().unwrap();
        (1..400).find(|number| {
            let match_id = MatchId::new(RoundId::new(*number), 1);
            let proof = match_proof(token, league, match_id, attempt, referee);
            params["auth_token"].as_str().is_some_and(|shown| proof.matches(shown))
        })
    }
}

pub(super) enum Step {
    /// Pass this on.
    Forward(Value),
    /// Pass this on when others may have come meanwhile.
    Overlap(Value),
    /// Answer at once.
    Answer(Value),
}

/// What is not genuine is refused with E012.
const FORGED: i64 = -32012;

fn error(request: &Value, code: i64) -> Value {
    let message = "broken on purpose";
    json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})
}

/// An answer to another request, as if it were one to this.
fn again(request: &Value, answer: &Value) -> Value {
    let mut answer = answer.clone();
    answer["id"] = request["id"].clone();
    answer["result"]["match_id"] = request["params"]["match_id"].clone();
    if answer["result"]["match_id"].is_null() {
        answer["result"]["match_id"] = "R1M1".into();
    }
    answer
}

/// What is wrong with the registration.
pub(super) fn registration(broken: &str, request: &mut Value) {
    let params = &mut request["params"];
    let name = if params["player_meta"].is_object() { "player_meta" } else { "referee_meta" };
    match broken.split_once('.').map_or("", |(_, rest)| rest) {
        "register.readable" => params["timestamp"] = "2026-01-15T10:30:00+00:00Z".into(),
        "register.sender" => params["sender"] = "administrator".into(),
        "register.games" => params[name]["game_types"] = json!(["chess"]),
        "register.endpoint" => params[name]["contact_endpoint"] = "my house".into(),
        "register.version" => params[name]["protocol_version"] = "1.0.0".into(),
        "register.clock" => params["timestamp"] = "2020-01-15T10:30:00Z".into(),
        "register.capacity" => {
            drop(params[name].as_object_mut().unwrap().remove("max_concurrent_matches"));
        }
        _ => {}
    }
}

fn kind(request: &Value) -> &str {
    let params = &request["params"];
    params["message_type"].as_str().or_else(|| params["type"].as_str()).unwrap_or_default()
}

/// What is done to a request.
pub(super) fn before(broken: &str, request: &Value, memory: &mut Memory) -> Step {
    let kind = kind(request);
    let refuse = Step::Answer(error(request, -32603));
    let name = request["params"]["match_id"].as_str().unwrap_or_default().to_string();
    match kind {
        "GAME_INVITATION" => invitation(broken, request, memory),
        "CHOOSE_PARITY_CALL" => call(broken, request, memory),
        "GAME_OVER" => over(broken, request, memory),
        "GAME_ERROR" => {
            memory.complained.insert(name);
            if broken == "player.news.game-error" { refuse } else { Step::Forward(request.clone()) }
        }
        "GAME_HOLIDAY" if broken == "player.rpc.survives-unknown" => {
            memory.drop_next = true;
            refuse
        }
        _ if is_unheard(broken, kind, request) => refuse,
        _ => Step::Forward(request.clone()),
    }
}

/// Whether this is what the player does not answer.
fn is_unheard(broken: &str, kind: &str, request: &Value) -> bool {
    let has_byes = request["params"]["byes"].as_array().is_some_and(|byes| !byes.is_empty());
    match (broken, kind) {
        ("player.news.round", "ROUND_ANNOUNCEMENT") => !has_byes,
        ("player.news.bye", "ROUND_ANNOUNCEMENT") => has_byes,
        ("player.news.round-completed", "ROUND_COMPLETED") => true,
        ("player.news.standings", "LEAGUE_STANDINGS_UPDATE") => true,
        ("player.news.league-error", "LEAGUE_ERROR") => true,
        ("player.news.suspension", "SUSPENSION_NOTICE") => true,
        ("player.news.league-completed", "LEAGUE_COMPLETED") => true,
        ("player.over.start-heard", "GAME_START") => true,
        ("player.rpc.ping", "PING") => true,
        ("player.rpc.unknown-method", "") => request["method"] == "no_such_method",
        ("player.rpc.invalid-request", "") => request["method"].is_null(),
        _ => false,
    }
}

fn invitation(broken: &str, request: &Value, memory: &mut Memory) -> Step {
    let params = &request["params"];
    let refuse = || Step::Answer(error(request, -32603));
    let mut changed = request.clone();
    let time = params["timestamp"].as_str().unwrap_or_default();
    match broken {
        "player.invite.second-seat" if params["role_in_match"] == "PLAYER_B" => return refuse(),
        "player.invite.unknown-field" if !params["weather"].is_null() => return refuse(),
        "player.invite.basic-time" if !time.contains('-') => return refuse(),
        "player.invite.local-time" => {
            changed["params"]["timestamp"] = time.replace("+02:00", "Z").into()
        }
        "player.invite.other-protocol" => changed["params"]["protocol"] = "league.v2".into(),
        "player.invite.no-match" if params["match_id"].is_null() => {
            return Step::Answer(again(request, &memory.last_ack));
        }
        "player.rpc.string-id" if request["id"].is_string() => changed["id"] = 1.into(),
        _ => {}
    }
    let name = params["match_id"].as_str().unwrap_or_default().to_string();
    let attempt = params["attempt"].as_i64().unwrap_or(1);
    if !memory.invited.insert((name, attempt)) && broken == "player.invite.twice" {
        return refuse();
    }
    if attempt == 2 && broken == "player.invite.later-attempt" {
        return refuse();
    }
    Step::Forward(changed)
}

fn call(broken: &str, request: &Value, memory: &mut Memory) -> Step {
    let params = &request["params"];
    let refuse = || Step::Answer(error(request, -32603));
    let name = params["match_id"].as_str().unwrap_or_default().to_string();
    let attempt = params["attempt"].as_i64().unwrap_or(1);
    match broken {
        "player.choose.unknown-field" if !params["weather"].is_null() => return refuse(),
        "player.choose.long-context" if request.to_string().len() > 8_000 => return refuse(),
        "player.choose.late-retry" if memory.complained.contains(&name) => return refuse(),
        "player.choose.uninvited" if !memory.attempts.contains_key(&name) => {
            return Step::Answer(again(request, &memory.last_choice));
        }
        "player.choose.earlier-attempt"
            if memory.attempts.get(&name).is_some_and(|known| *known > attempt) =>
        {
            return Step::Answer(again(request, &memory.last_choice));
        }
        "player.choose.during-retry" => {
            if !memory.asking.insert(name) {
                return refuse();
            }
            return Step::Overlap(request.clone());
        }
        _ => {}
    }
    Step::Forward(request.clone())
}

fn over(broken: &str, request: &Value, memory: &mut Memory) -> Step {
    let params = &request["params"];
    let refuse = || Step::Answer(error(request, -32603));
    let name = params["match_id"].as_str().unwrap_or_default().to_string();
    let is_technical = params["drawn_number"].is_null();
    let is_known = memory.attempts.contains_key(&name);
    let is_first = memory.over.insert(name);
    match broken {
        "player.over.heard" if !is_technical => refuse(),
        "player.over.technical" if is_technical => refuse(),
        "player.over.twice" if !is_first => refuse(),
        "player.over.unknown-match" if !is_known => {
            memory.drop_next = true;
            refuse()
        }
        _ => Step::Forward(request.clone()),
    }
}

/// What is done to an answer.
pub(super) fn after(broken: &str, request: &Value, answer: &mut Value, memory: &mut Memory) {
    let is_refused = answer["result"].is_null();
    match kind(request) {
        "GAME_INVITATION" if is_refused => refused_invitation(broken, request, answer, memory),
        "GAME_INVITATION" => joined(broken, request, answer, memory),
        "CHOOSE_PARITY_CALL" if is_refused && broken != "player.trust.forged-call" => {}
        "CHOOSE_PARITY_CALL" if answer["error"]["code"] == FORGED => {
            *answer = again(request, &memory.last_choice);
        }
        "CHOOSE_PARITY_CALL" if is_refused => {}
        "CHOOSE_PARITY_CALL" => chosen(broken, request, answer, memory),
        "GAME_OVER" if is_refused && broken == "player.trust.forged-result" => {
            *answer = again(request, &json!({"jsonrpc": "2.0", "result": {}}));
        }
        "GAME_OVER" if !is_refused && broken == "player.over.ack" => answer["result"] = json!({}),
        "LEAGUE_STANDINGS_UPDATE" if is_refused && broken == "player.trust.forged-news" => {
            *answer = again(request, &json!({"jsonrpc": "2.0", "result": {}}));
        }
        "GAME_MOVE_CALL" if broken == "player.choose.number" => {
            answer["result"]["move_data"] = 9.into();
        }
        _ => {}
    }
    if broken == "player.rpc.string-id" && request["id"].is_string() {
        answer["id"] = 1.into();
    }
}

fn refused_invitation(broken: &str, request: &Value, answer: &mut Value, memory: &mut Memory) {
    let params = &request["params"];
    if broken == "player.invite.names-fault" && params["opponent_id"].is_null() {
        *answer = error(request, -32003);
        return;
    }
    if params["opponent_id"].is_null() || params["match_id"].is_null() {
        return;
    }
    let attempt = u32::try_from(params["attempt"].as_i64().unwrap_or(1)).unwrap();
    let shown = params["auth_token"].as_str().unwrap_or_default();
    let is_usual = params["protocol"] == "league.v2"
        && params["timestamp"].as_str().is_some_and(|time| time.ends_with('Z'));
    let lie = match () {
        () if !is_usual => return,
        () if shown.is_empty() => "player.trust.no-proof",
        () if params["sender"] == "referee:REF02" => "player.trust.other-referee",
        () if attempt == 2 => "player.trust.other-attempt",
        () if memory.proves(request, attempt).is_some() => "player.trust.other-match",
        () => {
            // They look alike; the one that nobody made comes first.
            memory.forged += 1;
            match memory.forged {
                1 => "player.trust.forged-invitation",
                _ => "player.trust.other-player",
            }
        }
    };
    if broken == lie {
        *answer = again(request, &memory.last_ack);
    }
}

fn joined(broken: &str, request: &Value, answer: &mut Value, memory: &mut Memory) {
    let params = &request["params"];
    let name = params["match_id"].as_str().unwrap_or_default().to_string();
    memory.attempts.insert(name.clone(), params["attempt"].as_i64().unwrap_or(1));
    memory.last_invited = name;
    memory.last_ack = answer.clone();
    let result = &mut answer["result"];
    match broken {
        "player.invite.accepts" => {
            result["accept"] = false.into();
            result["ready"] = false.into();
            result["status"] = "REJECTED".into();
        }
        "player.invite.match-id" => result["match_id"] = "R999M9".into(),
        "player.invite.player-id" => result["sender"] = "player:P77".into(),
        "player.invite.conversation" => result["conversation_id"] = "another".into(),
        "player.invite.token" => result["auth_token"] = "tok_player_P77_00".into(),
        "player.invite.proof" => drop(result.as_object_mut().unwrap().remove("auth_token")),
        "player.invite.clock" => result["timestamp"] = "2020-01-15T10:30:00Z".into(),
        _ => {}
    }
}

fn chosen(broken: &str, request: &Value, answer: &mut Value, memory: &mut Memory) {
    memory.last_choice = answer.clone();
    let name = request["params"]["match_id"].as_str().unwrap_or_default().to_string();
    memory.asking.remove(&name);
    let times = memory.asked.entry(name.clone()).or_default();
    *times += 1;
    let is_repeated = *times > 2;
    let result = &mut answer["result"];
    match broken {
        "player.choose.answers" => choose(result, "EVEN"),
        "player.choose.match-id" => result["match_id"] = "R999M9".into(),
        "player.choose.conversation" => result["conversation_id"] = "another".into(),
        "player.choose.token" => result["auth_token"] = "tok_player_P77_00".into(),
        "player.choose.choice-proof" => {
            result["choice_proof"] = format!("prf_{}", "00".repeat(32)).into();
        }
        "player.choose.nonce" => {
            let (token, league) = memory.token.as_ref().unwrap();
            let nonce = "00112233445566778899aabbccddeeff";
            let choice = result["parity_choice"].as_str().unwrap();
            let sent = SentChoice { step: 1, choice, nonce };
            let proof = choice_proof(token, league, name.parse().unwrap(), 1, sent);
            result["choice_proof"] = proof.expose().into();
            result["nonce"] = nonce.into();
        }
        "player.choose.repeated" if is_repeated => {
            let other = if result["parity_choice"] == "even" { "odd" } else { "even" };
            choose(result, other);
        }
        "player.choose.two-matches" => result["match_id"] = memory.last_invited.clone().into(),
        _ => {}
    }
}

fn choose(result: &mut Value, word: &str) {
    result["parity_choice"] = word.into();
    result["choice"] = word.into();
}
