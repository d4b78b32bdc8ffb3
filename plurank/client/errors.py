"""What a site answers when it does not do what it was asked, as exceptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MAX_SHOWN = 10  # problems in the text of an error; `details` has them all


class SiteError(Exception):
    """A site refused.

    Attributes:
        status: of HTTP; 0 where there was no answer.
        code: the site's word for it, such as `quota_exceeded`.
        details: each problem with its place: `message`, and `file`, `line`, `column`, `place` where there are any.
            The exception's text is the site's message, which has the first of them, with the others below it.
        retry_after: the seconds after which the site wants to be asked again; None where it does not say.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "",
        details: Sequence[Mapping[str, Any]] = (),
        retry_after: float | None = None,
    ) -> None:
        others = details[1:] if details and str(details[0].get("message", "")) in message else details
        lines = []
        for detail in others[:MAX_SHOWN]:
            line = f"line {detail['line']}" if detail.get("line") else ""
            parts = (detail.get("file"), line, detail.get("column"))
            where = ", ".join(str(part) for part in parts if part) or str(detail.get("place", ""))
            text = str(detail.get("message", ""))
            lines.append(f"  {text}" if not where or text.startswith(where) else f"  {where}: {text}")
        if len(others) > len(lines):
            lines.append(f"  and {len(others) - len(lines)} more")
        super().__init__("\n".join([message, *lines]))
        self.status, self.code, self.details, self.retry_after = status, code, tuple(details), retry_after


class InvalidInputError(SiteError, ValueError):
    """What was sent is wrong: nothing was stored; `details` say where."""


class NotAllowedError(SiteError, PermissionError):
    """There is no token, it is not valid, or it may not do this."""


class NotThereError(SiteError, LookupError):
    """There is nothing of this name, or it is not open to you."""


class TooManyError(SiteError):
    """A rate limit or a quota, also after all attempts; `retry_after` says when to try again."""


class UnreachableError(SiteError, ConnectionError):
    """There was no answer, also after all attempts. What was sent may have been stored, or not."""


BY_STATUS: Mapping[int, type[SiteError]] = {
    400: InvalidInputError,
    401: NotAllowedError,
    403: NotAllowedError,
    404: NotThereError,
    409: InvalidInputError,
    410: NotThereError,
    413: InvalidInputError,
    415: InvalidInputError,
    422: InvalidInputError,
    429: TooManyError,
}
