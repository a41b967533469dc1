"""Who proves what to whom. Every value can be checked against docs/protocol/vectors.json."""

from __future__ import annotations

import hashlib
import hmac
from typing import Union

Field = Union[str, int, bytes]


def form(label: str, *fields: Field) -> bytes:
    """The one byte form under every HMAC and hash: each part with its length before it."""
    out = b""
    for field in (label, *fields):
        data = field if isinstance(field, bytes) else str(field).encode()
        out += len(data).to_bytes(4, "big") + data
    return out


def proof(token: str, label: str, *fields: Field) -> str:
    """A proof that whoever made it knows `token`."""
    return "prf_" + hmac.new(token.encode(), form(label, *fields), "sha256").hexdigest()


def match_proof(token: str, league: str, match: str, attempt: int, referee: str) -> str:
    """What a referee shows to the player with this token."""
    return proof(token, "match", league, match, attempt, referee)


def reply_proof(token: str, league: str, match: str, attempt: int) -> str:
    """What the player shows to its referee instead of its token."""
    return proof(token, "reply", league, match, attempt)


def choice_proof(
    token: str, league: str, match: str, attempt: int, step: int, choice: Field, nonce: str
) -> str:
    """What shows the manager which choice the player sent."""
    return proof(token, "choice", league, match, attempt, step, choice, nonce)


def same(shown: object, expected: str) -> bool:
    """Compares secrets without telling how much of them is right."""
    return isinstance(shown, str) and hmac.compare_digest(shown.encode(), expected.encode())


def commitment(league: str, match: str, rematch: int, seed: bytes) -> str:
    """What is published of the draw before anybody chooses."""
    return hashlib.sha256(form("commitment", league, match, rematch, seed)).hexdigest()


def drawn_number(
    seed: bytes, league: str, match: str, rematch: int, nonce_a: str, nonce_b: str
) -> int:
    """The number from 1 to 10 that follows from the seed and both nonces."""
    counter = 0
    while True:
        message = form("number", league, match, rematch, nonce_a, nonce_b, counter)
        for byte in hmac.new(seed, message, "sha256").digest():
            if byte < 250:
                return 1 + byte % 10
        counter += 1
