#!/usr/bin/env python3
"""A player by somebody else, with nothing but Python's standard library.

    player.py --manager http://127.0.0.1:8000/mcp --dialect flat [--name NAME] [--listen 127.0.0.1:0]
              [--pull] [--deviate NAME]
    player.py --deviate list

It was written from the text of the source documents alone and believes them to the letter: a
message of a type that its document does not have, or without a field that its document lists, is a
fault, which is said on stderr and ends the player with 1. Otherwise it plays until it is asked to
stop (SIGTERM) and ends with 0. When it is registered it prints who it is and where it listens, as
one JSON document; there, GET /received tells how many messages of each type have come, and
GET /complaints what it was told to have done wrong. With --pull the manager is told of no address,
and what is sent is fetched from it. With --deviate it does one thing otherwise than its document
says, as real agents do.
"""

import argparse
import http.server
import json
import os
import random
import re
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from datetime import datetime, timezone

from deviations import DEVIATIONS, Honest

# ----------------------------------------------------------------- what the documents list


class Optional:
    """A field that may be missing."""

    def __init__(self, spec):
        self.spec = spec


class Nullable:
    """A value that may be null."""

    def __init__(self, spec):
        self.spec = spec


class ByPlayer:
    """An object whose names are player ids."""

    def __init__(self, spec):
        self.spec = spec


class OneOf:
    """One of a few words."""

    def __init__(self, *words):
        self.words = words


TEXT, INTEGER, NUMBER, BOOLEAN, OBJECT, LIST, TIME, URL, ANY = (
    "text", "integer", "number", "boolean", "object", "list", "time", "url", "any",
)
PARITY = OneOf("even", "odd")
ROUND = "round"  # "string or integer"

# What whoever is suspended is told, whether its document lists it or not. A match that somebody
# loses technically has no number, and lacks a choice: those are null.
UNLISTED = {"SUSPENSION_NOTICE": {}, "PING": {}}

# Documents 002 and 003 have messages that 000 lists the fields of, and the other way round: they
# describe one protocol. A type that a document of this family lacks has an empty row.
DOCUMENT_000 = {
    "ROUND_ANNOUNCEMENT": {
        "round_id": ROUND,
        "league_id": TEXT,
        "matches": [{
            "match_id": TEXT, "game_type": TEXT, "player_A_id": TEXT, "player_B_id": TEXT,
            "referee_endpoint": URL,
        }],
    },
    "ROUND_COMPLETED": {
        "round_id": ROUND, "league_id": TEXT, "completed_matches": [TEXT],
        "next_round_id": Nullable(TEXT),
    },
    "GAME_INVITATION": {
        "match_id": TEXT, "game_type": TEXT, "role_in_match": OneOf("PLAYER_A", "PLAYER_B"),
        "opponent_id": TEXT,
    },
    "CHOOSE_PARITY_CALL": {
        "match_id": TEXT, "game_type": TEXT, "deadline": TIME,
        "context": {"opponent_id": TEXT, "round_id": ROUND},
    },
    "GAME_OVER": {
        "match_id": TEXT,
        "game_result": {
            "status": OneOf("WIN", "DRAW", "CANCELLED"), "winner_player_id": Nullable(TEXT),
            "drawn_number": Nullable(INTEGER), "number_parity": Nullable(PARITY),
            "choices": ByPlayer(Nullable(PARITY)), "reason": TEXT,
        },
    },
    "LEAGUE_STANDINGS_UPDATE": {
        "league_id": TEXT,
        "round_id": ROUND,
        "standings": [{
            "rank": INTEGER, "player_id": TEXT, "display_name": TEXT, "played": INTEGER,
            "wins": INTEGER, "draws": INTEGER, "losses": INTEGER, "points": INTEGER,
        }],
    },
    "LEAGUE_COMPLETED": {
        "league_id": TEXT, "total_rounds": INTEGER, "total_matches": INTEGER,
        "champion": {"player_id": TEXT, "display_name": TEXT, "points": INTEGER},
        "final_standings": [{
            "rank": INTEGER, "player_id": TEXT, "display_name": TEXT, "points": INTEGER,
        }],
    },
    **UNLISTED,
    "LEAGUE_ERROR": {"error_code": TEXT, "error_description": TEXT, "context": OBJECT},
    "GAME_ERROR": {
        "match_id": TEXT, "error_code": TEXT, "error_description": TEXT,
        "affected_player": Nullable(TEXT), "action_required": TEXT, "retry_count": INTEGER,
        "max_retries": INTEGER, "consequence": TEXT,
    },
    "LEAGUE_REGISTER_RESPONSE": {
        "status": OneOf("ACCEPTED"), "player_id": TEXT, "auth_token": TEXT, "league_id": TEXT,
    },
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
    "ROUND_COMPLETED": {},
    "GAME_INVITATION": {
        "match_id": TEXT, "game_type": TEXT, "opponent_id": TEXT,
        "player_role": OneOf("player1", "player2"), "max_response_time": NUMBER,
    },
    "CHOOSE_PARITY": {
        "match_id": TEXT, "opponent_id": TEXT, "standings": LIST, "game_history": LIST,
    },
    "GAME_OVER": {
        "match_id": TEXT, "winner_id": Nullable(TEXT),
        "result_type": OneOf("WIN", "LOSS", "TIE", "TECHNICAL_LOSS"),
        "drawn_number": Nullable(INTEGER), "choices": ByPlayer(Nullable(PARITY)),
        "points_awarded": ByPlayer(INTEGER),
        "game_state": OneOf("COMPLETED", "ABORTED"),
    },
    "STANDINGS_UPDATE": {
        "league_id": TEXT, "round_id": INTEGER, "last_updated": TIME,
        "standings": [{
            "rank": INTEGER, "player_id": TEXT, "display_name": TEXT, "wins": INTEGER,
            "losses": INTEGER, "ties": INTEGER, "points": INTEGER, "games_played": INTEGER,
            "win_rate": NUMBER,
        }],
    },
    "LEAGUE_COMPLETED": {},
    **UNLISTED,
    "LEAGUE_ERROR": {"error_code": TEXT, "error_name": TEXT, "error_description": TEXT},
    "GAME_ERROR": {
        "match_id": TEXT, "player_id": TEXT, "error_code": TEXT, "error_name": TEXT,
        "error_description": TEXT, "game_state": TEXT, "retryable": BOOLEAN,
        "retry_count": INTEGER, "max_retries": INTEGER, "context": OBJECT,
    },
    "LEAGUE_REGISTER_RESPONSE": {
        "status": OneOf("ACCEPTED"), "player_id": TEXT, "auth_token": TEXT, "league_id": TEXT,
        "rejection_reason": Nullable(TEXT),
    },
}

