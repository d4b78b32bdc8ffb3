"""The queue of a benchmark: what waits for a decision, what is unusual about it, and what it would change."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from leaderboard.access.audience import UNDECIDED
from leaderboard.accounts.people import ban
from leaderboard.common.language.numbers import localise
from leaderboard.common.moments import moment_in_words
from leaderboard.common.text import in_words, shortened
from leaderboard.models import Batch, Benchmark, Score, Submission, User
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.scores import InForce
from leaderboard.submissions.corrections import holding
from leaderboard.submissions.lifecycle import reject_batch, take_batch
from leaderboard.submissions.moderation.flags import flags_of
from leaderboard.submissions.moderation.scores import ReviewedRow, reviewed
from leaderboard.submissions.preview.draft import (
    BoardState,
    latest_state,
    rankings_of,
    ranks_others,
    rules_left_out,
)
from leaderboard.submissions.preview.table import TableEffect, table_effect
from leaderboard.submissions.preview.text import left_out_sentence, ranks_sentence, winners_sentence
from leaderboard.submissions.problems import SubmissionError, require_reason
from leaderboard.submissions.queries import latest_submitters
from leaderboard.submissions.rows import CheckedRow
from leaderboard.submissions.statements import Statement, in_short, statements_of

PAGE_BATCHES = 50
MAX_AT_ONCE = 100  # that one decision is about
SHOWN_ROWS = 100  # of one batch, before it is decided
# Of a batch in the queue so many systems are looked at, and fewer where they have many scores.
LOOKED_AT, CELLS_LOOKED_AT = 100, 4_000
SHOWN_FLAGS = 5
SHOWN_STATEMENTS = 6  # in the queue


@dataclass(frozen=True)
class Waiting:
    """One batch of the queue."""

    uuid: UUID
    title: str
    who: str
    affiliation: str  # of the submitter, in their words
    at: datetime
    source: str
    n_systems: int
    flags: list[str]
    n_more_flags: int
    state: str
    note: str
    is_correction: bool
    statements: list[str]  # what it states of its systems, in short
    n_more_statements: int


@dataclass(frozen=True)
class Decision:
    """What a moderator looks at before deciding about one batch."""

    waiting: Waiting
    revision_number: int
    task_names: list[str]
    rows: list[ReviewedRow]
    n_more_rows: int
    statements: list[Statement]  # what it states of those systems, beside what the board says
    effects: list[TableEffect]
    summary: str  # where a lone system would be, and what changes at the top; empty where no rule ranks


def queue(benchmark: Benchmark, *, after: UUID | None = None, most: int) -> tuple[list[Waiting], int]:
    """The batches that wait, oldest first: those shown, and how many there are.

    Args:
        benchmark: whose.
        after: only what came after this batch; from the beginning where None.
        most: how many are shown.
    """
    waiting = _undecided(benchmark)
    rows = waiting
    if after is not None:
        before = Batch.objects.filter(benchmark=benchmark, uuid=after).values_list("pk", flat=True).first()
        rows = waiting.filter(pk__gt=before or 0)
    return _described(benchmark, list(rows[:most])), waiting.count()


def queue_page(benchmark: Benchmark, number: str | None) -> tuple[list[Waiting], Page[Batch]]:
    """One page of the batches that wait, oldest first."""
    page = Paginator(_undecided(benchmark), PAGE_BATCHES).get_page(number)
    return _described(benchmark, list(page)), page


def n_approved(benchmark: Benchmark) -> int:
    """How many batches of the queue need no decision any more, and wait for the end of the embargo."""
    rows = Submission.objects.filter(benchmark=benchmark, state=Submission.State.APPROVED).order_by()
    return rows.values("batch").distinct().count()


def _undecided(benchmark: Benchmark) -> QuerySet[Batch]:
    waiting = Submission.objects.filter(batch=OuterRef("pk"), state__in=UNDECIDED)
    return Batch.objects.filter(Exists(waiting), benchmark=benchmark).select_related("uploader").order_by("pk")


def _described(benchmark: Benchmark, batches: Sequence[Batch]) -> list[Waiting]:
    """What the queue says of batches: as many queries for many as for one. Of a large one it looks at the beginning."""
    state = latest_state(benchmark)
    n_looked_at = max(1, min(LOOKED_AT, CELLS_LOOKED_AT // max(1, len(state.configuration.tasks))))
    submitted = Submission.objects.filter(batch__in=[batch.pk for batch in batches])
    n_systems = dict(submitted.order_by().values("batch").annotate(n=Count("pk")).values_list("batch", "n"))
    of_batch: dict[int, list[Submission]] = defaultdict(list)
    for submission in (
        submitted.filter(position__lte=n_looked_at).select_related("system").order_by("batch", "position")
    ):
        of_batch[submission.batch_id].append(submission)
    rows = _rows([submission for submissions in of_batch.values() for submission in submissions])
    corrected = {one.system_id for submissions in of_batch.values() for one in submissions if one.corrects_id}
    held = holding(benchmark, corrected) if corrected else {}
    submitters = latest_submitters(benchmark, _known_keys(state, rows.values()))
    banned = set(
        benchmark.bans.filter(user__in=[batch.uploader_id for batch in batches]).values_list("user_id", flat=True)
    )
    return [
        _waiting(
            batch,
            state,
            of_batch[batch.pk],
            rows,
            held,
            submitters=submitters,
            banned_ids=banned,
            n_systems=n_systems[batch.pk],
        )
        for batch in batches
        if batch.pk in of_batch
    ]


def review(batch: Batch) -> Decision:
    """One batch against the latest revision."""
    state, submissions = latest_state(batch.benchmark), _submissions_of(batch)
    of_submission = _rows(submissions)
    rows = list(of_submission.values())
    corrected = {one.system_id for one in submissions if one.corrects_id}
    held = holding(batch.benchmark, corrected) if corrected else {}
    submitters = latest_submitters(batch.benchmark, _known_keys(state, rows))
    banned = set(batch.benchmark.bans.filter(user=batch.uploader_id).values_list("user_id", flat=True))
    after = state.with_rows(rows)
    names = [system.name for system in after.systems]
    try:
        old, new = rankings_of(state, after)
    except TooLargeError:
        old, new = {}, {}
    first_rows, n = rows[:SHOWN_ROWS], len(state.systems)
    effects = [table_effect(rule, old.get(rule), ranking, n, names) for rule, ranking in new.items()]
    summary = [winners_sentence(effects), left_out_sentence(rules_left_out(after, new))]
    if len(rows) == 1 and new:
        # Where the system would be over the rules; a new one is last.
        system = rows[0]["system"]
        i = next((place for place, known in enumerate(state.systems) if known.key == system["key"]), n)
        ranks = [int(ranking.ranks[i]) if ranking.ranks[i] >= 1 else None for ranking in new.values()]
        n_leaving_out = sum(
            rank is None and ranks_others(ranking, i) for rank, ranking in zip(ranks, new.values(), strict=True)
        )
        summary.insert(0, ranks_sentence(shortened(system["name"]), ranks, n_leaving_out))
    return Decision(
        waiting=_waiting(
            batch,
            state,
            submissions,
            of_submission,
            held,
            submitters=submitters,
            banned_ids=banned,
            n_systems=len(submissions),
        ),
        revision_number=state.revision_number,
        task_names=[task.name for task in state.configuration.tasks],
        rows=[reviewed(row, state) for row in first_rows],
        n_more_rows=len(rows) - len(first_rows),
        statements=statements_of(submissions[:SHOWN_ROWS]),
        effects=effects,
        summary=" ".join(filter(None, summary)),
    )


def rows_of(batch: Batch) -> list[CheckedRow]:
    """The batch's submissions as a draft keeps them; a system that is not on the board has no key."""
    return list(_rows(_submissions_of(batch)).values())


