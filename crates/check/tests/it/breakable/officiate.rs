//! One match of the small referee, from the invitations to the end.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use league_agent::address::Address;
use league_agent::ambient;
use league_agent::exchange::{AskError, new_conversation};
use league_check::http::{Line, post_head};
use league_check::transcript::Transcript;
use league_core::conduct::Conduct;
use league_core::draw::Draw;
use league_core::id::ConversationId;
use league_core::seat::{Seat, Seats};
use league_wire::dialect::encode_request;
use league_wire::lenient::Tally;
use league_wire::message::{
    AssignedPlayer, ErrorReport, GameInvitation, GameOver, GameStart, MatchResultReport,
    ParityCall, ParityResponse, PlayerLine, ReportedPlayer, Retry, StartMatch,
};
use league_wire::{
    Code, Dialect, Letter, MatchState, Message, MessageType, MoveValue, Parity, PlayerResult,
    Reply, ResultStatus,
};
use serde_json::Value;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::player::{PATIENCE, variable};
use super::referee::Referee;

pub(super) struct Match {
    referee: Arc<Referee>,
    order: StartMatch,
    conversation: ConversationId,
    answers: Seats<Mutex<mpsc::Receiver<Letter>>>,
    /// Whether a player answered with something that is no choice.
    has_erred: AtomicBool,
}

type Choice = Option<ParityResponse>;

/// What became of an invitation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joined {
    Yes,
    No,
    Silent,
}

impl Match {
    pub(super) fn new(
        referee: Arc<Referee>,
        order: StartMatch,
        conversation: ConversationId,
        answers: Seats<mpsc::Receiver<Letter>>,
    ) -> Arc<Self> {
        let answers = Seats::new(Mutex::new(answers.a), Mutex::new(answers.b));
        let has_erred = AtomicBool::new(false);
        Arc::new(Self { referee, order, conversation, answers, has_erred })
    }

    fn is(&self, case: &str) -> bool {
        self.referee.is(case)
    }

    fn player(&self, seat: Seat) -> &AssignedPlayer {
        &self.order.players[seat]
    }

    /// A time of the rules.
    fn time(&self, rule: &str) -> Duration {
        let text = self.order.rules.get(rule).map_or("1s", String::as_str);
        let text = text.rsplit(' ').next().unwrap();
        match text.strip_suffix("ms") {
            Some(millis) => Duration::from_millis(millis.parse().unwrap()),
            None => Duration::from_secs(text.strip_suffix('s').unwrap().parse().unwrap()),
        }
    }

    fn dialect(&self, seat: Seat) -> Dialect {
        if self.is("match.dialects") { Dialect::Flat } else { self.player(seat).dialect }
    }

    fn letter(&self, seat: Seat, message: Message) -> Letter {
        let is_over = message.kind() == MessageType::GameOver;
        let conversation = match self.is("match.conversation") && is_over {
            true => new_conversation("other"),
            false => self.conversation.clone(),
        };
        let proof = self.player(seat).match_proof.as_ref().unwrap();
        let is_shown = !(self.is("match.shows-proof") && is_over);
        let proof = if is_shown { proof.reveal() } else { "prf_00" };
        Letter { envelope: self.referee.envelope(conversation, proof), message }
    }

    async fn ask(
        &self,
        seat: Seat,
        message: Message,
        wanted: &[MessageType],
        limit: Duration,
    ) -> Result<Reply, AskError> {
        let letter = self.letter(seat, message);
        let to = &self.player(seat).endpoint;
        self.referee.exchange.ask(to, self.dialect(seat), &letter, wanted, limit).await
    }

    pub(super) async fn run(self: Arc<Self>) {
        if self.is("match.readable") {
            let body = r#"{"jsonrpc":"2.0","id":1,"method":"notify_game_error","params":{}}"#;
            let to = &self.player(Seat::A).endpoint;
            let _answer = self.referee.exchange.caller().call(to, body, PATIENCE).await;
        }
        let hasty = self.is("match.waits-for-both");
        let (a, b) = if hasty {
            tokio::join!(self.sit(Seat::A), self.sit(Seat::B))
        } else {
            let (a, b) = tokio::join!(self.invite(Seat::A), self.invite(Seat::B));
            match (a, b) {
                (Joined::Yes, Joined::Yes) => {}
                _ => return self.finish(Seats::new(None, None), Seats::new(a, b)).await,
            }
            self.ask_both().await
        };
        let joined = Seats::new(a.0, b.0);
        self.finish(Seats::new(a.1, b.1), joined).await;
    }

