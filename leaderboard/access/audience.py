"""Permissions: who can see and do what on a benchmark.

A view finds the `Audience` once, when it begins, and hands it to everything that it calls, which needs no further
queries for roles. What writes under a lock finds it there, once, since roles and settings may have changed meanwhile.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.expressions import NegatedExpression
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.proof import proven_systems
from leaderboard.access.roles import benchmark_of, role_and_ban
from leaderboard.common.moments import moment_in_words
from leaderboard.common.requests import DeadLinkError
from leaderboard.models import (
    Ban,
    Batch,
    Benchmark,
    BenchmarkDraft,
    Draft,
    Membership,
    Submission,
    User,
)

Viewer = User | AnonymousUser
UNDECIDED = (Submission.State.PENDING, Submission.State.APPROVED)  # what is in a queue
DECIDING = (Membership.Role.OWNER, Membership.Role.MODERATOR)
SIGN_IN_FIRST = gettext_noop("Sign in first.")
NO_BENCHMARK = gettext_noop("There is no benchmark of this name, or you have no access to it.")
NO_DRAFT = gettext_noop("You have no such draft. Drafts expire after some days.")
NO_SUBMISSION = gettext_noop("There is no such submission, or you have no access to it.")
BANNED = gettext_noop("Its owners or moderators banned you from submitting: %(reason)s")
DECIDERS_ALONE = gettext_noop("Only the moderators and owners of a benchmark can decide on submissions.")


@dataclass(frozen=True)
class Audience:
    """What one viewer is to one benchmark.

    `level` names who the answer to a request is fit for; it is part of every cache key.

    Where a benchmark hides something, moderators and owners see all of it and everyone else is *restricted*: they see
    the scores of no system but their own (`sees_others`: the ranks of others; `sees_names`: what these are called).
    """

    viewer: Viewer = field(repr=False)
    benchmark: Benchmark = field(repr=False)
    level: str  # "none", "public", "member" or "owner"
    may_read: bool
    may_submit: bool
    may_moderate: bool
    may_administer: bool
    why_closed: str = ""  # why they may not submit, as a sentence
    is_restricted: bool = False
    sees_others: bool = True
    sees_names: bool = True
    may_send_votes: bool = False
    why_no_votes: str = ""  # why they may not send votes, as a sentence
    ban_text: str = ""  # that they are banned and why, as a sentence; empty where they are not

    @property
    def user(self) -> User:
        """The viewer, where only those come who have signed in.

        Raises:
            PermissionDenied: they have not.
        """
        if isinstance(self.viewer, AnonymousUser):
            raise PermissionDenied(gettext(SIGN_IN_FIRST))
        return self.viewer

    @cached_property
    def own_system_ids(self) -> frozenset[int]:
        """The systems that the viewer submitted scores for; of a restricted viewer only those proven theirs."""
        if not self.viewer.is_authenticated:
            return frozenset()
        if self.is_restricted:
            return self.proven_system_ids
        submitted = Submission.objects.filter(benchmark=self.benchmark, batch__uploader=self.viewer)
        return frozenset(submitted.values_list("system_id", flat=True))

    @cached_property
    def proven_system_ids(self) -> frozenset[int]:
        """The systems whose scores were the viewer's own at every revision: what restricted viewers see whole."""
        if not self.viewer.is_authenticated:
            return frozenset()
        return proven_systems(self.benchmark, [self.viewer.pk])[self.viewer.pk]

    @property
    def sees_board(self) -> bool:
        """Whether they see which systems are on the board, by name."""
        return self.sees_names and self.sees_others

    @property
    def is_accepted_at_once(self) -> bool:
        """Whether no one has to decide about what they submit."""
        return self.may_moderate or self.benchmark.submission_policy == Benchmark.SubmissionPolicy.OPEN


