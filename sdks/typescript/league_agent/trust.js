/** Who is believed, and how a player proves itself. */

import { envelope, matchId, text } from "./message.js";
import { choiceProof, matchProof, replyProof, same } from "./proof.js";
import { Refusal } from "./refusal.js";

/**
 * @typedef {import("./message.js").Message} Message
 * @typedef {import("./index.js").Identity} Identity
 * @typedef {import("./index.js").Call} Call
 * @typedef {import("./index.js").Move} Move
 */

/**
 * What the manager sends carries the player's own token.
 * @param {Identity} me @param {Message} message
 */
export function checkManager(me, message) {
  if (!message.auth_token) throw new Refusal("E011", "auth_token is missing");
  if (!same(message.auth_token, me.authToken)) {
    throw new Refusal("E012", "auth_token does not prove that the sender is the manager");
  }
}

/**
 * What a referee sends carries the manager's proof that it has this match.
 * @param {Identity} me @param {Message} message @param {number} attempt
 */
export function checkReferee(me, message, attempt) {
  const match = matchId(message);
  const referee = /^referee:(.+)$/s.exec(text(message, "sender"))?.[1];
  if (referee === undefined) throw new Refusal("E012", "only a referee may send this");
  if (!message.auth_token) throw new Refusal("E011", "auth_token is missing");
  const expected = matchProof(me.authToken, me.leagueId, match, attempt, referee);
  if (!same(message.auth_token, expected)) {
    throw new Refusal("E012", "auth_token does not prove that the sender officiates this match");
  }
}

/**
 * The beginning of an answer to a referee, with the proof that it is the player's.
 * @param {string} kind @param {Identity} me @param {Message} message @param {number} attempt
 * @returns {Message}
 */
export function signed(kind, me, message, attempt) {
  return {
    ...envelope(kind, me.playerId, message.conversation_id),
    auth_token: replyProof(me.authToken, me.leagueId, message.match_id, attempt),
    match_id: message.match_id,
    player_id: me.playerId,
  };
}

/**
 * The kind of answer, and the choice with its nonce and the proof of both.
 * @param {Identity} me @param {Call} call @param {number} attempt @param {Move} move
 * @param {string} nonce
 * @returns {{ kind: string, choice: Message }}
 */
export function sealed(me, call, attempt, move, nonce) {
  const { authToken, leagueId } = me;
  const shown = choiceProof(authToken, leagueId, call.matchId, attempt, call.step, move, nonce);
  const rest = { nonce, choice_proof: shown };
  if (call.message.message_type === "CHOOSE_PARITY_CALL") {
    return { kind: "CHOOSE_PARITY_RESPONSE", choice: { parity_choice: move, ...rest } };
  }
  return { kind: "GAME_MOVE_RESPONSE", choice: { move_data: move, ...rest } };
}
