"""Addresses that a benchmark follows: for its owners."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import MANAGE, OwnerView
from leaderboard.api.protocol.fields import ChoiceText, Shape, Text, Truth, Whole
from leaderboard.api.protocol.schema import DRY_RUN, WRITING, body_example, reading
from leaderboard.models import Fetch, FollowedAddress
from leaderboard.models.webhooks import ADDRESS_LENGTH
from leaderboard.submissions.following.addresses import change_followed, delete_followed, fetch_soon, follow_address
from leaderboard.submissions.following.queries import fetches_of, followed_of

KINDS, EVERY = FollowedAddress.Kind.values, FollowedAddress.Every.values
MINUTES = "How often it is looked at."
DIRECT = "Whether changes join the board without a person; otherwise they become a draft of the owner."
CREATES = "Whether new systems may join it so."
FOLLOW_EXAMPLE = body_example(
    "A board of another site", {"address": "https://plurank.example/b/glue/", "kind": "board", "every_minutes": 1440}
)
CHANGE_EXAMPLE = body_example("Every hour, without a person", {"every_minutes": 60, "is_direct": True})


class FollowedAddressBodySerializer(Shape):
    """A URL that is to be followed."""

    address = Text(most=ADDRESS_LENGTH, help_text="It begins with https://.")
    kind = ChoiceText(KINDS)
    every_minutes = Whole(among=EVERY, help_text=MINUTES)
    is_direct = Truth(absent=False, help_text=DIRECT)
    creates_systems = Truth(absent=False, help_text=CREATES)


class FollowedAddressChangeSerializer(Shape):
    """What is to change; what is left out stays."""

    is_active = Truth(absent=None)
    every_minutes = Whole(absent=None, among=EVERY, help_text=MINUTES)
    is_direct = Truth(absent=None, help_text=DIRECT)
    creates_systems = Truth(absent=None, help_text=CREATES)


class FetchSerializer(Shape):
    """One attempt to bring the benchmark into step with a URL."""

    at = s.DateTimeField()
    seconds = s.FloatField()
    outcome = s.ChoiceField(choices=Fetch.Outcome.values)
    status_code = s.IntegerField(allow_null=True, help_text="Of the last answer; 304 if nothing changed.")
    n_bytes = s.IntegerField()
    etag = s.CharField(allow_blank=True)
    content_hash = s.CharField(allow_blank=True, help_text="SHA-256 of what was fetched.")
    n_new = s.IntegerField(help_text="Systems that were not on the board.")
    n_changed = s.IntegerField(help_text="Systems that had other scores on the board.")
    error = s.CharField(allow_blank=True)
    draft = s.UUIDField(source="draft_uuid", allow_null=True, help_text="It is gone once it is confirmed or old.")
    submission = s.UUIDField(source="batch_uuid", allow_null=True)


class FollowedAddressEntrySerializer(Shape):
    """A URL that a benchmark follows."""

    uuid = s.UUIDField()
    address = s.CharField()
    kind = s.ChoiceField(choices=KINDS)
    every_minutes = s.IntegerField()
    is_direct = s.BooleanField(help_text=DIRECT)
    creates_systems = s.BooleanField(help_text=CREATES)
    is_active = s.BooleanField()
    why_off = s.CharField(allow_blank=True, help_text="Why the site switched it off.")
    n_failures = s.IntegerField(help_text="Attempts that failed since one succeeded.")
    next_at = s.DateTimeField(help_text="When it is fetched next.")
    created_at = s.DateTimeField()


class FollowedAddressDetailSerializer(FollowedAddressEntrySerializer):
    """A followed URL with its last fetches, newest first."""

    fetches = FetchSerializer(many=True)

    def value_of_fetches(self, followed: FollowedAddress) -> list[Fetch]:
        """The last ones."""
        return fetches_of(followed)


class FollowedAddressListSerializer(Shape):
    """All URLs that a benchmark follows."""

    results = FollowedAddressEntrySerializer(many=True)


class NoLongerFollowedSerializer(Shape):
    """What was deleted."""

    deleted = s.UUIDField()


class FollowedAddressesView(OwnerView):
    """All URLs that are followed."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE, "POST": MANAGE}

    @extend_schema(
        operation_id="followed_addresses",
        summary="List followed URLs",
        tags=["following"],
        responses=reading(FollowedAddressListSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """The URLs from which scores are taken over as they change."""
        rows = FollowedAddress.objects.filter(benchmark=self.benchmark)
        return self.answer_here(lambda: FollowedAddressListSerializer.render({"results": rows}))

    @extend_schema(
        operation_id="follow_address",
        summary="Follow a URL",
        tags=["following"],
        parameters=[DRY_RUN],
        request=FollowedAddressBodySerializer,
        examples=[FOLLOW_EXAMPLE],
        responses={
            201: FollowedAddressEntrySerializer,
            200: OpenApiResponse(FollowedAddressEntrySerializer, description="A dry run."),
            **WRITING,
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """It is fetched for the first time at once. Columns are mapped as in your last upload of such a file."""
        body = FollowedAddressBodySerializer.read(request.data)
        return self.carry_out(
            lambda: FollowedAddressEntrySerializer.render(follow_address(self.benchmark, author=self.user, **body)),
            status=201,
        )


class FollowedAddressView(OwnerView):
    """One followed URL."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE, "PATCH": MANAGE}

    @extend_schema(
        operation_id="followed_address",
        summary="Read a followed URL",
        tags=["following"],
        responses=reading(FollowedAddressDetailSerializer),
    )
    def get(self, request: Request, key: str, uuid: UUID) -> HttpResponseBase:
        """A followed URL with its last fetches, and what came of them."""
        followed = followed_of(self.benchmark, uuid)
        return self.answer_here(lambda: FollowedAddressDetailSerializer.render(followed))

    @extend_schema(
        operation_id="change_followed_address",
        summary="Switch a followed URL on or off, or change how it is followed",
        tags=["following"],
        parameters=[DRY_RUN],
        request=FollowedAddressChangeSerializer,
        examples=[CHANGE_EXAMPLE],
        responses={200: FollowedAddressEntrySerializer, **WRITING},
    )
    def patch(self, request: Request, key: str, uuid: UUID) -> Response:
        """Switching it on makes it yours: scores come in in your name."""
        followed = followed_of(self.benchmark, uuid)
        body = FollowedAddressChangeSerializer.read(request.data)
        return self.carry_out(
            lambda: FollowedAddressEntrySerializer.render(change_followed(followed, author=self.user, **body))
        )


class FetchView(OwnerView):
    """A fetch that someone asks for."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="fetch_followed_address",
        summary="Fetch a URL now",
        tags=["following"],
        parameters=[DRY_RUN],
        request=None,
        responses={200: FollowedAddressEntrySerializer, **WRITING},
    )
    def post(self, request: Request, key: str, uuid: UUID) -> Response:
        """It is fetched within a second or so, whether it changed or not; its history has the result."""
        followed = followed_of(self.benchmark, uuid)
        return self.carry_out(lambda: FollowedAddressEntrySerializer.render(fetch_soon(followed, author=self.user)))


class FollowedDeletionView(OwnerView):
    """The end of following a URL."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="delete_followed_address",
        summary="Delete a followed URL",
        tags=["following"],
        parameters=[DRY_RUN],
        request=None,
        responses={200: NoLongerFollowedSerializer, **WRITING},
    )
    def post(self, request: Request, key: str, uuid: UUID) -> Response:
        """Forget it, with its history. Scores that came from it stay."""
        followed = followed_of(self.benchmark, uuid)

        def step() -> dict[str, Any]:
            delete_followed(followed, author=self.user)
            return NoLongerFollowedSerializer.render({"deleted": uuid})

        return self.carry_out(step)