DOCUMENT_003 = {
    "ROUND_ANNOUNCEMENT": {},
    "ROUND_COMPLETED": {},
    "GAME_INVITATION": {
        "league_id": TEXT, "round_id": INTEGER, "match_id": TEXT, "game_type": TEXT,
        "role_in_match": OneOf("PLAYER_A", "PLAYER_B"), "opponent_id": TEXT,
    },
    "CHOOSE_PARITY_CALL": {
        "match_id": TEXT, "player_id": TEXT, "game_type": OneOf("even_odd"),
        "context": {"opponent_id": TEXT, "round_id": INTEGER, "your_standings": OBJECT},
        "deadline": TIME,
    },
    "GAME_OVER": {
        "match_id": TEXT, "game_type": TEXT,
        "game_result": {
            "status": OneOf("WIN", "DRAW", "TECHNICAL_LOSS"),
            "winner_player_id": Optional(Nullable(TEXT)), "drawn_number": Nullable(INTEGER),
            "number_parity": Nullable(PARITY), "choices": ByPlayer(Nullable(PARITY)),
            "reason": Optional(TEXT),
        },
    },
    "LEAGUE_STANDINGS_UPDATE": {},
    "LEAGUE_COMPLETED": {},
    **UNLISTED,
    "LEAGUE_ERROR": {
        "error_code": TEXT, "error_description": TEXT, "affected_player": Nullable(TEXT),
        "action_required": TEXT,
    },
    "GAME_ERROR": {
        "error_code": TEXT, "error_description": TEXT, "affected_player": TEXT,
        "action_required": TEXT,
        "retry_info": Optional({
            "retry_count": Optional(INTEGER), "max_retries": Optional(INTEGER),
            "next_retry_at": Optional(Nullable(TIME)),
        }),
        "consequence": Optional(TEXT),
    },
    "LEAGUE_REGISTER_RESPONSE": {"status": OneOf("ACCEPTED"), "player_id": TEXT},
}

