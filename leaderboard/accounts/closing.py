"""Closing an account: the person goes, what they did stays.

Personal data is on the user's row, in addresses and keys to sign in by, and in what they wrote. The row becomes a
"former member"; rows that belong to the person go with it; their words in the history are replaced. Scores, events
and decisions stay.
"""

from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import models, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.access.audience import UNDECIDED
from leaderboard.access.audit import changes_between, record_changes
from leaderboard.access.waiting import open_requests
from leaderboard.accounts.display_names import rename_in_log
from leaderboard.accounts.organisations.members import leave_all, solely_owned_organisations
from leaderboard.accounts.sessions import forget_sessions
from leaderboard.common.append_only import append_only_permit
from leaderboard.models import (
    AuditEntry,
    Ban,
    Batch,
    Benchmark,
    Invitation,
    Membership,
    Notice,
    PredictionSubmission,
    Release,
    Revision,
    Submission,
    SubmissionEvent,
    User,
    VoteBatch,
    VoteEvent,
)
from leaderboard.notifications.deliveries import switch_off_leavers
from leaderboard.notifications.outbox import forget_addressee

FORMER = "former member"
REDACTED = "[removed: its author closed their account]"
# What people write freely: the model, the field that says who wrote it, the text.
WORDS: list[tuple[type[models.Model], str, str]] = [
    (Batch, "uploader", "note"),
    (Revision, "author", "note"),
    (SubmissionEvent, "actor", "reason"),
    (VoteBatch, "uploader", "note"),
    (VoteEvent, "actor", "reason"),
    (AuditEntry, "actor", "reason"),
    (Release, "author", "note"),
    (Ban, "author", "reason"),
    (Notice, "author", "words"),
    (PredictionSubmission, "submitter", "note"),
]


class ClosingError(ValueError):
    """An account that cannot be closed now; the message says why."""


def owned_alone(user: User) -> tuple[list[Benchmark], list[Benchmark]]:
    """The benchmarks that no one else owns: those that someone has to take over, and those that no one would miss.

    The latter are private, no one else has a role on them, and no one else has sent them anything.
    """
    owners = Membership.objects.filter(role=Membership.Role.OWNER)
    others = owners.exclude(user=user).values("benchmark")
    alone = Benchmark.objects.filter(pk__in=owners.filter(user=user).values("benchmark")).exclude(pk__in=others)
    unmissed = alone.filter(visibility=Benchmark.Visibility.PRIVATE, organisation=None)
    unmissed = unmissed.exclude(pk__in=Membership.objects.exclude(user=user).values("benchmark"))
    unmissed = unmissed.exclude(pk__in=Batch.objects.exclude(uploader=user).values("benchmark"))
    unmissed = unmissed.exclude(pk__in=VoteBatch.objects.exclude(uploader=user).values("benchmark"))
    unmissed = unmissed.exclude(pk__in=PredictionSubmission.objects.exclude(submitter=user).values("benchmark"))
    ends = list(unmissed.order_by("pk"))
    return list(
        alone.exclude(pk__in=[benchmark.pk for benchmark in ends]).select_related("organisation").order_by("pk")
    ), ends


def open_requests_of(user: User) -> QuerySet[SubmissionEvent]:
    """The requests of a user to withdraw scores that no one has decided about."""
    rows = open_requests().filter(submission__batch__uploader=user).order_by("submission_id")
    return rows.select_related("submission__system", "submission__batch", "submission__benchmark")


def undecided_submissions_of(user: User) -> QuerySet[Submission]:
    """The submissions of a user that wait for a decision, or for the end of an embargo."""
    rows = Submission.objects.filter(batch__uploader=user, state__in=UNDECIDED).order_by("pk")
    return rows.select_related("system", "batch", "benchmark")


