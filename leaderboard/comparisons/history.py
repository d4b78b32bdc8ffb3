"""The history of a benchmark: every revision, what it changed, and because of whom."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Min, Q
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import Audience
from leaderboard.access.audit import Change, changes_between
from leaderboard.common.language.numbers import localise
from leaderboard.common.language.stored import in_english
from leaderboard.comparisons.iia_violations import stored_iia_violations
from leaderboard.models import Benchmark, Release, Revision, SubmissionEvent, Task, User
from leaderboard.rankings.configuration import BoardConfiguration, configuration_of
from leaderboard.rankings.revisions import revisions_of, revisions_where

PAGE_REVISIONS = 50
SHOWN_CHANGES = 12
CORRECTED = "corrected"
MOVES: dict[str, str] = {
    SubmissionEvent.Kind.ACCEPTED: gettext_noop("%(what)s accepted"),
    SubmissionEvent.Kind.WITHDRAWN: gettext_noop("%(what)s withdrawn"),
    SubmissionEvent.Kind.REINSTATED: gettext_noop("%(what)s reinstated"),
    CORRECTED: gettext_noop("%(what)s corrected"),
}


@dataclass(frozen=True)
class PastRevision:
    """One revision in the history."""

    number: int
    at: datetime
    cause: str
    who: str
    accepted_by: str  # who accepted the scores, where that is not who submitted them
    note: str
    systems: list[str]  # what happened to systems, in words
    iia_violations: str  # whether others changed their order because of it, in words
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
    revisions = Paginator(rows, PAGE_REVISIONS).get_page(page)
    rows_here = list(revisions)
    older = rows.filter(number=rows_here[-1].number - 1).first() if rows_here else None
    lines = _lines([(benchmark, audience)], rows_here, [*rows_here, *([older] if older else [])])
    return [lines[row.pk] for row in rows_here], revisions


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
    numbers_of = {benchmark.pk: set(numbers) for benchmark, _, numbers in wanted}
    rows = [row for row in with_older if row.number in numbers_of[row.benchmark_id]]
    lines = _lines([(benchmark, audience) for benchmark, audience, _ in wanted], rows, with_older)
    lines_of: dict[int, dict[int, PastRevision]] = defaultdict(dict)
    for row in rows:
        lines_of[row.benchmark_id][row.number] = lines[row.pk]
    return lines_of


def _lines(
    benchmarks: Sequence[tuple[Benchmark, Audience]], rows: Sequence[Revision], with_older: Sequence[Revision]
) -> dict[int, PastRevision]:
    """What the history says of revisions, by their ids.

    Args:
        benchmarks: whose revisions, each with who sees it.
        rows: the revisions.
        with_older: these and the one before each.
    """
    before = {(row.benchmark_id, row.number + 1): row for row in with_older}
    hides = {b.pk: not (audience.sees_others and audience.sees_names) for b, audience in benchmarks}
    # What happened to systems at each revision: a name where it was one, else how many.
    counted = (
        SubmissionEvent.objects.filter(revision__in=[row.pk for row in rows if not hides[row.benchmark_id]])
        .order_by()
        .annotate(is_correction=Q(submission__corrects__isnull=False))
        .values("revision", "kind", "is_correction")
        .annotate(n=Count("pk"), name=Min("submission__system__name"), decider=Min("actor"))
    )
    moves: dict[int, list[str]] = defaultdict(list)
    deciders: dict[int, int] = {}
    for line in counted:
        if line["kind"] == SubmissionEvent.Kind.ACCEPTED and line["decider"] is not None:
            deciders[line["revision"]] = line["decider"]
        what = line["name"] if line["n"] == 1 else gettext("%(n)s systems") % {"n": localise(line["n"], ",")}
        is_corrected = line["is_correction"] and line["kind"] == SubmissionEvent.Kind.ACCEPTED
        sentence = MOVES.get(CORRECTED if is_corrected else line["kind"], f"%(what)s {line['kind']}")
        moves[line["revision"]].append(gettext(sentence) % {"what": what})
    others = {pk for row in rows if (pk := deciders.get(row.pk)) is not None and pk != row.author_id}
    users = User.objects.in_bulk(others) if others else {}
    releases: dict[int, list[Release]] = defaultdict(list)
    for release in Release.objects.filter(revision__in=[row.pk for row in rows]):
        releases[release.revision_id].append(release)
    default_rules = {b.pk: b.default_rule for b, audience in benchmarks if not audience.is_restricted}
    rules = {row.pk: default_rules[row.benchmark_id] for row in rows if row.benchmark_id in default_rules}
    violations = stored_iia_violations(rules)
    past: dict[int, PastRevision] = {}
    for row in rows:
        older = before.get((row.benchmark_id, row.number))
        changes: list[str] = []
        if older is not None and older.configuration_id != row.configuration_id:
            changes = configuration_changes(configuration_of(older), configuration_of(row))
        # What the owners did with the settings is said in any case.
        is_signed = not hides[row.benchmark_id] or row.cause == Revision.Cause.CONFIGURATION
        past[row.pk] = PastRevision(
            number=row.number,
            at=row.created_at,
            cause=gettext("scores accepted") if row.cause == Revision.Cause.BATCH else row.get_cause_display(),
            who=row.author.shown_name if row.author and is_signed else "",
            accepted_by=users[pk].shown_name if (pk := deciders.get(row.pk)) in users else "",
            note=row.note if is_signed else "",
            systems=moves[row.pk],
            iia_violations=violations.get(row.pk, ""),
            changes=changes[:SHOWN_CHANGES],
            n_more_changes=max(0, len(changes) - SHOWN_CHANGES),
            releases=releases[row.pk],
            is_published=bool(row.publications.all()) and row.withdrawn_at is None,
            withdrawn_at=row.withdrawn_at,
            ranks_removed_at=row.ranks_removed_at,
        )
    return past


def configuration_changes(older: BoardConfiguration, newer: BoardConfiguration) -> list[str]:
    """What differs between two configurations, in words, one line a change."""
    old, new = older.content, newer.content
    lines = []
    words = (
        ("groups", gettext("group %(name)s is new"), gettext("group %(name)s is left out"),
         gettext("%(field)s of group %(name)s: %(change)s")),
        ("tasks", gettext("task %(name)s is new"), gettext("task %(name)s is left out"),
         gettext("%(field)s of task %(name)s: %(change)s")),
    )  # fmt: skip
    for kind, is_new, is_left_out, differs in words:
        before, after = ({entry["key"]: _in_words(entry) for entry in content[kind]} for content in (old, new))
        for key in dict.fromkeys([*after, *before]):
            if key not in before:
                lines.append(is_new % {"name": after[key]["name"]})
            elif key not in after:
                lines.append(is_left_out % {"name": before[key]["name"]})
            else:
                changes = changes_between(kind, key, before[key], after[key])
                lines += [
                    differs % {"field": change.field, "name": after[key]["name"], "change": _arrow(change)}
                    for change in changes
                ]
    rest = dict.fromkeys([*(name for name in new if name not in {"groups", "tasks"}), "variants"])
    settings = changes_between("setting", "", {n: old.get(n) for n in rest}, {n: new.get(n) for n in rest})
    lines += [f"{change.field.replace('_', ' ')}: {_arrow(change)}" for change in settings]
    return lines or [gettext("the order of the tasks")]


def _in_words(entry: dict[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in entry.items() if name not in {"id", "key"}}
    if "direction" in fields:
        fields["direction"] = in_english(Task.Direction(fields["direction"]).label)
    return fields


def _arrow(change: Change) -> str:
    return f"{change.before or gettext('nothing')} → {change.after or gettext('nothing')}"
