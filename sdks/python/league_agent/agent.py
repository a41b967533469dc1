"""The life of an agent: it listens, joins, plays, and goes when the league is over."""

from __future__ import annotations

import logging
import threading
from typing import Callable, List, Optional

from .chooser import Choose
from .desk import Desk
from .endpoint import Endpoint
from .keep import Identity, Keep
from .lookout import Lookout
from .mailbox import Mailbox
from .manager import Manager
from .match import Match
from .player import Player
from .register import Registration
from .settings import Settings

log = logging.getLogger("league_agent")


class Agent:
    """An agent around the author's function. `play` is its whole life."""

    def __init__(
        self,
        choose: Choose,
        settings: Settings,
        on_result: Optional[Callable[[Match], None]] = None,
        on_joined: Optional[Callable[[Identity, Optional[str]], None]] = None,
    ) -> None:
        self.player = Player(choose, on_result)
        self.settings = settings
        self._stop = threading.Event()
        self._on_joined = on_joined
        self._desk = Desk(self.player)

    def stop(self) -> None:
        """Ends the agent's life gracefully. Safe to call from anywhere."""
        self._stop.set()

    def play(self) -> None:
        """Plays until the league is over, or until it is told to stop."""
        if self.settings.pull:
            self._play_from_mailbox()
        else:
            self._play_at_port()

    def _play_at_port(self) -> None:
        endpoint = self._listen()
        host, port = endpoint.server_address[:2]
        url = self.settings.endpoint_at(str(host), port)
        # It listens before it registers: the first message may come before the answer does.
        with endpoint:
            registration = self._registration(url)
            if self._join(registration, url):
                lookout = Lookout(registration.manager, self.player)
                self._stay(lambda: lookout.watch(self._stop))

    def _play_from_mailbox(self) -> None:
        registration = self._registration(None)
        if not self._join(registration, None):
            return
        mailbox = Mailbox(self._desk, registration, self._stop)
        try:
            self._stay(mailbox.serve)
        finally:
            mailbox.close()

    def _registration(self, endpoint: Optional[str]) -> Registration:
        settings = self.settings
        return Registration(Manager(settings.manager), settings.meta(endpoint), settings.league)

    def _join(self, registration: Registration, endpoint: Optional[str]) -> bool:
        joined = registration.join(Keep(self.settings.kept_in()), self._stop)
        if joined is None:
            return False
        self.player.settle(joined)
        way = f"called at {endpoint}" if endpoint else "fetches its turns"
        log.info("%s plays in %s, %s", joined.player_id, joined.league_id, way)
        if self._on_joined is not None:
            self._on_joined(joined, endpoint)
        return True

    def _listen(self) -> Endpoint:
        addresses = self.settings.addresses()
        for address in addresses:
            try:
                return Endpoint(address, self._desk)
            except OSError as error:
                trouble = f"cannot listen on {address[0]}:{address[1]}: {error.strerror}"
        raise OSError(trouble)

    def _stay(self, watch: Callable[[], None]) -> None:
        """Stays until the end, with something that watches beside it; raises what that raises."""
        failures: List[Exception] = []

        def beside() -> None:
            try:
                watch()
            except Exception as error:
                failures.append(error)
                self._stop.set()

        threading.Thread(target=beside, name="beside", daemon=True).start()
        # In small pieces, so that signals are seen on every system.
        while not self._stop.wait(0.05) and not self.player.league_over.is_set():
            pass
        self._stop.set()
        if failures:
            raise failures[0]
