"""What is said of one system: its ranks, scores and submissions at the published revision."""

from typing import Any

from django.http import Http404
from django.urls import reverse

from leaderboard.charts.rank_intervals import RankedThing, RankIntervals, rank_intervals
from leaderboard.models import Benchmark, Submission, SubmissionEvent, System
from leaderboard.selectors.audience import Viewer, audience, is_batch_open, proven_system_ids
from leaderboard.selectors.scores import NOT_SUBMITTED, CurrentScore, current_scores, systems_at
from leaderboard.services.columns import Column, PublishedBoard, published_board
from leaderboard.services.corrections import holding, may_correct
from leaderboard.services.interval_wording import interval_meaning, interval_text, why_no_interval
from leaderboard.services.masks import hidden_text, masked
from leaderboard.services.prospects_page import waiting_for
from leaderboard.services.rank_history import rank_history
from leaderboard.services.score_texts import details_text, missing_text, precision_sentence, ranked_text, votes
from leaderboard.services.system_standing import Standing, standing_of
from leaderboard.services.what_it_takes import what_it_takes

SHOWN_RANKS = 10  # the chart of ranks reaches at least so far, and further where an interval does
NO_SYSTEM = "No system of this name is on the published board."


def system_page(viewer: Viewer, benchmark: Benchmark, key: str, *, rival: str = "", level: str = "") -> dict[str, Any]:
    """Everything the page of a system shows.

    Args:
        viewer: who reads.
        benchmark: with its publication.
        key: the system's.
        rival: the key of another, where the reader asks what would put the system above it.
        level: of the viewer's audience.

    Raises:
        Http404: no system of this key is on the published board, or the viewer is restricted and it is not theirs.
        TooLargeError: the board is too large for an answer about a rival.
    """
    publication = benchmark.publication
    systems = systems_at(publication.revision) if publication else []
    place = next((i for i, system in enumerate(systems) if system.key == key), None)
    if publication is None or place is None:
        raise Http404(NO_SYSTEM)
    found, looking = systems[place], audience(viewer, benchmark)
    own = proven_system_ids(viewer, benchmark) if looking.is_restricted else frozenset[int]()
    if looking.is_restricted and found.id not in own:
        raise Http404(NO_SYSTEM)
    board, shown = masked(published_board(publication), systems, looking, own)
    place = next(i for i, system in enumerate(shown) if system.id == found.id)
    scores = current_scores(publication.revision, [found.id])
    tasks = publication.revision.configuration.content["tasks"]
    groups = {group["key"]: group["name"] for group in publication.revision.configuration.content["groups"]}
    asks = not looking.is_restricted
    chances, no_chances = what_it_takes(publication, key, rival, level) if asks else (None, "")
    standing = standing_of(publication.revision, systems, place, tasks, audience_level=level) if asks else None
    return {
        "sentence": _sentence(board, benchmark, place, standing) if asks else "",
        "standing": standing,
        "intervals": _intervals(found.name, board, place) if asks else None,
        "history": rank_history(benchmark, systems, benchmark.default_rule, of=found) if asks else None,
        "chances": chances,
        "no_chances": no_chances,
        "hidden_text": hidden_text(looking),
        "waiting": None if chances or no_chances or not asks else waiting_for(publication),
        "benchmark": benchmark,
        "system": {**_about(System.objects.get(pk=found.id)), "name": found.name},
        "ranks": [_rank(board, column, place) for column in board.columns],
        "interval_meaning": interval_meaning(board),
        "scores": [_score(task, groups, scores.get((found.id, task["id"]))) for task in tasks],
        "precision_text": precision_sentence(tasks),
        "has_details": any(details_text(scores.get((found.id, task["id"]))) for task in tasks),
        "submissions": _submissions(viewer, benchmark, found.id),
    }


def _sentence(board: PublishedBoard, benchmark: Benchmark, i: int, standing: Standing | None) -> str:
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
    told = f"{'; '.join(parts)}." if parts else ""
    if standing is not None:
        level = f", level with {standing.n_level}" if standing.n_level else ""
        n_met = standing.n_beaten + standing.n_lost + standing.n_level
        told += f" Head to head it beats {standing.n_beaten} of {n_met} and loses to {standing.n_lost}{level}."
    return told.strip()


def _intervals(name: str, board: PublishedBoard, i: int) -> RankIntervals | None:
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


def _about(system: System) -> dict[str, str]:
    return {"organisation": system.organisation, "url": system.url, "description": system.description}


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


def _score(task: dict[str, Any], groups: dict[str, str], score: CurrentScore | None) -> dict[str, Any]:
    value = score.value if score else None
    return {
        "task_name": task["name"],
        "group_name": groups.get(task["group"], ""),
        "value_text": "" if value is None else ranked_text(value, task),
        "details_text": details_text(score),
        "reason": "" if value is not None else missing_text(score.missing_reason if score else NOT_SUBMITTED),
        "is_voting": votes(task),
    }


def _submissions(viewer: Viewer, benchmark: Benchmark, system_id: int) -> list[dict[str, Any]]:
    """Accepted and withdrawn submissions for everyone; pending and rejected ones for those concerned."""
    rows = (
        Submission.objects.filter(benchmark=benchmark, system_id=system_id)
        .select_related("batch__uploader")
        .prefetch_related("events__revision")
        .annotate(is_batch_open=is_batch_open())
        .order_by("-pk")
    )
    rows = rows.select_related("batch__uploader", "corrects", "benchmark")
    decides = audience(viewer, benchmark).may_moderate
    held = holding(benchmark) if viewer.is_authenticated else {}
    shown = {Submission.State.ACCEPTED, Submission.State.WITHDRAWN}
    return [
        _submission(row, is_theirs=row.batch.uploader_id == viewer.pk, decides=decides)
        | {"is_correctable": row.pk in held and may_correct(viewer, row)}
        for row in rows
        if row.state in shown or decides or row.batch.uploader_id == viewer.pk
    ]


def _submission(row: Submission, *, is_theirs: bool, decides: bool) -> dict[str, Any]:
    accepted = [event for event in row.events.all() if event.kind == SubmissionEvent.Kind.ACCEPTED]
    is_open = is_theirs or decides or row.is_batch_open  # type: ignore[attr-defined]
    return {
        "submitted_at": row.batch.created_at,
        "who": row.batch.uploader.shown_name,
        "state_text": row.get_state_display(),
        "revision_number": accepted[0].revision.number if accepted and accepted[0].revision else None,
        "note": row.batch.note,
        "url": reverse("batch", args=[row.batch.uuid]) if is_open else "",
        "uuid": row.uuid,
        "is_correction": row.corrects_id is not None,
        "reason": _last_reason(row),
    }


def _last_reason(row: Submission) -> str:
    """Why it was withdrawn or rejected."""
    turned_down = {Submission.State.WITHDRAWN, Submission.State.REJECTED}
    reasons = [event.reason for event in row.events.all() if event.kind == row.state]
    return reasons[-1] if reasons and row.state in turned_down else ""
