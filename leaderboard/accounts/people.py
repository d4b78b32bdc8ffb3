"""Roles and bans on a benchmark, and invitation links, each used once.

An owner who could name people by their email addresses would learn who has an account here; so they send a link.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import Case, Exists, IntegerField, OuterRef, QuerySet, Value, When
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.access.locks import lock_as_moderator, lock_as_owner, lock_benchmark
from leaderboard.accounts.organisations.founding import OrganisationError, lock_organisation_of, take_out
from leaderboard.accounts.organisations.roles import ORDER, give_own_role
from leaderboard.common.hashing import secret_hash, secret_of_form
from leaderboard.common.language.sentences import Sentence
from leaderboard.models import AuditEntry, Ban, Benchmark, Invitation, Membership, NoticeKind, User
from leaderboard.models.benchmarks import NAME_LENGTH
from leaderboard.notifications.deliveries import switch_off_leavers
from leaderboard.notifications.notices import tell
from ranking_engine.text.characters import refused_in_line

INVITATION_DAYS = 7
MAX_INVITATIONS = 50  # open ones of a benchmark
Role = Membership.Role
NOTHING_NEW = gettext_noop(
    "You have this role on %(name)s already. The link still works: send it to the person it is for."
)


class PeopleError(ValueError):
    """A change of people that cannot be made; the message says why."""


@transaction.atomic
def invite(
    benchmark: Benchmark, *, author: User, role: str, name: str = "", hands_over: bool = False, once: str = ""
) -> str:
    """Make an invitation.

    Args:
        benchmark: to which.
        author: an owner.
        role: that it gives.
        name: whom it is for, in one line; they are greeted by it. May be empty.
        hands_over: whether the author gives the benchmark away to the new owner, and is a member from then on.
        once: of the form, so that one that is sent twice makes one invitation.

    Returns:
        Its secret, which no one can read again.

    Raises:
        PeopleError: there is no such role, the name is too long, there are too many open invitations, the invitation of
            this form was used or revoked, or a benchmark is to be handed over to someone who would not own it.
    """
    if len(name) > NAME_LENGTH:
        raise PeopleError(
            gettext("The name has %(n_name)s characters; at most %(name_length)s are kept.")
            % {"n_name": f"{len(name):,}", "name_length": NAME_LENGTH}
        )
    if character := refused_in_line(name):
        problem = gettext("The name holds the invisible or control character %(character)s; leave it out.")
        raise PeopleError(problem % {"character": character})
    if role not in Role.values:
        raise PeopleError(gettext("Choose one of the roles %(values)s.") % {"values": ", ".join(Role.values)})
    if hands_over and role != Role.OWNER:
        raise PeopleError(gettext("A benchmark is handed over to an owner."))
    lock_as_owner(benchmark.pk, author)
    secret = secret_of_form(once, author.pk, benchmark.pk, role, name.strip(), hands_over)
    if _open_invitations().filter(secret_hash=secret_hash(secret)).exists():
        return secret
    if Invitation.objects.filter(secret_hash=secret_hash(secret)).exists():
        raise PeopleError(gettext("You sent this form before, and its invitation has ended; send it again."))
    if open_invitations(benchmark).count() >= MAX_INVITATIONS:
        raise PeopleError(
            gettext("%(max_invitations)s invitations are open; revoke some, or wait until they are used.")
            % {"max_invitations": MAX_INVITATIONS}
        )
    Invitation.objects.create(
        benchmark=benchmark,
        role=role,
        name=name.strip(),
        hands_over=hands_over,
        secret_hash=secret_hash(secret),
        author=author,
        expires_at=timezone.now() + timedelta(days=INVITATION_DAYS),
    )
    return secret


def open_invitations(benchmark: Benchmark) -> QuerySet[Invitation]:
    """The invitations that someone may still use. Those of former owners and of closed accounts are none."""
    return _open_invitations().filter(benchmark=benchmark)


def _open_invitations() -> QuerySet[Invitation]:
    authors = Membership.objects.filter(benchmark=OuterRef("benchmark"), user=OuterRef("author"), role=Role.OWNER)
    rows = Invitation.objects.select_related("benchmark", "author")
    return rows.filter(Exists(authors), author__is_active=True, used_by=None, expires_at__gt=timezone.now())


@transaction.atomic
def revoke_invitation(benchmark: Benchmark, number: int, *, author: User) -> None:
    """End an open invitation: its link works no more.

    Args:
        benchmark: to which it invites.
        number: its primary key.
        author: an owner.

    Raises:
        PeopleError: the benchmark has no such open invitation.
    """
    lock_as_owner(benchmark.pk, author)
    invitation = open_invitations(benchmark).filter(pk=number).first()
    ended = {"expires_at": timezone.now(), "name": ""}
    if invitation is None or not open_invitations(benchmark).filter(pk=number).update(**ended):
        raise PeopleError(gettext("This invitation was used, revoked or expired already."))
    changes = changes_between(
        AuditEntry.Subject.PERSON, "invitation", {"invitation": invitation.role}, {"invitation": ""}
    )
    record_changes(benchmark, changes, actor=author)


def members_of(benchmark: Benchmark) -> QuerySet[Membership]:
    """Who has a role, with their accounts: owners first, then moderators, then members, each by name."""
    order = [When(role=role, then=Value(place)) for place, role in enumerate((Role.OWNER, Role.MODERATOR, Role.MEMBER))]
    rows = Membership.objects.filter(benchmark=benchmark).select_related("user", "organisation")
    return rows.order_by(Case(*order, output_field=IntegerField()), "user__display_name", "user")


def find_invitation(secret: str) -> Invitation | None:
    """The open invitation of this secret, if its author still owns the benchmark."""
    return _open_invitations().filter(secret_hash=secret_hash(secret)).first()


def benchmark_joined_by(secret: str, user: User) -> Benchmark | None:
    """The benchmark on which a user has a role, where they took the invitation of this secret before."""
    used = Invitation.objects.filter(secret_hash=secret_hash(secret), used_by=user)
    return Benchmark.objects.filter(invitations__in=used, memberships__user=user).first()


def gives_nothing_new(invitation: Invitation, user: User) -> bool:
    """Whether someone has the role of an invitation, or a greater one, without it; what is handed over is new."""
    roles = ORDER[ORDER.index(invitation.role) :]
    rows = Membership.objects.filter(benchmark=invitation.benchmark_id, user=user, role__in=roles)
    return rows.exists() and (not invitation.hands_over or invitation.author_id == user.pk)


@transaction.atomic
def accept_invitation(invitation: Invitation, user: User) -> Membership:
    """Take the role that a link offers.

    Where the link hands the benchmark over, its author is a member from now on.

    Raises:
        PeopleError: someone used the link already, its author no longer owns the benchmark, or it gives the user
            nothing new.
    """
    if gives_nothing_new(invitation, user):
        raise PeopleError(gettext(NOTHING_NEW) % {"name": invitation.benchmark.name})
    if invitation.hands_over:
        lock_organisation_of(invitation.benchmark)  # before any row of the benchmark, as wherever roles change
    lock_benchmark(invitation.benchmark_id)  # its author may be losing their role at this moment
    if not _open_invitations().filter(pk=invitation.pk).update(used_by=user, name=""):
        raise PeopleError(gettext("This invitation was already used or revoked, or its author is no longer an owner."))
    known = Membership.objects.filter(benchmark=invitation.benchmark, user=user).first()
    if known is None or ORDER.index(known.role) < ORDER.index(invitation.role):
        before = known.role if known else ""
        give_own_role(invitation.benchmark, user, invitation.role)
        _record(invitation.benchmark, user, "role", before, invitation.role, actor=invitation.author)
    if invitation.hands_over:
        author, reason = invitation.author, "The benchmark was handed over."
        if invitation.benchmark.organisation_id is not None:
            try:
                take_out(invitation.benchmark, author=author)
            except OrganisationError as error:
                raise PeopleError(str(error)) from error
            invitation.benchmark.refresh_from_db(fields=["organisation"])
        change_role(invitation.benchmark, author, author=author, role=Role.MEMBER, reason=reason)
    return Membership.objects.get(benchmark=invitation.benchmark, user=user)


def is_only_owner(benchmark: Benchmark, user: User) -> bool:
    """Whether someone owns a benchmark that no one else owns."""
    owners = Membership.objects.filter(benchmark=benchmark, role=Role.OWNER)
    return list(owners.values_list("user", flat=True)[:2]) == [user.pk]


@transaction.atomic
def change_role(benchmark: Benchmark, user: User, *, author: User, role: str, reason: str = "") -> bool:
    """Give someone who has a role another one, or none where `role` is empty.

    Returns:
        Whether they had another one before.

    Raises:
        PeopleError: they have none, there is no such role, or no one would own the benchmark.
    """
    lock_as_owner(benchmark.pk, author)
    known = Membership.objects.select_related("organisation").filter(benchmark=benchmark, user=user).first()
    if known is None or (role and role not in Role.values):
        raise PeopleError(gettext("There is no such person or role."))
    if known.organisation is not None:
        raise PeopleError(
            gettext("This person has the role through %(organisation)s; it is changed there.")
            % {"organisation": known.organisation.name}
        )
    if known.role == role:
        return False
    if is_only_owner(benchmark, user):
        raise PeopleError(gettext("A benchmark needs at least one owner."))
    _record(benchmark, user, "role", known.role, role, actor=author, reason=reason)
    give_own_role(benchmark, user, role)
    if known.role == Role.OWNER:
        switch_off_leavers(benchmark)
    return True


@transaction.atomic
def ban(benchmark: Benchmark, user: User, *, author: User, reason: str) -> None:
    """Take no submissions of someone any more; a notice gives them the reason.

    Raises:
        PeopleError: no reason is given, or they moderate or own the benchmark.
    """
    if not reason.strip():
        raise PeopleError(gettext("Give a reason: the banned user sees it."))
    lock_as_moderator(benchmark.pk, author)
    if Membership.objects.filter(benchmark=benchmark, user=user, role__in=[Role.OWNER, Role.MODERATOR]).exists():
        raise PeopleError(gettext("Owners and moderators cannot be banned; remove their role first."))
    row, is_new = Ban.objects.get_or_create(
        benchmark=benchmark, user=user, defaults={"reason": reason.strip(), "author": author}
    )
    if is_new:
        _record(benchmark, user, "banned", "no", "yes", actor=author, reason=reason)
        tell(
            [user.pk],
            NoticeKind.DECISION,
            key=f"ban {row.pk}",
            sentence=Sentence("You are banned from submitting to %(benchmark)s. You can still read it.").of(
                benchmark=benchmark.name
            ),
            path=reverse("board", args=[benchmark.key]),
            benchmark=benchmark,
            words=row.reason,
            author=author,
        )


@transaction.atomic
def lift_ban(benchmark: Benchmark, user: User, *, author: User, reason: str = "") -> bool:
    """Take submissions of someone again, and notify them. Returns whether they were banned."""
    lock_as_owner(benchmark.pk, author)
    row = Ban.objects.filter(benchmark=benchmark, user=user).first()
    if row is None or not Ban.objects.filter(pk=row.pk).delete()[0]:
        return False
    _record(benchmark, user, "banned", "yes", "no", actor=author, reason=reason)
    tell(
        [user.pk],
        NoticeKind.DECISION,
        key=f"ban {row.pk} lifted",
        sentence=Sentence("You are no longer banned from submitting to %(benchmark)s.").of(benchmark=benchmark.name),
        path=reverse("board", args=[benchmark.key]),
        benchmark=benchmark,
        words=reason,
        author=author,
    )
    return True


def _record(
    benchmark: Benchmark, user: User, field: str, before: str, after: str, *, actor: User, reason: str = ""
) -> None:
    """The trail names people by their number: a closed account's name is on its row alone."""
    changes = changes_between(AuditEntry.Subject.PERSON, str(user.pk), {field: before}, {field: after})
    record_changes(benchmark, changes, actor=actor, reason=reason)
