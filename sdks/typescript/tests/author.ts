// What authors write, as the type checker sees it. It is checked, never run.

import { Agent, exampleCall, run } from "../league_agent/index.js";
import type { Call, Match, Move } from "../league_agent/index.js";

function choose(call: Call): Move {
  const theirs: (Move | null)[] = call.history.map((match: Match) => match.theirs);
  return theirs.length > 0 ? "odd" : call.options[0];
}

async function think(call: Call): Promise<Move> {
  return call.secondsLeft > 1 ? "even" : "odd";
}

void run(choose, { name: "Ada", games: ["even_odd"] });
const agent: Agent = new Agent(think, { pull: true, onJoined: (me) => me.playerId.length });
choose(exampleCall({ opponent: agent.player.name }));

// @ts-expect-error nothing is no move
void run(() => undefined);
// @ts-expect-error what a function is told is not for changing
exampleCall().step = 2;
