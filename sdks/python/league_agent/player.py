"""A whole player: believes nobody without proof, and gives each question one answer."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Callable, Deque, Dict, Optional, Tuple

from .call import Call
from .chooser import Choose, Chooser
from .keep import Identity
from .match import Match, Promise
from .message import Message, envelope, match_key, whole
from .refusal import Refusal
from .trust import check_manager, check_referee, sealed, signed

log = logging.getLogger("league_agent")

HISTORY_MAX = 256
MATCHES_MAX = 1024
STEPS_MAX = 1024
IDENTITY_WAIT = 5.0
LAST_RESULT_WAIT = 2.0

_FROM_MANAGER = (
    "ROUND_ANNOUNCEMENT",
    "ROUND_COMPLETED",
    "ROUND_START",
    "ROUND_RESULT",
    "LEAGUE_STANDINGS_UPDATE",
    "LEAGUE_COMPLETED",
    "LEAGUE_ERROR",
    "SUSPENSION_NOTICE",
)

# The kind of an answer and what it says, as soon as that is decided.
_Answer = Future[Tuple[str, Message]]


@dataclass
class _Known:
    """The latest attempt at a match that the player was invited to."""

    attempt: int
    promise: Promise
    #: One answer for each step. Who had several to show could take the one that suits.
    answers: Dict[int, _Answer] = field(default_factory=dict)
    is_over: bool = False


class Player:
    """Answers the messages of one league. Any number of threads may ask it at the same time."""

    def __init__(self, choose: Choose, on_result: Optional[Callable[[Match], None]] = None) -> None:
        #: Set when the league is over, and the last result is known.
        self.league_over = threading.Event()
        #: When the manager was last heard, on the clock of `time.monotonic`.
        self.heard_at = time.monotonic()
        self._is_concluded = False
        self._chooser = Chooser(choose)
        self._on_result = on_result
        self.identity: Optional[Identity] = None
        self._settled = threading.Event()
        self._lock = threading.Lock()
        self._known: Dict[Tuple[int, int], _Known] = {}
        self._history: Deque[Match] = deque(maxlen=HISTORY_MAX)

    @property
    def name(self) -> str:
        """How it signs its messages."""
        return self.identity.player_id if self.identity else "new"

    @property
    def history(self) -> Tuple[Match, ...]:
        """The matches that it has finished, the latest last."""
        with self._lock:
            return tuple(self._history)

    def settle(self, identity: Identity) -> None:
        """The player is registered."""
        self.identity = identity
        self._settled.set()

    def conclude(self) -> None:
        """The league is over. The result of the last match may still be on its way."""
        self._is_concluded = True
        self._end_if_done()
        timer = threading.Timer(LAST_RESULT_WAIT, self.league_over.set)
        timer.daemon = True
        timer.start()

    def _end_if_done(self) -> None:
        with self._lock:
            is_open = any(not known.is_over for known in self._known.values())
        if self._is_concluded and not is_open:
            self.league_over.set()

    def receive(self, message: Message) -> Message:
        """The answer to a message whose envelope is in order; raises what is refused."""
        # A message may overtake the answer to the registration.
        self._settled.wait(IDENTITY_WAIT)
        me = self.identity
        if me is None:
            raise Refusal("E033", "this player is not registered yet")
        kind = message["message_type"]
        if kind == "GAME_INVITATION":
            return self._accept(me, message)
        if kind in ("CHOOSE_PARITY_CALL", "GAME_MOVE_CALL"):
            return self._choose(me, message)
        if kind == "GAME_OVER":
            return self._end(me, message)
        if kind == "GAME_START":
            check_referee(me, message, whole(message, "attempt", 1))
        elif kind == "GAME_ERROR":
            self._complaint(me, message)
        elif kind == "PING":
            return envelope("PONG", me.player_id, message["conversation_id"])
        elif kind in _FROM_MANAGER:
            check_manager(me, message)
            self._hear(me, message)
        answer = envelope("ACK", me.player_id, message["conversation_id"])
        return {**answer, "acknowledged": True, "acknowledges": kind}

    def _accept(self, me: Identity, message: Message) -> Message:
        attempt = whole(message, "attempt", 1)
        check_referee(me, message, attempt)
        commitment, role = message.get("draw_commitment"), message.get("role_in_match")
        self._note(match_key(message), _Known(attempt, Promise(commitment, role)))
        log.info("%s: a match against %s begins", message["match_id"], message.get("opponent_id"))
        answer = signed("GAME_JOIN_ACK", me, message, attempt)
        return {**answer, "accept": True, "arrival_timestamp": answer["timestamp"]}

    def _note(self, key: Tuple[int, int], fresh: _Known) -> None:
        """A later attempt replaces an earlier one, never the other way round."""
        with self._lock:
            known = self._known.get(key)
            if known and known.attempt > fresh.attempt:
                raise Refusal("E030", "this player is at a later attempt at that match")
            if known and known.attempt == fresh.attempt:
                return
            self._known[key] = fresh
            # The earliest match is forgotten first, and cannot be answered anew after that.
            if len(self._known) > MATCHES_MAX:
                earliest = min(self._known)
                del self._known[earliest]
                if earliest == key:
                    raise Refusal("E030", "this match is long over")

    def _choose(self, me: Identity, message: Message) -> Message:
        key = match_key(message)
        with self._lock:
            known = self._known.get(key)
        attempt = whole(message, "attempt", known.attempt if known else 1)
        if known is None or attempt > known.attempt:
            raise Refusal("G003", "this player was not invited to that match")
        check_referee(me, message, attempt)
        if attempt < known.attempt:
            raise Refusal("E030", "this player is at a later attempt at that match")
        call = Call.read(message, self.history)
        with self._lock:
            answer = known.answers.get(call.step)
            is_first = answer is None
            if answer is None:
                if len(known.answers) >= STEPS_MAX:
                    raise Refusal("E003", f"`step`: expected at most {STEPS_MAX} moves in a match")
                answer = known.answers[call.step] = Future()
        if is_first:
            self._decide(me, call, known, answer)
        kind, choice = answer.result()
        return {**signed(kind, me, message, attempt), **choice}

    def _decide(self, me: Identity, call: Call, known: _Known, answer: _Answer) -> None:
        """Chooses once; everybody who asks for this step is given the same."""
        try:
            move = self._chooser.move(call)
            nonce = secrets.token_hex(16)
            chosen = sealed(me, call, known.attempt, move, nonce)
        except Exception as error:
            # Nobody who asks again may wait for ever.
            answer.set_exception(error)
            return
        log.info("%s: %s against %s", call.match_id, move, call.opponent)
        known.promise.nonce = nonce
        answer.set_result(chosen)

    def _end(self, me: Identity, message: Message) -> Message:
        attempt = whole(message, "attempt", 1)
        check_referee(me, message, attempt)
        with self._lock:
            known = self._known.get(match_key(message))
            is_news = known is not None and known.attempt == attempt and not known.is_over
            if known is not None and is_news:
                known.is_over = True
                match = Match.read(message, me.player_id, me.league_id, known.promise)
                self._history.append(match)
        if is_news:
            self._tell(match)
            self._end_if_done()
        answer = envelope("GAME_OVER_ACK", me.player_id, message["conversation_id"])
        return {**answer, "match_id": message["match_id"], "acknowledged": True}

    def _complaint(self, me: Identity, message: Message) -> None:
        """What went wrong. Anybody may send it, and only the match's referee is listened to."""
        with self._lock:
            known = self._known.get(match_key(message))
        try:
            check_referee(me, message, known.attempt if known else 1)
        except Refusal:
            return
        log.warning("%s: %s", message["match_id"], message.get("error_description"))

    def _tell(self, match: Match) -> None:
        log.info("%s: %s: %s", match.match_id, match.result, match.reason)
        if match.fair is False:
            log.error("%s: the number does not follow from what was promised", match.match_id)
        if self._on_result is not None:
            try:
                self._on_result(match)
            except Exception:
                log.exception("%s: your on_result failed", match.match_id)

    def _hear(self, me: Identity, message: Message) -> None:
        """News of the manager."""
        self.heard_at = time.monotonic()
        kind = message["message_type"]
        if kind == "SUSPENSION_NOTICE":
            log.warning("%s: %s", message.get("state"), message.get("reason"))
        elif kind == "LEAGUE_ERROR":
            log.warning("%s", message.get("error_description"))
        elif kind == "LEAGUE_COMPLETED":
            table = message.get("final_standings") or []
            ranks = [row.get("rank") for row in table if row.get("player_id") == me.player_id]
            log.info("the league is over, place %s", ranks[0] if ranks else "unknown")
            self.conclude()
