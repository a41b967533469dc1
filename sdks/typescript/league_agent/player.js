/** A whole player: believes nobody without proof, and gives each question one answer. */

import { randomBytes } from "node:crypto";

import { readCall } from "./call.js";
import { chosenMove } from "./chooser.js";
import { log } from "./log.js";
import { readMatch } from "./match.js";
import { envelope, isBefore, matchId, whole } from "./message.js";
import { Refusal } from "./refusal.js";
import { checkManager, checkReferee, sealed, signed } from "./trust.js";

/**
 * @typedef {import("./message.js").Message} Message
 * @typedef {import("./index.js").Identity} Identity
 * @typedef {import("./index.js").Match} Match
 * @typedef {import("./index.js").Choose} Choose
 *
 * The latest attempt at a match that the player was invited to, with one answer for each step: who
 * had several to show could take the one that suits.
 * @typedef {{ attempt: number, promised: import("./match.js").Promised,
 *   answers: Map<number, Promise<{ kind: string, choice: Message }>>, isOver: boolean }} Known
 */

const HISTORY_MAX = 256;
const MATCHES_MAX = 1024;
const STEPS_MAX = 1024;
const IDENTITY_WAIT_MS = 5000;
const LAST_RESULT_WAIT_MS = 2000;

const FROM_MANAGER = new Set([
  "ROUND_ANNOUNCEMENT",
  "ROUND_COMPLETED",
  "ROUND_START",
  "ROUND_RESULT",
  "LEAGUE_STANDINGS_UPDATE",
  "LEAGUE_COMPLETED",
  "LEAGUE_ERROR",
  "SUSPENSION_NOTICE",
]);

