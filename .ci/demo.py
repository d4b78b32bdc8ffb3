"""Starts `make demo` as a person would, waits for a computed board, presses Ctrl-C, and starts it again."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

SECONDS_FOR_A_BOARD = 120
SECONDS_TO_STOP = 30  # a moment on an idle machine
SECONDS_TO_START_AGAIN = 60  # some seven on an idle machine
VAR = Path("var")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def get(port: int, path: str) -> str:
    """The page at `path`; empty while there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        text = response.read().decode()
    except (OSError, http.client.HTTPException):
        return ""
    finally:
        connection.close()
    return text if response.status == 200 else ""


def has_board(port: int) -> bool:
    """Whether GLUE's board is computed: the table has its systems, and the page shows the first of them."""
    rows = get(port, "/b/glue/board.csv").splitlines()
    return len(rows) > 20 and rows[1].split(",")[0] in get(port, "/b/glue/")


class Demo:
    """One run of `make demo`."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.began = time.monotonic()
        # A session of its own, for Ctrl-C goes to all processes in a terminal's foreground.
        self.process = subprocess.Popen(
            ["make", "demo"],  # noqa: S607
            env=os.environ | {"PORT": str(port)},
            start_new_session=True,
        )

    def wait_for_board(self, seconds: float) -> float:
        """The seconds until the board was there."""
        while not has_board(self.port):
            if self.process.poll() is not None:
                self.fail(f"make demo ended with status {self.process.returncode}")
            if time.monotonic() > self.began + seconds:
                self.fail(f"no board within {seconds} s")
            time.sleep(0.2)
        return time.monotonic() - self.began

    def press_ctrl_c(self) -> float:
        """The seconds until everything had ended."""
        running = json.loads((VAR / "supervisor.json").read_text())
        pids = [running["pid"], *running["children"].values()]
        began = time.monotonic()
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            self.process.wait(timeout=SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self.fail(f"still running {SECONDS_TO_STOP} s after Ctrl-C")
        took = time.monotonic() - began
        left = [pid for pid in pids if Path(f"/proc/{pid}").exists()]
        if left:
            self.fail(f"left running after Ctrl-C: {left}")
        return took

    def fail(self, why: str) -> None:
        """Tell why, show the logs, leave nothing running."""
        print(why)
        for file in sorted((VAR / "log").glob("*.log")):
            print(f"--- {file}", *file.read_text(errors="replace").splitlines()[-40:], sep="\n")
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)  # the supervisor's guard ends the rest
        sys.exit(1)


if __name__ == "__main__":
    demo = Demo(free_port())
    first = demo.wait_for_board(SECONDS_FOR_A_BOARD)
    stopped = demo.press_ctrl_c()
    demo = Demo(demo.port)
    again = demo.wait_for_board(SECONDS_TO_START_AGAIN)
    demo.press_ctrl_c()
    print(f"board after {first:.1f} s, stopped in {stopped:.1f} s, again after {again:.1f} s")
