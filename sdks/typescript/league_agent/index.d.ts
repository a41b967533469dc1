/** Write a player for a league in one function. */

/** What may be chosen: "even", 3, "rock" … */
export type Move = string | number;

/** Your function: one of `call.options`, or a promise of it. */
export type Choose = (call: Call) => Move | Promise<Move>;

/** What a player knows when it must choose. */
export interface Call {
  /** The game: "even_odd", "even_odd_numbers" … */
  readonly game: string;
  readonly matchId: string;
  readonly opponent: string;
  /** Which move of the match this is, from 1. */
  readonly step: number;
  /** What is asked for: "parity", "number" … */
  readonly moveType: string;
  /** What may be answered; empty where the moves cannot be listed. */
  readonly options: readonly Move[];
  /** What the game tells besides, such as your role. */
  readonly context: Readonly<Record<string, any>>;
  /** The matches that this player has finished since it was started, the latest last. */
  readonly history: readonly Match[];
  /** The table, best first. */
  readonly standings: readonly Readonly<Record<string, any>>[];
  /** The whole message, as it came. */
  readonly message: Readonly<Record<string, any>>;
  /** When the time is up, on the clock of `performance.now()`. */
  readonly until: number;
  /** How much time is left to choose. */
  readonly secondsLeft: number;
}

/** A match that is over. */
export interface Match {
  readonly matchId: string;
  readonly game: string;
  readonly opponent: string;
  /** WIN, LOSS, TIE, TECHNICAL_LOSS or CANCELLED, for this player. */
  readonly result: string;
  /** What was chosen on both sides; null where nothing was. */
  readonly mine: Move | null;
  readonly theirs: Move | null;
  /** The number that was drawn, if one was. */
  readonly drawn: number | null;
  readonly reason: string;
  /** Whether the draw was checked and is as it was promised; null if it cannot be checked. */
  readonly fair: boolean | null;
}

/** What a registered player knows of itself. */
export interface Identity {
  readonly leagueId: string;
  readonly playerId: string;
  readonly authToken: string;
}

export interface RunOptions {
  /** The name that people see. */
  name?: string;
  /** The version of the agent, for its author. */
  version?: string;
  /** The games that it plays; ["even_odd"] if nothing is said. */
  games?: readonly string[];
  /** Is told of every match that is over. */
  onResult?: (match: Match) => void;
}

/** How an agent is called, and where it plays. */
export interface Settings extends RunOptions {
  /** The manager's address. */
  manager?: string;
  /** The league to join; the manager's only open one if nothing is said. */
  league?: string;
  /** Where to listen, `HOST:PORT`; the first free port of 8101 to 8199 if nothing is said. */
  listen?: string;
  /** Where others call it, if that is not where it listens. */
  endpoint?: string;
  /** Listen nowhere, and fetch the turns from the manager. */
  pull?: boolean;
  /** The code that its author was given, if the league asks for one. */
  joinCode?: string;
  /** Where it keeps who it is; a file in `.league` if nothing is said. */
  tokenFile?: string;
  /** Is told who the agent is, and where it is called. */
  onJoined?: (identity: Identity, endpoint: string | null) => void;
}

/** Plays with `choose`, by the command line, until the league is over. */
export function run(choose: Choose, options?: RunOptions): Promise<void>;

/** A call to try a function with; whatever matters to it can be changed. */
export function exampleCall(changes?: Partial<Call>): Call;

/** An agent around your function. `play` is its whole life. */
export class Agent {
  constructor(choose: Choose, settings?: Settings);
  readonly player: Player;
  readonly settings: Settings;
  /** Plays until the league is over, or until it is told to stop. */
  play(): Promise<void>;
  /** Ends the agent's life gracefully. */
  stop(): void;
}

/** Answers the messages of one league. */
export class Player {
  constructor(choose: Choose, onResult?: (match: Match) => void);
  readonly identity: Identity | null;
  readonly name: string;
  readonly history: Match[];
  /** Kept when the league is over, and the last result is known. */
  readonly leagueOver: Promise<void>;
  /** The player is registered. */
  settle(identity: Identity): void;
  /** The league is over. */
  conclude(): void;
  /** The answer to a message; rejects with what is refused. */
  receive(message: Record<string, any>): Promise<Record<string, any>>;
}

/** A message that a player does not take, and why. */
export class Refusal extends Error {
  readonly code: string;
}

/** The manager said no. */
export class Rejected extends Error {
  readonly code: string;
}

export const VERSION: string;
