//! What stands between an agent and its manager, and spoils the registration.

use bytes::Bytes;
use league_agent::address::Address;
use league_check::http::{Line, post_head};
use league_check::transcript::Transcript;
use serde_json::Value;

use super::front::{Asked, Ended, Front, Told};
use super::player::{PATIENCE, told, variable};
use super::sabotage::registration;

pub(super) struct Manager {
    broken: String,
    address: Address,
    heard: Box<dyn Fn(&Value) + Send + Sync>,
}

impl Manager {
    /// `heard` is told what the manager answered.
    pub(super) fn new(broken: &str, heard: impl Fn(&Value) + Send + Sync + 'static) -> Self {
        let address = variable("MANAGER").parse().unwrap();
        Self { broken: broken.into(), address, heard: Box::new(heard) }
    }

    async fn pass_on(&self, body: &[u8]) -> Bytes {
        let (role, rest) = self.broken.split_once('.').unwrap_or(("player", ""));
        let user_agent = match rest {
            "register.user-agent" => "User-Agent: Python-urllib/3.11".to_string(),
            _ => format!("User-Agent: {role}/1.0.0"),
        };
        let headers = [user_agent.as_str(), "Content-Type: application/json"];
        let mut request = post_head(&self.address, body.len(), &headers);
        request.extend_from_slice(body);
        let mut line = Line::open(&self.address, Transcript::default()).await.unwrap();
        line.send(&request).await.unwrap();
        line.receive(PATIENCE).await.unwrap().body
    }
}

impl Front for Manager {
    async fn answer(&self, asked: Asked) -> Option<Told> {
        let mut request: Value = serde_json::from_slice(&asked.body).unwrap();
        registration(&self.broken, &mut request);
        let body = request.to_string().into_bytes();
        let answer = self.pass_on(&body).await;
        if self.broken.ends_with(".register.once") {
            self.pass_on(&body).await;
        }
        let result: Value = serde_json::from_slice(&answer).unwrap();
        (self.heard)(&result["result"]);
        Some(told(200, answer.to_vec()))
    }

    fn ended(&self, _: Ended) {}

    fn is_single(&self) -> bool {
        false
    }
}
