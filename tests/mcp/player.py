"""A player that is a server of the Model Context Protocol: FastMCP, one tool for each thing it is asked.

It registers with the official SDK, by the manager's own tool, and prints its address as one JSON line. By
default it has sessions and streams its answers; --json sends plain answers, --stateless has no sessions.
"""

import argparse
import asyncio
import datetime
import json
import random
import socket

import uvicorn
from fastmcp import FastMCP
from mcp import Client

options = argparse.ArgumentParser()
options.add_argument("--manager", required=True)
options.add_argument("--name", required=True)
options.add_argument("--json", action="store_true")
options.add_argument("--stateless", action="store_true")
options = options.parse_args()

player = FastMCP(options.name)
me = {}


def answer(message_type, conversation_id, **fields):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "protocol": "league.v2",
        "message_type": message_type,
        "sender": f"player:{me['player_id']}",
        "timestamp": now,
        "conversation_id": conversation_id,
        "auth_token": me["auth_token"],
        "player_id": me["player_id"],
        **fields,
    }


@player.tool
def handle_game_invitation(match_id: str, conversation_id: str, round_id: int | str) -> dict:
    """Joins a match."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return answer(
        "GAME_JOIN_ACK", conversation_id, match_id=match_id, arrival_timestamp=now, accept=True
    )


@player.tool
def choose_parity(match_id: str, conversation_id: str, context: dict | None = None) -> dict:
    """Chooses even or odd."""
    choice = random.choice(["even", "odd"])
    return answer(
        "CHOOSE_PARITY_RESPONSE", conversation_id, match_id=match_id, parity_choice=choice
    )


@player.tool
def notify_match_result(match_id: str, conversation_id: str, game_result: dict) -> dict:
    """Hears how a match ended."""
    return answer("GAME_OVER_ACK", conversation_id, match_id=match_id)


async def register(port):
    async with Client(options.manager) as manager:
        result = await manager.call_tool(
            "register_player",
            {
                "display_name": options.name,
                "contact_endpoint": f"http://127.0.0.1:{port}/mcp",
                "game_types": ["even_odd"],
            },
        )
    assert not result.is_error, result.content[0].text
    me.update(result.structured_content)


async def main():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    app = player.http_app(
        path="/mcp", json_response=options.json, stateless_http=options.stateless
    )
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    await register(port)
    print(json.dumps({"address": f"127.0.0.1:{port}", "player_id": me["player_id"]}), flush=True)
    await serving


asyncio.run(main())