    async fn sit(&self, seat: Seat) -> (Joined, Choice) {
        match self.invite(seat).await {
            Joined::Yes => (Joined::Yes, self.choose(seat).await),
            other @ (Joined::No | Joined::Silent) => (other, None),
        }
    }

    async fn ask_both(&self) -> ((Joined, Choice), (Joined, Choice)) {
        let (a, b) = if self.is("match.simultaneous") {
            (self.choose(Seat::A).await, self.choose(Seat::B).await)
        } else {
            tokio::join!(self.choose(Seat::A), self.choose(Seat::B))
        };
        ((Joined::Yes, a), (Joined::Yes, b))
    }

    async fn invite(&self, seat: Seat) -> Joined {
        let is_wrong = self.is("match.invites-both") && seat == Seat::A;
        let opponent = if is_wrong { seat } else { seat.other() };
        let message = Message::GameInvitation(GameInvitation {
            match_id: self.order.match_id,
            round_id: Some(self.order.round_id),
            game_type: self.order.game_type.clone(),
            role: seat,
            opponent_id: self.player(opponent).player_id,
            attempt: Some(self.order.attempt),
            rematch: Some(0),
            budget_ms: None,
            last_rtt_ms: None,
            draw_commitment: self.order.draw_commitment.clone(),
            game_state: Some(MatchState::Inviting),
        });
        let limit = self.time("invitation_timeout");
        let reply = self.ask(seat, message, &[MessageType::GameJoinAck], limit).await;
        let joined = match reply.map(|reply| reply.message) {
            Ok(Message::GameJoinAck(ack)) if ack.accept => Joined::Yes,
            Ok(_) => Joined::No,
            Err(_) => Joined::Silent,
        };
        if joined == Joined::Yes && self.dialect(seat) == Dialect::Payload {
            let start = GameStart {
                match_id: self.order.match_id,
                round_id: None,
                game_type: None,
                role: None,
                opponent_id: self.player(seat.other()).player_id,
                attempt: None,
                game_state: None,
            };
            let _heard = self.ask(seat, Message::GameStart(start), &[], limit).await;
        }
        joined
    }

    fn call(&self, seat: Seat) -> Letter {
        let has_deadline = !(self.is("match.asks-both") && seat == Seat::A);
        let standings = self.order.standings.clone().filter(|_| !self.is("match.context"));
        self.letter(
            seat,
            Message::ChooseParityCall(ParityCall {
                match_id: self.order.match_id,
                player_id: Some(self.player(seat).player_id),
                game_type: Some(self.order.game_type.clone()),
                deadline: has_deadline.then(ambient::now),
                opponent_id: self.player(seat.other()).player_id,
                round_id: Some(self.order.round_id),
                your_standings: self.player(seat).your_standings.clone(),
                standings,
                game_history: self.player(seat).game_history.clone(),
                attempt: Some(self.order.attempt),
                budget_ms: None,
                last_rtt_ms: None,
                game_state: Some(MatchState::CollectingChoices),
            }),
        )
    }

    /// Sends a call and gives back the body of the answer.
    fn send_call(&self, seat: Seat, calls: &mut JoinSet<Option<Value>>) {
        let mut body: Value =
            serde_json::from_slice(&encode_request(self.dialect(seat), 7, &self.call(seat)))
                .unwrap();
        if self.is("match.hides-token") {
            body["params"]["debug"] = self.referee.me().token.expose().into();
        }
        let (caller, to) =
            (self.referee.exchange.caller().clone(), self.player(seat).endpoint.clone());
        calls.spawn(async move {
            let answered = caller.call(&to, body.to_string(), Duration::from_secs(60)).await;
            serde_json::from_slice(&answered.ok()?.body).ok()
        });
    }

