"""A match that is over, as its player saw it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from .message import Message
from .proof import commitment, drawn_number


@dataclass(frozen=True)
class Match:
    """A match that is over."""

    match_id: str
    game: str
    opponent: str
    #: WIN, LOSS, TIE, TECHNICAL_LOSS or CANCELLED, for this player.
    result: str
    #: What was chosen on both sides; None where nothing was.
    mine: Any
    theirs: Any
    #: The number that was drawn, if one was.
    drawn: Optional[int]
    reason: str
    #: Whether the draw was checked and is as it was promised; None if it cannot be checked.
    fair: Optional[bool]

    @staticmethod
    def read(message: Message, me: str, league: str, promise: Promise) -> Match:
        """What GAME_OVER says. Whatever it leaves out is None."""
        outcome = _table(message.get("game_result"))
        choices = _table(outcome.get("choices"))
        opponent = next((player for player in choices if player != me), "")
        number = outcome.get("drawn_number")
        return Match(
            match_id=message["match_id"],
            game=str(message.get("game_type", "")),
            opponent=opponent,
            result=str(_table(message.get("results")).get(me, outcome.get("status", ""))),
            mine=choices.get(me),
            theirs=choices.get(opponent),
            drawn=number if isinstance(number, int) else None,
            reason=str(outcome.get("reason", "")),
            fair=promise.is_kept(message, me, league),
        )


@dataclass
class Promise:
    """What is known of the draw before it is made."""

    #: The hash of the seed, from the invitation; None if the referee draws by itself.
    commitment: Optional[str] = None
    #: PLAYER_A or PLAYER_B, whose nonces count in this order.
    role: Optional[str] = None
    #: This player's share in the draw.
    nonce: Optional[str] = None

    def is_kept(self, message: Message, me: str, league: str) -> Optional[bool]:
        """Whether the number of GAME_OVER follows from what was promised; None if nothing was."""
        number = _table(message.get("game_result")).get("drawn_number")
        if number is None or self.commitment is None or self.role is None or self.nonce is None:
            return None
        nonces = _table(message.get("nonces"))
        theirs = next((nonce for player, nonce in nonces.items() if player != me), None) or ""
        if nonces.get(me) != self.nonce or not isinstance(theirs, str):
            return False
        a, b = (self.nonce, theirs) if self.role == "PLAYER_A" else (theirs, self.nonce)
        match, rematch = message["match_id"], message.get("rematch", 0)
        try:
            seed = bytes.fromhex(message["draw_seed"])
        except (KeyError, TypeError, ValueError):
            return False
        is_promised = commitment(league, match, rematch, seed) == self.commitment
        return is_promised and drawn_number(seed, league, match, rematch, a, b) == number


def _table(value: Any) -> Any:
    return value if isinstance(value, dict) else {}
