/** A player over HTTP. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Desk } from "../league_agent/desk.js";
import { BODY_BYTES_MAX, Endpoint } from "../league_agent/endpoint.js";
import { Player } from "../league_agent/index.js";
import { ME, message, request } from "./referee.js";

async function open(t) {
  const player = new Player(() => "even");
  const endpoint = new Endpoint(new Desk(player));
  const port = await endpoint.listen("127.0.0.1", 0);
  t.after(() => endpoint.close());
  const ask = async (path, init) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    return { status: response.status, body: await response.text() };
  };
  const post = (body, type = "application/json", path = "/mcp") =>
    ask(path, { method: "POST", body, headers: { "Content-Type": type } });
  return { player, ask, post };
}

test("pages", async (t) => {
  const { player, ask, post } = await open(t);
  assert.equal((await ask("/ready")).status, 503);
  player.settle(ME);
  assert.equal((await ask("/ready")).status, 200);
  assert.equal(JSON.parse((await ask("/health")).body).status, "ok");
  assert.equal(JSON.parse((await ask("/version")).body).protocol, "league.v2");
  assert.deepEqual(await ask("/health", { method: "HEAD" }), { status: 200, body: "" });
  assert.equal((await ask("/mcp")).status, 405);
  assert.equal((await ask("/elsewhere")).status, 404);
  assert.equal((await post("{}", undefined, "/elsewhere")).status, 404);
});

test("calls", async (t) => {
  const { player, post } = await open(t);
  player.settle(ME);
  for (const path of ["/mcp", "/mcp/"]) {
    const { status, body } = await post(request(message("PING")), undefined, path);
    assert.deepEqual([status, JSON.parse(body).result.message_type], [200, "PONG"]);
  }
  const { status } = await post(request(message("PING")), "application/json; charset=utf-8");
  assert.equal(status, 200);
  assert.equal((await post("{")).status, 400);
});

test("what is too large or no JSON is turned away", async (t) => {
  const { post } = await open(t);
  assert.equal((await post("x".repeat(BODY_BYTES_MAX + 1))).status, 413);
  assert.equal((await post(" ".repeat(BODY_BYTES_MAX))).status, 400, "as much as that is read");
  assert.equal((await post("{}", "text/plain")).status, 415);
});
