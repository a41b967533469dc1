/** Saying no, with the codes of the protocol's catalogue. */

/** @typedef {{ number: number, name: string, status: number, retryable: boolean }} Code */

/** @type {Map<string, Code>} */
const CODES = new Map();

/** @param {string} code @param {number} number @param {string} name */
function row(code, number, name, status = 200, retryable = false) {
  CODES.set(code, { number, name, status, retryable });
}

row("-32700", -32700, "PARSE_ERROR", 400);
row("-32600", -32600, "INVALID_REQUEST", 400);
row("-32601", -32601, "METHOD_NOT_FOUND");
row("-32602", -32602, "INVALID_PARAMS");
row("-32603", -32603, "INTERNAL_ERROR");
row("E003", -32003, "MISSING_REQUIRED_FIELD");
row("E011", -32011, "AUTH_TOKEN_MISSING");
row("E012", -32012, "AUTH_TOKEN_INVALID");
row("E018", -32018, "PROTOCOL_VERSION_MISMATCH");
row("E021", -32021, "INVALID_TIMESTAMP");
row("E030", -32030, "NOT_YOUR_MATCH");
row("E033", -32033, "BUSY", 503, true);
row("G003", -32063, "GAME_NOT_FOUND");

/** A message that this player does not take, and why. */
export class Refusal extends Error {
  /** @param {string} code @param {string} text @param {string} [action] */
  constructor(code, text, action = "see error_description") {
    super(text);
    this.code = code;
    this.row = /** @type {Code} */ (CODES.get(code));
    this.action = action;
  }

  /** The fields of a GAME_ERROR, without its envelope. */
  fields() {
    return {
      error_code: this.code,
      error_name: this.row.name,
      error_description: this.message,
      retryable: this.row.retryable,
      affected_player: null,
      action_required: this.action,
      retry_count: 0,
      max_retries: 0,
      consequence: "",
      context: {},
    };
  }
}

/**
 * A field that is not there, or not as it should be.
 * @param {string} field @param {string} expected
 */
export function missing(field, expected) {
  const action = `send \`${field}\` as ${expected}`;
  return new Refusal("E003", `\`${field}\`: expected ${expected}`, action);
}
