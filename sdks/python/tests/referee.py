"""A referee and a manager as a player meets them: genuine messages, and others."""

from __future__ import annotations

import json
from typing import Any, Dict

from league_agent import Identity, proof
from league_agent.message import METHODS

ME = Identity("spring", "P01", "tok_player_P01_" + "ab" * 32)
TYPES = {kind: method for method, kind in METHODS.items()}


def message(kind: str, **fields: Any) -> Dict[str, Any]:
    """A message of the manager."""
    return {
        "protocol": "league.v2",
        "message_type": kind,
        "sender": "league_manager",
        "timestamp": "2025-01-15T10:30:00.000Z",
        "conversation_id": "conv1",
        "auth_token": ME.auth_token,
        "league_id": ME.league_id,
        **fields,
    }


def order(kind: str, match: str = "R1M1", attempt: int = 1, **fields: Any) -> Dict[str, Any]:
    """A message of the referee that has the match."""
    shown = proof.match_proof(ME.auth_token, ME.league_id, match, attempt, "REF01")
    about = {"match_id": match, "attempt": attempt, "sender": "referee:REF01", "auth_token": shown}
    return message(kind, **{**about, **fields})


def request(params: Dict[str, Any], request_id: Any = 1) -> bytes:
    """A call with that message."""
    method = TYPES.get(params.get("message_type", ""), "unknown")
    call = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return json.dumps(call).encode()
