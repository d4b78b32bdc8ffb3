"""Badges as pictures. They treat everyone as a visitor who is not signed in."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from csp.decorators import csp_replace
from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import format_html_join
from django.utils.translation import get_language, gettext
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from leaderboard.boards.board import build_board
from leaderboard.boards.public.badges import Badge, benchmark_badge, not_found_badge, system_badge
from leaderboard.boards.public.board import open_benchmark
from leaderboard.boards.public.cards import board_card
from leaderboard.boards.public.feeds import (
    FeedEntry,
    WeekEntry,
    entries_of,
    entries_of_all,
    weeks_of,
    weeks_of_all,
)
from leaderboard.boards.query import query_text, read_query
from leaderboard.common.charts.badge import draw_badge
from leaderboard.common.public_responses import rendered, shared_answer
from leaderboard.common.site_address import site_address
from leaderboard.models import Benchmark
from leaderboard.on_demand.budget import RETRY_SECONDS, BusyError, TooLargeError, TooOftenError
from leaderboard.rankings.published import UnknownChoiceError
from leaderboard.rankings.redaction import hidden_text
from leaderboard.rankings.revision_parameter import publication_asked_for, revision_query
from leaderboard.rankings.revisions import RemovedRanksError
from ranking_engine.catalogue.variants import LONGEST_KEY
from ranking_engine.text.characters import writable

SVG = "image/svg+xml; charset=utf-8"


@require_safe
def badge(request: HttpRequest, key: str) -> HttpResponse:
    """Who wins a benchmark: under the rule that the address names, or over all rules."""
    rule = request.GET.get("rule", "")[:LONGEST_KEY]

    def find() -> tuple[Benchmark, Badge]:
        benchmark, audience = open_benchmark(key)
        return benchmark, benchmark_badge(audience, rule)

    return _badge_answer(request, find)


@require_safe
def system_badge_svg(request: HttpRequest, key: str, system_key: str) -> HttpResponse:
    """The rank of a system: under the rule that the address names, or over all rules; or whether it can win."""
    rule, of_prospects = request.GET.get("rule", "")[:LONGEST_KEY], request.GET.get("of") == "prospects"

    def find() -> tuple[Benchmark, Badge]:
        benchmark, audience = open_benchmark(key)
        return benchmark, system_badge(audience, system_key, rule, of_prospects=of_prospects)

    return _badge_answer(request, find)


def _badge_answer(request: HttpRequest, find: Callable[[], tuple[Benchmark, Badge]]) -> HttpResponse:
    """The badge; where there is none, one that says so: who shows a picture sees no page."""
    try:
        benchmark, badge = find()
    except Http404:
        return _unkept(not_found_badge(), 404)
    except UnknownChoiceError as error:
        return _unkept(Badge("Plurank", gettext("unknown rule"), str(error), "quiet"), 400)
    return shared_answer(request, _drawn(badge), SVG, benchmark=benchmark)


def _unkept(badge: Badge, status: int) -> HttpResponse:
    response = HttpResponse(_drawn(badge), content_type=SVG, status=status)
    response["Cache-Control"] = "no-store"
    return response


def _drawn(badge: Badge) -> str:
    return rendered("boards/public/badge.svg", {"badge": draw_badge(**asdict(badge))})


@require_safe
def card(request: HttpRequest, key: str) -> HttpResponse:
    """The benchmark's name, who wins, and how many rules say so, as a PNG of 1200 x 630."""
    benchmark, audience = open_benchmark(key)
    board_picture = board_card(audience)
    return shared_answer(request, board_picture.png, "image/png", benchmark=benchmark, state=board_picture.state)


SHOWN_SYSTEMS = 10  # where the address does not say how many
HTML = "text/html; charset=utf-8"


POLICY = {"frame-ancestors": ["*"], "script-src": ["'none'"], "form-action": ["'none'"]}


@xframe_options_exempt
@csp_replace(POLICY)  # type: ignore[arg-type]  # it knows views without arguments alone
@require_safe
def embed(request: HttpRequest, key: str) -> HttpResponse:
    """Systems x rules of the published revision, as the address asks for it: its parameters are the board's."""
    benchmark, audience = open_benchmark(key)
    if benchmark.visibility != Benchmark.Visibility.PUBLIC:
        raise Http404(gettext("There is no public benchmark of this name."))
    query = read_query(request.GET)
    context: dict[str, object] = {
        "benchmark": benchmark,
        "board_url": reverse("board", args=[key]) + query_text(query),
        "hidden_text": hidden_text(audience),
    }
    try:
        benchmark.publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
        board = build_board(audience, query)
    except UnknownChoiceError as error:
        return _refused(context, str(error), 400)
    except TooLargeError:
        return _refused(context, gettext("This view is too large to compute here; see the board itself."), 422)
    except RemovedRanksError as error:
        return _refused(context, str(error), 410)
    except TooOftenError as error:
        return _refused(context, str(error), 429, retry_after=error.seconds)
    except BusyError:
        problem = gettext("The site is busy. Load the page again in a few seconds.")
        return _refused(context, problem, 503, retry_after=RETRY_SECONDS)
    if board is None:
        context["is_computing"] = benchmark.last_revision_number > 0
    else:
        has_size = bool(query.top or query.page > 1)
        rows = board.rows if has_size else board.rows[: board.n_pinned + SHOWN_SYSTEMS]
        at_revision = revision_query(benchmark, board.published.revision)
        linked_rows = [replace(row, url=reverse("system", args=[key, row.key]) + at_revision) for row in rows]
        context |= {
            "board": board,
            "rows": rows if audience.is_restricted else linked_rows,
            "columns": [
                {
                    "name": column.name,
                    "status": column.status,
                    "summary": column.summary,
                    "n_ranked": column.n_ranked,
                    "is_reference": column is board.reference,
                }
                for column in board.visible
            ],
            "rule_columns": board.visible,
            "n_more": board.n_shown - len(rows),
        }
    return shared_answer(request, rendered("boards/public/embed.html", context), HTML, benchmark=benchmark)


