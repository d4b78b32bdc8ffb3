"""For every answer: caching headers, and a page for URLs that only accept forms."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

PRIVATE = "private, max-age=0, must-revalidate"


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
    """Opening an address that only takes a form, as after signing in, shows a page with a way on."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The request goes on; an empty refusal of its method becomes a page."""
        response = self.get_response(request)
        is_empty = isinstance(response, HttpResponse) and not response.content
        is_page = request.method == "GET" and not request.path_info.startswith("/api/")
        if response.status_code != 405 or not is_empty or not is_page:
            return response
        parent = request.path.rstrip("/").rpartition("/")[0] + "/"
        page = render(request, "405.html", {"parent_url": parent}, status=405)
        page["Allow"] = response["Allow"]
        return page
