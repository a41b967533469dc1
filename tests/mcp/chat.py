"""Plays a whole league by calling tools with the official Python SDK, as a chat client would.

Usage: chat.py URL NAME [MODE]. Prints one JSON line when it has joined, and one with all it was told
when the league is over.
"""

import asyncio
import json
import random
import sys

from mcp import Client


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    return result.structured_content


async def play(client, name):
    me = await call(client, "join_league", display_name=name)
    print(json.dumps({"player_id": me["player_id"]}), flush=True)
    told, moves, misses = [], 0, 0
    while True:
        turn = await call(client, "wait_for_turn", auth_token=me["auth_token"], wait_seconds=10)
        told += turn["news"]
        if turn["your_turn"]:
            if moves == 0:
                # Whoever chooses what is not there is told what is.
                wrong = {"auth_token": me["auth_token"], "choice": "seven"}
                wrong = await client.call_tool("make_move", wrong)
                assert wrong.is_error and all(
                    option in wrong.content[0].text for option in turn["options"]
                ), wrong
                misses += 1
            move = await call(
                client,
                "make_move",
                auth_token=me["auth_token"],
                match_id=turn["match_id"],
                choice=random.choice(turn["options"]),
            )
            assert move["match_id"] == turn["match_id"], move
            moves += 1
        elif turn["league_over"]:
            return {"told": told, "moves": moves, "misses": misses}


async def main():
    url, name, *mode = sys.argv[1:]
    async with Client(url, mode=mode[0] if mode else "auto") as client:
        print(json.dumps(await play(client, name)), flush=True)


asyncio.run(main())
