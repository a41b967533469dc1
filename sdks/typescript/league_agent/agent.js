/** The life of an agent: it listens, joins, plays, and goes when the league is over. */

import { Desk } from "./desk.js";
import { Endpoint } from "./endpoint.js";
import { Keep } from "./keep.js";
import { log } from "./log.js";
import { Lookout } from "./lookout.js";
import { Mailbox } from "./mailbox.js";
import { Manager } from "./manager.js";
import { Player } from "./player.js";
import { Registration } from "./register.js";
import { addresses, DEFAULT_MANAGER, endpointAt, keptIn, meta } from "./settings.js";

/**
 * @typedef {import("./index.js").Settings} Settings
 * @typedef {import("./index.js").Choose} Choose
 */

/** An agent around the author's function. `play` is its whole life. */
export class Agent {
  #stop = new AbortController();
  #desk;

  /** @param {Choose} choose @param {Settings} settings */
  constructor(choose, settings = {}) {
    this.settings = settings;
    this.player = new Player(choose, settings.onResult);
    this.#desk = new Desk(this.player);
  }

  /** Ends the agent's life gracefully. */
  stop() {
    this.#stop.abort();
  }

  /** Plays until the league is over, or until it is told to stop. */
  async play() {
    await (this.settings.pull ? this.#playFromMailbox() : this.#playAtPort());
  }

  async #playAtPort() {
    const { endpoint, host, port } = await this.#listen();
    // It listens before it registers: the first message may come before the answer does.
    try {
      const url = endpointAt(this.settings, host, port);
      const registration = this.#registration(url);
      if (await this.#join(registration, url)) {
        await this.#stay(new Lookout(registration.manager, this.player).watch());
      }
    } finally {
      await endpoint.close();
    }
  }

  async #playFromMailbox() {
    const registration = this.#registration(null);
    if (!(await this.#join(registration, null))) return;
    const mailbox = new Mailbox(this.#desk, registration);
    try {
      await this.#stay(mailbox.serve());
    } finally {
      await mailbox.close();
    }
  }

  /**
   * Stays until the end, with something that watches beside it; rejects with what that rejects.
   * @param {Promise<void>} watching
   */
  async #stay(watching) {
    try {
      await Promise.race([this.#end(), watching]);
    } finally {
      this.stop();
    }
    await watching;
  }

  /** @param {string | null} endpoint */
  #registration(endpoint) {
    const manager = new Manager(this.settings.manager ?? DEFAULT_MANAGER, this.#stop.signal);
    return new Registration(manager, meta(this.settings, endpoint), this.settings.league);
  }

  /** @param {Registration} registration @param {string | null} endpoint */
  async #join(registration, endpoint) {
    const joined = await registration.join(new Keep(keptIn(this.settings)));
    if (joined === null) return false;
    this.player.settle(joined);
    const way = endpoint === null ? "fetches its turns" : `called at ${endpoint}`;
    log.info(`${joined.playerId} plays in ${joined.leagueId}, ${way}`);
    this.settings.onJoined?.(joined, endpoint);
    return true;
  }

  async #listen() {
    let trouble;
    for (const { host, port } of addresses(this.settings)) {
      const endpoint = new Endpoint(this.#desk);
      try {
        return { endpoint, host, port: await endpoint.listen(host, port) };
      } catch (error) {
        trouble = new Error(`cannot listen: ${/** @type {Error} */ (error).message}`);
      }
    }
    throw trouble;
  }

  /** Comes when the league is over, or when it is told to stop. */
  #end() {
    const { signal } = this.#stop;
    const stopped = new Promise((done) => {
      if (signal.aborted) done(undefined);
      signal.addEventListener("abort", done, { once: true });
    });
    return Promise.race([stopped, this.player.leagueOver]);
  }
}
