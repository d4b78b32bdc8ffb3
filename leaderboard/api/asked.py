"""How a board is to be ranked on demand: the policy, aggregation and weights that an address or a body asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.api.problems import ApiError
from leaderboard.models import Benchmark
from leaderboard.services.weights import Weights, WeightsError, read_weights

FIELDS = ("missing", "aggregation", "weights", "group_weights")


@dataclass(frozen=True)
class Asked:
    """What is asked for; `is_stored` where it is the revision's own."""

    policy: str
    aggregation: str
    weights: Weights
    is_stored: bool

    @property
    def told(self) -> dict[str, Any]:
        """What every answer says of it: of the weights those that differ from the revision's own."""
        return {
            "missing": self.policy,
            "aggregation": self.aggregation,
            "weights": dict(self.weights.tasks),
            "group_weights": dict(self.weights.groups),
        }


def asked_by_address(parameters: Mapping[str, str], content: dict[str, Any]) -> Asked:
    """What an address asks: `weights=cola:3,rte:0`.

    Raises:
        ApiError: there is no such choice, or the weights cannot be read.
    """
    return _asked({name: str(parameters.get(name, "")) for name in FIELDS}, content)


def asked_by_body(data: Any, content: dict[str, Any]) -> Asked:  # noqa: ANN401
    """What a body asks: `{"weights": {"cola": 3, "rte": 0}}`.

    Raises:
        ApiError: it has another shape, there is no such choice, or the weights cannot be read.
    """
    if not isinstance(data, dict):
        raise ApiError(400, "The body is no object; expected one such as {\"weights\": {\"cola\": 3}}.")
    for name, value in data.items():
        if name not in FIELDS:
            raise ApiError(400, f"There is no field {name[:60]!r}; the fields are {', '.join(FIELDS)}.")
        is_text = name in ("missing", "aggregation")
        if not isinstance(value, str if is_text else dict):
            raise ApiError(400, f"`{name}` is not {'a text' if is_text else 'an object of weights by key'}.")
    return _asked(data, content)


def _asked(given: Mapping[str, Any], content: dict[str, Any]) -> Asked:
    policy = given.get("missing") or content["missing_policy"]
    aggregation = given.get("aggregation") or content["aggregation"]
    for name, chosen, known in [
        ("missing", policy, Benchmark.MissingPolicy.values),
        ("aggregation", aggregation, Benchmark.Aggregation.values),
    ]:
        if chosen not in known:
            raise ApiError(400, f"`{name}` is {chosen[:40]!r}; expected one of {', '.join(known)}.")
    try:
        weights = read_weights(given.get("weights") or "", given.get("group_weights") or "", content)
    except WeightsError as error:
        raise ApiError(400, str(error)) from error
    is_stored = not weights and (policy, aggregation) == (content["missing_policy"], content["aggregation"])
    return Asked(policy, aggregation, weights, is_stored)
