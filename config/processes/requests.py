"""Requests as the site reads them: text is UTF-8, whatever charset a body states; and answers to HEAD."""

from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.http import parse_header_parameters


class Utf8Request(WSGIRequest):
    """A request whose address is read as UTF-8.

    Django reads the query in the charset of the body, and fails where Python knows it as something other than text,
    such as `charset=hex`. `CharsetMiddleware` refuses bodies in other charsets.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))


class Handler(WSGIHandler):
    """Django's application with such requests, and no bodies of answers to HEAD."""

    request_class = Utf8Request

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        """The answer; to HEAD without its body, but with the body's length."""
        response = super().get_response(request)
        if request.method == "HEAD" and isinstance(response, HttpResponse):
            response.headers.setdefault("Content-Length", str(len(response.content)))
            response.content = b""
        return response
