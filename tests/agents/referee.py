#!/usr/bin/env python3
"""A referee by somebody else, with nothing but Python's standard library.

    referee.py --manager http://127.0.0.1:8000/mcp [--dialect flat] [--name NAME]
               [--listen 127.0.0.1:0] [--league ID] [--join-key KEY] [--capacity 4]
               [--mode start_match|run_match|announcement|poll] [--own-draw]

It was written from the text of the source documents, which say how a match goes and nothing of how
a referee comes by one. For that it has a mode: it takes START_MATCH, or knows the same message as
`run_match` only, or begins by ROUND_ANNOUNCEMENT, or asks with GET_ASSIGNED_MATCHES, and then
nobody can call it at the address it gives. It checks no proofs, shows no signs of life and keeps no
transcript. It draws numbers by itself, unless it is given a seed and not told otherwise
(--own-draw). It speaks to the manager in its own dialect and to each player in the one that
belongs to it.

A message of a type that its document does not have, or without a field that its document lists, is
a fault, of the manager and of the players alike; it is said on stderr and ends the referee with 1.
Otherwise it works until it is asked to stop (SIGTERM) and ends with 0. When it is registered it
prints who it is and where it listens, as one JSON document; there, GET /received tells how many
messages of each type have come.
"""

import argparse
import hashlib
import hmac
import http.client
import http.server
import json
import os
import re
import secrets
import signal
import socket
import sys
import threading
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

# ----------------------------------------------------------------- what the documents list


class Fault(Exception):
    """A message is not what the document says."""


class Optional:
    """A field that may be missing."""

    def __init__(self, spec):
        self.spec = spec


def expect(condition, at, expected, got):
    if not condition:
        raise Fault(f"{at}: expected {expected}, got {got!r}")


def one_of(*words):
    return " or ".join(map(str, words)), lambda value: value in words


UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

# A kind of value: what it is called, and which values are of it.
TEXT = ("text", lambda value: isinstance(value, str))
INTEGER = ("integer", lambda value: isinstance(value, int) and not isinstance(value, bool))
BOOLEAN = ("boolean", lambda value: isinstance(value, bool))
OBJECT = ("object", lambda value: isinstance(value, dict))
LIST = ("list", lambda value: isinstance(value, list))
TIME = ("time", lambda value: isinstance(value, str) and UTC.fullmatch(value))
URL = ("url", lambda value: isinstance(value, str) and value.startswith("http"))
ROUND = ("round", lambda value: INTEGER[1](value) or TEXT[1](value))
PARITY = one_of("even", "odd")


def check(value, spec, at):
    """Whether a value is what its document lists."""
    if isinstance(spec, dict):
        expect(isinstance(value, dict), at, "an object", value)
        for name, inner in spec.items():
            if isinstance(inner, Optional):
                if name in value:
                    check(value[name], inner.spec, f"{at}.{name}")
                continue
            expect(name in value, f"{at}.{name}", "a listed field", "nothing")
            check(value[name], inner, f"{at}.{name}")
    elif isinstance(spec, list):
        expect(isinstance(value, list), at, "a list", value)
        for number, inner in enumerate(value):
            check(inner, spec[0], f"{at}[{number}]")
    else:
        expect(spec[1](value), at, spec[0], value)


# The documents have no such message: this is what the decisions say that a referee is told.
ASSIGNMENT = {
    "round_id": INTEGER, "match_id": TEXT, "game_type": one_of("even_odd"), "attempt": INTEGER,
    "rematch": INTEGER, "rules": OBJECT,
    "players": [{
        "player_id": TEXT, "role_in_match": one_of("PLAYER_A", "PLAYER_B"), "endpoint": URL,
        "dialect": TEXT, "match_proof": TEXT, "reply_proof": TEXT, "token_hash": TEXT,
        "your_standings": OBJECT, "game_history": LIST,
    }],
    "standings": LIST, "draw_commitment": TEXT, "draw_seed": Optional(TEXT),
    "scheduled_start": TIME, "result_deadline": TIME, "lease_ms": INTEGER,
}
START_MATCH = {"league_id": TEXT, **ASSIGNMENT}
# The names of the order, and the one that each mode knows.
ORDERS = ("START_MATCH", "MATCH_ASSIGNMENT", "RUN_MATCH")
KNOWN = {"start_match": "START_MATCH", "run_match": "RUN_MATCH"}
# What the announcement says of a match to its own referee.
ANNOUNCED = {
    key: ASSIGNMENT[key]
    for key in ("match_id", "game_type", "attempt", "rematch", "rules", "players",
                "scheduled_start")
}

