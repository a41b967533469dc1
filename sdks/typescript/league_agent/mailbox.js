/** Playing without an open port: fetching what was sent, and posting the answers. */

import { log } from "./log.js";
import { Unreachable } from "./manager.js";
import { PAST, PAUSE_MS_MAX, PAUSE_MS_MIN, Rejected, wait } from "./register.js";

/**
 * @typedef {import("./index.js").Identity} Identity
 * @typedef {import("./desk.js").Desk} Desk
 * @typedef {import("./register.js").Registration} Registration
 * @typedef {{ turn: number, needs_answer: boolean, call: unknown }} Turn
 */

const POLL_SECONDS = 25;
const POLL_PAUSE_MS_MAX = 1000;
const ANSWER_TRIES = 3;
const DRAIN_MS = 5000;

/** The mailbox of one player at the manager. */
export class Mailbox {
  #desk;
  #registration;
  #manager;
  /** @type {number | null} */
  #after = null;
  /** @type {Set<Promise<void>>} */
  #answering = new Set();

  /** @param {Desk} desk @param {Registration} registration */
  constructor(desk, registration) {
    this.#desk = desk;
    this.#registration = registration;
    this.#manager = registration.manager;
  }

  /** Fetches and answers until it is told to stop. */
  async serve() {
    const { stop } = this.#manager;
    let pause = PAUSE_MS_MIN;
    while (!stop.aborted) {
      const me = /** @type {Identity} */ (this.#desk.player.identity);
      let ms = pause;
      try {
        const reply = await this.#manager.turns(me.authToken, this.#after, POLL_SECONDS);
        if (reply.status === 200) {
          await this.#take(me, reply.document);
          pause = PAUSE_MS_MIN;
          continue;
        }
        ms = await this.#trouble(me, reply, pause);
      } catch (error) {
        if (!(error instanceof Unreachable || error instanceof TypeError)) throw error;
        if (!stop.aborted) this.#tell(pause, error.message);
      }
      this.#after = null;
      await wait(ms, stop);
      pause = Math.min(pause * 2, POLL_PAUSE_MS_MAX);
    }
  }

  /** Gives what is being answered a while to end. */
  async close() {
    const late = new Promise((done) => setTimeout(done, DRAIN_MS).unref());
    await Promise.race([Promise.all(this.#answering), late]);
  }

  /** @param {Identity} me @param {{ turns: Turn[], cursor?: number }} document */
  async #take(me, document) {
    for (const turn of document.turns) {
      if (turn.needs_answer) {
        const answering = this.#answer(me, turn).finally(() => this.#answering.delete(answering));
        this.#answering.add(answering);
      } else {
        // What is told must be known before what follows from it is asked.
        await this.#desk.answerCall(turn.call);
      }
    }
    this.#after = document.cursor ?? this.#after;
  }

  /** @param {Identity} me @param {Turn} turn */
  async #answer(me, turn) {
    const answer = await this.#desk.answerCall(turn.call);
    let pause = PAUSE_MS_MIN;
    for (let tries = 0; tries < ANSWER_TRIES; tries += 1) {
      try {
        const reply = await this.#manager.answerTurn(me.authToken, turn.turn, answer.body);
        if (reply.status !== 429 && reply.status !== 503) return;
      } catch (error) {
        log.warning("an answer was not taken:", /** @type {Error} */ (error).message);
      }
      await new Promise((done) => setTimeout(done, pause));
      pause *= 2;
    }
  }

  /**
   * What to do about an answer that brings no turns; gives how long to wait.
   * @param {Identity} me @param {import("./manager.js").Reply} reply @param {number} pause
   */
  async #trouble(me, reply, pause) {
    if (reply.status === 409) {
      log.warning("somebody else fetches the turns of this player");
      return PAUSE_MS_MAX;
    }
    if (reply.status === 401 || reply.status === 403) {
      await this.#comeBack(me);
      return pause;
    }
    this.#tell(pause, `HTTP status ${reply.status}`);
    return Math.max(pause, reply.retryAfter * 1000);
  }

  /**
   * The manager has no mailbox for this token; registering again tells why.
   * @param {Identity} me
   */
  async #comeBack(me) {
    try {
      const again = await this.#registration.ask(me);
      if (again !== null) this.#desk.player.settle(again);
    } catch (error) {
      if (!(error instanceof Rejected) || !PAST.has(error.code)) throw error;
      log.info("the league is over");
      this.#desk.player.conclude();
    }
  }

  /**
   * The same trouble is told once.
   * @param {number} pause @param {string} trouble
   */
  #tell(pause, trouble) {
    if (pause === PAUSE_MS_MIN) log.warning(`no turns can be fetched, trying again: ${trouble}`);
  }
}
