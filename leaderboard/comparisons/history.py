"""The history of a benchmark: every revision, what it changed, and because of whom."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Min, Q

from leaderboard.access.audience import Audience
from leaderboard.access.audit import Change, changes_between
from leaderboard.comparisons.flips import flips_in_words
from leaderboard.models import Benchmark, Release, Report, Revision, SubmissionEvent, Task
from leaderboard.queue.kinds import AXIOMS
from leaderboard.rankings.revisions import revisions_of, revisions_where

PAGE_REVISIONS = 50
SHOWN_CHANGES = 12
VERBS: dict[str, str] = {
    SubmissionEvent.Kind.ACCEPTED: "accepted",
    SubmissionEvent.Kind.WITHDRAWN: "withdrawn",
    SubmissionEvent.Kind.REINSTATED: "reinstated",
}


@dataclass(frozen=True)
class PastRevision:
    """One revision in the history."""

    number: int
    at: datetime
    cause: str
    who: str
    note: str
    systems: list[str]  # what happened to systems, in words
    flips: str  # whether others changed their order because of it, in words
    changes: list[str]  # what became of the configuration, in words; the first of them
    n_more_changes: int
    releases: list[Release]
    is_published: bool  # whether its board was published, and can be looked at or computed again
    withdrawn_at: datetime | None  # when scores in it were taken down
    ranks_removed_at: datetime | None  # when retention removed its ranks


def history_page(benchmark: Benchmark, audience: Audience, page: str | None) -> tuple[list[PastRevision], Page]:
    """One page of the revisions, newest first, as `audience` may see them.

    Who submitted what, and what they say of it, is hidden with the names and the ranks of the systems.
    """
    rows = revisions_of(benchmark).select_related("configuration")
    found = Paginator(rows, PAGE_REVISIONS).get_page(page)
    shown = list(found)
    older = rows.filter(number=shown[-1].number - 1).first() if shown else None
    lines = _lines([(benchmark, audience)], shown, [*shown, *([older] if older else [])])
    return [lines[row.pk] for row in shown], found


def past_revisions(
    wanted: Sequence[tuple[Benchmark, Audience, Collection[int]]],
) -> dict[int, dict[int, PastRevision]]:
    """Some of the revisions of benchmarks: by the benchmark's id, then by number.

    Args:
        wanted: benchmarks, each with who sees it and the numbers of the revisions; as many queries for many as for one.
    """
    of_each = [Q(benchmark=b, number__in={*numbers, *(n - 1 for n in numbers)}) for b, _, numbers in wanted]
    if not of_each:
        return {}
    with_older = list(revisions_where(reduce(or_, of_each)).select_related("configuration"))
    asked = {benchmark.pk: set(numbers) for benchmark, _, numbers in wanted}
    shown = [row for row in with_older if row.number in asked[row.benchmark_id]]
    lines = _lines([(benchmark, audience) for benchmark, audience, _ in wanted], shown, with_older)
    found: dict[int, dict[int, PastRevision]] = defaultdict(dict)
    for row in shown:
        found[row.benchmark_id][row.number] = lines[row.pk]
    return found


def _lines(
    benchmarks: Sequence[tuple[Benchmark, Audience]], shown: Sequence[Revision], with_older: Sequence[Revision]
) -> dict[int, PastRevision]:
    """What the history says of revisions, by their ids.

    Args:
        benchmarks: whose revisions, each with who sees it.
        shown: the revisions.
        with_older: these and the one before each.
    """
    before = {(row.benchmark_id, row.number + 1): row for row in with_older}
    hides = {b.pk: not (audience.sees_others and audience.sees_names) for b, audience in benchmarks}
    moves = _moves([row for row in shown if not hides[row.benchmark_id]])
    releases: dict[int, list[Release]] = defaultdict(list)
    for release in Release.objects.filter(revision__in=[row.pk for row in shown]):
        releases[release.revision_id].append(release)
    flips = _flips({b.pk: b.default_rule for b, audience in benchmarks if not audience.is_restricted}, shown)
    lines: dict[int, PastRevision] = {}
    for row in shown:
        older = before.get((row.benchmark_id, row.number))
        line = replace(_line(row, older, moves[row.pk], releases[row.pk]), flips=flips.get(row.pk, ""))
        lines[row.pk] = _quiet(line, row) if hides[row.benchmark_id] else line
    return lines


def _quiet(line: PastRevision, row: Revision) -> PastRevision:
    is_the_owners = row.cause == Revision.Cause.CONFIGURATION
    return line if is_the_owners else replace(line, who="", note="")


def _flips(default_rules: Mapping[int, str], rows: Sequence[Revision]) -> dict[int, str]:
    """Whether others changed their order because of each revision, in words, where that was computed.

    Args:
        default_rules: of the benchmarks of which it may be told, by their ids.
        rows: revisions.
    """
    rules = {row.pk: default_rules[row.benchmark_id] for row in rows if row.benchmark_id in default_rules}
    reports = Report.objects.filter(kind=AXIOMS, revision__in=rules).defer("arrays")
    return {
        report.revision_id: flips_in_words(report.summary.get("flips", {}), rules[report.revision_id])
        for report in reports.order_by("pk")
    }


def _line(row: Revision, before: Revision | None, systems: list[str], releases: list[Release]) -> PastRevision:
    changes: list[str] = []
    if before is not None and before.configuration_id != row.configuration_id:
        changes = configuration_changes(before.configuration.content, row.configuration.content)
    return PastRevision(
        number=row.number,
        at=row.created_at,
        cause=row.get_cause_display(),
        who=row.author.shown_name if row.author else "",
        note=row.note,
        systems=systems,
        flips="",
        changes=changes[:SHOWN_CHANGES],
        n_more_changes=max(0, len(changes) - SHOWN_CHANGES),
        releases=releases,
        is_published=bool(row.publications.all()) and row.withdrawn_at is None,
        withdrawn_at=row.withdrawn_at,
        ranks_removed_at=row.ranks_removed_at,
    )


def _moves(rows: Sequence[Revision]) -> dict[int, list[str]]:
    """What happened to systems at each revision: a name where it was one, else how many."""
    counted = (
        SubmissionEvent.objects.filter(revision__in=[row.pk for row in rows])
        .order_by()
        .annotate(is_correction=Q(submission__corrects__isnull=False))
        .values("revision", "kind", "is_correction")
        .annotate(n=Count("pk"), name=Min("submission__system__name"))
    )
    found: dict[int, list[str]] = defaultdict(list)
    for line in counted:
        what = line["name"] if line["n"] == 1 else f"{line['n']:,} systems"
        is_corrected = line["is_correction"] and line["kind"] == SubmissionEvent.Kind.ACCEPTED
        verb = "corrected" if is_corrected else VERBS.get(line["kind"], line["kind"])
        found[line["revision"]].append(f"{what} {verb}")
    return found


def configuration_changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What differs between two configurations, in words, one line a change."""
    lines = []
    for kind, name in (("groups", "group"), ("tasks", "task")):
        before, after = ({entry["key"]: _in_words(entry) for entry in content[kind]} for content in (old, new))
        for key in dict.fromkeys([*after, *before]):
            if key not in before:
                lines.append(f"{name} {after[key]['name']} is new")
            elif key not in after:
                lines.append(f"{name} {before[key]['name']} is left out")
            else:
                found = changes_between(kind, key, before[key], after[key])
                lines += [f"{change.field} of {name} {after[key]['name']}: {_arrow(change)}" for change in found]
    rest = [name for name in new if name not in {"groups", "tasks"}]
    settings = changes_between("setting", "", {n: old.get(n) for n in rest}, {n: new[n] for n in rest})
    lines += [f"{change.field.replace('_', ' ')}: {_arrow(change)}" for change in settings]
    return lines or ["the order of the tasks"]


def _in_words(entry: dict[str, Any]) -> dict[str, Any]:
    told = {name: value for name, value in entry.items() if name not in {"id", "key"}}
    if "direction" in told:
        told["direction"] = Task.Direction(told["direction"]).label
    return told


def _arrow(change: Change) -> str:
    return f"{change.before or 'nothing'} → {change.after or 'nothing'}"
