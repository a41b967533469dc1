#!/usr/bin/env node
// A player by somebody else, with nothing but what Node brings along.
//
//     player.mjs --manager http://127.0.0.1:8000/mcp --dialect flat
//                [--name NAME] [--listen 127.0.0.1:0] [--deviate NAME]
//     player.mjs --deviate list
//
// It was written from the text of the source documents alone and believes them to the letter: a
// message of a type that its document does not have, or without a field that its document lists, is
// a fault, which is said on stderr and ends the player with 1. Otherwise it plays until it is asked
// to stop (SIGTERM) and ends with 0. When it is registered it prints who it is and where it
// listens, as one JSON document; there, GET /received tells how many messages of each type have
// come, and GET /complaints what it was told to have done wrong. With --deviate it does one thing
// otherwise than its document says, as real agents do.

import { randomInt, randomUUID } from "node:crypto";
import { writeSync } from "node:fs";
import { createServer } from "node:http";
import { isDeepStrictEqual, parseArgs } from "node:util";

import { DEVIATIONS, HONEST } from "./deviations.mjs";

// ----------------------------------------------------------------- what the documents list

/** A message is not what the document says. */
class Fault extends Error {}

/** A field that may be missing. */
class Optional {
  constructor(spec) {
    this.spec = spec;
  }
}

const optional = (spec) => new Optional(spec);

function expect(condition, at, expected, got) {
  if (!condition) throw new Fault(`${at}: expected ${expected}, got ${JSON.stringify(got)}`);
}

const isObject = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string";

/** A kind of value: what it is called, and which values are of it. */
const kind = (name, fits) => (value, at) => expect(fits(value), at, name, value);

const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

const TEXT = kind("text", isText);
const INTEGER = kind("integer", Number.isInteger);
const NUMBER = kind("number", Number.isFinite);
const BOOLEAN = kind("boolean", (value) => typeof value === "boolean");
const OBJECT = kind("object", isObject);
const LIST = kind("list", Array.isArray);
const TIME = kind("time", (value) => isText(value) && UTC.test(value));
const URL_TEXT = kind("url", (value) => isText(value) && value.startsWith("http"));
const UUID = kind("uuid of version 4", (value) => isText(value) && UUID4.test(value));
// "string or integer"
const ROUND = kind("round", (value) => isText(value) || Number.isInteger(value));

const oneOf = (...words) => kind(words.join(" or "), (value) => words.includes(value));
const PARITY = oneOf("even", "odd");

const nullable = (spec) => (value, at) => {
  if (value !== null) check(value, spec, at);
};

/** An object whose names are player ids. */
const byPlayer = (spec) => (value, at) => {
  expect(isObject(value), at, "an object by player", value);
  for (const [name, inner] of Object.entries(value)) check(inner, spec, `${at}.${name}`);
};

/** Whether a value is what its document lists. */
function check(value, spec, at) {
  if (typeof spec === "function") {
    spec(value, at);
  } else if (Array.isArray(spec)) {
    expect(Array.isArray(value), at, "a list", value);
    value.forEach((inner, index) => check(inner, spec[0], `${at}[${index}]`));
  } else {
    checkFields(value, spec, at);
  }
}

function checkFields(message, spec, at) {
  expect(isObject(message), at, "an object", message);
  for (const [name, inner] of Object.entries(spec)) {
    const there = Object.hasOwn(message, name);
    if (inner instanceof Optional) {
      if (there) check(message[name], inner.spec, `${at}.${name}`);
      continue;
    }
    expect(there, `${at}.${name}`, "a listed field", "nothing");
    check(message[name], inner, `${at}.${name}`);
  }
}

// What whoever is suspended is told, whether its document lists it or not. A match that somebody
// loses technically has no number, and lacks a choice: those are null.
const UNLISTED = { SUSPENSION_NOTICE: {}, PING: {} };