# Document 001 lists the envelope and no messages. Their fields are those of 000, where a round has
# one type wherever it stands.
DOCUMENT_001 = {
    **DOCUMENT_000,
    "ROUND_COMPLETED": {**DOCUMENT_000["ROUND_COMPLETED"], "next_round_id": Nullable(ROUND)},
}

CODE_004 = OneOf("L001", "L002", "L003", "L004", "L005", "G001", "G002", "G003", "G004", "G005")

# Document 004 lists types and no fields of theirs. What a player cannot do without is required.
DOCUMENT_004 = {
    "ROUND_ANNOUNCEMENT": {},
    "ROUND_START": {},
    "ROUND_END": {},
    "ROUND_RESULT": {},
    "GAME_INVITE": {"match_id": TEXT},
    "GAME_START": {"match_id": TEXT},
    "MOVE_REQUEST": {"match_id": TEXT, "move_request": {"valid_options": LIST}},
    "GAME_RESULT": {"match_id": TEXT},
    "LEAGUE_STANDINGS_UPDATE": {},
    **UNLISTED,
    "LEAGUE_ERROR": {"error_code": CODE_004},
    "GAME_ERROR": {"error_code": CODE_004},
    "PLAYER_REGISTER_RESPONSE": {"status": OneOf("ACCEPTED"), "player_id": TEXT},
}

# The methods that document 000 prints as examples; of the others it says nothing.
METHODS_000 = {
    "ROUND_ANNOUNCEMENT": "notify_round",
    "GAME_INVITATION": "handle_game_invitation",
    "CHOOSE_PARITY_CALL": "choose_parity",
}

ENVELOPE = {
    "protocol": OneOf("league.v2"), "message_type": TEXT, "sender": TEXT, "timestamp": TIME,
    "conversation_id": TEXT,
}
ENVELOPE_004 = {
    "protocol": OneOf("league.v2"), "message_id": "uuid4", "type": TEXT, "sender": TEXT,
    "timestamp": TIME, "payload": OBJECT, "auth_token": Optional(TEXT),
    "correlation_id": Optional(TEXT),
}
SENDER = re.compile(r"league_manager(:.+)?|referee:.+|player:.+")
SENDER_004 = re.compile(r"(league_manager|referee|player):.+")
UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


class Fault(Exception):
    """A message is not what the document says."""


def check(value, spec, at):
    """Whether a value is what its document lists."""
    if isinstance(spec, Nullable):
        return None if value is None else check(value, spec.spec, at)
    if isinstance(spec, OneOf):
        return expect(value in spec.words, at, " or ".join(spec.words), value)
    if isinstance(spec, ByPlayer):
        expect(isinstance(value, dict), at, "an object by player", value)
        return [check(inner, spec.spec, f"{at}.{name}") for name, inner in value.items()]
    if isinstance(spec, dict):
        expect(isinstance(value, dict), at, "an object", value)
        return check_fields(value, spec, at)
    if isinstance(spec, list):
        expect(isinstance(value, list), at, "a list", value)
        return [check(inner, spec[0], f"{at}[{n}]") for n, inner in enumerate(value)]
    fits = {
        TEXT: lambda: isinstance(value, str),
        INTEGER: lambda: isinstance(value, int) and not isinstance(value, bool),
        NUMBER: lambda: isinstance(value, (int, float)) and not isinstance(value, bool),
        BOOLEAN: lambda: isinstance(value, bool),
        OBJECT: lambda: isinstance(value, dict),
        LIST: lambda: isinstance(value, list),
        TIME: lambda: isinstance(value, str) and UTC.fullmatch(value),
        URL: lambda: isinstance(value, str) and value.startswith("http"),
        ROUND: lambda: isinstance(value, (int, str)) and not isinstance(value, bool),
        "uuid4": lambda: isinstance(value, str) and uuid.UUID(value).version == 4,
        ANY: lambda: True,
    }
    return expect(fits[spec](), at, spec, value)


def check_fields(message, spec, at):
    for name, inner in spec.items():
        if isinstance(inner, Optional):
            if name in message:
                check(message[name], inner.spec, f"{at}.{name}")
            continue
        expect(name in message, f"{at}.{name}", "a listed field", "nothing")
        check(message[name], inner, f"{at}.{name}")


def expect(condition, at, expected, got):
    if not condition:
        raise Fault(f"{at}: expected {expected}, got {got!r}")