# What the manager says to a referee by itself. What the documents address to players only it must
# not say.
DOCUMENT_000 = {
    "ROUND_ANNOUNCEMENT": {
        "round_id": ROUND, "league_id": TEXT,
        "matches": [{
            "match_id": TEXT, "game_type": TEXT, "player_A_id": TEXT, "player_B_id": TEXT,
            "referee_endpoint": URL,
        }],
    },
    "START_MATCH": START_MATCH,
    "LEAGUE_COMPLETED": {
        "league_id": TEXT, "total_rounds": INTEGER, "total_matches": INTEGER,
        "champion": {"player_id": TEXT, "display_name": TEXT, "points": INTEGER},
        "final_standings": [{
            "rank": INTEGER, "player_id": TEXT, "display_name": TEXT, "points": INTEGER,
        }],
    },
    "LEAGUE_ERROR": {"error_code": TEXT, "error_description": TEXT, "context": OBJECT},
}
DOCUMENT_002 = {
    "ROUND_ANNOUNCEMENT": {
        "round_id": INTEGER,
        "matches": [{
            "match_id": TEXT, "player1_id": TEXT, "player2_id": TEXT, "referee_id": TEXT,
            "scheduled_start": TIME,
        }],
        "round_deadline": TIME,
    },
    "START_MATCH": START_MATCH,
    "LEAGUE_COMPLETED": {},
    "SUSPENSION_NOTICE": {},
    "LEAGUE_ERROR": {"error_code": TEXT, "error_name": TEXT, "error_description": TEXT},
}
DOCUMENT_003 = {
    "ROUND_ANNOUNCEMENT": {},
    "START_MATCH": START_MATCH,
    "LEAGUE_COMPLETED": {},
    "LEAGUE_ERROR": {"error_code": TEXT, "error_description": TEXT, "action_required": TEXT},
}
# Document 004 lists types and no fields of theirs.
DOCUMENT_004 = {
    "ROUND_ANNOUNCEMENT": {},
    "START_MATCH": START_MATCH,
    # This is how the league's end is told.
    "LEAGUE_STANDINGS_UPDATE": {},
    "LEAGUE_ERROR": {"error_code": TEXT},
}

# What the manager answers. Document 002 has the only answer to a report.
REGISTERED_000 = {
    "status": one_of("ACCEPTED"), "referee_id": TEXT, "auth_token": TEXT, "league_id": TEXT,
}
REGISTERED_003 = {"status": one_of("ACCEPTED"), "referee_id": TEXT}
REPLIES = {
    "ASSIGNED_MATCHES": {"assignments": [START_MATCH]},
    "MATCH_RESULT_ACK": {
        "match_id": TEXT, "status": one_of("RECORDED"), "standings_updated": BOOLEAN,
    },
}

# What a player answers.
ANSWERS_000 = {
    "GAME_JOIN_ACK": {"match_id": TEXT, "accept": BOOLEAN, "arrival_timestamp": TIME},
    "CHOOSE_PARITY_RESPONSE": {"match_id": TEXT, "parity_choice": PARITY},
}
ANSWERS_002 = {
    "GAME_JOIN_ACK": {
        "match_id": TEXT, "status": one_of("ACCEPTED", "REJECTED"), "ready": BOOLEAN,
    },
    "PARITY_CHOICE": {"match_id": TEXT, "choice": PARITY},
}
ANSWERS_003 = {
    "GAME_JOIN_ACK": {},
    "CHOOSE_PARITY_RESPONSE": {"match_id": TEXT, "player_id": TEXT, "parity_choice": PARITY},
}
ANSWERS_004 = {
    "GAME_INVITE_RESPONSE": {"match_id": TEXT},
    "MOVE_RESPONSE": {"match_id": TEXT, "move_data": PARITY},
}

