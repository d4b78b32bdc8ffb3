"""Which requests are answered in the language of the site."""

from collections.abc import Callable, Iterable, Iterator

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.utils import translation

from leaderboard.common.language.numbers import PROGRAMS

SHOWN = {"badge.svg", "card.png", "feed.atom"}  # files that people read, on other sites


class LanguageMiddleware:
    """The API and files are in English in every language of the site.

    Their paths tell them from pages: they are below `/api/`, or end with a name that has a point, as `board.csv`.
    Pictures of boards and feeds are in the language of the site, too.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer, in the language of the site or in English."""
        path = request.path_info
        name = path.rpartition("/")[2]
        is_page = not path.startswith("/api/") and ("." not in name or name in SHOWN)
        if is_page or translation.get_language() == PROGRAMS:
            return self.get_response(request)
        with translation.override(PROGRAMS):
            response = self.get_response(request)
        if isinstance(response, StreamingHttpResponse) and not response.is_async:
            response.streaming_content = _in_english(response.streaming_content)  # type: ignore[arg-type]
        return response


def _in_english(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Parts that are made while they are sent, each in English; between them the thread serves others."""
    iterator = iter(parts)
    while True:
        with translation.override(PROGRAMS):
            part = next(iterator, None)
        if part is None:
            return
        yield part