    /// Asks until there is a choice, or the last attempt is over.
    async fn choose(&self, seat: Seat) -> Choice {
        let (mut calls, mut invalid) = (JoinSet::new(), 0);
        for attempt in 1..=3 {
            if attempt == 1 || !self.is("trouble.asks-again") {
                self.send_call(seat, &mut calls);
            }
            let limit = self.time("choice_timeout");
            if let Some(end) = self.listen(seat, &mut calls, &mut invalid, limit).await {
                return end;
            }
            if !self.is("trouble.tells-timeout") {
                self.complain(seat, Code::E001, attempt).await;
            }
            if self.is("trouble.late-answer") {
                calls = JoinSet::new();
            }
            let limit = self.time("choice_backoff");
            if let Some(end) = self.listen(seat, &mut calls, &mut invalid, limit).await {
                return end;
            }
        }
        None
    }

    /// Waits for answers. The outer option is whether it is over.
    async fn listen(
        &self,
        seat: Seat,
        calls: &mut JoinSet<Option<Value>>,
        invalid: &mut usize,
        limit: Duration,
    ) -> Option<Choice> {
        let mut end = pin!(sleep(limit));
        loop {
            tokio::select! {
                biased;
                Some(letter) = self.next_late(seat) => {
                    if let Message::ChooseParityResponse(choice) = letter.message {
                        return Some(Some(choice));
                    }
                }
                Some(Ok(Some(answer))) = calls.join_next(), if !calls.is_empty() => {
                    match self.judge(seat, &answer, *invalid) {
                        Heard::Choice(choice) => {
                            self.leak(seat, &choice).await;
                            return Some(Some(choice));
                        }
                        Heard::Receipt => {}
                        Heard::Unproved => self.send_call(seat, calls),
                        Heard::Invalid => {
                            *invalid += 1;
                            self.has_erred.store(true, Ordering::Relaxed);
                            if !self.is("trouble.tells-invalid") {
                                self.complain(seat, Code::E004, 1).await;
                            }
                            if *invalid == 3 {
                                return Some(None);
                            }
                            self.send_call(seat, calls);
                        }
                    }
                }
                () = &mut end => return None,
            }
        }
    }

    /// The next answer that came as a call of its own.
    async fn next_late(&self, seat: Seat) -> Option<Letter> {
        self.answers[seat].lock().await.recv().await
    }

    fn judge(&self, seat: Seat, answer: &Value, invalid: usize) -> Heard {
        let result = &answer["result"];
        if result["message_type"] == "ACK" {
            return Heard::Receipt;
        }
        let envelope = if result["envelope"].is_object() { &result["envelope"] } else { result };
        let shown = envelope["auth_token"].as_str().unwrap_or_default();
        let proof = self.player(seat).reply_proof.as_ref().unwrap();
        if shown != proof.reveal() && !self.is("trust.wrong-token") {
            return Heard::Unproved;
        }
        let fields = match result["payload"].is_object() {
            true => &result["payload"],
            false => result,
        };
        let match_id = fields["match_id"].as_str().or_else(|| envelope["match_id"].as_str());
        let is_other = match_id.is_some_and(|id| id != self.order.match_id.to_string());
        let word = fields["parity_choice"].as_str().or_else(|| fields["choice"].as_str());
        let word = word.unwrap_or_default();
        let is_forgiven = invalid == 2 && self.is("trouble.invalid-word");
        let word = if is_forgiven { word.to_lowercase() } else { word.into() };
        match Parity::find(&word) {
            Some(choice) if !is_other || self.is("trouble.other-match") => {
                let text = |name: &str| fields[name].as_str().map(String::from);
                Heard::Choice(ParityResponse {
                    match_id: self.order.match_id,
                    player_id: None,
                    choice,
                    nonce: text("nonce"),
                    choice_proof: text("choice_proof"),
                    reasoning: None,
                })
            }
            _ => Heard::Invalid,
        }
    }

    async fn complain(&self, seat: Seat, code: Code, attempt: u32) {
        let report = ErrorReport {
            match_id: Some(self.order.match_id),
            affected_player: Some(self.player(seat).player_id),
            retry: Some(Retry { count: attempt, max: 3, next_at: None }),
            game_state: Some(MatchState::CollectingChoices),
            ..ErrorReport::new(code, "broken or late").waited(PATIENCE, "a choice")
        };
        let told = self.ask(seat, Message::GameError(report), &[], Duration::from_secs(1));
        let _answer = told.await;
    }

