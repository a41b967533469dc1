//! Sending protocol messages and reading the answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use league_core::dice::Dice;
use league_core::id::ConversationId;
use league_core::proof::hex;
use league_wire::dialect::{
    ToolError, decode_error, decode_result, encode_call, encode_order, encode_request, tool_error,
};
use league_wire::frame::{
    FrameError, Outcome, RpcError, parse_response, split_responses, write_batch,
};
use league_wire::lenient::{Asked, Deviation, Deviations, Reading, Slip, Understood, read_answer};
use league_wire::message::{ErrorReport, OrderName};
use league_wire::{Code, DecodeError, Dialect, Id, Letter, MessageType, Reply, Response};

use crate::ambient::OsDice;
use crate::caller::{Answered, CallError, Caller};
use crate::component::Component;

/// Sends letters and reads the answers.
#[derive(Debug, Clone)]
pub struct Exchange {
    caller: Caller,
    ids: Arc<AtomicU64>,
}

/// Why a letter brought no letter back.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AskError {
    /// The call itself failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// What came back is not JSON-RPC.
    #[error("HTTP status {status}, and the body is not a JSON-RPC response: {}", source.of_response())]
    Frame {
        /// The HTTP status.
        status: u16,
        /// What is wrong with the body.
        source: FrameError,
    },
    /// What came back answers something else.
    #[error("the response's id is {got}; repeat the request's, which was {sent}")]
    WrongId {
        /// The id of the request.
        sent: u64,
        /// The id of the response, as JSON.
        got: Box<str>,
    },
    /// The other side said no.
    #[error("refused with {code}: {message}")]
    Refused {
        /// The JSON-RPC number.
        code: i64,
        /// Its sentence.
        message: String,
        /// The protocol's error, if it sent one.
        report: Option<Box<ErrorReport>>,
    },
    /// The result is not the message that was asked for.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The result would be what was asked for, but for how it came.
    #[error("not taken, since it is {}; {}", .0.slip.what(), .0.fix)]
    Deviates(Deviation),
}

/// Why letters that were sent together brought nothing back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The call itself failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The other side answered, but not as one answers a batch.
    #[error("what came back is not an answer to a batch")]
    NotABatch,
}

impl Exchange {
    /// An exchange that calls with `caller`.
    pub fn new(caller: Caller) -> Self {
        Self { caller, ids: Arc::new(AtomicU64::new(1)) }
    }

    /// Whether `address` may be called, as far as that can be said without looking up its name.
    ///
    /// # Errors
    /// If not, with the reason.
    pub fn check(&self, address: &str) -> Result<(), CallError> {
        self.caller.check(address)
    }

    /// What it calls with.
    pub const fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The part of the league that sends.
    pub const fn component(&self) -> Component {
        self.caller.component()
    }

    /// How many calls were made.
    pub fn calls(&self) -> u64 {
        self.caller.calls()
    }

    /// Sends `letter` and waits for one of the `expected` messages.
    ///
    /// # Errors
    /// If no such message comes back in time.
    pub async fn ask(
        &self,
        address: &str,
        dialect: Dialect,
        letter: &Letter,
        expected: &[MessageType],
        timeout: Duration,
    ) -> Result<Reply, AskError> {
        let question = self.question(dialect, letter);
        let answered = self.send(address, &question, timeout).await?;
        question.read(expected, &answered)
    }

    /// A letter ready to be sent, for those who want to see what goes out and what comes back.
    pub fn question(&self, dialect: Dialect, letter: &Letter) -> Question {
        let id = self.next_id();
        Question { id, dialect, body: encode_request(dialect, id, letter).into() }
    }

    /// The same under a method of the receiver's own.
    pub fn question_called(&self, dialect: Dialect, letter: &Letter, called: &str) -> Question {
        let id = self.next_id();
        Question { id, dialect, body: encode_call(dialect, id, letter, called).into() }
    }

    /// Sends `question` and hands back what came, whatever it is.
    ///
    /// # Errors
    /// If the call itself fails.
    pub async fn send(
        &self,
        address: &str,
        question: &Question,
        timeout: Duration,
    ) -> Result<Answered, CallError> {
        self.caller.call(address, question.body.clone(), timeout).await
    }

