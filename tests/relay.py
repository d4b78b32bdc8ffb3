"""A relay in front of PostgreSQL that can hang: connections stay open, and carry nothing any more."""

import socket
import threading
from contextlib import suppress


class Relay:
    """Passes connections on, until `hang`: what is open then carries nothing any more. Later ones are passed on."""

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.hung: set[socket.socket] = set()
        self.open: set[socket.socket] = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                try:
                    server = socket.create_connection(self.target)
                except OSError:  # the server is away: so it is for who asks here
                    client.close()
                    continue
                with self._lock:
                    self.open |= {client, server}
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if source not in self.hung:  # taken and acknowledged, and never passed on
                    target.sendall(data)
        if source in self.hung:
            return
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        with self._lock:
            self.open -= {source, target}

    def hang(self) -> set[socket.socket]:
        """Let what is open now carry nothing any more. The value is for `end`."""
        with self._lock:
            hung = set(self.open)
            self.hung |= hung
        return hung

    def end(self, hung: set[socket.socket]) -> None:
        """Close connections that hung, as a network does that is mended: both sides learn that they are lost."""
        for each in hung:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        with self._lock:
            self.open -= hung
            self.hung -= hung

    def close(self) -> None:
        """Take no more connections, and end those that are open."""
        self.listener.close()
        self.end(self.hang())


def through(relay: Relay, url: str) -> str:
    """The address of the same database behind the relay."""
    scheme, _, rest = url.partition("://")
    credentials, _, place = rest.rpartition("@")
    return f"{scheme}://{credentials}@127.0.0.1:{relay.port}/{place.partition('/')[2]}"