ENVELOPE = {
    "protocol": one_of("league.v2"), "message_type": TEXT, "sender": TEXT, "timestamp": TIME,
    "conversation_id": TEXT,
}
ENVELOPE_003 = {"protocol": one_of("league.v2"), "message_type": TEXT}
ENVELOPE_004 = {
    "protocol": one_of("league.v2"), "message_id": TEXT, "type": TEXT, "sender": TEXT,
    "timestamp": TIME, "payload": OBJECT, "auth_token": Optional(TEXT),
    "correlation_id": Optional(TEXT),
}
SENDER = re.compile(r"(league_manager|player:.+)")
SENDER_004 = re.compile(r"(league_manager|player):.+")

# The methods that document 000 prints as examples; the others are those of the decisions.
METHODS = {
    "REFEREE_REGISTER_REQUEST": "register_referee",
    "ROUND_ANNOUNCEMENT": "notify_round",
    "START_MATCH": "start_match",
    "GET_ASSIGNED_MATCHES": "get_assigned_matches",
    "GAME_INVITATION": "handle_game_invitation",
    "CHOOSE_PARITY_CALL": "choose_parity",
    "MATCH_RESULT_REPORT": "report_match_result",
    "GAME_OVER": "notify_match_result",
    "LEAGUE_COMPLETED": "notify_league_completed",
}

# ------------------------------------------------------------------------ how they are written


