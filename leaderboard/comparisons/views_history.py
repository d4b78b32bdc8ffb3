"""What a benchmark was: its revisions, and those that were frozen."""

from urllib.parse import urlencode

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.common.files import csv_response
from leaderboard.common.paging import page_links
from leaderboard.common.text import whole_number
from leaderboard.comparisons.history import history_page
from leaderboard.comparisons.rank_history import rank_history
from leaderboard.comparisons.revisions import revision_changes
from leaderboard.comparisons.revisions_page import RevisionsPage, newest
from leaderboard.comparisons.since import VISIT, last_visit, revision_then, start_of
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.configuration import has_rule
from leaderboard.rankings.revisions import WithdrawnRevisionError, revision_at, whole_revisions
from leaderboard.rankings.scores import systems_at


@require_safe
def history(request: HttpRequest, key: str) -> HttpResponseBase:
    """The revisions, newest first: what each changed, and because of whom."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    revisions, page = history_page(benchmark, audience, request.GET.get("page"))
    is_open = not audience.is_restricted
    rule = request.GET.get("rule", "") or benchmark.default_rule
    if not has_rule(benchmark, rule):
        raise BadRequest(gettext("There is no rule %(rule)s.") % {"rule": repr(rule[:60])})
    ranks = None
    if is_open and page.number == 1 and benchmark.publication is not None:
        ranks = rank_history(benchmark, systems_at(benchmark.publication.revision), rule)
        if ranks is not None and request.GET.get("format") == "csv":
            rows = [[system.name, *texts] for system, texts in ranks.rows]
            return csv_response(request, f"{key}-ranks-{rule}", [["system", *ranks.numbers], *rows])
    context = {
        "benchmark": benchmark,
        "may_administer": audience.may_administer,
        "revisions": revisions,
        "is_open": is_open,
        "visited_at": last_visit(request.user, benchmark) if is_open else None,
        "ranks": ranks,
        "ranks_csv_url": f"?{urlencode({'rule': rule, 'format': 'csv'})}",
        "pages": page_links(page),
    }
    return render(request, "comparisons/history.html", context)


@require_safe
def history_compare(request: HttpRequest, key: str) -> HttpResponseBase:
    """What changed from `?from=` to `?to=`; without them, what the newest revision changed.

    With `?since=week`, `month` or `visit`, what changed since then. Revisions whose scores were taken down since are
    compared with nothing: where no number is asked for, they are passed over.
    """
    benchmark, audience = readable_benchmark(request.user, key)
    if not benchmark.last_revision_number:
        return _revisions_page(request, RevisionsPage(benchmark))
    ends = []
    for name in ("from", "to"):
        text = request.GET.get(name, "")
        if text and whole_number(text) is None:
            raise BadRequest(
                gettext("`from` and `to` are numbers of revisions, not %(text)s.") % {"text": repr(text[:40])}
            )
        ends.append(whole_number(text))
    whole = whole_revisions(benchmark)
    if since := request.GET.get("since", ""):
        if since == VISIT and not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        start = start_of(since, request.user, benchmark)
        if start is None:
            raise BadRequest(
                gettext("You did not look at this board before this visit.")
                if since == VISIT
                else gettext("`since` is week, month or visit, not %(since)s.") % {"since": repr(since[:40])}
            )
        ends = [revision_then(benchmark, start), benchmark.published_number or None]
    last = ends[1] or newest(whole) or benchmark.last_revision_number
    first = ends[0] or newest(whole.filter(number__lt=last)) or last
    numbers = min(first, last), max(first, last)
    if not may_ask(request):
        return render(request, "429.html", status=429)
    older, newer = (revision_at(benchmark, number) for number in numbers)
    rule = request.GET.get("rule", "") or benchmark.default_rule
    if not has_rule(benchmark, rule):
        raise BadRequest(gettext("There is no rule %(rule)s.") % {"rule": repr(rule[:60])})
    try:
        changes = revision_changes(benchmark, older, newer, rule=rule, audience_level=audience.level)
    except TooLargeError as error:
        return render(request, "common/too_large.html", {"benchmark": benchmark, "reason": error}, status=422)
    except WithdrawnRevisionError as error:
        return _revisions_page(request, RevisionsPage(benchmark, numbers, withdrawn=str(error)), status=410)
    if request.GET.get("format") == "csv":
        rows = [[move.system.name, move.before or "", move.after or ""] for move in changes.moves]
        head: list[object] = ["system", f"revision_{older.number}", f"revision_{newer.number}"]
        return csv_response(request, f"{key}-{older.number}-{newer.number}-{changes.chosen}", [head, *rows])
    return _revisions_page(request, RevisionsPage(benchmark, numbers, changes))


def _revisions_page(request: HttpRequest, page: RevisionsPage, status: int = 200) -> HttpResponse:
    context = {"benchmark": page.benchmark, "page": page, "changes": page.changes}
    return render(request, "comparisons/history_compare.html", context, status=status)
