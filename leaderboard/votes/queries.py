"""What pages and the API show of votes: the newest ratings, the batches, one batch; and who may see which."""

import json
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import DECIDERS_ALONE, UNDECIDED, Audience, Viewer, audience_of, readable_benchmark
from leaderboard.computing.tried_votes import CategoryRow, category_rows
from leaderboard.models import Benchmark, Job, Submission, VoteBatch, VoteEvent, VoteReport
from leaderboard.queue.queries import visible_error
from leaderboard.votes.content import collects_votes
from leaderboard.votes.jobs import newest_job
from leaderboard.votes.lifecycle import may_withdraw

State = VoteBatch.State
UNDER_WAY = (Job.State.WAITING, Job.State.RUNNING)
NO_VOTES = gettext_noop("There are no such votes, or you have no access to them.")


@dataclass(frozen=True)
class ShownRatings:
    """Ratings of votes, and what changes them just now.

    Attributes:
        ratings: the newest that the viewer may see; None where there are none.
        job: that rates the votes again; None where nothing is under way.
        error: why the last one failed; empty where it did not.
    """

    ratings: VoteReport | None
    job: Job | None
    error: str

    @cached_property
    def report(self) -> dict[str, Any]:
        """As `vote_report` has it; empty where there are no ratings."""
        return json.loads(zlib.decompress(self.ratings.report)) if self.ratings else {}

    @property
    def categories(self) -> list[CategoryRow]:
        """The ratings by category, systems in the order of the ratings."""
        return category_rows(self.report)


def voting_benchmark(viewer: Viewer, key: str) -> tuple[Benchmark, Audience]:
    """The benchmark of this key, which collects votes, and what the viewer is to it.

    Votes say how systems compare: readers from whom scores or names are hidden do not see them.

    Raises:
        Http404: there is none, the viewer may not know that there is one, or it collects no votes.
        PermissionDenied: something of it is hidden from the viewer.
    """
    benchmark, audience = readable_benchmark(viewer, key)
    if not collects_votes(benchmark):
        raise Http404(gettext("This benchmark collects scores, not votes."))
    return benchmark, audience


def benchmark_to_vote_on(viewer: Viewer, key: str) -> tuple[Benchmark, Audience]:
    """As `voting_benchmark`, for those who send votes: they may do so where they see nothing of what came of them."""
    benchmark, audience = readable_benchmark(viewer, key, restricted=True)
    if not collects_votes(benchmark):
        raise Http404(gettext("This benchmark collects scores, not votes."))
    return benchmark, audience


def _shown_ratings(audience: Audience) -> QuerySet[VoteReport]:
    """The ratings whose scores are on the board, the newest first; for those who decide all of them.

    What is accepted under an embargo is rated at once, and its scores wait for the end of the embargo.
    """
    rows = VoteReport.objects.filter(benchmark=audience.benchmark).order_by("-change")
    if audience.may_moderate:
        return rows
    waiting = Submission.objects.filter(benchmark=audience.benchmark, state__in=UNDECIDED)
    return rows.exclude(scores__in=waiting.values("batch"))


def open_batches(audience: Audience) -> QuerySet[VoteBatch]:
    """The accepted batches that are open to the viewer: those whose votes count in ratings that they may see."""
    rows = VoteBatch.objects.filter(benchmark=audience.benchmark, state=State.ACCEPTED)
    if audience.may_moderate:
        return rows
    counted = _shown_ratings(audience).values_list("batches", flat=True).first()
    return rows.filter(pk__in=counted or [])


def is_rating(benchmark: Benchmark) -> bool:
    """Whether ratings of its votes are being computed, or wait for it."""
    job = newest_job(benchmark) if collects_votes(benchmark) else None
    return job is not None and job.state in UNDER_WAY


def ratings_for(audience: Audience) -> ShownRatings:
    """The newest ratings that the viewer may see, and what changes them just now."""
    rows, job = _shown_ratings(audience), newest_job(audience.benchmark)
    is_under_way = job is not None and job.state in UNDER_WAY
    error = visible_error(job, sees_all=True) if job is not None and job.state == Job.State.FAILED else ""
    return ShownRatings(rows.first(), job if is_under_way else None, error)


def batches_for(audience: Audience) -> QuerySet[VoteBatch]:
    """The batches of a benchmark that the viewer may see, newest first; without the votes themselves."""
    rows = VoteBatch.objects.filter(benchmark=audience.benchmark).exclude(state=State.DRAFT).defer("votes")
    if not audience.may_moderate:
        own = Q(uploader=audience.viewer.pk) if audience.viewer.is_authenticated else Q(pk=None)
        rows = rows.filter(Q(pk__in=open_batches(audience).values("pk")) | own)
    return rows.select_related("uploader").order_by("-pk")


def visible_vote_batch(viewer: Viewer, uuid: UUID) -> tuple[VoteBatch, Audience]:
    """A batch of votes, for its sender and those who decide; once it is accepted, for every reader. A draft is its
    sender's alone.

    Raises:
        Http404: there is none, or it is not for this viewer.
    """
    batch = VoteBatch.objects.select_related("benchmark", "uploader").defer("votes").filter(uuid=uuid).first()
    if batch is None:
        raise Http404(gettext(NO_VOTES))
    audience = audience_of(viewer, batch.benchmark)
    is_own = viewer.is_authenticated and batch.uploader_id == viewer.pk
    if batch.state == State.DRAFT:
        is_visible = is_own and batch.expires_at is not None and batch.expires_at > timezone.now()
    else:
        is_visible = is_own or audience.may_moderate
        is_visible = is_visible or (not audience.is_restricted and open_batches(audience).filter(pk=batch.pk).exists())
    if not (audience.may_read and is_visible):
        raise Http404(gettext(NO_VOTES))
    return batch, audience


def steps_at(batch: VoteBatch, audience: Audience) -> list[str]:
    """What the viewer may do to a batch: `decide` is to accept or reject it, `draft` to confirm or discard it."""
    is_own = audience.viewer.is_authenticated and batch.uploader_id == audience.viewer.pk
    possible = {
        "draft": batch.state == State.DRAFT and is_own,
        "decide": batch.state == State.PENDING and audience.may_moderate,
        "retract": batch.state == State.PENDING and is_own,
        "withdraw": batch.state == State.ACCEPTED and may_withdraw(batch, audience),
        "reinstate": batch.state == State.WITHDRAWN and audience.may_moderate,
    }
    return [step for step, may in possible.items() if may]


def require_step(batch: VoteBatch, audience: Audience, action: str) -> None:
    """Go on where the viewer may take a step at some time of a batch's life; whether now is said by the step itself.

    Raises:
        PermissionDenied: they may not.
    """
    is_own = audience.viewer.is_authenticated and batch.uploader_id == audience.viewer.pk
    allowed = audience.may_moderate
    if action in ("confirm", "discard", "retract"):
        allowed = is_own
    elif action == "withdraw":
        allowed = may_withdraw(batch, audience)
    if not allowed:
        raise PermissionDenied(gettext(DECIDERS_ALONE))


def events_of(batch: VoteBatch) -> QuerySet[VoteEvent]:
    """What happened to a batch, oldest first."""
    return batch.events.select_related("actor").order_by("pk")
