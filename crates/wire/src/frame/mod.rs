//! JSON-RPC 2.0: requests, responses, batches and their errors. Looks at the method without
//! reading the parameters; knows no message.

use std::borrow::Cow;
use std::fmt;

use crate::code::Code;
use crate::decode::{DecodeError, render};
use crate::entries::Parts;
use crate::json::{Json, Walk};
use crate::limits::{BATCH_MAX, ID_BYTES_MAX};
use crate::value::{Emit, print};

/// The identifier of a request, kept exactly as it was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(Box<str>);

impl Id {
    fn read(raw: Json<'_>) -> Option<Self> {
        let json = raw.get();
        let plain = matches!(json.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9' | b'n'));
        (plain && json.len() <= ID_BYTES_MAX).then(|| Self(json.into()))
    }

    fn is_null(&self) -> bool {
        self.as_json() == "null"
    }

    /// The identifier as JSON.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self(number.to_string().into())
    }
}

/// What came: one request, or several in a batch.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// One request, or the reason why it is none.
    Single(Result<Request<'a>, FrameError>),
    /// Between one and [`BATCH_MAX`] of them.
    Batch(Vec<Result<Request<'a>, FrameError>>),
}

/// A JSON-RPC request whose parameters have not been read.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The identifier; a notification has none.
    pub id: Option<Id>,
    /// What is called.
    pub method: Cow<'a, str>,
    /// The parameters as they came.
    pub params: Option<Json<'a>>,
    /// All of it as it came.
    pub raw: &'a str,
    /// The parameters, taken apart on the way if they are an object.
    parts: Option<Parts<'a>>,
}

impl<'a> Request<'a> {
    /// The parameters taken apart, if they are still those that came.
    pub(crate) fn parts(&self) -> Option<&Parts<'a>> {
        let params = self.params?;
        self.parts.as_ref().filter(|parts| std::ptr::eq(parts.json().get(), params.get()))
    }
}

/// A JSON-RPC response whose content has not been read.
#[derive(Debug, Clone)]
pub struct Response<'a> {
    /// The identifier of the request it answers; null becomes `None`.
    pub id: Option<Id>,
    /// What it says.
    pub outcome: Outcome<'a>,
}

/// What a response says.
#[derive(Debug, Clone)]
pub enum Outcome<'a> {
    /// The call succeeded.
    Result(Json<'a>),
    /// The call failed.
    Error(RpcError<'a>),
}

/// The error object of a response.
#[derive(Debug, Clone)]
pub struct RpcError<'a> {
    /// The number of the error.
    pub code: i64,
    /// What happened, in a sentence.
    pub message: Cow<'a, str>,
    /// Whatever else the other side said.
    pub data: Option<Json<'a>>,
}

/// Why bytes are not a request or a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameError {
    /// The identifier of the request, where it could be read.
    pub id: Option<Id>,
    /// The code of the catalogue.
    pub code: Code,
    /// What is wrong.
    pub detail: String,
    /// What to change, if more is known than what is wrong.
    pub advice: Option<String>,
}

impl FrameError {
    fn new(id: Option<Id>, code: Code, detail: impl Into<String>) -> Self {
        Self { id, code, detail: detail.into(), advice: None }
    }

    fn invalid(id: Option<Id>, detail: impl Into<String>) -> Self {
        Self::new(id, Code::InvalidRequest, detail)
    }

    /// The same error with the `advice` that a lenient reader would give.
    #[must_use]
    pub fn advised(self, advice: &str) -> Self {
        let detail = format!("{}; {advice}", self.detail);
        Self { detail, advice: Some(advice.into()), ..self }
    }

    /// What is wrong with a body that should have been a response.
    pub fn of_response(&self) -> String {
        let is_json = self.code != Code::ParseError;
        if is_json { self.detail.clone() } else { format!("it is not JSON {}", self.detail) }
    }

    /// The response that tells the caller.
    pub fn answer(&self) -> Vec<u8> {
        let message = format!("{}: {}", self.code.row().description, self.detail);
        write_error(self.id.as_ref(), self.code.row().rpc, &message, &[])
    }
}

impl std::error::Error for FrameError {}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.row().description, self.detail)
    }
}

/// Reads a request or a batch of requests.
pub fn parse(bytes: &[u8]) -> Incoming<'_> {
    match text(bytes) {
        Ok(text) if text.starts_with('[') => match several(text, request_of, request) {
            Ok(requests) => Incoming::Batch(requests),
            Err(error) => Incoming::Single(Err(error)),
        },
        Ok(text) => Incoming::Single(request(text)),
        Err(error) => Incoming::Single(Err(error)),
    }
}

/// Reads a response, or the responses to a batch.
///
/// # Errors
/// If the bytes as a whole are neither.
pub fn parse_responses(bytes: &[u8]) -> Result<Vec<Result<Response<'_>, FrameError>>, FrameError> {
    let text = text(bytes)?;
    if !text.starts_with('[') {
        return response(text).map(|response| vec![Ok(response)]);
    }
    several(text, response_of, response)
}

