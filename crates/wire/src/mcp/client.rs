//! Talking to an agent that is a server of the Model Context Protocol: the greeting that some of
//! them demand, and arguments that fit what their tools say they take.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::fields::Fields;
use crate::frame::{Incoming, Outcome, parse, parse_response, write_request};
use crate::json::Json;
use crate::limits::TOOLS_MAX;
use crate::message::CALL_TOOL;
use crate::value::Emit;
use crate::write::Object;

/// The version of the Model Context Protocol in which we greet: the newest that has a greeting.
pub const VERSION: &str = "2025-11-25";

/// What follows the greeting.
pub const GREETED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The request that greets; `name` and `version` say who we are.
pub fn greeting(id: u64, name: &str, version: &str) -> Vec<u8> {
    write_request(id, "initialize", 0, |out| {
        Object::write(out, |o| {
            o.field("protocolVersion", VERSION);
            o.object("capabilities", |_| {});
            o.object("clientInfo", |o| {
                o.field("name", name);
                o.field("version", version);
            });
        });
    })
}

/// The version in which a greeting was answered; `None` if it was not answered as one.
pub fn greeted_in(body: &[u8]) -> Option<String> {
    let fields = Fields::read("result", result_of(body)?).ok()?;
    fields.required("protocolVersion").ok()
}

/// The request that asks for the tools.
pub fn list_tools(id: u64) -> Vec<u8> {
    write_request(id, "tools/list", 0, |out| out.extend_from_slice(b"{}"))
}

fn result_of(body: &[u8]) -> Option<Json<'_>> {
    match parse_response(body).ok()?.outcome {
        Outcome::Result(result) => Some(result),
        Outcome::Error(_) => None,
    }
}

/// What an agent's tools take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toolbox(BTreeMap<String, Shelf>);

/// The arguments of a tool that takes no others.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shelf {
    names: Vec<String>,
    /// The only argument, if it is an object: it holds the whole message.
    whole: Option<String>,
}

impl Toolbox {
    /// Reads what the tools were listed with; an empty one if that cannot be read.
    pub fn read(body: &[u8]) -> Self {
        let fields = result_of(body).and_then(|result| Fields::read("result", result).ok());
        let tools = fields.and_then(|fields| fields.objects("tools", Shelf::read).ok().flatten());
        let tools = tools.into_iter().flatten().take(TOOLS_MAX);
        Self(tools.filter_map(|(name, shelf)| Some((name, shelf?))).collect())
    }

    /// The body of a call of a tool with only those arguments that the tool takes; `None` if it can
    /// stay as it is.
    pub fn fit(&self, body: &[u8]) -> Option<Vec<u8>> {
        let Incoming::Single(Ok(request)) = parse(body) else { return None };
        if request.method != CALL_TOOL {
            return None;
        }
        let params = Fields::read("params", request.params?).ok()?;
        let name: Cow<'_, str> = params.required("name").ok()?;
        let shelf = self.0.get(&*name)?;
        let arguments = params.raw("arguments").ok()??;
        let id = request.id?.as_json().parse().ok()?;
        let kept = shelf.kept(arguments.inner("params.arguments").ok()?, arguments.value());
        Some(write_request(id, CALL_TOOL, 0, |out| {
            out.extend_from_slice(b"{\"name\":");
            name.emit(out);
            out.extend_from_slice(b",\"arguments\":");
            out.extend_from_slice(&kept);
            out.push(b'}');
        }))
    }
}

impl Shelf {
    /// A tool's name, and what it takes if it says so.
    fn read(tool: &Fields<'_>) -> Result<(String, Option<Self>), crate::DecodeError> {
        let shelf = tool.optional_object("inputSchema", |schema| {
            let is_open = schema.raw("additionalProperties")?.map(|more| more.value());
            if is_open.is_some_and(|more| !matches!(more.get(), "false" | "null")) {
                return Ok(None);
            }
            schema.optional_object("properties", |properties| {
                let names: Vec<String> = properties.names().map(Cow::into_owned).collect();
                let whole = match &names[..] {
                    [only] => properties.optional_object(only, |only| {
                        Ok(only.optional::<Cow<'_, str>>("type")?.is_some_and(|it| it == "object"))
                    })?,
                    _ => None,
                };
                let whole = names.first().filter(|_| whole == Some(true)).cloned();
                Ok(Self { names, whole })
            })
        })?;
        Ok((tool.required("name")?, shelf.flatten()))
    }

    /// Of the arguments, which are the object `json`, those that the tool takes.
    fn kept(&self, arguments: Fields<'_>, json: Json<'_>) -> Vec<u8> {
        let mut out = Vec::with_capacity(json.get().len());
        let mut write = |name: &str, value: &str| {
            out.push(if out.is_empty() { b'{' } else { b',' });
            name.emit(&mut out);
            out.push(b':');
            out.extend_from_slice(value.as_bytes());
        };
        match &self.whole {
            Some(whole) if !arguments.has(whole) => write(whole, json.get()),
            Some(_) | None => {
                for name in &self.names {
                    if let Ok(Some(found)) = arguments.raw(name) {
                        write(name, found.value().get());
                    }
                }
            }
        }
        if out.is_empty() {
            out.push(b'{');
        }
        out.push(b'}');
        out
    }
}
