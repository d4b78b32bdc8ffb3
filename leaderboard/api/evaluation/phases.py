"""Phases of a benchmark and the Ladder: everyone who reads the benchmark sees them, its owners change them."""

from typing import Any, ClassVar

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import MANAGE, OwnerView
from leaderboard.api.protocol.fields import ChoiceText, Moment, Shape, Text, Truth, Whole
from leaderboard.api.protocol.schema import DRY_RUN, WRITING, body_example, reading
from leaderboard.evaluation.phases import (
    delete_phase,
    has_ladder,
    phase_now,
    phases_of,
    store_phase,
    use_ladder,
)
from leaderboard.evaluation.terms import phase_terms
from leaderboard.models import Phase

PHASE_EXAMPLE = body_example(
    "A final with a private board",
    {
        "name": "Final", "opens_at": "2027-01-01T00:00:00Z", "closes_at": "2027-02-01T00:00:00Z", "split": "public",
        "private_at": "2027-02-02T00:00:00Z", "daily_cap": 5, "counts": "last",
    },
)  # fmt: skip
CHANGE_EXAMPLE = body_example("A later end", {"closes_at": "2027-03-01T00:00:00Z"})
LADDER_EXAMPLE = body_example("The Ladder", {"uses_ladder": True})


class PhaseChangeSerializer(Shape):
    """What is to change of a phase; what is left out stays."""

    name = Text(most=80, required=False)
    kind = ChoiceText(Phase.Kind.values, required=False)
    opens_at = Moment(required=False)
    closes_at = Moment(required=False, allow_null=True, help_text="Null: it stays open.")
    split = ChoiceText(Phase.Split.values, required=False, help_text="The instances that count.")
    private_at = Moment(
        required=False, allow_null=True, help_text="When the board goes over to the private split, after it closed."
    )
    daily_cap = Whole(required=False, allow_null=True, help_text="Submissions per day of a team, or a person.")
    total_cap = Whole(required=False, allow_null=True)
    max_systems = Whole(required=False, allow_null=True)
    counts = ChoiceText(Phase.Counts.values, required=False)


class PhaseBodySerializer(PhaseChangeSerializer):
    """A phase that is to be."""

    name = Text(most=80)
    opens_at = Moment()


class PhaseSerializer(Shape):
    """A phase, in fields and in sentences."""

    number = s.IntegerField(source="pk", help_text="Of its URL.")
    name = s.CharField()
    kind = s.ChoiceField(choices=Phase.Kind.values)
    opens_at = s.DateTimeField()
    closes_at = s.DateTimeField(allow_null=True)
    split = s.ChoiceField(choices=Phase.Split.values)
    private_at = s.DateTimeField(allow_null=True)
    went_private_at = s.DateTimeField(allow_null=True, help_text="Since when the board shows the private split.")
    daily_cap = s.IntegerField(allow_null=True)
    total_cap = s.IntegerField(allow_null=True)
    max_systems = s.IntegerField(allow_null=True)
    counts = s.ChoiceField(choices=Phase.Counts.values)
    terms = s.ListField(child=s.CharField())

    def value_of_terms(self, phase: Phase) -> list[str]:
        """What someone should know before they submit."""
        return phase_terms(phase)


class PhasesSerializer(Shape):
    """All phases in the order in which they open, and whether the board has the Ladder."""

    uses_ladder = s.BooleanField()
    open = s.IntegerField(allow_null=True, help_text="The number of the phase that is open now.")
    results = PhaseSerializer(many=True)


class LadderBodySerializer(Shape):
    """Whether the board moves only if a paired test says so."""

    uses_ladder = Truth()


class LadderSerializer(Shape):
    """What was chosen."""

    uses_ladder = s.BooleanField()


class DeletedPhaseSerializer(Shape):
    """What was deleted."""

    deleted = s.IntegerField()


class PhasesView(OwnerView):
    """All phases."""

    scopes: ClassVar = {"POST": MANAGE, "PATCH": MANAGE}
    owned_methods = ("POST", "PATCH")

    @extend_schema(
        operation_id="phases", summary="List the phases", tags=["evaluation"], responses=reading(PhasesSerializer)
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """When predictions are accepted, what counts, and how many; and whether the board has the Ladder."""
        open_now = phase_now(self.benchmark)
        content = {
            "uses_ladder": has_ladder(self.benchmark),
            "open": open_now.pk if open_now else None,
            "results": phases_of(self.benchmark),
        }
        return self.answer_here(lambda: PhasesSerializer.render(content))

    @extend_schema(
        operation_id="add_phase",
        summary="Add a phase",
        tags=["evaluation"],
        parameters=[DRY_RUN],
        request=PhaseBodySerializer,
        examples=[PHASE_EXAMPLE],
        responses={201: PhaseSerializer, 200: OpenApiResponse(PhaseSerializer, description="A dry run."), **WRITING},
    )
    def post(self, request: Request, key: str) -> Response:
        """A time in which predictions are accepted. Phases do not overlap."""
        body = PhaseBodySerializer.read(request.data)

        def step() -> dict[str, Any]:
            return PhaseSerializer.render(store_phase(self.benchmark, body, author=self.user))

        return self.carry_out(step, status=201)

    @extend_schema(
        operation_id="use_ladder",
        summary="Turn the Ladder on or off",
        tags=["evaluation"],
        parameters=[DRY_RUN],
        request=LadderBodySerializer,
        examples=[LADDER_EXAMPLE],
        responses={200: LadderSerializer, **WRITING},
    )
    def patch(self, request: Request, key: str) -> Response:
        """With the Ladder the board and the submitter see a new score only if a paired test says that it is better."""
        body = LadderBodySerializer.read(request.data)

        def step() -> dict[str, Any]:
            use_ladder(self.benchmark, uses_ladder=body["uses_ladder"], author=self.user)
            return LadderSerializer.render(body)

        return self.carry_out(step)


class PhaseView(OwnerView):
    """One phase."""

    scopes: ClassVar = {"PATCH": MANAGE}

    @extend_schema(
        operation_id="change_phase",
        summary="Change a phase",
        tags=["evaluation"],
        parameters=[DRY_RUN],
        request=PhaseChangeSerializer,
        examples=[CHANGE_EXAMPLE],
        responses={200: PhaseSerializer, **WRITING},
    )
    def patch(self, request: Request, key: str, number: int) -> Response:
        """Change some of it; what is left out stays."""
        body = PhaseChangeSerializer.read(request.data)

        def step() -> dict[str, Any]:
            return PhaseSerializer.render(store_phase(self.benchmark, body, author=self.user, number=number))

        return self.carry_out(step)


class PhaseDeletionView(OwnerView):
    """The end of a phase that no one used."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="delete_phase",
        summary="Delete a phase",
        tags=["evaluation"],
        parameters=[DRY_RUN],
        request=None,
        responses={200: DeletedPhaseSerializer, **WRITING},
    )
    def post(self, request: Request, key: str, number: int) -> Response:
        """Delete a phase in which no one submitted anything."""

        def step() -> dict[str, Any]:
            delete_phase(self.benchmark, number, author=self.user)
            return DeletedPhaseSerializer.render({"deleted": number})

        return self.carry_out(step)
