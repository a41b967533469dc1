"""Being called: `POST /mcp`, and the pages that say whether the player lives."""

from __future__ import annotations

import json
import socket
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Optional, Tuple

from .desk import Desk
from .version import PROTOCOL, VERSION

BODY_BYTES_MAX = 1024 * 1024
UNREAD_BYTES_MAX = 16 * BODY_BYTES_MAX
BODY_SECONDS_MAX = 30.0
CONNECTIONS_MAX = 256
DRAIN_SECONDS = 5.0

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"


class Endpoint(ThreadingHTTPServer):
    """A listening player. Each connection has a thread of its own, and there are only so many."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: Tuple[str, int], desk: Desk) -> None:
        self.desk = desk
        self.since = time.monotonic()
        self._places = threading.BoundedSemaphore(CONNECTIONS_MAX)
        self._busy = 0
        self._idle = threading.Condition()
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        # Without HTTPServer's question to the name service, which may take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        try:
            request.sendall(_FULL)
        except OSError:
            pass
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that went away is none of our business."""

    def __enter__(self) -> Endpoint:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Takes no more calls, and gives those that are being answered a while to end."""
        self.shutdown()
        with self._idle:
            self._idle.wait_for(lambda: self._busy == 0, timeout=DRAIN_SECONDS)
        self.server_close()

    def enter(self) -> None:
        """A call is being answered."""
        with self._idle:
            self._busy += 1

    def leave(self) -> None:
        """It was answered."""
        with self._idle:
            self._busy -= 1
            self._idle.notify_all()


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint
    protocol_version = "HTTP/1.1"
    timeout = 10
    wbufsize = -1  # head and body in one piece

    def do_POST(self) -> None:
        self.server.enter()
        try:
            self._answer_call()
        finally:
            self.server.leave()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        player = self.server.desk.player
        if path in ("/mcp", "/mcp/"):
            self._send(405, b"use POST with a JSON-RPC 2.0 body\n", "text/plain")
        elif path == "/health":
            uptime = int(time.monotonic() - self.server.since)
            self._send_json(200, {"status": "ok", "agent": "player", "uptime_s": uptime})
        elif path == "/ready" and player.identity is None:
            self._send_json(503, {"ready": False, "reason": "not registered yet"})
        elif path == "/ready":
            self._send_json(200, {"ready": True})
        elif path == "/version":
            about = {"agent": "player", "version": "python/" + VERSION, "protocol": PROTOCOL}
            self._send_json(200, about)
        else:
            self._send(404, b"nothing here; the protocol is at POST /mcp\n", "text/plain")

    do_HEAD = do_GET

    def _answer_call(self) -> None:
        if self.path.partition("?")[0] not in ("/mcp", "/mcp/"):
            self.close_connection = True
            self._send(404, b"nothing here; the protocol is at POST /mcp\n", "text/plain")
            return
        media_type = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            self._turn_away(411, b"expected Content-Length\n", 0)
        elif int(length) > BODY_BYTES_MAX:
            self._turn_away(413, b"the body is larger than 1 MiB\n", int(length))
        elif media_type != "application/json":
            self._turn_away(415, b"expected Content-Type: application/json\n", int(length))
        else:
            body = self._read(int(length))
            if body is not None:
                answer = self.server.desk.answer(body)
                self._send(answer.status, answer.body, "application/json")

    def _read(self, length: int) -> Optional[bytes]:
        """The body; nothing if it does not come in time."""
        until = time.monotonic() + BODY_SECONDS_MAX
        body = b""
        while len(body) < length:
            part = self.rfile.read1(min(65536, length - len(body)))
            if not part or time.monotonic() > until:
                self.close_connection = True
                return None
            body += part
        return body

    def _turn_away(self, status: int, text: bytes, length: int) -> None:
        # What is left unread when a connection closes may take the answer back.
        left = min(length, UNREAD_BYTES_MAX)
        while left > 0 and self._read(min(left, BODY_BYTES_MAX)) is not None:
            left -= BODY_BYTES_MAX
        self.close_connection = True
        self._send(status, text, "text/plain")

    def _send_json(self, status: int, document: Any) -> None:
        self._send(status, json.dumps(document).encode() + b"\n", "application/json")

    def _send(self, status: int, body: bytes, media_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        if status == 405:
            self.send_header("Allow", "POST")
        if status == 503:
            self.send_header("Retry-After", "1")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def version_string(self) -> str:
        return "league-agent-python/" + VERSION

    def log_message(self, *_: object) -> None:
        """What matters is said elsewhere."""
