/**
 * Write a player for a league in one function.
 *
 *     import { run } from "./league_agent/index.js";
 *     run((call) => "even", { name: "Ada" });
 *
 * Everything else is done for you: registering and coming back, proofs, health, pull mode,
 * shutdown.
 */

export { Agent } from "./agent.js";
export { exampleCall } from "./call.js";
export { Player } from "./player.js";
export { run } from "./program.js";
export { Refusal } from "./refusal.js";
export { Rejected } from "./register.js";
export { VERSION } from "./version.js";
