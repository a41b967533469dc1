/** Who proves what to whom. Every value can be checked against docs/protocol/vectors.json. */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/**
 * The one byte form under every HMAC and hash: each part with its length before it.
 * @param {...(string | number | Buffer)} parts
 */
export function form(...parts) {
  const out = [];
  for (const part of parts) {
    const data = Buffer.isBuffer(part) ? part : Buffer.from(String(part));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    out.push(length, data);
  }
  return Buffer.concat(out);
}

/**
 * A proof that whoever made it knows `token`.
 * @param {string} token
 * @param {...(string | number)} parts
 */
function proof(token, ...parts) {
  return "prf_" + createHmac("sha256", token).update(form(...parts)).digest("hex");
}

/**
 * What a referee shows to the player with this token.
 * @param {string} token @param {string} league @param {string} match
 * @param {number} attempt @param {string} referee
 */
export function matchProof(token, league, match, attempt, referee) {
  return proof(token, "match", league, match, attempt, referee);
}

/**
 * What the player shows to its referee instead of its token.
 * @param {string} token @param {string} league @param {string} match @param {number} attempt
 */
export function replyProof(token, league, match, attempt) {
  return proof(token, "reply", league, match, attempt);
}

/**
 * What shows the manager which choice the player sent.
 * @param {string} token @param {string} league @param {string} match @param {number} attempt
 * @param {number} step @param {string | number} choice @param {string} nonce
 */
export function choiceProof(token, league, match, attempt, step, choice, nonce) {
  return proof(token, "choice", league, match, attempt, step, choice, nonce);
}

/**
 * Compares secrets without telling how much of them is right.
 * @param {unknown} shown @param {string} expected
 */
export function same(shown, expected) {
  if (typeof shown !== "string") return false;
  const [a, b] = [Buffer.from(shown), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * What is published of the draw before anybody chooses.
 * @param {string} league @param {string} match @param {number} rematch @param {Buffer} seed
 */
export function commitment(league, match, rematch, seed) {
  const message = form("commitment", league, match, rematch, seed);
  return createHash("sha256").update(message).digest("hex");
}

/**
 * The number from 1 to 10 that follows from the seed and both nonces.
 * @param {Buffer} seed @param {string} league @param {string} match @param {number} rematch
 * @param {string} nonceA @param {string} nonceB
 */
export function drawnNumber(seed, league, match, rematch, nonceA, nonceB) {
  for (let counter = 0; ; counter += 1) {
    const message = form("number", league, match, rematch, nonceA, nonceB, counter);
    const block = createHmac("sha256", seed).update(message).digest();
    const byte = block.find((byte) => byte < 250);
    if (byte !== undefined) return 1 + (byte % 10);
  }
}