    /// Sends questions together and hands back what came for each of them; nothing for those that
    /// were not answered. Whoever does not know batches is not asked in another way.
    ///
    /// # Errors
    /// If the call itself fails, or what comes back is no batch.
    pub async fn send_together(
        &self,
        address: &str,
        questions: &[&Question],
        timeout: Duration,
    ) -> Result<Vec<Option<Answered>>, BatchError> {
        let bodies: Vec<&[u8]> = questions.iter().map(|question| &*question.body).collect();
        let answered = self.caller.call(address, write_batch(&bodies), timeout).await?;
        let Some(parts) = split_responses(&answered.body) else {
            let busy = answered.is_busy().then_some(BatchError::Call(CallError::Busy));
            return Err(busy.unwrap_or(BatchError::NotABatch));
        };
        let answer_to = |question: &&Question| {
            let id = Some(Id::from(question.id));
            let (_, part) = parts.iter().find(|(answered, _)| *answered == id)?;
            let body = answered.body.slice_ref(part);
            Some(Answered { body, ..answered.clone() })
        };
        Ok(questions.iter().map(answer_to).collect())
    }

    /// Sends letters and hands back what was answered, whatever it is; nothing if it was too much.
    ///
    /// # Errors
    /// If the call itself fails, or the other side is too busy to take it.
    pub async fn tell(
        &self,
        address: &str,
        body: impl Into<Bytes>,
        timeout: Duration,
    ) -> Result<Option<Answered>, CallError> {
        match self.caller.call(address, body, timeout).await {
            Ok(answered) if answered.is_busy() => Err(CallError::Busy),
            Ok(answered) => Ok(Some(answered)),
            // Whoever says too much has heard us.
            Err(CallError::TooLarge) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// One request with a fresh id, and the id.
    pub fn encode(&self, dialect: Dialect, letter: &Letter) -> (Id, Vec<u8>) {
        self.encode_order(dialect, letter, OrderName::StartMatch)
    }

    /// The same for a referee that knows orders under `name`.
    pub fn encode_order(
        &self,
        dialect: Dialect,
        letter: &Letter,
        name: OrderName,
    ) -> (Id, Vec<u8>) {
        let id = self.next_id();
        (Id::from(id), encode_order(dialect, id, letter, name))
    }
}

/// A letter as it is sent.
#[derive(Debug, Clone)]
pub struct Question {
    id: u64,
    dialect: Dialect,
    body: Bytes,
}

impl Question {
    /// The bytes that are sent.
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// Reads `answered` as one of the `expected` messages.
    ///
    /// # Errors
    /// If it is no such message.
    pub fn read(&self, expected: &[MessageType], answered: &Answered) -> Result<Reply, AskError> {
        self.read_strictly(expected, answered)
    }

    /// The same for an answer that counts in a match, with what is not as it should be where
    /// `reading` puts up with it. Where it does not, that tells what to change.
    ///
    /// # Errors
    /// If it is no such message.
    pub fn read_as(
        &self,
        reading: Reading,
        expected: &[MessageType],
        answered: &Answered,
    ) -> Result<Understood<Reply>, AskError> {
        let strict = self.read_strictly(expected, answered);
        let mut deviations = carriage(self.dialect, answered);
        let meaning = match strict {
            Ok(meaning) => meaning,
            Err(error) if !is_readable(&error) => return Err(error),
            Err(error) => {
                let asked = Asked { dialect: self.dialect, expected, id: &Id::from(self.id) };
                match read_answer(asked, &answered.body) {
                    Err(None) => return Err(error),
                    Err(Some(doubtful)) if reading.is_lenient() => {
                        return Err(doubtful.instead_of(error.decode()).into());
                    }
                    Err(Some(doubtful)) => return Err(error.advised(doubtful.advice())),
                    Ok(understood) if !reading.is_lenient() => {
                        return Err(error.advised(understood.deviations.advice()));
                    }
                    Ok(Understood { meaning, deviations: found }) => {
                        found.iter().cloned().for_each(|one| deviations.note(one));
                        meaning
                    }
                }
            }
        };
        match deviations.iter().next() {
            Some(first) if !reading.is_lenient() => Err(AskError::Deviates(first.clone())),
            Some(_) | None => Ok(Understood { meaning, deviations }),
        }
    }

    fn read_strictly(
        &self,
        expected: &[MessageType],
        answered: &Answered,
    ) -> Result<Reply, AskError> {
        let response = parse_response(&answered.body).map_err(|source| {
            let busy = answered.is_busy().then_some(AskError::Call(CallError::Busy));
            busy.unwrap_or(AskError::Frame { status: answered.status, source })
        })?;
        check_id(self.id, &response)?;
        match response.outcome {
            Outcome::Result(result) => {
                let failed = (self.dialect == Dialect::Tool).then(|| tool_error(result)).flatten();
                match failed {
                    Some(error) => Err(failed_tool(error)),
                    None => Ok(decode_result(self.dialect, expected, result)?),
                }
            }
            Outcome::Error(error) => Err(refused(&error)),
        }
    }
}

/// What is not as it should be in how a result came.
fn carriage(dialect: Dialect, answered: &Answered) -> Deviations {
    let mut deviations = Deviations::default();
    // Whoever is called by its tools is a server of that protocol, and greeted as such.
    if answered.greeted && dialect != Dialect::Tool {
        deviations.note(Slip::InitializeFirst.at("/mcp"));
    }
    if answered.redirected {
        deviations.note(Slip::Redirect.at("/mcp"));
    }
    if answered.status >= 400 {
        deviations.note(Slip::HttpStatus.at(format!("HTTP status {}", answered.status)));
    }
    deviations
}

/// Whether something came that a lenient reader may understand.
const fn is_readable(error: &AskError) -> bool {
    match error {
        AskError::Frame { .. } | AskError::WrongId { .. } | AskError::Decode(_) => true,
        AskError::Call(_) | AskError::Refused { .. } | AskError::Deviates(_) => false,
    }
}

impl AskError {
    /// The same error with the `advice` that a lenient reader would give.
    fn advised(self, advice: String) -> Self {
        match self {
            Self::Frame { status, source } => {
                Self::Frame { status, source: source.advised(&advice) }
            }
            Self::Decode(error) => Self::Decode(error.advised(advice)),
            Self::Call(_) | Self::WrongId { .. } | Self::Refused { .. } | Self::Deviates(_) => self,
        }
    }

    /// What is wrong with the message, if that is why.
    const fn decode(&self) -> Option<&DecodeError> {
        match self {
            Self::Decode(error) => Some(error),
            Self::Call(_)
            | Self::Frame { .. }
            | Self::WrongId { .. }
            | Self::Refused { .. }
            | Self::Deviates(_) => None,
        }
    }
}

/// JSON-RPC: a response has its request's id; only an error may have none.
fn check_id(sent: u64, response: &Response<'_>) -> Result<(), AskError> {
    match (&response.id, &response.outcome) {
        (Some(id), _) if *id == Id::from(sent) => Ok(()),
        (None, Outcome::Error(_)) => Ok(()),
        (got, Outcome::Result(_) | Outcome::Error(_)) => {
            let got = got.as_ref().map_or("null", Id::as_json).into();
            Err(AskError::WrongId { sent, got })
        }
    }
}

fn refused(error: &RpcError<'_>) -> AskError {
    let report = error.data.and_then(|data| decode_error(data).ok()).map(Box::new);
    AskError::Refused { code: error.code, message: error.message.to_string(), report }
}

/// A tool says no in a result; it means what an error means elsewhere.
fn failed_tool(ToolError { message, report }: ToolError) -> AskError {
    let code = report.as_ref().and_then(|report| report.code.known());
    AskError::Refused { code: code.unwrap_or(Code::Internal).row().rpc, message, report }
}

/// A conversation nobody has had before: `prefix` and 32 random hex digits.
pub fn new_conversation(prefix: &str) -> ConversationId {
    let text = format!("{prefix}{}", random_hex());
    text.parse().expect("a short prefix and hex digits are a conversation id")
}

/// 32 random hex digits.
pub fn random_hex() -> String {
    let mut bytes = [0_u8; 16];
    OsDice.fill(&mut bytes);
    hex(&bytes)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use league_wire::message::{Ping, Pong};
    use league_wire::{Envelope, Message, Sender};

    use super::*;
    use crate::ambient;
    use crate::limits::ANSWER_BYTES_MAX;

    const PATIENCE: Duration = Duration::from_secs(10);

    /// Somebody who answers one call with `status` and `body`, whatever it was.
    fn answers(status: &'static str, body: String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/mcp", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = String::new();
            while !request.ends_with("}") {
                let mut bytes = [0; 4096];
                let read = stream.read(&mut bytes).unwrap();
                request.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
            }
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
            // Whoever has heard enough may be gone.
            let _gone = stream.write_all(format!("{head}{body}").as_bytes());
        });
        address
    }

