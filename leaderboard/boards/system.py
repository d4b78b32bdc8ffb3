"""What is said of one system: its ranks and scores at a revision, and its submissions."""

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Q
from django.http import Http404
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext

from leaderboard.access.audience import Audience, is_batch_open, naming_benchmarks
from leaderboard.boards.rows import Fact, fact
from leaderboard.boards.system_standing import SystemStanding, standing_of
from leaderboard.common.charts.rank_intervals import RankedThing, RankIntervalChart, rank_intervals
from leaderboard.common.language.engine import in_page_language
from leaderboard.comparisons.rank_history import RankHistory, rank_history
from leaderboard.models import AuditEntry, Baseline, Benchmark, Submission, SubmissionEvent, System
from leaderboard.rankings.confidence.intervals import interval_meaning, interval_text, why_no_interval
from leaderboard.rankings.configuration import ConfiguredTask, configuration_of
from leaderboard.rankings.predictions import predictions_in_time
from leaderboard.rankings.published import Column, PublishedBoard, published_board
from leaderboard.rankings.redaction import hidden_text, redacted
from leaderboard.rankings.revision_parameter import revision_query
from leaderboard.rankings.scores import current_scores, systems_at
from leaderboard.rankings.systems import NO_SYSTEM, About, why_absent
from leaderboard.rankings.text import ScoreCell, precision_sentence, score_cell
from leaderboard.rankings.verdict import lone_system_text
from leaderboard.studies.prospects.page import Waiting, waiting_for
from leaderboard.studies.prospects.what_it_takes import WhatItTakes, what_it_takes
from leaderboard.submissions.corrections import holding, may_correct, replaced_among
from leaderboard.submissions.disclosure import disclosure
from leaderboard.submissions.queries import REPLACED_WORDS, STATE_WORDS
from ranking_engine.files.metadata import MetadataField

SHOWN_RANKS = 10  # the chart of ranks reaches at least so far, and further where an interval does
PAGE_SUBMISSIONS = 50
MAX_FACT_CHANGES = 50
TURNED_DOWN = {Submission.State.WITHDRAWN, Submission.State.REJECTED}


@dataclass(frozen=True)
class SystemRank:
    """The system under one rule."""

    rule_name: str
    rank: int | None
    is_tied: bool
    n_ranked: int | None  # None where the reader sees no others, and may not know how many there are
    interval_text: str
    no_interval: str  # why it has none, where others have
    reason: str  # why it has no rank
    n_predicted: int = 0  # how many of the scores that the rank rests on are predicted

    @classmethod
    def of(cls, board: PublishedBoard, column: Column, i: int, *, sees_others: bool) -> "SystemRank":
        """The rank of system `i` in a column of the board."""
        rank = int(column.ranks[i])
        return cls(
            rule_name=column.name,
            rank=rank if rank >= 1 else None,
            is_tied=rank >= 1 and int((column.ranks == rank).sum()) > 1,
            n_ranked=column.n_ranked if sees_others else None,
            interval_text=interval_text(column, i) if rank >= 1 else "",
            no_interval=in_page_language(why_no_interval(board, column, i)),
            reason="" if rank >= 1 else in_page_language(column.reason_of(i)),
            n_predicted=column.predicted_of(i),
        )


@dataclass(frozen=True)
class TaskScore:
    """Its score on one task."""

    task_name: str
    is_voting: bool
    cell: ScoreCell


@dataclass(frozen=True)
class ScoreGroup:
    """Its scores on tasks that follow one another and belong to one group."""

    name: str  # of the group; empty where the tasks belong to none
    scores: list[TaskScore]

    @property
    def heading(self) -> str:
        """What is written above the scores: nothing above a single one."""
        return self.name if len(self.scores) > 1 else ""


