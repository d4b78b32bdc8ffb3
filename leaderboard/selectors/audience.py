"""Who may see and do what: one function of (viewer, benchmark), asked by every page."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import NegatedExpression
from django.http import Http404
from django.utils import timezone

from leaderboard.models import Ban, Batch, Benchmark, BenchmarkDraft, Draft, Membership, Submission, User
from leaderboard.moments import moment_in_words

Viewer = User | AnonymousUser
UNDECIDED = (Submission.State.PENDING, Submission.State.APPROVED)  # what stands in a queue
SIGN_IN_FIRST = "Sign in first."


@dataclass(frozen=True)
class Audience:
    """What one viewer is to one benchmark.

    `level` names who the answer to a request is fit for; it is part of every cache key.

    Where a benchmark hides something, moderators and owners see all of it and everybody else is *restricted*: they see
    the scores of no system but their own (`sees_others`: the ranks of others; `sees_names`: what these are called).
    """

    level: str  # "none", "public", "member" or "owner"
    may_read: bool
    may_submit: bool
    may_moderate: bool
    may_administer: bool
    why_closed: str = ""  # why they may not submit, as a sentence
    is_restricted: bool = False
    sees_others: bool = True
    sees_names: bool = True


NOBODY = Audience("none", may_read=False, may_submit=False, may_moderate=False, may_administer=False)


def audience(viewer: Viewer, benchmark: Benchmark) -> Audience:
    """What `viewer` is to `benchmark`. Staff see what everyone sees: administering is the admin's business."""
    role = role_of(viewer, benchmark)
    if role is None and benchmark.visibility == Benchmark.Visibility.PRIVATE:
        return NOBODY
    is_owner = role == Membership.Role.OWNER
    decides = is_owner or role == Membership.Role.MODERATOR
    why_closed = _why_closed(viewer, benchmark, is_owner=is_owner)
    level = "owner" if is_owner else "member" if role else "public"
    is_restricted = hides_something(benchmark) and not decides
    return Audience(
        level=f"{level}, restricted, user {viewer.pk}" if is_restricted else level,
        may_read=True,
        may_submit=not why_closed,
        may_moderate=decides,
        may_administer=is_owner,
        why_closed=why_closed,
        is_restricted=is_restricted,
        sees_others=not is_restricted or benchmark.score_view != Benchmark.ScoreView.OWN,
        sees_names=not is_restricted or not _is_anonymous(benchmark),
    )


def hides_something(benchmark: Benchmark) -> bool:
    """Whether some readers do not see all of it."""
    return benchmark.score_view != Benchmark.ScoreView.FULL or _is_anonymous(benchmark)


def _is_anonymous(benchmark: Benchmark) -> bool:
    return benchmark.anonymous_until is not None and benchmark.anonymous_until > timezone.now()


def _why_closed(viewer: Viewer, benchmark: Benchmark, *, is_owner: bool) -> str:
    """Why the viewer may not submit; empty where they may. Owners correct what they like until it is archived."""
    policy = benchmark.submission_policy
    if benchmark.is_archived or policy == Benchmark.SubmissionPolicy.CLOSED:
        return "The benchmark is archived." if benchmark.is_archived else "Its submissions are closed."
    if not viewer.is_authenticated:
        return SIGN_IN_FIRST
    return "" if is_owner else _why_closed_to_others(viewer, benchmark)


def _why_closed_to_others(viewer: Viewer, benchmark: Benchmark) -> str:
    if benchmark.submission_policy == Benchmark.SubmissionPolicy.OWNERS:
        return "Its owners alone submit scores."
    if benchmark.deadline is not None and benchmark.deadline <= timezone.now():
        return f"Submissions were taken until {moment_in_words(benchmark.deadline)}."
    ban = Ban.objects.filter(benchmark=benchmark, user_id=viewer.pk or 0).first()
    return f"Its owners and moderators take no submissions of yours: {ban.reason}" if ban else ""


def is_embargoed(benchmark: Benchmark) -> bool:
    """Whether what is accepted now joins the board later."""
    return benchmark.embargo_until is not None and benchmark.embargo_until > timezone.now()


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


def readable_benchmark(
    viewer: Viewer, key: str, *, restricted: bool = False, counts_queue: bool = False
) -> tuple[Benchmark, Audience]:
    """The benchmark of this key and what the viewer is to it.

    Args:
        viewer: who asks.
        key: of the benchmark.
        restricted: whether the caller shows restricted viewers no more than they may see. Whatever does not say so is
            closed to them.
        counts_queue: whether the benchmark says, as `n_undecided`, how many batches wait for a decision.

    Raises:
        Http404: there is none, or the viewer may not know that there is one.
        PermissionDenied: the viewer is restricted.
    """
    rows = Benchmark.objects.select_related("publication__revision__configuration").filter(key=key)
    benchmark = (rows.annotate(n_undecided=_n_undecided()) if counts_queue else rows).first()
    if benchmark is None or not (found := audience(viewer, benchmark)).may_read:
        raise Http404("No benchmark of this name is open to you.")
    if found.is_restricted and not restricted:
        raise PermissionDenied("The owners of this benchmark show its scores to nobody but its moderators.")
    return benchmark, found


