//! Asking the players of a match, and reading what they answer as leniently as the league wants.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use league_agent::ambient::Mark;
use league_agent::caller::CallError;
use league_agent::component::Component;
use league_agent::exchange::{AskError, Exchange, Question};
use league_agent::guard::lock;
use league_agent::log::talk::code_of;
use league_agent::meter::Meter;
use league_agent::shape;
use league_core::id::PlayerId;
use league_core::seat::Seat;
use league_wire::lenient::{Deviation, Reading, Slip, Understood, own_methods};
use league_wire::{Code, Dialect, Letter, Message, MessageType, Reply};

use super::outbound::Letters;
use super::recorder::Outcome;
use super::search::Way;
use super::{Referee, account, heard};
use crate::record::transcript::TOLERATED;

/// The methods of their own under which players take calls.
#[derive(Debug, Default)]
pub(super) struct Spellings(Mutex<BTreeMap<(PlayerId, MessageType), &'static str>>);

impl Spellings {
    fn of(&self, player: PlayerId, kind: MessageType) -> Option<&'static str> {
        lock(&self.0).get(&(player, kind)).copied()
    }

    fn learn(&self, player: PlayerId, kind: MessageType, method: &'static str) {
        lock(&self.0).insert((player, kind), method);
    }
}

/// What an answer should be, and who judges one that could be read: what is wrong with it, if
/// anything is, and the code for it.
pub(super) struct Wanted<'a> {
    pub(super) expected: &'a [MessageType],
    pub(super) reading: Reading,
    pub(super) judge: &'a Judge<'a>,
}

/// What a player says to a question.
pub(super) struct Asked {
    pub(super) reply: Result<Reply, AskError>,
    /// Whether it may understand the question in another way, for which there was no time.
    pub(super) is_unfinished: bool,
}

/// What came of a question.
pub(super) struct Heard {
    pub(super) reply: Result<Understood<Reply>, AskError>,
    /// Whether it shows that the question was not understood, and so not executed.
    is_misunderstood: bool,
}

type Judge<'a> = dyn Fn(&mut Understood<Reply>) -> Option<(String, Code)> + Send + Sync + 'a;

impl Letters {
    /// Asks the player at `seat`. Whoever does not understand the shape of a call, or knows it only
    /// by a name of its own, has not executed it, and is asked in another way: in another
    /// document's shape, and if the league is lenient first by another name.
    pub(super) async fn ask_player(
        &self,
        referee: &Referee,
        seat: Seat,
        message: Message,
        expected: &[MessageType],
        timeout: Duration,
    ) -> Asked {
        let (begun, player, kind) = (Mark::set(), self.player(seat), message.kind());
        let letter = self.to_player(seat, message);
        let usual = Way { dialect: self.dialect(seat), own: referee.spellings.of(player, kind) };
        let ways = lock(&self.searches[seat]).ways(kind, usual, self.order.lenient);
        let mut ways = ways.into_iter().peekable();
        let mut asked = None;
        while let Some(way) = ways.next() {
            let left = timeout.saturating_sub(begun.elapsed());
            if way != usual {
                lock(&self.searches[seat]).spend(kind, way);
            }
            let heard = self.ask_by(referee, seat, (&letter, way), expected, left).await;
            let reply = heard.reply.map(|heard| heard.meaning);
            let mut search = lock(&self.searches[seat]);
            match &reply {
                Ok(_) => search.is_answered = true,
                Err(error) if heard.is_misunderstood => search.miss(kind, way, error),
                Err(_) => {}
            }
            let is_missed = heard.is_misunderstood && ways.peek().is_some();
            // The window is the player's; a search that needs more of it gets another.
            let is_late = timeout.saturating_sub(begun.elapsed()) < timeout / 2;
            let is_unfinished = is_missed && is_late && search.goes_on();
            drop(search);
            if reply.is_ok() && way != usual {
                self.settle(referee, seat, (kind, way));
            }
            if !is_missed || is_late {
                let reply = self.told(seat, (kind, way == usual), reply);
                asked = Some(Asked { reply, is_unfinished });
                break;
            }
        }
        let Asked { reply, is_unfinished } = asked.expect("there is a way, and the last one ends");
        let reply = reply.map_err(|error| heard::of_relay(self.order.players[seat].relayed, error));
        if let Ok(Some(at)) = reply.as_ref().map(|reply| reply.envelope.timestamp) {
            referee.clocks.note(player, at, self.clock_skew);
        }
        Asked { reply, is_unfinished }
    }