@dataclass(frozen=True)
class SystemSubmission:
    """One of its submissions."""

    submitted_at: datetime
    who: str
    state_text: str
    revision_number: int | None  # the revision that took it
    note: str
    uploader_id: int
    url: str  # of its batch, for those who may open it
    correct_url: str  # for those who may correct it
    is_correction: bool
    reason: str  # why it was turned down or withdrawn


@dataclass(frozen=True)
class SystemPage:
    """What the page of a system shows. Restricted readers get its ranks, its scores and its submissions only."""

    key: str
    name: str
    organisation: str
    url: str
    description: str
    facts: list[tuple[MetadataField, Fact]]  # what else is known of it
    fact_changes: list[AuditEntry]  # how that changed, newest first, for those who read the audit trail
    baseline: Baseline
    model_key: str  # of the model that it is, where the reader sees that model's page; else empty
    hidden_text: str  # what is kept from the reader; empty where nothing is
    sentence: str
    ranks: list[SystemRank]
    interval_meaning: str
    intervals: RankIntervalChart | None
    score_groups: list[ScoreGroup]
    prediction: str  # what ranks with a ≈ rest on; empty where no score is predicted
    precision_text: str
    standing: SystemStanding | None
    history: RankHistory | None
    chances: WhatItTakes | None
    no_chances: str  # why nothing can be said of them
    waiting: Waiting | None  # while they are computed
    submissions: list[SystemSubmission]
    submission_page: Page[Any]  # which of their pages it is
    submitters: list[str]  # how many systems those of this page entered, as far as the reader may know

    @property
    def baseline_text(self) -> str:
        """What kind of baseline it is; empty where it is none."""
        return "" if self.baseline == Baseline.NONE else str(self.baseline.label)

    @property
    def has_details(self) -> bool:
        """Whether a score comes with a standard error or a number of instances."""
        return any(score.cell.details_text for group in self.score_groups for score in group.scores)


