"""Organisations: listed, founded, described, deleted; benchmarks that move into them and out of them."""

from typing import Any, ClassVar

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.accounts.organisations.founding import (
    DESCRIPTION_LENGTH,
    URL_LENGTH,
    delete_organisation,
    describe_organisation,
    found_organisation,
    move_in,
    take_out,
)
from leaderboard.accounts.organisations.queries import managed_organisation, organisation_page, organisations_of
from leaderboard.api.own.me import ANY_SCOPE
from leaderboard.api.protocol.base import MANAGE, OwnerView, WritingView
from leaderboard.api.protocol.fields import Shape, Text
from leaderboard.api.protocol.pagination import cut_sorted, page_links, window
from leaderboard.api.protocol.problems import wrong_body
from leaderboard.api.protocol.schema import DRY_RUN, PAGING, WRITING, body_example, reading
from leaderboard.models import Organisation, OrganisationMember
from leaderboard.models.benchmarks import KEY_LENGTH, NAME_LENGTH

ROLES = OrganisationMember.Role.values
FOUNDING_EXAMPLE = body_example("A new organisation", {"key": "lab", "name": "Lab", "url": "https://lab.example/"})
DESCRIPTION_EXAMPLE = body_example("Another web site", {"url": "https://lab.example/"})
MOVE_EXAMPLE = body_example("To an organisation", {"organisation": "lab"})


class OrganisationBodySerializer(Shape):
    """A new organisation."""

    key = Text(most=KEY_LENGTH, help_text="Of its URL; it cannot be changed.")
    name = Text(most=NAME_LENGTH)
    description = Text(most=DESCRIPTION_LENGTH, is_line=False, absent="")
    url = Text(most=URL_LENGTH, absent="", help_text="Of its web site.")


class OrganisationChangeSerializer(Shape):
    """What is to change of an organisation; what is left out stays."""

    name = Text(most=NAME_LENGTH, required=False)
    description = Text(most=DESCRIPTION_LENGTH, is_line=False, required=False)
    url = Text(most=URL_LENGTH, required=False)


class OrganisationEntrySerializer(Shape):
    """What an organisation says of itself."""

    key = s.CharField()
    name = s.CharField()
    description = s.CharField(allow_blank=True)
    url = s.CharField(allow_blank=True, help_text="Of its web site.")
    created_at = s.DateTimeField()


class OwnOrganisationSerializer(OrganisationEntrySerializer):
    """An organisation that you are in."""

    role = s.ChoiceField(choices=ROLES, help_text="Yours.")


class OwnOrganisationListSerializer(Shape):
    """A page of your organisations, by key."""

    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = OwnOrganisationSerializer(many=True)


class OwnedBenchmarkSerializer(Shape):
    """A benchmark of an organisation."""

    key = s.CharField()
    name = s.CharField()


class OrganisationSerializer(OrganisationEntrySerializer):
    """An organisation with its benchmarks."""

    role = s.ChoiceField(choices=ROLES, allow_null=True, help_text="Yours; null where you have none.")
    benchmarks = OwnedBenchmarkSerializer(many=True, help_text="Those that lists show you, by name.")


class DeletedOrganisationSerializer(Shape):
    """What was deleted."""

    deleted = s.CharField()


class BenchmarkMoveSerializer(Shape):
    """Where a benchmark is to belong."""

    organisation = Text(
        most=KEY_LENGTH,
        allow_null=True,
        error_messages={"required": "it is missing; say the key of an organisation, or null to take it out"},
        help_text="The key of an organisation; null: you own it yourself.",
    )


class MovedBenchmarkSerializer(Shape):
    """Where a benchmark belongs now."""

    benchmark = s.CharField()
    organisation = s.CharField(allow_null=True)


def stated_fields(organisation: Organisation) -> dict[str, Any]:
    """What `OrganisationEntrySerializer` renders."""
    return {name: getattr(organisation, name) for name in ("key", "name", "description", "url", "created_at")}


