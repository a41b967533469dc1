//! Writing messages in a dialect.

use super::{Dialect, Letter, tool};
use crate::code::Code;
use crate::envelope;
use crate::frame::{self, Id};
use crate::message::ErrorReport;
use crate::write::Object;

/// The request that sends `letter`.
pub fn encode_request(dialect: Dialect, id: u64, letter: &Letter) -> Vec<u8> {
    let kind = letter.message.kind();
    frame::write_request(id, kind.method(dialect), |out| match dialect {
        Dialect::Flat | Dialect::Typed | Dialect::V21 | Dialect::Enveloped => {
            write(dialect, letter, true, out);
        }
        Dialect::Tool => {
            let name = kind.method(dialect.carried());
            tool::write_call(out, name, |out| write(dialect, letter, true, out));
        }
        Dialect::Wrapped => {
            out.extend_from_slice(b"{\"message\":");
            write(dialect, letter, true, out);
            out.push(b'}');
        }
    })
}

/// The response whose result is `letter`.
pub fn encode_result(dialect: Dialect, id: &Id, letter: &Letter) -> Vec<u8> {
    frame::write_result(id, |out| match dialect {
        Dialect::Flat | Dialect::Typed | Dialect::V21 | Dialect::Enveloped | Dialect::Wrapped => {
            write(dialect, letter, false, out)
        }
        Dialect::Tool => {
            let mut answer = Vec::with_capacity(512);
            write(dialect, letter, false, &mut answer);
            tool::write_answer(out, &answer);
        }
    })
}

/// The response whose error has `letter`, a LEAGUE_ERROR or GAME_ERROR, as its data.
pub fn encode_error(dialect: Dialect, id: Option<&Id>, letter: &Letter) -> Vec<u8> {
    let report = letter.message.error();
    let code = report.and_then(|report| report.code.known()).unwrap_or(Code::Internal);
    let message = report.map_or_else(|| code.row().description, ErrorReport::headline);
    let mut data = Vec::with_capacity(512);
    write(dialect, letter, false, &mut data);
    frame::write_error(id, code.row().rpc, message, &data)
}

fn write(dialect: Dialect, letter: &Letter, asks: bool, out: &mut Vec<u8>) {
    Object::write_message(dialect.carried(), out, |o| {
        envelope::write(&letter.envelope, letter.message.kind(), asks, o);
        letter.message.write(o);
    });
}
