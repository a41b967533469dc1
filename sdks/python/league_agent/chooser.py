"""The author's function, watched: whatever it does, there is an answer in time."""

from __future__ import annotations

import logging
import queue
import random
import threading
from typing import Any, Callable, Tuple

from .call import Call, Move
from .refusal import Refusal

Choose = Callable[[Call], Move]

log = logging.getLogger("league_agent")

# What is kept of the time to choose for sending the answer.
RESERVE_SHARE = 0.2
RESERVE_SECONDS_MAX = 2.0


class Chooser:
    """Asks a function for a move; if it fails or is slow, says so and takes any legal move."""

    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    def move(self, call: Call) -> Move:
        """The move. It is there before the time of the call is up."""
        said: queue.SimpleQueue[Tuple[Any, bool]] = queue.SimpleQueue()

        def ask() -> None:
            try:
                said.put((self._choose(call), True))
            except Exception:
                log.exception("%s: your function failed", call.match_id)
                said.put((None, False))

        left = call.seconds_left
        # A function that never ends must not keep the program from ending.
        threading.Thread(target=ask, name=call.match_id, daemon=True).start()
        try:
            move, is_said = said.get(timeout=left - min(left * RESERVE_SHARE, RESERVE_SECONDS_MAX))
        except queue.Empty:
            log.error("%s: your function took too long: %.1f s is all", call.match_id, left)
            return self._any(call)
        if is_said and is_legal(move, call):
            legal: Move = move
            return legal
        if is_said:
            log.error("%s: your function said %r, not one of %s", call.match_id, move, call.options)
        return self._any(call)

    def _any(self, call: Call) -> Move:
        if not call.options:
            raise Refusal("-32603", "this player has no move to fall back on")
        move: Move = random.choice(call.options)
        log.error("%s: %r is played instead", call.match_id, move)
        return move


def is_legal(move: Any, call: Call) -> bool:
    """Whether a move may be sent: 3 is not "3", and True is not 1."""
    if call.options:
        return any(type(move) is type(option) and move == option for option in call.options)
    return type(move) in (str, int)
