"""One shape for every error under /api/: `{"error": {"code": ..., "message": ..., "details": [...]}}`."""

import logging
from typing import Any

from django.conf import settings
from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFilesSent,
)
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse, UnreadablePostError
from django.shortcuts import render
from django.views import defaults
from rest_framework import exceptions
from rest_framework.permissions import SAFE_METHODS
from rest_framework.response import Response
from rest_framework.views import exception_handler, set_rollback

from leaderboard.api.protocol.problems import CODES, ApiError, body
from leaderboard.common.busy import AWAY_SECONDS, RETRY_SECONDS, is_away, is_busy
from leaderboard.computing.pool import AbandonedError
from leaderboard.on_demand.budget import RETRY_SECONDS as RETRY_COMPUTING, BusyError, TooOftenError

logger = logging.getLogger(__name__)

PREFIX = "/api/"
SERVER_ERROR = "Something went wrong here; it is logged."
AWAY = "The database is not reachable at the moment. Try again."
# After an error no one can promise that nothing was stored: it may have come after the commit.
UNCERTAIN = (
    " What you sent may have been stored, or not: send the same again with the same Idempotency-Key, or look before "
    "you send it again."
)
COMPUTING = "So much is being computed for others that this could not begin. Send the same again in a moment."
MALFORMED = "The request cannot be understood."
LATE = "The body did not arrive in time, or not completely."
BUSY = "The database is busy with others. Nothing was changed; send the same again."


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """What REST framework answers to an exception: never a trace, never another shape."""
    if isinstance(error, ApiError):
        set_rollback()
        headers = {"WWW-Authenticate": "Bearer"} if error.status_code == 401 else None
        content = body(error.error_code, error.message, error.error_details)
        return Response(content, status=error.status_code, headers=headers)
    if isinstance(error, RequestDataTooBig):
        return Response(body(CODES[413], "The body is too large."), status=413)
    if isinstance(error, SuspiciousOperation | UnreadablePostError):
        text = LATE if isinstance(error, UnreadablePostError) else MALFORMED
        return Response(body(CODES[400], text), status=400)
    if isinstance(error, BusyError | AbandonedError):
        set_rollback()
        return Response(body(CODES[503], COMPUTING), status=503, headers={"Retry-After": str(RETRY_COMPUTING)})
    if isinstance(error, TooOftenError):
        set_rollback()
        return Response(body(CODES[429], str(error)), status=429, headers={"Retry-After": str(error.seconds)})
    response = exception_handler(error, context)
    if response is None:
        set_rollback()
        uncertainty = _uncertainty(context["request"].method)
        if is_busy(error) or is_away(error):
            text, seconds = (BUSY, RETRY_SECONDS) if is_busy(error) else (AWAY + uncertainty, AWAY_SECONDS)
            return Response(body(CODES[503], text), status=503, headers={"Retry-After": str(seconds)})
        logger.error("the API failed", exc_info=error)
        return Response(body(CODES[500], SERVER_ERROR + uncertainty), status=500)
    code = CODES.get(response.status_code, "invalid")
    if isinstance(error, exceptions.AuthenticationFailed):
        code = str(error.get_codes())
    detail = getattr(error, "detail", "")
    if isinstance(error, Http404):
        message = str(error) or "There is nothing here that is open to you."
    elif isinstance(error, PermissionDenied):
        message = str(error) or "You may not do this."
    else:
        message = str(detail) if isinstance(detail, str) else "The request is not valid."
    response.data = body(code, message)
    return response


def _uncertainty(method: str | None) -> str:
    return "" if method in SAFE_METHODS else UNCERTAIN


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """The site's 400: JSON under /api/, the page elsewhere."""
    if request.path_info.startswith(PREFIX):
        return JsonResponse(body(CODES[400], MALFORMED), status=400)
    if isinstance(exception, BadRequest):  # raised by our own views, in words for the reader
        return render(request, "400.html", {"reason": str(exception)}, status=400)
    if isinstance(exception, TooManyFilesSent):
        reason = f"You chose more than {settings.DATA_UPLOAD_MAX_NUMBER_FILES:,} files. Upload them in parts."
        return render(request, "400.html", {"reason": reason}, status=400)
    return defaults.bad_request(request, exception)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """The site's 500: JSON under /api/, the page elsewhere."""
    if request.path_info.startswith(PREFIX):
        return JsonResponse(body(CODES[500], SERVER_ERROR + _uncertainty(request.method)), status=500)
    return defaults.server_error(request)
