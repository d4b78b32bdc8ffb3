"""What is to go from the API: it works on for at least a year, and its answers say that it is to go."""

from datetime import UTC, datetime
from typing import TypeVar

from django.http import HttpResponseBase

R = TypeVar("R", bound=HttpResponseBase)
SINCE = datetime(2026, 11, 23, tzinfo=UTC)
HEADER = f"@{SINCE.timestamp():.0f}"  # RFC 9745


def deprecated(response: R, *, when: bool = True) -> R:
    """The response, with the header `Deprecation` where something that is to go was asked for or is in it."""
    if when:
        response["Deprecation"] = HEADER
    return response
