"""When someone proves for the first time that they read the mail of an account's address.

Until then the account may have been made by someone else, who typed an address that is not theirs, set up ways back
in, and waits for the owner of the address. So nothing that was set up before outlives the proof.
"""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.db import transaction

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.accounts.organisations.members import leave_all
from leaderboard.accounts.sessions import end_all_sessions
from leaderboard.models import (
    ApiToken,
    AuditEntry,
    Invitation,
    Membership,
    OrganisationInvitation,
    PredictionSubmission,
    TeamInvitation,
    TeamMembership,
    User,
)
from leaderboard.notifications.deliveries import switch_off_leavers
from leaderboard.notifications.outbox import forget_addressee

WHY = "The account’s address was confirmed after this role was assigned."


def has_proven_address(user: User) -> bool:
    """Whether someone answered a mail to the address by which the user signs in."""
    return EmailAddress.objects.filter(user=user, email=user.email.lower(), verified=True).exists()


def is_own_address(user: User, email: str) -> bool:
    """Whether mails that open the account may go to an address: it signs in by it, or it was confirmed."""
    email = email.lower()
    return email == user.email.lower() or EmailAddress.objects.filter(user=user, email=email, verified=True).exists()


@transaction.atomic
def clear_before_proof(user: User) -> None:
    """End every way into an account, and every role from outside, that came before its address was proven.

    Further addresses, second factors, accounts at other sites, tokens, sessions, invitations that no one has used,
    teams with others that submitted nothing, and roles in organisations and on benchmarks that someone else owns. Its
    own benchmarks, submissions and drafts stay: they open nothing. So does a team that submitted, as outside it the
    account would have a new quota.
    """
    further = EmailAddress.objects.filter(user=user).exclude(email=user.email.lower())
    for address in further.values_list("email", flat=True):
        forget_addressee(address)
    further.delete()
    Authenticator.objects.filter(user=user).delete()
    SocialAccount.objects.filter(user=user).delete()
    ApiToken.objects.filter(user=user).delete()
    Invitation.objects.filter(author=user, used_by=None).delete()
    OrganisationInvitation.objects.filter(author=user, used_by=None).delete()
    TeamInvitation.objects.filter(author=user).delete()
    with_others = TeamMembership.objects.exclude(user=user).values("team")
    that_submitted = PredictionSubmission.objects.filter(is_trial=False).exclude(team=None).values("team")
    TeamMembership.objects.filter(user=user, team__in=with_others).exclude(team__in=that_submitted).delete()
    leave_all(user)
    owned_by_others = Membership.objects.filter(role=Membership.Role.OWNER).exclude(user=user).values("benchmark")
    roles = Membership.objects.filter(user=user, benchmark__in=owned_by_others)
    for role in roles.select_related("benchmark"):
        changes = changes_between(AuditEntry.Subject.PERSON, str(user.pk), {"role": role.role}, {"role": ""})
        record_changes(role.benchmark, changes, actor=user, reason=WHY)
        role.delete()
        switch_off_leavers(role.benchmark)
    end_all_sessions(user)


@transaction.atomic
def note_proof_by_reset(user: User) -> None:
    """After a password was set by the link of a mail: the first such answer proves the address that it went to.

    Where only a further address was ever confirmed, no one can tell to which of them the mail went; then everything
    is cleared, and the address stays unproven until its own mail is answered.
    """
    if has_proven_address(user):
        return
    is_only_address = not EmailAddress.objects.filter(user=user, verified=True).exists()
    clear_before_proof(user)
    taken = EmailAddress.objects.filter(email=user.email.lower(), verified=True).exists()
    if is_only_address and not taken:
        EmailAddress.objects.update_or_create(
            user=user, email=user.email.lower(), defaults={"verified": True, "primary": True}
        )
