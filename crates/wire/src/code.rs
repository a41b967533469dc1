//! The error catalogue: one row per code. Codes never change their meaning.

use std::fmt;

use crate::dialect::Dialect;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The exchange can go on.
    Medium,
    /// The message or the match is lost.
    High,
    /// Nothing can be exchanged.
    Critical,
}

impl Severity {
    /// The name documents use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Medium => "Medium",
            Self::High => "High",
            Self::Critical => "Critical",
        }
    }
}

/// What the error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// A match and its moves.
    Game,
    /// The form of a message.
    Protocol,
    /// Leagues and their members.
    League,
    /// Connections.
    Network,
    /// Tokens and versions.
    Auth,
}

impl Category {
    /// The name documents use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Game => "Game",
            Self::Protocol => "Protocol",
            Self::League => "League",
            Self::Network => "Network",
            Self::Auth => "Auth",
        }
    }
}

/// Everything the catalogue says about one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The code as written in `error_code`.
    pub code: &'static str,
    /// The name as written in `error_name`.
    pub name: &'static str,
    /// What the error is about.
    pub category: Category,
    /// How bad it is.
    pub severity: Severity,
    /// Whether sending the same again over the network may help.
    pub retryable: bool,
    /// The number in a JSON-RPC `error`.
    pub rpc: i64,
    /// The HTTP status of an answer with this error.
    pub http: u16,
    /// What happened.
    pub description: &'static str,
    /// What whoever caused it can do.
    pub advice: &'static str,
}

macro_rules! catalogue {
    ($($variant:ident $code:literal $name:literal $category:ident $severity:ident
       $retryable:literal $rpc:literal $http:literal $description:literal $advice:literal;)*) => {
        /// A code of the catalogue.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = concat!("`", $code, "`, ", $name, ": ", $description)] $variant,)*
        }

        impl Code {
            /// Every code, in the catalogue's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The catalogue's row.
            pub const fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant => &Row {
                        code: $code,
                        name: $name,
                        category: Category::$category,
                        severity: Severity::$severity,
                        retryable: $retryable,
                        rpc: $rpc,
                        http: $http,
                        description: $description,
                        advice: $advice,
                    },)*
                }
            }
        }
    };
}

catalogue! {
    ParseError "-32700" "PARSE_ERROR" Protocol High false -32700 400
        "The body is not JSON" "Send one JSON document in UTF-8";
    InvalidRequest "-32600" "INVALID_REQUEST" Protocol High false -32600 400
        "The JSON is not a JSON-RPC 2.0 request"
        "Send an object with jsonrpc \"2.0\", method, params and id";
    MethodNotFound "-32601" "METHOD_NOT_FOUND" Protocol High false -32601 200
        "The method does not exist" "Use a method of the protocol";
    InvalidParams "-32602" "INVALID_PARAMS" Protocol High false -32602 200
        "The parameters are not those of the method" "Send params as an object";
    Internal "-32603" "INTERNAL_ERROR" Protocol Critical false -32603 200
        "The receiver failed" "Report it; the fault is not yours";
    E001 "E001" "TIMEOUT_ERROR" Game High true -32001 200
        "Response not received in time" "Answer before the deadline";
    E002 "E002" "INVALID_CHOICE" Game High false -32002 200
        "Parity choice is not \"even\" or \"odd\"" "Answer \"even\" or \"odd\", in lower case";
    E003 "E003" "MISSING_REQUIRED_FIELD" Protocol High false -32003 200
        "Required message field is missing or not as documented"
        "Send the named field in the documented form";
    E004 "E004" "INVALID_PARITY_CHOICE" Game High false -32004 200
        "Choice is not \"even\" or \"odd\", or not a move of the game"
        "Answer \"even\" or \"odd\", in lower case";
    E005 "E005" "PLAYER_NOT_REGISTERED" League High false -32005 200
        "The sender is not registered" "Register first, then use the assigned id as sender";
    E009 "E009" "CONNECTION_ERROR" Network Critical true -32009 200
        "Network connection failed" "Make sure that the endpoint can be reached";
    E011 "E011" "AUTH_TOKEN_MISSING" Auth High false -32011 200
        "Token not provided" "Send the token of your registration as auth_token";
    E012 "E012" "AUTH_TOKEN_INVALID" Auth High false -32012 200
        "Token is invalid or belongs to another agent"
        "Send the token of your own registration in this league";
    E013 "E013" "PLAYER_NOT_FOUND" League High false -32013 200
        "The player asked about does not exist" "Ask about a player of this league";
    E014 "E014" "LEAGUE_NOT_FOUND" League High false -32014 200
        "League does not exist" "Name a league that exists; after registration the one you joined";
    E015 "E015" "MATCH_ID_MISMATCH" Game High false -32015 200
        "Match id does not match the request" "Repeat the match_id of the request";
    E018 "E018" "PROTOCOL_VERSION_MISMATCH" Auth High false -32018 200
        "Unsupported protocol version" "Speak league.v2, version 2.0.0 to 2.1.x";
    E019 "E019" "LATE_REGISTRATION" Auth High false -32019 200
        "Registration after the league has started" "Register for the next league";
    E021 "E021" "INVALID_TIMESTAMP" Protocol Medium false -32021 200
        "Timestamp is not ISO-8601 in UTC" "Write times as 2025-01-15T10:30:00Z";
    E030 "E030" "NOT_YOUR_MATCH" Game High false -32030 200
        "The match is not assigned to the sender, or no longer"
        "Report only matches of your latest assignment and attempt";
    E031 "E031" "RESULT_REFUSED" Game High false -32031 200
        "The result contradicts the rules or the evidence"
        "Report what the rules make of the choices and the draw";
    E032 "E032" "RESULT_CONFLICT" Game High false -32032 200
        "A different result of this match is already recorded"
        "Nothing; the first result stands";
    E033 "E033" "BUSY" Network Medium true -32033 503
        "Too many requests are waiting" "Send the same again a little later";
    L001 "L001" "REGISTRATION_FAILED" League High false -32051 200
        "Registration failed" "Correct what the description names and register again";
    L002 "L002" "LEAGUE_FULL" League High false -32052 200
        "Maximum number of players reached" "Register for another league";
    L003 "L003" "ALREADY_REGISTERED" League High false -32053 200
        "Agent is already registered" "Use the token you have, or register again with it";
    L004 "L004" "NOT_REGISTERED" League High false -32054 200
        "Agent is not registered" "Register first";
    L005 "L005" "INVALID_LEAGUE" League High false -32055 200
        "League not found" "Name a league that exists; after registration the one you joined";
    G001 "G001" "INVALID_MOVE" Game High false -32061 200
        "Invalid move submitted" "Send one of the valid moves";
    G002 "G002" "TIMEOUT" Game High true -32062 200
        "Player timeout" "Answer before the deadline";
    G003 "G003" "GAME_NOT_FOUND" Game High false -32063 200
        "Match does not exist" "Use a match_id of the schedule";
    G004 "G004" "NOT_YOUR_TURN" Game High false -32064 200
        "Move submitted out of turn" "Wait for the request of your move";
    G005 "G005" "GAME_ALREADY_STARTED" Game High false -32065 200
        "Cannot join a started game" "Accept invitations before they run out";
}

