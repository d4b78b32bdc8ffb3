"""Atom feeds of new boards. They answer whoever asks as somebody who is not signed in."""

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import format_html_join
from django.views.decorators.http import require_safe

from leaderboard.models import Benchmark
from leaderboard.services.feeds import FeedEntry, entries_of, entries_of_all
from leaderboard.services.public_board import open_benchmark
from leaderboard.services.site_address import site_address
from leaderboard.views.shared import shared_answer
from ranking_engine.texts import writable

FOUNDED = datetime(2026, 1, 1, tzinfo=UTC)  # of tags, and of a feed that has no entry yet
BY = "Plurank"


class BoardFeed(Atom1Feed):
    """An Atom feed that changes when its entries do, and at no other time."""

    def latest_post_date(self) -> datetime:
        """When the newest of it changed."""
        return max([self.feed["began"], *(item["updateddate"] for item in self.items)])


@require_safe
def feed(request: HttpRequest, key: str) -> HttpResponse:
    """The last boards of a benchmark."""
    benchmark, _ = open_benchmark(key)
    page = site_address(reverse("board", args=[key]))
    made = _feed(request, f"{benchmark.name} on Plurank", page, f"benchmark/{key}", benchmark.created_at)
    told = f"New boards of {benchmark.name}: what changed, and who leads under which rule."
    made.feed["subtitle"] = writable(told)
    return _answer(request, made, entries_of(benchmark), benchmark)


@require_safe
def feed_of_all(request: HttpRequest) -> HttpResponse:
    """The last boards of all public benchmarks."""
    made = _feed(request, "New boards on Plurank", site_address(reverse("home")), "all", FOUNDED)
    made.feed["subtitle"] = "New boards of every public benchmark: what changed, and who leads under which rule."
    return _answer(request, made, entries_of_all(), None)


def _feed(request: HttpRequest, title: str, page: str, what: str, began: datetime) -> BoardFeed:
    address = site_address(request.path)
    return BoardFeed(
        writable(title), page, "", language="en", author_name=BY, feed_url=address, feed_guid=_tag(what), began=began
    )


def _answer(
    request: HttpRequest, made: BoardFeed, entries: Sequence[FeedEntry], benchmark: Benchmark | None
) -> HttpResponse:
    for entry in entries:
        board = site_address(reverse("board", args=[entry.benchmark.key]))
        made.add_item(
            writable(entry.title),  # older rows hold what is refused by now, and XML cannot carry
            f"{board}?revision={entry.number}",
            format_html_join("", "<p>{}</p>", ((writable(sentence),) for sentence in entry.sentences)),
            unique_id=_tag(f"benchmark/{entry.benchmark.key}/publication/{entry.publication}"),
            pubdate=entry.published_at,
            updateddate=entry.updated_at,
        )
    content = made.writeString("utf-8")
    return shared_answer(
        request, content, made.content_type, benchmark=benchmark, updated=made.latest_post_date()
    )


def _tag(what: str) -> str:
    """A permanent name (RFC 4151): the same by whatever address the site is asked."""
    return f"tag:{urlsplit(settings.SITE_URL).hostname or 'localhost'},{FOUNDED.year}:{what}"
