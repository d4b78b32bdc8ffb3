"""What is said of one system: its ranks, scores and submissions at the published revision."""

from typing import Any

from django.http import Http404
from django.urls import reverse

from leaderboard.models import Benchmark, Score, Submission, SubmissionEvent, System
from leaderboard.selectors.audience import Viewer, audience, is_wholly_accepted, proven_system_ids
from leaderboard.selectors.scores import NOT_SUBMITTED, CurrentScore, current_scores, systems_at
from leaderboard.services.board import interval_meaning, interval_text
from leaderboard.services.columns import Column, published_board
from leaderboard.services.masks import hidden_text, masked
from leaderboard.services.prospects_page import waiting_for, what_it_takes

NO_SYSTEM = "No system of this name is on the published board."
REASONS = dict(Score.MissingReason.choices) | {NOT_SUBMITTED: "not submitted"}


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
    board, _ = masked(published_board(publication), systems, looking, own)
    scores = current_scores(publication.revision, [found.id])
    tasks = publication.revision.configuration.content["tasks"]
    groups = {group["key"]: group["name"] for group in publication.revision.configuration.content["groups"]}
    asks = not looking.is_restricted
    chances, no_chances = what_it_takes(publication, key, rival, level) if asks else (None, "")
    return {
        "chances": chances,
        "no_chances": no_chances,
        "hidden_text": hidden_text(looking),
        "waiting": None if chances or no_chances or not asks else waiting_for(publication),
        "benchmark": benchmark,
        "system": {**_about(System.objects.get(pk=found.id)), "name": found.name},
        "ranks": [_rank(column, place) for column in board.columns],
        "interval_meaning": interval_meaning(board),
        "scores": [_score(task, groups, scores.get((found.id, task["id"]))) for task in tasks],
        "submissions": _submissions(viewer, benchmark, found.id),
    }


def _about(system: System) -> dict[str, str]:
    return {"organisation": system.organisation, "url": system.url, "description": system.description}


def _rank(column: Column, i: int) -> dict[str, Any]:
    rank = int(column.ranks[i])
    return {
        "rule_name": column.name,
        "rank": rank if rank >= 1 else None,
        "is_tied": rank >= 1 and int((column.ranks == rank).sum()) > 1,
        "n_ranked": column.n_ranked,
        "interval_text": interval_text(column, i) if rank >= 1 else "",
        "reason": "" if rank >= 1 else column.reason_of(i),
    }


def _score(task: dict[str, Any], groups: dict[str, str], score: CurrentScore | None) -> dict[str, Any]:
    value = score.value if score else None
    return {
        "task_name": task["name"],
        "group_name": groups.get(task["group"], ""),
        "value_text": "" if value is None else value_text(value),
        "reason": "" if value is not None else missing_text(score.missing_reason if score else NOT_SUBMITTED),
        "is_voting": votes(task),
    }


def value_text(value: float) -> str:
    """A score as it was given: the shortest decimal that reads back to the same number."""
    return repr(value).removesuffix(".0")


def missing_text(reason: str) -> str:
    """Why a score is missing, in words."""
    return REASONS[reason]


def votes(task: dict[str, Any]) -> bool:
    """Whether a configuration's task votes."""
    return task["direction"] != 0 and float(task["weight"]) > 0


def _submissions(viewer: Viewer, benchmark: Benchmark, system_id: int) -> list[dict[str, Any]]:
    """Accepted and withdrawn submissions for everyone; pending and rejected ones for those concerned."""
    rows = (
        Submission.objects.filter(benchmark=benchmark, system_id=system_id)
        .select_related("batch__uploader")
        .prefetch_related("events__revision", "batch__submissions")
        .order_by("-pk")
    )
    decides = audience(viewer, benchmark).may_moderate
    shown = {Submission.State.ACCEPTED, Submission.State.WITHDRAWN}
    return [
        _submission(row, is_theirs=row.batch.uploader_id == viewer.pk, decides=decides)
        for row in rows
        if row.state in shown or decides or row.batch.uploader_id == viewer.pk
    ]


def _submission(row: Submission, *, is_theirs: bool, decides: bool) -> dict[str, Any]:
    accepted = [event for event in row.events.all() if event.kind == SubmissionEvent.Kind.ACCEPTED]
    is_open = is_theirs or decides or is_wholly_accepted(row.batch.submissions.all())
    return {
        "submitted_at": row.batch.created_at,
        "who": row.batch.uploader.shown_name,
        "state_text": row.get_state_display(),
        "revision_number": accepted[0].revision.number if accepted and accepted[0].revision else None,
        "note": row.batch.note,
        "url": reverse("batch", args=[row.batch.uuid]) if is_open else "",
    }