    fn ping() -> Letter {
        let envelope = Envelope {
            sender: Sender::LeagueManager(None),
            timestamp: ambient::now(),
            conversation: new_conversation("test"),
            token: None,
            league_id: None,
        };
        Letter { envelope, message: Message::Ping(Ping {}) }
    }

    fn pong(id: &str, filler: &str) -> String {
        let letter = Letter { message: Message::Pong(Pong { state: None }), ..ping() };
        let result = league_wire::dialect::encode_result(Dialect::Flat, &Id::from(7), &letter);
        let text = String::from_utf8(result).unwrap();
        let text = text.replace("\"id\":7", &format!("\"id\":{id}"));
        text.replacen('{', &format!("{{\"filler\":\"{filler}\","), 1)
    }

    fn ask(status: &'static str, body: String) -> Result<Reply, AskError> {
        let exchange = Exchange::new(Caller::new("test/0", PATIENCE));
        let (address, letter) = (answers(status, body), ping());
        let expected = [MessageType::Pong];
        run(exchange.ask(&address, Dialect::Flat, &letter, &expected, PATIENCE))
    }

    fn tell(status: &'static str, body: String) -> Result<(), CallError> {
        let exchange = Exchange::new(Caller::new("test/0", PATIENCE));
        let (_, body_sent) = exchange.encode(Dialect::Flat, &ping());
        run(exchange.tell(&answers(status, body), body_sent, PATIENCE)).map(drop)
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn an_answer_must_have_the_id_of_the_request() {
        assert!(ask("200 OK", pong("1", "")).is_ok());
        for id in ["2", "\"1\"", "null"] {
            let error = ask("200 OK", pong(id, "")).unwrap_err();
            assert!(matches!(error, AskError::WrongId { sent: 1, .. }), "{error}");
            assert!(error.to_string().contains(id), "{error}");
        }
        let refused = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"},"id":null}"#;
        let error = ask("200 OK", refused.into()).unwrap_err();
        assert!(matches!(error, AskError::Refused { code: -32700, .. }), "{error}");
    }

    #[test]
    fn a_body_that_is_no_response_is_not_called_a_request() {
        let error = ask("500 Internal Server Error", "<html>".into()).unwrap_err().to_string();
        let expected = "HTTP status 500, and the body is not a JSON-RPC response: it is not JSON";
        assert!(error.starts_with(expected), "{error}");
        let error = ask("200 OK", r#"{"id":1}"#.into()).unwrap_err().to_string();
        assert!(!error.contains("request") && error.contains("jsonrpc"), "{error}");
    }

    #[test]
    fn what_is_almost_an_answer_is_understood_or_told_what_to_change() {
        let exchange = Exchange::new(Caller::new("test/0", PATIENCE));
        let question = exchange.question(Dialect::Flat, &ping());
        let whole = r#"{"protocol":"league.v2","message_type":"GAME_JOIN_ACK","sender":"player:P01",
            "timestamp":"2025-01-15T10:30:00Z","conversation_id":"c","match_id":"R1M1","accept":true}"#;
        let usual = Answered {
            status: 200,
            body: format!(r#"{{"jsonrpc":"2.0","id":1,"result":{whole}}}"#).into(),
            retry_after: None,
            redirected: false,
            greeted: false,
        };
        let silent = usual.clone();
        let nested = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"data":{whole}}}}}"#);
        let both = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{whole},"error":null}}"#);
        let read = |reading, answered: &Answered| {
            question.read_as(reading, &[MessageType::GameJoinAck], answered)
        };
        assert!(read(Reading::Strict, &usual).is_ok_and(|read| read.deviations.is_empty()));
        for (answered, slip, fix) in [
            (Answered { status: 500, ..usual.clone() }, Slip::HttpStatus, "HTTP status 200"),
            (Answered { redirected: true, ..usual.clone() }, Slip::Redirect, "at `/mcp` itself"),
            (Answered { greeted: true, ..usual.clone() }, Slip::InitializeFirst, "`initialize`"),
            (Answered { body: nested.into(), ..usual.clone() }, Slip::Nested, "to `result`"),
            (Answered { body: both.into(), ..usual }, Slip::ErrorBesideResult, "`error`"),
        ] {
            let refused = read(Reading::Strict, &answered).unwrap_err().to_string();
            assert!(refused.contains(fix), "{refused}");
            let understood = read(Reading::Lenient, &answered).unwrap();
            let slips: Vec<Slip> = understood.deviations.iter().map(|one| one.slip).collect();
            assert_eq!(slips, [slip]);
        }
        let silent = Answered { body: "{}".into(), ..silent };
        assert!(read(Reading::Lenient, &silent).is_err());
    }

    #[test]
    fn an_answer_has_a_limit_and_a_receipt_may_exceed_it() {
        let long = "x".repeat(ANSWER_BYTES_MAX);
        let error = ask("200 OK", pong("1", &long)).unwrap_err();
        assert!(matches!(error, AskError::Call(CallError::TooLarge)), "{error}");
        assert_eq!(tell("200 OK", pong("1", &long)), Ok(()));
    }

    #[test]
    fn whoever_is_busy_has_not_taken_the_call() {
        let error = ask("503 Service Unavailable", "later".into()).unwrap_err();
        assert!(matches!(error, AskError::Call(CallError::Busy)), "{error}");
        assert_eq!(tell("503 Service Unavailable", "later".into()), Err(CallError::Busy));
    }
}
