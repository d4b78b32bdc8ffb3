"""A folder as the message broker: Celery's transport where there is no Redis.

kombu's own writes a message in place, so that a reader may take half of it, and the worker that cannot parse it ends;
it moves a message it takes through the system's folder for temporary files, perhaps another disk; and what no one takes
stays for ever. Here a message appears whole, by a rename within one folder; who renames it away owns it; one that
cannot be read is dropped; and one that is older than any message is worth is deleted. Messages only wake workers, so
dropping one costs a moment.
"""

import logging
import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import virtual
from kombu.utils.json import dumps, loads

logger = logging.getLogger(__name__)

CLEAN_SECONDS = 30.0  # how often a process looks for old files


class Channel(virtual.Channel):
    """Queues as files `<milliseconds>_<uuid>.<queue>.msg`; a name that begins with a dot is no one's message yet."""

    # Only the default exchange is used: what a queue is bound to need not be stored.
    supports_fanout = False
    _cleaned_at = 0.0

    @property
    def folder(self) -> Path:
        """Where the messages lie (transport option `folder`)."""
        return Path(self._options["folder"])

    @property
    def stale_seconds(self) -> float:
        """How old a file may become (transport option `stale_seconds`)."""
        return float(self._options["stale_seconds"])

    @property
    def _options(self) -> dict[str, Any]:
        return self.connection.client.transport_options

    def _put(self, queue: str, message: dict[str, Any], **kwargs: object) -> None:
        name = f"{time.time_ns() // 1_000_000:015d}_{uuid.uuid4().hex}.{queue}.msg"
        unfinished = self.folder / f".{name}.new"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(dumps(message), encoding="utf-8")  # type: ignore[no-untyped-call]
            unfinished.rename(self.folder / name)
        except OSError as error:
            raise ChannelError(f"cannot add a message to {self.folder}: {error}") from error
        self._clean_now_and_then()

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        self._clean_now_and_then()
        for name in sorted(self._names(queue)):
            taken = self.folder / f".{name}.{os.getpid()}.taken"
            try:
                (self.folder / name).rename(taken)
                text = taken.read_text(encoding="utf-8")
                taken.unlink(missing_ok=True)
                return dict(loads(text))  # type: ignore[no-untyped-call]
            except OSError:  # another worker was first
                continue
            except (TypeError, ValueError):
                logger.warning("dropped a message that cannot be read: %s", name)
        raise Empty

    def _names(self, queue: str) -> list[str]:
        try:
            names = os.listdir(self.folder)  # noqa: PTH208 -- names only, twenty times a second
        except OSError:  # the folder is away; it comes back with the next message
            return []
        return [name for name in names if name.partition(".")[2] == f"{queue}.msg"]

    def _size(self, queue: str) -> int:
        return len(self._names(queue))

    def _purge(self, queue: str) -> int:
        names = self._names(queue)
        for name in names:
            (self.folder / name).unlink(missing_ok=True)
        return len(names)

    def _clean_now_and_then(self) -> None:
        """Delete what no one took in time, and what killed processes left half written or half read."""
        if time.monotonic() < self._cleaned_at + CLEAN_SECONDS:
            return
        self._cleaned_at = time.monotonic()
        oldest = time.time() - self.stale_seconds
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if entry.name.endswith((".msg", ".new", ".taken")) and entry.stat().st_mtime < oldest:
                        Path(entry.path).unlink(missing_ok=True)
        except OSError as error:  # others clean the same folder
            logger.debug("not all old messages were deleted: %s", error)


class Transport(virtual.Transport):
    """The transport for `CELERY_BROKER_TRANSPORT`."""

    Channel = Channel
    global_state = virtual.BrokerState()  # type: ignore[no-untyped-call]
    driver_type = driver_name = "folder"

    def __init__(self, client: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(client, **kwargs)  # type: ignore[no-untyped-call]
        self.state = self.global_state

    def driver_version(self) -> str:
        """Of no importance."""
        return "1"
