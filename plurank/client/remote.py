"""What was sent to a site, until the site is done with it."""

from __future__ import annotations

import time
from typing import Any, ClassVar, Self

from plurank.client.transport import SiteConnection

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 10.0  # seconds between two questions


class RemoteWork:
    """What was sent to a site. `status` is what the site said last.

    Attributes:
        status: all of it.
    """

    ADDRESS: ClassVar[str]  # below which the site says how far it is
    CALLED: ClassVar[str]  # in messages, before its state
    ENDS: ClassVar[frozenset[str]]  # states that do not change by themselves

    def __init__(self, transport: SiteConnection, status: dict[str, Any]) -> None:
        self._transport, self.status = transport, status

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.uuid!r}, {self.state})"

    @property
    def uuid(self) -> str:
        """What the site knows it by."""
        return str(self.status["uuid"])

    @property
    def state(self) -> str:
        """How far it is: docs/api.md has all states."""
        return str(self.status["state"])

    def refresh(self) -> Self:
        """Ask the site again; return the same object.

        Raises:
            SiteError: the site refused, or did not answer.
        """
        self.status = self._transport.get(f"{self.ADDRESS}/{self.uuid}/")
        return self

    def wait(self, seconds: float = 300) -> Self:
        """Ask the site until it is done; return the same object.

        Raises:
            TimeoutError: it is not done yet; the message says how far it is.
            SiteError: the site refused, or did not answer.
        """
        end, pause = time.monotonic() + seconds, FIRST_PAUSE
        while self.refresh().state not in self.ENDS:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"{self.CALLED.format(self.uuid)} still {self.state} after {seconds:g} seconds")
            time.sleep(min(pause, left))
            pause = min(2 * pause, LONGEST_PAUSE)
        return self
