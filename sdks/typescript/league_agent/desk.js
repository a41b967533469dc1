/** JSON-RPC 2.0: bytes in, the player's answers, bytes out. */

import { log } from "./log.js";
import { checkEnvelope, envelope, newConversation } from "./message.js";
import { Refusal } from "./refusal.js";

/**
 * @typedef {import("./player.js").Player} Player
 *
 * What goes back over HTTP.
 * @typedef {{ status: number, body: string }} Answer
 */

const BATCH_MAX = 100;

/** Reads calls, has the player answer them, and writes the answers. */
export class Desk {
  /** @param {Player} player */
  constructor(player) {
    this.player = player;
  }

  /**
   * The answer to the body of a call: one request, or a batch of them.
   * @param {Uint8Array} body
   * @returns {Promise<Answer>}
   */
  async answer(body) {
    let call;
    try {
      call = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    } catch {
      return this.#refused(null, new Refusal("-32700", "the body is not JSON in UTF-8"));
    }
    return this.answerCall(call);
  }

  /**
   * The same for a call that was read.
   * @param {unknown} call
   * @returns {Promise<Answer>}
   */
  async answerCall(call) {
    if (!Array.isArray(call)) return this.#answerOne(call);
    if (call.length < 1 || call.length > BATCH_MAX) {
      const text = `a batch holds 1 to ${BATCH_MAX} requests`;
      return this.#refused(null, new Refusal("-32600", text));
    }
    const parts = await Promise.all(call.map((request) => this.#answerOne(request)));
    return { status: 200, body: `[${parts.map((part) => part.body).join(",")}]` };
  }

  /** @param {any} request @returns {Promise<Answer>} */
  async #answerOne(request) {
    let id = null;
    try {
      id = requestId(request);
      const params = request.params;
      if (typeof params !== "object" || params === null || Array.isArray(params)) {
        throw new Refusal("-32602", "`params`: expected an object");
      }
      checkEnvelope(request.method, params);
      const result = await this.player.receive(params);
      return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, result }) };
    } catch (error) {
      if (error instanceof Refusal) return this.#refused(id, error);
      log.error("a call could not be answered:", error);
      return this.#refused(id, new Refusal("-32603", "this player failed"));
    }
  }

  /** @param {unknown} id @param {Refusal} refusal @returns {Answer} */
  #refused(id, refusal) {
    log.warning(`refused with ${refusal.code}: ${refusal.message}`);
    const begin = envelope("GAME_ERROR", this.player.name, newConversation("err"));
    const data = { ...begin, ...refusal.fields() };
    const error = { code: refusal.row.number, message: refusal.message, data };
    return { status: refusal.row.status, body: JSON.stringify({ jsonrpc: "2.0", id, error }) };
  }
}

/**
 * The id of what is a request.
 * @param {any} request
 */
function requestId(request) {
  if (typeof request !== "object" || request === null || request.jsonrpc !== "2.0") {
    throw new Refusal("-32600", 'expected an object with "jsonrpc": "2.0"');
  }
  if (typeof request.method !== "string") throw new Refusal("-32600", "`method`: expected a text");
  if (typeof request.id !== "string" && typeof request.id !== "number") {
    throw new Refusal("-32600", "`id`: expected a number or a text; every message is answered");
  }
  return request.id;
}