// Documents 002 and 003 have messages that 000 lists the fields of, and the other way round: they
// describe one protocol. A type that a document of this family lacks has an empty row.
const DOCUMENT_000 = {
  ROUND_ANNOUNCEMENT: {
    round_id: ROUND,
    league_id: TEXT,
    matches: [{
      match_id: TEXT, game_type: TEXT, player_A_id: TEXT, player_B_id: TEXT,
      referee_endpoint: URL_TEXT,
    }],
  },
  ROUND_COMPLETED: {
    round_id: ROUND, league_id: TEXT, completed_matches: [TEXT], next_round_id: nullable(TEXT),
  },
  GAME_INVITATION: {
    match_id: TEXT, game_type: TEXT, role_in_match: oneOf("PLAYER_A", "PLAYER_B"),
    opponent_id: TEXT,
  },
  CHOOSE_PARITY_CALL: {
    match_id: TEXT, game_type: TEXT, deadline: TIME,
    context: { opponent_id: TEXT, round_id: ROUND },
  },
  GAME_OVER: {
    match_id: TEXT,
    game_result: {
      status: oneOf("WIN", "DRAW", "CANCELLED"), winner_player_id: nullable(TEXT),
      drawn_number: nullable(INTEGER), number_parity: nullable(PARITY),
      choices: byPlayer(nullable(PARITY)), reason: TEXT,
    },
  },
  LEAGUE_STANDINGS_UPDATE: {
    league_id: TEXT,
    round_id: ROUND,
    standings: [{
      rank: INTEGER, player_id: TEXT, display_name: TEXT, played: INTEGER, wins: INTEGER,
      draws: INTEGER, losses: INTEGER, points: INTEGER,
    }],
  },
  LEAGUE_COMPLETED: {
    league_id: TEXT, total_rounds: INTEGER, total_matches: INTEGER,
    champion: { player_id: TEXT, display_name: TEXT, points: INTEGER },
    final_standings: [{ rank: INTEGER, player_id: TEXT, display_name: TEXT, points: INTEGER }],
  },
  ...UNLISTED,
  LEAGUE_ERROR: { error_code: TEXT, error_description: TEXT, context: OBJECT },
  GAME_ERROR: {
    match_id: TEXT, error_code: TEXT, error_description: TEXT, affected_player: nullable(TEXT),
    action_required: TEXT, retry_count: INTEGER, max_retries: INTEGER, consequence: TEXT,
  },
  LEAGUE_REGISTER_RESPONSE: {
    status: oneOf("ACCEPTED"), player_id: TEXT, auth_token: TEXT, league_id: TEXT,
  },
};

const DOCUMENT_002 = {
  ROUND_ANNOUNCEMENT: {
    round_id: INTEGER,
    matches: [{
      match_id: TEXT, player1_id: TEXT, player2_id: TEXT, referee_id: TEXT,
      scheduled_start: TIME,
    }],
    round_deadline: TIME,
  },
  ROUND_COMPLETED: {},
  GAME_INVITATION: {
    match_id: TEXT, game_type: TEXT, opponent_id: TEXT, player_role: oneOf("player1", "player2"),
    max_response_time: NUMBER,
  },
  CHOOSE_PARITY: { match_id: TEXT, opponent_id: TEXT, standings: LIST, game_history: LIST },
  GAME_OVER: {
    match_id: TEXT, winner_id: nullable(TEXT),
    result_type: oneOf("WIN", "LOSS", "TIE", "TECHNICAL_LOSS"), drawn_number: nullable(INTEGER),
    choices: byPlayer(nullable(PARITY)), points_awarded: byPlayer(INTEGER),
    game_state: oneOf("COMPLETED", "ABORTED"),
  },
  STANDINGS_UPDATE: {
    league_id: TEXT, round_id: INTEGER, last_updated: TIME,
    standings: [{
      rank: INTEGER, player_id: TEXT, display_name: TEXT, wins: INTEGER, losses: INTEGER,
      ties: INTEGER, points: INTEGER, games_played: INTEGER, win_rate: NUMBER,
    }],
  },
  LEAGUE_COMPLETED: {},
  ...UNLISTED,
  LEAGUE_ERROR: { error_code: TEXT, error_name: TEXT, error_description: TEXT },
  GAME_ERROR: {
    match_id: TEXT, player_id: TEXT, error_code: TEXT, error_name: TEXT,
    error_description: TEXT, game_state: TEXT, retryable: BOOLEAN, retry_count: INTEGER,
    max_retries: INTEGER, context: OBJECT,
  },
  LEAGUE_REGISTER_RESPONSE: {
    status: oneOf("ACCEPTED"), player_id: TEXT, auth_token: TEXT, league_id: TEXT,
    rejection_reason: nullable(TEXT),
  },
};

