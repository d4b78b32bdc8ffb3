"""What pages show of organisations."""

from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import Viewer, listed_benchmarks
from leaderboard.common.text import in_words
from leaderboard.models import Benchmark, Membership, Organisation, OrganisationChange, OrganisationMember, User
from leaderboard.models.people import nameless

SHOWN_CHANGES = 100
FIELD_TEXTS = {
    "name": gettext_noop("name"),
    "description": gettext_noop("description"),
    "url": gettext_noop("web site"),
    "invitation": gettext_noop("invitation"),
}


@dataclass(frozen=True)
class OrganisationPage:
    """An organisation as one viewer sees it.

    Attributes:
        role: of the viewer in it; empty for all others.
        benchmarks: those that lists may mention to the viewer.
        members: with their accounts; empty for who is no member.
    """

    organisation: Organisation
    role: str
    benchmarks: list[Benchmark]
    members: list[OrganisationMember]


def organisation_page(viewer: Viewer, key: str) -> OrganisationPage:
    """The page of an organisation.

    Raises:
        Http404: there is none of this key.
    """
    organisation, role = _with_role(viewer, key)
    benchmarks = list(listed_benchmarks(viewer).filter(organisation=organisation).order_by("name", "pk"))
    return OrganisationPage(organisation, role, benchmarks, list(members_of_organisation(organisation)) if role else [])


def managed_organisation(viewer: Viewer, key: str) -> Organisation:
    """The organisation of this key, for its owners.

    Raises:
        Http404: there is none of this key.
        PermissionDenied: they do not own it.
    """
    organisation, role = _with_role(viewer, key)
    if role != OrganisationMember.Role.OWNER:
        raise PermissionDenied(gettext("Only the owners of an organisation can change it."))
    return organisation


def _with_role(viewer: Viewer, key: str) -> tuple[Organisation, str]:
    organisation = Organisation.objects.filter(key=key).first()
    if organisation is None:
        raise Http404(gettext("There is no organisation of this name."))
    role = OrganisationMember.objects.filter(organisation=organisation, user=viewer.pk or 0).values_list("role").first()
    return organisation, role[0] if role else ""


def members_of_organisation(organisation: Organisation) -> QuerySet[OrganisationMember]:
    """Its members with their accounts, owners first."""
    rows = OrganisationMember.objects.filter(organisation=organisation).select_related("user")
    return rows.order_by("-role", "user__display_name", "user")


def organisations_of(viewer: Viewer) -> list[OrganisationMember]:
    """The organisations that a person is a member of."""
    rows = OrganisationMember.objects.filter(user=viewer.pk or 0).select_related("organisation")
    return list(rows.order_by("organisation__name", "pk"))


def own_benchmarks(viewer: Viewer) -> QuerySet[Benchmark]:
    """The benchmarks that a person owns without an organisation, and can give to one."""
    owned = Membership.objects.filter(user=viewer.pk or 0, role=Membership.Role.OWNER, organisation=None)
    return Benchmark.objects.filter(pk__in=owned.values("benchmark"), organisation=None).order_by("name", "pk")


def changes_of(organisation: Organisation) -> list[OrganisationChange]:
    """The last changes, newest first."""
    return list(OrganisationChange.objects.filter(organisation=organisation).select_related("actor")[:SHOWN_CHANGES])


@dataclass(frozen=True)
class ChangeLine:
    """A change of an organisation in words, with the names that people and benchmarks have now."""

    at: datetime
    who: str
    what: str
    before: str
    after: str


def change_lines(organisation: Organisation, viewer: Viewer) -> list[ChangeLine]:
    """The last changes in words, newest first. Of benchmarks that lists do not show the viewer they say the key."""
    changes = changes_of(organisation)
    subjects = [change.field.rpartition(" ") for change in changes]
    numbers = {number for subject, _, number in subjects if subject == "role of user"}
    people = {str(pk): user.shown_name for pk, user in User.objects.in_bulk(map(int, numbers)).items()}
    keys = {key for subject, _, key in subjects if subject == "benchmark"}
    names = dict(listed_benchmarks(viewer).filter(key__in=keys).values_list("key", "name"))
    lines = []
    for change, (subject, _, of) in zip(changes, subjects, strict=True):
        before, after = change.before, change.after
        if subject == "benchmark":
            moved = gettext("%(name)s: given to the organisation") if after else gettext("%(name)s: taken out")
            what, before, after = moved % {"name": names.get(of, of)}, "", ""
        elif subject == "role of user":
            what = gettext("role of %(person)s") % {"person": people.get(of, nameless(of))}
        else:
            what = gettext(FIELD_TEXTS.get(change.field, change.field))
        if subject == "role of user" or change.field == "invitation":
            before, after = (str(dict(OrganisationMember.Role.choices).get(role, role)) for role in (before, after))
        lines.append(ChangeLine(change.at, change.actor.shown_name, what, before, after))
    return lines


def owners_once_out(organisation: Organisation, user: User) -> list[tuple[Benchmark, str]]:
    """Its benchmarks, each with the names of those who own it once `user` takes it out of the organisation."""
    benchmarks = list(organisation.benchmarks.order_by("name", "pk"))
    own = Q(organisation=None, role=Membership.Role.OWNER) | Q(own_role=Membership.Role.OWNER)
    others = Membership.objects.filter(own, benchmark__in=benchmarks).exclude(user=user).select_related("user")
    names: dict[int, list[str]] = {}
    for row in others.order_by("pk"):
        names.setdefault(row.benchmark_id, []).append(row.user.shown_name)
    return [(one, in_words([gettext("you"), *names.get(one.pk, [])])) for one in benchmarks]
