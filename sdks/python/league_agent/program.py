"""`run`: an agent as a program, with a command line, a log and an exit code."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
from typing import Callable, Optional, Sequence

from .agent import Agent
from .check import check
from .chooser import Choose
from .keep import Identity
from .match import Match
from .register import Rejected
from .settings import DEFAULT_MANAGER, Settings


def run(
    choose: Choose,
    *,
    name: str = "Player",
    version: str = "1.0.0",
    games: Sequence[str] = ("even_odd",),
    on_result: Optional[Callable[[Match], None]] = None,
    argv: Optional[Sequence[str]] = None,
) -> None:
    """Plays with `choose` until the league is over; Ctrl-C and SIGTERM end it before.

    `choose` is given a `Call` and returns one of `call.options`. It may be called from several
    threads at once. `on_result` is told of every match that is over.
    """
    args = _arguments(name).parse_args(argv)
    if args.check:
        sys.exit(check())
    level = logging.DEBUG if args.verbose else logging.INFO
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(message)s")
    settings = Settings(
        name=args.name,
        version=version,
        games=games,
        manager=args.manager,
        league=args.league,
        listen=args.listen,
        endpoint=args.endpoint,
        pull=args.pull,
        join_code=args.join_code,
        token_file=args.token_file,
    )
    agent = Agent(choose, settings, on_result, _announcer(settings.name, args.json))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: agent.stop())
    try:
        agent.play()
    except (Rejected, OSError, ValueError) as error:
        sys.exit(f"error: {error}")


def _arguments(name: str) -> argparse.ArgumentParser:
    given = os.environ.get
    parser = argparse.ArgumentParser(description="A player of a league.")
    add = parser.add_argument
    add("--manager", metavar="URL", default=given("LEAGUE_MANAGER", DEFAULT_MANAGER),
        help="the manager [LEAGUE_MANAGER, %(default)s]")
    add("--league", metavar="ID", help="the league to join; the only open one if nothing is said")
    add("--name", default=name, help="the name that people see [%(default)s]")
    add("--listen", metavar="HOST:PORT",
        help="where to listen; port 0 takes a free one [the first free one from 8101 on]")
    add("--endpoint", metavar="URL", help="where others call it, if not where it listens")
    add("--pull", action="store_true",
        help="listen nowhere and fetch the turns, for a machine that nobody can call")
    add("--join-code", metavar="CODE", default=given("LEAGUE_JOIN_CODE"),
        help="the code that you were given, if the league asks for one [LEAGUE_JOIN_CODE]")
    add("--token-file", metavar="FILE", help="where it keeps who it is [a file in .league]")
    add("--json", action="store_true", help="print one JSON document on stdout when it has joined")
    add("--verbose", action="store_true", help="say more")
    add("--check", action="store_true", help="have `league check` look at this agent, and end")
    return parser


def _announcer(name: str, as_json: bool) -> Callable[[Identity, Optional[str]], None]:
    def announce(identity: Identity, endpoint: Optional[str]) -> None:
        if not as_json:
            return
        who = {"id": identity.player_id, "display_name": name}
        agent = {**who, "league_id": identity.league_id, "endpoint": endpoint}
        print(json.dumps({"agents": [agent]}), flush=True)

    return announce