const DOCUMENT_003 = {
  ROUND_ANNOUNCEMENT: {},
  ROUND_COMPLETED: {},
  GAME_INVITATION: {
    league_id: TEXT, round_id: INTEGER, match_id: TEXT, game_type: TEXT,
    role_in_match: oneOf("PLAYER_A", "PLAYER_B"), opponent_id: TEXT,
  },
  CHOOSE_PARITY_CALL: {
    match_id: TEXT, player_id: TEXT, game_type: oneOf("even_odd"),
    context: { opponent_id: TEXT, round_id: INTEGER, your_standings: OBJECT },
    deadline: TIME,
  },
  GAME_OVER: {
    match_id: TEXT, game_type: TEXT,
    game_result: {
      status: oneOf("WIN", "DRAW", "TECHNICAL_LOSS"),
      winner_player_id: optional(nullable(TEXT)), drawn_number: nullable(INTEGER),
      number_parity: nullable(PARITY), choices: byPlayer(nullable(PARITY)),
      reason: optional(TEXT),
    },
  },
  LEAGUE_STANDINGS_UPDATE: {},
  LEAGUE_COMPLETED: {},
  ...UNLISTED,
  LEAGUE_ERROR: {
    error_code: TEXT, error_description: TEXT, affected_player: nullable(TEXT),
    action_required: TEXT,
  },
  GAME_ERROR: {
    error_code: TEXT, error_description: TEXT, affected_player: TEXT, action_required: TEXT,
    retry_info: optional({
      retry_count: optional(INTEGER), max_retries: optional(INTEGER),
      next_retry_at: optional(nullable(TIME)),
    }),
    consequence: optional(TEXT),
  },
  LEAGUE_REGISTER_RESPONSE: { status: oneOf("ACCEPTED"), player_id: TEXT },
};

// Document 001 lists the envelope and no messages. Their fields are those of 000, where a round has
// one type wherever it stands.
const DOCUMENT_001 = {
  ...DOCUMENT_000,
  ROUND_COMPLETED: { ...DOCUMENT_000.ROUND_COMPLETED, next_round_id: nullable(ROUND) },
};

const CODE_004 = oneOf(
  "L001", "L002", "L003", "L004", "L005", "G001", "G002", "G003", "G004", "G005",
);

// Document 004 lists types and no fields of theirs. What a player cannot do without is required.
const DOCUMENT_004 = {
  ROUND_ANNOUNCEMENT: {},
  ROUND_START: {},
  ROUND_END: {},
  ROUND_RESULT: {},
  GAME_INVITE: { match_id: TEXT },
  GAME_START: { match_id: TEXT },
  MOVE_REQUEST: { match_id: TEXT, move_request: { valid_options: LIST } },
  GAME_RESULT: { match_id: TEXT },
  LEAGUE_STANDINGS_UPDATE: {},
  ...UNLISTED,
  LEAGUE_ERROR: { error_code: CODE_004 },
  GAME_ERROR: { error_code: CODE_004 },
  PLAYER_REGISTER_RESPONSE: { status: oneOf("ACCEPTED"), player_id: TEXT },
};

// The methods that document 000 prints as examples; of the others it says nothing.
const METHODS_000 = {
  ROUND_ANNOUNCEMENT: "notify_round",
  GAME_INVITATION: "handle_game_invitation",
  CHOOSE_PARITY_CALL: "choose_parity",
};

const PROTOCOL = { protocol: oneOf("league.v2") };
const ENVELOPE = {
  ...PROTOCOL, message_type: TEXT, sender: TEXT, timestamp: TIME, conversation_id: TEXT,
};
const ENVELOPE_004 = {
  ...PROTOCOL, message_id: UUID, type: TEXT, sender: TEXT, timestamp: TIME, payload: OBJECT,
  auth_token: optional(TEXT), correlation_id: optional(TEXT),
};
const SENDER = /^(league_manager(:.+)?|referee:.+|player:.+)$/;
const SENDER_004 = /^(league_manager|referee|player):.+$/;

// ------------------------------------------------------------------------ how they are written

const now = () => new Date().toISOString();

