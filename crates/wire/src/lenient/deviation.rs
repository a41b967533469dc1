//! What was not as it should be in a message that was understood, and what to change.

use std::fmt;

use crate::limits::DEVIATIONS_MAX;

macro_rules! slips {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $what:literal, $fix:literal;)*) => {
        /// A way in which a message differs from what the documents say. The names are for ever.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Slip {
            $($(#[$doc])* $variant,)*
        }

        impl Slip {
            /// Every one.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name under which it is counted and shown.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// What it is, for people.
            pub const fn what(self) -> &'static str {
                match self {
                    $(Self::$variant => $what,)*
                }
            }

            /// What to change, where nothing more exact is known.
            pub const fn fix(self) -> &'static str {
                match self {
                    $(Self::$variant => $fix,)*
                }
            }
        }
    };
}

slips! {
    /// Fields of the envelope are missing in a registration.
    BareRegistration = "bare_registration",
        "a registration without some or all fields of the envelope",
        "add `protocol`, `message_type`, `sender`, `timestamp` and `conversation_id`";
    /// A time ends in two time zones.
    TwoTimeZones = "two_time_zones",
        "a time that ends in `+00:00Z`",
        "end the time with either `Z` or `+00:00`, not both";
    /// There is an empty error beside the result.
    ErrorBesideResult = "error_beside_result",
        "`\"error\": null` beside a result",
        "leave `error` out of a response that has a `result`";
    /// The answer is a request.
    ReplyAsRequest = "reply_as_request",
        "an answer with `method` and `params`, as a request has them",
        "answer with `{\"jsonrpc\": \"2.0\", \"result\": {…}, \"id\": <the request's>}`";
    /// The answer has no JSON-RPC around it.
    ReplyWithoutFrame = "reply_without_frame",
        "an answer that is the message itself, without JSON-RPC around it",
        "put the message into `result` of a JSON-RPC response";
    /// The answer has another id than the request.
    ReplyId = "reply_id",
        "an answer whose `id` is not the request's",
        "repeat the request's `id` in the response";
    /// The answer lacks what it should say about itself.
    BareReply = "bare_reply",
        "an answer without some or all fields of the envelope",
        "add `protocol`, `message_type`, `sender`, `timestamp` and `conversation_id`";
    /// The message stands inside another object.
    Nested = "nested",
        "a message, or a part of it, one level too deep, such as in `response`, `data` or `payload`",
        "move the fields one level up";
    /// A field stands in another place.
    Misplaced = "misplaced",
        "fields in the wrong object, such as a registration without `player_meta`",
        "move the fields to where the document has them";
    /// A field has another name.
    Renamed = "renamed",
        "a field under another name or in other letters, such as `endpoint` or `matchId`",
        "use the document's name";
    /// The message type is spelled in another way.
    TypeName = "type_name",
        "a message type in other words, such as `REGISTER_PLAYER_REQUEST`",
        "use the document's message type";
    /// The method of a request is spelled in another way.
    MethodName = "method_name",
        "a method in other words, such as `player_register`",
        "call the document's method";
    /// The agent takes our calls only under other methods.
    OwnMethod = "own_method",
        "an agent that knows a call only by a name of its own, such as `parity_choose`",
        "take the call under the document's method";
    /// An answer shows a token that is not its sender's.
    ForeignToken = "foreign_token",
        "a made-up or foreign token in an answer on our connection",
        "show your own token, or leave `auth_token` out of answers";
    /// A result with the HTTP status of an error.
    HttpStatus = "http_status",
        "a JSON-RPC result with an HTTP status of 400 or more",
        "answer with HTTP status 200";
    /// The endpoint sends us to the same path with a slash.
    Redirect = "redirect",
        "a redirect from `/mcp` to `/mcp/`",
        "take calls at `/mcp` itself, or register the address with the slash";
    /// A registration that is no JSON-RPC.
    PlainRegister = "plain_register",
        "a registration by a plain `POST /register`",
        "post the JSON-RPC request `register_player` to `/mcp`";
    /// The agent wants to be greeted before it takes calls.
    InitializeFirst = "initialize_first",
        "an agent that takes calls only after the Model Context Protocol's `initialize`",
        "take league calls without `initialize`, or register with the dialect `tool`";
}

impl Slip {
    /// The one called `name`.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|slip| slip.name() == name)
    }

    /// This one, in what stands at `at`.
    pub fn at(self, at: impl Into<String>) -> Deviation {
        Deviation { slip: self, at: at.into(), fix: self.fix().into() }
    }
}

impl fmt::Display for Slip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One thing in a message that is not as it should be. Its texts contain names and never values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deviation {
    /// What kind of thing.
    pub slip: Slip,
    /// Where it is, such as `result.data`.
    pub at: String,
    /// What to change.
    pub fix: String,
}

impl Deviation {
    /// An answer on our connection shows a token that is not its sender's.
    pub fn foreign_token() -> Self {
        Slip::ForeignToken.at("result.auth_token")
    }

    /// The same with more exact advice.
    pub(crate) fn fixed_by(self, fix: String) -> Self {
        Self { fix, ..self }
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at `{}`: {}", self.slip, self.at, self.fix)
    }
}

/// The deviations of one message, of which only the first are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deviations(Vec<Deviation>);

impl Deviations {
    /// Notes one more; the same one is noted once.
    pub fn note(&mut self, deviation: Deviation) {
        if self.0.len() < DEVIATIONS_MAX && !self.0.contains(&deviation) {
            self.0.push(deviation);
        }
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Deviation> {
        self.0.iter()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What to change, in one sentence.
    pub fn advice(&self) -> String {
        let fixes: Vec<&str> = self.0.iter().map(|deviation| &*deviation.fix).collect();
        fixes.join("; ")
    }
}

impl<'a> IntoIterator for &'a Deviations {
    type Item = &'a Deviation;
    type IntoIter = std::slice::Iter<'a, Deviation>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