/// The responses to a batch, each as it stands there with the identifier that it answers; nothing
/// if the bytes are something else than a batch.
pub fn split_responses(bytes: &[u8]) -> Option<Vec<(Option<Id>, &[u8])>> {
    let text = text(bytes).ok().filter(|text| text.starts_with('['))?;
    let answered = |raw: Json<'_>| response(raw.get()).ok().and_then(|response| response.id);
    Some(batch(text).ok()?.into_iter().map(|raw| (answered(raw), raw.get().as_bytes())).collect())
}

/// The requests of a batch, each as it stands there; nothing if the bytes are something else.
pub fn split_requests(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let text = text(bytes).ok().filter(|text| text.starts_with('['))?;
    Some(batch(text).ok()?.into_iter().map(|raw| raw.get().as_bytes()).collect())
}

/// Reads a single response.
///
/// # Errors
/// If the bytes are not one.
pub fn parse_response(bytes: &[u8]) -> Result<Response<'_>, FrameError> {
    response(text(bytes)?)
}

fn text(bytes: &[u8]) -> Result<&str, FrameError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| FrameError::new(None, Code::ParseError, "it is not UTF-8"))?;
    Ok(text.trim_start_matches([' ', '\t', '\r', '\n']))
}

fn batch(text: &str) -> Result<Vec<Json<'_>>, FrameError> {
    let mut walk = Walk::into(text, b'[').ok_or_else(|| unreadable(text))?;
    let mut items = Vec::new();
    while let Some(item) = walk.next_item() {
        if items.len() <= BATCH_MAX {
            items.push(item);
        }
    }
    if !walk.is_whole() {
        return Err(unreadable(text));
    }
    match items.len() {
        0 => Err(FrameError::invalid(None, "the batch is empty")),
        1..=BATCH_MAX => Ok(items),
        _ => {
            Err(FrameError::invalid(None, format!("the batch has more than {BATCH_MAX} elements")))
        }
    }
}

/// The frames in a batch, each of what `read` makes of its members; where one has none, of what
/// `explain` says of its text.
fn several<'a, T>(
    text: &'a str,
    read: impl Fn(&'a str, Members<'a>) -> Result<T, FrameError>,
    explain: impl Fn(&'a str) -> Result<T, FrameError>,
) -> Result<Vec<Result<T, FrameError>>, FrameError> {
    if let Some(all) = in_one_walk(text) {
        return Ok(all.into_iter().map(|(raw, members)| read(raw, members)).collect());
    }
    Ok(batch(text)?.into_iter().map(|raw| explain(raw.get())).collect())
}

/// The frames in a batch with their members. News come in long batches, which are walked over but
/// once if nothing is wrong with them.
fn in_one_walk(text: &str) -> Option<Vec<(&str, Members<'_>)>> {
    let mut walk = Walk::into(text, b'[')?;
    let mut all = Vec::new();
    while let Some(mut inner) = walk.next_object() {
        let (start, mut members) = (inner.place() - 1, Members::default());
        members.collect(&mut inner)?;
        all.push((&text[start..inner.place()], members));
        walk.resume(inner);
        if all.len() > BATCH_MAX {
            return None;
        }
    }
    (walk.is_whole() && !all.is_empty()).then_some(all)
}

/// The members that JSON-RPC knows, each as it came; others are skipped.
#[derive(Default)]
struct Members<'a> {
    jsonrpc: Option<Json<'a>>,
    id: Option<Json<'a>>,
    method: Option<Json<'a>>,
    params: Option<Json<'a>>,
    /// The parameters taken apart, if they are an object.
    parts: Option<Parts<'a>>,
    result: Option<Json<'a>>,
    error: Option<Json<'a>>,
}

impl<'a> Members<'a> {
    /// `None` unless `text` is an object in which no known member is repeated.
    fn read(&mut self, text: &'a str) -> Option<()> {
        let mut walk = Walk::into(text, b'{')?;
        self.collect(&mut walk)?;
        walk.is_whole().then_some(())
    }

    /// Collects the members up to the closing bracket.
    fn collect(&mut self, walk: &mut Walk<'a>) -> Option<()> {
        while let Some(name) = walk.next_name() {
            let name = name?;
            let member = match &*name {
                "jsonrpc" => &mut self.jsonrpc,
                "id" => &mut self.id,
                "method" => &mut self.method,
                "params" => {
                    self.parts = Parts::take(walk);
                    &mut self.params
                }
                "result" => &mut self.result,
                "error" => &mut self.error,
                _ => {
                    walk.next_value()?;
                    continue;
                }
            };
            let value = match &self.parts {
                Some(parts) if name == "params" => parts.json(),
                Some(_) | None => walk.next_value()?,
            };
            if member.replace(value).is_some() {
                return None;
            }
        }
        walk.is_closed().then_some(())
    }

    /// The members of the frame `text`.
    fn of(text: &'a str) -> Result<Self, FrameError> {
        let mut members = Self::default();
        members.read(text).ok_or_else(|| unreadable(text))?;
        Ok(members)
    }

