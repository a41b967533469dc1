"""What real agents do otherwise than the documents say, for players of the dialect `flat`.

Each has a name for `--deviate` and the name under which a lenient league counts it.
"""

ENVELOPE = ("protocol", "message_type", "sender", "timestamp", "conversation_id", "auth_token")
NEWS = (
    "notify_round", "notify_round_completed", "update_standings", "notify_league_completed",
    "notify_game_error",
)
OWN_METHODS = {
    "receive_game_invitation": "handle_game_invitation",
    "parity_choose": "choose_parity",
    "game_over": "notify_match_result",
}


class Honest:
    """Nothing is otherwise."""

    counted_as = None
    # Whether the answer to the registration is the message itself.
    is_plain = False

    def register(self, url, frame):
        """Where the registration goes, and what is sent."""
        return url, frame

    def gate(self, path, frame, session):
        """A response in place of an answer: status, document, headers. `session` is the number
        under which the caller was greeted, if it was."""
        return None

    def called(self, frame):
        """The request as the document has it."""
        return frame

    def reply(self, response):
        """The status and the document of an answer that counts in a match."""
        return 200, response


def deviation(counted_as, **ways):
    """A class that differs in `ways`."""
    methods = {name: staticmethod(way) for name, way in ways.items() if callable(way)}
    flags = {name: way for name, way in ways.items() if not callable(way)}
    return type(counted_as, (Honest,), {"counted_as": counted_as, **methods, **flags})


def of_params(change):
    """A registration whose parameters are changed."""
    return lambda url, frame: (url, {**frame, "params": change(dict(frame["params"]))})


def of_result(change):
    """An answer whose result is changed."""
    return lambda response: (200, {**response, "result": change(dict(response["result"]))})


def without_envelope(message):
    return {name: value for name, value in message.items() if name not in ENVELOPE}


def lifted(params):
    meta = params.pop("player_meta")
    return {**params, **meta}


def renamed(message, old, new):
    return {new if name == old else name: value for name, value in message.items()}


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def doubled(message):
    return {**message, "timestamp": message["timestamp"].replace("Z", "+00:00Z")}


def refused(frame):
    error = {"code": -32601, "message": "Method not found"}
    return 200, {"jsonrpc": "2.0", "error": error, "id": frame["id"]}, {}


class Greeted(Honest):
    """Takes calls only after it was greeted as servers of the Model Context Protocol are."""

    counted_as = "initialize_first"

    def gate(self, path, frame, session):
        if frame.get("method") == "initialize":
            result = {
                "protocolVersion": frame["params"]["protocolVersion"], "capabilities": {},
                "serverInfo": {"name": "player", "version": "1.0.0"},
            }
            response = {"jsonrpc": "2.0", "result": result, "id": frame["id"]}
            return 200, response, {"Mcp-Session-Id": "greeted"}
        if frame.get("method") in ("notifications/initialized", "tools/list"):
            result = {"tools": []}
            return 200, {"jsonrpc": "2.0", "result": result, "id": frame.get("id")}, {}
        if session == "greeted":
            return None
        error = {"code": -32600, "message": "Received request before initialization was complete"}
        return 400, {"jsonrpc": "2.0", "error": error, "id": frame["id"]}, {}


DEVIATIONS = {
    "initialize_first": Greeted,
    "bare_registration": deviation("bare_registration", register=of_params(without_envelope)),
    "two_time_zones": deviation(
        "two_time_zones", register=of_params(doubled), reply=of_result(doubled)),
    "error_beside_result": deviation(
        "error_beside_result", reply=lambda response: (200, {**response, "error": None})),
    "reply_as_request": deviation("reply_as_request", reply=lambda response: (200, {
        "jsonrpc": "2.0", "method": response["result"]["message_type"].lower(),
        "params": response["result"], "id": 4711,
    })),
    "reply_without_frame": deviation(
        "reply_without_frame", reply=lambda response: (200, response["result"])),
    "reply_id": deviation("reply_id", reply=lambda response: (200, {**response, "id": None})),
    "bare_reply": deviation("bare_reply", reply=of_result(without_envelope)),
    "nested_response": deviation(
        "nested", reply=of_result(lambda message: {"response": message})),
    "nested_data": deviation("nested", reply=of_result(
        lambda message: {"status": "ok", "data": without_envelope(message)})),
    "nested_payload": deviation(
        "nested", reply=of_result(lambda message: {"payload": message})),
    "misplaced": deviation("misplaced", register=of_params(lifted)),
    "renamed_endpoint": deviation("renamed", register=of_params(lambda params: {
        **params, "player_meta": renamed(params["player_meta"], "contact_endpoint", "endpoint_url"),
    })),
    "renamed_move": deviation(
        "renamed", reply=of_result(lambda message: renamed(message, "parity_choice", "move"))),
    "renamed_letters": deviation("renamed", reply=of_result(
        lambda message: {camel(name): value for name, value in message.items()})),
    "type_name": deviation("type_name", register=of_params(
        lambda params: {**params, "message_type": "REGISTER_PLAYER_REQUEST"})),
    "method_name": deviation(
        "method_name", register=lambda url, frame: (url, {**frame, "method": "player_register"})),
    "own_method": deviation(
        "own_method",
        gate=lambda path, frame, session: refused(frame)
        if frame["method"] not in (*OWN_METHODS, *NEWS) else None,
        called=lambda frame: {
            **frame, "method": OWN_METHODS.get(frame["method"], frame["method"])},
    ),
    "foreign_token": deviation("foreign_token", reply=of_result(
        lambda message: {**message, "auth_token": "my-secret-token"})),
    "http_status": deviation("http_status", reply=lambda response: (500, response)),
    "redirect": deviation("redirect", gate=lambda path, frame, session: (
        (307, None, {"Location": "/mcp/"}) if path == "/mcp" else None)),
    "plain_register": deviation(
        "plain_register", is_plain=True, register=lambda url, frame: (
            url.replace("/mcp", "/register"), lifted(without_envelope(frame["params"])))),
}