def _submissions_of(batch: Batch) -> list[Submission]:
    return list(batch.submissions.select_related("system").order_by("position"))


def _rows(submissions: Sequence[Submission]) -> dict[int, CheckedRow]:
    """Submissions as a draft keeps them, by their ids; a system that is not on the board has no key."""
    scores: dict[int, dict[str, Any]] = defaultdict(dict)
    stored = Score.objects.filter(submission__among=[submission.pk for submission in submissions])
    for submission, task, value in stored.values_list("submission_id", "task__key", "value"):
        scores[submission][task] = {} if value is None else {"value": value}
    return {
        row.pk: {"system": {"key": row.system.key, "name": row.shown_name}, "scores": scores[row.pk], "line": None}
        for row in submissions
    }


def _known_keys(state: BoardState, rows: Iterable[CheckedRow]) -> set[str]:
    """The keys of those systems of rows that are on the board."""
    return {row["system"]["key"] or "" for row in rows} & {system.key for system in state.systems}


def _waiting(
    batch: Batch,
    state: BoardState,
    submissions: Sequence[Submission],
    rows: Mapping[int, CheckedRow],
    held: Mapping[int, InForce],
    *,
    submitters: Mapping[str, User],
    banned_ids: Collection[int],
    n_systems: int,
) -> Waiting:
    """What is said of one batch.

    Args:
        batch: with its uploader.
        state: the board.
        submissions: those of the batch that are looked at, with their systems.
        rows: the same as a draft keeps them, by their ids.
        held: what holds on the board, where one of them is a correction.
        submitters: whose scores the board has of their systems, by the key of the system.
        banned_ids: of those submitters who are banned.
        n_systems: how many submissions the batch has in all.
    """
    statements = statements_of(submissions)
    changed = in_short([one for one in statements if one.is_change])
    own = [rows[submission.pk] for submission in submissions]
    # Corrections of what holds no more: accepted, they may change nothing, or replace another correction.
    outrun = [
        gettext(
            "%(system)s: the scores that it corrects are no longer on the board; they were withdrawn, corrected or "
            "replaced"
        )
        % {"system": shortened(row.shown_name)}
        for row in submissions
        if row.corrects_id and row.corrects_id not in held
    ]
    of_others: dict[str, list[str]] = defaultdict(list)
    for row in own:
        other = submitters.get(row["system"]["key"] or "")
        if other is not None and other.pk != batch.uploader_id:
            of_others[other.shown_name].append(shortened(row["system"]["name"]))
    replacing = [
        gettext("%(systems)s: replaces scores that %(person)s submitted")
        % {"systems": in_words(systems), "person": person}
        for person, systems in of_others.items()
    ]
    banned = [gettext("its submitter is banned from submitting")] if batch.uploader_id in banned_ids else []
    overdue = []
    if batch.decide_by is not None and batch.decide_by <= timezone.now():
        until = moment_in_words(batch.decide_by)
        overdue.append(gettext("overdue: the submitter expects a decision by %(until)s") % {"until": until})
    flags = [*banned, *overdue, *outrun, *replacing, *changed, *flags_of(state, own)]
    if n_systems > len(submissions):
        partly = ngettext(
            "only the first %(n)s of its %(n_systems)s system was checked: open it to see all",
            "only the first %(n)s of its %(n_systems)s systems were checked: open it to see all",
            n_systems,
        )
        flags.insert(0, partly % {"n": len(submissions), "n_systems": localise(n_systems, ",")})
    return Waiting(
        uuid=batch.uuid,
        title=in_words([shortened(row["system"]["name"]) for row in own], total=n_systems),
        who=batch.uploader.shown_name,
        affiliation=batch.uploader.affiliation,
        at=batch.created_at,
        source=batch.get_source_display(),
        n_systems=n_systems,
        flags=flags[:SHOWN_FLAGS],
        n_more_flags=max(0, len(flags) - SHOWN_FLAGS),
        state=submissions[0].state,
        note=batch.note,
        is_correction=all(row.corrects_id for row in submissions),
        statements=in_short(statements[:SHOWN_STATEMENTS]),
        n_more_statements=max(0, len(statements) - SHOWN_STATEMENTS),
    )


