"""One search over benchmarks, systems, tasks, rules and pages, limited to what the reader can see."""

from dataclasses import dataclass

from django.db.models import Case, IntegerField, OuterRef, Q, QuerySet, Subquery, When
from django.urls import reverse
from django.utils.translation import gettext

from leaderboard.access.audience import DECIDING, Viewer, hides_nothing, listed_benchmarks
from leaderboard.common.language.engine import rule_name
from leaderboard.computing.rankings import site_rules
from leaderboard.models import Benchmark, Membership, System, SystemChange, Task
from ranking_engine import RULES
from ranking_engine.text.names import fold_name

MAX_TEXT, MIN_TEXT = 100, 2  # characters that are looked for
MAX_HITS = 8  # of each kind
MAX_NAMES = 200  # of systems whose names match; of these alone the site looks up whether they are on a board
PAGES = {
    "home": "Benchmarks", "rules": "Rules", "choose_rule": "Which rule?", "try": "Try a table",
    "try_votes": "Try votes", "compare": "Compare benchmarks", "landscape": "Landscape", "papers": "Papers",
    "status": "Status", "documents": "Documentation", "api:docs": "API", "new": "New benchmark",
    "dashboard": "Your page",
}  # fmt: skip
# The pages of a benchmark, which are offered with a benchmark's name.
TABS = {
    "scores": "Scores", "agreement": "Agreement", "head_to_head": "Head to head", "prospects": "Who can win",
    "what_if": "What if", "stability": "Stability", "history": "History",
}  # fmt: skip


@dataclass(frozen=True)
class Hit:
    """One thing that was found."""

    name: str
    about: str  # where it is
    url: str


@dataclass(frozen=True)
class Results:
    """What was found, by kind; kinds with nothing are left out."""

    text: str
    kinds: list[tuple[str, list[Hit]]]
    problem: str = ""


def search(viewer: Viewer, text: str) -> Results:
    """What is called so, of every kind; at most `MAX_HITS` of each: what is called exactly so, then what begins so.
    Kinds of which something is called exactly so come before the others.

    Systems and tasks are looked for on the boards that are listed for this reader and hide nothing from them.

    Args:
        viewer: who looks.
        text: words of a name.
    """
    text = text.replace("\0", "").strip()[:MAX_TEXT]  # PostgreSQL takes no NUL
    if not text:
        return Results("", [])
    if len(text) < MIN_TEXT:
        return Results(text, [], gettext("Type at least %(min_text)s characters.") % {"min_text": MIN_TEXT})
    folded = fold_name(text)
    listed = listed_benchmarks(viewer)
    matching = listed.filter(Q(searched_text__contains=text.casefold()) | Q(key__contains=text.lower()))
    begin = text.casefold()
    nearest = _nearest(
        Q(searched_text__startswith=f"{begin}\n") | Q(key=text.lower()),
        Q(searched_text__startswith=begin) | Q(key__startswith=text.lower()),
    )
    benchmarks = list(matching.order_by(nearest, "name", "key").values_list("key", "name")[:MAX_HITS])
    deciding = Membership.objects.filter(user=viewer.pk or 0, role__in=DECIDING).values("benchmark")
    whole = listed.filter(hides_nothing() | Q(pk__in=deciding)).order_by()
    nearest = _nearest(Q(name_folded=folded), Q(name_folded__startswith=folded))
    tasks = Task.objects.filter(benchmark__in=whole, name_folded__contains=folded, is_archived=False)
    tasks = tasks.exclude(benchmark__published_number=0).order_by(nearest, "name_folded", "pk")  # on a published board
    on_boards = tasks.values_list("benchmark__key", "benchmark__name", "key", "name")[:MAX_HITS]
    pages = [Hit(name, "", reverse(route)) for route, name in PAGES.items() if folded in fold_name(name)]
    for key, benchmark in benchmarks[:1]:
        for route, name in TABS.items():
            title = gettext("%(benchmark)s: %(name)s") % {"name": name, "benchmark": benchmark}
            pages.append(Hit(title, "", reverse(route, args=[key])))
    kinds = [
        ("Benchmarks", [Hit(name, "", reverse("board", args=[key])) for key, name in benchmarks]),
        ("Systems", _find_systems(whole, folded)),
        ("Tasks", [
            Hit(name, benchmark, reverse("task", args=[board, key])) for board, benchmark, key, name in on_boards
        ]),
        ("Rules", [
            Hit(rule_name(key), RULES[key].summary, reverse("rule_page", args=[key]))
            for key in sorted(site_rules(), key=lambda key: not fold_name(rule_name(key)).startswith(folded))
            if folded in fold_name(rule_name(key))
        ][:MAX_HITS]),
        ("Pages", pages[:MAX_HITS]),
    ]  # fmt: skip
    with_hits = [(kind, hits) for kind, hits in kinds if hits]
    # Of all hits the first is what Enter opens: a rule that is called so comes before systems that have it in a name.
    with_hits.sort(key=lambda part: all(fold_name(hit.name) != folded for hit in part[1]))
    return Results(text, with_hits)


def _nearest(exact: Q, beginning: Q) -> Case:
    """An order in which names that are the text come first, then those that begin with it, then all others."""
    return Case(When(exact, then=0), When(beginning, then=1), default=2, output_field=IntegerField())


def _find_systems(benchmarks: QuerySet[Benchmark], folded: str) -> list[Hit]:
    """Systems that are on the published board of one of these benchmarks, among the first names that match."""
    order = (_nearest(Q(name_folded=folded), Q(name_folded__startswith=folded)), "name_folded", "pk")
    matching = System.objects.filter(benchmark__in=benchmarks, name_folded__contains=folded)
    first = list(matching.order_by(*order).values_list("pk", flat=True)[:MAX_NAMES])
    changes = SystemChange.objects.filter(
        system=OuterRef("pk"), revision__number__lte=OuterRef("benchmark__published_number")
    ).order_by("-revision__number", "-pk")
    rows = System.objects.filter(pk__in=first)
    rows = rows.annotate(change=Subquery(changes.values("kind")[:1]), board_name=Subquery(changes.values("name")[:1]))
    rows = rows.order_by(*order)
    hits = rows.values_list("benchmark__key", "benchmark__name", "key", "board_name", "change")
    return [
        Hit(name, benchmark, reverse("system", args=[board, key]))
        for board, benchmark, key, name, change in hits
        if change not in (None, SystemChange.Kind.LEFT)
    ][:MAX_HITS]
