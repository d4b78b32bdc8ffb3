"""Errors of the API as exceptions, and the content of their answers."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers as s
from rest_framework.exceptions import APIException

from ranking_engine.files.problems import SHOWN_PROBLEMS

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
NOT_WRITABLE = "not_writable"  # a 422 of a file that cannot carry what is asked for


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


def wrong_parameter(name: str, message: str) -> ApiError:
    """The error of an address whose parameter `name` has a wrong value."""
    return ApiError(400, message, details=[{"parameter": name, "message": message}])


def wrong_body(details: list[dict[str, Any]], n_problems: int | None = None, *, is_question: bool = False) -> ApiError:
    """The error of a body that cannot be read, and of one that would be stored the word that nothing was.

    Args:
        details: what is wrong where.
        n_problems: how many problems there are, where not all are listed.
        is_question: whether the body only asks, so that nothing of it would be stored.
    """
    n = len(details) if n_problems is None else n_problems
    count = f"{n}{' or more' if n >= SHOWN_PROBLEMS else ''} problem{'' if n == 1 else 's'}"
    first = details[0]
    # What is wrong in a file says itself where.
    place = (
        ""
        if "file" in first
        else first.get("place")
        or ", ".join(
            part for part in (f"line {first['line']}" if "line" in first else "", str(first.get("column", ""))) if part
        )
    )
    sentence = f"{place}: {first['message']}" if place else first["message"]
    outcome = "The question cannot be read" if is_question else "Nothing was stored"
    return ApiError(400, f"{outcome}: {count}. {sentence}", details=details[:SHOWN_PROBLEMS])


class ErrorDetailSerializer(s.Serializer):
    """One thing that is wrong, and where."""

    message = s.CharField()
    place = s.CharField(required=False, help_text="The path of a JSON value, such as `systems[0].scores.qnli`.")
    file = s.CharField(required=False, help_text="The file that was sent, and where in it.")
    line = s.IntegerField(required=False, help_text="The line of the body or of the file, from 1.")
    column = s.CharField(required=False, help_text="The name of the column of a table.")
    parameter = s.CharField(required=False, help_text="The parameter of the URL.")


class ErrorContentSerializer(s.Serializer):
    """What an error says."""

    code = s.CharField(help_text="For programs; the message is for people.")
    message = s.CharField()
    details = ErrorDetailSerializer(many=True)


class ErrorSerializer(s.Serializer):
    """The one shape of errors."""

    error = ErrorContentSerializer()
