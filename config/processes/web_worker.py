"""The worker of the web server: a thread gets a connection once the whole head of its request has arrived.

The head is the request line and the headers. gunicorn reads it in one of its few threads, and waits there as long as
the client likes: as many half heads as there are threads stop the site. It also waits up to two seconds, in the loop
that accepts connections, until the client has closed a connection that has ended. Here that loop watches both kinds of
connections, waits for none of them, and closes them at a deadline.

Bodies are read in threads, because they can be large; at most half of the threads wait for one at the same time.

Answers are sent by a thread as far as the client takes them at once (`web_answers`). The loop sends the rest while the
client goes on reading.
"""

import re
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any

from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.http.unreader import SocketUnreader
from gunicorn.http2.negotiation import prior_knowledge_allowed
from gunicorn.workers.gthread import ThreadWorker

from config import env
from config.processes.web_answers import MOST_KEPT_BYTES, AnswerSocket

ROOT = Path(__file__).resolve().parents[2]
HEAD_SECONDS = 10.0  # for the whole head, from the connection on, or from the first byte after another request
END_SECONDS = 2.0  # for a client to close a connection that has ended; closed earlier, it could lose the answer
BODY_SECONDS = 30.0  # that a request may wait for its body, and one more for every so many bytes of it
BODY_BYTES_A_SECOND = 2**13
PLACE_SECONDS = 0.1  # to wait for a place to wait for a body: most are on their way
UNREAD_SECONDS = 0.1  # for what is still to arrive of a body when its answer has been sent
MOST_UNREAD_BYTES = 2**16  # that may follow an answer without ending the connection
READING_BYTES = 2**14  # further ones that a client reads of its answer within `HeadsFirst.reading_seconds`, or all
MOST_WAITING = 256  # of each kind; one more closes the oldest, so that new connections always find room
MOST_HEAD_BYTES = 2**16
RECEIVED_BYTES = 2**13  # at once
# Of a head, or of a line that gunicorn refuses without reading on.
END = re.compile(rb"\r\n\r\n|(?<!\r)\n")


class Waiting:
    """Connections that are watched until something arrives, or can be sent, or their time is over.

    Args:
        worker: whose poller watches them.
        seconds: how long each may stay.
        event: what they wait for.
    """

    def __init__(self, worker: "HeadsFirst", seconds: float, event: int = EVENT_READ) -> None:
        self._worker = worker
        self._seconds = seconds
        self._event = event
        self._deadlines: dict[Any, float] = {}  # by connection, the oldest first

    def add(self, connection: Any, when_ready: Callable[[], None]) -> None:  # noqa: ANN401 -- gunicorn has no types
        """Watch one more."""

        def go_on(_: object) -> None:
            if connection in self._deadlines:  # what was ready before it may have closed it
                when_ready()

        self._worker.poller.register(connection.sock, self._event, go_on)
        self._deadlines[connection] = time.monotonic() + self._seconds
        if len(self._deadlines) > MOST_WAITING:
            self.close(self.expendable())

    def expendable(self) -> Any:  # noqa: ANN401
        """The one that gives way where there is no room for all: the oldest."""
        return next(iter(self._deadlines))

    def remove(self, connection: Any) -> None:  # noqa: ANN401
        """Watch it no longer."""
        del self._deadlines[connection]
        self._worker.poller.unregister(connection.sock)

    def close(self, connection: Any) -> None:  # noqa: ANN401
        """Close it now."""
        self.remove(connection)
        self._worker.close_now(connection)

    def hasten(self, deadline: float) -> None:
        """Close all of them by then at the latest."""
        self._deadlines = {one: min(own, deadline) for one, own in self._deadlines.items()}

    def close_late(self) -> None:
        """Close those whose time is over."""
        now = time.monotonic()
        for connection in [one for one, deadline in self._deadlines.items() if deadline <= now]:
            self.close(connection)