def stamp(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def now():
    return datetime.now(timezone.utc)


class Voice:
    """Who speaks, in which conversation, with which token."""

    def __init__(self, sender, conversation, token):
        self.sender, self.conversation, self.token = sender, conversation, token

    def envelope(self, kind):
        return {
            "protocol": "league.v2", "message_type": kind, "sender": self.sender,
            "timestamp": stamp(now()), "conversation_id": self.conversation,
            "auth_token": self.token,
        }


class Flat:
    """Document 000: envelope and fields side by side."""

    document, answers, registered = DOCUMENT_000, ANSWERS_000, REGISTERED_000
    names, meta = {}, {}

    def name(self, kind):
        return self.names.get(kind, kind)

    def request(self, voice, kind, fields):
        """The method and the params of a message."""
        return METHODS[kind], {**voice.envelope(self.name(kind)), **fields}

    def open(self, method, params):
        """The type and the fields of a request."""
        kind = params.get("message_type")
        expected = METHODS.get(kind, method)
        expect(method == expected, "method", expected, method)
        return self.opened(params)

    def opened(self, message):
        check(message, ENVELOPE, "message")
        expect(SENDER.fullmatch(message["sender"]), "sender", "type:id", message["sender"])
        return message["message_type"], message

    def result(self, voice, kind, fields, asked):
        """An answer of ours."""
        voice = Voice(voice.sender, asked.get("conversation_id"), voice.token)
        return {**voice.envelope(kind), **fields}

    def answered(self, result, sent):
        """The type and the fields of an answer."""
        kind, fields = self.opened(result)
        said = sent["conversation_id"]
        same = fields["conversation_id"] == said
        expect(same, f"{kind}.conversation_id", said, fields["conversation_id"])
        return kind, fields

    def accepts(self, fields):
        return fields["accept"]

    def choice(self, fields):
        return fields["parity_choice"]

    def report(self, match, verdict):
        """Document 000's form of a result."""
        result = {
            "winner": verdict.winner, "score": verdict.points,
            "details": {"drawn_number": verdict.number, "choices": verdict.choices},
        }
        if verdict.losers:
            result.update(status="TECHNICAL_LOSS", technical_losers=verdict.losers)
        return {
            "match_id": match["match_id"], "round_id": match["round_id"],
            "league_id": match["league_id"], "result": result,
        }


class Typed(Flat):
    """Document 003: the type is the method, and an answer has no more than it needs."""

    document, answers, registered = DOCUMENT_003, ANSWERS_003, REGISTERED_003

    def request(self, voice, kind, fields):
        return kind, super().request(voice, kind, fields)[1]

    def open(self, method, params):
        expect(method == params.get("message_type"), "method", "the message type", method)
        return self.opened(params)

    def answered(self, result, sent):
        check(result, ENVELOPE_003, "message")
        return result["message_type"], result

    def accepts(self, fields):
        # The document has an answer to an invitation and no fields for it.
        return fields.get("accept", True)


class V21(Flat):
    """Document 002: names of its own."""

    document, answers = DOCUMENT_002, ANSWERS_002
    names = {"CHOOSE_PARITY_CALL": "CHOOSE_PARITY"}
    meta = {"protocol_version": "2.1.0", "dialect": "v21"}

    def accepts(self, fields):
        return fields["status"] == "ACCEPTED" and fields["ready"]

    def choice(self, fields):
        return fields["choice"]

    def report(self, match, verdict):
        players = {
            player: {
                "choice": verdict.choices[player], "result": verdict.word(player),
                "points": verdict.points[player],
            }
            for player in verdict.points
        }
        return {
            "match_id": match["match_id"], "round_id": match["round_id"],
            "game_type": match["game_type"], "players": players,
            "drawn_number": verdict.number, "referee_signature": "sig_by_hand",
        }


class Enveloped(Flat):
    """Document 001: envelope and payload apart, one method."""

    context = ("auth_token", "league_id", "round_id", "match_id", "game_type")

    def wrap(self, message):
        above = {*ENVELOPE, *self.context}
        if not message["auth_token"]:
            message = {name: value for name, value in message.items() if name != "auth_token"}
        return {
            "envelope": {name: message[name] for name in message if name in above},
            "payload": {name: message[name] for name in message if name not in above},
        }

    def request(self, voice, kind, fields):
        return "league.handle", self.wrap(super().request(voice, kind, fields)[1])

    def open(self, method, params):
        expect(method == "league.handle", "method", "league.handle", method)
        return self.opened(params)

    def opened(self, message):
        check(message, {"envelope": OBJECT, "payload": OBJECT}, "message")
        return super().opened({**message["payload"], **message["envelope"]})

    def result(self, voice, kind, fields, asked):
        return self.wrap(super().result(voice, kind, fields, asked))

    def answered(self, result, sent):
        return super().answered(result, sent["envelope"])

    def report(self, match, verdict):
        # A report belongs to the execution of a match, where the game is named.
        return {**super().report(match, verdict), "game_type": match["game_type"]}


class Payload(Flat):
    """Document 004: ids, types and codes of its own, everything else in the payload."""

    document, answers, registered = DOCUMENT_004, ANSWERS_004, REGISTERED_003
    names = {
        "GAME_INVITATION": "GAME_INVITE", "CHOOSE_PARITY_CALL": "MOVE_REQUEST",
        "GAME_OVER": "GAME_RESULT", "MATCH_RESULT_REPORT": "MATCH_RESULT",
    }

    def letter(self, voice, kind, fields):
        letter = {
            "protocol": "league.v2", "message_id": str(uuid.uuid4()), "type": kind,
            "sender": voice.sender, "timestamp": stamp(now()),
            "payload": {"conversation_id": voice.conversation, **fields},
        }
        if voice.token:
            letter["auth_token"] = voice.token
        return letter

    def request(self, voice, kind, fields):
        kind = self.name(kind)
        return kind, self.letter(voice, kind, fields)

    def open(self, method, params):
        return self.opened(params)

    def opened(self, message):
        check(message, ENVELOPE_004, "message")
        expect(SENDER_004.fullmatch(message["sender"]), "sender", "type:id", message["sender"])
        return message["type"], {**message, **message["payload"]}

    def result(self, voice, kind, fields, asked):
        return {**self.letter(voice, kind, fields), "correlation_id": asked["message_id"]}

    def answered(self, result, sent):
        correlation = result.get("correlation_id")
        expect(correlation == sent["message_id"], "correlation_id", sent["message_id"], correlation)
        return self.opened(result)

    def accepts(self, fields):
        return fields.get("accept", True)

    def choice(self, fields):
        return fields["move_data"]


class Tool(Flat):
    """Model Context Protocol: a flat message as the arguments of a tool."""

    def request(self, voice, kind, fields):
        name, arguments = super().request(voice, kind, fields)
        return "tools/call", {"name": name, "arguments": arguments}

    def open(self, method, params):
        expect(method == "tools/call", "method", "tools/call", method)
        check(params, {"name": TEXT, "arguments": OBJECT}, "params")
        return super().open(params["name"], params["arguments"])

    def result(self, voice, kind, fields, asked):
        answer = super().result(voice, kind, fields, asked)
        text = {"type": "text", "text": json.dumps(answer)}
        return {"content": [text], "structuredContent": answer, "isError": False}

    def answered(self, result, sent):
        content = [{"type": one_of("text"), "text": TEXT}]
        check(result, {"content": content, "structuredContent": Optional(OBJECT)}, "result")
        expect(not result.get("isError"), "isError", "false", result)
        text = json.loads(result["content"][0]["text"])
        answer = result.get("structuredContent", text)
        expect(answer == text, "content[0].text", "what structuredContent says", text)
        return super().answered(answer, sent["arguments"])


class Wrapped(Flat):
    """Agents in the wild: a flat message in `message`."""

    def request(self, voice, kind, fields):
        return "handle_message", {"message": super().request(voice, kind, fields)[1]}

    def open(self, method, params):
        expect(method == "handle_message", "method", "handle_message", method)
        check(params, {"message": OBJECT}, "params")
        return self.opened(params["message"])

    def answered(self, result, sent):
        return super().answered(result, sent["message"])


DIALECTS = {
    "flat": Flat, "typed": Typed, "v21": V21, "enveloped": Enveloped, "payload": Payload,
    "tool": Tool, "wrapped": Wrapped,
}

# -------------------------------------------------------------------------------------- a match


class Silence(Exception):
    """Nobody answered, or not in time."""


class Caller:
    """Calls others, with a number of its own for every call."""

    def __init__(self):
        self.lock, self.last = threading.Lock(), 0

    def call(self, url, method, params, timeout):
        """What comes back, whatever it says."""
        with self.lock:
            self.last += 1
            number = self.last
        frame = {"jsonrpc": "2.0", "method": method, "params": params, "id": number}
        headers = {
            "Content-Type": "application/json", "Accept": "application/json",
            "User-Agent": "referee/1.0.0",
        }
        request = urllib.request.Request(url, json.dumps(frame).encode(), headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                body = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise Silence(f"{url}: {error!r}") from error
        answer = json.loads(body)
        expect(isinstance(answer, dict), "answer", "an object", answer)
        ours = answer.get("jsonrpc") == "2.0" and answer.get("id") == number
        expect(ours, "answer", f"one to number {number}", answer)
        return answer


class Verdict:
    """Who won, by which number, with which choices."""

    def __init__(self, players, choices, draw):
        self.choices, self.number, self.winner = choices, None, None
        self.losers = [player for player in players if choices[player] is None]
        self.points = dict.fromkeys(players, 0)
        if len(self.losers) == 1:
            self.winner = next(player for player in players if player not in self.losers)
        elif not self.losers:
            self.number = draw()
            right = [player for player in players if choices[player] == self.parity()]
            self.winner = right[0] if len(right) == 1 else None
            if self.winner is None:
                self.points = dict.fromkeys(players, 1)
        if self.winner is not None:
            self.points[self.winner] = 3

    def parity(self):
        return None if self.number is None else ("odd" if self.number % 2 else "even")

    def word(self, player):
        """What the result is for one of them, in document 002's words."""
        if player in self.losers:
            return "TECHNICAL_LOSS"
        if self.winner is None:
            return "TIE"
        return "WIN" if player == self.winner else "LOSS"

    def told(self):
        """The fields of GAME_OVER: those of documents 000, 002 and 003 side by side."""
        decided = self.winner is not None
        reason = f"the number was {self.number}"
        if self.losers:
            reason = f"TECHNICAL_LOSS: no choice of {', '.join(self.losers)}"
        return {
            "game_result": {
                "status": "WIN" if decided else ("CANCELLED" if self.losers else "DRAW"),
                "winner_player_id": self.winner, "drawn_number": self.number,
                "number_parity": self.parity(), "choices": self.choices, "reason": reason,
            },
            "winner_id": self.winner,
            "result_type": "TECHNICAL_LOSS" if self.losers else ("WIN" if decided else "TIE"),
            "drawn_number": self.number, "choices": self.choices, "points_awarded": self.points,
            "game_state": "COMPLETED",
        }


def seconds(text):
    """A time of the rules: `30s`, `500ms`, `2m`."""
    found = re.fullmatch(r"([\d.]+)(ms|s|m|h)", text)
    expect(found, "rules", "a time", text)
    return float(found[1]) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[found[2]]


class Match:
    """Invites, asks, draws, reports, tells."""

    def __init__(self, referee, order):
        self.referee, self.order = referee, order
        self.players = order["players"]
        expect(len(self.players) == 2, "START_MATCH.players", "two", self.players)
        found = re.fullmatch(r"R(\d+)M(\d+)", order["match_id"])
        expect(found, "START_MATCH.match_id", "R1M1", order["match_id"])
        self.conversation = f"convr{found[1]}m{found[2]}{secrets.token_hex(16)}"
        rules = order["rules"]
        self.join_time = seconds(rules.get("invitation_timeout", "5s"))
        self.choice_time = seconds(rules.get("choice_timeout", "30s"))
        self.who = {key: order[key] for key in ("league_id", "round_id", "match_id", "game_type")}

    def run(self):
        start = datetime.fromisoformat(self.order["scheduled_start"].replace("Z", "+00:00"))
        threading.Event().wait(max(0.0, (start - now()).total_seconds()))
        present = self.both(self.invite)
        if all(present):
            self.both(self.begin)
            choices = self.both(self.ask)
        else:
            # Whoever was there has not been asked and did not fail.
            choices = ["even" if there else None for there in present]
        ids = [player["player_id"] for player in self.players]
        verdict = Verdict(ids, dict(zip(ids, choices)), self.draw)
        if not all(present):
            verdict.choices = dict.fromkeys(ids)
        self.referee.report(self.order, verdict)
        told = {**self.who, **verdict.told()}
        self.both(lambda player, _: self.tell(player, "GAME_OVER", told, 5))

    def draw(self):
        """The number that follows from the seed, if there is one to draw with."""
        seed = self.referee.seed(self.order)
        if seed is None:
            return 1 + secrets.randbelow(10)
        fields = [self.order["league_id"], self.order["match_id"], str(self.order["rematch"])]
        counter = 0
        while True:
            text = [b"number", *(field.encode() for field in [*fields, "", "", str(counter)])]
            form = b"".join(len(part).to_bytes(4, "big") + part for part in text)
            for byte in hmac.new(bytes.fromhex(seed), form, hashlib.sha256).digest():
                if byte < 250:
                    return 1 + byte % 10
            counter += 1

    def both(self, step):
        """The same with both of them at once."""
        pairs = zip(self.players, reversed(self.players))
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda pair: step(*pair), pairs))

    def tell(self, player, kind, fields, timeout):
        """Says something to a player; what it says is given back with what was said."""
        expect(player["dialect"] in DIALECTS, "dialect", "one that is known", player["dialect"])
        dialect = DIALECTS[player["dialect"]]()
        voice = Voice(self.referee.sender(), self.conversation, player["match_proof"])
        method, params = dialect.request(voice, kind, fields)
        try:
            answer = self.referee.caller.call(player["endpoint"], method, params, timeout)
        except Silence as silence:
            print(f"note: {player['player_id']} said nothing to {kind}: {silence}", file=sys.stderr)
            return None
        at = f"{player['player_id']}'s answer to {kind}"
        expect("result" in answer, at, "a result", answer)
        return dialect, params, answer["result"]

    def asked(self, player, kind, fields, timeout):
        """What a player answers, as its document lists it; nothing if it is silent."""
        said = self.tell(player, kind, fields, timeout)
        if said is None:
            return None
        dialect, params, result = said
        expect(isinstance(result, dict), f"answer to {kind}", "an object", result)
        named, answer = dialect.answered(result, params)
        expect(named in dialect.answers, f"answer to {kind}", "one of the document", named)
        check(answer, dialect.answers[named], named)
        if "match_id" in answer:
            match = self.order["match_id"]
            expect(answer["match_id"] == match, f"{named}.match_id", match, answer["match_id"])
        if "sender" in answer:
            sender = f"player:{player['player_id']}"
            expect(answer["sender"] == sender, f"{named}.sender", sender, answer["sender"])
        self.referee.note(named)
        return dialect, answer

    def invite(self, player, opponent):
        role = player["role_in_match"]
        fields = {
            **self.who, "role_in_match": role, "opponent_id": opponent["player_id"],
            "player_role": "player1" if role == "PLAYER_A" else "player2",
            "max_response_time": self.join_time, "attempt": self.order["attempt"],
        }
        said = self.asked(player, "GAME_INVITATION", fields, self.join_time)
        return said is not None and bool(said[0].accepts(said[1]))

    def begin(self, player, opponent):
        """Only document 004 has a beginning."""
        if player["dialect"] == "payload":
            fields = {**self.who, "opponent_id": opponent["player_id"]}
            self.tell(player, "GAME_START", fields, self.join_time)

    def ask(self, player, opponent):
        other = opponent["player_id"]
        standing = player["your_standings"]
        for attempt in range(3):
            if attempt:
                threading.Event().wait(2)
            fields = {
                **self.who, "player_id": player["player_id"], "opponent_id": other,
                "deadline": stamp(now() + timedelta(seconds=self.choice_time)),
                "context": {
                    "opponent_id": other, "round_id": self.order["round_id"],
                    "your_standings": standing,
                },
                "standings": self.order.get("standings", []), "game_history": player["game_history"],
                "attempt": self.order["attempt"],
            }
            if player["dialect"] == "payload":
                options = {"move_type": "parity", "valid_options": ["even", "odd"]}
                fields["move_request"] = {**options, "context": {}}
            said = self.asked(player, "CHOOSE_PARITY_CALL", fields, self.choice_time)
            if said is not None:
                return said[0].choice(said[1])
        return None


