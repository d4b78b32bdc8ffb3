"""What is said of one system: its ranks, scores and submissions at the published revision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404
from django.urls import reverse

from leaderboard.access.audience import Audience, is_batch_open
from leaderboard.common.charts.rank_intervals import RankedThing, RankIntervalChart, rank_intervals
from leaderboard.common.charts.score_profile import ProfileTask, ScoreProfile, score_profile
from leaderboard.common.text import percent
from leaderboard.comparisons.pair import signed_percent
from leaderboard.comparisons.rank_history import rank_history
from leaderboard.computing.pairs import among_rivals
from leaderboard.models import Baseline, Benchmark, Revision, Submission, SubmissionEvent, System
from leaderboard.on_demand.budget import TooLargeError, compute, n_comparisons, refuse_beyond_budget, single_flight
from leaderboard.rankings.confidence.intervals import interval_meaning, interval_text, why_no_interval
from leaderboard.rankings.configuration import ConfiguredTask, configuration_of
from leaderboard.rankings.margins import Margins, inputs_of, weighed
from leaderboard.rankings.published import Column, PublishedBoard, published_board
from leaderboard.rankings.redaction import hidden_text, redacted
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.scores import NOT_SUBMITTED, BoardSystem, CurrentScore, current_scores, systems_at
from leaderboard.rankings.text import details_text, missing_text, precision_sentence, ranked_text
from leaderboard.studies.prospects.page import waiting_for
from leaderboard.studies.prospects.what_it_takes import what_it_takes
from leaderboard.submissions.corrections import holding, may_correct

SHOWN_RANKS = 10  # the chart of ranks reaches at least so far, and further where an interval does
PAGE_SUBMISSIONS = 50
NO_SYSTEM = "No system of this name is on the published board."
NAMED = 3  # tasks and rivals of a kind
TURNED_DOWN = {Submission.State.WITHDRAWN, Submission.State.REJECTED}


@dataclass(frozen=True)
class TaskStanding:
    """One voting task: the system's rank on it among those with a score, and the share of these that are below it."""

    name: str
    rank: int
    n_scored: int
    below: float


@dataclass(frozen=True)
class RivalStanding:
    """One rival: the weighted margin over it."""

    system: BoardSystem
    margin_text: str
    text: str


@dataclass(frozen=True)
class SystemStanding:
    """What the page of a system says of it among its rivals."""

    profile: ScoreProfile
    strengths: list[TaskStanding]
    weaknesses: list[TaskStanding]
    n_beaten: int
    n_lost: int
    n_level: int
    above: list[RivalStanding]  # rivals that beat it by most
    closest: list[RivalStanding]  # rivals with the least margin either way


def system_page(audience: Audience, key: str, *, rival: str = "", page: str | None = None) -> dict[str, Any]:
    """Everything the page of a system shows.

    Args:
        audience: who reads; their benchmark comes with its publication.
        key: the system's.
        rival: the key of another, where the reader asks what would put the system above it.
        page: which page of its submissions.

    Raises:
        Http404: no system of this key is on the published board, or the viewer is restricted and it is not theirs.
        TooLargeError: the board is too large for an answer about a rival.
    """
    benchmark = audience.benchmark
    publication = benchmark.publication
    systems = systems_at(publication.revision) if publication else []
    place = next((i for i, system in enumerate(systems) if system.key == key), None)
    if publication is None or place is None:
        raise Http404(NO_SYSTEM)
    own_system = systems[place]
    if audience.is_restricted and own_system.id not in audience.proven_system_ids:
        raise Http404(NO_SYSTEM)
    board, visible = redacted(published_board(publication), systems, audience)
    place = next(i for i, system in enumerate(visible) if system.id == own_system.id)
    scores = current_scores(publication.revision, [own_system.id])
    configuration = configuration_of(publication.revision)
    tasks, groups = configuration.tasks, configuration.group_names
    stored = System.objects.get(pk=own_system.id)
    level, sees_all = audience.level, not audience.is_restricted
    chances, no_chances = what_it_takes(publication, key, rival, level) if sees_all else (None, "")
    standing = standing_of(publication.revision, systems, place, tasks, audience_level=level) if sees_all else None
    return {
        "sentence": _sentence(board, benchmark, place, standing) if sees_all else "",
        "standing": standing,
        "intervals": _intervals(own_system.name, board, place) if sees_all else None,
        "history": rank_history(benchmark, systems, benchmark.default_rule, of=own_system) if sees_all else None,
        "chances": chances,
        "no_chances": no_chances,
        "hidden_text": hidden_text(audience),
        "waiting": None if chances or no_chances or not sees_all else waiting_for(publication),
        "benchmark": benchmark,
        "system": {
            "name": own_system.name,
            "organisation": stored.organisation,
            "url": stored.url,
            "description": stored.description,
            "baseline": stored.baseline,
            "baseline_text": "" if stored.baseline == Baseline.NONE else Baseline(stored.baseline).label,
        },
        "ranks": [_rank(board, column, place) for column in board.columns],
        "interval_meaning": interval_meaning(board),
        "scores": [_score(task, groups, scores.get((own_system.id, task.id))) for task in tasks],
        "precision_text": precision_sentence(configuration.precisions),
        "has_details": any(details_text(scores.get((own_system.id, task.id))) for task in tasks),
        **_submissions(audience, own_system.id, page),
    }


