"""Saying no, with the codes of the protocol's catalogue."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple


class Code(NamedTuple):
    """One row of the catalogue."""

    number: int
    name: str
    status: int = 200
    retryable: bool = False


CODES: Dict[str, Code] = {
    "-32700": Code(-32700, "PARSE_ERROR", 400),
    "-32600": Code(-32600, "INVALID_REQUEST", 400),
    "-32601": Code(-32601, "METHOD_NOT_FOUND"),
    "-32602": Code(-32602, "INVALID_PARAMS"),
    "-32603": Code(-32603, "INTERNAL_ERROR"),
    "E003": Code(-32003, "MISSING_REQUIRED_FIELD"),
    "E011": Code(-32011, "AUTH_TOKEN_MISSING"),
    "E012": Code(-32012, "AUTH_TOKEN_INVALID"),
    "E018": Code(-32018, "PROTOCOL_VERSION_MISMATCH"),
    "E021": Code(-32021, "INVALID_TIMESTAMP"),
    "E030": Code(-32030, "NOT_YOUR_MATCH"),
    "E033": Code(-32033, "BUSY", 503, True),
    "G003": Code(-32063, "GAME_NOT_FOUND"),
}


class Refusal(Exception):
    """A message that this player does not take, and why."""

    def __init__(self, code: str, text: str, action: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.row = CODES[code]
        self.text = text
        self.action = action or "see error_description"

    def fields(self) -> Dict[str, Any]:
        """The fields of a GAME_ERROR, without its envelope."""
        return {
            "error_code": self.code,
            "error_name": self.row.name,
            "error_description": self.text,
            "retryable": self.row.retryable,
            "affected_player": None,
            "action_required": self.action,
            "retry_count": 0,
            "max_retries": 0,
            "consequence": "",
            "context": {},
        }


def missing(field: str, expected: str) -> Refusal:
    """A field that is not there, or not as it should be."""
    return Refusal("E003", f"`{field}`: expected {expected}", f"send `{field}` as {expected}")
