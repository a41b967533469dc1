"""What a player answers, and to whom."""

import json
import threading
import time
import unittest

from league_agent import Call, Player, proof
from league_agent.desk import Desk

from .referee import ME, message, order, request


class PlayerCase(unittest.TestCase):
    def setUp(self):
        self.asked = []
        self.results = []
        self.player = Player(self.choose, self.results.append)
        self.player.settle(ME)
        self.desk = Desk(self.player)

    def choose(self, call: Call) -> str:
        self.asked.append(call)
        return call.options[0]

    def say(self, params, request_id=1):
        return json.loads(self.desk.answer(request(params, request_id)).body)

    def result(self, params):
        answer = self.say(params)
        self.assertIn("result", answer, answer)
        return answer["result"]

    def refused(self, params):
        answer = self.say(params)
        self.assertIn("error", answer, answer)
        return answer["error"]["data"]["error_code"]


class Matches(PlayerCase):
    def test_a_whole_match(self):
        joined = self.result(order("GAME_INVITATION", opponent_id="P02"))
        self.assertEqual((joined["message_type"], joined["accept"]), ("GAME_JOIN_ACK", True))
        self.assertEqual(joined["conversation_id"], "conv1")
        reply = proof.reply_proof(ME.auth_token, "spring", "R1M1", 1)
        self.assertEqual(joined["auth_token"], reply)
        chosen = self.result(order("CHOOSE_PARITY_CALL", context={"opponent_id": "P02"}))
        self.assertEqual(chosen["parity_choice"], "even")
        self.assertEqual(chosen["auth_token"], reply)
        sealed = proof.choice_proof(ME.auth_token, "spring", "R1M1", 1, 1, "even", chosen["nonce"])
        self.assertEqual(chosen["choice_proof"], sealed)
        self.assertEqual((self.asked[0].opponent, self.asked[0].options), ("P02", ("even", "odd")))
        over = {"winner_player_id": "P01", "choices": {"P01": "even", "P02": "odd"}}
        over = order("GAME_OVER", game_result={**over, "drawn_number": 4, "reason": "4 is even"},
                     results={"P01": "WIN", "P02": "LOSS"})
        for _ in range(2):
            self.assertEqual(self.result(over)["message_type"], "GAME_OVER_ACK")
        self.assertEqual(len(self.results), 1, "told twice, counted once")
        self.assertEqual((self.results[0].result, self.results[0].theirs), ("WIN", "odd"))
        self.result(order("GAME_INVITATION", "R2M1"))
        self.result(order("CHOOSE_PARITY_CALL", "R2M1"))
        self.assertEqual([match.match_id for match in self.asked[-1].history], ["R1M1"])

    def test_the_same_question_has_the_same_answer(self):
        self.result(order("GAME_INVITATION"))
        answers = [self.result(order("CHOOSE_PARITY_CALL")) for _ in range(3)]
        self.assertEqual(len({answer["nonce"] for answer in answers}), 1)
        self.assertEqual(len(self.asked), 1)

    def test_a_retry_during_the_choice_waits_for_it(self):
        arrived, go = threading.Event(), threading.Event()

        def choose(call):
            arrived.set()
            go.wait(10)
            return "odd"

        player = Player(choose)
        player.settle(ME)
        player.receive(order("GAME_INVITATION"))
        answers = []
        call = order("CHOOSE_PARITY_CALL")
        threads = [
            threading.Thread(target=lambda: answers.append(player.receive(call))) for _ in range(2)
        ]
        threads[0].start()
        arrived.wait(10)
        threads[1].start()
        go.set()
        for thread in threads:
            thread.join(10)
        self.assertEqual(len({answer["nonce"] for answer in answers}), 1)
        self.assertEqual(len(answers), 2)

    def test_a_later_attempt_is_chosen_anew_and_ends_the_earlier_one(self):
        self.result(order("GAME_INVITATION"))
        first = self.result(order("CHOOSE_PARITY_CALL"))
        self.result(order("GAME_INVITATION", attempt=2))
        second = self.result(order("CHOOSE_PARITY_CALL", attempt=2))
        self.assertNotEqual(first["nonce"], second["nonce"])
        self.assertEqual(self.refused(order("CHOOSE_PARITY_CALL")), "E030")
        self.assertEqual(self.refused(order("GAME_INVITATION")), "E030")
        self.assertEqual(self.refused(order("CHOOSE_PARITY_CALL", attempt=3)), "G003")
        self.assertEqual(self.refused(order("CHOOSE_PARITY_CALL", "R9M9")), "G003")

    def test_every_step_of_another_game_is_asked_for_once(self):
        self.result(order("GAME_INVITATION"))

        def move(step, options):
            wanted = {"move_type": "number", "valid_options": options, "context": {"turn": step}}
            return self.result(order("GAME_MOVE_CALL", step=step, move_request=wanted))

        self.assertEqual(move(1, [3, 4])["move_data"], 3)
        self.assertEqual(move(2, ["rock"])["move_data"], "rock")
        again = move(1, [3, 4])
        expected = proof.choice_proof(ME.auth_token, "spring", "R1M1", 1, 1, 3, again["nonce"])
        self.assertEqual((again["move_data"], again["choice_proof"]), (3, expected))
        self.assertEqual([call.step for call in self.asked], [1, 2])
        self.assertEqual(self.asked[1].context, {"turn": 2})

    def test_many_matches_at_once(self):
        started = threading.Barrier(8)

        def choose(call):
            started.wait(10)
            return "odd"

        player = Player(choose)
        player.settle(ME)
        matches = [f"R1M{number}" for number in range(1, 9)]
        for match in matches:
            player.receive(order("GAME_INVITATION", match))
        answers = []
        ask = lambda match: answers.append(player.receive(order("CHOOSE_PARITY_CALL", match)))
        threads = [threading.Thread(target=ask, args=(match,)) for match in matches]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        self.assertEqual(sorted(answer["match_id"] for answer in answers), matches)