# ------------------------------------------------------------------------ how they are written


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class Flat:
    """Document 000: envelope and fields side by side."""

    document = DOCUMENT_000
    invite, start, ask, over = "GAME_INVITATION", None, "CHOOSE_PARITY_CALL", "GAME_OVER"
    register = ("LEAGUE_REGISTER_REQUEST", "LEAGUE_REGISTER_RESPONSE")
    needs_token = True
    games = ["even_odd"]
    meta = {}

    def open(self, method, params):
        """The type and the fields of a request."""
        kind = params.get("message_type")
        expected = METHODS_000.get(kind)
        expect(expected in (None, method), "method", expected, method)
        return self.opened(params)

    def opened(self, message):
        check_fields(message, ENVELOPE, "message")
        expect(SENDER.fullmatch(message["sender"]), "sender", "type:id", message["sender"])
        return message["message_type"], message

    def envelope(self, player, kind, asked):
        conversation = asked["conversation_id"] if asked else f"conv-{uuid.uuid4().hex}"
        return {
            "protocol": "league.v2", "message_type": kind, "sender": player.sender(),
            "timestamp": now(), "conversation_id": conversation, "auth_token": player.token,
        }

    def request(self, player, kind, fields):
        return "register_player", {**self.envelope(player, kind, None), **fields}

    def result(self, player, kind, fields, asked):
        return {**self.envelope(player, kind, asked), **fields}

    def answered(self, player, result, asked):
        """The type and the fields of what a request of ours brought back."""
        return self.opened(result)

    def join(self, match):
        return "GAME_JOIN_ACK", {"match_id": match, "accept": True, "arrival_timestamp": now()}

    def choose(self, player, message):
        fields = {"match_id": message["match_id"], "parity_choice": player.parity()}
        return "CHOOSE_PARITY_RESPONSE", fields

    def end(self, match):
        return None


class Typed(Flat):
    """Document 003: the type is the method, and an answer has no more than it needs."""

    document = DOCUMENT_003
    needs_token = False

    def open(self, method, params):
        expect(method == params.get("message_type"), "method", "the message type", method)
        return self.opened(params)

    def opened(self, message):
        if set(message) >= {"sender", "timestamp"}:
            return super().opened(message)
        check_fields(message, {"protocol": OneOf("league.v2"), "message_type": TEXT}, "message")
        return message["message_type"], message

    def envelope(self, player, kind, asked):
        envelope = super().envelope(player, kind, asked)
        del envelope["auth_token"]
        return envelope

    def request(self, player, kind, fields):
        return kind, {**self.envelope(player, kind, None), **fields}

    def result(self, player, kind, fields, asked):
        return {"protocol": "league.v2", "message_type": kind, **fields}

    def choose(self, player, message):
        fields = {"match_id": message["match_id"], "player_id": player.id}
        return "CHOOSE_PARITY_RESPONSE", {**fields, "parity_choice": player.parity()}


class V21(Flat):
    """Document 002: names of its own."""

    document = DOCUMENT_002
    ask = "CHOOSE_PARITY"
    # The document has fixed ports and no endpoint; whoever gives one has to name its dialect.
    meta = {"protocol_version": "2.1.0", "contact_email": "s@example.org", "dialect": "v21"}

    def open(self, method, params):
        return self.opened(params)

    def join(self, match):
        return "GAME_JOIN_ACK", {"match_id": match, "status": "ACCEPTED", "ready": True}

    def choose(self, player, message):
        fields = {"match_id": message["match_id"], "choice": player.parity()}
        return "PARITY_CHOICE", {**fields, "reasoning": "a feeling"}

    def end(self, match):
        return "GAME_OVER_ACK", {"match_id": match, "acknowledged": True}


