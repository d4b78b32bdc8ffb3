"""Metadata of systems: the fields that owners declare, and the values of many systems at once."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import MANAGE, OwnerView
from leaderboard.api.protocol.fields import ReasonText, Shape, Strict, kind_of
from leaderboard.api.protocol.problems import ApiError, wrong_body
from leaderboard.api.protocol.schema import DRY_RUN, WRITING, body_example
from leaderboard.api.submissions import problem_details
from leaderboard.api.uploads import MetadataValues
from leaderboard.benchmarks.metadata import MAX_REASON, change_values, declare_fields, values_of_entries
from leaderboard.submissions.problems import QuotaError
from ranking_engine.files.metadata import KINDS, MAX_CHOICE, MAX_CHOICES, MAX_FIELD_NAME, MAX_FIELDS, MAX_KEY, MAX_UNIT
from ranking_engine.files.problems import InputError

MAX_SYSTEMS = 1_000  # in one call
SHOWN_CHANGES = 200
EXAMPLE = body_example(
    "A field, and the values of two systems",
    {
        "metadata_fields": [{"name": "Parameters", "kind": "number", "is_column": True}],
        "systems": {"t5": {"parameters": "11B"}, "bert-large": {"parameters": 340000000}},
        "reason": "From the papers.",
    },
)
FIELD = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "key": {"type": "string", "maxLength": MAX_KEY},
        "name": {"type": "string", "minLength": 1, "maxLength": MAX_FIELD_NAME},
        "kind": {"type": "string", "enum": list(KINDS)},
        "unit": {"type": "string", "maxLength": MAX_UNIT},
        "choices": {
            "type": "array",
            "maxItems": MAX_CHOICES,
            "items": {"type": "string", "minLength": 1, "maxLength": MAX_CHOICE},
        },
        "is_column": {"type": "boolean"},
    },
}
VALUES = {
    "type": "object",
    "maxProperties": MAX_SYSTEMS,
    "additionalProperties": {
        "type": "object",
        "maxProperties": MAX_FIELDS,
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
    },
}


@extend_schema_field({"type": "array", "maxItems": MAX_FIELDS, "items": FIELD})
class FieldsOfSystems(Strict, s.Field):
    """The fields, which are checked when they are stored."""

    def to_internal_value(self, data: Any) -> Any:  # noqa: ANN401
        """The list."""
        if not isinstance(data, list):
            raise s.ValidationError(f"expected a list, found {kind_of(data)}")
        return data


@extend_schema_field(VALUES)
class ValuesBySystem(Strict, s.Field):
    """Values of the metadata by the key of a system, then by the key or the name of a field."""

    values = MetadataValues()

    def to_internal_value(self, data: Any) -> dict[str, Any]:  # noqa: ANN401
        """Every value, by system and field."""
        if not isinstance(data, dict):
            raise s.ValidationError(f"expected an object, found {kind_of(data)}")
        if len(data) > MAX_SYSTEMS:
            raise s.ValidationError(f"{len(data)} systems; at most {MAX_SYSTEMS} are taken in one call")
        return {key: self.values.to_internal_value(entry) for key, entry in data.items()}


class MetadataBodySerializer(Shape):
    """Which fields there are, and what is said of systems."""

    metadata_fields = FieldsOfSystems(
        required=False,
        help_text="All fields: a field that is left out is removed; its values are kept in case it is declared again.",
    )
    systems = ValuesBySystem(
        required=False, help_text="By key. Values that are left out do not change; null deletes a value."
    )
    reason = ReasonText(most=MAX_REASON, help_text="Kept with the change.")


class ValueChangeSerializer(Shape):
    """One value of one system."""

    system = s.CharField()
    field = s.CharField(source="field.key")
    before = s.CharField(allow_blank=True)
    after = s.CharField(allow_blank=True)


class MetadataChangeSerializer(Shape):
    """What a call changed, or would change."""

    n_fields = s.IntegerField(help_text="How many fields changed, came or went.")
    n_values = s.IntegerField()
    values = ValueChangeSerializer(many=True, help_text=f"The first {SHOWN_CHANGES}.")


class MetadataView(OwnerView):
    """The metadata of a benchmark's systems."""

    scopes: ClassVar = {"PATCH": MANAGE}
    owned_methods = ("PATCH",)

    @extend_schema(
        operation_id="change_metadata",
        summary="Declare fields of the systems, and state their values",
        tags=["hosting"],
        parameters=[DRY_RUN],
        request=MetadataBodySerializer,
        examples=[EXAMPLE],
        responses={200: MetadataChangeSerializer, **WRITING},
    )
    def patch(self, request: Request, key: str) -> Response:
        """What is said of systems beside their scores. No ranking depends on it; the trail keeps what was before."""
        body = MetadataBodySerializer.read(request.data)

        def step() -> dict[str, Any]:
            n_fields, reason = 0, body["reason"]
            if "metadata_fields" in body:
                n_fields = declare_fields(self.benchmark, body["metadata_fields"], author=self.user, reason=reason)
            try:
                values = values_of_entries(self.benchmark, body.get("systems", {}))
            except InputError as problem:
                raise wrong_body(problem_details(problem), len(problem.problems.listed)) from problem
            try:
                changes = change_values(self.benchmark, values, author=self.user, reason=reason)
            except QuotaError as problem:
                raise ApiError(429, str(problem), code="quota_exceeded") from problem
            return MetadataChangeSerializer.render(
                {"n_fields": n_fields, "n_values": len(changes), "values": changes[:SHOWN_CHANGES]}
            )

        return self.carry_out(step)
