//! What every agent says of itself over plain HTTP: whether it lives, is ready, what it is, and
//! what it counts.

use crate::ambient::Mark;
use crate::component::Component;
use crate::endpoint::Answer;
use crate::meter::{self, Meter};

/// The pages `/health`, `/ready`, `/version` and `/metrics` of one agent.
#[derive(Debug, Clone, Copy)]
pub struct Vitals {
    since: Mark,
}

impl Default for Vitals {
    fn default() -> Self {
        // Whoever reads the figures wants to know when they began.
        meter::start_seconds();
        Self { since: Mark::set() }
    }
}

impl Vitals {
    /// The page at `path` of an agent of the kind `agent`, which is ready or says why not; `None`
    /// if it is none of the four.
    pub fn page(&self, path: &str, agent: &str, ready: Result<(), &str>) -> Option<Answer> {
        match path {
            "/health" => {
                let uptime_s = self.since.elapsed().as_secs();
                Some(Answer::json(format!(
                    "{{\"status\":\"ok\",\"agent\":\"{agent}\",\"uptime_s\":{uptime_s}}}\n"
                )))
            }
            "/ready" => Some(match ready {
                Ok(()) => Answer::json("{\"ready\":true}\n"),
                Err(reason) => {
                    let body = format!("{{\"ready\":false,\"reason\":\"{reason}\"}}\n");
                    Answer::json_with_status(503, body)
                }
            }),
            "/version" => {
                let version = env!("CARGO_PKG_VERSION");
                Some(Answer::json(format!(
                    "{{\"agent\":\"{agent}\",\"version\":\"{version}\",\"protocol\":\"league.v2\"}}\n"
                )))
            }
            "/metrics" => {
                let meter = Meter::of(Component::of_user_agent(agent));
                Some(Answer::metrics(meter.page().finish()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // req: ARCH-6
    #[test]
    fn whoever_is_not_ready_lives_all_the_same() {
        let vitals = Vitals::default();
        let status = |path, is_ready: bool| {
            let ready = is_ready.then_some(()).ok_or("not registered yet");
            let answer = vitals.page(path, "player", ready);
            answer.map(|answer| (answer.status, String::from_utf8(answer.body.to_vec()).unwrap()))
        };
        let (code, health) = status("/health", false).unwrap();
        assert_eq!(code, 200);
        assert!(health.starts_with(r#"{"status":"ok","agent":"player","uptime_s":"#), "{health}");
        assert_eq!(status("/ready", true), Some((200, "{\"ready\":true}\n".into())));
        let told = "{\"ready\":false,\"reason\":\"not registered yet\"}\n";
        assert_eq!(status("/ready", false), Some((503, told.into())));
        let (code, version) = status("/version", false).unwrap();
        assert_eq!(code, 200);
        assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
        let (code, metrics) = status("/metrics", true).unwrap();
        assert_eq!(code, 200);
        assert!(metrics.contains("component=\"player\""), "{metrics}");
        assert_eq!(status("/elsewhere", true), None);
    }
}
