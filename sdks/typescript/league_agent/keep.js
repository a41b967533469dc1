/** Who a player is, kept in a private file so that it can come back as the same one. */

import * as fs from "node:fs";
import { dirname } from "node:path";

/** @typedef {import("./index.js").Identity} Identity */

/** A file that only its owner may read. */
export class Keep {
  /** @param {string} file */
  constructor(file) {
    this.file = file;
  }

  /**
   * Who was kept, if anybody was.
   * @returns {Identity | null}
   */
  read() {
    let text;
    try {
      text = fs.readFileSync(this.file, "utf8");
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return null;
      throw error;
    }
    try {
      const { league_id, player_id, auth_token } = JSON.parse(text);
      if ([league_id, player_id, auth_token].every((part) => typeof part === "string")) {
        return { leagueId: league_id, playerId: player_id, authToken: auth_token };
      }
    } catch {
      // Told below.
    }
    throw new Error(`${this.file} holds no player; remove it to join anew`);
  }

  /**
   * Keeps a player. The file is there with all of its text or not at all.
   * @param {Identity} identity
   */
  write(identity) {
    fs.mkdirSync(dirname(this.file), { recursive: true });
    const unfinished = this.file + ".new";
    fs.rmSync(unfinished, { force: true });
    const opened = fs.openSync(unfinished, "wx", 0o600);
    try {
      const { leagueId, playerId, authToken } = identity;
      const kept = { league_id: leagueId, player_id: playerId, auth_token: authToken };
      fs.writeSync(opened, JSON.stringify(kept));
      fs.fsyncSync(opened);
    } finally {
      fs.closeSync(opened);
    }
    fs.renameSync(unfinished, this.file);
  }
}