def _refused(context: dict[str, object], problem: str, status: int, *, retry_after: int = 0) -> HttpResponse:
    content = rendered("boards/public/embed.html", context | {"problem": problem})
    response = HttpResponse(content, content_type=HTML, status=status)
    response["Cache-Control"] = "no-store"
    if retry_after:
        response["Retry-After"] = str(retry_after)
    return response


FOUNDED = datetime(2026, 1, 1, tzinfo=UTC)  # of tags, and of a feed that has no entry yet
BY = "Plurank"
WEEKLY = "week"  # `?digest=week`


class BoardFeed(Atom1Feed):
    """An Atom feed that changes when its entries do, and at no other time."""

    def latest_post_date(self) -> datetime:
        """When the newest of it changed."""
        return max([self.feed["began"], *(item["updateddate"] for item in self.items)])


@require_safe
def feed(request: HttpRequest, key: str) -> HttpResponse:
    """The last boards of a benchmark; with `?digest=week` one entry for each week that is over."""
    benchmark, _ = open_benchmark(key)
    is_weekly = _is_weekly(request)
    page_url = site_address(reverse("board", args=[key]))
    title = gettext("%(benchmark)s on Plurank")
    subtitle = gettext("New boards of %(benchmark)s: what changed, and who leads under which rule.")
    if is_weekly:
        title = gettext("%(benchmark)s on Plurank, weekly")
        subtitle = gettext("New boards of %(benchmark)s, week by week: what changed, and who leads under which rule.")
    named = {"benchmark": benchmark.name}
    made = _feed(request, title % named, page_url, f"benchmark/{key}", benchmark.created_at)
    made.feed["subtitle"] = writable(subtitle % named)
    entries = weeks_of(benchmark, timezone.now()) if is_weekly else entries_of(benchmark)
    return _feed_answer(request, made, entries, benchmark)


@require_safe
def feed_of_all(request: HttpRequest) -> HttpResponse:
    """The last boards of all public benchmarks; with `?digest=week` one entry for each of them and each week."""
    is_weekly = _is_weekly(request)
    title = gettext("New boards on Plurank")
    subtitle = gettext("New boards of every public benchmark: what changed, and who leads under which rule.")
    if is_weekly:
        title = gettext("New boards on Plurank, weekly")
        subtitle = gettext(
            "New boards of every public benchmark, week by week: what changed, and who leads under which rule."
        )
    made = _feed(request, title, site_address(reverse("home")), "all", FOUNDED)
    made.feed["subtitle"] = subtitle
    return _feed_answer(request, made, weeks_of_all(timezone.now()) if is_weekly else entries_of_all(), None)


def _is_weekly(request: HttpRequest) -> bool:
    """Whether the boards of a week are one entry.

    Raises:
        BadRequest: another digest is asked for.
    """
    digest = request.GET.get("digest", "")
    if digest not in ("", WEEKLY):
        raise BadRequest(
            gettext("`digest` is %(weekly)s, or left out for every board, not %(digest)s.")
            % {"weekly": WEEKLY, "digest": repr(digest[:40])}
        )
    return digest == WEEKLY


def _feed(request: HttpRequest, title: str, page_url: str, what: str, began: datetime) -> BoardFeed:
    url = site_address(request.path)
    if _is_weekly(request):
        url, what = f"{url}?digest={WEEKLY}", f"{what}/weeks"
    return BoardFeed(
        writable(title),
        page_url,
        "",
        language=get_language(),
        author_name=BY,
        feed_url=url,
        feed_guid=_tag(what),
        began=began,
    )


def _feed_answer(
    request: HttpRequest, made: BoardFeed, entries: Sequence[FeedEntry | WeekEntry], benchmark: Benchmark | None
) -> HttpResponse:
    for entry in entries:
        board = site_address(reverse("board", args=[entry.benchmark.key]))
        made.add_item(
            writable(entry.title),  # older rows hold what is refused by now, and XML cannot carry
            f"{board}?revision={entry.number}",
            format_html_join("", "<p>{}</p>", ((writable(sentence),) for sentence in entry.sentences)),
            unique_id=_tag(entry.tag),
            pubdate=entry.published_at,
            updateddate=entry.updated_at,
        )
    content = made.writeString("utf-8")
    return shared_answer(request, content, made.content_type, benchmark=benchmark, updated=made.latest_post_date())


def _tag(what: str) -> str:
    """A permanent name (RFC 4151): the same by whatever address the site is asked."""
    return f"tag:{urlsplit(settings.SITE_URL).hostname or 'localhost'},{FOUNDED.year}:{what}"
