//! What travels in the simulated world: the meaning of every message, without any spelling.

use std::fmt;
use std::sync::Arc;

use league_core::conduct::Conduct;
use league_core::game::Game;
use league_core::id::{AgentId, ConversationId, MatchId, PlayerId};
use league_core::manager::{self, Play, Profile};
use league_core::policy::Policy;
use league_core::proof::TokenHash;
use league_core::seat::{Seat, Seats};
use league_core::verdict::Verdict;

/// Somebody who sends and receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Node {
    /// The league manager.
    Manager,
    /// A referee, by its place in the plan.
    Referee(usize),
    /// A player, by its place in the plan.
    Player(usize),
    /// Who starts the league.
    Administrator,
    /// An outsider who sends what is not true.
    Forger,
}

impl Node {
    /// Where it is called after it has moved so many times.
    pub(crate) fn endpoint(self, moves: u32) -> Arc<str> {
        format!("http://{self}.{moves}.sim/mcp").into()
    }

    /// Who is called there.
    pub(crate) fn at(endpoint: &str) -> Option<Self> {
        let (name, _) = endpoint.strip_prefix("http://")?.split_once('.')?;
        let number = |digits: &str| digits.parse().ok();
        match name.split_at_checked(1)? {
            ("r", digits) => number(digits).map(Self::Referee),
            ("p", digits) => number(digits).map(Self::Player),
            _ => None,
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manager => f.write_str("manager"),
            Self::Referee(index) => write!(f, "r{index}"),
            Self::Player(index) => write!(f, "p{index}"),
            Self::Administrator => f.write_str("administrator"),
            Self::Forger => f.write_str("forger"),
        }
    }
}

/// One way of a call.
#[derive(Debug, Clone)]
pub(crate) struct Packet {
    pub(crate) from: Node,
    pub(crate) to: Node,
    /// The caller's number for the call.
    pub(crate) call: u64,
    pub(crate) leg: Leg,
    pub(crate) letter: Letter,
}

/// There and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leg {
    Request,
    Reply,
}

/// A message with who says it and how that is proved.
#[derive(Debug, Clone)]
pub(crate) struct Letter {
    pub(crate) sender: Option<AgentId>,
    pub(crate) token: Option<Arc<str>>,
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) body: Body,
}

impl Letter {
    /// A message that proves nothing.
    pub(crate) const fn bare(body: Body) -> Self {
        Self { sender: None, token: None, conversation: None, body }
    }
}

/// What is said.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    Register(Box<Application>),
    Registered {
        agent: AgentId,
        token: Arc<str>,
    },
    StartLeague,
    Administer(manager::Order),
    /// A match waits for the administrator.
    Stuck {
        match_id: MatchId,
    },
    Report(Box<Claim>),
    Recorded {
        match_id: MatchId,
    },
    Progress {
        match_id: MatchId,
        attempt: u32,
        annulled: Option<Arc<str>>,
    },
    Held {
        match_id: MatchId,
        attempt: u32,
        held: bool,
    },
    Order(Arc<Order>),
    /// Is anybody there?
    Probe,
    News(News),
    Invite {
        match_id: MatchId,
        attempt: u32,
    },
    Join {
        match_id: MatchId,
        accept: bool,
    },
    Ask {
        match_id: MatchId,
        attempt: u32,
        window: u32,
    },
    Choice {
        match_id: MatchId,
        chosen: Chosen,
    },
    Trouble {
        match_id: MatchId,
        shows: Option<Arc<str>>,
    },
    Over {
        match_id: MatchId,
        verdict: Verdict,
        seed: Option<Arc<str>>,
    },
    /// Said beside the protocol.
    Aside(Aside),
    /// Heard; an answer, if there is one, comes as a call of its own.
    Noted,
    /// Nothing that can be read.
    Noise,
    Denied(Denial),
}

/// What the administrator and the agents tell each other beside the protocol.
#[derive(Debug, Clone)]
pub(crate) enum Aside {
    /// The new token of an agent, which was printed for the administrator to hand over.
    NewToken { agent: AgentId, node: Node, token: Arc<str> },
    /// Its place is let go: it may register again without its token.
    PlaceFree,
    /// Its token does not work.
    TokenLost { agent: AgentId },
}

/// Why a request was not granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denial {
    /// Never, however often it is asked.
    Final,
    /// The credential is not that of the sender.
    Unproved,
    /// Perhaps later.
    Busy,
}

/// What the manager tells everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    Round(u32),
    RoundOver(u32),
    Standings,
    Completed,
    Suspended,
    Recovered,
    ShutDown,
}

/// A registration.
#[derive(Debug, Clone)]
pub(crate) struct Application {
    pub(crate) profile: Profile,
    /// How many matches at once, if it is a referee.
    pub(crate) capacity: Option<u32>,
    pub(crate) join_key: Option<Arc<str>>,
}

