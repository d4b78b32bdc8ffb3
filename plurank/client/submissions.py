"""A submission to a site, until its board is published."""

from __future__ import annotations

import time
from typing import Any

from plurank.client.transport import SiteConnection

DONE = frozenset({"published", "rejected", "retracted", "withdrawn", "failed"})


class RemoteSubmission:
    """A submission to a site. `status` is what the site said last.

    Attributes:
        status: all of it.
    """

    def __init__(self, transport: SiteConnection, status: dict[str, Any]) -> None:
        self._transport, self.status = transport, status

    def __repr__(self) -> str:
        return f"RemoteSubmission({self.uuid!r}, {self.state})"

    @property
    def uuid(self) -> str:
        """What the site knows it by."""
        return str(self.status["uuid"])

    @property
    def state(self) -> str:
        """`pending` (a moderator decides), `accepted`, `published`, `rejected`, ...: docs/api.md has all."""
        return str(self.status["state"])

    def refresh(self) -> RemoteSubmission:
        """Ask the site again; return this submission."""
        self.status = self._transport.get(f"submissions/{self.uuid}/")
        return self

    def wait(self, seconds: float = 300) -> RemoteSubmission:
        """Wait until the board with it is published, or it will not be; return this submission.

        Raises:
            TimeoutError: it is still on its way; the message says where.
        """
        ends, pause = time.monotonic() + seconds, 0.25
        while self.refresh().state not in DONE:
            if time.monotonic() + pause > ends:
                raise TimeoutError(f"submission {self.uuid} is still {self.state} after {seconds:g} seconds")
            time.sleep(pause)
            pause = min(2 * pause, 10)
        return self
