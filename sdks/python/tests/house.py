"""A real league, run by the program that LEAGUE_BIN names."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request
from pathlib import Path
from typing import Any, Callable, List, Optional

from league_agent import Agent, Settings

LEAGUE_BIN = os.environ.get("LEAGUE_BIN", "")
PATIENCE = 60.0


def until(what: str, look: Callable[[], Any]) -> Any:
    """Looks until there is something to see."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        seen = look()
        if seen:
            return seen
        threading.Event().wait(0.01)
    raise AssertionError(f"{what}: not within {PATIENCE} s")


@unittest.skipUnless(LEAGUE_BIN, "LEAGUE_BIN does not name the program `league`")
class HouseCase(unittest.TestCase):
    """A manager on a free port, in a folder of its own."""

    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        manager = self.start("serve", "--listen", "127.0.0.1:0", "--json")
        assert manager.stdout is not None
        self.manager = json.loads(manager.stdout.readline())["url"]

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """Starts the program; it is ended with the test."""
        command = [os.path.abspath(LEAGUE_BIN), *arguments]
        null = subprocess.DEVNULL
        process = subprocess.Popen(
            command, cwd=self.place, stdin=null, stdout=subprocess.PIPE, stderr=null
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        assert process.stdout is not None
        self.addCleanup(process.stdout.close)
        return process

    def found(self, league: str, *options: str) -> None:
        """Founds a league and gives it a referee."""
        self.order("create", "--league", league, "--set", "announcement_lead=0s", *options)
        key = f"league-data/join-key-{league}"
        self.seat("referee", "--league", league, "--join-key", key)

    def order(self, *words: str) -> None:
        """Something that the administrator says."""
        command = [os.path.abspath(LEAGUE_BIN), *words, "--manager", self.manager]
        subprocess.run(command, cwd=self.place, check=True, stdout=subprocess.DEVNULL)

    def seat(self, *arguments: str) -> None:
        """Starts an agent of the house and waits until it has joined."""
        where = ("--manager", self.manager, "--listen", "127.0.0.1:0", "--json")
        agent = self.start(*arguments, *where)
        assert agent.stdout is not None
        self.assertTrue(agent.stdout.readline(), "it has joined")

    def send(self, choose: Any, **settings: Any) -> "Guest":
        """Starts an agent of ours in a thread of its own."""
        name = settings.setdefault("name", "Ada")
        settings.setdefault("listen", "127.0.0.1:0")
        settings.setdefault("token_file", str(self.place / f"{name}.json"))
        guest = Guest(Agent(choose, Settings(manager=self.manager, **settings)))
        self.addCleanup(guest.end)
        return guest

    def look(self, path: str) -> Any:
        """A page of the manager."""
        with urllib.request.urlopen(self.manager + path, timeout=10) as response:
            return json.load(response)

    def table_at_the_end(self, league: str) -> List[Any]:
        """Waits until a league is over."""
        page = f"/api/v1/leagues/{league}/standings"

        def look() -> Optional[Any]:
            document = self.look(page)
            return document if document["phase"] == "completed" else None

        rows: List[Any] = until("the league is over", look)["standings"]
        return rows


class Guest:
    """An agent that plays in a thread."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.failure: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._play)
        self._thread.start()

    def _play(self) -> None:
        try:
            self.agent.play()
        except BaseException as error:
            self.failure = error

    def identity(self) -> Any:
        """Who it is, as soon as it has joined."""
        until("it has joined", lambda: self.agent.player.identity or self.failure)
        if self.failure:
            raise self.failure
        return self.agent.player.identity

    def wait(self) -> None:
        """Waits until its life is over, and tells what went wrong in it."""
        self._thread.join(PATIENCE)
        if self.failure:
            raise self.failure
        assert not self._thread.is_alive(), "it did not end"

    def end(self) -> None:
        """Ends it."""
        self.agent.stop()
        self._thread.join(PATIENCE)
