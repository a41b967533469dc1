//! The way in which a player takes a call, where that is found out in a match. Whoever says that it
//! does not understand has done nothing, and is asked in another way; each of them once, so that
//! nothing is done twice.

use league_agent::exchange::AskError;
use league_agent::shape;
use league_wire::lenient::own_methods;
use league_wire::{Dialect, MessageType};

use crate::limits::SEARCH_WINDOWS_MAX;

/// In which shape a player is asked, and by which name of its own, if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) dialect: Dialect,
    pub(super) own: Option<&'static str>,
}

/// What was found out about one player in one match.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// Calls that were not understood in the usual way, or tried in another.
    tried: Vec<(MessageType, Way)>,
    /// What the player said to the first of them: that is what its author should hear of.
    first: Option<(MessageType, AskError)>,
    /// Windows that were opened for the search.
    windows: u32,
    /// Whether the player has answered a question in the shape in which it is spoken to.
    pub(super) is_answered: bool,
}

impl Search {
    /// The ways to ask in, the likeliest first. There is at least one, even if none was understood
    /// before: the player may have changed its mind.
    pub(super) fn ways(&self, kind: MessageType, usual: Way, is_lenient: bool) -> Vec<Way> {
        let dialect = usual.dialect;
        let own = if is_lenient { own_methods(kind) } else { &[] };
        let own = own.iter().map(|own| Way { dialect, own: Some(own) });
        let shapes = shape::others(dialect).map(|dialect| Way { dialect, own: None });
        let others = own.chain(shapes).filter(|way| *way != usual);
        let all = std::iter::once(usual).chain(others);
        let new: Vec<Way> = all.filter(|way| !self.tried.contains(&(kind, *way))).collect();
        if new.is_empty() { vec![usual] } else { new }
    }

    /// A call is not to be repeated in this way.
    pub(super) fn spend(&mut self, kind: MessageType, way: Way) {
        if !self.tried.contains(&(kind, way)) {
            self.tried.push((kind, way));
        }
    }

    /// A call was not understood.
    pub(super) fn miss(&mut self, kind: MessageType, way: Way, error: &AskError) {
        self.spend(kind, way);
        if self.first.as_ref().is_none_or(|(first, _)| *first != kind) {
            self.first = Some((kind, error.clone()));
        }
    }

    /// What the player said to a call in the usual way, if it did not understand it.
    pub(super) fn first(&self, kind: MessageType) -> Option<AskError> {
        self.first.as_ref().filter(|(first, _)| *first == kind).map(|(_, error)| error.clone())
    }

    /// Whether the search may go on in another window. It is not the player's time that it takes,
    /// but it must end.
    pub(super) fn goes_on(&mut self) -> bool {
        self.windows += 1;
        self.windows < SEARCH_WINDOWS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error() -> AskError {
        AskError::WrongId { sent: 1, got: "2".into() }
    }

    const INVITATION: MessageType = MessageType::GameInvitation;

    #[test]
    fn each_way_is_tried_once_and_the_usual_one_again_when_there_is_no_other() {
        let usual = Way { dialect: Dialect::Enveloped, own: None };
        let mut search = Search::default();
        for left in (1..=Dialect::ALL.len()).rev() {
            let ways = search.ways(INVITATION, usual, false);
            assert_eq!(ways.len(), left);
            search.miss(INVITATION, ways[0], &error());
        }
        assert_eq!(search.ways(INVITATION, usual, false), [usual]);
        let choice = search.ways(MessageType::ChooseParityCall, usual, true);
        assert_eq!((choice[0], choice.len() > Dialect::ALL.len()), (usual, true));
        assert!(search.first(INVITATION).is_some());
        assert!(search.first(MessageType::ChooseParityCall).is_none());
    }

    #[test]
    fn a_search_ends() {
        let mut search = Search::default();
        let windows = (0..100).take_while(|_| search.goes_on()).count();
        assert_eq!(windows, SEARCH_WINDOWS_MAX as usize - 1);
    }
}
