"""The audit trail of a benchmark as its owners read it: changes, decisions about submissions, people, by filters."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from heapq import merge
from itertools import groupby, islice
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from leaderboard.models import AuditEntry, Benchmark, Release, SubmissionEvent, User

PAGE_LINES = 100
MOST_LINES = 20_000  # of an export
SUBMISSION = "submission"
SUBJECTS = [*AuditEntry.Subject.choices, (SUBMISSION, "submission")]


@dataclass(frozen=True)
class AuditQuery:
    """Which lines are asked for; empty means all."""

    subject: str = ""
    who: str = ""  # the number of a user
    of: str = ""  # words in what was changed

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> "AuditQuery":
        """What an address asks for."""
        who = parameters.get("who", "")
        subject = parameters.get("subject", "")
        return cls(
            subject=subject if subject in dict(SUBJECTS) else "",
            who=who if who.isascii() and who.isdigit() and len(who) < 10 else "",
            of=parameters.get("of", "").strip()[:80],
        )

    def address(self) -> str:
        """As the end of an address."""
        stated = {name: value for name, value in asdict(self).items() if value}
        return f"?{urlencode(stated)}" if stated else ""


@dataclass(frozen=True)
class AuditLine:
    """One change."""

    at: datetime
    who: str
    subject: str
    of: str
    field: str
    before: str
    after: str
    revision: int | None
    reason: str
    batch: UUID | None = None  # whose page tells of a submission
    corrected: UUID | None = None  # the batch of what it corrects
    sentence: str = ""  # what was done, where subject and field do not say it by themselves


def audit_rows(benchmark: Benchmark, query: AuditQuery) -> list[AuditLine]:
    """The lines that a query asks for, newest first; at most MOST_LINES."""
    both = merge(_entries(benchmark, query), _events(benchmark, query), key=lambda line: line.at, reverse=True)
    return list(islice(both, MOST_LINES))


def audit_page(benchmark: Benchmark, query: AuditQuery, page: str | None) -> dict[str, Any]:
    """One page of the trail, with the choices of its filters."""
    number = max(1, int(page)) if page and page.isascii() and page.isdigit() and len(page) < 5 else 1
    first = (number - 1) * PAGE_LINES
    both = merge(_entries(benchmark, query), _events(benchmark, query), key=lambda line: line.at, reverse=True)
    lines = list(islice(both, first, first + PAGE_LINES + 1))
    actors = AuditEntry.objects.filter(benchmark=benchmark).values("actor")
    deciders = SubmissionEvent.objects.filter(submission__benchmark=benchmark).values("actor")
    people = User.objects.filter(pk__in=actors) | User.objects.filter(pk__in=deciders)
    end = query.address()
    step = f"{end}&page=" if end else "?page="
    return {
        "lines": lines[:PAGE_LINES],
        "query": query,
        "subjects": SUBJECTS,
        "people": people.distinct().order_by("display_name", "pk"),
        "newer_url": f"{step}{number - 1}" if number > 1 else "",
        "older_url": f"{step}{number + 1}" if len(lines) > PAGE_LINES else "",
    }


def _entries(benchmark: Benchmark, query: AuditQuery) -> Any:  # noqa: ANN401 -- an iterator of lines
    rows = AuditEntry.objects.filter(benchmark=benchmark).select_related("actor", "revision").order_by("-at", "-pk")
    if query.subject:
        rows = rows.filter(subject=query.subject)
    if query.who:
        rows = rows.filter(actor=int(query.who))
    if query.of:
        rows = rows.filter(of__icontains=query.of)
    people: dict[str, str] = {}
    frozen: dict[str, str] = {}  # names of frozen revisions by key
    for row in rows.iterator(chunk_size=500):
        is_person = row.subject == AuditEntry.Subject.PERSON
        if is_person and row.of not in people:
            found = User.objects.filter(pk=int(row.of)).first()
            people[row.of] = found.shown_name if found else f"user {row.of}"
        if row.subject == AuditEntry.Subject.RELEASE and not frozen:
            frozen = dict(Release.objects.filter(benchmark=benchmark).values_list("key", "name"))
        yield AuditLine(
            at=row.at,
            who=row.actor.shown_name if row.actor else "",
            subject=row.get_subject_display(),
            of=people[row.of] if is_person else row.of,
            field=row.field,
            before=row.before,
            after=row.after,
            revision=row.revision.number if row.revision else None,
            reason=row.reason,
            sentence=_sentence(row, frozen),
        )


def _sentence(row: AuditEntry, frozen: Mapping[str, str]) -> str:
    """What was done, of what is done once and has no state before; empty of changes from one state to another."""
    if row.subject == AuditEntry.Subject.RELEASE:
        return f"Froze revision {row.after} as {frozen.get(row.of, row.of)}"
    if row.subject == AuditEntry.Subject.BENCHMARK and row.field == "created":
        return "Created the benchmark"
    return ""


def _events(benchmark: Benchmark, query: AuditQuery) -> Any:  # noqa: ANN401 -- an iterator of lines
    """What happened to submissions, which have a trail of their own: a line for what was decided together."""
    if query.subject not in ("", SUBMISSION):
        return
    rows = SubmissionEvent.objects.filter(submission__benchmark=benchmark)
    rows = rows.select_related("actor", "revision", "submission__system", "submission__batch")
    rows = rows.select_related("submission__corrects__batch").order_by("-at", "-pk")
    if query.who:
        rows = rows.filter(actor=int(query.who))
    if query.of:
        rows = rows.filter(submission__system__name__icontains=query.of)

    def whole(row: SubmissionEvent) -> tuple[object, ...]:
        return (row.submission.batch_id, row.kind, row.revision_id, row.actor_id, row.reason)

    for _, together in groupby(rows.iterator(chunk_size=500), key=whole):
        row, *others = together
        yield AuditLine(
            at=row.at,
            who=row.actor.shown_name if row.actor else "",
            subject=SUBMISSION,
            of=f"{1 + len(others):,} systems" if others else row.submission.system.name,
            field="correction" if row.submission.corrects else "decision",
            before=f"of submission {row.submission.corrects.uuid}" if row.submission.corrects else "",
            after=row.kind,
            revision=row.revision.number if row.revision else None,
            reason=row.reason,
            batch=row.submission.batch.uuid,
            corrected=row.submission.corrects.batch.uuid if row.submission.corrects else None,
        )
