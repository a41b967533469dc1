//! Answers that come as a stream of events: the one that answers the call is looked for, and the
//! others are passed over.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use league_wire::Id;
use league_wire::frame::{self, parse, parse_response};

use super::{CallError, judge};
use crate::limits::{ANSWER_BYTES_MAX, STREAM_END_WAIT};

/// Whether an answer is a stream of events.
pub(super) fn is_stream(response: &Response<Incoming>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Reads events until one is the JSON-RPC response to the call `asked`; if there is none, the first
/// that answers something else, and without that an empty body.
pub(super) async fn read(mut body: Incoming, asked: &[u8]) -> Result<Bytes, CallError> {
    let mut events = Events::after(asked);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| judge(&error, false))?;
        let Ok(data) = frame.into_data() else { continue };
        if let Some(answer) = events.add(&data)? {
            // Whoever ends its stream at once keeps the connection.
            let _open = tokio::time::timeout(STREAM_END_WAIT, body.frame()).await;
            return Ok(answer);
        }
    }
    Ok(events.end().unwrap_or_default())
}

/// What has come of a stream.
#[derive(Debug, Default)]
struct Events {
    /// The id of the call; any response will do if it has none.
    wanted: Option<Id>,
    /// The first response with another id.
    other: Option<Bytes>,
    /// The line that has not ended.
    line: Vec<u8>,
    /// The data of the event that has not ended.
    data: Vec<u8>,
    /// How much has come.
    bytes: usize,
}

impl Events {
    /// Nothing yet, after the call `asked`.
    fn after(asked: &[u8]) -> Self {
        let wanted = match parse(asked) {
            frame::Incoming::Single(Ok(request)) => request.id,
            frame::Incoming::Single(Err(_)) | frame::Incoming::Batch(_) => None,
        };
        Self { wanted, ..Self::default() }
    }

    /// Takes what came next; gives the answer if it is there now.
    fn add(&mut self, bytes: &[u8]) -> Result<Option<Bytes>, CallError> {
        self.bytes += bytes.len();
        if self.bytes > ANSWER_BYTES_MAX {
            return Err(CallError::TooLarge);
        }
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if let Some(answer) = self.take(line.strip_suffix(b"\r").unwrap_or(&line)) {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// The stream has ended, perhaps in the middle of the answer's event.
    fn end(mut self) -> Option<Bytes> {
        let line = std::mem::take(&mut self.line);
        self.take(&line).or_else(|| self.take(b"")).or(self.other)
    }

    /// Takes a line; an empty one ends an event.
    fn take(&mut self, line: &[u8]) -> Option<Bytes> {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            let answers = parse_response(&data).ok()?.id;
            // Whoever could not read the call does not know its id.
            if self.wanted.is_none() || answers.is_none() || answers == self.wanted {
                return Some(data.into());
            }
            self.other.get_or_insert_with(|| data.into());
            return None;
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    fn answer(stream: &str, portion: usize) -> Option<Bytes> {
        let mut events = Events::default();
        stream.as_bytes().chunks(portion).find_map(|part| events.add(part).unwrap())
    }

    #[test]
    fn the_answer_is_found_among_other_events() {
        let note = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
        let question = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        let stream = format!(
            ": hello\r\nid: 1\r\nretry: 5\r\ndata:\r\n\r\nevent: message\r\ndata: {note}\r\n\r\n\
             data: {question}\r\n\r\nevent: message\r\ndata: {ANSWER}\r\n\r\n"
        );
        for portion in [1, 7, 4096] {
            assert_eq!(answer(&stream, portion).as_deref(), Some(ANSWER.as_bytes()));
            assert_eq!(answer(&stream.replace('\r', ""), portion).unwrap(), ANSWER);
        }
        let cut = |stream: &str| {
            let mut events = Events::default();
            assert_eq!(events.add(stream.as_bytes()), Ok(None), "the event has not ended");
            events.end()
        };
        assert_eq!(cut(&format!("data: {ANSWER}\n")).unwrap(), ANSWER);
        assert_eq!(cut(&format!("data: {ANSWER}")).unwrap(), ANSWER);
        assert_eq!(cut(": nothing"), None);
        let two = ANSWER.replacen(',', ",\ndata: ", 1);
        assert_eq!(answer(&format!("data:{two}\n\n"), 9).unwrap(), ANSWER.replacen(',', ",\n", 1));
    }

    #[test]
    fn an_answer_to_something_else_is_passed_over() {
        let other = ANSWER.replace("\"id\":1", "\"id\":2");
        let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#;
        let mut events = Events::after(call);
        assert_eq!(events.add(format!("data: {other}\n\n").as_bytes()), Ok(None));
        let found = events.add(format!("data: {ANSWER}\n\n").as_bytes()).unwrap();
        assert_eq!(found.unwrap(), ANSWER);
        let mut events = Events::after(call);
        assert_eq!(events.add(format!("data: {other}\n\n").as_bytes()), Ok(None));
        assert_eq!(events.end().unwrap(), other, "nothing better came, and its id is told");
    }

    #[test]
    fn a_stream_has_a_limit() {
        let mut events = Events::default();
        let outcome = events.add(&vec![b'x'; ANSWER_BYTES_MAX + 1]);
        assert_eq!(outcome, Err(CallError::TooLarge));
    }
}