@transaction.atomic
def close_account(user: User) -> None:
    """Make the user a former member, for good.

    Private benchmarks that no one else takes part in are archived, and open requests to withdraw scores are cancelled:
    their reasons go, and no one could decide by them.

    Raises:
        ClosingError: they alone own a benchmark that others have to do with; someone else has to own it first.
    """
    owned = Benchmark.objects.filter(memberships__user=user, memberships__role=Membership.Role.OWNER)
    asked_about = Benchmark.objects.filter(pk__in=open_requests_of(user).values("submission__benchmark"))
    concerned = Q(pk__in=owned.values("pk")) | Q(pk__in=asked_about.values("pk"))
    # Two owners who leave at once: one of them is the last. A moderator may decide about a request at this moment.
    list(Benchmark.objects.filter(concerned).select_for_update().order_by("pk"))
    to_hand_over, ends = owned_alone(user)
    if to_hand_over:
        names = ", ".join(benchmark.name for benchmark in to_hand_over)
        raise ClosingError(
            gettext("You are the only owner of %(names)s. Invite another owner first, on its People page.")
            % {"names": names}
        )
    if organisation := solely_owned_organisations(user).first():
        raise ClosingError(
            gettext(
                "You are the only owner of the organisation %(name)s. Make someone else an owner of it, or delete it "
                "first."
            )
            % {"name": organisation.name}
        )
    for benchmark in ends:
        before = {"archived": benchmark.is_archived}
        changes = changes_between(AuditEntry.Subject.BENCHMARK, benchmark.key, before, {"archived": True})
        benchmark.is_archived = True
        benchmark.save(update_fields=["is_archived"])
        record_changes(benchmark, changes, actor=user, reason="The account of its only member was closed.")
    SubmissionEvent.objects.bulk_create(
        SubmissionEvent(submission=request.submission, kind=SubmissionEvent.Kind.CANCELLED, actor=user)
        for request in open_requests_of(user)
    )
    leave_all(user)
    with append_only_permit(f"closing account {user.pk}"):
        for model, who, text in WORDS:
            rows: Any = model._default_manager  # noqa: SLF001 -- as below
            written = rows.filter(**{who: user}).exclude(**{text: ""})
            written.update(**{text: REDACTED})
    for address in {user.email, *EmailAddress.objects.filter(user=user).values_list("email", flat=True)}:
        forget_addressee(address)
        LogEntry.objects.filter(Q(object_repr__icontains=address) | Q(change_message__icontains=address)).update(
            object_repr=FORMER, change_message=""
        )
    rename_in_log(user.shown_name, FORMER)
    forget_sessions(user)
    for membership in Membership.objects.filter(user=user).select_related("benchmark"):
        changes = changes_between(AuditEntry.Subject.PERSON, str(user.pk), {"role": membership.role}, {"role": ""})
        record_changes(membership.benchmark, changes, actor=user, reason="The account was closed.")
        membership.delete()
        switch_off_leavers(membership.benchmark)
    Invitation.objects.filter(author=user, used_by=None).delete()
    # What would go with the user's row goes: drafts, tokens, addresses, keys. What protects it is history and stays, as
    # does the administration's log of what they did as staff.
    for relation in user._meta.related_objects:  # noqa: SLF001 -- Django's documented way to a model's relations
        related: Any = relation.related_model
        goes: Any = getattr(relation, "on_delete", None)
        if goes is models.CASCADE and related is not LogEntry and not relation.many_to_many:
            related._default_manager.filter(**{relation.field.name: user}).delete()  # noqa: SLF001 -- as above
    of_user = {"content_type": ContentType.objects.get_for_model(User), "object_id": str(user.pk)}
    LogEntry.objects.filter(**of_user).update(object_repr=FORMER, change_message="")
    user.groups.clear()
    user.user_permissions.clear()
    user.email, user.display_name = f"closed-{user.pk}@closed.invalid", FORMER
    user.organisation = user.orcid = ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.last_login, user.closed_at = None, timezone.now()
    user.set_unusable_password()  # sessions elsewhere end with the old password
    user.save()
