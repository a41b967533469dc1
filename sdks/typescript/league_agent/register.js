/** The handshake with the manager: joining a league, and coming back to it. */

import { setTimeout as pauseFor } from "node:timers/promises";

import { log } from "./log.js";
import { Unreachable } from "./manager.js";
import { envelope, newConversation, now } from "./message.js";

/**
 * @typedef {import("./index.js").Identity} Identity
 * @typedef {import("./keep.js").Keep} Keep
 * @typedef {import("./manager.js").Manager} Manager
 */

export const PAUSE_MS_MIN = 100;
export const PAUSE_MS_MAX = 5000;

/** The league that a player wants to come back to is over, or not there any more. */
export const PAST = new Set(["E005", "E014", "E019"]);

/** The manager said no. */
export class Rejected extends Error {
  /** @param {string} code @param {string} text */
  constructor(code, text) {
    super(`registration refused with ${code}: ${text}`);
    this.code = code;
  }
}

/** How a player registers. */
export class Registration {
  /** @param {Manager} manager @param {object} meta @param {string | undefined} league */
  constructor(manager, meta, league) {
    this.manager = manager;
    this.meta = meta;
    this.league = league;
  }

  /**
   * Joins, as the one that was kept if there is one; null if it is told to stop.
   * @param {Keep} keep
   * @returns {Promise<Identity | null>}
   */
  async join(keep) {
    let kept = keep.read();
    if (kept !== null && this.league !== undefined && this.league !== kept.leagueId) kept = null;
    let joined;
    try {
      joined = await this.ask(kept);
    } catch (error) {
      if (kept === null || !(error instanceof Rejected)) throw error;
      if (!PAST.has(error.code)) {
        throw new Rejected(error.code, `${error.message}; who comes back is kept in ${keep.file}`);
      }
      joined = await this.ask(null);
    }
    if (joined !== null) keep.write(joined);
    return joined;
  }

  /**
   * Asks until there is an answer. A manager that is not there yet is waited for.
   * @param {Identity | null} known
   * @returns {Promise<Identity | null>}
   */
  async ask(known) {
    // The conversation stays: a manager that has heard us before gives the same answer again.
    const request = this.#request(known);
    const { stop, base } = this.manager;
    let [pause, isTold] = [PAUSE_MS_MIN, false];
    while (!stop.aborted) {
      let trouble;
      try {
        const reply = await this.manager.call(request);
        const joined = read(reply);
        if (joined !== null) return joined;
        trouble = `${base} is busy (HTTP status ${reply.status})`;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        trouble = error.message;
      }
      if (!isTold) log.warning(`${trouble}; trying again until it answers, Ctrl-C stops`);
      isTold = true;
      await wait(pause, stop);
      pause = Math.min(pause * 2, PAUSE_MS_MAX);
      request.params.timestamp = now();
    }
    return null;
  }

  /** @param {Identity | null} known */
  #request(known) {
    const name = known?.playerId ?? "new";
    const params = envelope("LEAGUE_REGISTER_REQUEST", name, newConversation("reg"));
    params.player_meta = this.meta;
    const league = known?.leagueId ?? this.league;
    if (league !== undefined) params.league_id = league;
    if (known !== null) params.auth_token = known.authToken;
    return { jsonrpc: "2.0", id: 1, method: "register_player", params };
  }
}

/**
 * Waits, unless it is told to stop.
 * @param {number} ms @param {AbortSignal} stop
 */
export async function wait(ms, stop) {
  await pauseFor(ms, undefined, { signal: stop }).catch(() => {});
}

/**
 * Who the manager says we are; null if it has no time just now.
 * @param {import("./manager.js").Reply} reply
 * @returns {Identity | null}
 */
function read({ status, document }) {
  const { result, error } = document ?? {};
  if (error) {
    const code = error.data?.error_code ?? error.code;
    if (code === "E033") return null;
    throw new Rejected(String(code), String(error.message));
  }
  if (!result) {
    if ([429, 500, 502, 503, 504].includes(status)) return null;
    throw new Rejected(`HTTP status ${status}`, "is there a league manager?");
  }
  if (result.error_code === "E033") return null;
  if (result.status !== "ACCEPTED") {
    const text = result.error_description ?? result.rejection_reason;
    throw new Rejected(String(result.error_code), String(text));
  }
  const [leagueId, playerId] = [String(result.league_id), String(result.player_id)];
  return { leagueId, playerId, authToken: String(result.auth_token) };
}
