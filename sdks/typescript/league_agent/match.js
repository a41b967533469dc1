/** A match that is over, as its player saw it. */

import { commitment, drawnNumber } from "./proof.js";

/**
 * @typedef {import("./message.js").Message} Message
 * @typedef {import("./index.js").Match} Match
 *
 * What is known of the draw before it is made: the hash of the seed (undefined if the referee draws
 * by itself), PLAYER_A or PLAYER_B, whose nonces count in this order, and this player's nonce.
 * @typedef {{ commitment?: unknown, role?: unknown, nonce?: string }} Promised
 */

/**
 * What GAME_OVER says. Whatever it leaves out is null.
 * @param {Message} message @param {string} me @param {string} league @param {Promised} promised
 * @returns {Match}
 */
export function readMatch(message, me, league, promised) {
  const outcome = table(message.game_result);
  const choices = table(outcome.choices);
  const opponent = Object.keys(choices).find((player) => player !== me) ?? "";
  const number = outcome.drawn_number;
  return Object.freeze({
    matchId: message.match_id,
    game: String(message.game_type ?? ""),
    opponent,
    result: String(table(message.results)[me] ?? outcome.status ?? ""),
    mine: choices[me] ?? null,
    theirs: choices[opponent] ?? null,
    drawn: Number.isInteger(number) ? number : null,
    reason: String(outcome.reason ?? ""),
    fair: isKept(promised, message, me, league),
  });
}

/**
 * Whether the number of GAME_OVER follows from what was promised; null if nothing was.
 * @param {Promised} promised @param {Message} message @param {string} me @param {string} league
 * @returns {boolean | null}
 */
export function isKept(promised, message, me, league) {
  const number = table(message.game_result).drawn_number ?? null;
  const { nonce, role } = promised;
  if (number === null || nonce === undefined) return null;
  if (typeof promised.commitment !== "string" || typeof role !== "string") return null;
  const nonces = table(message.nonces);
  const other = Object.keys(nonces).find((player) => player !== me);
  const theirs = (other === undefined ? null : nonces[other]) ?? "";
  if (nonces[me] !== nonce || typeof theirs !== "string") return false;
  if (typeof message.draw_seed !== "string" || !/^[0-9a-f]{64}$/i.test(message.draw_seed)) {
    return false;
  }
  const [a, b] = role === "PLAYER_A" ? [nonce, theirs] : [theirs, nonce];
  const [match, rematch] = [message.match_id, message.rematch ?? 0];
  const seed = Buffer.from(message.draw_seed, "hex");
  const isPromised = commitment(league, match, rematch, seed) === promised.commitment;
  return isPromised && drawnNumber(seed, league, match, rematch, a, b) === number;
}

/** @param {any} value @returns {Record<string, any>} */
function table(value) {
  return typeof value === "object" && value !== null ? value : {};
}