class Enveloped(Flat):
    """Document 001: envelope and payload apart, one method."""

    document = DOCUMENT_001
    context = ("auth_token", "league_id", "round_id", "match_id", "game_type")
    relevant = {
        "ROUND_ANNOUNCEMENT": ("league_id", "round_id"),
        "ROUND_COMPLETED": ("league_id", "round_id"),
        "GAME_INVITATION": ("league_id", "match_id", "game_type"),
        "CHOOSE_PARITY_CALL": ("league_id", "match_id", "game_type"),
        "GAME_OVER": ("league_id", "match_id", "game_type"),
        "GAME_ERROR": ("league_id", "match_id"),
        "LEAGUE_STANDINGS_UPDATE": ("league_id",),
        "LEAGUE_COMPLETED": ("league_id",),
    }

    def open(self, method, params):
        expect(method == "league.handle", "method", "league.handle", method)
        return self.opened(params)

    def opened(self, message):
        check_fields(message, {"envelope": ENVELOPE, "payload": OBJECT}, "message")
        envelope, payload = message["envelope"], message["payload"]
        kind = envelope["message_type"]
        for name in self.relevant.get(kind, ()):
            expect(name in envelope, f"envelope.{name}", "a contextual field", "nothing")
        for name in self.context:
            if name in payload and name in envelope:
                same = payload[name] == envelope[name]
                expect(same, f"payload.{name}", "what the envelope says", payload[name])
        return kind, {**payload, **envelope}

    def apart(self, fields):
        envelope = {name: value for name, value in fields.items() if name in self.context}
        payload = {name: value for name, value in fields.items() if name not in self.context}
        return envelope, payload

    def wrap(self, envelope, fields):
        above, payload = self.apart(fields)
        if not envelope["auth_token"]:
            del envelope["auth_token"]
        return {"envelope": {**envelope, **above}, "payload": payload}

    def request(self, player, kind, fields):
        return "league.handle", self.wrap(self.envelope(player, kind, None), fields)

    def result(self, player, kind, fields, asked):
        fields = {"league_id": player.league, **fields}
        return self.wrap(self.envelope(player, kind, asked), fields)


class Payload(Flat):
    """Document 004: ids, types and codes of its own, everything else in the payload."""

    document = DOCUMENT_004
    invite, start, ask, over = "GAME_INVITE", "GAME_START", "MOVE_REQUEST", "GAME_RESULT"
    register = ("PLAYER_REGISTER_REQUEST", "PLAYER_REGISTER_RESPONSE")
    needs_token = False
    # It chooses among whatever it is offered.
    games = ["even_odd", "even_odd_numbers"]

    def __init__(self):
        self.sent = None

    def open(self, method, params):
        return self.opened(params)

    def opened(self, message):
        check_fields(message, ENVELOPE_004, "message")
        expect(SENDER_004.fullmatch(message["sender"]), "sender", "type:id", message["sender"])
        envelope = {name: value for name, value in message.items() if name != "payload"}
        return message["type"], {**message["payload"], **envelope}

    def letter(self, player, kind, fields):
        letter = {
            "protocol": "league.v2", "message_id": str(uuid.uuid4()), "type": kind,
            "sender": player.sender(), "timestamp": now(), "payload": fields,
        }
        if player.token:
            letter["auth_token"] = player.token
        return letter

    def request(self, player, kind, fields):
        letter = self.letter(player, kind, fields)
        self.sent = letter["message_id"]
        return kind, letter

    def answered(self, player, result, asked):
        correlation = result.get("correlation_id")
        expect(correlation == self.sent, "correlation_id", self.sent, correlation)
        kind, fields = self.opened(result)
        # The new token is the message's, not the sender's.
        return kind, {**fields, **result["payload"]}

    def result(self, player, kind, fields, asked):
        return {**self.letter(player, kind, fields), "correlation_id": asked["message_id"]}

    def join(self, match):
        return "GAME_INVITE_RESPONSE", {"match_id": match, "accept": True}

    def choose(self, player, message):
        options = message["move_request"]["valid_options"]
        fields = {"match_id": message["match_id"], "move_data": player.dice.choice(options)}
        return "MOVE_RESPONSE", fields


class Tool(Flat):
    """Model Context Protocol: a flat message as the arguments of a tool."""

    def open(self, method, params):
        expect(method == "tools/call", "method", "tools/call", method)
        check_fields(params, {"name": TEXT, "arguments": OBJECT}, "params")
        return super().open(params["name"], params["arguments"])

    def request(self, player, kind, fields):
        name, arguments = super().request(player, kind, fields)
        return "tools/call", {"name": name, "arguments": arguments}

    def answered(self, player, result, asked):
        content = [{"type": OneOf("text"), "text": TEXT}]
        check_fields(result, {"content": content, "structuredContent": OBJECT}, "result")
        text = json.loads(result["content"][0]["text"])
        structured = result["structuredContent"]
        expect(text == structured, "content[0].text", "what structuredContent says", text)
        return super().answered(player, structured, asked)

    def result(self, player, kind, fields, asked):
        answer = super().result(player, kind, fields, asked)
        result = {"content": [{"type": "text", "text": json.dumps(answer)}], "isError": False}
        # A server of tools may leave this out.
        if player.dice.random() < 0.5:
            result["structuredContent"] = answer
        return result


