"""Who is believed, and how a player proves itself."""

from __future__ import annotations

from typing import Tuple

from . import proof
from .call import Call, Move
from .keep import Identity
from .message import Message, envelope, match_key, text
from .refusal import Refusal


def check_manager(me: Identity, message: Message) -> None:
    """What the manager sends carries the player's own token."""
    if not message.get("auth_token"):
        raise Refusal("E011", "auth_token is missing")
    if not proof.same(message["auth_token"], me.auth_token):
        raise Refusal("E012", "auth_token does not prove that the sender is the manager")


def check_referee(me: Identity, message: Message, attempt: int) -> None:
    """What a referee sends carries the manager's proof that it has this match."""
    match_key(message)
    role, _, referee = text(message, "sender").partition(":")
    if role != "referee" or not referee:
        raise Refusal("E012", "only a referee may send this")
    if not message.get("auth_token"):
        raise Refusal("E011", "auth_token is missing")
    match = message["match_id"]
    expected = proof.match_proof(me.auth_token, me.league_id, match, attempt, referee)
    if not proof.same(message["auth_token"], expected):
        raise Refusal("E012", "auth_token does not prove that the sender officiates this match")


def signed(kind: str, me: Identity, message: Message, attempt: int) -> Message:
    """The beginning of an answer to a referee, with the proof that it is the player's."""
    match = message["match_id"]
    return {
        **envelope(kind, me.player_id, message["conversation_id"]),
        "auth_token": proof.reply_proof(me.auth_token, me.league_id, match, attempt),
        "match_id": match,
        "player_id": me.player_id,
    }


def sealed(me: Identity, call: Call, attempt: int, move: Move, nonce: str) -> Tuple[str, Message]:
    """The kind of answer, and the choice with its nonce and the proof of both."""
    is_parity = call.message["message_type"] == "CHOOSE_PARITY_CALL"
    kind = "CHOOSE_PARITY_RESPONSE" if is_parity else "GAME_MOVE_RESPONSE"
    shown = proof.choice_proof(
        me.auth_token, me.league_id, call.match_id, attempt, call.step, move, nonce
    )
    name = "parity_choice" if is_parity else "move_data"
    return kind, {name: move, "nonce": nonce, "choice_proof": shown}
