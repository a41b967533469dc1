/** How an agent is called, and where it plays. */

import { join } from "node:path";

import { PROTOCOL_VERSION } from "./version.js";

/** @typedef {import("./index.js").Settings} Settings */

export const DEFAULT_MANAGER = "http://127.0.0.1:8000";

/**
 * What the agent says of itself when it registers; without an endpoint it fetches its turns.
 * @param {Settings} settings @param {string | null} endpoint
 */
export function meta(settings, endpoint) {
  return {
    display_name: settings.name ?? "Player",
    version: settings.version ?? "1.0.0",
    protocol_version: PROTOCOL_VERSION,
    game_types: [...(settings.games ?? ["even_odd"])],
    dialect: "flat",
    batch: true,
    ...(endpoint === null ? { pull: true } : { contact_endpoint: endpoint }),
    ...(settings.joinCode === undefined ? {} : { join_code: settings.joinCode }),
  };
}

/**
 * The file for the token. Each manager has one, since no other is shown the token.
 * @param {Settings} settings
 */
export function keptIn(settings) {
  if (settings.tokenFile !== undefined) return settings.tokenFile;
  const place = `${settings.name ?? "Player"}@${new URL(settings.manager ?? DEFAULT_MANAGER).host}`;
  return join(".league", place.replace(/[^\p{L}\p{N}_@.-]+/gu, "-") + ".json");
}

/**
 * Where it may listen; the first that is free is taken.
 * @param {Settings} settings
 * @returns {{ host: string, port: number }[]}
 */
export function addresses(settings) {
  if (settings.listen === undefined) {
    return Array.from({ length: 99 }, (_, n) => ({ host: "127.0.0.1", port: 8101 + n }));
  }
  const found = /^\[?(.+?)\]?:(\d{1,5})$/.exec(settings.listen);
  if (found === null) {
    throw new Error(`${settings.listen}: expected an address such as 127.0.0.1:8101`);
  }
  return [{ host: found[1], port: Number(found[2]) }];
}

/**
 * Where others call it.
 * @param {Settings} settings @param {string} host @param {number} port
 */
export function endpointAt(settings, host, port) {
  if (settings.endpoint !== undefined) return settings.endpoint;
  if (host === "0.0.0.0" || host === "::") {
    throw new Error(`nobody can call ${host}; say with --endpoint where you are called`);
  }
  return host.includes(":") ? `http://[${host}]:${port}/mcp` : `http://${host}:${port}/mcp`;
}
