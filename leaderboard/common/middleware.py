"""For every answer: caching headers, a page for URLs that only accept forms, and one charset for all requests."""

from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext

PRIVATE = "private, max-age=0, must-revalidate"


def is_utf8(charset: str) -> bool:
    """Whether a body in this charset is read: all are read as UTF-8, of which ASCII is a part."""
    return charset.lower().replace("_", "-") in {"utf-8", "utf8", "us-ascii", "ascii"}


class CharsetMiddleware:
    """The query of an address is UTF-8, whatever charset the body of a request states.

    A form in another charset is refused. Of the bodies of the API its parsers say so.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The request goes on, unless it has a form that cannot be read.

        Raises:
            BadRequest: its charset is not UTF-8.
        """
        charset = (request.content_params or {}).get("charset", "utf-8")
        if not is_utf8(charset):
            request.encoding = "utf-8"
            if request.method not in ("GET", "HEAD") and not request.path_info.startswith("/api/"):
                raise BadRequest(
                    gettext("The charset %(charset)s is not read; send UTF-8.") % {"charset": repr(charset[:40])}
                )
        return self.get_response(request)


class CacheMiddleware:
    """Every answer that says nothing of caches is private and asked for again each time.

    Pages tell a reader's name, drafts and rights, so that no cache that others share may keep one. Whatever may be
    shared says so itself: the API's anonymous answers on public benchmarks, the schema, and static files, which are
    served before this is asked.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The request goes on; its answer says who may keep it."""
        response = self.get_response(request)
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = PRIVATE
        return response


class MethodMiddleware:
    """Forms that were opened or sent in vain: an address that only takes a form shows a page with a way on, and who has
    to sign in first gets back to the page with the form.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The request goes on; an empty refusal of its method becomes a page, and the page of its form its `next`."""
        response = self.get_response(request)
        sign_in, _, query = response.get("Location", "").partition("?")
        if request.method == "POST" and query and sign_in == resolve_url(settings.LOGIN_URL):
            messages.info(request, gettext("Nothing was stored: sign in, then fill in the form again."))
            referer = request.headers.get("Referer", "")
            if url_has_allowed_host_and_scheme(referer, {request.get_host()}, require_https=request.is_secure()):
                form_page = urlsplit(referer)
                values = QueryDict(mutable=True)
                values[REDIRECT_FIELD_NAME] = urlunsplit(("", "", form_page.path, form_page.query, ""))
                response["Location"] = f"{sign_in}?{values.urlencode(safe='/')}"
            return response
        is_empty = isinstance(response, HttpResponse) and not response.content
        is_page = request.method == "GET" and not request.path_info.startswith("/api/")
        if response.status_code != 405 or not is_empty or not is_page:
            return response
        parent = request.path.rstrip("/").rpartition("/")[0] + "/"
        page = render(request, "405.html", {"parent_url": parent}, status=405)
        page["Allow"] = response["Allow"]
        return page
