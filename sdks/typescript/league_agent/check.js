/** `--check`: does this agent speak the protocol? The program `league` tells. */

import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

const HOW = `\
The program \`league\` checks agents, and it is not on the PATH.
Build it from the sources of the league with
    cargo install --path crates/cli
or say where it is with LEAGUE_BIN=/path/to/league. Then run this again:
`;

// The checker says where to register, where to listen, and where the token may lie meanwhile.
const PLACES = " --manager {manager} --listen 127.0.0.1:{port} --token-file {data}/token.json";

/** Runs `league check` on this program. Gives the exit code. */
export function check() {
  const league = process.env.LEAGUE_BIN || "league";
  const command = [process.execPath, resolve(process.argv[1])].map(quoted).join(" ");
  const words = ["check", "player", "--start", command + PLACES];
  const run = spawnSync(league, words, { stdio: "inherit" });
  if (run.error === undefined) return run.status ?? 1;
  process.stderr.write(`${HOW}    ${command} --check\n`);
  return 1;
}

/** @param {string} word */
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}