impl Code {
    /// The code as written in `error_code`.
    pub const fn as_str(self) -> &'static str {
        self.row().code
    }

    /// The name as written in `error_name`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The code under which `dialect` tells it: document 004 has few, and some of its own.
    #[must_use]
    pub const fn told(self, dialect: Dialect) -> Self {
        if !matches!(dialect, Dialect::Payload) {
            return self;
        }
        match self {
            Self::E001 => Self::G002,
            Self::E002 | Self::E004 => Self::G001,
            Self::E005 | Self::E013 => Self::L004,
            Self::E014 => Self::L005,
            Self::E015 => Self::G003,
            Self::E018 | Self::E019 => Self::L001,
            Self::ParseError | Self::InvalidRequest | Self::MethodNotFound => self,
            Self::InvalidParams | Self::Internal => self,
            Self::E003 | Self::E009 | Self::E011 | Self::E012 | Self::E021 => self,
            Self::E030 | Self::E031 | Self::E032 | Self::E033 => self,
            Self::L001 | Self::L002 | Self::L003 | Self::L004 | Self::L005 => self,
            Self::G001 | Self::G002 | Self::G003 | Self::G004 | Self::G005 => self,
        }
    }

    /// The code written as `text`.
    pub fn find(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    // req: ERR-1
    #[test]
    fn the_catalogue_is_complete_and_has_no_duplicates() {
        let expected = [
            "E001", "E002", "E003", "E004", "E005", "E009", "E011", "E012", "E013", "E014", "E015",
            "E018", "E019", "E021", "L001", "L002", "L003", "L004", "L005", "G001", "G002", "G003",
            "G004", "G005", "E030", "E031", "E032", "E033",
        ];
        for code in expected {
            assert_eq!(Code::find(code).map(Code::as_str), Some(code));
        }
        assert_eq!(Code::ALL.len(), expected.len() + 5);
        let distinct = |of: fn(&Row) -> String| {
            Code::ALL.iter().map(|code| of(code.row())).collect::<BTreeSet<_>>().len()
        };
        assert_eq!(distinct(|row| row.code.into()), Code::ALL.len());
        assert_eq!(distinct(|row| row.name.into()), Code::ALL.len());
        assert_eq!(distinct(|row| row.rpc.to_string()), Code::ALL.len());
    }

    #[test]
    fn numbers_follow_from_codes() {
        for code in Code::ALL {
            let row = code.row();
            let number = |text: &str| text.parse::<i64>().unwrap();
            let expected = match row.code.split_at(1) {
                ("E", n) => -32000 - number(n),
                ("L", n) => -32050 - number(n),
                ("G", n) => -32060 - number(n),
                _ => number(row.code),
            };
            assert_eq!(row.rpc, expected, "{code}");
        }
    }

    // req: ERR-3
    #[test]
    fn of_the_documents_codes_only_timeouts_and_connections_are_retried() {
        let retried: Vec<_> = Code::ALL
            .iter()
            .filter(|code| code.row().retryable)
            .map(|code| code.as_str())
            .collect();
        assert_eq!(retried, ["E001", "E009", "E033", "G002"]);
    }
}
