//! Answering protocol messages: frame in, letter to whoever is responsible, frame out.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::stream::{FuturesOrdered, StreamExt};
use league_core::id::{ConversationId, LeagueId};
use league_wire::dialect::{
    Decoded, decode_request_if, encode_answer, encode_error, encode_refusal, encode_request, spoken,
};
use league_wire::frame::{FrameError, Outcome, Request, parse, parse_response, write_batch};
use league_wire::lenient::{
    Deviations, Reading, Slip, Understood, read_plain_registration, read_request,
};
use league_wire::message::{ErrorCode, ErrorReport};
use league_wire::{
    AuthToken, Code, DecodeError, Dialect, Envelope, Incoming, Letter, Message, MessageType, Sender,
};

use crate::ambient;
use crate::endpoint::Answer;
use crate::exchange::new_conversation;
use crate::log::talk::{self, Talk};

/// Who reads the letters that arrive at an endpoint.
pub trait Desk: Send + Sync + 'static {
    /// Answers one letter. An error is a LEAGUE_ERROR or GAME_ERROR for the caller.
    fn receive(
        &self,
        letter: Letter,
        dialect: Dialect,
        peer: SocketAddr,
    ) -> impl Future<Output = Result<Signed, Box<ErrorReport>>> + Send;

    /// Whether it wants to know what messages of this type say. Of others it is given the envelope.
    fn reads(&self, _kind: MessageType) -> bool {
        true
    }

    /// How much it reads into what it is sent.
    fn reading(&self) -> Reading {
        Reading::Strict
    }

    /// A letter was taken although it is not as it should be.
    fn deviated(&self, _letter: &Deviated<'_>) {}

    /// Whether a call from `peer` is answered now. It holds a letter for each of its parts, none
    /// where a part cannot be read.
    ///
    /// # Errors
    /// If its sender asks too often: when to come back.
    fn admit(&self, _peer: SocketAddr, _letters: &[Option<&Letter>]) -> Result<(), Duration> {
        Ok(())
    }

    /// Somebody who sees `letter`, which came as `body`, and what it is answered. Usually nobody.
    fn witness(&self, _letter: &Letter, _dialect: Dialect, _body: &str) -> Option<Witness> {
        None
    }

    /// Who signs the answers.
    fn sender(&self) -> Sender;

    /// An error as this desk tells it.
    fn error(&self, report: ErrorReport) -> Message;
}

/// A letter that was taken although it is not as it should be.
#[derive(Debug)]
pub struct Deviated<'a> {
    /// Who sent it.
    pub sender: &'a Sender,
    /// The league it is about, as far as it says.
    pub league: Option<&'a LeagueId>,
    /// What it was answered.
    pub answer: &'a Signed,
    /// What is not as it should be.
    pub deviations: &'a Deviations,
}

/// Is told once what a letter was answered.
pub type Witness = Box<dyn FnOnce(&Replied<'_>) + Send>;

/// What a letter was answered.
#[derive(Debug)]
pub struct Replied<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The answer.
    pub letter: &'a Letter,
    /// The same as it is sent.
    pub body: &'a [u8],
    /// What was not as it should be in the letter.
    pub deviations: &'a Deviations,
}

/// An answer and what proves that it is ours, where the receiver wants to know.
#[derive(Debug, Clone)]
pub struct Signed {
    /// The answer.
    pub message: Message,
    /// The proof in its envelope.
    pub token: Option<AuthToken>,
    /// The league in its envelope; that of the letter if there is none.
    pub league: Option<LeagueId>,
}

impl From<Message> for Signed {
    fn from(message: Message) -> Self {
        Self { message, token: None, league: None }
    }
}

/// Answers the body of a call with the desk's letters.
pub async fn answer<D: Desk>(desk: &D, body: &[u8], peer: SocketAddr) -> Answer {
    answer_parsed(desk, parse(body), body, peer).await
}

/// The same for a `body` that was read as far as to see what it calls.
pub async fn answer_parsed<D: Desk>(
    desk: &D,
    incoming: Incoming<'_>,
    body: &[u8],
    peer: SocketAddr,
) -> Answer {
    let (parts, is_batch) = match incoming {
        Incoming::Single(request) => (vec![Part::read(desk, request)], false),
        Incoming::Batch(requests) => {
            (requests.into_iter().map(|request| Part::read(desk, request)).collect(), true)
        }
    };
    let letters: Vec<Option<&Letter>> = parts.iter().map(Part::letter).collect();
    if let Err(wait) = desk.admit(peer, &letters) {
        return Answer::too_many(wait);
    }
    let whole = (!is_batch).then_some(body);
    // Each is begun in its turn, and none waits for another's answer: what a batch brings to one
    // journal goes into it together.
    let answers = parts.into_iter().map(|part| answer_one(desk, part, peer, whole));
    let answers: FuturesOrdered<_> = answers.collect();
    let mut answers: Vec<_> = answers.collect().await;
    match answers.pop() {
        Some((status, body)) if !is_batch => Answer::json_with_status(status, body),
        last => {
            let bodies: Vec<_> = answers.into_iter().chain(last).map(|(_, body)| body).collect();
            Answer::json(write_batch(&bodies))
        }
    }
}