def _sentence(board: PublishedBoard, benchmark: Benchmark, i: int, standing: SystemStanding | None) -> str:
    """Where the system stands, in a sentence or two."""
    ranked = [column for column in board.columns if column.status == "ranked" and column.ranks[i] >= 1]
    own = next((column for column in ranked if column.rule == benchmark.default_rule), None)
    parts = []
    if own is not None:
        interval = interval_text(own, i)
        beside = f" (interval {interval})" if interval else ""
        place = int(own.ranks[i])
        is_tied = int((own.ranks == place).sum()) > 1
        parts.append(f"{'Tied at rank' if is_tied else 'Rank'} {place} of {own.n_ranked} under {own.name}{beside}")
    if len(ranked) > 1:
        low, high = (int(extreme(column.ranks[i] for column in ranked)) for extreme in (min, max))
        parts.append(f"{low} under each of {len(ranked)} rules" if low == high else
                     f"from {low} to {high} over {len(ranked)} rules")  # fmt: skip
    text = f"{'; '.join(parts)}." if parts else ""
    if standing is not None:
        level = f", level with {standing.n_level}" if standing.n_level else ""
        n_met = standing.n_beaten + standing.n_lost + standing.n_level
        text += f" Head to head it beats {standing.n_beaten} of {n_met} and loses to {standing.n_lost}{level}."
    return text.strip()


def _intervals(name: str, board: PublishedBoard, i: int) -> RankIntervalChart | None:
    """The system's rank under every rule that ranks it, with its interval where there is one."""
    ranked = [column for column in board.columns if column.status == "ranked" and column.ranks[i] >= 1]
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
            said=f"{column.name}: rank {rank} of {column.n_ranked}{f', interval {interval}' if interval else ''}",
            url=f"../../rules/{column.rule}/",
        )

    return rank_intervals(
        f"Rank of {name} under every rule",
        "One line a rule, rank 1 at the left; a bar is the interval of the rank where one was computed.",
        [thing(column) for column in ranked],
        min(SHOWN_RANKS, max(column.n_ranked for column in ranked)),
    )


def _rank(board: PublishedBoard, column: Column, i: int) -> dict[str, Any]:
    rank = int(column.ranks[i])
    return {
        "rule_name": column.name,
        "rank": rank if rank >= 1 else None,
        "is_tied": rank >= 1 and int((column.ranks == rank).sum()) > 1,
        "n_ranked": column.n_ranked,
        "interval_text": interval_text(column, i) if rank >= 1 else "",
        "no_interval": why_no_interval(board, column, i),
        "reason": "" if rank >= 1 else column.reason_of(i),
    }


def _score(task: ConfiguredTask, groups: dict[str, str], score: CurrentScore | None) -> dict[str, Any]:
    value = score.value if score else None
    return {
        "task_name": task.name,
        "group_name": groups.get(task.group or "", ""),
        "value_text": "" if value is None else ranked_text(value, task.precision),
        "details_text": details_text(score),
        "reason": "" if value is not None else missing_text(score.missing_reason if score else NOT_SUBMITTED),
        "is_voting": task.votes,
    }


