"""Who may see and do what: one function of (viewer, benchmark), asked by every page."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils import timezone

from leaderboard.models import Batch, Benchmark, Draft, Membership, Submission, User

Viewer = User | AnonymousUser


@dataclass(frozen=True)
class Audience:
    """What one viewer is to one benchmark.

    `level` names who the answer to a request is fit for; it is part of every cache key.
    """

    level: str  # "none", "public", "member" or "owner"
    may_read: bool
    may_submit: bool
    may_moderate: bool
    may_administer: bool


NOBODY = Audience("none", may_read=False, may_submit=False, may_moderate=False, may_administer=False)


def audience(viewer: Viewer, benchmark: Benchmark) -> Audience:
    """What `viewer` is to `benchmark`. Staff see what everyone sees: administering is the admin's business."""
    role = role_of(viewer, benchmark)
    if role is None and benchmark.visibility == Benchmark.Visibility.PRIVATE:
        return NOBODY
    is_owner = role == Membership.Role.OWNER
    decides = is_owner or role == Membership.Role.MODERATOR
    return Audience(
        level="owner" if is_owner else "member" if role else "public",
        may_read=True,
        may_submit=_may_submit(viewer, benchmark, is_owner=is_owner),
        may_moderate=decides,
        may_administer=is_owner,
    )


def _may_submit(viewer: Viewer, benchmark: Benchmark, *, is_owner: bool) -> bool:
    policy = benchmark.submission_policy
    if not viewer.is_authenticated or policy == Benchmark.SubmissionPolicy.CLOSED:
        return False
    return is_owner or policy != Benchmark.SubmissionPolicy.OWNERS


def role_of(viewer: Viewer, benchmark: Benchmark) -> str | None:
    """The viewer's role on the benchmark, or None."""
    if not viewer.is_authenticated:
        return None
    return Membership.objects.filter(user=viewer, benchmark=benchmark).values_list("role", flat=True).first()


def listed_benchmarks(viewer: Viewer) -> QuerySet[Benchmark]:
    """The benchmarks that lists and counts may mention to `viewer`: the public ones and their own."""
    visible = Q(visibility=Benchmark.Visibility.PUBLIC)
    if viewer.is_authenticated:
        visible |= Q(pk__in=Membership.objects.filter(user=viewer).values("benchmark"))
    return Benchmark.objects.filter(visible)


def readable_benchmark(viewer: Viewer, key: str) -> tuple[Benchmark, Audience]:
    """The benchmark of this key and what the viewer is to it.

    Raises:
        Http404: there is none, or the viewer may not know that there is one.
    """
    benchmark = Benchmark.objects.select_related("publication__revision__configuration").filter(key=key).first()
    if benchmark is None or not (found := audience(viewer, benchmark)).may_read:
        raise Http404("No benchmark of this name is open to you.")
    return benchmark, found


def own_draft(viewer: Viewer, uuid: UUID) -> Draft:
    """The viewer's own draft.

    Raises:
        Http404: there is none of theirs, or they may no longer see its benchmark.
    """
    drafts = Draft.objects.select_related("benchmark").filter(expires_at__gt=timezone.now())
    draft = drafts.filter(uuid=uuid, owner_id=viewer.pk or 0).first()
    if draft is None or not audience(viewer, draft.benchmark).may_read:
        raise Http404("No draft of yours stands here; drafts expire after some days.")
    return draft


def visible_batch(viewer: Viewer, uuid: UUID) -> Batch:
    """A batch, for its uploader and for those who decide on it; once all of it is accepted, for every reader.

    Raises:
        Http404: there is none, or it is not for this viewer.
    """
    batch = Batch.objects.select_related("benchmark", "uploader").filter(uuid=uuid).first()
    if batch is not None:
        found = audience(viewer, batch.benchmark)
        is_theirs = viewer.is_authenticated and batch.uploader_id == viewer.pk
        if found.may_read and (is_theirs or found.may_moderate or is_wholly_accepted(batch.submissions.all())):
            return batch
    raise Http404("No submission stands here that is open to you.")


def is_wholly_accepted(submissions: Iterable[Submission]) -> bool:
    """Whether the batch of these submissions is open to every reader of its benchmark."""
    return all(submission.state == Submission.State.ACCEPTED for submission in submissions)


def batch_of_draft(viewer: User, uuid: UUID) -> Batch | None:
    """The batch that the viewer's draft of this number became, once they confirmed it."""
    return Batch.objects.filter(uploader=viewer, idempotency_key=draft_key(uuid)).first()


def draft_key(uuid: UUID) -> str:
    """The idempotency key of a draft's batch."""
    return f"draft {uuid}"
