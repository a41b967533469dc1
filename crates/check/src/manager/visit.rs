//! A visit to a manager: what one case says to it, as whom, and what comes back.

use std::sync::Arc;
use std::time::Duration;

use league_agent::address::Address;
use league_agent::ambient;
use league_agent::exchange::new_conversation;
use league_wire::{MessageType, iso};
use serde_json::{Value, json};

use super::door::{Door, League};
use super::guest::{Guest, Identity, Kind};
use super::said::Reply;
use super::speech::{Speech, Stamp, merge};
use crate::bench::{Bench, Subject};
use crate::http::{Got, Line, Trouble, post_head};
use crate::limits::{REGISTER_TIME, TOLD_TIME};
use crate::transcript::Transcript;
use crate::verdict::Halt;

const JSON: &str = "Content-Type: application/json";
const CLOSE: &str = "Connection: close";
const ACCEPT: &str = "Accept: application/json, text/event-stream";
const USER_AGENT: &str = concat!("User-Agent: player/", env!("CARGO_PKG_VERSION"));

/// A visit to a manager.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    /// Where it is called.
    pub(super) address: Address,
    /// How it is spoken to.
    pub(super) speech: Speech,
    /// The manager, and what its cases share.
    pub(super) subject: Arc<Subject>,
    /// What went over the line.
    pub(super) transcript: Transcript,
}

impl Stamp {
    /// What somebody says who is not registered.
    pub(super) fn stranger(kind: Kind) -> Self {
        Self::of(&format!("{}:checker", kind.word()), "")
    }

    /// What a registered agent says.
    pub(super) fn own(kind: Kind, me: &Identity) -> Self {
        Self::of(&format!("{}:{}", kind.word(), me.id), &me.token)
    }

    /// What `sender` says and proves with `token`.
    pub(super) fn of(sender: &str, token: &str) -> Self {
        Self {
            sender: sender.into(),
            conversation: new_conversation("check").to_string(),
            token: token.into(),
            timestamp: iso::format(ambient::now()),
        }
    }

    /// The same in a conversation that is called after what it is for.
    pub(super) fn about(self, word: &str) -> Self {
        Self { conversation: new_conversation(word).to_string(), ..self }
    }

    /// A stamp for what is only shown.
    pub(super) fn example(sender: &str) -> Self {
        Self { conversation: "conv-1".into(), ..Self::of(sender, "") }
    }
}

impl Visit {
    /// The visit of the case that works at `bench`.
    pub(super) fn of(bench: &Bench) -> Self {
        Self {
            address: bench.subject.address.clone(),
            speech: Speech(bench.dialect()),
            subject: bench.subject.clone(),
            transcript: bench.transcript.clone(),
        }
    }

    /// What lets the checker in.
    pub(super) fn door(&self) -> &Door {
        &self.subject.door
    }

    /// Posts a body to `/mcp`.
    pub(super) async fn post(&self, body: &[u8]) -> Result<Got, Trouble> {
        self.post_with(body, &[JSON]).await
    }

    /// The same with other headers than usual.
    pub(super) async fn post_with(&self, body: &[u8], headers: &[&str]) -> Result<Got, Trouble> {
        self.exchange(&self.address, body, headers).await
    }

    /// Posts a body to another place of the manager.
    pub(super) async fn post_to(
        &self,
        path: &str,
        body: &[u8],
        headers: &[&str],
    ) -> Result<Got, Trouble> {
        let (host, port) = (self.address.host(), self.address.port());
        let address: Result<Address, _> = format!("http://{host}:{port}{path}").parse();
        let address = address.map_err(|bad| Trouble::Ours(bad.to_string()))?;
        let mut all = vec![JSON];
        all.extend_from_slice(headers);
        self.exchange(&address, body, &all).await
    }

    async fn exchange(
        &self,
        address: &Address,
        body: &[u8],
        headers: &[&str],
    ) -> Result<Got, Trouble> {
        let mut all = vec![USER_AGENT, ACCEPT, CLOSE];
        all.extend_from_slice(headers);
        let mut request = post_head(address, body.len(), &all);
        request.extend_from_slice(body);
        self.raw(&request, REGISTER_TIME).await
    }

    /// Sends bytes and waits for one answer.
    pub(super) async fn raw(&self, bytes: &[u8], limit: Duration) -> Result<Got, Trouble> {
        let mut line = self.line().await?;
        // Whoever refuses early may close before it has read everything; its answer counts.
        let sent = line.send(bytes).await;
        let received = line.receive(limit).await;
        match (sent, received) {
            (_, Ok(got)) => Ok(got),
            (Err(trouble), Err(_)) | (Ok(()), Err(trouble)) => Err(trouble),
        }
    }

    /// A connection to the manager.
    pub(super) async fn line(&self) -> Result<Line, Trouble> {
        Line::open(&self.address, self.transcript.clone()).await
    }

