/** `--check`: does this agent speak the protocol? The program `league` tells. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const HOW = `\
The program \`league\` checks agents, and it is not on the PATH.
Build it from the sources of the league with
    cargo install --path crates/cli
or say where it is with LEAGUE_BIN=/path/to/league. Then run this again:
`;

/** Runs `league check` on this program. Gives the exit code. */
export function check() {
  const league = process.env.LEAGUE_BIN || "league";
  const command = [process.execPath, resolve(process.argv[1])].map(quoted).join(" ");
  const place = mkdtempSync(join(tmpdir(), "league-check-"));
  try {
    // The checker's manager is not your league: its token goes elsewhere.
    const start = `${command} --token-file ${quoted(join(place, "token.json"))}`;
    const run = spawnSync(league, ["check", "player", "--start", start], { stdio: "inherit" });
    if (run.error === undefined) return run.status ?? 1;
    process.stderr.write(`${HOW}    ${command} --check\n`);
    return 1;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** @param {string} word */
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}
