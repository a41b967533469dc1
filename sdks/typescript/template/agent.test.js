// @ts-check
// Tries `choose` without a league: node --test

import assert from "node:assert/strict";
import { test } from "node:test";

import { choose } from "./agent.js";
import { exampleCall } from "./league_agent/index.js";

test("a parity is chosen", () => {
  assert.ok(["even", "odd"].includes(String(choose(exampleCall()))));
});

test("a number is chosen", () => {
  const options = [1, 2, 3, 4, 5];
  const call = exampleCall({ game: "even_odd_numbers", moveType: "number", options });
  assert.ok(call.options.includes(choose(call)));
});
