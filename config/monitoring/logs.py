"""Log records that say which request and which job they belong to, as lines for people or as JSON for programs."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from django.core.exceptions import DisallowedHost

_ids: ContextVar[dict[str, object]] = ContextVar("plurank_log_ids", default={})  # noqa: B039 -- never changed in place
_OF_EVERY_RECORD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
MOST_OF_HOST = 100  # letters
# What other packages pass along with a record that a log is no place for: whole requests, with their cookies.
_LEFT_OUT = {"request", "data", "context"}


@contextmanager
def logged_as(**ids: object) -> Iterator[None]:
    """Every record that is logged inside carries these ids: `request="3f..."`, `job=17`."""
    token = _ids.set(_ids.get() | ids)
    try:
        yield
    finally:
        _ids.reset(token)


class WithoutAddress(logging.Filter):
    """Django reports what went wrong by the request's address; that of an invitation or a mail's link is a secret.

    The name of the route is in its place. Of a request that was refused there is one line without a traceback: anyone
    can send many of them, and what is wrong with them can quote their query.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record; every one passes."""
        request = getattr(record, "request", None)
        path = getattr(request, "path", None)
        if not path:
            return True
        match = getattr(request, "resolver_match", None)
        route = match.view_name if match else "none"
        status = getattr(record, "status_code", None)
        if record.exc_info and isinstance(status, int) and 400 <= status < 500:
            error = record.exc_info[1]
            # The name of a host is what an operator has to know, and no secret.
            reason = str(error)[:MOST_OF_HOST] if isinstance(error, DisallowedHost) else type(error).__name__
            record.msg, record.args = "%s (%s): %s", (HTTPStatus(status).phrase, reason, route)
            record.exc_info = record.exc_text = None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        elif isinstance(record.args, tuple):
            written = {path, path.encode("unicode_escape").decode("ascii")}  # Django escapes what it logs
            record.args = tuple(route if arg in written else arg for arg in record.args)
        return True


def current_ids() -> dict[str, object]:
    """The ids of what is being done now."""
    return _ids.get()


def current_request() -> str:
    """The id of the request that caused what is being done now, empty where none did; at most 64 characters."""
    return str(_ids.get().get("request", ""))


class LineFormatter(logging.Formatter):
    """A line a record, its ids in brackets: `2026-05-01 10:00:00,000 INFO plurank.requests: GET board [request=3f]`."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 -- logging's own name
        """The line, with the ids behind it."""
        ids = " ".join(f"{name}={value}" for name, value in current_ids().items())
        return super().formatMessage(record) + (f" [{ids}]" if ids else "")


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `at`, `level`, `logger`, `message`, the ids, `error` with its traceback, and extras."""

    def format(self, record: logging.LogRecord) -> str:
        """The object as text."""
        entry: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            **current_ids(),
        }
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        extras = {name: value for name, value in vars(record).items() if name not in _OF_EVERY_RECORD | _LEFT_OUT}
        return json.dumps(extras | entry, default=str, ensure_ascii=False)