class Unread(Waiting):
    """Connections whose client has yet to read a part of its answer.

    Args:
        worker: whose poller watches them.
        seconds: how long each may stay unless its client reads on.
    """

    def __init__(self, worker: "HeadsFirst", seconds: float) -> None:
        super().__init__(worker, seconds, EVENT_WRITE)

    def send(self, connection: Any, when_sent: Callable[[], None]) -> None:  # noqa: ANN401
        """Send the rest of its answer while the client reads it."""
        connection.sock.setblocking(False)
        n_read = 0

        def go_on() -> None:
            nonlocal n_read
            try:
                n_read += connection.sock.send_kept()
            except OSError:  # the client has left
                self.close(connection)
                return
            if not connection.sock.n_kept:
                self.remove(connection)
                when_sent()
            elif n_read >= READING_BYTES:
                del self._deadlines[connection]  # so that it is the newest
                self._deadlines[connection] = time.monotonic() + self._seconds
                n_read = 0

        self.add(connection, go_on)
        n_kept = sum(one.sock.n_kept for one in self._deadlines)
        while n_kept > MOST_KEPT_BYTES:
            slowest = self.expendable()
            n_kept -= slowest.sock.n_kept
            self.close(slowest)

    def expendable(self) -> Any:  # noqa: ANN401
        """The one whose client has read least; of several, the oldest."""
        return min(self._deadlines, key=lambda one: int(one.sock.n_sent))


class Body(SocketUnreader):
    """Reads what follows a head.

    Args:
        connection: a socket.
        places: taken by each thread that waits for a body.
    """

    def __init__(self, connection: AnswerSocket, places: threading.Semaphore) -> None:
        super().__init__(connection)
        self._places = places
        self.begin()

    def begin(self) -> None:
        """Count from here, for the next request."""
        self._seconds = BODY_SECONDS
        self.is_late = self.sock.is_refused = False

    def chunk(self, size_hint: int | None = None) -> bytes:
        """What has arrived, or arrives in time.

        Raises:
            TimeoutError: too late, or too many threads are waiting already.
        """
        size = min(max(size_hint or 0, self.mxchunk), self.max_body_chunk)
        patience = self.sock.gettimeout()  # of gunicorn, where it drops a body that no one reads
        try:
            received = self.sock.recv(size, socket.MSG_DONTWAIT)
        except BlockingIOError:
            self.is_late = self._seconds <= 0
            self.sock.is_refused = not self.is_late and not self._places.acquire(timeout=PLACE_SECONDS)
            if self.is_late or self.sock.is_refused:
                raise TimeoutError("this request or too many others have waited too long for a body") from None
            began = time.monotonic()
            try:
                self.sock.settimeout(self._seconds if patience is None else min(patience, self._seconds))
                received = self.sock.recv(size)
            except TimeoutError:
                self.is_late = True
                raise
            finally:
                self._places.release()
                self._seconds -= time.monotonic() - began
                self.sock.settimeout(patience)
        self._seconds += len(received) / BODY_BYTES_A_SECOND
        return received


