//! What a call of a tool means: a question about a league, or a letter whose envelope is filled in
//! for the caller. What comes of it goes back as a tool answers.

use std::borrow::Cow;

use league_core::id::{AgentId, ConversationId, LeagueId, MatchId, PlayerId, RefereeId};
use league_core::time::Timestamp;

use super::{Tool, params};
use crate::code::Code;
use crate::decode::{DecodeError, render_text};
use crate::dialect::{Dialect, Letter, write_letter};
use crate::envelope::Envelope;
use crate::fields::Fields;
use crate::frame::{Id, Request, write_result};
use crate::json::Json;
use crate::message::{
    Body, CALL_TOOL, ErrorReport, GetAssignedMatches, LeagueQuery, MatchResultReport, Message,
    Meta, PlayerRegistration, RefereeRegistration, RegisterResponse, StartLeague,
};
use crate::nearest::nearest;
use crate::sender::Sender;
use crate::token::AuthToken;
use crate::value::{Emit, MoveValue};
use crate::word::QueryType;
use crate::write::Object;

/// Seconds that somebody may wait for its turn in one call.
const WAIT_MAX: u32 = 50;

/// What a call of a tool means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Errand {
    /// A question about a league; the only one if none is named.
    Query(Option<LeagueId>, LeagueQuery),
    /// A letter to the manager.
    Letter(Box<Letter>),
    /// Somebody wants to play by calling tools.
    Join {
        /// The name that others see.
        name: String,
        /// The league; the manager chooses if there is none.
        league: Option<LeagueId>,
        /// What lets it in, where that is asked for.
        join_code: Option<String>,
    },
    /// Somebody who has joined waits for its turn.
    Wait {
        /// What it shows.
        token: AuthToken,
        /// For how many seconds, if it says so.
        seconds: Option<u32>,
    },
    /// Somebody who has joined makes its move.
    Move {
        /// What it shows.
        token: AuthToken,
        /// In which match, if it says so.
        match_id: Option<MatchId>,
        /// Which move.
        choice: String,
    },
    /// A registered player wants to practise.
    Practise {
        /// What it shows.
        token: AuthToken,
        /// Who it is, where the token does not say it.
        player: Option<PlayerId>,
        /// The league, where the token is not enough to find it.
        league: Option<LeagueId>,
        /// Against whom, if it says so.
        against: Option<String>,
    },
}

/// What the caller of a tool need not say.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The time.
    pub now: Timestamp,
    /// A conversation that nobody has had.
    pub conversation: ConversationId,
    /// The token in the head of the request, for those who name none in the arguments.
    pub bearer: Option<AuthToken>,
}

/// A call of a tool.
#[derive(Debug)]
pub struct ToolCall<'a> {
    /// The id of the request.
    pub id: &'a Id,
    /// Which tool.
    pub name: Cow<'a, str>,
    /// The arguments, if there are any.
    pub arguments: Option<Json<'a>>,
    /// The version of the Model Context Protocol, where the call says it of itself.
    pub version: Option<Cow<'a, str>>,
    /// Whether it says what the client can do, which such versions want.
    pub is_introduced: bool,
}

impl<'a> ToolCall<'a> {
    /// `None` if `request` is something else or not well formed.
    pub fn of(request: &'a Request<'_>) -> Option<Self> {
        let id = request.id.as_ref().filter(|_| request.method == CALL_TOOL)?;
        let params = params(request)?;
        let (mut version, mut is_introduced) = (None, false);
        if let Some(meta) = params.raw("_meta").ok()? {
            let meta = Fields::read("", meta.value()).ok()?;
            version = meta.optional("io.modelcontextprotocol/protocolVersion").ok()?;
            is_introduced = meta.has("io.modelcontextprotocol/clientCapabilities");
        }
        let arguments = params.raw("arguments").ok()?.map(|found| found.value());
        let arguments = arguments.filter(|value| !value.is_null());
        Some(Self { id, name: params.required("name").ok()?, arguments, version, is_introduced })
    }
}

