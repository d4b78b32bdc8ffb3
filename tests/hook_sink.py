"""A receiver of webhooks in a process of its own: it writes what it is sent into a file, a line of JSON each.

    python -m tests.hook_sink FILE STATUS[,STATUS...] [CERTIFICATE]

Its first line says its port. The n-th request gets the n-th status, the last one all others; 0 is a receiver that takes
the request and never answers, 1 one that answers a byte at a time.
"""

import json
import ssl
import subprocess
import sys
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class _Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        said = {"path": self.path, "headers": dict(self.headers), "body": body.decode()}
        with self.server.file.open("a") as out:
            out.write(json.dumps(said) + "\n")
        status = self.server.statuses.pop(0) if len(self.server.statuses) > 1 else self.server.statuses[0]
        if status == 0:
            time.sleep(30)
        elif status == 1:
            for letter in b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 50:
                self.wfile.write(bytes([letter]))
                time.sleep(0.2)
        else:
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

    def log_message(self, *_args):
        pass


def serve(file: Path, statuses: list[int], certificate: str = "") -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Receiver) as server:
        server.file, server.statuses, server.daemon_threads = file, statuses, True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_port, flush=True)
        server.serve_forever()


class HookSink:
    """The receiver, as a test sees it."""

    def __init__(self, port: int, file: Path) -> None:
        self.port, self._file = port, file

    @property
    def taken(self) -> list[dict[str, Any]]:
        """What it was sent, in order."""
        lines = self._file.read_text().splitlines() if self._file.exists() else []
        return [json.loads(line) for line in lines]


@contextmanager
def hook_sink(folder: Path, *statuses: int, certificate: str = ""):
    """Run a receiver until the end of the `with`."""
    file = folder / f"hooks-{time.monotonic_ns()}.jsonl"
    arguments = [str(file), ",".join(map(str, statuses or (204,))), *([certificate] if certificate else [])]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.hook_sink", *arguments], stdout=subprocess.PIPE, text=True
    ) as run:
        try:
            yield HookSink(int(run.stdout.readline()), file)
        finally:
            run.terminate()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), [int(status) for status in sys.argv[2].split(",")], *sys.argv[3:])