    /// What counts of an answer that did not come in the usual way: itself if it shows that the
    /// player has understood, else what it said to the usual way.
    fn told(
        &self,
        seat: Seat,
        (kind, is_usual): (MessageType, bool),
        reply: Result<Reply, AskError>,
    ) -> Result<Reply, AskError> {
        let first = lock(&self.searches[seat]).first(kind).filter(|_| !is_usual);
        match (reply, first) {
            (Err(error), Some(first)) if !is_receipt(&error) => Err(first),
            (reply, _) => reply,
        }
    }

    /// Remembers how a player was found to take calls.
    fn settle(&self, referee: &Referee, seat: Seat, (kind, way): (MessageType, Way)) {
        if let Some(own) = way.own {
            referee.spellings.learn(self.player(seat), kind, own);
            return;
        }
        let before = std::mem::replace(&mut *lock(&self.dialects[seat]), way.dialect);
        let text = format!("it answers to {}, and not to {}", way.dialect.name(), before.name());
        let player = self.player(seat).to_string();
        lock(&self.recorder).happened("SHAPE_SETTLED", Some(player), text);
    }

    /// Asks in one way.
    async fn ask_by(
        &self,
        referee: &Referee,
        seat: Seat,
        (letter, way): (&Letter, Way),
        expected: &[MessageType],
        timeout: Duration,
    ) -> Heard {
        let player = &self.order.players[seat];
        let reading = Reading::of(self.order.lenient);
        let judge = |heard: &mut Understood<Reply>| {
            let mut is_proved = self.is_proved(seat, &heard.meaning.envelope);
            if !is_proved && reading.is_lenient() {
                // It came on the connection that we opened to this player.
                heard.meaning.envelope.token = None;
                heard.deviations.note(Deviation::foreign_token());
                is_proved = true;
            }
            if let Some(own) = way.own {
                heard.deviations.note(own_method(letter.message.kind(), way.dialect, own));
            }
            if reading.is_lenient() {
                self.forgive(seat, way.dialect, heard);
            }
            self.count(seat, heard);
            let contradiction = self.contradiction(seat, way.dialect, &heard.meaning);
            heard::objection(is_proved, contradiction)
        };
        let wanted = Wanted { expected, reading, judge: &judge };
        let question = question(&referee.players, letter, way);
        let who = (player.player_id.to_string(), &*player.endpoint, way.dialect);
        self.ask(&referee.players, who, (letter, question), &wanted, timeout).await
    }

    fn count(&self, seat: Seat, heard: &Understood<Reply>) {
        lock(&self.deviations[seat]).note(&heard.deviations);
        Meter::of(Component::Referee).deviated(&heard.deviations);
    }

    /// Sends a question and reads the answer; both are recorded.
    pub(super) async fn ask(
        &self,
        exchange: &Exchange,
        (peer, address, dialect): (String, &str, Dialect),
        (letter, question): (&Letter, Question),
        wanted: &Wanted<'_>,
        timeout: Duration,
    ) -> Heard {
        let name = letter.message.kind().name(dialect);
        let out = lock(&self.recorder).sent(peer, name, question.body());
        let answered = match self.send(exchange, address, &question, timeout).await {
            Ok(answered) => answered,
            Err(error) => {
                let (wrong, code) = (Some(error.to_string()), Some(code_of(&error)));
                let outcome =
                    Outcome { came: None, name: None, logged: wrong.clone(), wrong, code };
                lock(&self.recorder).settled(out, outcome);
                return Heard { reply: Err(error.into()), is_misunderstood: false };
            }
        };
        let mut reply = question.read_as(wanted.reading, wanted.expected, &answered);
        let (wrong, logged, code) = match &mut reply {
            Ok(heard) => match (wanted.judge)(heard) {
                Some((why, code)) => (Some(why.clone()), Some(why), Some(code)),
                None => (tolerated(heard), None, None),
            },
            Err(AskError::Decode(error)) if error.is_receipt() => {
                (Some(heard::receipt(error)), None, None)
            }
            Err(error) => {
                (Some(error.to_string()), Some(heard::discreet(error)), account::code_of(error))
            }
        };
        let name = reply.as_ref().ok().map(|heard| heard.meaning.message.kind().name(dialect));
        let is_misunderstood = reply.is_err() && shape::is_misunderstood(&answered);
        let came = Some((answered.status, answered.body));
        let outcome = Outcome { came, name, wrong, logged, code };
        lock(&self.recorder).settled(out, outcome);
        Heard { reply, is_misunderstood }
    }