    /// Tells the other player what must be hidden from it.
    async fn leak(&self, seat: Seat, choice: &ParityResponse) {
        if self.is("match.hides-choice") && seat == Seat::A {
            let nonce = choice.nonce.clone().unwrap_or_default();
            let report = ErrorReport {
                match_id: Some(self.order.match_id),
                retry: Some(Retry { count: 0, max: 0, next_at: None }),
                ..ErrorReport::new(Code::E009, nonce).waited(PATIENCE, "a choice")
            };
            let _answer =
                self.ask(Seat::B, Message::GameError(report), &[], Duration::from_secs(1)).await;
        }
    }

    async fn finish(&self, choices: Seats<Choice>, joined: Seats<Joined>) {
        let ending = self.ending(&choices, joined);
        if self.is("over.after-report") {
            self.tell(&ending).await;
        }
        self.report(&ending, &choices).await;
        if !self.is("over.after-report") {
            self.tell(&ending).await;
        }
    }

    fn ending(&self, choices: &Seats<Choice>, joined: Seats<Joined>) -> Ending {
        let (a, b) = (choices.a.as_ref(), choices.b.as_ref());
        let lost = Seats::new(a.is_none(), b.is_none());
        let failed =
            |seat: Seat| joined[seat] != Joined::Yes || (joined.a == joined.b && lost[seat]);
        if let (Some(a), Some(b)) = (a, b) {
            let nonce = |choice: &ParityResponse| choice.nonce.clone().unwrap_or_default();
            let (one, other) = (nonce(a), nonce(b));
            let seed = self.order.draw_seed.as_ref().unwrap().reveal().parse().unwrap();
            let draw = Draw::new(&self.referee.me().league, self.order.match_id, 0);
            let mut number = u32::from(draw.number(&seed, Seats::new(&one, &other)));
            if self.is("report.number") {
                number = 11;
            }
            if self.is("report.committed-draw") {
                number = number % 10 + 1;
            }
            let is_draw = a.choice == b.choice;
            let even = if a.choice == Parity::Even { Seat::A } else { Seat::B };
            let by_parity = if Parity::of(number) == Parity::Even { even } else { even.other() };
            let winner = match is_draw {
                true => self.is("report.draw").then_some(Seat::A),
                false => Some(by_parity),
            };
            return Ending { winner, number: Some(number), losers: vec![] };
        }
        let losers: Vec<Seat> = Seat::BOTH.into_iter().filter(|seat| failed(*seat)).collect();
        let is_cancelled = match joined.b {
            Joined::Silent => self.is("trouble.no-ack"),
            Joined::No => self.is("trouble.refusal"),
            Joined::Yes => self.is("trouble.no-choice") && !self.has_erred.load(Ordering::Relaxed),
        };
        let winner = match losers.as_slice() {
            [one] if !is_cancelled => Some(one.other()),
            [_, _] if self.is("trouble.both-silent") => Some(Seat::A),
            _ => None,
        };
        let number = (self.is("trouble.null-draw") && joined.b == Joined::No).then_some(5);
        Ending { winner, number, losers }
    }

    fn lines(&self, ending: &Ending, choices: &Seats<Choice>) -> Seats<PlayerLine> {
        Seats::from_fn(|seat| {
            let choice = choices[seat].as_ref();
            let is_hidden = self.is("report.choices")
                && seat == Seat::B
                && self.order.rules["choice_timeout"] == "4s";
            let points = match (ending.winner, ending.losers.len()) {
                (Some(winner), _) if winner == seat => 3 - u32::from(self.is("report.winner")),
                (None, 0) => 1,
                _ => 0,
            };
            PlayerLine {
                choice: choice
                    .filter(|_| !is_hidden)
                    .map(|choice| MoveValue::Text(choice.choice.word().into())),
                result: Some(PlayerResult::Tie),
                points: Some(points),
                nonce: choice.and_then(|choice| choice.nonce.clone()),
                role: None,
            }
        })
    }

