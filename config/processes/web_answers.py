"""Answers of the web server: no thread waits for a client to read one.

What a client does not read at once is kept, and sent when the client reads on: little of it in memory, more in a file
without a name below `PLURANK_VAR`.
"""

import errno
import socket
import tempfile

KEPT_BYTES_IN_MEMORY = 2**16  # of one answer; more of it is in a file
MOST_KEPT_BYTES = 2**27  # of one answer, and of all that wait in one process
# That the system keeps for a client that does not read: it then says soon that the client has read some of them, and
# not only when it has read megabytes.
MOST_BYTES_IN_SYSTEM = 2**16
SENT_BYTES = 2**16  # at once
MOST_TURNS = 16  # then others have theirs


class AnswerSocket(socket.socket):
    """A connection whose answers are kept where its client does not read them at once.

    Args:
        connection: taken over.
        folder: where files of kept answers are.
    """

    def __init__(self, connection: socket.socket, folder: str) -> None:
        super().__init__(fileno=connection.detach())
        if self.family in (socket.AF_INET, socket.AF_INET6) and hasattr(socket, "TCP_NOTSENT_LOWAT"):
            self.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, MOST_BYTES_IN_SYSTEM)
        self.is_refused = False  # a body for which no thread was free to wait; `leaderboard.common.busy_page` says so
        self._folder = folder
        self._kept: tempfile.SpooledTemporaryFile[bytes] | None = None
        self._n_written = 0
        self.n_sent = 0  # of the bytes that were kept

    @property
    def n_kept(self) -> int:
        """How many bytes are still to be sent."""
        return self._n_written - self.n_sent

    def sendall(self, data: bytes, flags: int = 0) -> None:  # type: ignore[override]
        """Send what the client takes now, and keep the rest.

        Raises:
            OSError: the client has left, or there is no room for the rest.
        """
        self.send_kept()
        rest = memoryview(data)
        while rest and not self.n_kept:
            if not (n := self._send_now(rest)):
                break
            rest = rest[n:]
        if not rest:
            return
        if self.n_kept + len(rest) > MOST_KEPT_BYTES:
            raise OSError(errno.ENOBUFS, "the client reads too slowly for so large an answer")
        if self._kept is None:
            self._kept = tempfile.SpooledTemporaryFile(KEPT_BYTES_IN_MEMORY, dir=self._folder)  # noqa: SIM115
        self._kept.seek(self._n_written)
        self._n_written += self._kept.write(rest)

    def send(self, data: bytes, flags: int = 0) -> int:  # type: ignore[override]
        """As `sendall`: a hundred and continue, too, waits for no client."""
        self.sendall(data)
        return len(data)

    def send_kept(self) -> int:
        """Send what the client takes now of what was kept; how many bytes it took.

        Raises:
            OSError: the client has left.
        """
        before = self.n_sent
        for _ in range(MOST_TURNS):
            if self._kept is None:
                break
            self._kept.seek(self.n_sent)
            part = self._kept.read(SENT_BYTES)
            n = self._send_now(part)
            self.n_sent += n
            if not self.n_kept:
                n_sent = self.n_sent - before
                self._forget()
                return n_sent
            if n < len(part):
                break
        return self.n_sent - before

    def close(self) -> None:
        """Close it, and forget what was kept."""
        self._forget()
        super().close()

    def _send_now(self, part: bytes | memoryview) -> int:
        try:
            return super().send(part, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0

    def _forget(self) -> None:
        if self._kept is not None:
            self._kept.close()
        self._kept, self._n_written, self.n_sent = None, 0, 0
