//! Reading an answer, and saying what to change in one that cannot be read.

use bytes::Bytes;
use league_agent::caller::Answered;
use league_agent::shape;
use league_wire::dialect::{
    decode_error, decode_result, encode_answer, encode_refusal, tool_error,
};
use league_wire::frame::{Outcome as RpcOutcome, parse, parse_response};
use league_wire::message::ErrorReport;
use league_wire::redact::redact;
use league_wire::{Code, Dialect, Id, Incoming, Letter, Message, MessageType, Reply, Request};
use serde_json::Value;

use crate::http::{Got, Trouble};
use crate::limits::CHANGES_MAX;
use crate::verdict::Halt;

/// A request and what came of it.
#[derive(Debug, Clone)]
pub struct Asked {
    /// How it was spoken.
    pub dialect: Dialect,
    /// The request's body.
    pub request: Bytes,
    /// What came.
    pub got: Result<Got, Trouble>,
}

/// A no.
#[derive(Debug, Clone)]
pub struct Refused {
    /// The JSON-RPC number; that of an internal error for a tool, which has none.
    pub number: i64,
    /// The sentence.
    pub message: String,
    /// The protocol's error, if there is one.
    pub report: Option<Box<ErrorReport>>,
}

/// Why an answer cannot be read: where, and a sentence.
struct Unread {
    at: String,
    sentence: String,
    change: String,
}

impl Asked {
    /// What came.
    ///
    /// # Errors
    /// Fails if nothing came; the change shows `ideal`, the answer that would be right.
    pub fn answered(&self, ideal: &Letter) -> Result<&Got, Halt> {
        match &self.got {
            Ok(got) => Ok(got),
            Err(Trouble::Ours(why)) => Err(Halt::Ours(why.clone())),
            Err(trouble) => {
                Err(Halt::fail_with(trouble.to_string(), "answer with", self.ideal(ideal)))
            }
        }
    }

    /// The answer as one of the `expected` messages.
    ///
    /// # Errors
    /// Fails if it is none of them, with the smallest change that makes it one; `ideal` is an
    /// answer that would be right.
    pub fn reply(&self, expected: &[MessageType], ideal: &Letter) -> Result<Reply, Halt> {
        let got = self.answered(ideal)?;
        match self.read(&got.body, expected) {
            Ok(reply) => Ok(reply),
            Err(unread) => {
                let (change, json) = self.mend(&got.body, expected, ideal, &unread);
                Err(Halt::fail_with(unread.sentence, change, json))
            }
        }
    }