/** Document 000: envelope and fields side by side. */
class Flat {
  document = DOCUMENT_000;
  invite = "GAME_INVITATION";
  start = null;
  ask = "CHOOSE_PARITY_CALL";
  over = "GAME_OVER";
  register = ["LEAGUE_REGISTER_REQUEST", "LEAGUE_REGISTER_RESPONSE"];
  needsToken = true;
  games = ["even_odd"];
  meta = {};

  /** The type and the fields of a request. */
  open(method, params) {
    const expected = METHODS_000[params.message_type] ?? method;
    expect(expected === method, "method", expected, method);
    return this.opened(params);
  }

  opened(message) {
    checkFields(message, ENVELOPE, "message");
    expect(SENDER.test(message.sender), "sender", "type:id", message.sender);
    return [message.message_type, message];
  }

  envelope(player, type, asked) {
    return {
      protocol: "league.v2", message_type: type, sender: player.sender(), timestamp: now(),
      conversation_id: asked ? asked.conversation_id : `conv-${randomUUID()}`,
      auth_token: player.token,
    };
  }

  request(player, type, fields) {
    return ["register_player", { ...this.envelope(player, type, null), ...fields }];
  }

  result(player, type, fields, asked) {
    return { ...this.envelope(player, type, asked), ...fields };
  }

  /** The type and the fields of what a request of ours brought back. */
  answered(result) {
    return this.opened(result);
  }

  join(match) {
    return ["GAME_JOIN_ACK", { match_id: match, accept: true, arrival_timestamp: now() }];
  }

  choose(player, message) {
    const fields = { match_id: message.match_id, parity_choice: player.parity() };
    return ["CHOOSE_PARITY_RESPONSE", fields];
  }

  end() {
    return null;
  }
}

/** Document 003: the type is the method, and an answer has no more than it needs. */
class Typed extends Flat {
  document = DOCUMENT_003;
  needsToken = false;

  open(method, params) {
    expect(method === params.message_type, "method", "the message type", method);
    return this.opened(params);
  }

  opened(message) {
    if (Object.hasOwn(message, "sender") && Object.hasOwn(message, "timestamp")) {
      return super.opened(message);
    }
    checkFields(message, { ...PROTOCOL, message_type: TEXT }, "message");
    return [message.message_type, message];
  }

  request(player, type, fields) {
    const { auth_token: _, ...envelope } = this.envelope(player, type, null);
    return [type, { ...envelope, ...fields }];
  }

  result(player, type, fields) {
    return { protocol: "league.v2", message_type: type, ...fields };
  }

  choose(player, message) {
    const [type, fields] = super.choose(player, message);
    return [type, { ...fields, player_id: player.id }];
  }
}

/** Document 002: names of its own. */
class V21 extends Flat {
  document = DOCUMENT_002;
  ask = "CHOOSE_PARITY";
  // The document has fixed ports and no endpoint; whoever gives one has to name its dialect.
  meta = { protocol_version: "2.1.0", contact_email: "s@example.org", dialect: "v21" };

  open(_method, params) {
    return this.opened(params);
  }

  join(match) {
    return ["GAME_JOIN_ACK", { match_id: match, status: "ACCEPTED", ready: true }];
  }

  choose(player, message) {
    const fields = { match_id: message.match_id, choice: player.parity() };
    return ["PARITY_CHOICE", { ...fields, reasoning: "a feeling" }];
  }

  end(match) {
    return ["GAME_OVER_ACK", { match_id: match, acknowledged: true }];
  }
}

/** Document 001: envelope and payload apart, one method. */
class Enveloped extends Flat {
  document = DOCUMENT_001;
  context = ["auth_token", "league_id", "round_id", "match_id", "game_type"];
  relevant = {
    ROUND_ANNOUNCEMENT: ["league_id", "round_id"],
    ROUND_COMPLETED: ["league_id", "round_id"],
    GAME_INVITATION: ["league_id", "match_id", "game_type"],
    CHOOSE_PARITY_CALL: ["league_id", "match_id", "game_type"],
    GAME_OVER: ["league_id", "match_id", "game_type"],
    GAME_ERROR: ["league_id", "match_id"],
    LEAGUE_STANDINGS_UPDATE: ["league_id"],
    LEAGUE_COMPLETED: ["league_id"],
  };

  open(method, params) {
    expect(method === "league.handle", "method", "league.handle", method);
    return this.opened(params);
  }

