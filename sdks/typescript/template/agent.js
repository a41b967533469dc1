// @ts-check
// A player. Edit `choose`, then run it: node agent.js --help

import { fileURLToPath } from "node:url";

import { run } from "./league_agent/index.js";

/**
 * Your move: one of call.options, or a promise of it. README.md says what else `call` knows.
 * @param {import("./league_agent/index.js").Call} call
 */
export function choose(call) {
  return call.options[Math.floor(Math.random() * call.options.length)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  run(choose, { name: "{{name}}", version: "1.0.0", games: ["even_odd", "even_odd_numbers"] });
}
