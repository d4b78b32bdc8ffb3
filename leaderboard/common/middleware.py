"""Who may keep an answer: nobody but the reader's own browser, unless the view says otherwise."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

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