class HeadsFirst(ThreadWorker):
    """gunicorn's worker with threads, which wait for no head, for no reader and for no end of a connection."""

    wsgi: Any
    reading_seconds = 30.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self._heads = Waiting(self, HEAD_SECONDS)
        self._ended = Waiting(self, END_SECONDS)
        self._unread = Unread(self, self.reading_seconds)
        self._folder = str(env.folder("PLURANK_VAR", ROOT / "var"))
        self.cfg.set("sendfile", False)  # it waits for the client
        self._places = threading.BoundedSemaphore(max(1, self.cfg.threads // 2))

    def enqueue_req(self, conn: Any) -> None:  # noqa: ANN401
        """Wait for the head of a connection that is new, readable again, or has the next request in its buffer."""
        if self.cfg.is_ssl or prior_knowledge_allowed(self.cfg, conn.client):  # other bytes come before the head
            super().enqueue_req(conn)
            return
        if not conn.initialized:
            conn.sock = AnswerSocket(conn.sock, self._folder)
            conn.init()
            conn.parser.unreader = Body(conn.sock, self._places)
        conn.sock.setblocking(False)
        head = bytearray(conn.parser.unreader.take_buffered())
        self._heads.add(conn, partial(self._receive_head, conn, head))
        if END.search(head):
            self._hand_over(conn, head)

    def _receive_head(self, conn: Any, head: bytearray) -> None:  # noqa: ANN401
        """Read what has arrived of a head; a complete one goes to a thread."""
        n_searched = max(0, len(head) - 3)
        try:
            received = conn.sock.recv(RECEIVED_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            received = b""
        head += received
        if not received:  # the client has left
            self._heads.close(conn)
        elif END.search(head, n_searched):
            self._hand_over(conn, head)
        elif len(head) > MOST_HEAD_BYTES:
            self._heads.remove(conn)
            self.handle_error(None, conn.sock, conn.client, LimitRequestHeaders("max buffer headers"))
            self._end(conn)

    def _hand_over(self, conn: Any, head: bytearray) -> None:  # noqa: ANN401
        self._heads.remove(conn)
        conn.parser.unreader.begin()
        conn.parser.unreader.unread(bytes(head))
        super().enqueue_req(conn)

    def finish_request(self, conn: Any, fs: Future[Any]) -> None:  # noqa: ANN401
        """Send what is left of the answer; then keep the connection for the next request, or end it."""
        if getattr(conn.sock, "n_kept", 0):
            self._unread.send(conn, partial(self.finish_request, conn, fs))
        elif self.cfg.is_ssl or (not fs.cancelled() and fs.exception() is None and fs.result()):
            super().finish_request(conn, fs)
        else:
            self._end(conn)

    def load_wsgi(self) -> None:
        """The application, whose answers say that the connection ends where most of a body was not read."""
        super().load_wsgi()
        application = self.wsgi

        def answered(environ: dict[str, Any], start_response: Any) -> Any:  # noqa: ANN401
            def start(*head: Any) -> Any:  # noqa: ANN401
                reader = getattr(environ["wsgi.input"], "reader", None)
                is_refused = getattr(environ["gunicorn.socket"], "is_refused", False)
                if is_refused or getattr(reader, "length", 0) > MOST_UNREAD_BYTES:
                    start_response.__self__.force_close()
                return start_response(*head)

            return application(environ, start)

        self.wsgi = answered

    def _keepalive_after(self, conn: Any, keepalive: bool) -> bool:  # noqa: ANN401
        """Whether another request can follow: not where most of a body that no one reads has yet to arrive."""
        if conn.parser.unreader.is_late or conn.sock.is_refused:
            return False
        # Also where it ends: a client that still sends when it is closed could lose the answer.
        is_read = conn.parser.finish_body(deadline=time.monotonic() + UNREAD_SECONDS)
        return bool(keepalive and is_read)

    def _end(self, conn: Any) -> None:  # noqa: ANN401
        """Close our side, and the rest once the client has closed its own, has sent too much, or takes too long."""
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:  # it is closed already
            self.close_now(conn)
            return
        dropped = bytearray()

        def drop() -> None:
            received = b""
            try:
                received = conn.sock.recv(RECEIVED_BYTES)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                pass
            dropped.extend(received)
            if not received or len(dropped) > MOST_HEAD_BYTES:
                self._ended.close(conn)

        self._ended.add(conn, drop)

    def close_now(self, conn: Any) -> None:  # noqa: ANN401
        """Close a connection that the poller does not watch."""
        self.nr_conns -= 1
        conn.close()

    def murder_pending(self) -> None:
        """Close what has waited too long; called once a second at least."""
        super().murder_pending()
        if not self.alive:  # a request that does not arrive keeps no server from stopping
            self._heads.hasten(time.monotonic() + END_SECONDS)
        self._heads.close_late()
        self._ended.close_late()
        self._unread.close_late()
