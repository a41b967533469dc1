/** A referee and a manager as a player meets them: genuine messages, and others. */

import { Desk } from "../league_agent/desk.js";
import { Player } from "../league_agent/index.js";
import { log } from "../league_agent/log.js";
import { METHODS } from "../league_agent/message.js";
import { matchProof } from "../league_agent/proof.js";

// Players say much when they are teased.
log.from("NOTHING");

export const ME = {
  leagueId: "spring",
  playerId: "P01",
  authToken: "tok_player_P01_" + "ab".repeat(32),
};

const METHOD_OF = new Map([...METHODS].map(([method, kind]) => [kind, method]));

/** A message of the manager. */
export function message(kind, fields = {}) {
  return {
    protocol: "league.v2",
    message_type: kind,
    sender: "league_manager",
    timestamp: "2025-01-15T10:30:00.000Z",
    conversation_id: "conv1",
    auth_token: ME.authToken,
    league_id: ME.leagueId,
    ...fields,
  };
}

/** A message of the referee that has the match. */
export function order(kind, fields = {}) {
  const { match_id = "R1M1", attempt = 1 } = fields;
  const auth_token = matchProof(ME.authToken, ME.leagueId, match_id, attempt, "REF01");
  return message(kind, { match_id, attempt, sender: "referee:REF01", auth_token, ...fields });
}

/** A call with that message. */
export function request(params, id = 1) {
  const method = METHOD_OF.get(params.message_type) ?? "unknown";
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
}

/** A registered player behind its desk. */
export function seated(choose, onResult) {
  const player = new Player(choose, onResult);
  player.settle(ME);
  const desk = new Desk(player);
  const say = async (params, id) => JSON.parse((await desk.answer(request(params, id))).body);
  const result = async (params) => {
    const answer = await say(params);
    if (answer.result === undefined) throw new Error(answer.error.message);
    return answer.result;
  };
  const refused = async (params) => (await say(params)).error?.data.error_code;
  return { player, desk, say, result, refused };
}
