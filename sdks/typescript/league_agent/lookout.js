/** A player that hears nothing asks its manager now and then whether it still belongs. */

import { Unreachable } from "./manager.js";
import { envelope, newConversation } from "./message.js";
import { PAST, Rejected, wait } from "./register.js";

/**
 * @typedef {import("./manager.js").Manager} Manager
 * @typedef {import("./player.js").Player} Player
 */

const SILENCE_MS = 30_000;

/** Who missed the end of its league, or whose token was replaced, would stay for ever. */
export class Lookout {
  #manager;
  #player;
  #silence;

  /** @param {Manager} manager @param {Player} player */
  constructor(manager, player, silence = SILENCE_MS) {
    this.#manager = manager;
    this.#player = player;
    this.#silence = silence;
  }

  /** Asks after every silence, until it is told to stop; rejects if the player is out. */
  async watch() {
    const { stop } = this.#manager;
    let asked = performance.now();
    while (!stop.aborted) {
      await wait(Math.min(1000, this.#silence), stop);
      if (stop.aborted) return;
      if (performance.now() - Math.max(asked, this.#player.heardAt) < this.#silence) continue;
      await this.#look();
      asked = performance.now();
    }
  }

  /** Asks once. A manager that is not there just now is no news. */
  async #look() {
    const me = this.#player.identity;
    if (me === null) return;
    const params = {
      ...envelope("LEAGUE_QUERY", me.playerId, newConversation("look")),
      auth_token: me.authToken,
      league_id: me.leagueId,
      query_type: "GET_LEAGUE",
    };
    const call = { jsonrpc: "2.0", id: 1, method: "league_query", params };
    let document;
    try {
      ({ document } = await this.#manager.call(call));
    } catch (error) {
      if (error instanceof Unreachable) return;
      throw error;
    }
    const code = document?.error?.data?.error_code;
    if (code === "E012") throw new Rejected(code, String(document.error.message));
    const isOver = ["COMPLETED", "ARCHIVED"].includes(document?.result?.data?.status);
    if (isOver || PAST.has(code)) this.#player.conclude();
  }
}