/// What a call of `tool` means; without arguments it has none.
///
/// # Errors
/// What is wrong with the arguments, where, and what to change.
pub fn errand(
    tool: Tool,
    arguments: Option<Json<'_>>,
    scene: Scene,
) -> Result<Errand, DecodeError> {
    let arguments = arguments.unwrap_or(Json::known("{}"));
    let fields = Fields::read("arguments", arguments)?;
    check_names(tool, &fields)?;
    let token = match fields.optional::<AuthToken>("auth_token")? {
        Some(token) => Some(token),
        None => scene.bearer,
    };
    let message = match tool {
        Tool::Query(kind) => {
            return Ok(Errand::Query(fields.optional("league_id")?, query(kind, &fields)?));
        }
        Tool::JoinLeague => {
            return Ok(Errand::Join {
                name: fields.required("display_name")?,
                league: fields.optional("league_id")?,
                join_code: fields.optional("join_code")?,
            });
        }
        Tool::WaitForTurn => {
            let token = token.ok_or_else(|| fields.missing("auth_token", TOKEN))?;
            return Ok(Errand::Wait { token, seconds: wait_seconds(&fields)? });
        }
        Tool::MakeMove => {
            let token = token.ok_or_else(|| fields.missing("auth_token", TOKEN))?;
            let choice = match fields.required::<MoveValue>("choice")? {
                MoveValue::Text(text) => text,
                MoveValue::Number(number) => number.to_string(),
            };
            return Ok(Errand::Move { token, match_id: fields.optional("match_id")?, choice });
        }
        Tool::Practice => {
            let expected = "the auth_token that the registration returned";
            return Ok(Errand::Practise {
                token: token.ok_or_else(|| fields.missing("auth_token", expected))?,
                player: fields.optional("player_id")?,
                league: fields.optional("league_id")?,
                against: fields.optional("against")?,
            });
        }
        Tool::RegisterPlayer => {
            Message::LeagueRegisterRequest(PlayerRegistration { meta: Meta::of_tool(&fields)? })
        }
        Tool::RegisterReferee => {
            Message::RefereeRegisterRequest(RefereeRegistration { meta: Meta::of_tool(&fields)? })
        }
        Tool::AssignedMatches => Message::GetAssignedMatches(GetAssignedMatches::read(&fields)?),
        Tool::ReportResult => Message::MatchResultReport(MatchResultReport::read(&fields)?),
        Tool::StartLeague => Message::StartLeague(StartLeague {}),
    };
    let envelope = Envelope {
        sender: sender(tool, &fields, token.is_some())?,
        timestamp: scene.now,
        conversation: scene.conversation,
        token: token.filter(|token| !token.reveal().is_empty()),
        league_id: fields.optional("league_id")?,
    };
    Ok(Errand::Letter(Box::new(Letter { envelope, message })))
}

/// How long to wait, as the list of tools allows it.
fn wait_seconds(f: &Fields<'_>) -> Result<Option<u32>, DecodeError> {
    let wrong =
        || f.wrong(Code::E003, "wait_seconds", format!("a whole number from 0 to {WAIT_MAX}"));
    let seconds = f.optional::<i64>("wait_seconds").map_err(|_| wrong())?;
    let seconds = seconds.map(|seconds| u32::try_from(seconds).ok().filter(|it| *it <= WAIT_MAX));
    seconds.map(|seconds| seconds.ok_or_else(wrong)).transpose()
}

fn query(kind: QueryType, f: &Fields<'_>) -> Result<LeagueQuery, DecodeError> {
    let agent_id: Option<AgentId> = match kind {
        QueryType::NextMatch | QueryType::PlayerStats => {
            Some(AgentId::Player(f.required::<PlayerId>("player_id")?))
        }
        QueryType::AgentState => Some(f.required("agent_id")?),
        QueryType::Schedule => f.optional::<PlayerId>("player_id")?.map(AgentId::Player),
        QueryType::Standings | QueryType::Match | QueryType::League => None,
        QueryType::Registrations | QueryType::Games => None,
    };
    Ok(LeagueQuery {
        query_type: kind,
        round_id: f.optional("round_id")?,
        match_id: match kind {
            QueryType::Match => Some(f.required("match_id")?),
            QueryType::NextMatch | QueryType::PlayerStats | QueryType::AgentState => None,
            QueryType::Schedule | QueryType::Standings | QueryType::League => None,
            QueryType::Registrations | QueryType::Games => None,
        },
        agent_id,
        offset: f.optional("offset")?,
        limit: f.optional("limit")?,
    })
}

const TOKEN: &str = "the auth_token that join_league returned";