def _n_undecided() -> Subquery:
    """Of a query of benchmarks: how many batches wait in the queue of each. Every page for owners says it."""
    waiting = Submission.objects.filter(benchmark=OuterRef("pk"), state__in=UNDECIDED)
    return Subquery(waiting.order_by().values("benchmark").annotate(n=Count("batch", distinct=True)).values("n"))


def administered_benchmark(viewer: Viewer, key: str) -> Benchmark:
    """The benchmark of this key, for its owners.

    Raises:
        Http404: there is none, or the viewer may not know that there is one.
        PermissionDenied: they do not own it.
    """
    benchmark, found = readable_benchmark(viewer, key, restricted=True, counts_queue=True)
    if not found.may_administer:
        raise PermissionDenied("Only the owners of a benchmark change it.")
    return benchmark


def moderated_benchmark(viewer: Viewer, key: str) -> tuple[Benchmark, Audience]:
    """The benchmark of this key and what the viewer is to it, for its moderators and owners.

    Raises:
        Http404: there is none, or the viewer may not know that there is one.
        PermissionDenied: they do not moderate it.
    """
    benchmark, found = readable_benchmark(viewer, key, restricted=True, counts_queue=True)
    if not found.may_moderate:
        raise PermissionDenied("Only the moderators and owners of a benchmark decide about submissions.")
    return benchmark, found


def own_benchmark_draft(viewer: Viewer, uuid: UUID) -> BenchmarkDraft:
    """The viewer's own draft of a benchmark.

    Raises:
        Http404: there is none of theirs.
    """
    drafts = BenchmarkDraft.objects.filter(expires_at__gt=timezone.now())
    draft = drafts.filter(uuid=uuid, owner_id=viewer.pk or 0).first()
    if draft is None:
        raise Http404("No draft of yours stands here; drafts expire after some days.")
    return draft


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
        if found.may_read and (is_theirs or found.may_moderate):
            return batch
        others = batch.submissions.exclude(state=Submission.State.ACCEPTED)
        if found.may_read and not found.is_restricted and not others.exists():
            return batch
    raise Http404("No submission stands here that is open to you.")


def erasable_submission(viewer: User, uuid: UUID) -> Submission:
    """The submission of this number, for those who may delete its scores: owners of its benchmark, and staff.

    Raises:
        Http404: there is none, or the viewer may not know that there is one.
        PermissionDenied: they may see it, and not delete it.
    """
    rows = Submission.objects.select_related("benchmark", "batch", "system")
    submission = rows.filter(uuid=uuid).first()
    if submission is None:
        raise Http404("No submission stands here that is open to you.")
    if viewer.is_staff or audience(viewer, submission.benchmark).may_administer:
        return submission
    visible_batch(viewer, submission.batch.uuid)
    raise PermissionDenied("Only the owners of a benchmark and the site's staff take scores down.")


def proven_system_ids(viewer: Viewer, benchmark: Benchmark) -> frozenset[int]:
    """The systems whose scores were the viewer's own at every revision: what restricted viewers see whole.

    A submission that waits proves nothing: anybody may send one for anybody's system. One that somebody else withdrew
    still counts: its scores are on the boards of older revisions.
    """
    if not viewer.is_authenticated:
        return frozenset()
    accepted = Submission.objects.filter(benchmark=benchmark, state=Submission.State.ACCEPTED)
    own = set(accepted.filter(batch__uploader=viewer).values_list("system_id", flat=True))
    ever_accepted = [Submission.State.ACCEPTED, Submission.State.WITHDRAWN]
    others = Submission.objects.filter(system__in=own, state__in=ever_accepted).exclude(batch__uploader=viewer)
    return frozenset(own - set(others.values_list("system_id", flat=True)))


def undecided_batch(benchmark: Benchmark, uuid: UUID) -> Batch:
    """A batch of the benchmark that waits for a decision or for the end of an embargo; for its moderators.

    Raises:
        Http404: there is none, or it was decided.
    """
    batches = Batch.objects.select_related("benchmark", "uploader").filter(benchmark=benchmark, uuid=uuid)
    batch = batches.filter(submissions__state__in=UNDECIDED).first()
    if batch is None:
        raise Http404("No submission that waits stands here.")
    return batch


def is_batch_open() -> NegatedExpression:
    """Of a query of submissions: whether their batch, accepted as a whole, is open to readers of its benchmark."""
    return ~Exists(Submission.objects.filter(batch=OuterRef("batch")).exclude(state=Submission.State.ACCEPTED))


def batch_of_draft(viewer: User, uuid: UUID) -> Batch | None:
    """The batch that the viewer's draft of this number became, once they confirmed it."""
    return Batch.objects.filter(uploader=viewer, idempotency_key=draft_key(uuid)).first()


def draft_key(uuid: UUID) -> str:
    """The idempotency key of a draft's batch."""
    return f"draft {uuid}"
