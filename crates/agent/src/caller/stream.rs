//! Answers that come as a stream of events: the one that answers the call is looked for, and the
//! others are passed over.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use league_wire::frame::parse_response;

use super::{CallError, judge};
use crate::limits::{ANSWER_BYTES_MAX, STREAM_END_WAIT};

/// Whether an answer is a stream of events.
pub(super) fn is_stream(response: &Response<Incoming>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Reads events until one is a JSON-RPC response; an empty body if there is none.
pub(super) async fn read(mut body: Incoming) -> Result<Bytes, CallError> {
    let mut events = Events::default();
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
    /// The line that has not ended.
    line: Vec<u8>,
    /// The data of the event that has not ended.
    data: Vec<u8>,
    /// How much has come.
    bytes: usize,
}

impl Events {
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
        self.take(&line).or_else(|| self.take(b""))
    }

    /// Takes a line; an empty one ends an event.
    fn take(&mut self, line: &[u8]) -> Option<Bytes> {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return parse_response(&data).is_ok().then(|| data.into());
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
    fn a_stream_has_a_limit() {
        let mut events = Events::default();
        let outcome = events.add(&vec![b'x'; ANSWER_BYTES_MAX + 1]);
        assert_eq!(outcome, Err(CallError::TooLarge));
    }
}
