#!/usr/bin/env python3
"""A whole player for league.v2 with nothing but Python's standard library.

    python3 player.py http://127.0.0.1:8000 127.0.0.1:8102 Ada [JOIN-CODE]

Change `choose`; port 0 is any that is free. Who it is lies in player-<port>.json, so that it comes
back as the same player; when the league is over it ends and the file goes.
"""
import json
import pathlib
import random
import sys
import threading
import urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

manager, listen, name, *join_code = sys.argv[1:]
host, port = listen.rsplit(":", 1)


def choose(call):
    """Even or odd? `call` is the whole CHOOSE_PARITY_CALL: opponent, standings, past matches."""
    return random.choice(["even", "odd"])


def envelope(message_type, conversation):
    return {
        "protocol": "league.v2",
        "message_type": message_type,
        "sender": "player:" + me.get("player_id", "new"),
        "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "conversation_id": conversation,
    }


def answer(message):
    """The result for a message; any result will do where nothing is asked."""
    conversation, match = message["conversation_id"], message.get("match_id")
    if message["message_type"] == "GAME_INVITATION":
        return {**envelope("GAME_JOIN_ACK", conversation), "match_id": match, "accept": True}
    if message["message_type"] == "CHOOSE_PARITY_CALL":
        reply = envelope("CHOOSE_PARITY_RESPONSE", conversation)
        return {**reply, "match_id": match, "parity_choice": choose(message)}
    if message["message_type"] == "LEAGUE_COMPLETED":
        kept.unlink(missing_ok=True)
        threading.Thread(target=server.shutdown).start()
    if message["message_type"] in ("GAME_ERROR", "GAME_OVER"):
        print(message.get("error_description") or message["game_result"]["reason"], flush=True)
    return {}


class Player(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece; in two, the second waits for the other side

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = answer(request["params"])
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_):
        pass


def register():
    """Joins the league, or comes back to it; the token is the proof and must not be lost."""
    meta = {"display_name": name, "version": "1.0.0", "protocol_version": "2.1.0"}
    meta |= {"game_types": ["even_odd"], "contact_endpoint": f"http://{host}:{server.server_port}/mcp"}
    if join_code:
        meta["join_code"] = join_code[0]
    params = {**envelope("LEAGUE_REGISTER_REQUEST", "reg-1"), "player_meta": meta}
    params |= {key: me[key] for key in ("auth_token", "league_id") if key in me}
    body = {"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": params}
    headers = {"Content-Type": "application/json"}
    call = urllib.request.Request(manager.removesuffix("/mcp") + "/mcp", json.dumps(body).encode(), headers)
    response = json.load(urllib.request.urlopen(call))
    result = response.get("result", {})
    if result.get("status") != "ACCEPTED":
        sys.exit(response["error"]["message"] if "error" in response else result["error_description"])
    me.update({key: result[key] for key in ("player_id", "league_id", "auth_token")})
    kept.write_text(json.dumps(me))
    print(f"{me['player_id']} plays in {me['league_id']}", flush=True)


server = ThreadingHTTPServer((host, int(port)), Player)
kept = pathlib.Path(f"player-{server.server_port}.json")
me = json.loads(kept.read_text()) if kept.exists() else {}
register()
server.serve_forever()
