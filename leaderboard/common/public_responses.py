"""Answers that other sites show: the same for everyone, without cookies, and cheap to ask for again."""

import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response
from django.utils.http import http_date

from leaderboard.models import Benchmark

REVALIDATE = "max-age=0, must-revalidate"


def shared_answer(
    request: HttpRequest,
    content: str | bytes | Callable[[], bytes],
    content_type: str,
    *,
    benchmark: Benchmark | None = None,
    state: str = "",
    updated: datetime | None = None,
) -> HttpResponse:
    """An answer with an ETag, or a 304 to anyone who has it already. Call after permission was checked.

    Args:
        request: whose headers say what they have.
        content: what is sent, or what makes it where `state` says all that it depends on.
        content_type: with its encoding.
        benchmark: what it is about; shared caches keep what is said of public ones only.
        state: what the content depends on; the content itself where empty.
        updated: when it changed last, where that is known.
    """
    depends = state.encode() if state else content if isinstance(content, bytes) else str(content).encode()
    etag = f'"{hashlib.sha256(depends).hexdigest()[:32]}"'
    modified = int(updated.timestamp()) if updated else None
    response = get_conditional_response(request, etag=etag, last_modified=modified)
    if response is None:
        response = HttpResponse(content() if callable(content) else content, content_type=content_type)
    is_public = benchmark is None or benchmark.visibility == Benchmark.Visibility.PUBLIC
    response["ETag"] = etag
    response["Cache-Control"] = f"{'public' if is_public else 'private'}, {REVALIDATE}"
    if updated:
        response["Last-Modified"] = http_date(updated.timestamp())
    return response


def rendered(template: str, context: dict[str, Any]) -> str:
    """A template without the request: what it says depends on no one's session."""
    return render_to_string(template, context)
