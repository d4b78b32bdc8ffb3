"""Who a token belongs to, what it may do, and how often."""

from typing import Any, ClassVar

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request

from leaderboard.api.protocol.access import COUNTS
from leaderboard.api.protocol.base import ApiView
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.schema import reading
from leaderboard.models import ApiToken

ANY_SCOPE = tuple(ApiToken.Scope)


class LimitSerializer(Shape):
    """How many requests of one kind are taken."""

    name = s.CharField(help_text="As in the headers `RateLimit` and `RateLimit-Policy`.")
    requests = s.IntegerField()
    seconds = s.IntegerField(help_text="In any so many seconds.")


class MeSerializer(Shape):
    """The user and the token of the request."""

    id = s.IntegerField(help_text="As `people/` of a benchmark says it.")
    name = s.CharField()
    token = s.CharField(help_text="The name of the token.")
    scopes = s.ListField(child=s.ChoiceField(choices=ApiToken.Scope.values))
    expires_at = s.DateTimeField(allow_null=True)
    limits = LimitSerializer(many=True)


class MeView(ApiView):
    """The user of the request."""

    scopes: ClassVar = {"GET": ANY_SCOPE, "HEAD": ANY_SCOPE}

    @extend_schema(operation_id="me", summary="Who you are", tags=["people"], responses=reading(MeSerializer))
    def get(self, request: Request) -> HttpResponseBase:
        """Whose token this is, what it may do, and how many requests are taken of each kind."""
        user, token = self.user, self.token
        content: dict[str, Any] = {
            "id": user.pk,
            "name": user.shown_name,
            "token": token.name,
            "scopes": token.scopes,
            "expires_at": token.expiry,
            "limits": [
                {"name": count.scope, "requests": count.num_requests, "seconds": count.duration}
                for count in (kind() for kind in COUNTS)
            ],
        }
        return self.answer(lambda: MeSerializer.render(content), is_public=False)
