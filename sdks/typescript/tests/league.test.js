/** Players of the kit in real leagues. */

import assert from "node:assert/strict";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Player } from "../league_agent/index.js";
import { log } from "../league_agent/log.js";
import { Lookout } from "../league_agent/lookout.js";
import { Manager } from "../league_agent/manager.js";
import { ended, firstLine, House, skip } from "./house.js";

log.from("NOTHING");

const toss = (call) => call.options[Math.floor(Math.random() * call.options.length)];
const games = (rows) => rows.map((row) => [row.played, row.technical_losses]);

test("a league is played with and without a port", { skip }, async (t) => {
  const house = await House.open(t);
  await house.found("spring", "--start", "players=4");
  const fails = () => {
    throw new Error("no idea");
  };
  const guests = [
    await house.send(toss, { name: "Ada" }),
    await house.send(toss, { name: "Ben", pull: true }),
    await house.send(fails, { name: "Cem", pull: true }),
  ];
  await house.seat("player");
  const rows = await house.tableAtTheEnd("spring");
  for (const { agent, playing } of guests) {
    await playing;
    assert.deepEqual(agent.player.history.map((match) => match.fair), [true, true, true]);
  }
  assert.deepEqual(games(rows), Array(4).fill([3, 0]));
});

test("numbers are chosen as well", { skip }, async (t) => {
  const house = await House.open(t);
  await house.found("spring", "--game", "even_odd_numbers", "--start", "players=2");
  const { agent, playing } = await house.send(toss, { games: ["even_odd_numbers"] });
  await house.seat("player");
  assert.deepEqual(games(await house.tableAtTheEnd("spring")), Array(2).fill([1, 0]));
  await playing;
  assert.ok([1, 2, 3, 4, 5].includes(agent.player.history[0].mine));
});

test("who comes back is the same and who is told no says why", { skip }, async (t) => {
  const house = await House.open(t);
  await house.found("spring", "--start", "players=2");
  const first = await house.send(toss);
  first.agent.stop();
  await first.playing;
  const again = await house.send(toss);
  assert.deepEqual(again.agent.player.identity, first.agent.player.identity);
  await house.seat("player");
  await house.tableAtTheEnd("spring");
  await again.playing;
  await assert.rejects(house.send(toss, { name: "Late", league: "spring" }), /E019/);
  await house.found("summer", "--start", "manual");
  const newcomer = await house.send(toss);
  assert.equal(newcomer.agent.player.identity.leagueId, "summer", "its old league is over");
});

test("who hears nothing asks", { skip }, async (t) => {
  const house = await House.open(t);
  await house.found("spring", "--start", "manual");
  const { agent } = await house.send(toss);
  const me = agent.player.identity;
  const stop = new AbortController();
  const watched = (identity) => {
    const player = new Player(toss);
    player.settle(identity);
    const lookout = new Lookout(new Manager(house.manager, stop.signal), player, 20);
    return { player, watching: lookout.watch() };
  };
  const { player, watching } = watched(me);
  await house.seat("player");
  house.order("start", "spring");
  await house.tableAtTheEnd("spring");
  await player.leagueOver;
  const stranger = watched({ ...me, authToken: me.authToken.slice(0, -1) + "x" });
  await assert.rejects(stranger.watching, /E012/);
  stop.abort();
  await watching;
});

test("a program joins and stops when it is told to", { skip }, async (t) => {
  const house = await House.open(t);
  await house.found("spring", "--start", "manual");
  const kit = new URL("../league_agent/index.js", import.meta.url);
  const program = join(house.place, "agent.mjs");
  writeFileSync(program, `import { run } from "${kit}";\nrun((call) => call.options[0]);\n`);
  for (const way of [["--listen", "127.0.0.1:0"], ["--pull"]]) {
    const words = [program, "--manager", house.manager, "--json", "--name", `Ada${way.length}`];
    const agent = house.start(process.execPath, [...words, ...way]);
    const [joined] = JSON.parse(await firstLine(agent)).agents;
    assert.deepEqual([joined.league_id, joined.endpoint === null], ["spring", way.length === 1]);
    agent.kill("SIGTERM");
    assert.equal(await ended(agent), 0);
  }
  const files = readdirSync(join(house.place, ".league"));
  assert.equal(files.length, 2);
  for (const file of files) {
    assert.equal(statSync(join(house.place, ".league", file)).mode & 0o777, 0o600);
  }
});
