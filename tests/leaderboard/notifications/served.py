"""A web server in a process of its own that answers as a test says: in a file of JSON, by path, read for each request.

    python -m tests.leaderboard.notifications.served ANSWERS LOG

Its first line says its port. An answer has `status`, `headers` and `body` (in base64), all optional; with `etag` it is
304 for who knows that; with `slow` it comes a byte at a time; without `length` it does not say how long it is; with
`cut` the connection ends after so many bytes of it.
"""

import base64
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class _Server(BaseHTTPRequestHandler):
    def do_GET(self):
        with self.server.log.open("a") as out:
            out.write(json.dumps({"path": self.path, "headers": dict(self.headers)}) + "\n")
        answer = json.loads(self.server.answers.read_text()).get(self.path, {"status": 404})
        etag = answer.get("etag", "")
        is_known = etag and self.headers.get("If-None-Match") == etag
        body = b"" if is_known else base64.b64decode(answer.get("body", ""))
        self.send_response(304 if is_known else answer.get("status", 200))
        for name, value in answer.get("headers", {}).items():
            self.send_header(name, value)
        if etag:
            self.send_header("ETag", etag)
        if answer.get("length", True):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if answer.get("slow"):
            for number in body:
                self.wfile.write(bytes([number]))
                time.sleep(0.2)
        else:
            self.wfile.write(body[: answer.get("cut", len(body))])

    def log_message(self, *_args):
        pass


class Served:
    """The server, as a test sees it."""

    def __init__(self, port: int, answers: Path, log: Path) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._answers, self._log = answers, log

    def put(self, path: str, body: bytes | str = b"", **answer: Any) -> str:
        """Answer so from now on; returns the address."""
        data = body if isinstance(body, bytes) else body.encode()
        answers = json.loads(self._answers.read_text())
        answers[path] = answer | {"body": base64.b64encode(data).decode()}
        self._answers.write_text(json.dumps(answers))
        return self.url + path

    def forget(self) -> None:
        """Answer nothing any more, and have been asked nothing."""
        self._answers.write_text("{}")
        self._log.unlink(missing_ok=True)

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What it was asked, in order."""
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Run the server until the end of the `with`."""
    answers, log = folder / f"answers-{time.monotonic_ns()}.json", folder / f"asked-{time.monotonic_ns()}.jsonl"
    answers.write_text("{}")
    command = [sys.executable, "-m", "tests.leaderboard.notifications.served", str(answers), str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        try:
            yield Served(int(run.stdout.readline()), answers, log)
        finally:
            run.terminate()


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), _Server) as server:
        server.answers, server.log, server.daemon_threads = Path(sys.argv[1]), Path(sys.argv[2]), True
        print(server.server_port, flush=True)
        server.serve_forever()
