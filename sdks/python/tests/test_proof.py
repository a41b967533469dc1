"""Proofs and draws against the published vectors."""

import json
import unittest
from pathlib import Path

from league_agent import proof
from league_agent.match import Promise

VECTORS = Path(__file__).parents[3] / "docs" / "protocol" / "vectors.json"


@unittest.skipUnless(VECTORS.exists(), "the vectors lie in the repository of the league")
class Vectors(unittest.TestCase):
    def setUp(self):
        self.vectors = json.loads(VECTORS.read_text(encoding="utf-8"))

    def test_every_proof_is_as_published(self):
        for kind, make in (
            ("match_proofs", proof.match_proof),
            ("reply_proofs", proof.reply_proof),
            ("choice_proofs", proof.choice_proof),
        ):
            for vector in self.vectors[kind]:
                expected = vector.pop("proof")
                self.assertEqual(make(**vector), expected, vector)

    def test_every_draw_is_as_published(self):
        for vector in self.vectors["draws"]:
            seed = bytes.fromhex(vector["seed"])
            where = (vector["league"], vector["match"], vector["rematch"])
            self.assertEqual(proof.commitment(*where, seed), vector["commitment"])
            nonces = vector["nonce_a"], vector["nonce_b"]
            self.assertEqual(proof.drawn_number(seed, *where, *nonces), vector["number"])

    def test_a_promise_is_kept_or_broken(self):
        vector = next(draw for draw in self.vectors["draws"] if draw["nonce_b"] == "c0de")
        promise = Promise(vector["commitment"], "PLAYER_A", vector["nonce_a"])

        def over(number, **changes):
            return {
                "match_id": vector["match"],
                "rematch": vector["rematch"],
                "draw_seed": vector["seed"],
                "nonces": {"P01": vector["nonce_a"], "P02": vector["nonce_b"]},
                "game_result": {"drawn_number": number},
                **changes,
            }

        kept = lambda over: promise.is_kept(over, "P01", vector["league"])
        self.assertIs(kept(over(vector["number"])), True)
        self.assertIs(kept(over(vector["number"] % 10 + 1)), False)
        self.assertIs(kept(over(vector["number"], draw_seed="00" * 32)), False)
        self.assertIs(kept(over(vector["number"], draw_seed=None)), False)
        self.assertIs(kept(over(vector["number"], nonces={"P01": "x", "P02": "c0de"})), False)
        self.assertIsNone(kept(over(None)), "nothing was drawn")
        unpromised = Promise(None, "PLAYER_A", "x")
        self.assertIsNone(unpromised.is_kept(over(1), "P01", vector["league"]))


class Comparing(unittest.TestCase):
    def test_only_the_same_text_is_the_same(self):
        self.assertTrue(proof.same("prf_1", "prf_1"))
        for other in ("prf_2", "", None, 1, "ü"):
            self.assertFalse(proof.same(other, "prf_1"))


if __name__ == "__main__":
    unittest.main()
