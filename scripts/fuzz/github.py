"""Plays GitHub on loopback, so that a login can be fuzzed: who asks for a token waits twice and then gets one."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

POLLS = count(1)


class Played(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/login/device/code":
            page = "https://github.com/login/device"
            self.answer({"device_code": "code", "user_code": "AB-12", "verification_uri": page, "expires_in": 900,
                         "interval": 0})
        elif next(POLLS) % 3:
            self.answer({"error": "authorization_pending"})
        else:
            self.answer({"access_token": "gho_fuzz"})

    def do_GET(self):
        whole = [{"email": "ada@example.org", "primary": True}]
        self.answer(whole if self.path.endswith("/emails") else {"login": "ada"})

    def answer(self, what):
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def start():
    """Starts it on a free port and returns its URL; it ends with this process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Played)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"