def audience_of(viewer: Viewer, benchmark: Benchmark) -> Audience:
    """What `viewer` is to `benchmark`. Staff see what everyone sees: administering is the admin's business."""
    role, ban = None, None
    if viewer.is_authenticated:
        rows = Benchmark.objects.filter(pk=benchmark.pk).order_by()
        role, ban = rows.values_list(*role_and_ban(viewer.pk)).first() or (None, None)
    return _audience(viewer, benchmark, role, ban)


def audiences_of(viewer: User, benchmarks: Iterable[Benchmark]) -> dict[int, Audience]:
    """What `viewer` is to each of several benchmarks, by primary key: one query, however many there are."""
    by_key = {benchmark.pk: benchmark for benchmark in benchmarks}
    rows = Benchmark.objects.filter(pk__in=by_key).order_by().values_list("pk", *role_and_ban(viewer.pk))
    return {key: _audience(viewer, by_key[key], role, ban) for key, role, ban in rows}


def audiences_at(benchmark: Benchmark, viewers: Iterable[User]) -> dict[int, Audience]:
    """What each of several people is to `benchmark`, by their ids: two queries, however many they are."""
    people = {viewer.pk: viewer for viewer in viewers}
    roles = dict(Membership.objects.filter(benchmark=benchmark, user__in=people).values_list("user", "role"))
    bans = dict(Ban.objects.filter(benchmark=benchmark, user__in=people).values_list("user", "reason"))
    return {key: _audience(viewer, benchmark, roles.get(key), bans.get(key)) for key, viewer in people.items()}


def _audience(viewer: Viewer, benchmark: Benchmark, role: str | None, ban: str | None) -> Audience:
    if role is None and benchmark.visibility == Benchmark.Visibility.PRIVATE:
        return Audience(
            viewer, benchmark, "none", may_read=False, may_submit=False, may_moderate=False, may_administer=False
        )
    is_owner, decides = role == Membership.Role.OWNER, role in DECIDING
    ban_text = "" if ban is None or is_owner else gettext(BANNED) % {"reason": ban}
    why_closed = _why_closed(viewer, benchmark, is_owner=is_owner, ban_text=ban_text)
    level = "owner" if is_owner else "member" if role else "public"
    is_restricted = hides_something(benchmark) and not decides
    # What of the two a benchmark takes; the other one it takes from no one.
    collects_votes = benchmark.kind == Benchmark.Kind.VOTES
    why_no_votes = why_closed if collects_votes else gettext("It collects scores, not votes.")
    why_closed = gettext("Its scores are computed from votes: send votes.") if collects_votes else why_closed
    return Audience(
        viewer=viewer,
        benchmark=benchmark,
        level=f"{level}, restricted, user {viewer.pk}" if is_restricted else level,
        may_read=True,
        may_submit=not why_closed,
        may_moderate=decides,
        may_administer=is_owner,
        why_closed=why_closed,
        is_restricted=is_restricted,
        sees_others=not is_restricted or benchmark.score_view != Benchmark.ScoreView.OWN,
        sees_names=not is_restricted or not _is_anonymous(benchmark),
        may_send_votes=not why_no_votes,
        why_no_votes=why_no_votes,
        ban_text=ban_text,
    )


def hides_something(benchmark: Benchmark) -> bool:
    """Whether some readers do not see all of it."""
    return benchmark.score_view != Benchmark.ScoreView.FULL or _is_anonymous(benchmark)


def hides_nothing() -> Q:
    """For a query of benchmarks: those of which every reader sees everything."""
    is_named = Q(anonymous_until=None) | Q(anonymous_until__lte=timezone.now())
    return is_named & Q(score_view=Benchmark.ScoreView.FULL)


def restricted_ids(viewer: Viewer, benchmarks: Collection[Benchmark]) -> set[int]:
    """Of these benchmarks those that hide something from `viewer`: at most one query, however many there are."""
    hiding = {benchmark.pk for benchmark in benchmarks if hides_something(benchmark)}
    if not hiding or not viewer.is_authenticated:
        return hiding
    deciding = Membership.objects.filter(user=viewer, benchmark__in=hiding, role__in=DECIDING)
    return hiding - set(deciding.values_list("benchmark", flat=True))


