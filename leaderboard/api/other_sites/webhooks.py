"""Webhooks of a benchmark: for its owners."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import MANAGE, OwnerView
from leaderboard.api.protocol.fields import ChoiceText, Listing, Shape, Text, Truth
from leaderboard.api.protocol.schema import DRY_RUN, WRITING, body_example, reading
from leaderboard.models import OutboxMessage, Webhook, WebhookDelivery
from leaderboard.models.webhooks import ADDRESS_LENGTH
from leaderboard.notifications.queries import deliveries_of, webhook_of
from leaderboard.notifications.webhooks import add_webhook, change_webhook, delete_webhook, put_test, renew_secret

EVENTS, FILES = Webhook.Event.values, Webhook.File.values
FILE_TEXT = "As what a new board is posted: `csv`, `json`, or `none` for a short message with links."
WEBHOOK_EXAMPLE = body_example("Of new revisions", {"address": "https://example.org/hook", "events": ["revision"]})
WEBHOOK_CHANGE_EXAMPLE = body_example("Switch it off", {"is_active": False})


class WebhookBodySerializer(Shape):
    """A URL to which events are to be sent."""

    address = Text(most=ADDRESS_LENGTH, help_text="It begins with https://.")
    events = Listing(child=ChoiceText(EVENTS), most=len(EVENTS), least=1)
    file = ChoiceText(FILES, absent="none", help_text=FILE_TEXT)


class WebhookChangeSerializer(Shape):
    """What is to change of a webhook; what is left out stays."""

    is_active = Truth(absent=None)
    events = Listing(child=ChoiceText(EVENTS), most=len(EVENTS), least=1, absent=None)
    file = ChoiceText(FILES, absent=None, help_text=FILE_TEXT)


class DeliverySerializer(Shape):
    """One event that is sent to a URL, at least once."""

    uuid = s.UUIDField(help_text="As in the header `webhook-id`.")
    event = s.ChoiceField(choices=[*EVENTS, WebhookDelivery.TEST])
    revision = s.IntegerField(allow_null=True)
    state = s.ChoiceField(choices=OutboxMessage.State.values, source="message.state", help_text="`failed`: given up.")
    attempts = s.IntegerField(source="message.attempts")
    status_code = s.IntegerField(allow_null=True, help_text="Of the last answer.")
    error = s.CharField(source="message.last_error", allow_blank=True)
    created_at = s.DateTimeField()

    def value_of_revision(self, delivery: WebhookDelivery) -> int | None:
        """The number of the revision that it tells of."""
        revision = delivery.publication.revision if delivery.publication else delivery.revision
        return revision.number if revision else None


class WebhookEntrySerializer(Shape):
    """A webhook."""

    uuid = s.UUIDField()
    address = s.CharField()
    events = s.ListField(child=s.ChoiceField(choices=EVENTS))
    file = s.ChoiceField(choices=FILES, help_text=FILE_TEXT)
    is_active = s.BooleanField()
    why_off = s.CharField(allow_blank=True, help_text="Why the site switched it off.")
    n_failures = s.IntegerField(help_text="Attempts that failed since one succeeded.")
    created_at = s.DateTimeField()
    old_secret_until = s.DateTimeField(
        allow_null=True, help_text="Until when deliveries are also signed with the secret before this one."
    )


class WebhookDetailSerializer(WebhookEntrySerializer):
    """A webhook with its last deliveries, newest first."""

    deliveries = DeliverySerializer(many=True)

    def value_of_deliveries(self, webhook: Webhook) -> list[WebhookDelivery]:
        """The last ones."""
        return deliveries_of(webhook)


class NewWebhookSerializer(WebhookEntrySerializer):
    """A webhook with the secret that its deliveries are signed with from now on."""

    secret = s.CharField(allow_null=True, help_text="Shown once; null in a dry run.")


class WebhookListSerializer(Shape):
    """All webhooks of a benchmark."""

    results = WebhookEntrySerializer(many=True)


class DeletedSerializer(Shape):
    """What was deleted."""

    deleted = s.UUIDField()


class WebhooksView(OwnerView):
    """All webhooks."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE, "POST": MANAGE}

    @extend_schema(
        operation_id="webhooks", summary="List webhooks", tags=["webhooks"], responses=reading(WebhookListSerializer)
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """The URLs to which new revisions and boards are announced."""
        rows = Webhook.objects.filter(benchmark=self.benchmark)
        return self.answer_here(lambda: WebhookListSerializer.render({"results": rows}))

    @extend_schema(
        operation_id="add_webhook",
        summary="Add a webhook",
        tags=["webhooks"],
        parameters=[DRY_RUN],
        request=WebhookBodySerializer,
        examples=[WEBHOOK_EXAMPLE],
        responses={
            201: NewWebhookSerializer,
            200: OpenApiResponse(NewWebhookSerializer, description="A dry run."),
            **WRITING,
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """A URL to which events are sent from now on. The secret of its signatures is shown once."""
        body = WebhookBodySerializer.read(request.data)
        is_dry = self.truth("dry_run")

        def step() -> dict[str, Any]:
            webhook, secret = add_webhook(self.benchmark, author=self.user, **body)
            return WebhookEntrySerializer.render(webhook) | {"secret": None if is_dry else secret}

        return self.carry_out(step, status=201)


class WebhookView(OwnerView):
    """One webhook."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE, "PATCH": MANAGE}

    @extend_schema(
        operation_id="webhook", summary="Read a webhook", tags=["webhooks"], responses=reading(WebhookDetailSerializer)
    )
    def get(self, request: Request, key: str, uuid: UUID) -> HttpResponseBase:
        """A webhook with its last deliveries, and what came of them."""
        webhook = webhook_of(self.benchmark, uuid)
        return self.answer_here(lambda: WebhookDetailSerializer.render(webhook))

    @extend_schema(
        operation_id="change_webhook",
        summary="Switch a webhook on or off, or choose other events",
        tags=["webhooks"],
        parameters=[DRY_RUN],
        request=WebhookChangeSerializer,
        examples=[WEBHOOK_CHANGE_EXAMPLE],
        responses={200: WebhookEntrySerializer, **WRITING},
    )
    def patch(self, request: Request, key: str, uuid: UUID) -> Response:
        """Switching it off drops what waits for it."""
        webhook = webhook_of(self.benchmark, uuid)
        body = WebhookChangeSerializer.read(request.data)
        return self.carry_out(lambda: WebhookEntrySerializer.render(change_webhook(webhook, author=self.user, **body)))


class TestView(OwnerView):
    """A test of a webhook."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="test_webhook",
        summary="Send a test",
        tags=["webhooks"],
        parameters=[DRY_RUN],
        request=None,
        responses={200: DeliverySerializer, **WRITING},
    )
    def post(self, request: Request, key: str, uuid: UUID) -> Response:
        """A delivery that says nothing but that it is a test; the webhook tells what came of it."""
        webhook = webhook_of(self.benchmark, uuid)
        return self.carry_out(lambda: DeliverySerializer.render(put_test(webhook, author=self.user)))


class SecretView(OwnerView):
    """Another secret for a webhook."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="renew_webhook_secret",
        summary="Give a webhook a new secret",
        tags=["webhooks"],
        parameters=[DRY_RUN],
        request=None,
        responses={200: NewWebhookSerializer, **WRITING},
    )
    def post(self, request: Request, key: str, uuid: UUID) -> Response:
        """Deliveries are signed with it from now on, and for a day also with the old one. It is shown once."""
        webhook = webhook_of(self.benchmark, uuid)
        is_dry = self.truth("dry_run")

        def step() -> dict[str, Any]:
            secret = renew_secret(webhook, author=self.user)
            return WebhookEntrySerializer.render(webhook) | {"secret": None if is_dry else secret}

        return self.carry_out(step)


class DeletionView(OwnerView):
    """The end of a webhook."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="delete_webhook",
        summary="Delete a webhook",
        tags=["webhooks"],
        parameters=[DRY_RUN],
        request=None,
        responses={200: DeletedSerializer, **WRITING},
    )
    def post(self, request: Request, key: str, uuid: UUID) -> Response:
        """Forget it, with all its deliveries."""
        webhook = webhook_of(self.benchmark, uuid)

        def step() -> dict[str, Any]:
            delete_webhook(webhook, author=self.user)
            return DeletedSerializer.render({"deleted": uuid})

        return self.carry_out(step)