    /// Gets a page.
    pub(super) async fn page(&self, path: &str, limit: Duration) -> Result<Got, Trouble> {
        let (host, port) = (self.address.host(), self.address.port());
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n{CLOSE}\r\n\r\n");
        self.raw(head.as_bytes(), limit).await
    }

    /// Sends a request and reads the answer.
    pub(super) async fn send(&self, request: &Value) -> Result<Reply, Halt> {
        self.send_text(&request.to_string()).await
    }

    /// The same for somebody who waits longer than it should.
    pub(super) async fn send_patiently(&self, request: &Value) -> Result<Reply, Halt> {
        let body = request.to_string();
        let mut bytes = post_head(&self.address, body.len(), &[USER_AGENT, ACCEPT, CLOSE, JSON]);
        bytes.extend_from_slice(body.as_bytes());
        let got = self.raw(&bytes, REGISTER_TIME + TOLD_TIME).await.map_err(silent)?;
        Ok(self.reply(got))
    }

    /// The same for what may not be JSON.
    pub(super) async fn send_text(&self, body: &str) -> Result<Reply, Halt> {
        let got = self.post(body.as_bytes()).await.map_err(silent)?;
        Ok(self.reply(got))
    }

    /// An answer as it came.
    pub(super) fn reply(&self, got: Got) -> Reply {
        let json = serde_json::from_slice(&got.body).unwrap_or(Value::Null);
        Reply { got, json, speech: self.speech }
    }

    /// Says `kind` with `fields`.
    pub(super) async fn say(
        &self,
        kind: MessageType,
        stamp: &Stamp,
        fields: Value,
    ) -> Result<Reply, Halt> {
        self.send(&self.speech.request(kind, stamp, fields)).await
    }

    /// A guest that listens and is not registered.
    pub(super) async fn guest(&self, kind: Kind) -> Result<Guest, Halt> {
        Guest::open(kind, self.speech, self.transcript.clone()).await
    }

    /// The registration of `guest` in `league`, as its document prints it.
    pub(super) fn application(&self, guest: &Guest, league: &League) -> Value {
        self.application_as(guest, league, &Stamp::stranger(guest.kind))
    }

    /// The same, said as somebody else.
    pub(super) fn application_as(&self, guest: &Guest, league: &League, stamp: &Stamp) -> Value {
        guest.listen_to(league.id.as_deref());
        if !league.is_own {
            guest.stay_in(&self.subject.lounge);
        }
        let mut meta = guest.meta();
        let (name, pass) = match guest.kind {
            Kind::Player => ("join_code", &league.join_code),
            Kind::Referee => ("join_key", &league.join_key),
        };
        if let Some(pass) = pass {
            merge(&mut meta, json!({name: pass}));
        }
        let mut fields = json!({guest.kind.meta_field(): meta});
        if let Some(id) = &league.id {
            merge(&mut fields, json!({"league_id": id}));
        }
        self.speech.request(guest.kind.registers_with(), stamp, fields)
    }

    /// Registers a new guest of `kind` in `league`.
    pub(super) async fn register(&self, kind: Kind, league: &League) -> Result<Guest, Halt> {
        let guest = self.guest(kind).await?;
        self.register_guest(&guest, league).await?;
        Ok(guest)
    }

    /// Registers `guest` in `league`; whatever goes wrong is told by another case.
    pub(super) async fn register_guest(&self, guest: &Guest, league: &League) -> Result<(), Halt> {
        self.register_as(guest, league, &Stamp::stranger(guest.kind)).await
    }

    /// The same in a conversation of its own.
    pub(super) async fn register_as(
        &self,
        guest: &Guest,
        league: &League,
        stamp: &Stamp,
    ) -> Result<(), Halt> {
        let told = |halt: Halt| halt.unless_told_by(guest.kind.case());
        let reply = self.send(&self.application_as(guest, league, stamp)).await.map_err(told)?;
        let message = reply.accepted("a registration").map_err(told)?;
        let me = Identity::read(guest.kind, &message).map_err(told)?;
        let known = league.id.clone().or(me.league);
        guest.assume(Identity { league: known, ..me });
        Ok(())
    }
}

/// What is told of a manager that gives no answer at all.
pub(super) fn silent(trouble: Trouble) -> Halt {
    match trouble {
        Trouble::Ours(why) => Halt::Ours(why),
        trouble @ (Trouble::NotConnected(_)
        | Trouble::Broken(_)
        | Trouble::TimedOut(_)
        | Trouble::NotHttp(_)
        | Trouble::TooLarge) => Halt::fail(
            format!("the manager gave no answer: {trouble}"),
            "answer every POST to /mcp with HTTP status 200 and a JSON-RPC response",
        ),
    }
}