/** Answers the messages of one league, any number of them at the same time. */
export class Player {
  /** @type {Identity | null} */
  identity = null;
  /** @type {() => void} */
  #settle = () => {};
  /** @type {Promise<void>} */
  #settled = new Promise((done) => (this.#settle = done));
  /** @type {() => void} */
  #end = () => {};
  #isConcluded = false;
  /** When the manager was last heard, on the clock of `performance.now()`. */
  heardAt = performance.now();
  /** Kept when the league is over, and the last result is known. */
  leagueOver = /** @type {Promise<void>} */ (new Promise((done) => (this.#end = done)));
  /** @type {Map<string, Known>} */
  #known = new Map();
  /** @type {Match[]} */
  #history = [];
  #choose;
  #onResult;

  /** @param {Choose} choose @param {(match: Match) => void} [onResult] */
  constructor(choose, onResult = () => {}) {
    this.#choose = choose;
    this.#onResult = onResult;
  }

  /** How it signs its messages. */
  get name() {
    return this.identity?.playerId ?? "new";
  }

  /** The matches that it has finished, the latest last. */
  get history() {
    return [...this.#history];
  }

  /**
   * The player is registered.
   * @param {Identity} identity
   */
  settle(identity) {
    this.identity = identity;
    this.#settle();
  }

  /** The league is over. The result of the last match may still be on its way. */
  conclude() {
    this.#isConcluded = true;
    this.#endIfDone();
    setTimeout(() => this.#end(), LAST_RESULT_WAIT_MS).unref();
  }

  #endIfDone() {
    const isOpen = [...this.#known.values()].some((known) => !known.isOver);
    if (this.#isConcluded && !isOpen) this.#end();
  }

  /**
   * The answer to a message whose envelope is in order; throws what is refused.
   * @param {Message} message
   * @returns {Promise<Message>}
   */
  async receive(message) {
    const me = await this.#me();
    const kind = message.message_type;
    if (kind === "GAME_INVITATION") return this.#accept(me, message);
    if (kind === "CHOOSE_PARITY_CALL") return this.#answer(me, message);
    if (kind === "GAME_MOVE_CALL") return this.#answer(me, message);
    if (kind === "GAME_OVER") return this.#over(me, message);
    if (kind === "PING") return envelope("PONG", me.playerId, message.conversation_id);
    if (kind === "GAME_START") checkReferee(me, message, whole(message, "attempt", 1));
    if (kind === "GAME_ERROR") this.#complaint(me, message);
    if (FROM_MANAGER.has(kind)) {
      checkManager(me, message);
      this.#hear(me, message);
    }
    const ack = envelope("ACK", me.playerId, message.conversation_id);
    return { ...ack, acknowledged: true, acknowledges: kind };
  }

  /** A message may overtake the answer to the registration. */
  async #me() {
    if (this.identity === null) {
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      const late = new Promise((done) => (timer = setTimeout(done, IDENTITY_WAIT_MS)));
      await Promise.race([this.#settled, late]);
      clearTimeout(timer);
    }
    if (this.identity === null) throw new Refusal("E033", "this player is not registered yet");
    return this.identity;
  }

  /** @param {Identity} me @param {Message} message */
  #accept(me, message) {
    const attempt = whole(message, "attempt", 1);
    checkReferee(me, message, attempt);
    const promised = { commitment: message.draw_commitment, role: message.role_in_match };
    this.#note(matchId(message), { attempt, promised, answers: new Map(), isOver: false });
    log.info(`${message.match_id}: a match against ${message.opponent_id} begins`);
    const answer = signed("GAME_JOIN_ACK", me, message, attempt);
    return { ...answer, accept: true, arrival_timestamp: answer.timestamp };
  }

  /**
   * A later attempt replaces an earlier one, never the other way round.
   * @param {string} match @param {Known} fresh
   */
  #note(match, fresh) {
    const known = this.#known.get(match);
    if (known !== undefined && known.attempt > fresh.attempt) {
      throw new Refusal("E030", "this player is at a later attempt at that match");
    }
    if (known?.attempt === fresh.attempt) return;
    this.#known.set(match, fresh);
    if (this.#known.size <= MATCHES_MAX) return;
    // The earliest match is forgotten first, and cannot be answered anew after that.
    const earliest = [...this.#known.keys()].reduce((a, b) => (isBefore(a, b) ? a : b));
    this.#known.delete(earliest);
    if (earliest === match) throw new Refusal("E030", "this match is long over");
  }

  /** @param {Identity} me @param {Message} message */
  async #answer(me, message) {
    const known = this.#known.get(matchId(message));
    const attempt = whole(message, "attempt", known?.attempt ?? 1);
    if (known === undefined || attempt > known.attempt) {
      throw new Refusal("G003", "this player was not invited to that match");
    }
    checkReferee(me, message, attempt);
    if (attempt < known.attempt) {
      throw new Refusal("E030", "this player is at a later attempt at that match");
    }
    const call = readCall(message, this.history);
    let decided = known.answers.get(call.step);
    if (decided === undefined) {
      if (known.answers.size >= STEPS_MAX) {
        throw new Refusal("E003", `\`step\`: expected at most ${STEPS_MAX} moves in a match`);
      }
      decided = this.#decide(me, call, known);
      known.answers.set(call.step, decided);
    }
    const { kind, choice } = await decided;
    return { ...signed(kind, me, message, attempt), ...choice };
  }

  /**
   * Chooses once; everybody who asks for this step is given the same.
   * @param {Identity} me @param {import("./index.js").Call} call @param {Known} known
   */
  async #decide(me, call, known) {
    const move = await chosenMove(this.#choose, call);
    log.info(`${call.matchId}: ${move} against ${call.opponent}`);
    const nonce = randomBytes(16).toString("hex");
    known.promised.nonce = nonce;
    return sealed(me, call, known.attempt, move, nonce);
  }

  /** @param {Identity} me @param {Message} message */
  #over(me, message) {
    const attempt = whole(message, "attempt", 1);
    checkReferee(me, message, attempt);
    const known = this.#known.get(matchId(message));
    if (known?.attempt === attempt && !known.isOver) {
      known.isOver = true;
      this.#remember(readMatch(message, me.playerId, me.leagueId, known.promised));
      this.#endIfDone();
    }
    const ack = envelope("GAME_OVER_ACK", me.playerId, message.conversation_id);
    return { ...ack, match_id: message.match_id, acknowledged: true };
  }

  /**
   * What a referee says went wrong. Anybody may send it, and only its referee is listened to.
   * @param {Identity} me @param {Message} message
   */
  #complaint(me, message) {
    const known = this.#known.get(matchId(message));
    try {
      checkReferee(me, message, known?.attempt ?? 1);
    } catch {
      return;
    }
    log.warning(`${message.match_id}: ${message.error_description}`);
  }

  /** @param {Match} match */
  #remember(match) {
    this.#history.push(match);
    if (this.#history.length > HISTORY_MAX) this.#history.shift();
    log.info(`${match.matchId}: ${match.result}: ${match.reason}`);
    if (match.fair === false) {
      log.error(`${match.matchId}: the number does not follow from what was promised`);
    }
    try {
      this.#onResult(match);
    } catch (error) {
      log.error(`${match.matchId}: your onResult failed:`, error);
    }
  }

  /**
   * News of the manager.
   * @param {Identity} me @param {Message} message
   */
  #hear(me, message) {
    this.heardAt = performance.now();
    const kind = message.message_type;
    if (kind === "SUSPENSION_NOTICE") log.warning(`${message.state}: ${message.reason}`);
    if (kind === "LEAGUE_ERROR") log.warning(`${message.error_description}`);
    if (kind === "LEAGUE_COMPLETED") {
      const table = Array.isArray(message.final_standings) ? message.final_standings : [];
      const row = table.find((row) => row?.player_id === me.playerId);
      log.info(`the league is over, place ${row?.rank ?? "unknown"}`);
      this.conclude();
    }
  }
}