/// Answers a registration that was posted as it is, without JSON-RPC around it, in the same way.
/// A desk that is not lenient says what to do instead.
pub async fn answer_plain<D: Desk>(desk: &D, body: &[u8], peer: SocketAddr) -> Answer {
    let read = read_plain_registration(body, ambient::now());
    let read = match read {
        Ok(read) if desk.reading().is_lenient() => read,
        Err(Some(doubtful)) if desk.reading().is_lenient() => {
            let mistake = doubtful.instead_of(None);
            talk::unreadable(&desk.sender(), &ErrorReport::from(&mistake), Some(body));
            let message = desk.error(ErrorReport::from(&mistake));
            let letter = Letter { envelope: envelope(desk, new_conversation("err")), message };
            let answer = encode_error(Dialect::Flat, None, &letter);
            return plain(mistake.code.row().http, &answer);
        }
        Ok(_) | Err(_) => return Answer::refused(404, Slip::PlainRegister.fix(), true),
    };
    if let Err(wait) = desk.admit(peer, &[Some(&read.meaning.letter)]) {
        return Answer::too_many(wait);
    }
    let call = encode_request(read.meaning.dialect, 1, &read.meaning.letter);
    let Incoming::Single(Ok(request)) = parse(&call) else {
        unreachable!("what we write is a request")
    };
    let part = Part::Letter(request, Box::new(read));
    let (status, answer) = answer_one(desk, part, peer, Some(body)).await;
    plain(status, &answer)
}

/// The message in `answer`, without JSON-RPC around it.
fn plain(status: u16, answer: &[u8]) -> Answer {
    let message = parse_response(answer).ok().and_then(|response| match response.outcome {
        Outcome::Result(result) => Some(result.get().to_string()),
        Outcome::Error(error) => error.data.map(|data| data.get().to_string()),
    });
    Answer::json_with_status(status, message.unwrap_or_default())
}

/// One request of a call, as far as it can be read.
enum Part<'a> {
    NoRequest(FrameError),
    Unreadable(Request<'a>, DecodeError),
    Letter(Request<'a>, Box<Understood<Decoded>>),
}

impl<'a> Part<'a> {
    fn read(desk: &impl Desk, request: Result<Request<'a>, FrameError>) -> Self {
        let request = match request {
            Ok(request) => request,
            Err(error) => return Self::NoRequest(error),
        };
        match decode_request_if(&request, |kind| desk.reads(kind)) {
            Ok(meaning) => {
                let deviations = Deviations::default();
                Self::Letter(request, Box::new(Understood { meaning, deviations }))
            }
            Err(error) => match read_request(&request, ambient::now()) {
                Ok(read) if desk.reading().is_lenient() => Self::Letter(request, Box::new(read)),
                Ok(read) => Self::Unreadable(request, error.advised(read.deviations.advice())),
                Err(None) => Self::Unreadable(request, error),
                Err(Some(doubtful)) if desk.reading().is_lenient() => {
                    let mistake = doubtful.instead_of(Some(&error));
                    Self::Unreadable(request, mistake)
                }
                Err(Some(doubtful)) => Self::Unreadable(request, error.advised(doubtful.advice())),
            },
        }
    }

    fn letter(&self) -> Option<&Letter> {
        match self {
            Self::Letter(_, read) => Some(&read.meaning.letter),
            Self::NoRequest(_) | Self::Unreadable(..) => None,
        }
    }
}

async fn answer_one<D: Desk>(
    desk: &D,
    part: Part<'_>,
    peer: SocketAddr,
    body: Option<&[u8]>,
) -> (u16, Vec<u8>) {
    let own = desk.sender();
    let (request, read) = match part {
        Part::NoRequest(error) => {
            talk::unreadable(&own, &ErrorReport::new(error.code, error.to_string()), body);
            return (error.code.row().http, error.answer());
        }
        Part::Unreadable(request, error) => {
            talk::unreadable(&own, &ErrorReport::from(&error), body);
            return refuse_unreadable(desk, &request, &error);
        }
        Part::Letter(request, read) => (request, *read),
    };
    let dialect = read.meaning.dialect;
    let came = Came { raw: request.raw, body, peer };
    attend(desk, read, came, |letter, is_refusal| {
        if is_refusal {
            return encode_refusal(dialect, &request, letter);
        }
        let answer = encode_answer(dialect, &request, letter);
        answer.expect("a request without id is not decoded")
    })
    .await
}

/// How a letter came.
#[derive(Debug, Clone, Copy)]
pub struct Came<'a> {
    /// What it was read from.
    pub raw: &'a str,
    /// The body of the call, if it is all there was in it.
    pub body: Option<&'a [u8]>,
    /// From where.
    pub peer: SocketAddr,
}

