"""Organisations: founded, described, deleted; benchmarks that move into them and out of them."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.access.locks import lock_benchmark
from leaderboard.accounts.organisations.roles import Role, give_own_role, update_roles
from leaderboard.common.language.sentences import Sentence
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    Membership,
    NoticeKind,
    Organisation,
    OrganisationChange,
    OrganisationMember,
    User,
)
from leaderboard.notifications.notices import tell

MAX_OWNED = 10  # organisations, by one person
MAX_BENCHMARKS = 200  # of an organisation
DESCRIPTION_LENGTH = 5000
URL_LENGTH = 500
FIELDS = ("name", "description", "url")


class OrganisationError(ValueError):
    """Something that cannot be done to an organisation now; the message says why."""


def is_owner(organisation: Organisation, user: User) -> bool:
    """Whether a person owns an organisation."""
    owners = OrganisationMember.objects.filter(organisation=organisation, role=OrganisationMember.Role.OWNER)
    return owners.filter(user=user).exists()


def lock_for_owner(organisation: Organisation, author: User) -> Organisation:
    """Lock an organisation, in the caller's transaction, and look once more whether `author` owns it.

    Who is being removed at the same moment passed every check before, and is no owner once the lock is there.

    Returns:
        The organisation as it is now.

    Raises:
        OrganisationError: they do not own it, or it was deleted.
    """
    locked = Organisation.objects.select_for_update().filter(pk=organisation.pk).first()
    if locked is None or not is_owner(locked, author):
        raise OrganisationError(gettext("You do not own this organisation any more."))
    return locked


def note_change(organisation: Organisation, actor: User, field: str, before: str, after: str) -> None:
    """Write what was changed into the trail of an organisation, in the transaction that changes it."""
    if before != after:
        OrganisationChange.objects.create(
            organisation=organisation, actor=actor, field=field, before=before, after=after
        )


def check_may_own(user: User) -> None:
    """Lock a person, in the caller's transaction, and look whether they may own one more organisation.

    Raises:
        OrganisationError: they own as many as anyone can.
    """
    User.objects.select_for_update().get(pk=user.pk)
    if user.organisation_members.filter(role=OrganisationMember.Role.OWNER).count() >= MAX_OWNED:
        raise OrganisationError(
            gettext("One person can own %(max_owned)s organisations at most.") % {"max_owned": MAX_OWNED}
        )


@transaction.atomic
def found_organisation(user: User, *, key: str, **fields: str) -> Organisation:
    """Found an organisation, which its founder owns.

    Args:
        user: the founder.
        key: of its page; unique.
        fields: name, description and url.

    Raises:
        ValidationError: the key is taken, or a field is not as it must be.
        OrganisationError: they own too many.
    """
    check_may_own(user)
    if Organisation.objects.filter(key=key).exists():
        raise ValidationError({"key": gettext("The key “%(key)s” is taken; choose another.") % {"key": key}})
    organisation = Organisation(key=key, **fields)
    organisation.full_clean()
    organisation.save()
    OrganisationMember.objects.create(organisation=organisation, user=user, role=OrganisationMember.Role.OWNER)
    note_change(organisation, user, "name", "", organisation.name)
    return organisation


@transaction.atomic
def describe_organisation(organisation: Organisation, *, author: User, **fields: Any) -> None:  # noqa: ANN401
    """Change name, description or address of the web site.

    Raises:
        ValidationError: a field is not as it must be.
        OrganisationError: the author does not own it.
    """
    locked = lock_for_owner(organisation, author)
    before = {name: getattr(locked, name) for name in FIELDS}
    for name, value in fields.items():
        if name in FIELDS:
            setattr(locked, name, value)
    locked.full_clean(exclude=["key"])
    changed = [name for name in FIELDS if before[name] != getattr(locked, name)]
    locked.save(update_fields=changed)
    for name in changed:
        note_change(locked, author, name, before[name], getattr(locked, name))
        setattr(organisation, name, getattr(locked, name))


@transaction.atomic
def delete_organisation(organisation: Organisation, *, author: User) -> None:
    """End an organisation that owns nothing. Its other members are notified.

    Raises:
        OrganisationError: it owns benchmarks, or the author does not own it.
    """
    locked = lock_for_owner(organisation, author)
    if locked.benchmarks.exists():
        raise OrganisationError(gettext("The organisation owns benchmarks; take them out first."))
    tell(
        list(locked.members.exclude(user=author).values_list("user_id", flat=True)),
        NoticeKind.ORGANISATION,
        key=f"organisation {locked.pk} deleted",
        sentence=Sentence("%(person)s deleted the organisation %(organisation)s, of which you were a member.").of(
            person=author.shown_name, organisation=locked.name
        ),
        path=reverse("organisations"),
    )
    locked.delete()


@transaction.atomic
def move_in(benchmark: Benchmark, organisation: Organisation, *, author: User) -> None:
    """Give a benchmark to an organisation: its owners own the benchmark, its members can read it.

    Its author owns it through the organisation from now on; people with roles of their own keep them.

    Raises:
        OrganisationError: the author does not own both, or it has an organisation, or there are too many.
    """
    # As wherever roles in an organisation change: its lock first, then that of the benchmark. Who is being removed at
    # the same time is no owner any more once we have it.
    Organisation.objects.select_for_update().get(pk=organisation.pk)
    locked = lock_benchmark(benchmark.pk)
    roles = Membership.objects.filter(benchmark=locked, user=author, role=Role.OWNER, organisation=None)
    if not is_owner(organisation, author) or not roles.exists():
        raise OrganisationError(gettext("You can give a benchmark that you own to an organisation that you own."))
    if locked.organisation_id is not None:
        raise OrganisationError(gettext("This benchmark has an organisation; take it out there first."))
    if organisation.benchmarks.count() >= MAX_BENCHMARKS:
        raise OrganisationError(
            gettext("An organisation can own at most %(max_benchmarks)s benchmarks.")
            % {"max_benchmarks": MAX_BENCHMARKS}
        )
    locked.organisation = organisation
    locked.save(update_fields=["organisation"])
    _record(locked, organisation, author, "", organisation.key)
    update_roles(locked, actor=author, reason=f"The benchmark belongs to {organisation.name}.")
    roles.update(organisation=organisation)  # the author is an owner still, and now through the organisation


def lock_organisation_of(benchmark: Benchmark) -> Organisation | None:
    """Lock the organisation of a benchmark, in the caller's transaction and before the benchmark itself.

    Returns:
        What it was before the lock: the caller locks the benchmark and looks again. None where it has none.
    """
    now = Benchmark.objects.filter(pk=benchmark.pk).values("organisation")
    return Organisation.objects.select_for_update().filter(pk__in=now).first()


@transaction.atomic
def take_out(benchmark: Benchmark, *, author: User) -> None:
    """Take a benchmark out of its organisation: the author owns it, and roles through the organisation end.

    The other owners of the organisation are notified: they may not see the benchmark any more.

    Raises:
        OrganisationError: it has none, or the author does not own that.
    """
    organisation = lock_organisation_of(benchmark)
    locked = lock_benchmark(benchmark.pk)
    is_still_there = organisation is not None and locked.organisation_id == organisation.pk
    if organisation is None or not is_still_there or not is_owner(organisation, author):
        raise OrganisationError(gettext("You can take a benchmark out of an organisation that you own."))
    locked.organisation = None
    locked.save(update_fields=["organisation"])
    give_own_role(locked, author, Role.OWNER)
    _record(locked, organisation, author, organisation.key, "")
    update_roles(locked, actor=author, reason=f"The benchmark no longer belongs to {organisation.name}.")
    owners = OrganisationMember.objects.filter(organisation=organisation, role=OrganisationMember.Role.OWNER)
    tell(
        list(owners.exclude(user=author).values_list("user_id", flat=True)),
        NoticeKind.ORGANISATION,
        key=f"benchmark {locked.pk} left at {timezone.now().isoformat()}",
        sentence=Sentence(
            "%(person)s took %(benchmark)s out of %(organisation)s, which no longer owns it; roles through it ended."
        ).of(person=author.shown_name, benchmark=locked.name, organisation=organisation.name),
        path=reverse("manage_organisation", args=[organisation.key]),
    )


def _record(benchmark: Benchmark, organisation: Organisation, author: User, before: str, after: str) -> None:
    subject = AuditEntry.Subject.BENCHMARK
    changes = changes_between(subject, benchmark.key, {"organisation": before}, {"organisation": after})
    record_changes(benchmark, changes, actor=author)
    verb = ("", "owned") if after else ("owned", "")
    note_change(organisation, author, f"benchmark {benchmark.key}", *verb)