  opened(message) {
    checkFields(message, { envelope: ENVELOPE, payload: OBJECT }, "message");
    const { envelope, payload } = message;
    const type = envelope.message_type;
    for (const name of this.relevant[type] ?? []) {
      const there = Object.hasOwn(envelope, name);
      expect(there, `envelope.${name}`, "a contextual field", "nothing");
    }
    for (const name of this.context) {
      if (Object.hasOwn(payload, name) && Object.hasOwn(envelope, name)) {
        const same = isDeepStrictEqual(payload[name], envelope[name]);
        expect(same, `payload.${name}`, "what the envelope says", payload[name]);
      }
    }
    return [type, { ...payload, ...envelope }];
  }

  wrap(envelope, fields) {
    const above = { ...envelope };
    if (!above.auth_token) delete above.auth_token;
    const payload = {};
    for (const [name, value] of Object.entries(fields)) {
      (this.context.includes(name) ? above : payload)[name] = value;
    }
    return { envelope: above, payload };
  }

  request(player, type, fields) {
    return ["league.handle", this.wrap(this.envelope(player, type, null), fields)];
  }

  result(player, type, fields, asked) {
    const all = { league_id: player.league, ...fields };
    return this.wrap(this.envelope(player, type, asked), all);
  }
}

/** Document 004: ids, types and codes of its own, everything else in the payload. */
class Payload extends Flat {
  document = DOCUMENT_004;
  invite = "GAME_INVITE";
  start = "GAME_START";
  ask = "MOVE_REQUEST";
  over = "GAME_RESULT";
  register = ["PLAYER_REGISTER_REQUEST", "PLAYER_REGISTER_RESPONSE"];
  needsToken = false;
  // It chooses among whatever it is offered.
  games = ["even_odd", "even_odd_numbers"];
  sent = null;

  open(_method, params) {
    return this.opened(params);
  }

  opened(message) {
    checkFields(message, ENVELOPE_004, "message");
    expect(SENDER_004.test(message.sender), "sender", "type:id", message.sender);
    const { payload, ...envelope } = message;
    return [message.type, { ...payload, ...envelope }];
  }

  letter(player, type, fields) {
    const letter = {
      protocol: "league.v2", message_id: randomUUID(), type, sender: player.sender(),
      timestamp: now(), payload: fields,
    };
    if (player.token) letter.auth_token = player.token;
    return letter;
  }

  request(player, type, fields) {
    const letter = this.letter(player, type, fields);
    this.sent = letter.message_id;
    return [type, letter];
  }

  answered(result) {
    const correlation = result.correlation_id;
    expect(correlation === this.sent, "correlation_id", this.sent, correlation);
    const [type, fields] = this.opened(result);
    // The new token is the message's, not the sender's.
    return [type, { ...fields, ...result.payload }];
  }

  result(player, type, fields, asked) {
    return { ...this.letter(player, type, fields), correlation_id: asked.message_id };
  }

  join(match) {
    return ["GAME_INVITE_RESPONSE", { match_id: match, accept: true }];
  }

  choose(_player, message) {
    const options = message.move_request.valid_options;
    expect(options.length > 0, "move_request.valid_options", "something to choose", options);
    const move = options[randomInt(options.length)];
    return ["MOVE_RESPONSE", { match_id: message.match_id, move_data: move }];
  }
}

/** Model Context Protocol: a flat message as the arguments of a tool. */
class Tool extends Flat {
  open(method, params) {
    expect(method === "tools/call", "method", "tools/call", method);
    checkFields(params, { name: TEXT, arguments: OBJECT }, "params");
    return super.open(params.name, params.arguments);
  }

  request(player, type, fields) {
    const [name, message] = super.request(player, type, fields);
    return ["tools/call", { name, arguments: message }];
  }

  answered(result) {
    const content = [{ type: oneOf("text"), text: TEXT }];
    checkFields(result, { content, structuredContent: OBJECT }, "result");
    const text = JSON.parse(result.content[0].text);
    const same = isDeepStrictEqual(text, result.structuredContent);
    expect(same, "content[0].text", "what structuredContent says", text);
    return super.answered(result.structuredContent);
  }

  result(player, type, fields, asked) {
    const answer = super.result(player, type, fields, asked);
    const content = [{ type: "text", text: JSON.stringify(answer) }];
    // A server of tools may leave the second one out.
    if (randomInt(2) === 0) return { content, isError: false };
    return { content, isError: false, structuredContent: answer };
  }
}

