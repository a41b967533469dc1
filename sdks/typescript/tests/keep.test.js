/** Who a player is, kept. */

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { Keep } from "../league_agent/keep.js";
import { keptIn } from "../league_agent/settings.js";
import { ME } from "./referee.js";

function folder(t) {
  const place = mkdtempSync(join(tmpdir(), "league-keep-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

test("a player is kept for its owner only", (t) => {
  const keep = new Keep(join(folder(t), "deep", "token.json"));
  assert.equal(keep.read(), null);
  for (const _ of [1, 2]) keep.write(ME);
  assert.deepEqual(keep.read(), ME);
  assert.equal(statSync(keep.file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(dirname(keep.file)), ["token.json"]);
});

test("what is no player is said so", (t) => {
  const file = join(folder(t), "token.json");
  for (const text of ["", "{}", "[1]", "null", '{"player_id": "P01"}']) {
    writeFileSync(file, text);
    assert.throws(() => new Keep(file).read(), /remove it/);
  }
});

test("every manager has a file of its own", () => {
  const files = new Set();
  for (const name of ["Ada", "Ben/../x"]) {
    for (const manager of ["http://127.0.0.1:8000", "http://127.0.0.1:8001/mcp"]) {
      files.add(keptIn({ name, manager }));
    }
  }
  assert.equal(files.size, 4);
  for (const file of files) assert.equal(dirname(file), ".league");
});