# ---------------------------------------------------------------------------------- the referee


class Referee:
    """Listens, registers, runs matches."""

    def __init__(self, arguments):
        self.dialect = DIALECTS[arguments.dialect]()
        self.arguments = arguments
        self.caller = Caller()
        self.id, self.token, self.league = None, "", None
        self.registered = threading.Event()
        self.lock = threading.Lock()
        self.received, self.taken = {}, set()

    def sender(self):
        return f"referee:{self.id or self.arguments.name.replace(' ', '_')}"

    def note(self, kind):
        with self.lock:
            self.received[kind] = self.received.get(kind, 0) + 1

    def manager(self, kind, fields, answers, timeout=10):
        """Asks the manager."""
        voice = Voice(self.sender(), f"conv-{uuid.uuid4().hex}", self.token)
        method, params = self.dialect.request(voice, kind, fields)
        answer = self.caller.call(self.arguments.manager, method, params, timeout)
        expect("result" in answer, f"the answer to {kind}", "a result", answer)
        named, said = self.dialect.answered(answer["result"], params)
        expect(named == answers, f"the answer to {kind}", answers, named)
        spec = REPLIES.get(named, self.dialect.registered)
        check(said, spec, named)
        self.note(named)
        return said

    def enter(self, endpoint):
        """Registers with the manager."""
        meta = {
            "display_name": self.arguments.name, "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": endpoint, "max_concurrent_matches": self.arguments.capacity,
            **self.dialect.meta,
        }
        if self.arguments.join_key:
            meta["join_key"] = self.arguments.join_key
        fields = {"referee_meta": meta}
        if self.arguments.league:
            fields["league_id"] = self.arguments.league
        said = self.manager("REFEREE_REGISTER_REQUEST", fields, "REFEREE_REGISTER_RESPONSE")
        self.id, self.token = said["referee_id"], said.get("auth_token", "")
        self.league = said.get("league_id")
        self.registered.set()

    def answer(self, frame):
        """The response to a request."""
        expect(isinstance(frame, dict), "request", "one request", frame)
        expect(frame.get("jsonrpc") == "2.0", "jsonrpc", "2.0", frame.get("jsonrpc"))
        check(frame, {"id": INTEGER, "method": TEXT, "params": OBJECT}, "request")
        kind, message = self.dialect.open(frame["method"], frame["params"])
        if kind in ORDERS:
            if KNOWN.get(self.arguments.mode) != kind:
                # The documents have no such message.
                error = {"code": -32601, "message": "method not found"}
                return {"jsonrpc": "2.0", "error": error, "id": frame["id"]}
            kind = "START_MATCH"
        expect(kind in self.dialect.document, "message type", "one of the document", kind)
        check(message, self.dialect.document[kind], kind)
        self.registered.wait(10)
        if self.token:
            token = message.get("auth_token")
            expect(token == self.token, f"{kind}.auth_token", "the token it gave", token)
        self.note(kind)
        result = {"status": "ok"}
        if kind == "START_MATCH":
            self.take(message)
            fields = {key: message[key] for key in ("match_id", "attempt")}
            voice = Voice(self.sender(), None, self.token)
            fields["status"] = "ACCEPTED"
            if self.seed(message):
                fields["draw_commitment"] = message["draw_commitment"]
            result = self.dialect.result(voice, "START_MATCH_ACK", fields, message)
        if kind == "ROUND_ANNOUNCEMENT" and self.arguments.mode == "announcement":
            self.begin(message)
        return {"jsonrpc": "2.0", "result": result, "id": frame["id"]}

    def seed(self, order):
        """The seed to draw with."""
        return None if self.arguments.own_draw else order.get("draw_seed")

    def begin(self, announcement):
        """Runs its own matches of an announced round."""
        for match in announcement["matches"]:
            if match.get("referee_id") == self.id and "players" in match:
                check(match, ANNOUNCED, "ROUND_ANNOUNCEMENT.matches")
                whose = {key: announcement[key] for key in ("league_id", "round_id")}
                self.take({**whose, **match})

    def take(self, order):
        """Runs a match, once per attempt."""
        name = (order["match_id"], order["attempt"])
        with self.lock:
            if name in self.taken:
                return
            self.taken.add(name)
        match = Match(self, order)
        threading.Thread(target=guarded, args=(match.run,), daemon=True).start()

    def poll(self):
        """Asks for matches, as one does whom nobody can call."""
        while True:
            asked = {"league_id": self.league} if self.league else {}
            said = self.manager("GET_ASSIGNED_MATCHES", asked, "ASSIGNED_MATCHES")
            for order in said["assignments"]:
                self.take(order)
            threading.Event().wait(0.2)

    def report(self, order, verdict):
        """Tells the manager, until it has heard."""
        fields = self.dialect.report(order, verdict)
        if verdict.number is not None and self.seed(order):
            fields["draw_seed"] = self.seed(order)
        delays = iter((2, 4, 8))
        while True:
            try:
                said = self.manager("MATCH_RESULT_REPORT", fields, "MATCH_RESULT_ACK")
            except Silence:
                threading.Event().wait(next(delays, 30))
                continue
            match = order["match_id"]
            expect(said["match_id"] == match, "MATCH_RESULT_ACK.match_id", match, said["match_id"])
            return


