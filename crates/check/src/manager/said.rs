//! What a manager answered, and whether that is what a case waited for.

use league_wire::{Code, Dialect, MessageType};
use serde_json::{Value, json};

use super::speech::{Speech, Stamp};
use crate::http::Got;
use crate::verdict::{Halt, Outcome};

/// The answer to one request.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    /// The answer as it came.
    pub(super) got: Got,
    /// Its body; null if it is not JSON.
    pub(super) json: Value,
    pub(super) speech: Speech,
}

/// A no.
#[derive(Debug, Clone, Default)]
pub(super) struct Refusal {
    /// Every code of the catalogue that it names.
    pub(super) codes: Vec<Code>,
    /// All of it, as text.
    pub(super) text: String,
}

/// How exactly a no must be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strict {
    /// With the code, if the dialect's document lists it.
    AsListed,
    /// With the code.
    Always,
}

impl Reply {
    /// The JSON-RPC result with all fields side by side, unless it is a no.
    pub(super) fn accepted(&self, what: &str) -> Result<Value, Halt> {
        if let Some(refusal) = self.refusal() {
            return Err(Halt::fail(
                format!("{what} was refused: {}", refusal.said()),
                "accept it: it is what the document prints",
            ));
        }
        let Some(result) = self.json.get("result") else {
            return Err(self.no_response(what));
        };
        let dialect = self.speech.0;
        self.speech.opened(result).map_err(|wrong| {
            Halt::fail(
                format!("the answer to {what} is not in the dialect `{dialect}`: {wrong}"),
                "answer in the shape in which you were asked",
            )
        })
    }

    /// The no, if it is one: an error, LEAGUE_ERROR as a result, or a rejected registration.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        if let Some(error) = self.json.get("error").filter(|error| !error.is_null()) {
            let message = self.speech.opened_error(&error["data"]).ok();
            let number = error["code"].as_i64();
            let text = error["message"].as_str().unwrap_or_default();
            return Some(Refusal::new(number, message.as_ref(), text, &error.to_string()));
        }
        let result = self.json.get("result")?;
        let message = self.speech.opened(result).ok()?;
        let is_no = message["status"] == "REJECTED" || message["message_type"] == "LEAGUE_ERROR";
        let text = message["error_description"].as_str();
        let text = text.or_else(|| message["rejection_reason"].as_str());
        let text = text.unwrap_or_default().to_string();
        is_no.then(|| Refusal::new(None, Some(&message), &text, &result.to_string()))
    }

    /// That the answer is a no at all is told by `case`; this one is about how it is said.
    pub(super) fn refused_as_told_by(&self, case: &str) -> Outcome {
        if self.refusal().is_some() {
            return Ok(());
        }
        Err(Halt::skip(format!("what it builds on fails: see {case}")))
    }

    /// The answer must be a no with `code`.
    pub(super) fn refused(&self, what: &str, code: Code, strict: Strict) -> Outcome {
        self.refused_with_any(what, &[code], strict)
    }

    /// The answer must be a no with one of `codes`; the first is the one to advise.
    pub(super) fn refused_with_any(&self, what: &str, codes: &[Code], strict: Strict) -> Outcome {
        let dialect = self.speech.0;
        let told: Vec<Code> = codes.iter().map(|code| code.told(dialect)).collect();
        let best = told[0];
        let example = || self.example(best).to_string();
        let change = format!("refuse it with {best} {}", best.name());
        let Some(refusal) = self.refusal() else {
            if self.json.get("result").is_none() {
                return Err(self.no_response(what));
            }
            return Err(Halt::fail_with(format!("{what} was accepted"), change, example()));
        };
        let is_bound = strict == Strict::Always || lists(dialect, best);
        if is_bound && !told.iter().chain(codes).any(|code| refusal.codes.contains(code)) {
            let said = refusal.said();
            let sentence = format!("{what} was refused without {best}: {said}");
            return Err(Halt::fail_with(sentence, change, example()));
        }
        Ok(())
    }

    /// The answer must be the JSON-RPC error `number`.
    pub(super) fn rpc_error(&self, what: &str, number: i64, id: &Value) -> Outcome {
        let error = json!({"code": number, "message": rpc_name(number)});
        let example = json!({"jsonrpc": "2.0", "error": error, "id": id}).to_string();
        let change = format!("answer with the JSON-RPC error {number}");
        if self.json["error"]["code"] == number {
            return Ok(());
        }
        let came = match self.json.get("error") {
            Some(error) => format!("the error {}", error["code"]),
            None if self.json.get("result").is_some() => "a result".into(),
            None => format!("HTTP status {} without a JSON-RPC response", self.got.status),
        };
        Err(Halt::fail_with(format!("{what} got {came}"), change, example))
    }

    fn no_response(&self, what: &str) -> Halt {
        let status = self.got.status;
        let body: String = String::from_utf8_lossy(&self.got.body).chars().take(80).collect();
        Halt::fail_with(
            format!("{what} got no JSON-RPC response, but HTTP status {status}: {body}"),
            "answer every request with a JSON-RPC response that has `result` or `error`",
            json!({"jsonrpc": "2.0", "result": {}, "id": 1}).to_string(),
        )
    }

    /// What a no with `code` looks like in this dialect.
    fn example(&self, code: Code) -> Value {
        let stamp = Stamp::example("league_manager");
        let row = code.row();
        let fields = json!({
            "error_code": code.as_str(),
            "error_name": row.name,
            "error_description": row.description,
            "retryable": row.retryable,
            "affected_player": null,
            "action_required": row.advice,
            "context": {},
        });
        let data = self.speech.result(MessageType::LeagueError, &stamp, fields);
        let data = data.get("structuredContent").cloned().unwrap_or(data);
        let error = json!({"code": row.rpc, "message": row.description, "data": data});
        json!({"jsonrpc": "2.0", "error": error, "id": 1})
    }
}

