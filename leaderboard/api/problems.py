"""Errors of the API as exceptions, and the content of their answers."""

from collections.abc import Sequence
from typing import Any

from rest_framework.exceptions import APIException

CODES = {
    400: "invalid",
    401: "not_authenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    409: "conflict",
    413: "body_too_large",
    415: "unsupported_media_type",
    422: "too_expensive",
    429: "throttled",
    500: "internal_error",
    503: "busy",
}


class ApiError(APIException):
    """An answer that is an error; `details` says what is wrong where."""

    def __init__(self, status: int, message: str, *, code: str = "", details: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(message)
        self.status_code = status
        self.message = message
        self.error_code = code or CODES[status]
        self.error_details = list(details)


def body(code: str, message: str, details: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """The content of an error."""
    return {"error": {"code": code, "message": message, "details": list(details)}}
