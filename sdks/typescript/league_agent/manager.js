/** Calling the manager: plain HTTP, bounded in time and in size. */

import { VERSION } from "./version.js";

/**
 * What came back. `retryAfter` is when to come back, in seconds, if the manager says so.
 * @typedef {{ status: number, document: any, retryAfter: number }} Reply
 */

const ANSWER_BYTES_MAX = 64 * 1024;
const TURNS_BYTES_MAX = 2 * 1024 * 1024;
const CALL_MS = 10_000;

/** The manager cannot be asked just now; it may well answer later. */
export class Unreachable extends Error {}

/** A manager and where it is: `http://127.0.0.1:8000`, with or without `/mcp`. */
export class Manager {
  /** @param {string} url @param {AbortSignal} stop ends what is being asked */
  constructor(url, stop) {
    this.base = url.replace(/\/+$/, "").replace(/\/mcp$/, "");
    this.stop = stop;
    if (!/^https?:\/\/./.test(this.base)) {
      throw new Error(`${url}: expected an address such as http://127.0.0.1:8000`);
    }
  }

  /**
   * A JSON-RPC call.
   * @param {object} request
   */
  call(request) {
    const init = { method: "POST", body: JSON.stringify(request) };
    return this.#ask("/mcp", init, null, CALL_MS, ANSWER_BYTES_MAX);
  }

  /**
   * What has come into the mailbox; waits for it.
   * @param {string} token @param {number | null} after @param {number} seconds
   */
  turns(token, after, seconds) {
    const query = `/api/v1/turns?wait=${seconds}` + (after === null ? "" : `&after=${after}`);
    return this.#ask(query, {}, token, seconds * 1000 + CALL_MS, TURNS_BYTES_MAX, this.stop);
  }

  /**
   * Answers something from the mailbox. Doing it twice does no harm.
   * @param {string} token @param {number} turn @param {string} body
   */
  answerTurn(token, turn, body) {
    const init = { method: "POST", body };
    return this.#ask(`/api/v1/turns/${turn}`, init, token, CALL_MS / 2, ANSWER_BYTES_MAX);
  }

  /**
   * @param {string} path @param {RequestInit} init @param {string | null} token
   * @param {number} ms @param {number} bytesMax @param {AbortSignal} [stop]
   * @returns {Promise<Reply>}
   */
  async #ask(path, init, token, ms, bytesMax, stop) {
    /** @type {Record<string, string>} */
    const headers = { Accept: "application/json", "User-Agent": "player/node-" + VERSION };
    if (token !== null) headers.Authorization = "Bearer " + token;
    if (init.body !== undefined) headers["Content-Type"] = "application/json";
    const timeout = AbortSignal.timeout(ms);
    const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);
    try {
      // A token is shown to nobody but the manager: redirects are not followed.
      const request = { ...init, headers, signal, redirect: /** @type {const} */ ("manual") };
      const response = await fetch(this.base + path, request);
      const text = await readText(response, bytesMax);
      const retryAfter = Number(response.headers.get("Retry-After") ?? 0) || 0;
      return { status: response.status, document: parsed(text), retryAfter };
    } catch (error) {
      const cause = /** @type {any} */ (error);
      const reason = cause.cause?.message ?? cause.message;
      throw new Unreachable(`${this.base} does not answer: ${reason}`);
    }
  }
}

/** @param {globalThis.Response} response @param {number} bytesMax */
async function readText(response, bytesMax) {
  const parts = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > bytesMax) throw new Error(`it answered with more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
