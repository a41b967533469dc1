"""Looks at a manager with the official Python SDK, in every way in which it connects.

Usage: client.py URL. Prints one line when everything is as it should be.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError

WANTED = {"get_league", "get_standings", "get_schedule", "get_match", "register_player", "start_league"}


async def look(url, mode):
    async with Client(url, mode=mode) as client:
        # Whoever names the version beforehand asks nobody who is there.
        if mode in ("legacy", "auto"):
            assert client.server_info.name == "league", client.server_info
            assert "get_league" in client.instructions
        tools = (await client.list_tools()).tools
        missing = WANTED - {tool.name for tool in tools}
        assert not missing, missing
        league = await client.call_tool("get_league", {})
        assert not league.is_error, league
        assert json.loads(league.content[0].text) == league.structured_content
        name = league.structured_content["league_id"]
        wrong = await client.call_tool("get_match", {"match_id": "R9M9"})
        assert wrong.is_error and "R9M9" in wrong.content[0].text, wrong
        again = await client.call_tool("register_player", {"display_name": "nobody"})
        assert again.is_error and "contact_endpoint" in again.content[0].text, again
        try:
            await client.call_tool("no_such_tool", {})
            raise AssertionError("there is no such tool")
        except MCPError as error:
            assert "get_league" in str(error), error
        resources = (await client.list_resources()).resources
        assert f"league://{name}/standings" in {str(one.uri) for one in resources}
        templates = (await client.list_resource_templates()).resource_templates
        assert any("match_id" in one.uri_template for one in templates)
        table = await client.read_resource(f"league://{name}/standings")
        assert "standings" in json.loads(table.contents[0].text)
        return client.protocol_version


async def main():
    url = sys.argv[1]
    versions = [await look(url, mode) for mode in ("legacy", "auto", "2026-07-28")]
    print("as it should be:", " ".join(str(version) for version in versions))


asyncio.run(main())
