"""JSON-RPC 2.0: bytes in, the player's answers, bytes out."""

from __future__ import annotations

import json
import logging
from typing import Any, Dict, NamedTuple

from .message import check_envelope, envelope, new_conversation
from .player import Player
from .refusal import Refusal

log = logging.getLogger("league_agent")

BATCH_MAX = 100


class Answer(NamedTuple):
    """What goes back over HTTP."""

    status: int
    body: bytes


class Desk:
    """Reads calls, has the player answer them, and writes the answers."""

    def __init__(self, player: Player) -> None:
        self.player = player

    def answer(self, body: bytes) -> Answer:
        """The answer to the body of a call: one request, or a batch of them."""
        try:
            call = json.loads(body.decode(), parse_constant=_no_number)
        except (ValueError, RecursionError):
            return self._refused(None, Refusal("-32700", "the body is not JSON in UTF-8"))
        return self.answer_call(call)

    def answer_call(self, call: Any) -> Answer:
        """The same for a call that was read."""
        if not isinstance(call, list):
            return self._answer_one(call)
        if not 1 <= len(call) <= BATCH_MAX:
            text = f"a batch holds 1 to {BATCH_MAX} requests"
            return self._refused(None, Refusal("-32600", text))
        parts = [self._answer_one(request).body for request in call]
        return Answer(200, b"[" + b",".join(parts) + b"]")

    def _answer_one(self, request: Any) -> Answer:
        request_id = None
        try:
            request_id = _id(request)
            params = request.get("params")
            if not isinstance(params, dict):
                raise Refusal("-32602", "`params`: expected an object")
            check_envelope(request["method"], params)
            result = self.player.receive(params)
        except Refusal as refusal:
            return self._refused(request_id, refusal)
        except Exception:
            log.exception("a call could not be answered")
            return self._refused(request_id, Refusal("-32603", "this player failed"))
        return Answer(200, _written({"jsonrpc": "2.0", "id": request_id, "result": result}))

    def _refused(self, request_id: Any, refusal: Refusal) -> Answer:
        log.warning("refused with %s: %s", refusal.code, refusal.text)
        begin = envelope("GAME_ERROR", self.player.name, new_conversation("err"))
        error: Dict[str, Any] = {"code": refusal.row.number, "message": refusal.text}
        error["data"] = {**begin, **refusal.fields()}
        body = _written({"jsonrpc": "2.0", "id": request_id, "error": error})
        return Answer(refusal.row.status, body)


def _id(request: Any) -> Any:
    """The id of what is a request."""
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
        raise Refusal("-32600", 'expected an object with "jsonrpc": "2.0"')
    if not isinstance(request.get("method"), str):
        raise Refusal("-32600", "`method`: expected a text")
    request_id = request.get("id")
    if isinstance(request_id, bool) or not isinstance(request_id, (str, int, float)):
        raise Refusal("-32600", "`id`: expected a number or a text; every message is answered")
    return request_id


def _no_number(name: str) -> Any:
    raise ValueError(name + " is not JSON")


def _written(document: Dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
