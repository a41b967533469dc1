/** What a player says of its work, on stderr. */

const LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "NOTHING"];

let lowest = LEVELS.indexOf("INFO");

/** @param {string} level @param {unknown[]} parts */
function say(level, parts) {
  if (LEVELS.indexOf(level) >= lowest) console.error(new Date().toISOString(), level, ...parts);
}

export const log = {
  /** @param {unknown[]} parts */
  debug: (...parts) => say("DEBUG", parts),
  /** @param {unknown[]} parts */
  info: (...parts) => say("INFO", parts),
  /** @param {unknown[]} parts */
  warning: (...parts) => say("WARNING", parts),
  /** @param {unknown[]} parts */
  error: (...parts) => say("ERROR", parts),
  /** @param {"DEBUG" | "INFO" | "NOTHING"} level what is said, and everything above it */
  from(level) {
    lowest = LEVELS.indexOf(level);
  },
};
