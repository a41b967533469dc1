"""Messages of the protocol in the dialect `flat`: their envelope, and what they are called."""

from __future__ import annotations

import re
import secrets
from datetime import datetime, timezone
from typing import Any, Dict, Tuple

from .refusal import Refusal, missing
from .version import PROTOCOL

Message = Dict[str, Any]

# What a player is sent: the method that calls it, and the message.
METHODS = {
    "handle_game_invitation": "GAME_INVITATION",
    "notify_game_start": "GAME_START",
    "choose_parity": "CHOOSE_PARITY_CALL",
    "game_move_call": "GAME_MOVE_CALL",
    "notify_match_result": "GAME_OVER",
    "notify_game_error": "GAME_ERROR",
    "notify_round": "ROUND_ANNOUNCEMENT",
    "notify_round_completed": "ROUND_COMPLETED",
    "notify_round_start": "ROUND_START",
    "notify_round_result": "ROUND_RESULT",
    "update_standings": "LEAGUE_STANDINGS_UPDATE",
    "notify_league_completed": "LEAGUE_COMPLETED",
    "league_error": "LEAGUE_ERROR",
    "notify_suspension": "SUSPENSION_NOTICE",
    "ping": "PING",
}
TYPES = frozenset(METHODS.values())

_TIME = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d):?(\d\d)(?:[.,]\d+)?(?:Z|\+00:?00)", re.ASCII
)
_MATCH = re.compile(r"R([1-9]\d{0,8})M([1-9]\d{0,8})", re.ASCII)


def now() -> str:
    """This moment, as the protocol writes it."""
    text = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def new_conversation(prefix: str) -> str:
    """The name of a new exchange."""
    return prefix + secrets.token_hex(16)


def envelope(kind: str, player: str, conversation: str) -> Message:
    """What every message of a player begins with."""
    return {
        "protocol": PROTOCOL,
        "message_type": kind,
        "sender": "player:" + player,
        "timestamp": now(),
        "conversation_id": conversation,
    }


def check_envelope(method: str, message: Message) -> None:
    """Refuses a message that is not called as it should be, or lacks what every message has."""
    kind = METHODS.get(method) or (method.upper() if method.upper() in TYPES else None)
    if kind is None:
        raise Refusal("-32601", f"a player does not take the method {method[:64]!r}")
    if text(message, "protocol") != PROTOCOL:
        raise Refusal("E018", f"`protocol`: expected {PROTOCOL}")
    if text(message, "message_type") != kind:
        raise missing("message_type", f"{kind}, which the method calls")
    text(message, "sender")
    if not is_utc(text(message, "timestamp")):
        raise Refusal("E021", "`timestamp`: expected ISO 8601 in UTC, such as 2025-01-15T10:30:00Z")
    conversation = text(message, "conversation_id")
    if len(conversation) > 128 or any(letter.isspace() for letter in conversation):
        raise missing("conversation_id", "1 to 128 characters without spaces")


def text(message: Message, field: str) -> str:
    """A field that must be a text with something in it."""
    value = message.get(field)
    if not isinstance(value, str) or not value:
        raise missing(field, "a text")
    return value


def whole(message: Message, field: str, usual: int) -> int:
    """A field that must be a whole number from one on, where it is there."""
    value = message.get(field, usual)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**32:
        raise missing(field, "a whole number from 1 on")
    return value


def match_key(message: Message) -> Tuple[int, int]:
    """The round and number of the match that a message is about; R1M2 comes before R1M10."""
    found = _MATCH.fullmatch(text(message, "match_id"))
    if found is None:
        raise missing("match_id", "the id of a match, such as R1M1")
    return int(found[1]), int(found[2])


def is_utc(timestamp: str) -> bool:
    """Whether a text is a time in UTC, in one of the forms that the protocol knows."""
    found = _TIME.fullmatch(timestamp)
    if found is None:
        return False
    year, month, day, hour, minute, second = map(int, found.groups())
    try:
        datetime(year, month, day, hour, minute, min(second, 59))
    except ValueError:
        return False
    return second <= 60