/// As whom the letter is sent. Whoever registers for the first time has no id yet.
fn sender(tool: Tool, f: &Fields<'_>, has_token: bool) -> Result<Sender, DecodeError> {
    const NEW: &str = "new";
    let player = |id: PlayerId| Sender::from(AgentId::Player(id));
    let referee = |id: RefereeId| Sender::from(AgentId::Referee(id));
    match tool {
        Tool::StartLeague | Tool::Query(_) => Ok(Sender::Administrator),
        Tool::JoinLeague | Tool::WaitForTurn | Tool::MakeMove | Tool::Practice => {
            Ok(Sender::Player(NEW.into()))
        }
        Tool::RegisterPlayer if has_token => f.required("player_id").map(player),
        Tool::RegisterPlayer => Ok(Sender::Player(NEW.into())),
        Tool::RegisterReferee if has_token => f.required("referee_id").map(referee),
        Tool::RegisterReferee => Ok(Sender::Referee(NEW.into())),
        Tool::AssignedMatches | Tool::ReportResult => f.required("referee_id").map(referee),
    }
}

/// Whoever misspells an argument is told, and not answered as if it were not there.
fn check_names(tool: Tool, fields: &Fields<'_>) -> Result<(), DecodeError> {
    let known = tool.arguments();
    let Some(stray) = fields.names().find(|name| !known.contains(&name.as_ref())) else {
        return Ok(());
    };
    let expected = match nearest(&stray, known.iter().copied()) {
        Some(meant) => format!("an argument of {}, such as {meant:?}", tool.name()),
        None if known.is_empty() => format!("no arguments; {} takes none", tool.name()),
        None => format!("an argument of {}: {}", tool.name(), known.join(", ")),
    };
    let error = DecodeError::wrong(Code::E003, "arguments", expected, render_text(&stray));
    Err(error.fixed_by(format!("rename or remove `{stray}`")))
}

impl Meta {
    /// What an agent says of itself as the arguments of a tool; what can be left out is usual.
    fn of_tool(f: &Fields<'_>) -> Result<Self, DecodeError> {
        const VERSION: &str = "1.0.0";
        Ok(Self {
            display_name: f.required("display_name")?,
            version: f.optional("version")?.unwrap_or_else(|| VERSION.into()),
            protocol_version: f.optional("protocol_version")?,
            game_types: f.list("game_types")?,
            contact_endpoint: Some(f.required("contact_endpoint")?),
            contact_email: f.optional("contact_email")?,
            max_concurrent_matches: f.optional("max_concurrent_matches")?,
            dialect: f.optional("dialect")?,
            batch: false,
            pull: false,
            join: f.either(&["join_code", "join_key"])?,
        })
    }
}

/// What a letter was answered, as one JSON object, and the error in it if it is a no.
pub fn answer_of(letter: &Letter) -> (Vec<u8>, Option<&ErrorReport>) {
    #[expect(clippy::wildcard_enum_match_arm, reason = "only registrations and errors say no")]
    let refused = match &letter.message {
        Message::LeagueRegisterResponse(RegisterResponse::Rejected(report)) => Some(&**report),
        Message::RefereeRegisterResponse(RegisterResponse::Rejected(report)) => Some(&**report),
        Message::LeagueError(report) | Message::GameError(report) => Some(report),
        _ => None,
    };
    let mut out = Vec::with_capacity(512);
    write_letter(letter, &mut out);
    (out, refused)
}

/// An error as one JSON object.
pub fn object_of(report: &ErrorReport) -> String {
    let mut out = Vec::with_capacity(512);
    Object::write_message(Dialect::Flat, &mut out, |o| report.write(o));
    String::from_utf8(out).expect("the writer writes text")
}

/// Why a tool did nothing, in sentences that say what to change.
pub fn failure_of(report: &ErrorReport) -> String {
    let mut text = format!("{} {}: {}", report.code, report.code.name(), report.headline());
    let is_said = report.headline().contains(&report.action_required);
    if !is_said {
        text.push_str("\nWhat to do: ");
        text.push_str(&report.action_required);
    }
    text
}

/// The response to `call` in which its tool answers with the object `json`, and with `no` in
/// sentences if that is a no.
pub fn write_answer(call: &ToolCall<'_>, json: &str, no: Option<&str>) -> Vec<u8> {
    write_result(call.id, |out| {
        out.push(b'{');
        if call.version.is_some() {
            out.extend_from_slice(b"\"resultType\":\"complete\",");
        }
        out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
        no.unwrap_or(json).emit(out);
        out.extend_from_slice(b"}],\"structuredContent\":");
        out.extend_from_slice(json.as_bytes());
        out.extend_from_slice(if no.is_some() {
            b",\"isError\":true}"
        } else {
            b",\"isError\":false}"
        });
    })
}
