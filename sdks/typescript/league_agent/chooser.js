/** The author's function, watched: whatever it does, there is an answer. */

import { log } from "./log.js";
import { Refusal } from "./refusal.js";

/**
 * @typedef {import("./index.js").Call} Call
 * @typedef {import("./index.js").Move} Move
 * @typedef {import("./index.js").Choose} Choose
 */

// What is kept of the time to choose for sending the answer.
const RESERVE_SHARE = 0.2;
const RESERVE_SECONDS_MAX = 2;

/**
 * Asks a function for a move; if it fails or is slow, says so and takes any legal move.
 * A function that computes without ever awaiting cannot be interrupted: its answer is late.
 * @param {Choose} choose @param {Call} call
 * @returns {Promise<Move>}
 */
export async function chosenMove(choose, call) {
  const left = call.secondsLeft;
  const time = left - Math.min(left * RESERVE_SHARE, RESERVE_SECONDS_MAX);
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const slow = new Promise((_, fail) => {
    const text = `your function took too long, ${left.toFixed(1)} s is all there is`;
    timer = setTimeout(() => fail(new Error(text)), time * 1000);
  });
  try {
    const move = await Promise.race([Promise.resolve(call).then(choose), slow]);
    if (isLegal(move, call)) return move;
    const options = show(call.options);
    log.error(`${call.matchId}: your function said ${show(move)}, not one of ${options}`);
  } catch (error) {
    log.error(`${call.matchId}: your function failed:`, error);
  } finally {
    clearTimeout(timer);
  }
  return anyMove(call);
}

/** @param {Call} call @returns {Move} */
function anyMove(call) {
  if (call.options.length === 0) {
    throw new Refusal("-32603", "this player has no move to fall back on");
  }
  const move = call.options[Math.floor(Math.random() * call.options.length)];
  log.error(`${call.matchId}: ${show(move)} is played instead`);
  return move;
}

/**
 * Whether a move may be sent: 3 is not "3".
 * @param {any} move @param {Call} call
 */
export function isLegal(move, call) {
  if (call.options.length > 0) return call.options.includes(move);
  return typeof move === "string" || Number.isSafeInteger(move);
}

/** @param {unknown} value */
function show(value) {
  return JSON.stringify(value) ?? String(value);
}
