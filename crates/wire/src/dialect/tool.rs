//! Tools: a call names its tool, and what the tool answers stands in one of three places.

use std::borrow::Cow;

use super::read;
use crate::code::Code;
use crate::decode::{DecodeError, render_text};
use crate::fields::Fields;
use crate::json::Json;
use crate::message::{ErrorReport, MessageType};
use crate::value::Emit;

/// Why a tool did nothing, as it says itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// Its sentence.
    pub message: String,
    /// The protocol's error, if it sent one.
    pub report: Option<Box<ErrorReport>>,
}

const STRUCTURED: &str = "structuredContent";
const TEXT_AT: &str = "result.content[0].text";
const ARGUMENTS: &str = "arguments";

/// The message that the tool called in `params` is for, and its fields.
pub(super) fn called<'a>(params: &'a Fields<'_>) -> Result<(MessageType, Fields<'a>), DecodeError> {
    let name: Cow<'_, str> = params.required("name")?;
    let (kind, _) = MessageType::by_method(&name).ok_or_else(|| {
        let expected = "a method of league.v2 such as \"choose_parity\"";
        DecodeError::wrong(Code::InvalidParams, "params.name", expected, render_text(&name))
    })?;
    Ok((kind, read::part(params, ARGUMENTS, "params.arguments")?))
}

/// Writes the parameters that call the tool `name` with the object that `arguments` writes.
pub(super) fn write_call(out: &mut Vec<u8>, name: &str, arguments: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b"{\"name\":");
    name.emit(out);
    out.extend_from_slice(b",\"arguments\":");
    arguments(out);
    out.push(b'}');
}

/// Writes the answer of a tool, which is the object `json`.
pub(super) fn write_answer(out: &mut Vec<u8>, json: &[u8]) {
    let text = std::str::from_utf8(json).expect("the writer writes text");
    out.extend_from_slice(b"{\"content\":[{\"type\":\"text\",\"text\":");
    text.emit(out);
    out.extend_from_slice(b"}],\"structuredContent\":");
    out.extend_from_slice(json);
    out.extend_from_slice(b",\"isError\":false}");
}

/// Reads with `read` what a tool answered, and from where.
pub(super) fn open<T>(
    result: Json<'_>,
    read: impl FnOnce(&'static str, Json<'_>) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    let outer = Fields::read("result", result).map_err(DecodeError::for_receipt)?;
    // What may have failed is no answer.
    outer.optional::<bool>("isError")?;
    if let Some(found) = structured(&outer)? {
        return read("result.structuredContent", found);
    }
    let Some(text) = first_text(&outer).map_err(DecodeError::for_receipt)? else {
        return read("result", result);
    };
    match Json::parse(&text) {
        Ok(json) => read(TEXT_AT, json),
        Err(_) => {
            let expected = "a message of league.v2 as JSON";
            let error = DecodeError::wrong(Code::E003, TEXT_AT, expected, render_text(&text));
            Err(error.for_receipt())
        }
    }
}

/// What a tool says that failed; `None` if it did not.
pub fn tool_error(result: Json<'_>) -> Option<ToolError> {
    let outer = Fields::read("result", result).ok()?;
    outer.optional::<bool>("isError").ok()?.filter(|failed| *failed)?;
    let message = first_text(&outer).ok().flatten();
    let message = message.unwrap_or_else(|| "the tool failed".into());
    let report = open(result, |_, json| read::decode_error(json)).ok().map(Box::new);
    Some(ToolError { message, report })
}

fn structured<'a>(outer: &Fields<'a>) -> Result<Option<Json<'a>>, DecodeError> {
    let found = outer.raw(STRUCTURED)?.map(|found| found.value());
    Ok(found.filter(|value| !value.is_null()))
}

fn first_text(outer: &Fields<'_>) -> Result<Option<String>, DecodeError> {
    let text = |f: &Fields<'_>| Ok(f.optional::<Cow<'_, str>>("text")?.map(Cow::into_owned));
    let texts = outer.objects("content", text)?.unwrap_or_default();
    Ok(texts.into_iter().next().flatten())
}
