"""People of an organisation: invited by a link, given another role, removed; each change holds for its benchmarks."""

import secrets
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.accounts.organisations.founding import (
    OrganisationError,
    check_may_own,
    lock_for_owner,
    note_change,
)
from leaderboard.accounts.organisations.roles import update_roles
from leaderboard.common.hashing import secret_hash
from leaderboard.models import Organisation, OrganisationInvitation, OrganisationMember, User

INVITATION_DAYS = 7
MAX_INVITATIONS, MAX_MEMBERS = 50, 200
Role = OrganisationMember.Role


@transaction.atomic
def invite_to_organisation(organisation: Organisation, *, author: User, role: str) -> str:
    """Make an invitation; its secret, which no one can read again.

    Raises:
        OrganisationError: there is no such role, there are too many open invitations, or the author does not own it.
    """
    lock_for_owner(organisation, author)
    if role not in Role.values:
        raise OrganisationError(gettext("Choose one of the roles %(values)s.") % {"values": ", ".join(Role.values)})
    if open_invitations_of(organisation).count() >= MAX_INVITATIONS:
        raise OrganisationError(
            gettext("%(max_invitations)s invitations are open; revoke some, or wait until they are used.")
            % {"max_invitations": MAX_INVITATIONS}
        )
    secret = secrets.token_urlsafe(24)
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
    """The invitations that someone may still use."""
    return OrganisationInvitation.objects.filter(organisation=organisation, expires_at__gt=timezone.now())


@transaction.atomic
def revoke_organisation_invitation(organisation: Organisation, number: int, *, author: User) -> None:
    """End an open invitation.

    Raises:
        OrganisationError: there is none of this number, or the author does not own it.
    """
    lock_for_owner(organisation, author)
    invitation = open_invitations_of(organisation).filter(pk=number).first()
    if invitation is None or not open_invitations_of(organisation).filter(pk=number).delete()[0]:
        raise OrganisationError(gettext("This invitation was used, revoked or expired already."))
    note_change(organisation, author, "invitation", invitation.role, "")


def find_organisation_invitation(secret: str) -> OrganisationInvitation | None:
    """The open invitation of this secret, if its author still owns the organisation."""
    rows = OrganisationInvitation.objects.select_related("organisation", "author")
    invitation = rows.filter(secret_hash=secret_hash(secret), expires_at__gt=timezone.now()).first()
    if invitation is None:
        return None
    owners = OrganisationMember.objects.filter(organisation=invitation.organisation, role=Role.OWNER)
    return invitation if owners.filter(user=invitation.author).exists() else None


@transaction.atomic
def join_organisation(invitation: OrganisationInvitation, user: User) -> None:
    """Take the role that a link offers; an owner stays one.

    Raises:
        OrganisationError: someone used the link already, there are too many members, or they own as many organisations
            as anyone can.
    """
    organisation = Organisation.objects.select_for_update().get(pk=invitation.organisation_id)
    if not OrganisationInvitation.objects.filter(pk=invitation.pk).delete()[0]:
        raise OrganisationError(gettext("This invitation was already used or revoked."))
    known = OrganisationMember.objects.filter(organisation=organisation, user=user).first()
    if known is None and organisation.members.count() >= MAX_MEMBERS:
        raise OrganisationError(
            gettext("An organisation can have at most %(max_members)s members.") % {"max_members": MAX_MEMBERS}
        )
    if known is None or known.role != Role.OWNER:
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
