//! Which shape an agent answers to, where it is not the one it registered with. Many register in
//! one and listen in another; what they answer to the wrong one shows that nothing was done.

use league_wire::dialect::{FRAMES, tool_error};
use league_wire::frame::{Outcome, RpcError, parse_response};
use league_wire::{Code, Dialect};

use crate::caller::Answered;

/// Every shape, the likeliest first.
const LIKELY: [Dialect; 7] = [
    Dialect::Flat,
    Dialect::Typed,
    Dialect::Tool,
    Dialect::Wrapped,
    Dialect::Enveloped,
    Dialect::Payload,
    Dialect::V21,
];

/// The shapes to try when `first` was not understood, the likeliest first.
pub fn others(first: Dialect) -> impl Iterator<Item = Dialect> {
    LIKELY.into_iter().filter(move |dialect| *dialect != first)
}

/// Whether an answer proves that the call was not understood, and so was not carried out either.
pub fn is_misunderstood(answered: &Answered) -> bool {
    let Ok(response) = parse_response(&answered.body) else {
        return is_no_place(answered.status);
    };
    match response.outcome {
        Outcome::Error(error) => is_unheard_of(&error),
        Outcome::Result(result) => {
            tool_error(result).is_some_and(|error| is_unknown_tool(&error.message))
        }
    }
}

/// Whether an answer says that there is no such call. Other shapes of it may be known all the same.
pub fn is_unknown_call(answered: &Answered) -> bool {
    match parse_response(&answered.body).map(|response| response.outcome) {
        Ok(Outcome::Error(error)) => is_no_method(&error),
        Ok(Outcome::Result(_)) => false,
        Err(_) => is_no_place(answered.status),
    }
}

/// Whether a call failed because its receiver has no such method.
pub fn is_no_method(error: &RpcError<'_>) -> bool {
    error.code == Code::MethodNotFound.row().rpc
}

/// Whether a status says that nobody takes calls there.
pub const fn is_no_place(status: u16) -> bool {
    matches!(status, 404 | 405)
}

/// A field that is missing proves something if it is one that a shape is made of: whoever looks for
/// another one has understood so much that it may have begun.
fn is_unheard_of(error: &RpcError<'_>) -> bool {
    let is = |code: Code| error.code == code.row().rpc;
    if is(Code::InvalidParams) || is(Code::E003) {
        let lower = error.message.to_ascii_lowercase();
        let is_missing = lower.contains("missing") || lower.contains("required");
        return is_missing && names_a_frame(&lower) || is_unknown_tool(&lower);
    }
    is_no_method(error) || is(Code::InvalidRequest)
}

fn names_a_frame(message: &str) -> bool {
    let mut words = message.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.any(|word| FRAMES.contains(&word))
}

fn is_unknown_tool(message: &str) -> bool {
    message.to_ascii_lowercase().contains("unknown tool")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_misunderstood_as(status: u16, body: &'static str) -> bool {
        is_misunderstood(&Answered {
            status,
            body: body.into(),
            retry_after: None,
            redirected: false,
            greeted: false,
        })
    }

    #[test]
    fn every_shape_is_tried_once() {
        let mut tried: Vec<_> = others(Dialect::Enveloped).collect();
        assert_eq!(tried[..2], [Dialect::Flat, Dialect::Typed]);
        tried.push(Dialect::Enveloped);
        tried.sort_by_key(|dialect| dialect.name());
        tried.dedup();
        assert_eq!(tried.len(), Dialect::ALL.len());
    }

    #[test]
    fn only_what_shows_that_nothing_was_done_leads_to_another_shape() {
        for (status, body) in [
            (200, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#),
            (400, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}"#),
            (
                200,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Missing envelope"}}"#,
            ),
            (
                200,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: x"}}"#,
            ),
            (
                200,
                r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Unknown tool: x"}],"isError":true}}"#,
            ),
            (404, "not found"),
            (405, ""),
        ] {
            assert!(is_misunderstood_as(status, body), "{body}");
        }
        for (status, body) in [
            (200, r#"{"jsonrpc":"2.0","id":1,"result":{"choice":"even"}}"#),
            (200, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad choice"}}"#),
            (
                200,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"a path is required"}}"#,
            ),
            (404, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32063,"message":"no match"}}"#),
            (500, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"missing"}}"#),
            (500, "Internal Server Error"),
            (200, "not found"),
        ] {
            assert!(!is_misunderstood_as(status, body), "{body}");
        }
    }

    #[test]
    fn a_call_that_is_unknown_is_told_from_one_that_fails() {
        let is_unknown = |status, body: &'static str| {
            is_unknown_call(&Answered {
                status,
                body: body.into(),
                retry_after: None,
                redirected: false,
                greeted: false,
            })
        };
        let no_method = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#;
        assert!(is_unknown(200, no_method) && is_unknown(404, "not found"));
        let invalid = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        for (status, body) in [(404, invalid), (404, result), (500, "oops"), (200, "")] {
            assert!(!is_unknown(status, body), "{body}");
        }
    }
}
