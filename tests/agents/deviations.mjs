// What real agents do otherwise than the documents say, for players of the dialect `flat`. Each has
// a name for `--deviate` and the name under which a lenient league counts it.

const ENVELOPE = [
  "protocol", "message_type", "sender", "timestamp", "conversation_id", "auth_token",
];
const NEWS = [
  "notify_round", "notify_round_completed", "update_standings", "notify_league_completed",
  "notify_game_error",
];
const OWN_METHODS = {
  receive_game_invitation: "handle_game_invitation",
  parity_choose: "choose_parity",
  game_over: "notify_match_result",
};

/** Nothing is otherwise. */
export const HONEST = {
  countedAs: null,
  // Whether the answer to the registration is the message itself.
  isPlain: false,
  // Where the registration goes, and what is sent.
  register: (url, frame) => [url, frame],
  // A response in place of an answer: status, document, headers. It is given the path, the request
  // and the number under which the caller was greeted, if it was.
  gate: () => null,
  // The request as the document has it.
  called: (frame) => frame,
  // The status and the document of an answer that counts in a match.
  reply: (response) => [200, response],
};

const deviation = (countedAs, ways) => ({ ...HONEST, countedAs, ...ways });

/** A registration whose parameters are changed. */
const ofParams = (change) => ({
  register: (url, frame) => [url, { ...frame, params: change(frame.params) }],
});

/** An answer whose result is changed. */
const ofResult = (change) => ({
  reply: (response) => [200, { ...response, result: change(response.result) }],
});

const mapped = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [change(name), value]));
const withoutEnvelope = (message) =>
  Object.fromEntries(Object.entries(message).filter(([name]) => !ENVELOPE.includes(name)));
const lifted = ({ player_meta: meta, ...params }) => ({ ...params, ...meta });
const renamed = (message, from, to) => mapped(message, (name) => (name === from ? to : name));
const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
const doubled = (message) =>
  ({ ...message, timestamp: message.timestamp.replace("Z", "+00:00Z") });
const refused = (frame) => {
  const error = { code: -32601, message: "Method not found" };
  return [200, { jsonrpc: "2.0", error, id: frame.id }, {}];
};

/** Takes calls only after it was greeted as servers of the Model Context Protocol are. */
function greetedFirst(_, frame, session) {
  const answer = (result, headers) =>
    [200, { jsonrpc: "2.0", result, id: frame.id ?? null }, headers];
  if (frame.method === "initialize") {
    const { protocolVersion } = frame.params;
    const serverInfo = { name: "player", version: "1.0.0" };
    const headers = { "Mcp-Session-Id": "greeted" };
    return answer({ protocolVersion, capabilities: {}, serverInfo }, headers);
  }
  if (["notifications/initialized", "tools/list"].includes(frame.method)) {
    return answer({ tools: [] }, {});
  }
  if (session === "greeted") return null;
  const error = { code: -32600, message: "Received request before initialization was complete" };
  return [400, { jsonrpc: "2.0", error, id: frame.id }, {}];
}

export const DEVIATIONS = {
  initialize_first: deviation("initialize_first", { gate: greetedFirst }),
  bare_registration: deviation("bare_registration", ofParams(withoutEnvelope)),
  two_time_zones: deviation("two_time_zones", { ...ofParams(doubled), ...ofResult(doubled) }),
  error_beside_result: deviation("error_beside_result", {
    reply: (response) => [200, { ...response, error: null }],
  }),
  reply_as_request: deviation("reply_as_request", {
    reply: ({ result }) => [200, {
      jsonrpc: "2.0", method: result.message_type.toLowerCase(), params: result, id: 4711,
    }],
  }),
  reply_without_frame: deviation("reply_without_frame", { reply: ({ result }) => [200, result] }),
  reply_id: deviation("reply_id", { reply: (response) => [200, { ...response, id: null }] }),
  bare_reply: deviation("bare_reply", ofResult(withoutEnvelope)),
  nested_response: deviation("nested", ofResult((message) => ({ response: message }))),
  nested_data: deviation(
    "nested", ofResult((message) => ({ status: "ok", data: withoutEnvelope(message) })),
  ),
  nested_payload: deviation("nested", ofResult((message) => ({ payload: message }))),
  misplaced: deviation("misplaced", ofParams(lifted)),
  renamed_endpoint: deviation("renamed", ofParams((params) => ({
    ...params, player_meta: renamed(params.player_meta, "contact_endpoint", "endpoint_url"),
  }))),
  renamed_move: deviation(
    "renamed", ofResult((message) => renamed(message, "parity_choice", "move")),
  ),
  renamed_letters: deviation("renamed", ofResult((message) => mapped(message, camel))),
  type_name: deviation(
    "type_name", ofParams((params) => ({ ...params, message_type: "REGISTER_PLAYER_REQUEST" })),
  ),
  method_name: deviation("method_name", {
    register: (url, frame) => [url, { ...frame, method: "player_register" }],
  }),
  own_method: deviation("own_method", {
    gate: (_, frame) => {
      const isKnown = NEWS.includes(frame.method) || Object.hasOwn(OWN_METHODS, frame.method);
      return isKnown ? null : refused(frame);
    },
    called: (frame) => ({ ...frame, method: OWN_METHODS[frame.method] ?? frame.method }),
  }),
  foreign_token: deviation(
    "foreign_token", ofResult((message) => ({ ...message, auth_token: "my-secret-token" })),
  ),
  http_status: deviation("http_status", { reply: (response) => [500, response] }),
  redirect: deviation("redirect", {
    gate: (path) => (path === "/mcp" ? [307, null, { Location: "/mcp/" }] : null),
  }),
  plain_register: deviation("plain_register", {
    isPlain: true,
    register: (url, frame) =>
      [url.replace("/mcp", "/register"), lifted(withoutEnvelope(frame.params))],
  }),
};