def _is_anonymous(benchmark: Benchmark) -> bool:
    return benchmark.anonymous_until is not None and benchmark.anonymous_until > timezone.now()


def _why_closed(viewer: Viewer, benchmark: Benchmark, *, is_owner: bool, ban_text: str) -> str:
    """Why the viewer may not submit; empty where they may. Owners correct what they like until it is archived."""
    policy = benchmark.submission_policy
    if benchmark.is_archived:
        return gettext("The benchmark is archived.")
    if policy == Benchmark.SubmissionPolicy.CLOSED:
        return gettext("Its submissions are closed.")
    if not viewer.is_authenticated:
        return gettext(SIGN_IN_FIRST)
    if is_owner:
        return ""
    if policy == Benchmark.SubmissionPolicy.OWNERS:
        return gettext("Only its owners can submit scores.")
    if benchmark.deadline is not None and benchmark.deadline <= timezone.now():
        deadline = moment_in_words(benchmark.deadline)
        return gettext("Submissions were accepted until %(deadline)s.") % {"deadline": deadline}
    return ban_text


def is_embargoed(benchmark: Benchmark) -> bool:
    """Whether what is accepted now joins the board later."""
    return benchmark.embargo_until is not None and benchmark.embargo_until > timezone.now()


def listed_benchmarks(viewer: Viewer) -> QuerySet[Benchmark]:
    """The benchmarks that lists and counts may mention to `viewer`: the public ones and their own."""
    visible = Q(visibility=Benchmark.Visibility.PUBLIC)
    if viewer.is_authenticated:
        visible |= Q(pk__in=Membership.objects.filter(user=viewer).values("benchmark"))
    return Benchmark.objects.filter(visible)


def naming_benchmarks(viewer: Viewer) -> QuerySet[Benchmark]:
    """Of the benchmarks that lists may mention to `viewer`, those that show them every system by its name."""
    is_open = Q(anonymous_until=None) | Q(anonymous_until__lte=timezone.now())
    is_open &= ~Q(score_view=Benchmark.ScoreView.OWN)
    if viewer.is_authenticated:
        is_open |= Q(pk__in=Membership.objects.filter(user=viewer, role__in=DECIDING).values("benchmark"))
    return listed_benchmarks(viewer).filter(is_open)


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
    benchmark = benchmark_of(key, user=viewer.pk, counts_queue=counts_queue)
    if benchmark is None:
        raise Http404(gettext(NO_BENCHMARK))
    # Who is not signed in has neither.
    role, ban = getattr(benchmark, "viewer_role", None), getattr(benchmark, "viewer_ban", None)
    audience = _audience(viewer, benchmark, role, ban)
    if not audience.may_read:
        raise Http404(gettext(NO_BENCHMARK))
    if audience.is_restricted and not restricted:
        raise PermissionDenied(gettext("The owners of this benchmark show its scores only to its moderators."))
    return benchmark, audience


def administered_benchmark(viewer: Viewer, key: str) -> Benchmark:
    """The benchmark of this key, for its owners.

    Raises:
        Http404: there is none, or the viewer may not know that there is one.
        PermissionDenied: they do not own it.
    """
    benchmark, audience = readable_benchmark(viewer, key, restricted=True, counts_queue=True)
    if not audience.may_administer:
        raise PermissionDenied(gettext("Only the owners of a benchmark can change it."))
    return benchmark


def moderated_benchmark(viewer: Viewer, key: str) -> tuple[Benchmark, Audience]:
    """The benchmark of this key and what the viewer is to it, for its moderators and owners.

    Raises:
        Http404: there is none, or the viewer may not know that there is one.
        PermissionDenied: they do not moderate it.
    """
    benchmark, audience = readable_benchmark(viewer, key, restricted=True, counts_queue=True)
    if not audience.may_moderate:
        raise PermissionDenied(gettext(DECIDERS_ALONE))
    return benchmark, audience


