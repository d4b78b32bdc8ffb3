"""Requests to a running site, and what each costs its processes."""

from __future__ import annotations

import http.client
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.running_site import RunningSite

MOST_SECONDS = 5.0  # of processor time, of all processes together
MOST_MEGABYTES = 300.0  # above what they had before
MOST_WAIT = 1.0  # seconds until /healthz/ answers meanwhile
TICKS = os.sysconf("SC_CLK_TCK")
CSRF = "c" * 32


@dataclass(frozen=True)
class Sent:
    """One request.

    Attributes:
        method, path: as they go over the wire; the path is quoted already.
        query: parameters that are added to the path.
        form: fields and files of a form; a file is a pair of its name and its bytes.
        body, content_type: in place of a form.
        headers: beside the content's own.
        session: of the person who is signed in; empty for nobody.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, object] | None = None
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    session: str = ""

    def parts(self) -> tuple[str, bytes, dict[str, str]]:
        """The target, the body and the headers as they are sent."""
        target = self.path + (f"{'&' if '?' in self.path else '?'}{urlencode(self.query)}" if self.query else "")
        cookies = [f"csrftoken={CSRF}", *([f"sessionid={self.session}"] if self.session else [])]
        headers = {"Cookie": "; ".join(cookies), **self.headers}
        if self.form is not None:
            fields = {"csrfmiddlewaretoken": CSRF, **self.form}
            return target, encode_multipart(BOUNDARY, fields), headers | {"Content-Type": MULTIPART_CONTENT}
        return target, self.body, headers | ({"Content-Type": self.content_type} if self.body else {})


@dataclass(frozen=True)
class Cost:
    """What one request took: processor seconds, megabytes above rest, the longest wait of a reader, and the status."""

    seconds: float
    megabytes: float
    wait: float
    status: int

    @property
    def is_bounded(self) -> bool:
        """Whether it is within what one request may cost, and answered without an error of the site."""
        within = self.seconds <= MOST_SECONDS and self.megabytes <= MOST_MEGABYTES and self.wait <= MOST_WAIT
        return within and self.status not in (500, 502, 504, 0)


class MeasuredSite:
    """The web server of a running site, whose processes are looked at while it answers."""

    def __init__(self, site: RunningSite) -> None:
        self.site = site
        site.start("web")
        site.wait_for_web()

    def cost(self, sent: Sent, *, attempts: int = 3) -> Cost:
        """What a request costs; where another process took the machine meanwhile, the best of some attempts."""
        best: Cost | None = None
        for _ in range(attempts):
            cost = self._once(sent)
            if best is None or (cost.is_bounded, -cost.seconds) > (best.is_bounded, -best.seconds):
                best = cost
            if best.is_bounded or best.status == 0 or best.seconds > 3 * MOST_SECONDS:  # no chance of other processes
                break
        assert best is not None
        return best

    def _once(self, sent: Sent) -> Cost:
        before = self._processor_seconds()
        with self._watched() as watch:
            status = self._answer(sent)
        return Cost(self._processor_seconds() - before - watch.own_seconds, watch.megabytes, watch.wait, status)

    def _answer(self, sent: Sent) -> int:
        target, body, headers = sent.parts()
        connection = http.client.HTTPConnection("127.0.0.1", self.site.port, timeout=60)
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it is read
                connection.request(sent.method, target, body or None, headers)
            answer = connection.getresponse()
            answer.read()
        except (http.client.HTTPException, ConnectionError, TimeoutError):
            return 0
        else:
            return answer.status
        finally:
            connection.close()

    @contextmanager
    def _watched(self) -> Iterator[_Watch]:
        watch = _Watch(self)
        watch.start()
        try:
            yield watch
        finally:
            watch.stop()

    def processes(self) -> list[int]:
        """The web server's process and all that it started and that started from these."""
        parents = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                parents[int(folder.name)] = int(_stat(int(folder.name))[1])
        process_ids = [self.site.running["web"].pid]
        for pid in process_ids:
            process_ids += [child for child, parent in parents.items() if parent == pid]
        return process_ids

    def _processor_seconds(self) -> float:
        """Of all processes, with those that ended and were waited for."""
        ticks = 0
        for pid in self.processes():
            with suppress(OSError):
                ticks += sum(map(int, _stat(pid)[11:15]))
        return ticks / TICKS

    def megabytes(self) -> float:
        """What the processes hold together; what several share counts once."""
        kilobytes = 0
        for pid in self.processes():
            with suppress(OSError, IndexError):
                kilobytes += int(Path(f"/proc/{pid}/smaps_rollup").read_text().split("Pss:")[1].split()[0])
        return kilobytes / 1024


class _Watch:
    """Looks at the site's memory and asks for /healthz/, over and over, until it is stopped."""

    def __init__(self, site: MeasuredSite) -> None:
        self._site, self._ended = site, threading.Event()
        self._rest, self.megabytes, self.wait, self.own_seconds = site.megabytes(), 0.0, 0.0, 0.0
        self._threads = [threading.Thread(target=look) for look in (self._look_at_memory, self._ask_for_health)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _look_at_memory(self) -> None:
        while True:
            self.megabytes = max(self.megabytes, self._site.megabytes() - self._rest)
            if self._ended.wait(0.03):
                return

    def _ask_for_health(self) -> None:
        while not self._ended.wait(0.1):
            began = time.monotonic()
            status = self._site._answer(Sent("GET", "/healthz/"))
            self.wait = max(self.wait, time.monotonic() - began) if status == 200 else float("inf")
            self.own_seconds += 0.002


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name, which may hold spaces: state, parent, ..."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
