//! The office of a practice room: what a manager is to its referee and its house players. It lets
//! them in, takes reports, and keeps no books.

use std::net::SocketAddr;
use std::sync::Mutex;

use bytes::Bytes;
use league_agent::ambient::OsDice;
use league_agent::desk::{self, Desk, Signed, refusal, shown_token};
use league_agent::endpoint::{Answer, Service};
use league_agent::guard::lock;
use league_core::dice::Dice;
use league_core::draw::{Draw, Seed};
use league_core::id::{AgentId, LeagueId, MatchId, PlayerId, RefereeId};
use league_core::policy::TokenForm;
use league_core::proof::{Keys, Secret, Token};
use league_wire::message::{
    ErrorReport, MatchProgress, MatchProgressAck, MatchResultAck, MatchResultReport, Pong,
    RegisterResponse,
};
use league_wire::{
    AuthToken, Code, Decision, Dialect, Envelope, Fragment, Letter, Message, Sender,
};
use tokio::sync::watch;

/// What a referee has told of the match that is being played.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    pub(super) report: Option<Box<MatchResultReport>>,
    /// Why the attempt was given up, if it was.
    pub(super) annulled: Option<String>,
    /// What was said after the report.
    pub(super) epilogue: Option<Fragment>,
}

impl Told {
    /// Whether the match is over, one way or the other.
    pub(super) const fn is_over(&self) -> bool {
        self.report.is_some() || self.annulled.is_some()
    }
}

/// Who the office has let in so far.
#[derive(Debug)]
struct Admitted {
    referee: Option<Token>,
    house: u32,
}

/// The office of a practice room.
#[derive(Debug)]
pub(super) struct Office {
    league: LeagueId,
    keys: Keys,
    referee: RefereeId,
    /// The first id that a house player gets; the others follow.
    first_house: u32,
    admitted: Mutex<Admitted>,
    /// The match that is being played, and what is known of it.
    current: watch::Sender<(Option<MatchId>, Told)>,
}

impl Office {
    pub(super) fn new(league: LeagueId, referee: RefereeId, first_house: PlayerId) -> Self {
        Self {
            league,
            keys: Keys::derive(&Secret::roll(&mut OsDice)),
            referee,
            first_house: first_house.number(),
            admitted: Mutex::new(Admitted { referee: None, house: 0 }),
            current: watch::Sender::new((None, Told::default())),
        }
    }

    pub(super) const fn league(&self) -> &LeagueId {
        &self.league
    }

    pub(super) const fn referee(&self) -> RefereeId {
        self.referee
    }

    /// The draw of a match and what it follows from.
    pub(super) fn draw(&self, match_id: MatchId) -> (Draw, Seed) {
        let draw = Draw::new(&self.league, match_id, 0);
        let seed = draw.seed(&self.keys);
        (draw, seed)
    }

    /// A token that nobody else has.
    pub(super) fn token(&self, agent: AgentId) -> Token {
        let mut nonce = [0; 32];
        OsDice.fill(&mut nonce);
        self.keys.token(TokenForm::Long, &self.league, agent, &nonce)
    }

    /// From here on the office hears of `match_id`, and of nothing else.
    pub(super) fn expect(&self, match_id: MatchId) -> watch::Receiver<(Option<MatchId>, Told)> {
        self.current.send_replace((Some(match_id), Told::default()));
        self.current.subscribe()
    }

    /// What the referee sends must carry the token that it was given last.
    fn check_referee(&self, envelope: &Envelope) -> Result<(), Box<ErrorReport>> {
        let shown = shown_token(envelope)?;
        let admitted = lock(&self.admitted);
        let is_theirs = admitted.referee.as_ref().is_some_and(|own| own.matches(shown.reveal()));
        if is_theirs { Ok(()) } else { Err(refusal(Code::E012, "only its referee is heard here")) }
    }

    fn admit_referee(&self) -> RegisterResponse<RefereeId> {
        let token = self.token(AgentId::Referee(self.referee));
        let shown = AuthToken::new(token.expose());
        lock(&self.admitted).referee = Some(token);
        RegisterResponse::Accepted { id: self.referee, token: shown, note: None }
    }

    fn admit_player(&self) -> RegisterResponse<PlayerId> {
        let mut admitted = lock(&self.admitted);
        let id = PlayerId::new(self.first_house.saturating_add(admitted.house));
        admitted.house = admitted.house.saturating_add(1);
        drop(admitted);
        let token = AuthToken::new(self.token(AgentId::Player(id)).expose());
        RegisterResponse::Accepted { id, token, note: None }
    }

    fn note(&self, match_id: MatchId, what: impl FnOnce(&mut Told)) {
        self.current.send_if_modified(|(current, told)| {
            let is_current = *current == Some(match_id);
            if is_current {
                what(told);
            }
            is_current
        });
    }

    fn take(&self, report: MatchResultReport) -> Message {
        let match_id = report.match_id;
        self.note(match_id, |told| told.report = Some(Box::new(report)));
        let (duplicate, standings_updated, assignments) = (false, false, vec![]);
        Message::MatchResultAck(MatchResultAck {
            match_id,
            duplicate,
            standings_updated,
            assignments,
        })
    }

    fn follow(&self, progress: MatchProgress) -> Message {
        let MatchProgress { match_id, attempt, annulled, epilogue, .. } = progress;
        self.note(match_id, |told| {
            told.annulled = annulled.or_else(|| told.annulled.take());
            told.epilogue = epilogue.or_else(|| told.epilogue.take());
        });
        let (status, lease_ms, draw_seed) = (Decision::Accepted, None, None);
        Message::MatchProgressAck(MatchProgressAck {
            match_id,
            attempt,
            status,
            lease_ms,
            draw_seed,
        })
    }
}

impl Desk for Office {
    #[expect(clippy::wildcard_enum_match_arm, reason = "what no office needs it refuses")]
    async fn receive(
        &self,
        letter: Letter,
        _dialect: Dialect,
        _peer: SocketAddr,
    ) -> Result<Signed, Box<ErrorReport>> {
        let message = match letter.message {
            Message::RefereeRegisterRequest(_) => {
                Message::RefereeRegisterResponse(self.admit_referee())
            }
            Message::LeagueRegisterRequest(_) => {
                Message::LeagueRegisterResponse(self.admit_player())
            }
            Message::MatchResultReport(report) => {
                self.check_referee(&letter.envelope)?;
                self.take(report)
            }
            Message::MatchProgress(progress) => {
                self.check_referee(&letter.envelope)?;
                self.follow(progress)
            }
            Message::Ping(_) => Message::Pong(Pong { state: None }),
            _ => return Err(refusal(Code::MethodNotFound, "this is practice: there is no league")),
        };
        Ok(Signed { league: Some(self.league.clone()), ..message.into() })
    }

    fn sender(&self) -> Sender {
        Sender::MANAGER
    }

    fn error(&self, report: ErrorReport) -> Message {
        Message::LeagueError(report)
    }
}

impl Service for Office {
    async fn mcp(&self, body: Bytes, peer: SocketAddr) -> Answer {
        desk::answer(self, &body, peer).await
    }

    fn page(&self, _path: &str) -> Option<Answer> {
        None
    }
}