    /// The id of the frame, if it is one.
    fn id(&self) -> Result<Option<Id>, FrameError> {
        let id = match self.id {
            Some(raw) => Some(Id::read(raw).ok_or_else(|| {
                let got = render("id", raw);
                FrameError::invalid(None, format!("id: expected a number or text, got {got}"))
            })?),
            None => None,
        };
        if self.jsonrpc.map(Json::get) != Some("\"2.0\"") {
            let version = self.jsonrpc.map(|raw| render("jsonrpc", raw));
            let got = version.unwrap_or_else(|| "nothing".into());
            return Err(FrameError::invalid(id, format!("jsonrpc: expected \"2.0\", got {got}")));
        }
        Ok(id)
    }
}

fn unreadable(text: &str) -> FrameError {
    match Json::parse(text) {
        Err(error) => {
            let place = format!("at line {} column {}", error.line(), error.column());
            FrameError::new(None, Code::ParseError, place)
        }
        Ok(_) if text.starts_with('{') => {
            FrameError::invalid(None, "expected an object without repeated fields")
        }
        Ok(_) => FrameError::invalid(None, "expected an object"),
    }
}

fn request(text: &str) -> Result<Request<'_>, FrameError> {
    request_of(text, Members::of(text)?)
}

fn request_of<'a>(text: &'a str, members: Members<'a>) -> Result<Request<'a>, FrameError> {
    let id = members.id()?;
    if id.as_ref().is_some_and(Id::is_null) {
        let detail = "id: expected a number or text, got null; nobody could tell which request the \
                      answer belongs to";
        return Err(FrameError::invalid(None, detail));
    }
    match members.method.map(Json::text) {
        Some(Some(method)) if !method.is_empty() => {
            Ok(Request { id, method, params: members.params, raw: text, parts: members.parts })
        }
        Some(Some(_) | None) | None => {
            Err(FrameError::invalid(id, "method: expected a text that is not empty"))
        }
    }
}

fn response(text: &str) -> Result<Response<'_>, FrameError> {
    response_of(text, Members::of(text)?)
}

fn response_of<'a>(_: &'a str, members: Members<'a>) -> Result<Response<'a>, FrameError> {
    let id = members.id()?;
    let outcome = match (members.result, members.error) {
        (Some(result), None) => Outcome::Result(result),
        (None, Some(error)) => match rpc_error(error) {
            Ok(error) => Outcome::Error(error),
            Err(detail) => return Err(FrameError::invalid(id, detail)),
        },
        (Some(_), Some(_)) => {
            return Err(FrameError::invalid(id, "expected result or error, got both"));
        }
        (None, None) => {
            return Err(FrameError::invalid(id, "expected result or error, got neither"));
        }
    };
    Ok(Response { id: id.filter(|id| !id.is_null()), outcome })
}

fn rpc_error(raw: Json<'_>) -> Result<RpcError<'_>, String> {
    let read = || -> Result<RpcError<'_>, DecodeError> {
        let fields = crate::fields::Fields::read("error", raw)?;
        Ok(RpcError {
            code: fields.required("code")?,
            message: fields.required("message")?,
            data: fields.raw("data")?.map(|found| found.value()),
        })
    };
    read().map_err(|error| error.to_string())
}

/// A request with the parameters that `params` writes, which have `room` bytes in long pieces.
pub(crate) fn write_request(
    id: u64,
    method: &str,
    room: usize,
    params: impl FnOnce(&mut Vec<u8>),
) -> Vec<u8> {
    let mut out = Vec::with_capacity(1_024 + room);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":");
    method.emit(&mut out);
    out.extend_from_slice(b",\"params\":");
    params(&mut out);
    print(&mut out, format_args!(",\"id\":{id}}}"));
    out
}

/// A response with the result that `result` writes.
pub(crate) fn write_result(id: &Id, result: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(1_024);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"result\":");
    result(&mut out);
    end(&mut out, Some(id));
    out
}

/// A response with an error, and with `data` as JSON unless it is empty.
pub(crate) fn write_error(id: Option<&Id>, code: i64, message: &str, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(1_024);
    print(&mut out, format_args!("{{\"jsonrpc\":\"2.0\",\"error\":{{\"code\":{code},\"message\":"));
    message.emit(&mut out);
    if !data.is_empty() {
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data);
    }
    out.push(b'}');
    end(&mut out, id);
    out
}

fn end(out: &mut Vec<u8>, id: Option<&Id>) {
    let id = id.map_or("null", Id::as_json);
    print(out, format_args!(",\"id\":{id}}}"));
}

/// Several frames as one batch.
pub fn write_batch(frames: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let bytes: usize = frames.iter().map(|frame| frame.as_ref().len() + 1).sum();
    let mut out = Vec::with_capacity(bytes + 1);
    out.push(b'[');
    for (index, frame) in frames.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(frame.as_ref());
    }
    out.push(b']');
    out
}

#[cfg(test)]
mod tests;