/// The order to play a match.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) match_id: MatchId,
    pub(crate) attempt: u32,
    pub(crate) rematch: u32,
    pub(crate) game: Arc<dyn Game>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) players: Seats<Invited>,
    pub(crate) seed: Option<Arc<str>>,
}

/// A player as its referee knows it.
#[derive(Debug, Clone)]
pub(crate) struct Invited {
    pub(crate) id: PlayerId,
    pub(crate) node: Node,
    pub(crate) match_proof: Arc<str>,
    pub(crate) reply_proof: Arc<str>,
    pub(crate) token_hash: TokenHash,
}

/// A choice as its player sends it.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    pub(crate) word: Arc<str>,
    pub(crate) nonce: Option<Arc<str>>,
    pub(crate) proof: Option<Arc<str>>,
}

/// What a referee says about a match.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) match_id: MatchId,
    pub(crate) attempt: Option<u32>,
    pub(crate) conversation: ConversationId,
    pub(crate) verdict: Verdict,
    pub(crate) points: Seats<Option<u32>>,
    pub(crate) play: Play,
    pub(crate) reason: Arc<str>,
    pub(crate) conduct: Seats<Conduct>,
}

impl Packet {
    /// Every credential and secret that whoever gets the packet can read.
    pub(crate) fn secrets(&self) -> Vec<&Arc<str>> {
        let mut found: Vec<&Arc<str>> = self.letter.token.iter().collect();
        match &self.letter.body {
            Body::Register(application) => found.extend(&application.join_key),
            Body::Registered { token, .. } | Body::Aside(Aside::NewToken { token, .. }) => {
                found.push(token);
            }
            Body::Order(order) => {
                for seat in Seat::BOTH {
                    let player = &order.players[seat];
                    found.extend([&player.match_proof, &player.reply_proof]);
                }
                found.extend(&order.seed);
            }
            Body::Over { seed, .. } => found.extend(seed),
            Body::StartLeague
            | Body::Administer(_)
            | Body::Stuck { .. }
            | Body::Report(_)
            | Body::Recorded { .. }
            | Body::Progress { .. }
            | Body::Held { .. }
            | Body::Probe
            | Body::News(_)
            | Body::Invite { .. }
            | Body::Join { .. }
            | Body::Ask { .. }
            | Body::Choice { .. }
            | Body::Trouble { .. }
            | Body::Aside(Aside::PlaceFree | Aside::TokenLost { .. })
            | Body::Noted
            | Body::Noise
            | Body::Denied(_) => {}
        }
        found
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = match self.leg {
            Leg::Request => "->",
            Leg::Reply => "=>",
        };
        write!(f, "{} {arrow} {} #{} {}", self.from, self.to, self.call, self.letter.body)
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register(application) => {
                let kind = if application.capacity.is_some() { "referee" } else { "player" };
                write!(f, "register {kind}")
            }
            Self::Registered { agent, .. } => write!(f, "registered {agent}"),
            Self::StartLeague => f.write_str("start league"),
            Self::Administer(order) => write!(f, "administer {order:?}"),
            Self::Stuck { match_id } => write!(f, "stuck {match_id}"),
            Self::Report(claim) => {
                write!(f, "report {} {:?}", claim.match_id, claim.verdict)
            }
            Self::Recorded { match_id } => write!(f, "recorded {match_id}"),
            Self::Progress { match_id, attempt, annulled } => {
                write!(f, "progress {match_id} attempt {attempt}")?;
                annulled.as_ref().map_or(Ok(()), |reason| write!(f, " annulled: {reason}"))
            }
            Self::Held { match_id, attempt, held } => {
                write!(f, "{} {match_id} attempt {attempt}", if *held { "held" } else { "lost" })
            }
            Self::Order(order) => write!(f, "order {} attempt {}", order.match_id, order.attempt),
            Self::Probe => f.write_str("probe"),
            Self::News(news) => write!(f, "news {news:?}"),
            Self::Invite { match_id, attempt } => write!(f, "invite {match_id} attempt {attempt}"),
            Self::Join { match_id, accept: true } => write!(f, "join {match_id}"),
            Self::Join { match_id, accept: false } => write!(f, "refuse {match_id}"),
            Self::Ask { match_id, attempt, window } => {
                write!(f, "ask {match_id} attempt {attempt} window {window}")
            }
            Self::Choice { match_id, chosen } => write!(f, "choice {match_id} {}", chosen.word),
            Self::Trouble { match_id, .. } => write!(f, "trouble {match_id}"),
            Self::Over { match_id, verdict, .. } => write!(f, "over {match_id} {verdict:?}"),
            Self::Aside(Aside::NewToken { agent, .. }) => write!(f, "new token of {agent}"),
            Self::Aside(Aside::PlaceFree) => f.write_str("place free"),
            Self::Aside(Aside::TokenLost { agent }) => write!(f, "token of {agent} lost"),
            Self::Noted => f.write_str("noted"),
            Self::Noise => f.write_str("noise"),
            Self::Denied(denial) => write!(f, "denied {denial:?}"),
        }
    }
}
