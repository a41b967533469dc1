"""The handshake with the manager: joining a league, and coming back to it."""

from __future__ import annotations

import logging
import threading
from typing import Any, Dict, Optional

from .keep import Identity, Keep
from .manager import Manager, Reply, Unreachable
from .message import envelope, new_conversation, now

log = logging.getLogger("league_agent")

PAUSE_SECONDS_MIN = 0.1
PAUSE_SECONDS_MAX = 5.0

# The league that a player wants to come back to is over, or not there any more.
PAST = ("E005", "E014", "E019")


class Rejected(Exception):
    """The manager said no."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"registration refused with {code}: {text}")
        self.code = code


class Registration:
    """How a player registers."""

    def __init__(self, manager: Manager, meta: Dict[str, Any], league: Optional[str]) -> None:
        self.manager = manager
        self.meta = meta
        self.league = league

    def join(self, keep: Keep, stop: threading.Event) -> Optional[Identity]:
        """Joins, as the one that was kept if there is one; nothing if it is told to stop."""
        kept = keep.read()
        if kept is not None and self.league not in (None, kept.league_id):
            kept = None
        try:
            joined = self.ask(kept, stop)
        except Rejected as rejected:
            if kept is None:
                raise
            if rejected.code not in PAST:
                raise Rejected(rejected.code, f"{rejected}; who comes back is kept in {keep.file}")
            joined = self.ask(None, stop)
        if joined is not None:
            keep.write(joined)
        return joined

    def ask(self, known: Optional[Identity], stop: threading.Event) -> Optional[Identity]:
        """Asks until there is an answer. A manager that is not there yet is waited for."""
        # The conversation stays: a manager that has heard us before gives the same answer again.
        request = self._request(known)
        pause, is_told = PAUSE_SECONDS_MIN, False
        while not stop.is_set():
            try:
                reply = self.manager.call(request)
                joined = _read(reply)
                if joined is not None:
                    return joined
                trouble = f"{self.manager.base} is busy (HTTP status {reply.status})"
            except Unreachable as error:
                trouble = str(error)
            if not is_told:
                log.warning("%s; trying again until it answers, Ctrl-C stops", trouble)
            is_told = True
            stop.wait(pause)
            pause = min(pause * 2, PAUSE_SECONDS_MAX)
            request["params"]["timestamp"] = now()
        return None

    def _request(self, known: Optional[Identity]) -> Dict[str, Any]:
        name = known.player_id if known else "new"
        params = envelope("LEAGUE_REGISTER_REQUEST", name, new_conversation("reg"))
        params["player_meta"] = self.meta
        league = known.league_id if known else self.league
        if league is not None:
            params["league_id"] = league
        if known is not None:
            params["auth_token"] = known.auth_token
        return {"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": params}


def _read(reply: Reply) -> Optional[Identity]:
    """Who the manager says we are; nothing if it has no time just now."""
    document = reply.document if isinstance(reply.document, dict) else {}
    result, error = document.get("result"), document.get("error")
    if isinstance(error, dict):
        data = error.get("data")
        code = data.get("error_code") if isinstance(data, dict) else error.get("code")
        if code == "E033":
            return None
        raise Rejected(str(code), str(error.get("message")))
    if not isinstance(result, dict):
        if reply.status in (429, 500, 502, 503, 504):
            return None
        raise Rejected(f"HTTP status {reply.status}", "is there a league manager?")
    if result.get("error_code") == "E033":
        return None
    if result.get("status") != "ACCEPTED":
        text = result.get("error_description") or result.get("rejection_reason")
        raise Rejected(str(result.get("error_code")), str(text))
    return Identity(*(str(result[key]) for key in ("league_id", "player_id", "auth_token")))
