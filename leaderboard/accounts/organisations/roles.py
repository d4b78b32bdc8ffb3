"""Roles on benchmarks that people have through an organisation.

A `Membership` has the greater of what a person was given on the benchmark
itself (`own_role`, where it is not the one in force) and what they are in its organisation.
"""

from collections.abc import Collection

from django.utils.translation import gettext

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.models import AuditEntry, Benchmark, Membership, OrganisationMember, User
from leaderboard.notifications.deliveries import switch_off_leavers

Role = Membership.Role
ORDER = ["", Role.MEMBER.value, Role.MODERATOR.value, Role.OWNER.value]
# Owners of an organisation own its benchmarks; its members can read them.
THROUGH = {
    OrganisationMember.Role.OWNER.value: Role.OWNER.value,
    OrganisationMember.Role.MEMBER.value: Role.MEMBER.value,
}


def role_text(role: str, name: str) -> str:
    """What someone is now on a benchmark or in an organisation, as a sentence to them.

    Args:
        role: that they now have; empty where they have none.
        name: of the benchmark or the organisation.
    """
    texts = {
        Role.OWNER.value: gettext("You are now an owner of %(name)s."),
        Role.MODERATOR.value: gettext("You are now a moderator of %(name)s."),
        Role.MEMBER.value: gettext("You are now a member of %(name)s."),
    }
    return texts.get(role, gettext("You no longer have a role on %(name)s.")) % {"name": name}


def update_roles(benchmark: Benchmark, *, actor: User, reason: str, users: Collection[int] | None = None) -> None:
    """Give people the role on a benchmark that they now have, in the transaction that changes why they have it.

    Args:
        benchmark: as it is now, in an organisation or not.
        actor: who changed it.
        reason: why, for the audit trail of the benchmark.
        users: whose roles may have changed; everyone's where None.
    """
    through: dict[int, str] = {}
    if benchmark.organisation_id is not None:
        members = OrganisationMember.objects.filter(organisation=benchmark.organisation_id)
        through = {user: THROUGH[role] for user, role in members.values_list("user", "role")}
    rows = {row.user_id: row for row in Membership.objects.filter(benchmark=benchmark)}
    concerned = through.keys() | {user for user, row in rows.items() if row.organisation_id}
    lost_owner = False
    for user in sorted(concerned if users is None else concerned & set(users)):
        row = rows.get(user)
        own = "" if row is None else row.own_role if row.organisation_id else row.role
        comes_through = ORDER.index(through.get(user, "")) > ORDER.index(own)
        before, role = row.role if row else "", through[user] if comes_through else own
        if role:
            state = {
                "role": role,
                "organisation_id": benchmark.organisation_id if comes_through else None,
                "own_role": own if comes_through else "",
            }
            Membership.objects.update_or_create(benchmark=benchmark, user_id=user, defaults=state)
        elif row:
            row.delete()
        changes = changes_between(AuditEntry.Subject.PERSON, str(user), {"role": before}, {"role": role})
        record_changes(benchmark, changes, actor=actor, reason=reason)
        lost_owner = lost_owner or (before == Role.OWNER and role != Role.OWNER)
    if lost_owner:
        switch_off_leavers(benchmark)


def give_own_role(benchmark: Benchmark, user: User, role: str) -> None:
    """Give a person a role on the benchmark itself, or none where it is empty; what an organisation gives stays.

    The caller records it.
    """
    if role:
        state = {"role": role, "organisation": None, "own_role": ""}
        Membership.objects.update_or_create(benchmark=benchmark, user=user, defaults=state)
    else:
        Membership.objects.filter(benchmark=benchmark, user=user).delete()
    present, reason = Benchmark.objects.get(pk=benchmark.pk), "A role through the organisation."
    update_roles(present, actor=user, reason=reason, users=[user.pk])
