/** `run`: an agent as a program, with a command line, a log and an exit code. */

import { parseArgs } from "node:util";

import { Agent } from "./agent.js";
import { check } from "./check.js";
import { log } from "./log.js";
import { Rejected } from "./register.js";
import { DEFAULT_MANAGER } from "./settings.js";

/**
 * @typedef {import("./index.js").Choose} Choose
 * @typedef {import("./index.js").RunOptions} RunOptions
 */

const HELP = `\
A player of a league.

  --manager URL        the manager [LEAGUE_MANAGER, ${DEFAULT_MANAGER}]
  --league ID          the league to join; the only open one if nothing is said
  --name NAME          the name that people see
  --listen HOST:PORT   where to listen; port 0 takes a free one [the first free one from 8101 on]
  --endpoint URL       where others call it, if not where it listens
  --pull               listen nowhere and fetch the turns, for a machine that nobody can call
  --join-code CODE     the code that you were given, if the league asks for one [LEAGUE_JOIN_CODE]
  --token-file FILE    where it keeps who it is [a file in .league]
  --json               print one JSON document on stdout when it has joined
  --verbose            say more
  --check              have \`league check\` look at this agent, and end
  --help               print this
`;

/**
 * Plays with `choose` until the league is over; Ctrl-C and SIGTERM end it before.
 *
 * `choose` is given a call and returns one of `call.options`, or a promise of it.
 * @param {Choose} choose @param {RunOptions} options
 */
export async function run(choose, options = {}) {
  const given = words();
  if (given === null) return;
  if (given.check) {
    process.exitCode = check();
    return;
  }
  if (given.verbose) log.from("DEBUG");
  const name = given.name ?? options.name ?? "Player";
  const agent = new Agent(choose, {
    name,
    version: options.version,
    games: options.games,
    onResult: options.onResult,
    manager: given.manager ?? process.env.LEAGUE_MANAGER,
    league: given.league,
    listen: given.listen,
    endpoint: given.endpoint,
    pull: given.pull,
    joinCode: given["join-code"] ?? process.env.LEAGUE_JOIN_CODE,
    tokenFile: given["token-file"],
    onJoined({ playerId, leagueId }, endpoint) {
      const joined = { id: playerId, display_name: name, league_id: leagueId, endpoint };
      if (given.json) console.log(JSON.stringify({ agents: [joined] }));
    },
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => agent.stop());
  try {
    await agent.play();
    process.exit(0);
  } catch (error) {
    if (error instanceof Rejected) console.error(`error: ${error.message}`);
    else console.error("error:", error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

/** What was typed; null if nothing is to be played. */
function words() {
  const [text, flag] = [/** @type {const} */ ("string"), /** @type {const} */ ("boolean")];
  try {
    const { values } = parseArgs({
      options: {
        manager: { type: text },
        league: { type: text },
        name: { type: text },
        listen: { type: text },
        endpoint: { type: text },
        pull: { type: flag },
        "join-code": { type: text },
        "token-file": { type: text },
        json: { type: flag },
        verbose: { type: flag },
        check: { type: flag },
        help: { type: flag, short: "h" },
      },
    });
    if (!values.help) return values;
    console.log(HELP);
  } catch (error) {
    console.error(`error: ${/** @type {Error} */ (error).message}\n\n${HELP}`);
    process.exitCode = 2;
  }
  return null;
}