    async fn report(&self, ending: &Ending, choices: &Seats<Choice>) {
        if self.is("report.comes") {
            return std::future::pending().await;
        }
        let lines = self.lines(ending, choices);
        let ids = Seats::from_fn(|seat| self.player(seat).player_id);
        let players: BTreeMap<_, _> = Seat::BOTH
            .into_iter()
            .map(|seat| {
                let proof = choices[seat].as_ref().and_then(|choice| choice.choice_proof.clone());
                let player = ReportedPlayer {
                    line: lines[seat].clone(),
                    choice_proof: proof.filter(|_| !self.is("report.proofs")),
                    dialect: None,
                    token_shown: false,
                    conduct: Conduct::default(),
                    unusable_answers: 0,
                    response_us: vec![],
                    deviations: Tally::default(),
                };
                (ids[seat], player)
            })
            .collect();
        let mut report = MatchResultReport {
            match_id: self.order.match_id,
            round_id: self.order.round_id,
            game_type: Some(self.order.game_type.clone()),
            attempt: Some(self.order.attempt),
            rematch: Some(0),
            match_conversation: Some(self.conversation.clone()),
            status: Some(ending.status()),
            winner: ending.winner.map(|seat| ids[seat]),
            technical_losers: ending.losers.iter().map(|seat| ids[*seat]).collect(),
            reason: "because".into(),
            drawn_number: ending.number,
            players,
            game_state: Some(MatchState::Completed),
            draw_seed: None,
            draw_commitment: None,
            referee_signature: None,
            transcript: None,
        };
        let token = match self.is("report.proves-itself") {
            true => "tok_referee_REF77_00",
            false => self.referee.me().token.expose(),
        };
        for _ in 0..10 {
            let message = Message::MatchResultReport(report.clone());
            let envelope = self.referee.envelope(new_conversation("rep"), token);
            let body = encode_request(Dialect::Flat, 7, &Letter { envelope, message });
            // By hand: our own caller comes back by itself to whoever is busy.
            let answer: Value = serde_json::from_slice(&post(&body).await).unwrap();
            if answer["result"].is_object() || self.is("report.retried") {
                return;
            }
            if self.is("report.same-again") {
                report.drawn_number = report.drawn_number.map(|number| number % 10 + 1);
            }
            sleep(self.time("report_backoff")).await;
        }
    }

    fn over(&self, ending: &Ending) -> Message {
        let ids = Seats::from_fn(|seat| self.player(seat).player_id);
        let shift = u32::from(self.is("over.as-reported"));
        let line = || PlayerLine::default();
        Message::GameOver(GameOver {
            match_id: self.order.match_id,
            round_id: Some(self.order.round_id),
            game_type: Some(self.order.game_type.clone()),
            attempt: Some(self.order.attempt),
            rematch: Some(0),
            status: ending.status(),
            winner: ending.winner.map(|seat| ids[seat]),
            technical_losers: vec![],
            reason: "because".into(),
            drawn_number: ending.number.map(|number| number + shift),
            number_parity: None,
            players: [(ids.a, line()), (ids.b, line())].into_iter().collect(),
            game_state: Some(MatchState::Completed),
            draw_seed: None,
            draw_commitment: None,
        })
    }

    async fn tell(&self, ending: &Ending) {
        let limit = self.time("game_over_timeout");
        if self.is("over.silence") {
            let heard = self.ask(Seat::A, self.over(ending), &[], limit).await;
            if matches!(heard, Err(AskError::Call(_))) {
                return;
            }
        } else if !self.is("over.tells-both") {
            let told = self.ask(Seat::A, self.over(ending), &[], limit);
            let other = self.ask(Seat::B, self.over(ending), &[], limit);
            let _answers = tokio::join!(told, other);
            return;
        }
        let _answer = timeout(limit, self.ask(Seat::B, self.over(ending), &[], limit)).await;
    }
}

/// Posts to the manager, once.
async fn post(body: &[u8]) -> Bytes {
    let address: Address = variable("MANAGER").parse().unwrap();
    let mut request = post_head(&address, body.len(), &["Content-Type: application/json"]);
    request.extend_from_slice(body);
    let mut line = Line::open(&address, Transcript::default()).await.unwrap();
    line.send(&request).await.unwrap();
    line.receive(PATIENCE).await.unwrap().body
}

enum Heard {
    Choice(ParityResponse),
    Receipt,
    Unproved,
    Invalid,
}

struct Ending {
    winner: Option<Seat>,
    number: Option<u32>,
    losers: Vec<Seat>,
}

impl Ending {
    fn status(&self) -> ResultStatus {
        match (&self.winner, self.losers.is_empty()) {
            (_, false) => ResultStatus::TechnicalLoss,
            (Some(_), true) => ResultStatus::Win,
            (None, true) => ResultStatus::Draw,
        }
    }
}
