"""Players of the kit in real leagues."""

import json
import random
import signal
import stat
import subprocess
import sys
import threading
import unittest
from dataclasses import replace
from pathlib import Path

from league_agent import Player
from league_agent.lookout import Lookout
from league_agent.manager import Manager
from league_agent.register import Rejected

from .house import PATIENCE, HouseCase

KIT = Path(__file__).parents[1]
PROGRAM = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from league_agent import run
run(lambda call: call.options[0], name="Ada")
"""


def toss(call):
    return random.choice(call.options)


class Leagues(HouseCase):
    def test_a_league_is_played_with_and_without_a_port(self):
        self.found("spring", "--start", "players=4")
        guests = [
            self.send(toss, name="Ada"),
            self.send(toss, name="Ben", pull=True),
            self.send(lambda call: 1 / 0, name="Cem", pull=True),
        ]
        for guest in guests:
            guest.identity()
        self.seat("player")
        rows = self.table_at_the_end("spring")
        for guest in guests:
            guest.wait()
            history = guest.agent.player.history
            self.assertEqual([match.fair for match in history], [True] * 3)
        self.assertEqual([(row["played"], row["technical_losses"]) for row in rows], [(3, 0)] * 4)

    def test_numbers_are_chosen_as_well(self):
        self.found("spring", "--game", "even_odd_numbers", "--start", "players=2")
        guest = self.send(toss, games=["even_odd_numbers"])
        guest.identity()
        self.seat("player")
        rows = self.table_at_the_end("spring")
        guest.wait()
        self.assertEqual([(row["played"], row["technical_losses"]) for row in rows], [(1, 0)] * 2)
        self.assertIn(guest.agent.player.history[0].mine, (1, 2, 3, 4, 5))

    def test_who_comes_back_is_the_same_and_who_is_told_no_says_why(self):
        self.found("spring", "--start", "players=2")
        first = self.send(toss)
        identity = first.identity()
        first.end()
        again = self.send(toss)
        self.assertEqual(again.identity(), identity)
        endpoint = self.look("/api/v1/leagues/spring")
        self.assertEqual(endpoint["players"], 1)
        self.seat("player")
        self.table_at_the_end("spring")
        again.wait()
        late = self.send(toss, name="Late", league="spring")
        with self.assertRaisesRegex(Rejected, "E019"):
            late.identity()
        self.found("summer", "--start", "manual")
        newcomer = self.send(toss)
        self.assertEqual(newcomer.identity().league_id, "summer", "its old league is over")

    def test_who_hears_nothing_asks(self):
        self.found("spring", "--start", "manual")
        me = self.send(toss).identity()
        player = Player(toss)
        player.settle(me)
        lookout = Lookout(Manager(self.manager), player, silence=0.02)
        stop = threading.Event()
        threading.Thread(target=lookout.watch, args=(stop,), daemon=True).start()
        self.seat("player")
        self.order("start", "spring")
        self.table_at_the_end("spring")
        self.assertTrue(player.league_over.wait(PATIENCE), "it has learnt that the league is over")
        stop.set()
        stranger = Player(toss)
        stranger.settle(replace(me, auth_token=me.auth_token[:-1] + "x"))
        with self.assertRaisesRegex(Rejected, "E012"):
            Lookout(Manager(self.manager), stranger, silence=0.02).watch(threading.Event())

    def test_a_program_joins_and_stops_when_it_is_told_to(self):
        self.found("spring", "--start", "manual")
        for way in ((), ("--pull",)):
            command = [sys.executable, "-c", PROGRAM, str(KIT), "--manager", self.manager]
            listen = () if way else ("--listen", "127.0.0.1:0")
            agent = subprocess.Popen(
                [*command, "--json", *listen, *way, "--name", f"Ada{len(way)}"],
                cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            self.addCleanup(agent.kill)
            joined = json.loads(agent.stdout.readline())["agents"][0]
            self.assertEqual(joined["league_id"], "spring")
            self.assertEqual(joined["endpoint"] is None, bool(way))
            agent.send_signal(signal.SIGTERM)
            said = agent.communicate(timeout=PATIENCE)[1]
            self.assertEqual(agent.returncode, 0, said)
            self.assertNotIn("Traceback", said)
        files = list((self.place / ".league").iterdir())
        self.assertEqual(len(files), 2)
        self.assertTrue(all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files))


if __name__ == "__main__":
    unittest.main()