def fault(error):
    sys.stderr.write(f"referee.py: {error}\n")
    sys.stderr.flush()
    os._exit(1)


def guarded(work):
    try:
        work()
    except Exception as error:
        fault(repr(error))


def handler(referee):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            try:
                kind = self.headers.get("Content-Type", "")
                expect(self.path == "/mcp", "path", "/mcp", self.path)
                expect(kind.startswith("application/json"), "Content-Type", "JSON", kind)
                response = referee.answer(json.loads(body))
            except Exception as error:
                fault(f"{error!r} in {body.decode(errors='replace')}")
            self.write(response)

        def do_GET(self):
            with referee.lock:
                received = dict(referee.received)
            self.write(received)

        def write(self, document):
            answer = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    return Handler


def read_arguments():
    parser = argparse.ArgumentParser(description="A referee by somebody else.")
    parser.add_argument("--manager", required=True)
    parser.add_argument("--dialect", default="flat", choices=sorted(DIALECTS))
    parser.add_argument("--name", default="python referee")
    parser.add_argument("--listen", default="127.0.0.1:0")
    parser.add_argument("--league")
    parser.add_argument("--join-key", help="the league's key, or the file that holds it")
    parser.add_argument("--capacity", type=int, default=4)
    modes = ("start_match", "run_match", "announcement", "poll")
    parser.add_argument("--mode", default="start_match", choices=modes)
    parser.add_argument("--own-draw", action="store_true", help="draw by itself in any case")
    arguments = parser.parse_args()
    if arguments.join_key and os.path.exists(arguments.join_key):
        with open(arguments.join_key, encoding="utf-8") as file:
            arguments.join_key = file.read().strip()
    return arguments


def main():
    arguments = read_arguments()
    referee = Referee(arguments)
    host, port = arguments.listen.rsplit(":", 1)
    server = http.server.ThreadingHTTPServer((host, int(port)), handler(referee))
    server.daemon_threads = True
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"{host}:{server.server_address[1]}"
    called = address
    if arguments.mode == "poll":
        # Where nobody listens.
        with socket.socket() as closed:
            closed.bind((host, 0))
            called = f"{host}:{closed.getsockname()[1]}"
    guarded(lambda: referee.enter(f"http://{called}/mcp"))
    print(json.dumps({"referee_id": referee.id, "address": address}), flush=True)
    if arguments.mode == "poll":
        threading.Thread(target=guarded, args=(referee.poll,), daemon=True).start()
    while not stopped.wait(0.2):
        pass
    # Matches that are being run end with it.
    os._exit(0)


if __name__ == "__main__":
    main()
