/** A real league, run by the program that LEAGUE_BIN names. */

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pauseFor } from "node:timers/promises";

import { Agent } from "../league_agent/index.js";

const LEAGUE_BIN = process.env.LEAGUE_BIN ? resolve(process.env.LEAGUE_BIN) : "";
const PATIENCE_MS = 60_000;

export const skip = LEAGUE_BIN ? false : "LEAGUE_BIN does not name the program `league`";

/** Looks until there is something to see. */
export async function until(what, look) {
  for (const began = performance.now(); performance.now() - began < PATIENCE_MS; ) {
    const seen = await look();
    if (seen) return seen;
    await pauseFor(10);
  }
  throw new Error(`${what}: not within ${PATIENCE_MS} ms`);
}

/** The first line that a program prints. */
export async function firstLine(child) {
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error("it ended without a word");
}

/** Waits for the end of a program; gives its exit code. */
export function ended(child) {
  if (child.exitCode !== null) return child.exitCode;
  return new Promise((done) => child.once("exit", done));
}

/** A manager on a free port, in a folder of its own. */
export class House {
  static async open(t) {
    const house = new House();
    house.t = t;
    house.place = mkdtempSync(join(tmpdir(), "league-house-"));
    t.after(() => rmSync(house.place, { recursive: true, force: true }));
    const serve = house.start(LEAGUE_BIN, ["serve", "--listen", "127.0.0.1:0", "--json"]);
    house.manager = JSON.parse(await firstLine(serve)).url;
    return house;
  }

  /** Starts a program; it is ended with the test. */
  start(program, words) {
    const stdio = ["ignore", "pipe", "ignore"];
    const child = spawn(program, words, { cwd: this.place, stdio });
    this.t.after(async () => {
      child.kill("SIGKILL");
      await ended(child);
    });
    return child;
  }

  /** Founds a league and gives it a referee. */
  async found(league, ...options) {
    this.order("create", "--league", league, "--set", "announcement_lead=0s", ...options);
    const key = `league-data/join-key-${league}`;
    await this.seat("referee", "--league", league, "--join-key", key);
  }

  /** Something that the administrator says. */
  order(...words) {
    const line = [...words, "--manager", this.manager];
    const run = spawnSync(LEAGUE_BIN, line, { cwd: this.place, encoding: "utf8" });
    if (run.status !== 0) throw new Error(run.stderr);
  }

  /** Starts an agent of the house and waits until it has joined. */
  async seat(...words) {
    const where = ["--manager", this.manager, "--listen", "127.0.0.1:0", "--json"];
    await firstLine(this.start(LEAGUE_BIN, [...words, ...where]));
  }

  /** Starts an agent of ours, and waits until it has joined. */
  async send(choose, settings = {}) {
    const name = settings.name ?? "Ada";
    const tokenFile = join(this.place, `${name}.json`);
    const usual = { name, tokenFile, manager: this.manager, listen: "127.0.0.1:0" };
    let joined;
    const waiting = new Promise((done) => (joined = done));
    const agent = new Agent(choose, { ...usual, ...settings, onJoined: joined });
    const playing = agent.play();
    playing.catch(() => {});
    this.t.after(async () => {
      agent.stop();
      await playing.catch(() => {});
    });
    await Promise.race([waiting, playing]);
    return { agent, playing };
  }

  /** Waits until a league is over. */
  async tableAtTheEnd(league) {
    const page = `${this.manager}/api/v1/leagues/${league}/standings`;
    const over = await until("the league is over", async () => {
      const document = await (await fetch(page)).json();
      return document.phase === "completed" ? document : null;
    });
    return over.standings;
  }
}
