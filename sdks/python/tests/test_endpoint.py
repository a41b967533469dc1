"""A player over HTTP."""

import http.client
import json
import unittest

from league_agent import Player
from league_agent.desk import Desk
from league_agent.endpoint import BODY_BYTES_MAX, Endpoint

from .referee import ME, message, request


class Http(unittest.TestCase):
    def setUp(self):
        self.player = Player(lambda call: "even")
        self.endpoint = Endpoint(("127.0.0.1", 0), Desk(self.player))
        self.endpoint.__enter__()
        self.addCleanup(self.endpoint.__exit__)

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.endpoint.server_port, timeout=10)
        self.addCleanup(connection.close)
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read()

    def post(self, body, media_type="application/json", path="/mcp"):
        return self.ask("POST", path, body, {"Content-Type": media_type})

    def test_pages(self):
        self.assertEqual(self.ask("GET", "/ready")[0], 503)
        self.player.settle(ME)
        self.assertEqual(self.ask("GET", "/ready")[0], 200)
        status, body = self.ask("GET", "/health")
        self.assertEqual((status, json.loads(body)["status"]), (200, "ok"))
        self.assertEqual(json.loads(self.ask("GET", "/version")[1])["protocol"], "league.v2")
        self.assertEqual(self.ask("HEAD", "/health"), (200, b""))
        self.assertEqual(self.ask("GET", "/mcp")[0], 405)
        self.assertEqual(self.ask("GET", "/elsewhere")[0], 404)
        self.assertEqual(self.post(b"{}", path="/elsewhere")[0], 404)

    def test_calls(self):
        self.player.settle(ME)
        for path in ("/mcp", "/mcp/"):
            status, body = self.post(request(message("PING")), path=path)
            self.assertEqual((status, json.loads(body)["result"]["message_type"]), (200, "PONG"))
        media_type = "application/json; charset=utf-8"
        self.assertEqual(self.post(request(message("PING")), media_type)[0], 200)
        self.assertEqual(self.post(b"{")[0], 400)

    def test_what_is_too_large_or_no_json_is_turned_away(self):
        self.assertEqual(self.post(b"x" * (BODY_BYTES_MAX + 1))[0], 413)
        self.assertEqual(self.post(b" " * BODY_BYTES_MAX)[0], 400, "as much as that is read")
        self.assertEqual(self.post(b"{}", "text/plain")[0], 415)
        chunked = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
        self.assertEqual(self.ask("POST", "/mcp", None, chunked)[0], 411)

    def test_one_connection_serves_many_calls(self):
        self.player.settle(ME)
        connection = http.client.HTTPConnection("127.0.0.1", self.endpoint.server_port, timeout=10)
        self.addCleanup(connection.close)
        for number in range(20):
            headers = {"Content-Type": "application/json"}
            connection.request("POST", "/mcp", request(message("PING"), number), headers)
            self.assertEqual(json.loads(connection.getresponse().read())["id"], number)


if __name__ == "__main__":
    unittest.main()