class Verdict(StrEnum):
    """What a moderator may decide about submissions."""

    ACCEPT = "accept"
    REJECT = "reject"
    REJECT_AND_BAN = "reject_and_ban"

    @property
    def needs_reason(self) -> bool:
        """Whether the submitters have to read why."""
        return self != Verdict.ACCEPT


@dataclass(frozen=True)
class Decided:
    """What came of a decision about several batches."""

    n_decided: int
    n_approved: int  # of them, those that join the board when the embargo ends
    refused: list[str]  # why others were not decided
    has_banned: bool  # whether submitters are banned by it


def named_batches(benchmark: Benchmark, numbers: Sequence[UUID]) -> tuple[list[Batch], list[str]]:
    """The batches of a benchmark with these numbers, oldest first; and what to say of the numbers that are none's."""
    rows = Batch.objects.select_related("benchmark", "uploader").filter(benchmark=benchmark, uuid__in=numbers)
    batches = list(rows.order_by("pk"))
    known = {batch.uuid for batch in batches}
    return batches, [
        gettext("%(number)s: not a submission to this benchmark") % {"number": number}
        for number in numbers
        if number not in known
    ]


def decide(batches: Sequence[Batch], verdict: str, *, actor: User, reason: str) -> Decided:
    """Decide about several batches, each in a transaction of its own: a revision each. Pages and programs come here.

    Args:
        batches: of one benchmark, at most `MAX_AT_ONCE`.
        verdict: one of `Verdict`.
        actor: who decides.
        reason: the submitters read it; needed unless they are accepted.

    Raises:
        SubmissionError: no reason is given where one is needed; nothing is decided.
        PeopleError: a submitter is to be banned who cannot be; nothing is decided.
    """
    verdict = Verdict(verdict)
    if verdict.needs_reason:
        require_reason(reason, gettext("Give a reason: the submitter sees it."))
    has_banned = False
    if verdict == Verdict.REJECT_AND_BAN:
        with transaction.atomic():
            for batch in batches:
                if batch.submissions.filter(state__in=UNDECIDED).exists():  # a decision that comes late bans no one
                    ban(batch.benchmark, batch.uploader, author=actor, reason=reason)
                    has_banned = True
    n_decided, n_approved, refused = 0, 0, []
    for batch in batches:
        try:
            if verdict == Verdict.ACCEPT:
                n_approved += take_batch(batch, actor=actor, reason=reason) is None
            else:
                reject_batch(batch, actor=actor, reason=reason)
        except SubmissionError as error:
            refused.append(f"{batch.uuid}: {error}")
        else:
            n_decided += 1
    return Decided(n_decided, n_approved, refused, has_banned)
