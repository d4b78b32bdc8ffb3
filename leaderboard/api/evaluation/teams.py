"""The team of who asks: its members, and what they can do with it. No one sees another team."""

from typing import Any, ClassVar

from django.http import HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.own.me import ANY_SCOPE
from leaderboard.api.protocol.base import BenchmarkView, WritingView
from leaderboard.api.protocol.fields import ChoiceText, Shape, Text
from leaderboard.api.protocol.schema import DRY_RUN, WRITING, body_example, reading
from leaderboard.api.submissions import SUBMIT
from leaderboard.evaluation.phases import phase_now
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.quotas import predictions_left
from leaderboard.evaluation.teams import (
    MAX_NAME,
    accept_team_invitation,
    find_team_invitation,
    found_team,
    invite_by_link,
    invite_by_name,
    leave_team,
    members_of,
    team_of,
)

ACTIONS = ("found", "invite", "link", "join", "leave")
TEAM_EXAMPLE = body_example("A new team", {"action": "found", "name": "Owls"})


class TeamBodySerializer(Shape):
    """What is to be done."""

    action = ChoiceText(
        ACTIONS,
        help_text="`found` a team of this name; `invite` the person of this display name; make a `link` that works "
        "once; `join` by the secret of a link; `leave`, as long as the team has submitted no predictions.",
    )
    name = Text(most=MAX_NAME, absent="", help_text="With `found` and `invite`.")
    secret = Text(most=100, absent="", help_text="With `join`: the last part of a link.")


class LeftSerializer(Shape):
    """How many predictions may still be submitted."""

    when = s.CharField(help_text="`today` or `in all`.")
    n = s.IntegerField()


class TeamSerializer(Shape):
    """A team of a benchmark; nulls where you are in none."""

    name = s.CharField(allow_null=True)
    members = s.ListField(child=s.CharField())
    phase = s.CharField(allow_null=True, help_text="The phase that is open.")
    left = LeftSerializer(many=True, help_text="In this phase, of the team or of you alone; only where there is a cap.")


class TeamStateSerializer(TeamSerializer):
    """The same after a step."""

    url = s.URLField(allow_null=True, help_text="Of a new link: shown once.")


class TeamView(WritingView, BenchmarkView):
    """Your team."""

    scopes: ClassVar = {"GET": ANY_SCOPE, "HEAD": ANY_SCOPE, "POST": SUBMIT}
    is_open_to_restricted = True

    def content(self) -> dict[str, Any]:
        """The team of who asks."""
        team, phase = team_of(self.user, self.benchmark), phase_now(self.benchmark)
        left = predictions_left(phase, self.user, team) if phase else {}
        return {
            "name": team.name if team else None,
            "members": [member.shown_name for member in members_of(team)] if team else [],
            "phase": phase.name if phase else None,
            "left": [{"when": when, "n": n} for when, n in left.items()],
        }

    @extend_schema(
        operation_id="team", summary="Read your team", tags=["evaluation"], responses=reading(TeamSerializer)
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """The team that you submit predictions for, its members, and what is left of its quota."""
        content = self.content()
        return self.answer_here(lambda: TeamSerializer.render(content))

    @extend_schema(
        operation_id="change_team",
        summary="Found, join or leave a team, or invite someone",
        tags=["evaluation"],
        parameters=[DRY_RUN],
        request=TeamBodySerializer,
        examples=[TEAM_EXAMPLE],
        responses={200: TeamStateSerializer, **WRITING},
    )
    def post(self, request: Request, key: str) -> Response:
        """A team submits predictions together and shares one quota. You can be in one team of each benchmark.

        Once your team has submitted predictions you cannot leave it; once you have submitted some you cannot join one.
        """
        body, user = TeamBodySerializer.read(request.data), self.user
        is_dry = self.truth("dry_run")

        def step() -> dict[str, Any]:
            url, action = None, body["action"]
            if action == "found":
                found_team(self.benchmark, user, body["name"])
            elif action == "join":
                invitation = find_team_invitation(body["secret"])
                if invitation is None or invitation.team.benchmark_id != self.benchmark.pk:
                    raise EvaluationError("This invitation was already used, revoked or has expired.")
                accept_team_invitation(invitation, user)
            else:
                team = team_of(user, self.benchmark)
                if team is None:
                    raise EvaluationError("You are in no team of this benchmark.")
                if action == "leave":
                    leave_team(team, user)
                elif action == "invite":
                    invite_by_name(team, user, body["name"])
                else:
                    secret = invite_by_link(team, user)
                    url = None if is_dry else request.build_absolute_uri(reverse("join_team", args=[secret]))
            return TeamStateSerializer.render(self.content() | {"url": url})

        return self.carry_out(step)
