"""People of an organisation: invited by a link, given another role, removed; each change holds for its benchmarks."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from leaderboard.accounts.organisations.founding import (
    OrganisationError,
    check_may_own,
    lock_for_owner,
    note_change,
)
from leaderboard.accounts.organisations.roles import update_roles
from leaderboard.common.hashing import secret_hash, secret_of_form
from leaderboard.models import Organisation, OrganisationInvitation, OrganisationMember, User

INVITATION_DAYS = 7
MAX_INVITATIONS, MAX_MEMBERS = 50, 200
Role = OrganisationMember.Role
NOTHING_NEW = gettext_noop("You are in %(name)s already. The link still works: send it to the person it is for.")


@transaction.atomic
def invite_to_organisation(organisation: Organisation, *, author: User, role: str, once: str = "") -> str:
    """Make an invitation.

    Args:
        organisation: to which.
        author: an owner.
        role: that it gives.
        once: of the form, so that one that is sent twice makes one invitation.

    Returns:
        Its secret, which no one can read again.

    Raises:
        OrganisationError: there is no such role, there are too many open invitations, the invitation of this form was
            used or revoked, or the author does not own it.
    """
    lock_for_owner(organisation, author)
    if role not in Role.values:
        raise OrganisationError(gettext("Choose one of the roles %(values)s.") % {"values": ", ".join(Role.values)})
    secret = secret_of_form(once, author.pk, organisation.pk, role)
    if _open_invitations().filter(secret_hash=secret_hash(secret)).exists():
        return secret
    if OrganisationInvitation.objects.filter(secret_hash=secret_hash(secret)).exists():
        raise OrganisationError(gettext("You sent this form before, and its invitation has ended; send it again."))
    if open_invitations_of(organisation).count() >= MAX_INVITATIONS:
        raise OrganisationError(
            gettext("%(max_invitations)s invitations are open; revoke some, or wait until they are used.")
            % {"max_invitations": MAX_INVITATIONS}
        )
    OrganisationInvitation.objects.create(
        organisation=organisation,
        role=role,
        secret_hash=secret_hash(secret),
        author=author,
        expires_at=timezone.now() + timedelta(days=INVITATION_DAYS),
    )
    note_change(organisation, author, "invitation", "", role)
    return secret


def open_invitations_of(organisation: Organisation) -> QuerySet[OrganisationInvitation]:
    """The invitations that someone may still use. Those of former owners and of closed accounts are none."""
    return _open_invitations().filter(organisation=organisation)


def _open_invitations() -> QuerySet[OrganisationInvitation]:
    authors = OrganisationMember.objects.filter(
        organisation=OuterRef("organisation"), user=OuterRef("author"), role=Role.OWNER
    )
    rows = OrganisationInvitation.objects.select_related("organisation", "author")
    return rows.filter(Exists(authors), author__is_active=True, used_by=None, expires_at__gt=timezone.now())


@transaction.atomic
def revoke_organisation_invitation(organisation: Organisation, number: int, *, author: User) -> None:
    """End an open invitation.

    Raises:
        OrganisationError: there is none of this number, or the author does not own it.
    """
    lock_for_owner(organisation, author)
    invitation = open_invitations_of(organisation).filter(pk=number).first()
    if invitation is None or not open_invitations_of(organisation).filter(pk=number).update(expires_at=timezone.now()):
        raise OrganisationError(gettext("This invitation was used, revoked or expired already."))
    note_change(organisation, author, "invitation", invitation.role, "")


def find_organisation_invitation(secret: str) -> OrganisationInvitation | None:
    """The open invitation of this secret, if its author still owns the organisation."""
    return _open_invitations().filter(secret_hash=secret_hash(secret)).first()


def organisation_joined_by(secret: str, user: User) -> Organisation | None:
    """The organisation that a user is in, where they took the invitation of this secret before."""
    used = OrganisationInvitation.objects.filter(secret_hash=secret_hash(secret), used_by=user)
    return Organisation.objects.filter(invitations__in=used, members__user=user).first()


def gives_nothing_new(invitation: OrganisationInvitation, user: User) -> bool:
    """Whether someone has the role of an invitation to an organisation, or a greater one, without it."""
    roles = [Role.OWNER] if invitation.role == Role.OWNER else Role.values
    return OrganisationMember.objects.filter(
        organisation=invitation.organisation_id, user=user, role__in=roles
    ).exists()


@transaction.atomic
def join_organisation(invitation: OrganisationInvitation, user: User) -> None:
    """Take the role that a link offers.

    Raises:
        OrganisationError: someone used the link already, it gives them nothing new, there are too many members, or they
            own as many organisations as anyone can.
    """
    organisation = Organisation.objects.select_for_update().get(pk=invitation.organisation_id)
    if gives_nothing_new(invitation, user):
        raise OrganisationError(gettext(NOTHING_NEW) % {"name": organisation.name})
    now = timezone.now()
    if not _open_invitations().filter(pk=invitation.pk).update(used_by=user, expires_at=now):
        raise OrganisationError(
            gettext("This invitation was already used or revoked, or its author is no longer an owner.")
        )
    is_new = not OrganisationMember.objects.filter(organisation=organisation, user=user).exists()
    if is_new and organisation.members.count() >= MAX_MEMBERS:
        raise OrganisationError(
            gettext("An organisation can have at most %(max_members)s members.") % {"max_members": MAX_MEMBERS}
        )
    _set_role(organisation, user, invitation.role, actor=invitation.author)


@transaction.atomic
def change_member(organisation: Organisation, user: User, *, author: User, role: str) -> None:
    """Give a member another role, or none where `role` is empty: removing someone, and leaving.

    Raises:
        OrganisationError: they are no member, there is no such role, no one would own the organisation, or the author
            neither owns it nor leaves it.
    """
    if author == user and not role:
        Organisation.objects.select_for_update().get(pk=organisation.pk)
    else:
        lock_for_owner(organisation, author)
    known = OrganisationMember.objects.filter(organisation=organisation, user=user).first()
    if known is None or (role and role not in Role.values):
        raise OrganisationError(gettext("There is no such member or role."))
    owners = OrganisationMember.objects.filter(organisation=organisation, role=Role.OWNER).exclude(user=user)
    if known.role == Role.OWNER and role != Role.OWNER and not owners.exists():
        raise OrganisationError(gettext("An organisation needs at least one owner."))
    _set_role(organisation, user, role, actor=author)


def _set_role(organisation: Organisation, user: User, role: str, *, actor: User) -> None:
    rows = OrganisationMember.objects.filter(organisation=organisation, user=user)
    before = rows.values_list("role", flat=True).first() or ""
    if role == Role.OWNER != before:
        check_may_own(user)
    if role:
        OrganisationMember.objects.update_or_create(organisation=organisation, user=user, defaults={"role": role})
    else:
        rows.delete()
        # Links that the person sent bring no one in any more.
        OrganisationInvitation.objects.filter(organisation=organisation, author=user).delete()
    note_change(organisation, actor, f"role of user {user.pk}", before, role)
    for benchmark in organisation.benchmarks.select_for_update().order_by("pk"):
        update_roles(benchmark, actor=actor, reason=f"By the role in {organisation.name}.", users=[user.pk])


def solely_owned_organisations(user: User) -> QuerySet[Organisation]:
    """The organisations that no one else owns."""
    owners = OrganisationMember.objects.filter(role=Role.OWNER)
    others = owners.exclude(user=user).values("organisation")
    return Organisation.objects.filter(pk__in=owners.filter(user=user).values("organisation")).exclude(pk__in=others)


def leave_all(user: User) -> None:
    """Leave every organisation that someone else owns, in the caller's transaction."""
    alone = solely_owned_organisations(user)
    for member in OrganisationMember.objects.filter(user=user).exclude(organisation__in=alone):
        change_member(member.organisation, user, author=user, role="")
