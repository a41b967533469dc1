"""A call for a move, as the author's function sees it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Dict, Sequence, Tuple, Union

from .match import Match
from .message import Message, whole
from .refusal import missing

#: What may be chosen: "even", 3, "rock" …
Move = Union[str, int]

USUAL_MS = 30_000


@dataclass(frozen=True)
class Call:
    """What a player knows when it must choose."""

    #: The game: "even_odd", "even_odd_numbers" …
    game: str
    match_id: str
    opponent: str
    #: Which move of the match this is, from 1.
    step: int
    #: What is asked for: "parity", "number" …
    move_type: str
    #: What may be answered; empty where the moves cannot be listed.
    options: Tuple[Move, ...]
    #: What the game tells besides, such as your role.
    context: Dict[str, Any]
    #: The matches that this player has finished since it was started, the latest last.
    history: Sequence[Match]
    #: The whole message: standings, earlier games, deadline and all.
    message: Message
    #: When the time is up, on the clock of `time.monotonic`.
    until: float

    @property
    def standings(self) -> Sequence[Dict[str, Any]]:
        """The table, best first."""
        rows = self.message.get("standings")
        return rows if isinstance(rows, list) else []

    @property
    def seconds_left(self) -> float:
        """How much time is left to choose."""
        return max(0.0, self.until - time.monotonic())

    @staticmethod
    def example(**changes: Any) -> Call:
        """A call to try a function with; whatever matters to it can be changed."""
        usual = Call(
            game="even_odd",
            match_id="R1M1",
            opponent="P02",
            step=1,
            move_type="parity",
            options=("even", "odd"),
            context={},
            history=(),
            message={"message_type": "CHOOSE_PARITY_CALL", "match_id": "R1M1"},
            until=time.monotonic() + USUAL_MS / 1000,
        )
        return replace(usual, **changes)

    @staticmethod
    def read(message: Message, history: Sequence[Match]) -> Call:
        """A CHOOSE_PARITY_CALL or GAME_MOVE_CALL that has just arrived."""
        until = time.monotonic() + whole(message, "budget_ms", USUAL_MS) / 1000
        is_parity = message["message_type"] == "CHOOSE_PARITY_CALL"
        request = message.get("context" if is_parity else "move_request", {})
        if not isinstance(request, dict):
            raise missing("context" if is_parity else "move_request", "an object")
        options = ["even", "odd"] if is_parity else request.get("valid_options")
        context = request if is_parity else request.get("context") or {}
        if not isinstance(options, list) or not isinstance(context, dict):
            raise missing("move_request", "an object with the list valid_options")
        opponent = message.get("opponent_id") or context.get("opponent_id") or ""
        return Call(
            game=str(message.get("game_type", "even_odd")),
            match_id=message["match_id"],
            opponent=str(opponent),
            step=1 if is_parity else whole(message, "step", 1),
            move_type="parity" if is_parity else str(request.get("move_type", "")),
            options=tuple(options),
            context=context,
            history=history,
            message=message,
            until=until,
        )