def system_page(audience: Audience, key: str, *, rival: str = "", page: str | None = None) -> SystemPage:
    """Everything the page of a system shows.

    Args:
        audience: who reads; their benchmark points at the revision that they ask for.
        key: the system's.
        rival: the key of another, where the reader asks what would put the system above it.
        page: which page of its submissions.

    Raises:
        WithdrawnSystemError: its scores were withdrawn, and it was on the board before.
        Http404: no system of this key is on the published board, or the viewer is restricted and it is not theirs.
        TooLargeError: the board is too large for an answer about a rival.
    """
    benchmark = audience.benchmark
    publication = benchmark.publication
    systems = systems_at(publication.revision) if publication else []
    place = next((i for i, system in enumerate(systems) if system.key == key), None)
    if publication is None:
        raise Http404(gettext(NO_SYSTEM))
    if place is None:
        raise why_absent(audience, publication.revision, key)
    own_system = systems[place]
    if audience.is_restricted and own_system.id not in audience.proven_system_ids:
        raise Http404(gettext(NO_SYSTEM))
    board, visible = redacted(published_board(publication), systems, audience)
    place = next(i for i, system in enumerate(visible) if system.id == own_system.id)
    scores = current_scores(publication.revision, [own_system.id])
    configuration = configuration_of(publication.revision)
    tasks = configuration.tasks
    stored = System.objects.select_related("identity").get(pk=own_system.id)
    level, sees_all = audience.level, not audience.is_restricted
    at_revision = revision_query(benchmark, publication.revision)
    lone = lone_system_text(len(systems)) if sees_all else ""
    chances, no_chances, standing = None, gettext("the benchmark has one system so far") if lone else "", None
    if sees_all and not lone:
        chances, no_chances = what_it_takes(publication, key, rival, level)
        standing = standing_of(publication.revision, systems, place, tasks, audience_level=level)
    prediction = next((column.prediction for column in board.columns if column.predicted_of(place)), "")
    predictions = predictions_in_time(publication.revision) if prediction and sees_all else None

    def cell(task: ConfiguredTask) -> ScoreCell:
        own = score_cell(scores.get((stored.id, task.id)), task)
        return own if predictions is None else predictions.in_place_of(own, stored.id, task.id)

    score_groups = [
        ScoreGroup(name, [TaskScore(task.name, task.votes, cell(task)) for task in members])
        for name, members in groupby(tasks, key=lambda task: configuration.group_names.get(task.group or "", ""))
    ]
    # By its owners, and by submissions that stated it; newest first.
    changes = AuditEntry.objects.filter(benchmark=benchmark, subject=AuditEntry.Subject.SYSTEM, of=key)
    changes = changes.filter(field__startswith="metadata").select_related("actor", "revision")
    model = stored.identity
    if model and not naming_benchmarks(audience.viewer).filter(pk=benchmark.pk).exists():
        model = None  # its page is not for this reader
    submissions, submission_page = _submissions(audience, own_system.id, page)
    return SystemPage(
        key=key,
        name=own_system.name,
        organisation=stored.organisation,
        url=stored.url,
        description=stored.description,
        facts=[
            (field, fact(field, About(metadata=stored.metadata)))
            for field in benchmark.fields_of_systems
            if field.key in stored.metadata
        ],
        fact_changes=list(changes[:MAX_FACT_CHANGES]) if audience.may_administer else [],
        baseline=Baseline(stored.baseline),
        model_key=model.key if model else "",
        hidden_text=hidden_text(audience),
        sentence=lone or (_sentence(board, benchmark, place, standing) if sees_all else ""),
        ranks=[SystemRank.of(board, column, place, sees_others=audience.sees_others) for column in board.columns],
        interval_meaning=interval_meaning(board),
        intervals=_intervals(own_system.name, board, place, at_revision) if sees_all else None,
        score_groups=score_groups,
        precision_text=precision_sentence(configuration.precisions),
        prediction=prediction,
        standing=standing,
        history=rank_history(benchmark, systems, benchmark.default_rule, of=own_system) if sees_all else None,
        chances=chances,
        no_chances=no_chances,
        waiting=None if chances or no_chances or not sees_all else waiting_for(publication),
        submissions=submissions,
        submission_page=submission_page,
        submitters=[one.sentence for one in disclosure(audience, {row.uploader_id for row in submissions}).submitters],
    )


def _sentence(board: PublishedBoard, benchmark: Benchmark, i: int, standing: SystemStanding | None) -> str:
    """The rank of the system, in a sentence or two."""
    ranked = [column for column in board.columns if column.is_ranked and column.ranks[i] >= 1]
    own = next((column for column in ranked if column.rule == benchmark.default_rule), None)
    parts = []
    if own is not None:
        interval, place = interval_text(own, i), int(own.ranks[i])
        sentence = gettext("Rank %(rank)s of %(n)s under %(rule)s")
        if int((own.ranks == place).sum()) > 1:
            sentence = gettext("Tied at rank %(rank)s of %(n)s under %(rule)s")
        text = sentence % {"rank": place, "n": own.n_ranked, "rule": own.name}
        beside = gettext("%(text)s (interval %(interval)s)") % {"text": text, "interval": interval}
        parts.append(beside if interval else text)
    if len(ranked) > 1:
        low, high = (int(extreme(column.ranks[i] for column in ranked)) for extreme in (min, max))
        ranks = gettext("from %(low)s to %(high)s over %(n)s rules")
        if low == high:
            ranks = gettext("%(low)s under each of %(n)s rules")
        parts.append(ranks % {"low": low, "high": high, "n": len(ranked)})
    text = f"{'; '.join(parts)}." if parts else ""
    if standing is not None:
        figures = {
            "beaten": standing.n_beaten,
            "n": standing.n_beaten + standing.n_lost + standing.n_level,
            "lost": standing.n_lost,
            "level": standing.n_level,
        }
        duels = gettext(" Head to head it beats %(beaten)s of %(n)s and loses to %(lost)s.")
        if standing.n_level:
            duels = gettext(" Head to head it beats %(beaten)s of %(n)s and loses to %(lost)s, ties with %(level)s.")
        text += duels % figures
    return text.strip()


