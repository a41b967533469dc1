"""Playing without an open port: fetching what was sent, and posting the answers."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any, List, Optional

from .desk import Desk
from .keep import Identity
from .manager import Manager, Reply, Unreachable
from .register import PAST, PAUSE_SECONDS_MAX, PAUSE_SECONDS_MIN, Registration, Rejected

log = logging.getLogger("league_agent")

POLL_SECONDS = 25
POLL_PAUSE_SECONDS_MAX = 1.0
ANSWER_TRIES = 3
DRAIN_SECONDS = 5.0


class Mailbox:
    """The mailbox of one player at the manager."""

    def __init__(self, desk: Desk, registration: Registration, stop: threading.Event) -> None:
        self._desk = desk
        self._manager: Manager = registration.manager
        self._registration = registration
        self._stop = stop
        self._answering: List[threading.Thread] = []
        self._after: Optional[int] = None

    def serve(self) -> None:
        """Fetches and answers until it is told to stop."""
        pause = PAUSE_SECONDS_MIN
        while not self._stop.is_set():
            me = self._desk.player.identity
            assert me is not None, "a player is registered before it fetches"
            try:
                reply = self._manager.turns(me.auth_token, self._after, POLL_SECONDS)
                if reply.status == 200:
                    self._take(me, reply.document)
                    pause = PAUSE_SECONDS_MIN
                    continue
                wait = self._trouble(me, reply, pause)
            except (Unreachable, KeyError, TypeError) as error:
                wait = pause
                self._tell(pause, f"{error}")
            self._after = None
            self._stop.wait(wait)
            pause = min(pause * 2, POLL_PAUSE_SECONDS_MAX)

    def close(self) -> None:
        """Gives what is being answered a while to end."""
        until = time.monotonic() + DRAIN_SECONDS
        for thread in self._answering:
            thread.join(max(0.0, until - time.monotonic()))

    def _take(self, me: Identity, document: Any) -> None:
        for turn in document["turns"]:
            if turn["needs_answer"]:
                # A mailbox holds few calls, so there are few threads.
                thread = threading.Thread(target=self._answer, args=(me, turn), daemon=True)
                self._answering.append(thread)
                thread.start()
            else:
                # What is told must be known before what follows from it is asked.
                self._desk.answer_call(turn["call"])
        self._answering = [thread for thread in self._answering if thread.is_alive()]
        self._after = document.get("cursor", self._after)

    def _answer(self, me: Identity, turn: Any) -> None:
        answer = self._desk.answer_call(turn["call"])
        pause = PAUSE_SECONDS_MIN
        for _ in range(ANSWER_TRIES):
            try:
                reply = self._manager.answer_turn(me.auth_token, turn["turn"], answer.body)
                if reply.status not in (429, 503):
                    return
            except Unreachable as error:
                log.warning("an answer was not taken: %s", error)
            threading.Event().wait(pause)
            pause *= 2

    def _trouble(self, me: Identity, reply: Reply, pause: float) -> float:
        """What to do about an answer that brings no turns; gives how long to wait."""
        if reply.status == 409:
            log.warning("somebody else fetches the turns of this player")
            return PAUSE_SECONDS_MAX
        if reply.status in (401, 403):
            self._come_back(me)
            return pause
        self._tell(pause, f"HTTP status {reply.status}")
        return max(pause, reply.retry_after or 0.0)

    def _come_back(self, me: Identity) -> None:
        """The manager has no mailbox for this token; registering again tells why."""
        try:
            again = self._registration.ask(me, self._stop)
        except Rejected as rejected:
            if rejected.code not in PAST:
                raise
            log.info("the league is over")
            self._desk.player.conclude()
            return
        if again is not None:
            self._desk.player.settle(again)

    def _tell(self, pause: float, trouble: str) -> None:
        """The same trouble is told once."""
        if pause == PAUSE_SECONDS_MIN:
            log.warning("no turns can be fetched, trying again: %s", trouble)