class OrganisationsView(WritingView):
    """Your organisations."""

    scopes: ClassVar = {"GET": ANY_SCOPE, "HEAD": ANY_SCOPE, "POST": MANAGE}

    @extend_schema(
        operation_id="organisations",
        summary="List your organisations",
        tags=["organisations"],
        parameters=PAGING,
        responses=reading(OwnOrganisationListSerializer),
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Those that you own or are a member of."""
        members = sorted(organisations_of(self.user), key=lambda member: member.organisation.key)
        page = cut_sorted(members, window(request.query_params), lambda member: member.organisation.key)
        results = [stated_fields(member.organisation) | {"role": member.role} for member in page.items]
        content = {**page_links(request, page), "results": results}
        return self.answer(lambda: OwnOrganisationListSerializer.render(content), is_public=False)

    @extend_schema(
        operation_id="found_organisation",
        summary="Found an organisation",
        tags=["organisations"],
        parameters=[DRY_RUN],
        request=OrganisationBodySerializer,
        examples=[FOUNDING_EXAMPLE],
        responses={
            201: OrganisationEntrySerializer,
            200: OpenApiResponse(OrganisationEntrySerializer, description="A dry run."),
            **WRITING,
        },
    )
    def post(self, request: Request) -> Response:
        """You own it. Its owners own its benchmarks, its members can read them."""
        body = OrganisationBodySerializer.read(request.data)
        return self.carry_out(
            lambda: OrganisationEntrySerializer.render(found_organisation(self.user, **body)), status=201
        )


class OrganisationView(WritingView):
    """One organisation."""

    scopes: ClassVar = {"PATCH": MANAGE}

    @extend_schema(
        operation_id="organisation",
        summary="Read an organisation",
        tags=["organisations"],
        responses=reading(OrganisationSerializer),
    )
    def get(self, request: Request, organisation_key: str) -> HttpResponseBase:
        """What it says of itself, and the benchmarks that it owns."""
        page = organisation_page(self.viewer, organisation_key)
        content = stated_fields(page.organisation) | {"role": page.role or None, "benchmarks": page.benchmarks}
        return self.answer(lambda: OrganisationSerializer.render(content), is_public=False)

    @extend_schema(
        operation_id="change_organisation",
        summary="Change what an organisation says of itself",
        tags=["organisations"],
        parameters=[DRY_RUN],
        request=OrganisationChangeSerializer,
        examples=[DESCRIPTION_EXAMPLE],
        responses={200: OrganisationEntrySerializer, **WRITING},
    )
    def patch(self, request: Request, organisation_key: str) -> Response:
        """For its owners."""
        organisation = managed_organisation(self.user, organisation_key)
        body = OrganisationChangeSerializer.read(request.data)

        def step() -> dict[str, Any]:
            describe_organisation(organisation, author=self.user, **body)
            return OrganisationEntrySerializer.render(organisation)

        return self.carry_out(step)


class OrganisationDeletionView(WritingView):
    """The end of an organisation."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="delete_organisation",
        summary="Delete an organisation",
        tags=["organisations"],
        parameters=[DRY_RUN],
        request=None,
        responses={200: DeletedOrganisationSerializer, **WRITING},
    )
    def post(self, request: Request, organisation_key: str) -> Response:
        """For its owners, once it owns no benchmarks."""
        organisation = managed_organisation(self.user, organisation_key)

        def step() -> dict[str, Any]:
            delete_organisation(organisation, author=self.user)
            return DeletedOrganisationSerializer.render({"deleted": organisation_key})

        return self.carry_out(step)


class OrganisationOfBenchmarkView(OwnerView):
    """The organisation that owns a benchmark."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="move_benchmark",
        summary="Give a benchmark to an organisation, or take it out",
        tags=["organisations"],
        parameters=[DRY_RUN],
        request=BenchmarkMoveSerializer,
        examples=[MOVE_EXAMPLE],
        responses={200: MovedBenchmarkSerializer, **WRITING},
    )
    def post(self, request: Request, key: str) -> Response:
        """You own both. If you take it out, you own it yourself from then on; roles through the organisation end."""
        chosen = BenchmarkMoveSerializer.read(request.data)["organisation"]
        organisation = None if chosen is None else Organisation.objects.filter(key=chosen).first()
        if chosen is not None and organisation is None:
            raise wrong_body([{"place": "organisation", "message": f"there is no organisation {chosen!r}"}])

        def step() -> dict[str, Any]:
            if organisation is None:
                take_out(self.benchmark, author=self.user)
            else:
                move_in(self.benchmark, organisation, author=self.user)
            return MovedBenchmarkSerializer.render({"benchmark": key, "organisation": chosen})

        return self.carry_out(step)