/** Agents in the wild: a flat message in `message`. */
class Wrapped extends Flat {
  open(method, params) {
    expect(method === "handle_message", "method", "handle_message", method);
    checkFields(params, { message: OBJECT }, "params");
    return this.opened(params.message);
  }

  request(player, type, fields) {
    const [, message] = super.request(player, type, fields);
    return ["handle_message", { message }];
  }
}

const DIALECTS = {
  flat: Flat, typed: Typed, v21: V21, enveloped: Enveloped, payload: Payload, tool: Tool,
  wrapped: Wrapped,
};

// ------------------------------------------------------------------------------------ the player

/** Listens, registers, plays. */
class Player {
  id = null;
  token = "";
  league = null;
  received = {};
  complaints = [];
  conversations = new Map();
  started = new Set();

  constructor(options) {
    this.dialect = new DIALECTS[options.dialect]();
    this.deviation = options.deviate ? DEVIATIONS[options.deviate] : HONEST;
    this.manager = options.manager;
    this.name = options.name ?? `javascript ${options.dialect}`;
    this.registered = new Promise((resolve) => {
      this.isRegistered = resolve;
    });
  }

  sender() {
    return `player:${this.id ?? this.name.replaceAll(" ", "_")}`;
  }

  parity() {
    return ["even", "odd"][randomInt(2)];
  }

  /** Registers with the manager. */
  async enter(endpoint) {
    const meta = {
      display_name: this.name, version: "1.0.0", game_types: this.dialect.games,
      contact_endpoint: endpoint, ...this.dialect.meta,
    };
    const [asks, answers] = this.dialect.register;
    const [method, params] = this.dialect.request(this, asks, { player_meta: meta });
    const frame = { jsonrpc: "2.0", method, params, id: 1 };
    const [url, sent] = this.deviation.register(this.manager, frame);
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json", Accept: "application/json",
        "User-Agent": "player/1.0.0",
      },
      body: JSON.stringify(sent),
      signal: AbortSignal.timeout(10_000),
    });
    const text = await response.text();
    expect(response.status === 200, "HTTP status", 200, `${response.status}: ${text}`);
    const said = JSON.parse(text);
    const answer = this.deviation.isPlain ? { jsonrpc: "2.0", result: said, id: 1 } : said;
    expect(answer.jsonrpc === "2.0" && answer.id === 1, "answer", "ours", answer);
    expect(isObject(answer.result), "answer", "a result", answer);
    const [type, fields] = this.dialect.answered(answer.result);
    expect(type === answers, "message type", answers, type);
    checkFields(fields, this.dialect.document[answers], type);
    this.id = fields.player_id;
    this.token = fields.auth_token ?? "";
    this.league = fields.league_id ?? null;
    this.isRegistered();
  }

  /** The status and the response for a request. */
  async answer(frame) {
    expect(isObject(frame), "request", "one request", frame);
    expect(frame.jsonrpc === "2.0", "jsonrpc", "2.0", frame.jsonrpc);
    check(frame.id, INTEGER, "id");
    check(frame.method, TEXT, "method");
    check(frame.params, OBJECT, "params");
    const [type, message] = this.dialect.open(frame.method, frame.params);
    const listed = Object.hasOwn(this.dialect.document, type);
    expect(listed, "message type", "one of the document", type);
    checkFields(message, this.dialect.document[type], type);
    if (this.dialect.needsToken) {
      expect(message.auth_token, `${type}.auth_token`, "a token", "nothing");
    }
    await this.registered;
    this.received[type] = (this.received[type] ?? 0) + 1;
    if (type === "GAME_ERROR" || type === "LEAGUE_ERROR") {
      this.complaints.push(`${message.error_description} ${message.action_required ?? ""}`);
    }
    this.follow(type, message);
    const said = this.say(type, message);
    const respond = (result) => ({ jsonrpc: "2.0", result, id: frame.id });
    if (said === null) return [200, respond({ status: "ok" })];
    return this.deviation.reply(respond(this.dialect.result(this, said[0], said[1], message)));
  }

  say(type, message) {
    switch (type) {
      case this.dialect.invite: return this.dialect.join(message.match_id);
      case this.dialect.ask: return this.dialect.choose(this, message);
      case this.dialect.over: return this.dialect.end(message.match_id);
      default: return null;
    }
  }

  /** One conversation per match, which begins with the invitation. */
  follow(type, message) {
    const { invite, start, ask, over } = this.dialect;
    if (![invite, start, ask, over].includes(type)) return;
    const { match_id: match, conversation_id: conversation } = message;
    if (type === start) this.started.add(match);
    if (type === ask && start !== null) {
      expect(this.started.has(match), type, `${start} before it`, "nothing");
    }
    if (type === invite) this.conversations.set(match, conversation);
    const invited = this.conversations.has(match);
    expect(invited, `${type}.match_id`, "a match it was invited to", match);
    const known = this.conversations.get(match);
    expect(known === conversation, `${type}.conversation_id`, known, conversation);
  }
}