def _intervals(name: str, board: PublishedBoard, i: int, at_revision: str) -> RankIntervalChart | None:
    """The system's rank under every rule that ranks it, with its interval where there is one."""
    ranked = [column for column in board.columns if column.is_ranked and column.ranks[i] >= 1]
    if not ranked:
        return None

    def thing(column: Column) -> RankedThing:
        rank, interval = int(column.ranks[i]), interval_text(column, i)
        has_interval = bool(interval) and column.lower is not None and column.upper is not None
        return RankedThing(
            name=column.name,
            rank=rank,
            low=int(column.lower[i]) if has_interval and column.lower is not None else None,
            high=int(column.upper[i]) if has_interval and column.upper is not None else None,
            said=(
                gettext("%(rule)s: rank %(rank)s of %(n)s, interval %(interval)s")
                if interval
                else gettext("%(rule)s: rank %(rank)s of %(n)s")
            )
            % {"rule": column.name, "rank": rank, "n": column.n_ranked, "interval": interval},
            url=f"../../rules/{column.rule}/{at_revision}",
        )

    return rank_intervals(
        gettext("Rank of %(name)s under every rule") % {"name": name},
        gettext("One line a rule, rank 1 at the left; a bar is the interval of the rank where one was computed."),
        [thing(column) for column in ranked],
        min(SHOWN_RANKS, max(column.n_ranked for column in ranked)),
    )


def _submissions(audience: Audience, system_id: int, number: str | None) -> tuple[list[SystemSubmission], Page[Any]]:
    """A page of submissions: accepted and withdrawn ones for everyone, others for those concerned."""
    viewer, benchmark, decides = audience.viewer, audience.benchmark, audience.may_moderate
    rows = (
        Submission.objects.filter(benchmark=benchmark, system_id=system_id)
        .select_related("batch__uploader", "corrects", "benchmark")
        .prefetch_related("events__revision")
        .annotate(is_batch_open=is_batch_open())
        .order_by("-pk")
    )
    held = holding(benchmark, [system_id]) if viewer.is_authenticated else {}
    if not decides:
        is_public = Q(state__in=[Submission.State.ACCEPTED, Submission.State.WITHDRAWN])
        rows = rows.filter((is_public | Q(batch__uploader=viewer)) if viewer.is_authenticated else is_public)
    page = Paginator(rows, PAGE_SUBMISSIONS).get_page(number)
    replaced_ids = {one.submission_id for one in replaced_among(Submission.objects.filter(pk__in=[r.pk for r in page]))}
    submissions = []
    for row in page:
        is_open = row.batch.uploader_id == viewer.pk or decides or row.is_batch_open  # type: ignore[attr-defined]
        word = REPLACED_WORDS if row.pk in replaced_ids else STATE_WORDS[Submission.State(row.state)]
        is_correctable = row.pk in held and may_correct(audience, row)
        accepted = [event for event in row.events.all() if event.kind == SubmissionEvent.Kind.ACCEPTED]
        reasons = [event.reason for event in row.events.all() if event.kind == row.state]
        submissions.append(
            SystemSubmission(
                submitted_at=row.batch.created_at,
                who=row.batch.uploader.shown_name,
                uploader_id=row.batch.uploader_id,
                state_text=capfirst(gettext(word)),
                revision_number=accepted[0].revision.number if accepted and accepted[0].revision else None,
                note=row.batch.note,
                url=reverse("batch", args=[row.batch.uuid]) if is_open else "",
                correct_url=reverse("correct", args=[benchmark.key, row.uuid]) if is_correctable else "",
                is_correction=row.corrects_id is not None,
                reason=reasons[-1] if reasons and row.state in TURNED_DOWN else "",
            )
        )
    return submissions, page
