"""How an agent is called, and where it plays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Optional, Sequence, Tuple
from urllib.parse import urlsplit

from .version import PROTOCOL_VERSION

DEFAULT_MANAGER = "http://127.0.0.1:8000"


@dataclass
class Settings:
    """How an agent is called, and where it plays."""

    #: The name that people see.
    name: str = "Player"
    #: The version of the agent, for its author.
    version: str = "1.0.0"
    #: The games that it plays.
    games: Sequence[str] = ("even_odd",)
    #: The manager's address.
    manager: str = DEFAULT_MANAGER
    #: The league to join; the manager's only open one if nothing is said.
    league: Optional[str] = None
    #: Where to listen, `HOST:PORT`; the first free port of 8101 to 8199 if nothing is said.
    listen: Optional[str] = None
    #: Where others call it, if that is not where it listens.
    endpoint: Optional[str] = None
    #: Listen nowhere, and fetch the turns from the manager.
    pull: bool = False
    #: The code that its author was given, if the league asks for one.
    join_code: Optional[str] = None
    #: Where it keeps who it is; a file in `.league` if nothing is said.
    token_file: Optional[str] = None

    def meta(self, endpoint: Optional[str]) -> Dict[str, Any]:
        """What the agent says of itself when it registers."""
        meta: Dict[str, Any] = {
            "display_name": self.name,
            "version": self.version,
            "protocol_version": PROTOCOL_VERSION,
            "game_types": list(self.games),
            "dialect": "flat",
            "batch": True,
        }
        if endpoint is None:
            meta["pull"] = True
        else:
            meta["contact_endpoint"] = endpoint
        if self.join_code is not None:
            meta["join_code"] = self.join_code
        return meta

    def kept_in(self) -> Path:
        """The file for the token. Each manager has one, since no other is shown the token."""
        if self.token_file is not None:
            return Path(self.token_file)
        place = f"{self.name}@{urlsplit(self.manager).netloc}"
        return Path(".league") / (re.sub(r"[^\w@.-]+", "-", place) + ".json")

    def addresses(self) -> Sequence[Tuple[str, int]]:
        """Where it may listen; the first that is free is taken."""
        if self.listen is None:
            return [("127.0.0.1", port) for port in range(8101, 8200)]
        host, _, port = self.listen.rpartition(":")
        if not host or not port.isdigit():
            raise ValueError(f"{self.listen}: expected an address such as 127.0.0.1:8101")
        return [(host.strip("[]"), int(port))]

    def endpoint_at(self, host: str, port: int) -> str:
        """Where others call it."""
        if self.endpoint is not None:
            return self.endpoint
        if host in ("0.0.0.0", "::"):
            raise ValueError(f"nobody can call {host}; say with --endpoint where you are called")
        return f"http://[{host}]:{port}/mcp" if ":" in host else f"http://{host}:{port}/mcp"
