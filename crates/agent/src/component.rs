//! The three parts of a league, as logs and figures tell them apart.

/// A part of a league.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// The league manager.
    Manager,
    /// A referee.
    Referee,
    /// A player.
    Player,
}

impl Component {
    /// Every part.
    pub const ALL: [Self; 3] = [Self::Manager, Self::Referee, Self::Player];

    /// The name in logs, figures and the header `User-Agent`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Manager => "league_manager",
            Self::Referee => "referee",
            Self::Player => "player",
        }
    }

    /// The part that calls itself `user_agent`, such as `referee/0.1.0`. Whoever is none of the
    /// three calls like a player.
    pub fn of_user_agent(user_agent: &str) -> Self {
        let name = user_agent.split('/').next().unwrap_or_default();
        Self::ALL.into_iter().find(|part| part.name() == name).unwrap_or(Self::Player)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_known_by_what_they_call_themselves() {
        for part in Component::ALL {
            assert_eq!(Component::of_user_agent(&format!("{}/1.2", part.name())), part);
        }
        assert_eq!(Component::of_user_agent("curl"), Component::Player);
    }
}