function fault(text) {
  writeSync(2, `player.mjs: ${text}\n`);
  process.exit(1);
}

/** What stands in a body, which is UTF-8. */
async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

function write(response, status, document, more = {}) {
  const body = Buffer.from(JSON.stringify(document));
  const headers = {
    "Content-Type": "application/json", "Content-Length": body.length, ...more,
  };
  response.writeHead(status, headers).end(body);
}

async function serve(player, request, response) {
  if (request.method === "GET") {
    write(response, 200, request.url === "/complaints" ? player.complaints : player.received);
    return;
  }
  let body;
  try {
    body = await read(request);
  } catch (error) {
    // Whoever hangs up in the middle has said nothing.
    if (error.code === "ECONNRESET") return;
    fault(`body: ${error}`);
  }
  try {
    const type = request.headers["content-type"] ?? "";
    expect(request.method === "POST", "HTTP method", "POST", request.method);
    expect(type.startsWith("application/json"), "Content-Type", "JSON", type);
    const frame = JSON.parse(body);
    const session = request.headers["mcp-session-id"];
    const instead = player.deviation.gate(request.url, frame, session);
    if (instead !== null) {
      write(response, ...instead);
      return;
    }
    if (player.deviation.countedAs !== "redirect") {
      expect(request.url === "/mcp", "path", "/mcp", request.url);
    }
    write(response, ...await player.answer(player.deviation.called(frame)));
  } catch (error) {
    fault(`${error} in ${body}`);
  }
}

const USAGE =
  "usage: player.mjs --manager URL --dialect DIALECT [--name NAME] [--listen HOST:PORT]";

function usage(text) {
  writeSync(2, `${USAGE}\nplayer.mjs: ${text}\n`);
  process.exit(2);
}

function readOptions() {
  const text = { type: "string" };
  const options = { manager: text, dialect: text, name: text, listen: text, deviate: text };
  try {
    const { values } = parseArgs({ options });
    if (values.deviate === "list") {
      const all = Object.entries(DEVIATIONS).map(([name, one]) => [name, one.countedAs]);
      writeSync(1, `${JSON.stringify(Object.fromEntries(all))}\n`);
      process.exit(0);
    }
    if (values.deviate !== undefined && !Object.hasOwn(DEVIATIONS, values.deviate)) {
      usage(`--deviate is list or one of ${Object.keys(DEVIATIONS).join(", ")}`);
    }
    if (!values.manager) usage("--manager is missing");
    if (!Object.hasOwn(DIALECTS, values.dialect ?? "")) {
      usage(`--dialect is one of ${Object.keys(DIALECTS).sort().join(", ")}`);
    }
    return { listen: "127.0.0.1:0", ...values };
  } catch (error) {
    return usage(error.message);
  }
}

const options = readOptions();
const player = new Player(options);
const server = createServer((request, response) => serve(player, request, response));
process.on("SIGTERM", () => process.exit(0));
const at = options.listen.lastIndexOf(":");
server.on("error", (error) => fault(error));
server.listen(Number(options.listen.slice(at + 1)), options.listen.slice(0, at), async () => {
  const address = `${options.listen.slice(0, at)}:${server.address().port}`;
  try {
    await player.enter(`http://${address}/mcp`);
  } catch (error) {
    fault(`registration: ${error} ${error.cause ?? ""}`);
  }
  writeSync(1, `${JSON.stringify({ player_id: player.id, address })}\n`);
});
