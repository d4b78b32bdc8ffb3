"""Answers of the API compressed without a proxy, where they hold nothing that is secret."""

from typing import Any

from django.http import HttpRequest
from django.middleware.gzip import GZipMiddleware


class ApiGzipMiddleware(GZipMiddleware):
    """Compresses what scripts of other sites may read: what the API answers to everyone without a token.

    Where an answer holds a secret beside a text that someone else chose, the length of what is compressed tells of the
    secret (BREACH). So no page with a form is compressed here, no answer to a token, and nothing that a write answers.
    """

    def process_response(self, request: HttpRequest, response: Any) -> Any:  # noqa: ANN401
        """The answer, compressed where the client takes that."""
        is_open = response.get("Access-Control-Allow-Origin") == "*"
        return super().process_response(request, response) if is_open else response
