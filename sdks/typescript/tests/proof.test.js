/** Proofs and draws against the published vectors. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { isKept } from "../league_agent/match.js";
import { choiceProof, commitment, drawnNumber } from "../league_agent/proof.js";
import { matchProof, replyProof, same } from "../league_agent/proof.js";

const file = new URL("../../../docs/protocol/vectors.json", import.meta.url);
const skip = existsSync(file) ? false : "the vectors lie in the repository of the league";
const vectors = skip ? {} : JSON.parse(readFileSync(file, "utf8"));

test("every proof is as published", { skip }, () => {
  for (const v of vectors.match_proofs) {
    assert.equal(matchProof(v.token, v.league, v.match, v.attempt, v.referee), v.proof);
  }
  for (const v of vectors.reply_proofs) {
    assert.equal(replyProof(v.token, v.league, v.match, v.attempt), v.proof);
  }
  for (const v of vectors.choice_proofs) {
    const made = choiceProof(v.token, v.league, v.match, v.attempt, v.step, v.choice, v.nonce);
    assert.equal(made, v.proof);
  }
});

test("every draw is as published", { skip }, () => {
  for (const v of vectors.draws) {
    const seed = Buffer.from(v.seed, "hex");
    assert.equal(commitment(v.league, v.match, v.rematch, seed), v.commitment);
    const number = drawnNumber(seed, v.league, v.match, v.rematch, v.nonce_a, v.nonce_b);
    assert.equal(number, v.number);
  }
});

test("a promise is kept or broken", { skip }, () => {
  const v = vectors.draws.find((draw) => draw.nonce_b === "c0de");
  const promised = { commitment: v.commitment, role: "PLAYER_A", nonce: v.nonce_a };
  const over = (number, changes) => ({
    match_id: v.match,
    rematch: v.rematch,
    draw_seed: v.seed,
    nonces: { P01: v.nonce_a, P02: v.nonce_b },
    game_result: { drawn_number: number },
    ...changes,
  });
  const kept = (message) => isKept(promised, message, "P01", v.league);
  assert.equal(kept(over(v.number)), true);
  assert.equal(kept(over((v.number % 10) + 1)), false);
  assert.equal(kept(over(v.number, { draw_seed: "00".repeat(32) })), false);
  assert.equal(kept(over(v.number, { draw_seed: null })), false);
  assert.equal(kept(over(v.number, { nonces: { P01: "x", P02: "c0de" } })), false);
  assert.equal(kept(over(null)), null, "nothing was drawn");
  assert.equal(isKept({ role: "PLAYER_A", nonce: "x" }, over(1), "P01", v.league), null);
});

test("only the same text is the same", () => {
  assert.ok(same("prf_1", "prf_1"));
  for (const other of ["prf_2", "", null, 1, "ü"]) assert.ok(!same(other, "prf_1"));
});
