"""A player that hears nothing asks its manager now and then whether it still belongs."""

from __future__ import annotations

import threading
import time

from .manager import Manager, Unreachable
from .message import envelope, new_conversation
from .player import Player
from .register import PAST, Rejected

SILENCE_SECONDS = 30.0
OVER = ("COMPLETED", "ARCHIVED")


class Lookout:
    """Who missed the end of its league, or whose token was replaced, would stay for ever."""

    def __init__(self, manager: Manager, player: Player, silence: float = SILENCE_SECONDS) -> None:
        self._manager = manager
        self._player = player
        self._silence = silence

    def watch(self, stop: threading.Event) -> None:
        """Asks after every silence, until it is told to stop; raises if the player is out."""
        asked = time.monotonic()
        while not stop.wait(min(1.0, self._silence)):
            if time.monotonic() - max(asked, self._player.heard_at) >= self._silence:
                self._look()
                asked = time.monotonic()

    def _look(self) -> None:
        """Asks once. A manager that is not there just now is no news."""
        me = self._player.identity
        if me is None:
            return
        params = {
            **envelope("LEAGUE_QUERY", me.player_id, new_conversation("look")),
            "auth_token": me.auth_token,
            "league_id": me.league_id,
            "query_type": "GET_LEAGUE",
        }
        call = {"jsonrpc": "2.0", "id": 1, "method": "league_query", "params": params}
        try:
            document = self._manager.call(call).document
            error = document.get("error")
            code = error["data"]["error_code"] if error else None
            is_over = not error and document["result"]["data"]["status"] in OVER
        except (Unreachable, AttributeError, KeyError, TypeError):
            return
        if code == "E012":
            raise Rejected(code, str(error["message"]))
        if is_over or code in PAST:
            self._player.conclude()