class Wrapped(Flat):
    """Agents in the wild: a flat message in `message`."""

    def open(self, method, params):
        expect(method == "handle_message", "method", "handle_message", method)
        check_fields(params, {"message": OBJECT}, "params")
        return self.opened(params["message"])

    def request(self, player, kind, fields):
        _, message = super().request(player, kind, fields)
        return "handle_message", {"message": message}


DIALECTS = {
    "flat": Flat, "typed": Typed, "v21": V21, "enveloped": Enveloped, "payload": Payload,
    "tool": Tool, "wrapped": Wrapped,
}

# ------------------------------------------------------------------------------------ the player


class Player:
    """Listens, registers, plays."""

    def __init__(self, arguments):
        self.dialect = DIALECTS[arguments.dialect]()
        self.deviation = DEVIATIONS[arguments.deviate]() if arguments.deviate else Honest()
        self.manager = arguments.manager
        self.name = arguments.name or f"python {arguments.dialect}"
        self.dice = random.Random()
        self.id, self.token, self.league = None, "", None
        self.registered = threading.Event()
        self.lock = threading.Lock()
        self.received = {}
        self.complaints = []
        self.conversations = {}
        self.started = set()

    def sender(self):
        return f"player:{self.id or self.name.replace(' ', '_')}"

    def parity(self):
        return self.dice.choice(["even", "odd"])

    def enter(self, endpoint):
        """Registers with the manager."""
        meta = {
            "display_name": self.name, "version": "1.0.0", "game_types": self.dialect.games,
            **({"contact_endpoint": endpoint} if endpoint else {"pull": True}), **self.dialect.meta,
        }
        asks, answers = self.dialect.register
        method, params = self.dialect.request(self, asks, {"player_meta": meta})
        frame = {"jsonrpc": "2.0", "method": method, "params": params, "id": 1}
        headers = {
            "Content-Type": "application/json", "Accept": "application/json",
            "User-Agent": "player/1.0.0",
        }
        url, sent = self.deviation.register(self.manager, frame)
        body = json.dumps(sent).encode()
        request = urllib.request.Request(url, body, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            raise Fault(f"HTTP status {error.code}: {error.read().decode()}") from error
        if self.deviation.is_plain:
            answer = {"jsonrpc": "2.0", "result": answer, "id": 1}
        expect(answer.get("jsonrpc") == "2.0" and answer.get("id") == 1, "answer", "ours", answer)
        expect("result" in answer, "answer", "a result", answer)
        kind, fields = self.dialect.answered(self, answer["result"], params)
        expect(kind == answers, "message type", answers, kind)
        check_fields(fields, self.dialect.document[answers], kind)
        self.id, self.token = fields["player_id"], fields.get("auth_token", "")
        self.league = fields.get("league_id")
        self.registered.set()

    def answer(self, frame):
        """The status and the response for a request."""
        expect(isinstance(frame, dict), "request", "one request", frame)
        expect(frame.get("jsonrpc") == "2.0", "jsonrpc", "2.0", frame.get("jsonrpc"))
        check(frame.get("id"), INTEGER, "id")
        check(frame.get("method"), TEXT, "method")
        check(frame.get("params"), OBJECT, "params")
        kind, message = self.dialect.open(frame["method"], frame["params"])
        expect(kind in self.dialect.document, "message type", "one of the document", kind)
        check_fields(message, self.dialect.document[kind], kind)
        if self.dialect.needs_token:
            expect(message.get("auth_token"), f"{kind}.auth_token", "a token", "nothing")
        self.registered.wait(10)
        with self.lock:
            self.received[kind] = self.received.get(kind, 0) + 1
            if kind in ("GAME_ERROR", "LEAGUE_ERROR"):
                told = (message.get("error_description"), message.get("action_required"))
                self.complaints.append(" ".join(text for text in told if text))
            self.follow(kind, message)
        said = self.say(kind, message)
        if said is None:
            return 200, respond(frame, {"status": "ok"})
        result = self.dialect.result(self, said[0], said[1], message)
        return self.deviation.reply(respond(frame, result))

    def say(self, kind, message):
        if kind == self.dialect.invite:
            return self.dialect.join(message["match_id"])
        if kind == self.dialect.ask:
            return self.dialect.choose(self, message)
        if kind == self.dialect.over:
            return self.dialect.end(message["match_id"])
        return None

    def follow(self, kind, message):
        """One conversation per match, which begins with the invitation."""
        course = (self.dialect.invite, self.dialect.start, self.dialect.ask, self.dialect.over)
        if kind not in course:
            return
        match, conversation = message["match_id"], message.get("conversation_id")
        if kind == self.dialect.start:
            self.started.add(match)
        if kind == self.dialect.ask and self.dialect.start:
            expect(match in self.started, kind, f"{self.dialect.start} before it", "nothing")
        if kind == self.dialect.invite:
            self.conversations[match] = conversation
        known = self.conversations.get(match)
        expect(match in self.conversations, f"{kind}.match_id", "a match it was invited to", match)
        expect(known == conversation, f"{kind}.conversation_id", known, conversation)


def respond(frame, result):
    return {"jsonrpc": "2.0", "result": result, "id": frame["id"]}


def fault(error):
    sys.stderr.write(f"player.py: {error}\n")
    sys.stderr.flush()
    os._exit(1)


def handler(player):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            try:
                kind = self.headers.get("Content-Type", "")
                expect(kind.startswith("application/json"), "Content-Type", "JSON", kind)
                frame = json.loads(body)
                session = self.headers.get("Mcp-Session-Id")
                instead = player.deviation.gate(self.path, frame, session)
                if instead is not None:
                    return self.write(*instead)
                if player.deviation.counted_as != "redirect":
                    expect(self.path == "/mcp", "path", "/mcp", self.path)
                status, response = player.answer(player.deviation.called(frame))
            except (Fault, ValueError, KeyError) as error:
                fault(f"{error!r} in {body.decode(errors='replace')}")
            return self.write(status, response)

        def do_GET(self):
            with player.lock:
                told = player.complaints if self.path == "/complaints" else player.received
                self.write(200, told)

        def write(self, status, document, headers=None):
            answer = json.dumps(document).encode()
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    return Handler


def pull(player):
    """Fetches what was sent and posts the answers, one after the other."""
    turns = player.manager.removesuffix("/mcp") + "/api/v1/turns"
    headers = {"Authorization": f"Bearer {player.token}", "Content-Type": "application/json"}

    def call(url, body=None):
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as answer:
            return json.load(answer)

    after = ""
    while True:
        try:
            given = call(f"{turns}?wait=25{after}")
            for turn in given["turns"]:
                frame = turn["call"]
                _, response = player.answer(player.deviation.called(frame))
                if turn["needs_answer"]:
                    call(f"{turns}/{turn['turn']}", json.dumps(response).encode())
            after = f"&after={given['cursor']}" if given["cursor"] else ""
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                fault(f"turns: {error!r}")
            time.sleep(1)
        except OSError:
            # The manager is away; it will be back.
            time.sleep(0.2)
        except (Fault, ValueError, KeyError) as error:
            fault(f"{error!r} in {given}")


def main():
    parser = argparse.ArgumentParser(description="A player by somebody else.")
    if sys.argv[1:] == ["--deviate", "list"]:
        print(json.dumps({name: kind.counted_as for name, kind in DEVIATIONS.items()}))
        return 0
    parser.add_argument("--manager", required=True)
    parser.add_argument("--dialect", required=True, choices=sorted(DIALECTS))
    parser.add_argument("--deviate", choices=DEVIATIONS, metavar="NAME")
    parser.add_argument("--name")
    parser.add_argument("--listen", default="127.0.0.1:0")
    parser.add_argument("--pull", action="store_true")
    arguments = parser.parse_args()
    player = Player(arguments)
    host, port = arguments.listen.rsplit(":", 1)
    server = http.server.ThreadingHTTPServer((host, int(port)), handler(player))
    server.daemon_threads = True
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"{host}:{server.server_address[1]}"
    try:
        player.enter(None if arguments.pull else f"http://{address}/mcp")
    except (Fault, ValueError, KeyError, OSError) as error:
        fault(f"registration: {error!r}")
    if arguments.pull:
        threading.Thread(target=pull, args=[player], daemon=True).start()
    print(json.dumps({"player_id": player.id, "address": address}), flush=True)
    while not stopped.wait(0.2):
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
