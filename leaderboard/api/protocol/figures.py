"""Views of the figures of a published revision, as pages and as files."""

from collections.abc import Callable, Iterator
from typing import Any

from django.http import HttpResponseBase

from leaderboard.api.protocol.base import BenchmarkView
from leaderboard.models import Publication


class FigureView(BenchmarkView):
    """Figures of a published revision, with what the benchmark and its systems say of themselves now.

    Settings, tags and names change without a revision, and jobs end: the content alone says whether an answer is the
    same.
    """

    def table(self, publication: Publication, name: str, build: Callable[[], Any]) -> HttpResponseBase:
        """An answer as a file."""
        return self._named(publication, name, self.answer_here(build))

    def stored_scores(
        self, publication: Publication, name: str, build: Callable[[], Iterator[str]]
    ) -> HttpResponseBase:
        """A file of scores as a revision stores them, with nothing else in it: it may be long, and is sent while it is
        made."""
        return self._named(publication, name, self.answer_here(build, state=["stored scores", publication.pk]))

    def _named(self, publication: Publication, name: str, response: HttpResponseBase) -> HttpResponseBase:
        return self.named_file(response, f"{self.benchmark.key}-{name}-r{publication.revision.number}")
