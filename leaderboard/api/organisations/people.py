"""People of an organisation: listed for its members, invited, given another role and removed by its owners."""

from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.accounts.organisations.members import (
    change_member,
    invite_to_organisation,
    open_invitations_of,
    revoke_organisation_invitation,
)
from leaderboard.accounts.organisations.queries import changes_of, managed_organisation, organisation_page
from leaderboard.api.organisations.organisations import ROLES
from leaderboard.api.people import PersonSerializer
from leaderboard.api.protocol.base import MANAGE, WritingView
from leaderboard.api.protocol.fields import MAX_WHOLE, ChoiceText, Shape
from leaderboard.api.protocol.schema import DRY_RUN, WRITING, body_example, reading
from leaderboard.models import OrganisationMember, User

MEMBER_EXAMPLE = body_example("Another owner", {"role": "owner"})
INVITATION_EXAMPLE = body_example("A member", {"role": "member"})


class OrganisationMemberSerializer(PersonSerializer):
    """A member of an organisation."""

    role = s.ChoiceField(choices=ROLES)


class OrganisationInvitationSerializer(Shape):
    """An invitation that no one has used yet."""

    number = s.IntegerField(source="pk")
    role = s.ChoiceField(choices=ROLES)
    author = s.CharField(source="author.shown_name")
    expires_at = s.DateTimeField()


class OrganisationChangeEntrySerializer(Shape):
    """One change: who, what, from what to what, and when."""

    at = s.DateTimeField()
    who = s.CharField(source="actor.shown_name")
    field = s.CharField(help_text="A field, `invitation`, `role of user 7`, or `benchmark` with its key.")
    before = s.CharField(allow_blank=True)
    after = s.CharField(allow_blank=True)


class OrganisationPeopleSerializer(Shape):
    """Members, owners first; for owners also open invitations and the newest 100 changes."""

    members = OrganisationMemberSerializer(many=True)
    invitations = OrganisationInvitationSerializer(many=True)
    changes = OrganisationChangeEntrySerializer(many=True)


class MemberBodySerializer(Shape):
    """Another role of a member, or none."""

    role = ChoiceText(
        ROLES,
        allow_null=True,
        error_messages={"required": "it is missing; say the role, or null for none"},
        help_text="Null removes them.",
    )


class MemberStateSerializer(Shape):
    """What someone is in the organisation now."""

    user = s.IntegerField()
    role = s.ChoiceField(choices=ROLES, allow_null=True)


class NewInvitationBodySerializer(Shape):
    """The role that a link is to give."""

    role = ChoiceText(ROLES)


class NewInvitationSerializer(Shape):
    """A link that gives a role to the first who follows it."""

    role = s.ChoiceField(choices=ROLES)
    url = s.URLField(allow_null=True, help_text="Shown once; null in a dry run.")


class RevokedInvitationSerializer(Shape):
    """What was revoked."""

    revoked = s.IntegerField(help_text="The number of the invitation.")


class OrganisationPeopleView(WritingView):
    """People of an organisation."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE}

    @extend_schema(
        operation_id="organisation_people",
        summary="List the people of an organisation",
        tags=["organisations"],
        responses=reading(OrganisationPeopleSerializer),
    )
    def get(self, request: Request, organisation_key: str) -> HttpResponseBase:
        """For its members; invitations and changes for its owners alone."""
        page = organisation_page(self.user, organisation_key)
        if not page.role:
            raise PermissionDenied("Only the members of an organisation see who they are.")
        is_owner = page.role == OrganisationMember.Role.OWNER
        invitations = open_invitations_of(page.organisation).select_related("author")
        content = {
            "members": page.members,
            "invitations": invitations if is_owner else [],
            "changes": changes_of(page.organisation) if is_owner else [],
        }
        return self.answer(lambda: OrganisationPeopleSerializer.render(content), is_public=False)


class OrganisationMemberView(WritingView):
    """One member."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="change_organisation_member",
        summary="Change the role of a member, remove one, or leave",
        tags=["organisations"],
        parameters=[DRY_RUN],
        request=MemberBodySerializer,
        examples=[MEMBER_EXAMPLE],
        responses={200: MemberStateSerializer, **WRITING},
    )
    def post(self, request: Request, organisation_key: str, user: int) -> Response:
        """For its owners; everyone can leave. It holds for the benchmarks too. An organisation keeps an owner."""
        role = MemberBodySerializer.read(request.data)["role"]
        page = organisation_page(self.user, organisation_key)
        is_leaving = user == self.user.pk and role is None and page.role
        organisation = page.organisation if is_leaving else managed_organisation(self.user, organisation_key)
        member = User.objects.filter(organisation_members__organisation=organisation, pk=min(user, MAX_WHOLE)).first()
        if member is None:  # the same for accounts that there are and that there are not
            raise Http404("No member of this organisation is meant.")

        def step() -> dict[str, Any]:
            change_member(organisation, member, author=self.user, role=role or "")
            return MemberStateSerializer.render({"user": user, "role": role})

        return self.carry_out(step)


class OrganisationInvitationsView(WritingView):
    """Invitations to an organisation."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="invite_to_organisation",
        summary="Invite someone to an organisation",
        tags=["organisations"],
        parameters=[DRY_RUN],
        request=NewInvitationBodySerializer,
        examples=[INVITATION_EXAMPLE],
        responses={
            201: NewInvitationSerializer,
            200: OpenApiResponse(NewInvitationSerializer, description="A dry run."),
            **WRITING,
        },
    )
    def post(self, request: Request, organisation_key: str) -> Response:
        """A link that gives a role to the first who follows it, within a week. It is shown once."""
        organisation = managed_organisation(self.user, organisation_key)
        role = NewInvitationBodySerializer.read(request.data)["role"]
        is_dry = self.truth("dry_run")

        def step() -> dict[str, Any]:
            secret = invite_to_organisation(organisation, author=self.user, role=role)
            url = None if is_dry else request.build_absolute_uri(reverse("join_organisation", args=[secret]))
            return NewInvitationSerializer.render({"role": role, "url": url})

        return self.carry_out(step, status=201)


class OrganisationInvitationView(WritingView):
    """The end of an invitation."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="revoke_organisation_invitation",
        summary="Revoke an invitation to an organisation",
        tags=["organisations"],
        parameters=[DRY_RUN],
        request=None,
        responses={200: RevokedInvitationSerializer, **WRITING},
    )
    def post(self, request: Request, organisation_key: str, number: int) -> Response:
        """Its link no longer works."""
        organisation = managed_organisation(self.user, organisation_key)

        def step() -> dict[str, Any]:
            revoke_organisation_invitation(organisation, min(number, MAX_WHOLE), author=self.user)
            return RevokedInvitationSerializer.render({"revoked": number})

        return self.carry_out(step)
