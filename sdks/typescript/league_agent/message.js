/** Messages of the protocol in the dialect `flat`: their envelope, and what they are called. */

import { randomBytes } from "node:crypto";

import { missing, Refusal } from "./refusal.js";
import { PROTOCOL } from "./version.js";

/** @typedef {Record<string, any>} Message */

/** What a player is sent: the method that calls it, and the message. */
export const METHODS = new Map([
  ["handle_game_invitation", "GAME_INVITATION"],
  ["notify_game_start", "GAME_START"],
  ["choose_parity", "CHOOSE_PARITY_CALL"],
  ["game_move_call", "GAME_MOVE_CALL"],
  ["notify_match_result", "GAME_OVER"],
  ["notify_game_error", "GAME_ERROR"],
  ["notify_round", "ROUND_ANNOUNCEMENT"],
  ["notify_round_completed", "ROUND_COMPLETED"],
  ["notify_round_start", "ROUND_START"],
  ["notify_round_result", "ROUND_RESULT"],
  ["update_standings", "LEAGUE_STANDINGS_UPDATE"],
  ["notify_league_completed", "LEAGUE_COMPLETED"],
  ["league_error", "LEAGUE_ERROR"],
  ["notify_suspension", "SUSPENSION_NOTICE"],
  ["ping", "PING"],
]);
const TYPES = new Set(METHODS.values());

const TIME = /^(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d):?(\d\d)(?:[.,]\d+)?(?:Z|\+00:?00)$/;
const MATCH = /^R([1-9]\d{0,8})M([1-9]\d{0,8})$/;

/** This moment, as the protocol writes it. */
export function now() {
  return new Date().toISOString();
}

/**
 * The name of a new exchange.
 * @param {string} prefix
 */
export function newConversation(prefix) {
  return prefix + randomBytes(16).toString("hex");
}

/**
 * What every message of a player begins with.
 * @param {string} kind @param {string} player @param {string} conversation
 * @returns {Message}
 */
export function envelope(kind, player, conversation) {
  return {
    protocol: PROTOCOL,
    message_type: kind,
    sender: "player:" + player,
    timestamp: now(),
    conversation_id: conversation,
  };
}

/**
 * Refuses a message that is not called as it should be, or lacks what every message has.
 * @param {string} method @param {Message} message
 */
export function checkEnvelope(method, message) {
  const upper = method.toUpperCase();
  const kind = METHODS.get(method) ?? (TYPES.has(upper) ? upper : undefined);
  if (kind === undefined) {
    throw new Refusal("-32601", `a player does not take the method ${method.slice(0, 64)}`);
  }
  if (text(message, "protocol") !== PROTOCOL) {
    throw new Refusal("E018", `\`protocol\`: expected ${PROTOCOL}`);
  }
  if (text(message, "message_type") !== kind) {
    throw missing("message_type", `${kind}, which the method calls`);
  }
  text(message, "sender");
  if (!isUtc(text(message, "timestamp"))) {
    const expected = "expected ISO 8601 in UTC, such as 2025-01-15T10:30:00Z";
    throw new Refusal("E021", `\`timestamp\`: ${expected}`);
  }
  const conversation = text(message, "conversation_id");
  if (conversation.length > 128 || /\s/.test(conversation)) {
    throw missing("conversation_id", "1 to 128 characters without spaces");
  }
}

/**
 * A field that must be a text with something in it.
 * @param {Message} message @param {string} field
 * @returns {string}
 */
export function text(message, field) {
  const value = message[field];
  if (typeof value !== "string" || value === "") throw missing(field, "a text");
  return value;
}

/**
 * A field that must be a whole number from one on, where it is there.
 * @param {Message} message @param {string} field @param {number} usual
 * @returns {number}
 */
export function whole(message, field, usual) {
  const value = message[field] === undefined ? usual : message[field];
  if (!Number.isInteger(value) || value < 1 || value >= 2 ** 32) {
    throw missing(field, "a whole number from 1 on");
  }
  return value;
}

/**
 * The id of the match that a message is about.
 * @param {Message} message
 */
export function matchId(message) {
  const id = text(message, "match_id");
  if (!MATCH.test(id)) throw missing("match_id", "the id of a match, such as R1M1");
  return id;
}

/**
 * Whether one match comes before another in the schedule: R1M2 before R1M10.
 * @param {string} one @param {string} other
 */
export function isBefore(one, other) {
  const [a, b] = [one, other].map((id) => (MATCH.exec(id) ?? []).slice(1).map(Number));
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}

/**
 * Whether a text is a time in UTC, in one of the forms that the protocol knows.
 * @param {string} timestamp
 */
export function isUtc(timestamp) {
  const found = TIME.exec(timestamp);
  if (found === null) return false;
  const [year, month, day, hour, minute, second] = found.slice(1).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDay && hour < 24 && minute < 60 && second <= 60;
}