class Trust(PlayerCase):
    def test_nobody_is_believed_without_proof(self):
        for kind in ("GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"):
            if kind != "GAME_INVITATION":
                self.result(order("GAME_INVITATION"))
            self.assertEqual(self.refused(order(kind, auth_token="prf_" + "0" * 64)), "E012")
            self.assertEqual(self.refused(order(kind, auth_token=ME.auth_token)), "E012")
            self.assertEqual(self.refused(order(kind, sender="referee:REF02")), "E012")
            self.assertEqual(self.refused(order(kind, sender="player:P02")), "E012")
            self.assertEqual(self.refused(order(kind, auth_token="")), "E011")
        for kind in ("ROUND_ANNOUNCEMENT", "LEAGUE_COMPLETED", "SUSPENSION_NOTICE"):
            self.assertEqual(self.refused(message(kind, auth_token="tok_wrong")), "E012")
            self.assertEqual(self.refused(message(kind, auth_token=None)), "E011")
        self.assertFalse(self.player.league_over.is_set())
        self.assertEqual(self.asked, [])

    def test_the_manager_is_believed(self):
        self.assertEqual(self.result(message("ROUND_ANNOUNCEMENT"))["message_type"], "ACK")
        self.assertEqual(self.result(message("PING"))["message_type"], "PONG")
        self.result(message("LEAGUE_COMPLETED", final_standings=[{"rank": 1, "player_id": "P01"}]))
        self.assertTrue(self.player.league_over.is_set())

    def test_the_last_result_may_come_after_the_end(self):
        self.result(order("GAME_INVITATION"))
        self.result(message("LEAGUE_COMPLETED"))
        self.assertFalse(self.player.league_over.is_set(), "a result is on its way")
        self.result(order("GAME_OVER"))
        self.assertTrue(self.player.league_over.is_set())

    def test_the_token_is_shown_to_nobody(self):
        said = [self.desk.answer(request(order(kind))).body for kind in
                ("GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "GAME_START")]
        self.assertNotIn(ME.auth_token, b"".join(said).decode() + repr(ME))


class Frames(PlayerCase):
    def test_what_cannot_be_read_is_refused_with_its_code(self):
        good = json.loads(request(message("PING")))
        deep = b"[" * 100_000
        for body, number, status in (
            (b"{", -32700, 400),
            (b"\xff", -32700, 400),
            (b"NaN", -32700, 400),
            (deep, -32700, 400),
            (b"[]", -32600, 400),
            (b"7", -32600, 400),
            (json.dumps([good] * 101).encode(), -32600, 400),
            (json.dumps({**good, "id": None}).encode(), -32600, 400),
            (json.dumps({**good, "jsonrpc": "1.0"}).encode(), -32600, 400),
            (json.dumps({**good, "method": "fly"}).encode(), -32601, 200),
            (json.dumps({**good, "params": [1]}).encode(), -32602, 200),
            (json.dumps({**good, "params": {}}).encode(), -32003, 200),
        ):
            answer = self.desk.answer(body)
            error = json.loads(answer.body)["error"]
            self.assertEqual((error["code"], answer.status), (number, status), body[:80])

    def test_the_envelope_must_be_there(self):
        for field in ("message_type", "sender", "timestamp", "conversation_id", "protocol"):
            without = message("PING")
            del without[field]
            call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": without})
            error = json.loads(self.desk.answer(call.encode()).body)["error"]
            self.assertEqual(error["data"]["error_code"], "E003", field)
        self.assertEqual(self.refused(message("PING", protocol="league.v3")), "E018")
        self.assertEqual(self.refused(message("PING", conversation_id="a b")), "E003")
        for time_, code in (
            ("2025-01-15T10:30:00Z", None),
            ("20250115T103000Z", None),
            ("2025-01-15T10:30:00.123+00:00", None),
            ("2025-01-15T12:30:00+02:00", "E021"),
            ("2025-01-15T10:30:00", "E021"),
            ("2025-13-15T10:30:00Z", "E021"),
            ("yesterday", "E021"),
        ):
            answer = self.say(message("PING", timestamp=time_))
            shown = answer.get("error", {}).get("data", {}).get("error_code")
            self.assertEqual(shown, code, time_)

    def test_ids_come_back_and_batches_are_answered(self):
        for request_id in (7, "seven", 0):
            self.assertEqual(self.say(message("PING"), request_id)["id"], request_id)
        batch = b"[" + request(message("PING"), 1) + b"," + request(message("PING"), 2) + b",3]"
        answers = json.loads(self.desk.answer(batch).body)
        self.assertEqual([answer["id"] for answer in answers], [1, 2, None])

    def test_the_lower_case_type_is_a_method_and_unknown_fields_are_no_matter(self):
        params = order("GAME_INVITATION", weather="fine")
        call = {"jsonrpc": "2.0", "id": 1, "method": "game_invitation", "params": params}
        answer = json.loads(self.desk.answer(json.dumps(call).encode()).body)
        self.assertTrue(answer["result"]["accept"])


class Guard(PlayerCase):
    def play(self, choose, budget_ms=30_000):
        player = Player(choose)
        player.settle(ME)
        player.receive(order("GAME_INVITATION"))
        return player.receive(order("CHOOSE_PARITY_CALL", budget_ms=budget_ms))["parity_choice"]

    def test_a_function_that_fails_or_says_nonsense_still_plays(self):
        def fails(call):
            raise RuntimeError("no idea")

        for choose in (fails, lambda call: "maybe", lambda call: None, lambda call: True):
            self.assertIn(self.play(choose), ("even", "odd"))

    def test_a_function_that_is_slow_still_plays_in_time(self):
        never = threading.Event()
        began = time.monotonic()
        choice = self.play(lambda call: never.wait(20), budget_ms=500)
        self.assertIn(choice, ("even", "odd"))
        self.assertLess(time.monotonic() - began, 5)
        never.set()

    def test_what_cannot_be_answered_is_an_error_each_time(self):
        player = Player(lambda call: None)
        player.settle(ME)
        player.receive(order("GAME_INVITATION"))
        call = order("GAME_MOVE_CALL", move_request={"move_type": "word", "valid_options": []})
        for _ in range(2):
            answer = json.loads(Desk(player).answer(request(call)).body)
            self.assertEqual(answer["error"]["code"], -32603)

    def test_a_number_is_no_text(self):
        call = Call.example(options=(1, 2))
        from league_agent.chooser import is_legal

        legal = [move for move in (1, "1", True, 1.0, 2, 3) if is_legal(move, call)]
        self.assertEqual(legal, [1, 2])


if __name__ == "__main__":
    unittest.main()
