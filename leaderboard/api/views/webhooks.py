"""Webhooks of a benchmark: for its owners."""

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.hosting_bodies import webhook_change_of, webhook_of_body
from leaderboard.api.hosting_examples import WEBHOOK_CHANGE_EXAMPLE, WEBHOOK_EXAMPLE
from leaderboard.api.openapi import DRY_RUN, WRITING, reading
from leaderboard.api.payloads import moment
from leaderboard.api.shapes import webhooks as shapes
from leaderboard.api.views.hosting import MANAGE
from leaderboard.api.views.writing import OwnerView
from leaderboard.models import Webhook, WebhookDelivery
from leaderboard.selectors.webhooks import deliveries_of, webhook_of
from leaderboard.services.webhooks import add_webhook, change_webhook, delete_webhook, put_test, renew_secret


def entry(webhook: Webhook) -> dict[str, Any]:
    """A webhook as JSON."""
    return {
        "uuid": str(webhook.uuid),
        "address": webhook.address,
        "events": webhook.events,
        "is_active": webhook.is_active,
        "why_off": webhook.why_off,
        "n_failures": webhook.n_failures,
        "created_at": moment(webhook.created_at),
    }


def _delivery(delivery: WebhookDelivery) -> dict[str, Any]:
    revision = delivery.publication.revision if delivery.publication else delivery.revision
    return {
        "uuid": str(delivery.uuid),
        "event": delivery.event,
        "revision": revision.number if revision else None,
        "state": delivery.message.state,
        "attempts": delivery.message.attempts,
        "status_code": delivery.status_code,
        "error": delivery.message.last_error,
        "created_at": moment(delivery.created_at),
    }


class Webhooks(OwnerView):
    """All webhooks."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE, "POST": MANAGE}

    @extend_schema(
        operation_id="webhooks", summary="List webhooks", tags=["webhooks"], responses=reading(shapes.WebhookList)
    )
    def get(self, request: Request, key: str) -> Response:
        """The addresses that are told of new revisions and boards."""
        rows = Webhook.objects.filter(benchmark=self.benchmark)
        return self.answer_here(lambda: {"results": [entry(webhook) for webhook in rows]})

    @extend_schema(
        operation_id="add_webhook",
        summary="Add a webhook",
        tags=["webhooks"],
        parameters=[DRY_RUN],
        request=shapes.WebhookBody,
        examples=[WEBHOOK_EXAMPLE],
        responses={
            201: shapes.NewWebhook,
            200: OpenApiResponse(shapes.NewWebhook, description="A dry run."),
            **WRITING,
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """An address that is told from now on. The secret of its signatures is shown once."""
        address, events = webhook_of_body(request.data)
        is_dry = self.truth("dry_run")

        def step() -> dict[str, Any]:
            webhook, secret = add_webhook(self.benchmark, author=self.user, address=address, events=events)
            return entry(webhook) | {"secret": None if is_dry else secret}

        return self.carry_out(step, status=201)


class OneWebhook(OwnerView):
    """One webhook."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE, "PATCH": MANAGE}

    @extend_schema(
        operation_id="webhook", summary="Read a webhook", tags=["webhooks"], responses=reading(shapes.WebhookDetail)
    )
    def get(self, request: Request, key: str, uuid: UUID) -> Response:
        """A webhook with its last deliveries, and what came of them."""
        webhook = webhook_of(self.benchmark, uuid)
        rows = [_delivery(delivery) for delivery in deliveries_of(webhook)]
        return self.answer_here(lambda: entry(webhook) | {"deliveries": rows})

    @extend_schema(
        operation_id="change_webhook",
        summary="Switch a webhook on or off, or choose other events",
        tags=["webhooks"],
        parameters=[DRY_RUN],
        request=shapes.WebhookChange,
        examples=[WEBHOOK_CHANGE_EXAMPLE],
        responses={200: shapes.WebhookEntry, **WRITING},
    )
    def patch(self, request: Request, key: str, uuid: UUID) -> Response:
        """Switching it off drops what waits for it."""
        webhook = webhook_of(self.benchmark, uuid)
        is_active, events = webhook_change_of(request.data)
        return self.carry_out(
            lambda: entry(change_webhook(webhook, author=self.user, is_active=is_active, events=events))
        )


class TestWebhook(OwnerView):
    """A test of a webhook."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="test_webhook",
        summary="Send a test",
        tags=["webhooks"],
        parameters=[DRY_RUN],
        request=None,
        responses={200: shapes.Delivery, **WRITING},
    )
    def post(self, request: Request, key: str, uuid: UUID) -> Response:
        """A delivery that says nothing but that it is a test; the webhook tells what came of it."""
        webhook = webhook_of(self.benchmark, uuid)
        return self.carry_out(lambda: _delivery(put_test(webhook)))


class RenewSecret(OwnerView):
    """Another secret for a webhook."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="renew_webhook_secret",
        summary="Give a webhook a new secret",
        tags=["webhooks"],
        parameters=[DRY_RUN],
        request=None,
        responses={200: shapes.NewWebhook, **WRITING},
    )
    def post(self, request: Request, key: str, uuid: UUID) -> Response:
        """Deliveries are signed with it from now on, those that wait among them. It is shown once."""
        webhook = webhook_of(self.benchmark, uuid)
        is_dry = self.truth("dry_run")

        def step() -> dict[str, Any]:
            secret = renew_secret(webhook, author=self.user)
            return entry(webhook) | {"secret": None if is_dry else secret}

        return self.carry_out(step)


class DeleteWebhook(OwnerView):
    """The end of a webhook."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="delete_webhook",
        summary="Delete a webhook",
        tags=["webhooks"],
        parameters=[DRY_RUN],
        request=None,
        responses={200: shapes.Deleted, **WRITING},
    )
    def post(self, request: Request, key: str, uuid: UUID) -> Response:
        """Forget it, with all its deliveries."""
        webhook = webhook_of(self.benchmark, uuid)

        def step() -> dict[str, str]:
            delete_webhook(webhook, author=self.user)
            return {"deleted": str(uuid)}

        return self.carry_out(step)