impl Refusal {
    fn new(number: Option<i64>, message: Option<&Value>, text: &str, whole: &str) -> Self {
        let named = message.and_then(|message| message["error_code"].as_str());
        let of_number = |code: &Code| number == Some(code.row().rpc);
        let is_meant = |code: &Code| {
            let word = code.as_str();
            !word.is_empty() && (named == Some(word) || of_number(code) || text.contains(word))
        };
        let codes = Code::ALL.iter().copied().filter(is_meant).collect();
        Self { codes, text: if text.is_empty() { whole } else { text }.into() }
    }

    /// It in a few words.
    pub(super) fn said(&self) -> String {
        let code = self.codes.first().map(|code| format!("{code}, "));
        let text: String = self.text.chars().take(200).collect();
        format!("{}{text}", code.unwrap_or_default())
    }
}

/// Whether the document of `dialect` lists `code`.
pub(super) const fn lists(dialect: Dialect, code: Code) -> bool {
    match dialect {
        // Document 000.
        Dialect::Flat | Dialect::Tool | Dialect::Wrapped => matches!(
            code,
            Code::E003 | Code::E005 | Code::E011 | Code::E012 | Code::E013 | Code::E014
        ),
        // Document 003.
        Dialect::Typed => {
            matches!(code, Code::E003 | Code::E005 | Code::E011 | Code::E012 | Code::E021)
        }
        // Document 002.
        Dialect::V21 => matches!(
            code,
            Code::E003
                | Code::E005
                | Code::E011
                | Code::E012
                | Code::E015
                | Code::E018
                | Code::E019
                | Code::E021
        ),
        // Document 001 leaves them to a section that is not there.
        Dialect::Enveloped => false,
        // Document 004.
        Dialect::Payload => matches!(
            code,
            Code::L001 | Code::L002 | Code::L003 | Code::L004 | Code::L005 | Code::G003
        ),
    }
}

const fn rpc_name(number: i64) -> &'static str {
    match number {
        -32700 => "Parse error",
        -32600 => "Invalid Request",
        -32601 => "Method not found",
        -32602 => "Invalid params",
        _ => "Internal error",
    }
}