    /// Any result, for what the agent is only told.
    ///
    /// # Errors
    /// Fails if no result came.
    pub fn heard(&self, ideal: &Letter) -> Result<(), Halt> {
        let got = self.answered(ideal)?;
        match self.outcome(&got.body) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(refused)) => Err(Halt::fail_with(
                format!("it refused with {}: {}", refused.number, refused.message),
                "answer with any result, such as",
                self.ideal(ideal),
            )),
            Err(unread) => Err(Halt::fail_with(unread.sentence, unread.change, self.ideal(ideal))),
        }
    }

    /// What the agent said no with; `None` if it said yes.
    ///
    /// # Errors
    /// Fails if nothing came, or nothing of JSON-RPC.
    pub fn refused(&self, ideal: &Letter) -> Result<Option<Refused>, Halt> {
        let got = self.answered(ideal)?;
        match self.outcome(&got.body) {
            Ok(outcome) => Ok(outcome.err()),
            Err(unread) => Err(Halt::fail_with(unread.sentence, unread.change, self.ideal(ideal))),
        }
    }

    /// Whether what came shows that this dialect is not understood.
    pub fn is_misunderstood(&self) -> bool {
        let Ok(got) = &self.got else { return false };
        shape::is_misunderstood(&Answered {
            status: got.status,
            body: got.body.clone(),
            retry_after: None,
            redirected: false,
            greeted: false,
        })
    }

    /// The answer `ideal` to this request, as it would stand on the line; a refusal if it is an
    /// error.
    pub fn ideal(&self, ideal: &Letter) -> String {
        let is_error = matches!(ideal.message, Message::GameError(_) | Message::LeagueError(_));
        let encode = |request: &Request<'_>| {
            if is_error {
                return Some(encode_refusal(self.dialect, request, ideal));
            }
            encode_answer(self.dialect, request, ideal)
        };
        let encoded = self.with_request(encode).flatten().unwrap_or_default();
        redact(&String::from_utf8_lossy(&encoded), &[]).into_owned()
    }

    /// The id of the request.
    pub fn id(&self) -> Option<Id> {
        self.with_request(|request| request.id.clone()).flatten()
    }

    fn with_request<T>(&self, what: impl FnOnce(&Request<'_>) -> T) -> Option<T> {
        match parse(&self.request) {
            Incoming::Single(Ok(request)) => Some(what(&request)),
            Incoming::Single(Err(_)) | Incoming::Batch(_) => None,
        }
    }

    /// A result, or a no.
    fn outcome(&self, body: &[u8]) -> Result<Result<Value, Refused>, Unread> {
        let response = parse_response(body).map_err(|error| Unread {
            at: String::new(),
            sentence: format!("the body is not a JSON-RPC response: {}", error.of_response()),
            change: "answer with a JSON-RPC response, such as".into(),
        })?;
        let sent = self.id();
        if response.id != sent {
            let shown = |id: &Option<Id>| id.as_ref().map_or("null", Id::as_json).to_string();
            let (got, sent) = (shown(&response.id), shown(&sent));
            return Err(Unread {
                at: "id".into(),
                sentence: format!("the response's id is {got}, the request's is {sent}"),
                change: "repeat the request's id".into(),
            });
        }
        match response.outcome {
            RpcOutcome::Error(error) => {
                let report = error.data.and_then(|data| decode_error(data).ok()).map(Box::new);
                let message = error.message.to_string();
                Ok(Err(Refused { number: error.code, message, report }))
            }
            RpcOutcome::Result(result) => {
                if let Some(error) = tool_error(result).filter(|_| self.dialect == Dialect::Tool) {
                    let code = error.report.as_ref().and_then(|report| report.code.known());
                    let number = code.unwrap_or(Code::Internal).row().rpc;
                    return Ok(Err(Refused {
                        number,
                        message: error.message,
                        report: error.report,
                    }));
                }
                Ok(Ok(serde_json::from_str(result.get()).unwrap_or(Value::Null)))
            }
        }
    }

    fn read(&self, body: &[u8], expected: &[MessageType]) -> Result<Reply, Unread> {
        if let Err(refused) = self.outcome(body)? {
            return Err(Unread {
                at: String::new(),
                sentence: format!("it refused with {}: {}", refused.number, refused.message),
                change: "answer with".into(),
            });
        }
        let response = parse_response(body).map_err(|error| Unread {
            at: String::new(),
            sentence: error.of_response(),
            change: "answer with".into(),
        })?;
        let RpcOutcome::Result(result) = response.outcome else {
            return Err(Unread {
                at: String::new(),
                sentence: "it refused".into(),
                change: "answer with".into(),
            });
        };
        decode_result(self.dialect, expected, result).map_err(|error| Unread {
            at: error.at.clone(),
            sentence: error.in_short(),
            change: error.fix.to_string(),
        })
    }

    /// Changes their answer, one field after the other, until it can be read. Where that does not
    /// lead there it is the whole ideal answer.
    fn mend(
        &self,
        theirs: &[u8],
        expected: &[MessageType],
        ideal: &Letter,
        first: &Unread,
    ) -> (String, String) {
        let ideal = self.ideal(ideal);
        let whole = ("answer with".to_string(), ideal.clone());
        let (Ok(mut theirs), Ok(ideal)) =
            (serde_json::from_slice::<Value>(theirs), serde_json::from_str::<Value>(&ideal))
        else {
            return whole;
        };
        let (mut at, mut changes) = (first.at.clone(), Vec::new());
        for _ in 0..CHANGES_MAX {
            if at.is_empty() || !put(&mut theirs, &ideal, &at) {
                return whole;
            }
            changes.push(format!("`{at}`"));
            match self.read(theirs.to_string().as_bytes(), expected) {
                Ok(_) => {
                    let change = match changes.as_slice() {
                        [_] => format!("{}:", first.change),
                        _ => format!("set {}:", changes.join(", ")),
                    };
                    return (change, redact(&theirs.to_string(), &[]).into_owned());
                }
                Err(unread) if unread.at == at => return whole,
                Err(unread) => at = unread.at,
            }
        }
        whole
    }
}

/// Puts what stands at the path `at` in `ideal` to the same place in `theirs`.
fn put(theirs: &mut Value, ideal: &Value, at: &str) -> bool {
    let (mut theirs, mut ideal) = (theirs, ideal);
    for name in at.split('.') {
        let Some(wanted) = ideal.get(name) else { return false };
        let Value::Object(fields) = theirs else { return false };
        let is_inner = wanted.is_object() && fields.get(name).is_some_and(Value::is_object);
        let place = fields.entry(name).or_insert_with(|| wanted.clone());
        if !is_inner {
            *place = wanted.clone();
        }
        (theirs, ideal) = (place, wanted);
    }
    true
}
