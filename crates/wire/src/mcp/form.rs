//! Whether a request of the Model Context Protocol has the form that its method wants. Whoever
//! makes a mistake is told which, under the id of its request.

use std::borrow::Cow;

use crate::code::Code;
use crate::decode::DecodeError;
use crate::fields::Fields;
use crate::frame::{Id, Request, write_error};
use crate::message::CALL_TOOL;

/// What is wrong with the form of a request.
#[derive(Debug)]
pub struct Malformed<'a> {
    id: Option<&'a Id>,
    code: Code,
    text: String,
}

impl<'a> Malformed<'a> {
    /// What is wrong with `request`; nothing if it is well formed, or nobody waits for an answer.
    pub fn of(request: &'a Request<'_>) -> Option<Self> {
        let id = request.id.as_ref()?;
        if !is_usable(id) {
            let text = format!("id: expected a text or a whole number, got {}", id.as_json());
            return Some(Self { id: Some(id), code: Code::InvalidRequest, text });
        }
        let error = check(request).err()?;
        Some(Self { id: Some(id), code: Code::InvalidParams, text: error.to_string() })
    }

    /// A request of which no more can be said than that it is none.
    pub fn beyond_words(request: &'a Request<'_>) -> Self {
        let text = format!("this is no request {:?} of the Model Context Protocol", request.method);
        Self { id: request.id.as_ref(), code: Code::InvalidRequest, text }
    }

    /// The HTTP status that goes with it.
    pub fn status(&self) -> u16 {
        self.code.row().http
    }

    /// The JSON-RPC answer.
    pub fn answer(&self) -> Vec<u8> {
        let row = self.code.row();
        write_error(self.id, row.rpc, &format!("{}: {}", row.description, self.text), &[])
    }
}

/// The protocol knows texts and whole numbers.
fn is_usable(id: &Id) -> bool {
    let json = id.as_json();
    json.starts_with('"') || json.parse::<i64>().is_ok()
}

/// What each method cannot do without.
fn check(request: &Request<'_>) -> Result<(), DecodeError> {
    let fields = match request.params {
        Some(params) => Some(Fields::read("params", params)?),
        None => None,
    };
    let text = |name: &'static str| -> Result<(), DecodeError> {
        let fields = fields.as_ref().ok_or_else(|| DecodeError::missing("params", "an object"))?;
        fields.required::<Cow<'_, str>>(name).map(drop)
    };
    match &*request.method {
        "initialize" => {
            text("protocolVersion")?;
            let fields = fields.as_ref().expect("the version was in it");
            object(fields, ("capabilities", "params.capabilities"))?;
            let about = object(fields, ("clientInfo", "params.clientInfo"))?;
            about.required::<Cow<'_, str>>("name")?;
            about.required::<Cow<'_, str>>("version").map(drop)
        }
        CALL_TOOL | "prompts/get" => text("name"),
        "resources/read" => text("uri"),
        _ => Ok(()),
    }
}

/// The object `name` of `fields`, which stands at `at`.
fn object<'f>(
    fields: &'f Fields<'_>,
    (name, at): (&'static str, &'static str),
) -> Result<Fields<'f>, DecodeError> {
    fields.raw(name)?.ok_or_else(|| fields.missing(name, "an object"))?.inner(at)
}