def own_benchmark_draft(viewer: Viewer, uuid: UUID) -> BenchmarkDraft:
    """The viewer's own draft of a benchmark.

    Raises:
        Http404: they have none.
    """
    drafts = BenchmarkDraft.objects.filter(expires_at__gt=timezone.now())
    draft = drafts.filter(uuid=uuid, owner_id=viewer.pk or 0).first()
    if draft is None:
        raise DeadLinkError(gettext(NO_DRAFT))
    return draft


def own_draft(viewer: Viewer, uuid: UUID) -> tuple[Draft, Audience]:
    """The viewer's own draft, and what they are to its benchmark.

    Raises:
        Http404: they have none, or they may no longer see its benchmark.
    """
    draft = draft_to_confirm(viewer, uuid)
    if draft is None or not (audience := audience_of(viewer, draft.benchmark)).may_read:
        raise DeadLinkError(gettext(NO_DRAFT))
    return draft, audience


def draft_to_confirm(viewer: Viewer, uuid: UUID) -> Draft | None:
    """The viewer's own draft, whether they may still see its benchmark or not: `confirm_draft` looks at that."""
    drafts = Draft.objects.select_related("benchmark").filter(expires_at__gt=timezone.now())
    return drafts.filter(uuid=uuid, owner_id=viewer.pk or 0).first()


def visible_batch(viewer: Viewer, uuid: UUID) -> tuple[Batch, Audience]:
    """A batch, for its uploader and for those who decide on it; once all of it is accepted, for every reader.

    Returns:
        The batch, and what the viewer is to its benchmark.

    Raises:
        Http404: there is none, or it is not for this viewer.
    """
    batch = Batch.objects.select_related("benchmark", "uploader").filter(uuid=uuid).first()
    if batch is None or not _is_visible(batch, audience := audience_of(viewer, batch.benchmark)):
        raise Http404(gettext(NO_SUBMISSION))
    return batch, audience


def moderated_batch(viewer: Viewer, uuid: UUID) -> Batch:
    """A batch, whatever its state, for the moderators and owners of its benchmark.

    Raises:
        Http404: there is none, or the viewer may not know that there is one.
        PermissionDenied: they may see it, and do not decide about it.
    """
    batch, audience = visible_batch(viewer, uuid)
    if not audience.may_moderate:
        raise PermissionDenied(gettext(DECIDERS_ALONE))
    return batch


def _is_visible(batch: Batch, audience: Audience) -> bool:
    if not audience.may_read:
        return False
    is_theirs = audience.viewer.is_authenticated and batch.uploader_id == audience.viewer.pk
    if is_theirs or audience.may_moderate:
        return True
    is_accepted = not batch.submissions.exclude(state=Submission.State.ACCEPTED).exists()
    return is_accepted and not audience.is_restricted


def erasable_submission(viewer: User, uuid: UUID) -> Submission:
    """The submission of this number, for those who may delete its scores: owners of its benchmark, and staff.

    Raises:
        Http404: there is none, or the viewer may not know that there is one.
        PermissionDenied: they may see it, and not delete it.
    """
    rows = Submission.objects.select_related("benchmark", "batch", "system")
    submission = rows.filter(uuid=uuid).first()
    if submission is None:
        raise Http404(gettext(NO_SUBMISSION))
    audience = audience_of(viewer, submission.benchmark)
    if viewer.is_staff or audience.may_administer:
        return submission
    if not _is_visible(submission.batch, audience):
        raise Http404(gettext(NO_SUBMISSION))
    raise PermissionDenied(gettext("Only the owners of a benchmark and the site’s staff can take scores down."))


def batch_to_decide(benchmark: Benchmark, uuid: UUID) -> Batch:
    """A batch of the benchmark, decided or not; for its moderators.

    Raises:
        DeadLinkError: there is none.
    """
    batch = Batch.objects.select_related("benchmark", "uploader").filter(benchmark=benchmark, uuid=uuid).first()
    if batch is None:
        raise DeadLinkError(gettext("This benchmark has no such submission."))
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