def _submissions(audience: Audience, system_id: int, number: str | None) -> dict[str, Any]:
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
    submissions = []
    for row in page:
        is_open = row.batch.uploader_id == viewer.pk or decides or row.is_batch_open  # type: ignore[attr-defined]
        accepted = [event for event in row.events.all() if event.kind == SubmissionEvent.Kind.ACCEPTED]
        reasons = [event.reason for event in row.events.all() if event.kind == row.state]
        submissions.append(
            {
                "submitted_at": row.batch.created_at,
                "who": row.batch.uploader.shown_name,
                "state_text": row.get_state_display(),
                "revision_number": accepted[0].revision.number if accepted and accepted[0].revision else None,
                "note": row.batch.note,
                "url": reverse("batch", args=[row.batch.uuid]) if is_open else "",
                "uuid": row.uuid,
                "is_correction": row.corrects_id is not None,
                "is_correctable": row.pk in held and may_correct(audience, row),
                "reason": reasons[-1] if reasons and row.state in TURNED_DOWN else "",
            }
        )
    return {"submissions": submissions, "submissions_page": page}


def standing_of(
    revision: Revision, systems: Sequence[BoardSystem], i: int, tasks: Sequence[ConfiguredTask], *, audience_level: str
) -> SystemStanding | None:
    """How system `i` stands; None where the board is too large for an answer on demand, or it has no score.

    Args:
        revision: published, with its configuration.
        systems: of the revision, in its order.
        i: a place in `systems`.
        tasks: of the revision's configuration.
        audience_level: who reads; part of the cache's key.
    """
    key = f"standing:{inputs_of(revision)}:{i}:{audience_level}"

    def make() -> dict[str, Any]:
        table = revision_matrix(revision)
        if table is None:
            raise ValueError("a published system stands in a revision with systems and tasks")
        matrix = weighed(table.matrix, revision)
        return compute(among_rivals, matrix, i, n_steps=n_comparisons(matrix, 1))

    try:
        refuse_beyond_budget(len(systems), len(tasks))
        figures = single_flight(key, make)
    except TooLargeError:
        return None
    if not np.isfinite(figures["below"]).any():
        return None
    margins = Margins(**figures["margins"])
    lines = [
        TaskStanding(task.name, int(figures["ranks"][t]), int(figures["n_scored"][t]), float(figures["below"][t]))
        for t, task in enumerate(tasks)
        if np.isfinite(figures["below"][t])
    ]
    ordered = sorted(lines, key=lambda line: (-line.below, line.rank, line.name))
    n_named = min(NAMED, len(ordered) // 2)
    return SystemStanding(
        profile=_profile(systems[i].name, tasks, figures),
        strengths=ordered[:n_named],
        weaknesses=ordered[::-1][:n_named],
        n_beaten=int(margins.n_beaten[0]),
        n_lost=int(margins.n_lost[0]),
        n_level=int(margins.n_level[0]),
        above=_rivals(systems, margins, [j for j in _by_margin(margins) if margins.sign[0, j] < 0]),
        closest=_rivals(systems, margins, sorted(_by_margin(margins), key=lambda j: abs(margins.margin[0, j]))),
    )


def _profile(name: str, tasks: Sequence[ConfiguredTask], figures: dict[str, Any]) -> ScoreProfile:
    def place(value: float) -> float | None:
        return None if np.isnan(value) else float(value)

    def said(t: int) -> str:
        name, value = tasks[t].name, figures["values"][t]
        if np.isnan(value):
            return f"{name}: no score"
        return f"{name}: {value:.6g}, rank {figures['ranks'][t]} of {figures['n_scored'][t]}"

    return score_profile(
        f"Scores of {name} on aligned scales",
        "One line a task, from the worst score on this board at the left to the best at the right. A small tick stands "
        "at the median of all systems.",
        [name],
        [
            ProfileTask(
                task.name,
                [place(figures["position"][t])],
                place(figures["median"][t]),
                said(t),
                bool(figures["votes"][t]),
            )
            for t, task in enumerate(tasks)
        ],
    )


def _by_margin(margins: Margins) -> list[int]:
    """The rivals that some task compares with it, from the one that is furthest ahead of it."""
    return sorted(np.flatnonzero(margins.is_compared[0]).tolist(), key=lambda j: float(margins.margin[0, j]))


def _rivals(systems: Sequence[BoardSystem], margins: Margins, order: Sequence[int]) -> list[RivalStanding]:
    return [
        RivalStanding(
            systems[j],
            signed_percent(float(margins.margin[0, j])),
            f"ahead on {percent(float(margins.ahead[0, j]), 2)}, behind on {percent(float(margins.behind[0, j]), 2)}",
        )
        for j in order[:NAMED]
    ]
