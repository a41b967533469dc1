//! Whether an answer agrees with the call that it answers: it comes from the player that was asked,
//! and is about the same match, round, game, league and conversation.

use std::fmt;

use league_core::id::{AgentId, PlayerId};
use league_core::seat::Seat;
use league_wire::dialect::answer_path;
use league_wire::lenient::{Deviation, Slip, Understood};
use league_wire::shown::field;
use league_wire::{Code, DecodeError, Dialect, Message, Reply, Sender};

use super::outbound::Letters;

const SENDER: &str = "sender";

impl Letters {
    /// What `reply` of the player at `seat`, which was asked in `dialect`, says otherwise than the
    /// call. What it does not say it does not contradict.
    pub(super) fn contradiction(
        &self,
        seat: Seat,
        dialect: Dialect,
        reply: &Reply,
    ) -> Option<DecodeError> {
        let (order, said) = (&self.order, &reply.envelope);
        if let Some(named) = reply.message.match_id().filter(|named| *named != order.match_id) {
            return Some(DecodeError::another_match("result", order.match_id, named));
        }
        let player = self.player(seat);
        let own = || Sender::from(AgentId::Player(player));
        let is_other = |sender: &&Sender| sender.agent() != Some(AgentId::Player(player));
        let other = |(code, name): (Code, &str), no: Option<(String, String)>| {
            let (expected, got) = no?;
            Some(DecodeError::contradicts(code, &answer_path(dialect, name), &expected, &got))
        };
        let sender = said.sender.as_ref().filter(is_other);
        let sender = sender.map(|sender| (own().to_string(), sender.to_string()));
        let named = named_player(&reply.message);
        other((Code::E003, SENDER), sender)
            .or_else(|| other((Code::E003, "player_id"), differ(&player, named.as_ref())))
            .or_else(|| {
                let no = differ(&self.conversation, said.conversation.as_ref());
                other((Code::E015, field::CONVERSATION), no)
            })
            .or_else(|| {
                let no = differ(&order.round_id, said.round_id.as_ref());
                other((Code::E015, "round_id"), no)
            })
            .or_else(|| {
                let no = differ(&self.me.league, said.league_id.as_ref());
                other((Code::E003, field::LEAGUE), no)
            })
            .or_else(|| {
                let no = differ(&order.game_type, said.game_type.as_ref());
                other((Code::E003, "game_type"), no)
            })
    }

    /// Passes over what an answer on our connection says of itself that means no harm: a name of
    /// its own for its sender, or a conversation of its own. Nobody may speak for another player.
    pub(super) fn forgive(&self, seat: Seat, dialect: Dialect, heard: &mut Understood<Reply>) {
        let Understood { meaning: Reply { envelope, .. }, deviations } = heard;
        let mut note = |name: &str, right: &str| {
            let at = answer_path(dialect, name);
            let fix = format!("change `{at}` to {right}");
            deviations.note(Deviation { fix, ..Slip::BareReply.at(at) });
        };
        let is_nickname = |sender: &Sender| match sender {
            Sender::Player(id) => id.parse::<PlayerId>().is_err(),
            Sender::LeagueManager(_) | Sender::Referee(_) | Sender::Administrator => false,
        };
        if envelope.sender.as_ref().is_some_and(is_nickname) {
            let right = Sender::from(AgentId::Player(self.player(seat))).to_string();
            note(SENDER, &format!("{right:?}"));
            envelope.sender = None;
        }
        if envelope.conversation.as_ref().is_some_and(|named| *named != self.conversation) {
            note(field::CONVERSATION, "that of the call");
            envelope.conversation = None;
        }
    }
}

/// What should have come and what came, if that is something else.
fn differ<T: PartialEq + fmt::Display>(expected: &T, got: Option<&T>) -> Option<(String, String)> {
    let got = got.filter(|got| *got != expected)?;
    Some((expected.to_string(), got.to_string()))
}

/// The player that an answer names.
#[expect(clippy::wildcard_enum_match_arm, reason = "three messages are answers of players")]
const fn named_player(message: &Message) -> Option<PlayerId> {
    match message {
        Message::GameJoinAck(it) => it.player_id,
        Message::ChooseParityResponse(it) => it.player_id,
        Message::GameMoveResponse(it) => it.player_id,
        _ => None,
    }
}
