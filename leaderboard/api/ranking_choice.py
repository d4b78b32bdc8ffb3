"""How a board is to be ranked on demand: the policy, aggregation and weights that an address or a body states."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.problems import ApiError
from leaderboard.api.protocol.schema import body_example
from leaderboard.models import Benchmark
from leaderboard.rankings.configuration import BoardConfiguration
from leaderboard.rankings.weights import Weights, WeightsError, read_weights

FIELDS = ("missing", "aggregation", "weights", "group_weights")
WEIGHTS_EXAMPLE = body_example(
    "One task counts three times, another not at all", {"weights": {"cola": 3, "rte": "0"}, "aggregation": "basic"}
)


@dataclass(frozen=True)
class RankingChoice:
    """How scores are to count; `is_stored` where that is the revision's own way."""

    policy: str
    aggregation: str
    weights: Weights
    is_stored: bool

    @classmethod
    def of_address(cls, parameters: Mapping[str, str], configuration: BoardConfiguration) -> "RankingChoice":
        """What an address says: `weights=cola:3,rte:0`.

        Raises:
            ApiError: there is no such choice, or the weights cannot be read.
        """
        return cls.of({name: str(parameters.get(name, "")) for name in FIELDS}, configuration, kind="parameter")

    @classmethod
    def of(
        cls, fields: Mapping[str, Any], configuration: BoardConfiguration, *, kind: str = "place"
    ) -> "RankingChoice":
        """What is stated, over a configuration.

        Args:
            fields: what is stated, by FIELDS.
            configuration: of the revision.
            kind: as what an error calls a field: the `place` in a body, or a `parameter`.

        Raises:
            ApiError: there is no such choice, or the weights cannot be read.
        """
        policy = fields.get("missing") or configuration.missing_policy
        aggregation = fields.get("aggregation") or configuration.aggregation
        for name, chosen, known in [
            ("missing", policy, configuration.policies),
            ("aggregation", aggregation, Benchmark.Aggregation.values),
        ]:
            if chosen not in known:
                message = f"`{name}` is {chosen[:40]!r}; expected one of {', '.join(known)}."
                raise ApiError(400, message, details=[{kind: name, "message": message}])
        name = "weights"
        try:
            tasks = read_weights(fields.get(name) or "", "", configuration).tasks
            name = "group_weights"
            groups = read_weights("", fields.get(name) or "", configuration).groups
        except WeightsError as error:
            raise ApiError(400, str(error), details=[{kind: name, "message": str(error)}]) from error
        weights = Weights(tasks, groups)
        is_stored = not weights and (policy, aggregation) == (configuration.missing_policy, configuration.aggregation)
        return cls(policy, aggregation, weights, is_stored)


@extend_schema_field({"type": "object", "additionalProperties": {"type": ["number", "string"]}})
class WeightsByKey(s.DictField):
    """Numbers, or texts that are read exactly, by key."""


class WeightsBodySerializer(Shape):
    """How to rank: what is left out is the revision's own."""

    is_question = True
    missing = s.ChoiceField(choices=Benchmark.MissingPolicy.values, required=False)
    aggregation = s.ChoiceField(choices=Benchmark.Aggregation.values, required=False)
    weights = WeightsByKey(required=False, help_text="Of tasks by key: numbers, or texts such as `0.1` and `1/3`.")
    group_weights = WeightsByKey(required=False, help_text="Of groups by key.")

    def to_internal_value(self, data: Any) -> dict[str, Any]:  # noqa: ANN401
        """What is stated; nothing of it is stored, so that an error tells the first problem as an address' would."""
        if not isinstance(data, dict):
            raise ApiError(400, 'The body is no object; expected one such as {"weights": {"cola": 3}}.')
        for name, value in data.items():
            if name not in self.fields:
                raise ApiError(400, f"There is no field {name[:60]!r}; the fields are {', '.join(FIELDS)}.")
            is_text = isinstance(self.fields[name], s.ChoiceField)
            if not isinstance(value, str if is_text else dict):
                raise ApiError(400, f"`{name}` is not {'a text' if is_text else 'an object of weights by key'}.")
        return data