/// Has the desk read a letter, and hands back the HTTP status and what `encode` makes of the
/// answer; it is told whether that is a refusal.
pub async fn attend<D: Desk>(
    desk: &D,
    read: Understood<Decoded>,
    came: Came<'_>,
    encode: impl FnOnce(&Letter, bool) -> Vec<u8>,
) -> (u16, Vec<u8>) {
    let Understood { meaning: Decoded { dialect, letter }, deviations } = read;
    let conversation = letter.envelope.conversation.clone();
    let league_id = letter.envelope.league_id.clone();
    let talk = Talk::got(desk.sender(), &letter);
    talk.came(came.body);
    let witness = desk.witness(&letter, dialect, came.raw);
    let sender = (!deviations.is_empty()).then(|| letter.envelope.sender.clone());
    let outcome = desk.receive(letter, dialect, came.peer).await;
    if let (Some(sender), Ok(answer)) = (&sender, &outcome) {
        let league = league_id.as_ref();
        desk.deviated(&Deviated { sender, league, answer, deviations: &deviations });
    }
    let envelope = Envelope { league_id, ..envelope(desk, conversation) };
    match outcome {
        Ok(Signed { message, token, league }) => {
            let league_id = league.or(envelope.league_id);
            let envelope = Envelope { token, league_id, ..envelope };
            let letter = Letter { envelope, message };
            let answer = encode(&letter, false);
            talk.answered(&letter.message, &answer);
            tell(witness, (200, &letter), &answer, &deviations);
            (200, answer)
        }
        Err(report) => {
            talk.refused(&report);
            let status = http_status(&report.code);
            let letter = Letter { envelope, message: desk.error(*report) };
            let answer = encode(&letter, true);
            tell(witness, (status, &letter), &answer, &deviations);
            (status, answer)
        }
    }
}

fn tell(
    witness: Option<Witness>,
    (status, letter): (u16, &Letter),
    body: &[u8],
    deviations: &Deviations,
) {
    if let Some(witness) = witness {
        witness(&Replied { status, letter, body, deviations });
    }
}

fn refuse_unreadable<D: Desk>(
    desk: &D,
    request: &Request<'_>,
    error: &DecodeError,
) -> (u16, Vec<u8>) {
    let message = desk.error(ErrorReport::from(error));
    let letter = Letter { envelope: envelope(desk, new_conversation("err")), message };
    let answer = encode_refusal(spoken(request), request, &letter);
    (error.code.row().http, answer)
}

fn envelope<D: Desk>(desk: &D, conversation: ConversationId) -> Envelope {
    let (sender, timestamp) = (desk.sender(), ambient::now());
    Envelope { sender, timestamp, conversation, token: None, league_id: None }
}

fn http_status(code: &ErrorCode) -> u16 {
    code.known().unwrap_or(Code::Internal).row().http
}

/// Whether messages of this type tell everybody how the league goes. Our agents act on orders and
/// on what a match asks them; of the news they note that it came.
pub const fn is_news(kind: MessageType) -> bool {
    matches!(
        kind,
        MessageType::RoundAnnouncement
            | MessageType::RoundCompleted
            | MessageType::RoundStart
            | MessageType::RoundResult
            | MessageType::LeagueStandingsUpdate
            | MessageType::LeagueCompleted
            | MessageType::LeagueError
    )
}

/// What a sender shows to prove who it is.
///
/// # Errors
/// E011 if it shows nothing.
pub fn shown_token(envelope: &Envelope) -> Result<&AuthToken, Box<ErrorReport>> {
    let token = envelope.token.as_ref().filter(|token| !token.reveal().is_empty());
    token.ok_or_else(|| refusal(Code::E011, "auth_token is missing"))
}

/// An error of the catalogue with a sentence of ours.
pub fn refusal(code: Code, description: &str) -> Box<ErrorReport> {
    Box::new(ErrorReport::new(code, description))
}
