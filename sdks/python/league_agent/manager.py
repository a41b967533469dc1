"""Calling the manager: plain HTTP, bounded in time and in size."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any, Dict, NamedTuple, Optional

from .version import VERSION

ANSWER_BYTES_MAX = 64 * 1024
TURNS_BYTES_MAX = 2 * 1024 * 1024
CALL_SECONDS = 10.0


class Unreachable(Exception):
    """The manager cannot be asked just now; it may well answer later."""


class Reply(NamedTuple):
    """What came back."""

    status: int
    document: Any
    #: When to come back, in seconds, if the manager says so.
    retry_after: Optional[float] = None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """A token is shown to nobody but the manager."""


class Manager:
    """A manager and where it is: `http://127.0.0.1:8000`, with or without `/mcp`."""

    def __init__(self, url: str) -> None:
        url = url.rstrip("/")
        self.base = url[: -len("/mcp")] if url.endswith("/mcp") else url
        if not self.base.startswith(("http://", "https://")):
            raise ValueError(f"{url}: expected an address such as http://127.0.0.1:8000")
        self._opener = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))

    def call(self, request: Dict[str, Any]) -> Reply:
        """A JSON-RPC call."""
        return self._ask("/mcp", request, None, CALL_SECONDS, ANSWER_BYTES_MAX)

    def turns(self, token: str, after: Optional[int], wait: int) -> Reply:
        """What has come into the mailbox; waits for it."""
        query = f"/api/v1/turns?wait={wait}" + ("" if after is None else f"&after={after}")
        return self._ask(query, None, token, wait + CALL_SECONDS, TURNS_BYTES_MAX)

    def answer_turn(self, token: str, turn: int, body: bytes) -> Reply:
        """Answers something from the mailbox. Doing it twice does no harm."""
        return self._ask(f"/api/v1/turns/{turn}", body, token, CALL_SECONDS / 2, ANSWER_BYTES_MAX)

    def _ask(
        self, path: str, body: Any, token: Optional[str], seconds: float, bytes_max: int
    ) -> Reply:
        headers = {"Accept": "application/json", "User-Agent": "player/python-" + VERSION}
        if token is not None:
            headers["Authorization"] = "Bearer " + token
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, body, headers)
        try:
            try:
                response = self._opener.open(request, timeout=seconds)
            except urllib.error.HTTPError as error:
                response = error
            with response:
                status, text = response.status, response.read(bytes_max + 1)
                after = response.headers.get("Retry-After", "")
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise Unreachable(f"{self.base} does not answer: {reason}") from error
        if len(text) > bytes_max:
            raise Unreachable(f"{self.base} answered with more than {bytes_max} bytes")
        try:
            document = json.loads(text)
        except ValueError:
            document = None
        return Reply(status, document, float(after) if after.isdigit() else None)
