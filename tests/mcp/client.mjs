// Looks at a manager with the official TypeScript SDK, the first generation and the second.
//
// Usage: client.mjs URL. Prints one line when everything is as it should be.

import assert from "node:assert";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// The packages lie where they were installed, not beside this file.
const require = createRequire(pathToFileURL(`${process.argv[3]}/`));
const load = (name) => import(pathToFileURL(require.resolve(name)));

const first = {
  ...(await load("@modelcontextprotocol/sdk/client/index.js")),
  ...(await load("@modelcontextprotocol/sdk/client/streamableHttp.js")),
};
const second = await load("@modelcontextprotocol/client");

async function look({ Client, StreamableHTTPClientTransport }, options) {
  const client = new Client({ name: "league-tests", version: "1.0.0" }, options);
  const transport = new StreamableHTTPClientTransport(new URL(process.argv[2]));
  await client.connect(transport);
  assert.equal(client.getServerVersion().name, "league");
  assert.match(client.getInstructions(), /get_league/);
  const { tools } = await client.listTools();
  for (const name of ["get_league", "get_standings", "register_player", "start_league"]) {
    assert(tools.some((tool) => tool.name === name), name);
  }
  const league = await client.callTool({ name: "get_league", arguments: {} });
  assert(!league.isError);
  assert.deepEqual(JSON.parse(league.content[0].text), league.structuredContent);
  const name = league.structuredContent.league_id;
  const wrong = await client.callTool({ name: "get_match", arguments: { match_id: "R9M9" } });
  assert(wrong.isError);
  assert.match(wrong.content[0].text, /R9M9/);
  await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), /get_league/);
  const { resources } = await client.listResources();
  assert(resources.some((one) => one.uri === `league://${name}/schedule`));
  const table = await client.readResource({ uri: `league://${name}/standings` });
  assert(Array.isArray(JSON.parse(table.contents[0].text).standings));
  await client.close();
  return transport.protocolVersion;
}

const newest = { versionNegotiation: { mode: "auto" } };
const versions = [await look(first, {}), await look(second, {}), await look(second, newest)];
console.log("as it should be:", ...versions);
process.exit(0);
