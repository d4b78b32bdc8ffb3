"""What a benchmark was: its revisions, and those that were frozen."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.common.files import csv_response
from leaderboard.common.paging import page_links
from leaderboard.common.text import whole_number
from leaderboard.comparisons.history import history_page
from leaderboard.comparisons.rank_history import rank_history
from leaderboard.comparisons.revisions import RevisionChanges, RuleMoves, revision_changes
from leaderboard.models import Benchmark, Revision
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.revisions import WithdrawnRevisionError, revision_at, whole_revisions
from leaderboard.rankings.scores import systems_at
from ranking_engine import RULES


@require_safe
def history(request: HttpRequest, key: str) -> HttpResponseBase:
    """The revisions, newest first: what each changed, and because of whom."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    revisions, page = history_page(benchmark, audience, request.GET.get("page"))
    is_open = not audience.is_restricted
    rule = request.GET.get("rule", "") or benchmark.default_rule
    if rule not in RULES:
        raise BadRequest(f"There is no rule {rule[:60]!r}.")
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
        "ranks": ranks,
        "ranks_csv_url": f"?rule={rule}&format=csv",
        "pages": page_links(page),
    }
    return render(request, "comparisons/history.html", context)


@require_safe
def history_compare(request: HttpRequest, key: str) -> HttpResponseBase:
    """What changed from `?from=` to `?to=`; without them, what the newest revision changed.

    Revisions whose scores were taken down since are compared with nothing: where no number is asked for, they are
    passed over.
    """
    benchmark, audience = readable_benchmark(request.user, key)
    if not benchmark.last_revision_number:
        return render(request, "comparisons/history_compare.html", {"benchmark": benchmark})
    ends = []
    for name in ("from", "to"):
        text = request.GET.get(name, "")
        if text and whole_number(text) is None:
            raise BadRequest(f"`from` and `to` are numbers of revisions, not {text[:40]!r}.")
        ends.append(whole_number(text))
    whole = whole_revisions(benchmark)
    last = ends[1] or _newest(whole) or benchmark.last_revision_number
    first = ends[0] or _newest(whole.filter(number__lt=last)) or last
    numbers = min(first, last), max(first, last)
    if not may_ask(request):
        return render(request, "429.html", status=429)
    older, newer = (revision_at(benchmark, number) for number in numbers)
    rule = request.GET.get("rule", "") or benchmark.default_rule
    if rule not in RULES:
        raise BadRequest(f"There is no rule {rule[:60]!r}.")
    try:
        changes = revision_changes(benchmark, older, newer, rule=rule, audience_level=audience.level)
    except TooLargeError as error:
        return render(request, "common/too_large.html", {"benchmark": benchmark, "reason": error}, status=422)
    except WithdrawnRevisionError as error:
        context = {"benchmark": benchmark, "withdrawn": str(error), "others": _others(benchmark, numbers)}
        return render(request, "comparisons/history_compare.html", context, status=410)
    if request.GET.get("format") == "csv":
        rows = [[move.system.name, move.before or "", move.after or ""] for move in changes.moves]
        head: list[object] = ["system", f"revision_{older.number}", f"revision_{newer.number}"]
        return csv_response(request, f"{key}-{older.number}-{newer.number}-{changes.chosen}", [head, *rows])
    return render(request, "comparisons/history_compare.html", _context(benchmark, changes))


def _newest(rows: QuerySet[Revision]) -> int | None:
    return rows.values_list("number", flat=True).first()


def _others(benchmark: Benchmark, numbers: tuple[int, int]) -> list[tuple[int, int, str]]:
    """Revisions near these that can be compared, with the address: those before, those after."""
    whole = whole_revisions(benchmark)
    before = list(whole.filter(number__lte=numbers[1]).values_list("number", flat=True)[:2])[::-1]
    after = list(whole.filter(number__gte=numbers[0]).order_by("number").values_list("number", flat=True)[:2])
    path = reverse("history_compare", args=[benchmark.key])
    pairs = dict.fromkeys((pair[0], pair[1]) for pair in (before, after) if len(pair) == 2)
    return [(older, newer, f"{path}?{urlencode({'from': older, 'to': newer})}") for older, newer in pairs]


def _context(benchmark: Benchmark, changes: RevisionChanges) -> dict[str, Any]:
    path = reverse("history_compare", args=[benchmark.key])
    whole, older, newer = whole_revisions(benchmark), changes.older.number, changes.newer.number
    are_next = not whole.filter(number__gt=older, number__lt=newer).exists()
    previous = _newest(whole.filter(number__lt=older)) if are_next else None
    following = whole.filter(number__gt=newer).order_by("number") if are_next else whole.none()
    after = _newest(following)

    def address(**fields: object) -> str:
        parameters = {"from": changes.older.number, "to": changes.newer.number} | fields
        return f"{path}?{urlencode(parameters)}"

    return {
        "benchmark": benchmark,
        "changes": changes,
        "rules": [
            replace(rule, is_chosen=rule.rule == changes.chosen, url=address(rule=rule.rule) + "#moves")
            for rule in sorted(changes.rules, key=_most_moved_first)
        ],
        "csv_url": address(rule=changes.chosen, format="csv"),
        "previous_url": address(**{"from": previous, "to": older}) if previous else "",
        "next_url": address(**{"from": newer, "to": after}) if after else "",
        "passed_over": list(range(older + 1, newer)) if are_next else [],
    }


def _most_moved_first(rule: RuleMoves) -> tuple[int, bool]:
    """Where a rule stands in the table: by the number that moved, then those whose first place changed."""
    return -rule.n_moved, rule.first_before == rule.first_after
