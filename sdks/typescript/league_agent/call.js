/** A call for a move, as the author's function sees it. */

import { whole } from "./message.js";
import { missing } from "./refusal.js";

/**
 * @typedef {import("./message.js").Message} Message
 * @typedef {import("./index.js").Call} Call
 * @typedef {import("./index.js").Match} Match
 */

const USUAL_MS = 30_000;

/**
 * A CHOOSE_PARITY_CALL or GAME_MOVE_CALL that has just arrived.
 * @param {Message} message @param {readonly Match[]} history
 * @returns {Call}
 */
export function readCall(message, history) {
  const until = performance.now() + whole(message, "budget_ms", USUAL_MS);
  const isParity = message.message_type === "CHOOSE_PARITY_CALL";
  const field = isParity ? "context" : "move_request";
  const request = message[field] ?? {};
  if (!isObject(request)) throw missing(field, "an object");
  const options = isParity ? ["even", "odd"] : request.valid_options;
  const context = isParity ? request : (request.context ?? {});
  if (!Array.isArray(options) || !isObject(context)) {
    throw missing("move_request", "an object with the list valid_options");
  }
  return {
    game: String(message.game_type ?? "even_odd"),
    matchId: message.match_id,
    opponent: String(message.opponent_id ?? context.opponent_id ?? ""),
    step: isParity ? 1 : whole(message, "step", 1),
    moveType: isParity ? "parity" : String(request.move_type ?? ""),
    options,
    context,
    history,
    standings: Array.isArray(message.standings) ? message.standings : [],
    message,
    until,
    get secondsLeft() {
      return Math.max(0, this.until - performance.now()) / 1000;
    },
  };
}

/**
 * A call to try a function with; whatever matters to it can be changed.
 * @param {Partial<Call>} changes
 * @returns {Call}
 */
export function exampleCall(changes = {}) {
  const message = { message_type: "CHOOSE_PARITY_CALL", match_id: "R1M1", opponent_id: "P02" };
  return Object.assign(readCall(message, []), changes);
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
