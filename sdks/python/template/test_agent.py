"""Tries `choose` without a league: python3 -m unittest"""

import unittest

from agent import choose
from league_agent import Call


class ChooseTest(unittest.TestCase):
    def test_a_parity_is_chosen(self):
        self.assertIn(choose(Call.example()), ("even", "odd"))

    def test_a_number_is_chosen(self):
        call = Call.example(game="even_odd_numbers", move_type="number", options=(1, 2, 3, 4, 5))
        self.assertIn(choose(call), call.options)


if __name__ == "__main__":
    unittest.main()