    /// Tells the player at `seat` something that needs no answer.
    pub(super) async fn tell_player(
        &self,
        referee: &Referee,
        seat: Seat,
        message: Message,
        timeout: Duration,
    ) -> Result<(), CallError> {
        let (begun, player, kind) = (Mark::set(), self.player(seat), message.kind());
        let letter = self.to_player(seat, message);
        let known = referee.spellings.of(player, kind);
        let mut sent = self.tell_by(referee, seat, (&letter, known), timeout).await;
        if self.order.lenient && sent == Ok(true) {
            for own in own_methods(kind).iter().filter(|own| Some(**own) != known) {
                let left = timeout.saturating_sub(begun.elapsed());
                sent = self.tell_by(referee, seat, (&letter, Some(own)), left).await;
                if sent == Ok(false) {
                    referee.spellings.learn(player, kind, own);
                }
                if sent != Ok(true) {
                    break;
                }
            }
        }
        sent.map(drop)
    }

    /// Tells it under the method `own` if there is one, and whether the player knows no such call.
    async fn tell_by(
        &self,
        referee: &Referee,
        seat: Seat,
        (letter, own): (&Letter, Option<&'static str>),
        timeout: Duration,
    ) -> Result<bool, CallError> {
        let player = &self.order.players[seat];
        let dialect = self.dialect(seat);
        let question = question(&referee.players, letter, Way { dialect, own });
        let name = letter.message.kind().name(dialect);
        let peer = player.player_id.to_string();
        let out = lock(&self.recorder).sent(peer, name, question.body());
        let sent = referee.players.send(&player.endpoint, &question, timeout).await;
        let wrong = sent.as_ref().err().map(ToString::to_string);
        let code = sent.as_ref().err().map(code_of);
        let (came, outcome) = match sent {
            Ok(answered) => {
                let unknown = shape::is_unknown_call(&answered);
                (Some((answered.status, answered.body)), Ok(unknown))
            }
            Err(error) => (None, Err(error)),
        };
        lock(&self.recorder)
            .settled(out, Outcome { came, name: None, logged: wrong.clone(), wrong, code });
        outcome
    }
}

/// Whether a player says that it will answer.
fn is_receipt(error: &AskError) -> bool {
    match error {
        AskError::Decode(error) => error.is_receipt(),
        AskError::Call(_)
        | AskError::Frame { .. }
        | AskError::WrongId { .. }
        | AskError::Refused { .. }
        | AskError::Deviates(_) => false,
    }
}

fn question(exchange: &Exchange, letter: &Letter, Way { dialect, own }: Way) -> Question {
    match own {
        Some(own) => exchange.question_called(dialect, letter, own),
        None => exchange.question(dialect, letter),
    }
}

fn own_method(kind: MessageType, dialect: Dialect, own: &str) -> Deviation {
    let fix =
        format!("take the call under the method {:?} too, not only {own:?}", kind.method(dialect));
    Deviation { fix, ..Slip::OwnMethod.at("method") }
}

/// What the transcript says of an answer that was taken although it is not as it should be.
fn tolerated(heard: &Understood<Reply>) -> Option<String> {
    let all: Vec<String> = heard.deviations.iter().map(ToString::to_string).collect();
    (!all.is_empty()).then(|| format!("{TOLERATED}{}", all.join("; ")))
}
