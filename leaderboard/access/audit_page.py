"""The audit trail of a benchmark as its owners read it: changes, decisions about submissions, people, by filters.

Changes and decisions are rows of two tables. Both are read from the newest on, a part at a time, and a page begins
behind the last row of each that the page before showed. So the last page costs what the first one does.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext, gettext_lazy

from leaderboard.access.setting_names import SETTING_NAMES
from leaderboard.common.files import spreadsheet_csv_text
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import whole_number
from leaderboard.models import AuditEntry, Benchmark, Membership, Release, SubmissionEvent, User
from leaderboard.models.people import nameless

PAGE_LINES = 100
FILE_LINES = 1000  # that are read at once for a file
READ_EVENTS = 20_000  # a page ends where it has read so many: one decision may be about thousands of systems
FILE_HEADER = ("at", "who", "subject", "of", "field", "before", "after", "revision", "reason")
SHOWN_PEOPLE = 200
RECENT = 2_000  # rows of each kind in which people are looked for
SUBMISSION = "submission"
REQUESTS = (SubmissionEvent.Kind.ASKED, SubmissionEvent.Kind.CANCELLED)  # of a submitter, where no one decided
ADDRESSES = (AuditEntry.Subject.ADDRESS, AuditEntry.Subject.WEBHOOK)
SUBJECTS = [*AuditEntry.Subject.choices, (SUBMISSION, gettext_lazy("submission"))]


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
            who=who if whole_number(who) is not None else "",
            of=parameters.get("of", "").strip()[:80],
        )

    def address(self, **more: str) -> str:
        """As the end of an address."""
        fields = {name: value for name, value in (asdict(self) | more).items() if value}
        return f"?{urlencode(fields)}" if fields else ""


@dataclass(frozen=True)
class Position:
    """A place in the trail: behind these two rows, each the last one of its table; None is before the first row."""

    entry: int | None = None
    event: int | None = None

    @classmethod
    def read(cls, text: str) -> "Position | None":
        """The place that `text` names, the beginning where it is empty; None where it names none."""
        match = re.fullmatch(r"(?:e([0-9]{1,18}))?(?:s([0-9]{1,18}))?", text, re.ASCII)
        return cls(*(None if number is None else int(number) for number in match.groups())) if match else None

    @property
    def text(self) -> str:
        """As an address says it."""
        entry, event = ("" if number is None else str(number) for number in (self.entry, self.event))
        return (f"e{entry}" if entry else "") + (f"s{event}" if event else "")


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
    event: str = ""  # what happened to a submission, as pages say it; `after` is the same as it is stored
    sentence: str = ""  # what was done, where subject and field do not say it by themselves
    setting: str = ""  # what pages call the setting that is changed; `of` is its name for programs

    @property
    def what(self) -> str:
        """What was changed, as the page says it."""
        of = gettext("“%(name)s”") % {"name": self.setting} if self.setting else self.of
        field = "" if self.field == "value" else f": {gettext('URL') if self.field == 'address' else self.field}"
        return f"{self.subject} {of}{field}"


@dataclass(frozen=True)
class _Decision:
    """Events of one batch that were written together."""

    newest: int
    oldest: int
    n_systems: int


_Row = AuditEntry | _Decision


def audit_lines(
    benchmark: Benchmark, query: AuditQuery, start: Position, *, most: int
) -> tuple[list[AuditLine], Position | None]:
    """Lines of the trail, newest first, and where the older ones begin; None where there are none.

    Args:
        benchmark: whose trail.
        query: which lines.
        start: where to begin.
        most: how many lines.
    """
    rows: list[_Row] = []
    end, n_events = start, 0
    own = AuditEntry.objects.filter(benchmark=benchmark).select_related("actor", "revision").order_by("-pk")
    if query.subject:
        own = own.filter(subject=query.subject)
    if query.who:
        own = own.filter(actor=int(query.who))
    if query.of:
        words = query.of.casefold()
        settings = [name for name, called in SETTING_NAMES.items() if words in str(called).casefold()]
        own = own.filter(Q(of__icontains=query.of) | Q(subject=AuditEntry.Subject.SETTING, of__in=settings))
    entries = ((entry.at, entry) for entry in _in_parts(own, start.entry, most + 1))
    both: Iterator[tuple[datetime, _Row]] = merge(
        entries, _decisions(benchmark, query, start), key=itemgetter(0), reverse=True
    )
    for _, row in both:
        if len(rows) == most or n_events >= READ_EVENTS:
            return _lines(benchmark, rows), end
        rows.append(row)
        if isinstance(row, AuditEntry):
            end = replace(end, entry=row.pk)
        else:
            end = replace(end, event=row.oldest)
            n_events += row.n_systems
    return _lines(benchmark, rows), None


def audit_csv(benchmark: Benchmark, query: AuditQuery) -> Iterator[str]:
    """Every line that a query asks for as a CSV file, newest first: parts of it, each made when it is asked for."""
    yield spreadsheet_csv_text([FILE_HEADER])
    start: Position | None = Position()
    while start is not None:
        lines, start = audit_lines(benchmark, query, start, most=FILE_LINES)
        yield spreadsheet_csv_text(
            [
                line.at.isoformat().replace("+00:00", "Z"),
                line.who,
                line.subject,
                line.of,
                line.field,
                line.before,
                line.after,
                line.revision,
                line.reason,
            ]
            for line in lines
        )


def audit_page(benchmark: Benchmark, query: AuditQuery, start: str) -> dict[str, Any]:
    """One page of the trail, with the choices of its filters.

    Args:
        benchmark: whose trail.
        query: which lines.
        start: where the page begins, as an address says it; at the newest line where it says nothing that is known.
    """
    position = Position.read(start) or Position()
    lines, older = audit_lines(benchmark, query, position, most=PAGE_LINES)
    # Who can be chosen: those with a role, those who did something of late, and who is chosen.
    entries = AuditEntry.objects.filter(benchmark=benchmark).order_by("-pk")[:RECENT]
    events = SubmissionEvent.objects.filter(submission__benchmark=benchmark).order_by("-pk")[:RECENT]
    members = Membership.objects.filter(benchmark=benchmark).exclude(role=Membership.Role.MEMBER)
    known = Q(pk__in=members.values("user")) | Q(pk__in=entries.values("actor")) | Q(pk__in=events.values("actor"))
    if query.who:
        known |= Q(pk=int(query.who))
    return {
        "lines": lines,
        "query": query,
        "subjects": SUBJECTS,
        "people": User.objects.filter(known).order_by("display_name", "pk")[:SHOWN_PEOPLE],
        "newest_url": (query.address() or "?") if position != Position() else "",
        "older_url": query.address(before=older.text) if older else "",
    }


def _decisions(benchmark: Benchmark, query: AuditQuery, start: Position) -> Iterator[tuple[datetime, _Row]]:
    """What happened to submissions, which have a trail of their own: one row for what was decided together."""
    if query.subject not in ("", SUBMISSION):
        return
    rows = SubmissionEvent.objects.filter(submission__benchmark=benchmark).order_by("-pk")
    if query.who:
        rows = rows.filter(actor=int(query.who))
    if query.of:
        rows = rows.filter(submission__system__name__icontains=query.of)
    rows = rows.select_related("submission").only(
        "at", "kind", "reason", "actor_id", "revision_id", "submission__batch_id"
    )

    def whole(row: SubmissionEvent) -> tuple[object, ...]:
        return (row.submission.batch_id, row.kind, row.revision_id, row.actor_id, row.reason)

    for _, together in groupby(_in_parts(rows, start.event, 500), key=whole):
        numbers = [(event.at, event.pk) for event in together]
        (at, newest), (_, oldest) = numbers[0], numbers[-1]
        yield at, _Decision(newest=newest, oldest=oldest, n_systems=len(numbers))


def _in_parts(rows: QuerySet[Any], behind: int | None, size: int) -> Iterator[Any]:
    """Rows, the newest first, so many read at a time; those behind the row of this number."""
    while True:
        part = list((rows if behind is None else rows.filter(pk__lt=behind))[:size])
        yield from part
        if len(part) < size:
            return
        behind = part[-1].pk


def _lines(benchmark: Benchmark, rows: Sequence[_Row]) -> list[AuditLine]:
    """Rows as lines: what they name is asked for at once."""
    decisions = [row.newest for row in rows if isinstance(row, _Decision)]
    events = SubmissionEvent.objects.select_related(
        "actor", "revision", "submission__system", "submission__batch", "submission__corrects__batch"
    ).in_bulk(decisions)
    entries = [row for row in rows if isinstance(row, AuditEntry)]
    numbers = {int(row.of) for row in entries if row.subject == AuditEntry.Subject.PERSON}
    people = {str(pk): user.shown_name for pk, user in User.objects.in_bulk(numbers).items()}
    frozen: dict[str, str] = {}  # names of frozen revisions by key
    if any(row.subject == AuditEntry.Subject.RELEASE for row in entries):
        frozen = dict(Release.objects.filter(benchmark=benchmark).values_list("key", "name"))
    addresses: dict[str, str] = {}  # by their number, as the trail has them, which no one deletes
    if numbered := {row.of for row in entries if row.subject in ADDRESSES}:
        of_addresses = AuditEntry.objects.filter(
            benchmark=benchmark, subject__in=ADDRESSES, of__in=numbered, field="address"
        )
        for of, before, after in of_addresses.order_by("pk").values_list("of", "before", "after"):
            addresses[of] = f"{after or before} ({of[:8]})"
    lines = []
    for row in rows:
        if isinstance(row, AuditEntry):
            sentence = ""  # of what is done once and has no state before
            if row.subject == AuditEntry.Subject.RELEASE:
                release = {"number": row.after, "name": frozen.get(row.of, row.of)}
                sentence = gettext("Froze revision %(number)s as %(name)s") % release
            elif row.subject == AuditEntry.Subject.BENCHMARK and row.field == "created":
                sentence = gettext("Created the benchmark")
            line = AuditLine(
                at=row.at,
                who=row.actor.shown_name if row.actor else "",
                subject=row.get_subject_display(),
                of=people.get(row.of, nameless(row.of))
                if row.subject == AuditEntry.Subject.PERSON
                else addresses.get(row.of, row.of),
                field=row.field,
                before=row.before,
                after=row.after,
                revision=row.revision.number if row.revision else None,
                reason=row.reason,
                sentence=sentence,
                setting=str(SETTING_NAMES.get(row.of, "")) if row.subject == AuditEntry.Subject.SETTING else "",
            )
        else:
            event = events[row.newest]
            submission = event.submission
            line = AuditLine(
                at=event.at,
                who=event.actor.shown_name if event.actor else "",
                subject=SUBMISSION,
                of=gettext("%(n)s systems") % {"n": localise(row.n_systems, ",")}
                if row.n_systems > 1
                else submission.system.name,
                field="request" if event.kind in REQUESTS else "correction" if submission.corrects else "decision",
                before=gettext("of submission %(uuid)s") % {"uuid": submission.corrects.uuid}
                if submission.corrects
                else "",
                after=event.kind,
                revision=event.revision.number if event.revision else None,
                reason=event.reason,
                event=event.get_kind_display(),
                batch=submission.batch.uuid,
                corrected=submission.corrects.batch.uuid if submission.corrects else None,
            )
        lines.append(line)
    return lines
