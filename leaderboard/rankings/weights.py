"""Weights chosen by a reader: read from an address or a body, put in place of a revision's, told as shares.

Only what differs from the revision's weights is named, so that an address stays short. A task of weight 0 takes no
part: a subset of the tasks is the weights 0 of the others.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.utils.translation import gettext

from leaderboard.rankings.configuration import BoardConfiguration, ConfiguredGroup, ConfiguredTask
from leaderboard.rankings.score_matrix import RevisionMatrix, build_matrix
from ranking_engine import ScoreMatrix
from ranking_engine.core.aggregation import reweighted, weight_bits
from ranking_engine.core.weights import GROUPED_BITS, check_bits, exact_weight

TEXT_LENGTH = 20_000  # of all weights together
TENTHS = 1000  # a tenth of a percent is the least share that is told
_ENTRY = re.compile(r"(?P<key>[a-z0-9-]{1,80}):(?P<weight>[0-9./eE+-]{1,40})")


class WeightsError(ValueError):
    """Weights that cannot be read, or that leave nothing to rank; the message is a sentence for readers."""


@dataclass(frozen=True)
class Weights:
    """The weights that differ from a revision's own, as text by key: of tasks, and of groups."""

    tasks: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.tasks or self.groups)

    @property
    def parameters(self) -> dict[str, str]:
        """As parameters of an address."""
        weights = {"weights": self.tasks, "group_weights": self.groups}
        listed = {name: [f"{key}:{weight}" for key, weight in given.items()] for name, given in weights.items()}
        return {name: ",".join(entries) for name, entries in listed.items() if entries}


def read_weights(
    tasks: str | Mapping[str, Any], groups: str | Mapping[str, Any], configuration: BoardConfiguration
) -> Weights:
    """Read weights such as `cola:3,rte:0`, or as a mapping of keys to numbers or texts.

    Args:
        tasks: the weights of tasks.
        groups: the weights of groups.
        configuration: of the revision.

    Raises:
        WeightsError: a weight that is none, or one of something that the benchmark does not have.
    """
    return Weights(
        _different(_stated(tasks), configuration.tasks, "task"),
        _different(_stated(groups), configuration.groups, "group"),
    )


def _stated(given: str | Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(given, str):
        return dict(given)
    if len(given) > TEXT_LENGTH:
        raise WeightsError(
            gettext("The weights have %(n_given)s characters; the limit is %(text_length)s.")
            % {"n_given": f"{len(given):,}", "text_length": f"{TEXT_LENGTH:,}"}
        )
    weights: dict[str, str] = {}
    for entry in filter(None, given.split(",")):
        match = _ENTRY.fullmatch(entry.strip())
        if match is None:
            raise WeightsError(
                gettext("%(strip)s is not a weight; expected a key and a number, such as cola:3.")
                % {"strip": repr(entry.strip()[:60])}
            )
        weights[match["key"]] = match["weight"]
    return weights


def _different(
    chosen_weights: Mapping[str, Any], weighed: Sequence[ConfiguredTask | ConfiguredGroup], kind: str
) -> dict[str, str]:
    """The stated weights that differ from the own ones, in the benchmark's order, each as its shortest text.

    Problems name tasks and groups as pages do; keys are for who writes an address.
    """
    own = {one.key: one.weight for one in weighed}
    for key in chosen_weights:
        if key not in own:
            known = ", ".join(list(own)[:10]) or "none"
            raise WeightsError(
                gettext("The benchmark has no %(kind)s of the key %(key)s; it has %(known)s.")
                % {"kind": kind, "key": repr(str(key)[:60]), "known": known}
            )
    weights = {}
    for one in weighed:
        if one.key not in chosen_weights:
            continue
        try:
            weight = exact_weight(chosen_weights[one.key], f"the weight of the {kind} {one.name!r}")
        except ValueError as error:
            raise WeightsError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error
        if weight != Fraction(one.weight):
            weights[one.key] = weight_text(weight)
    try:
        # What was chosen comes first: of it rather than of others an error speaks.
        for some in ([one for one in weighed if one.key in weights], weighed):
            values = [Fraction(weights.get(one.key, one.weight)) for one in some]
            check_bits([f"The weight of the {kind} {one.name!r}" for one in some], values)
    except ValueError as error:
        raise WeightsError(f"{error}.") from error
    return weights


def weight_text(weight: Fraction) -> str:
    """The shortest text that denotes exactly this weight."""
    rest = weight.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest > 1:
        return f"{weight.numerator}/{weight.denominator}"
    decimal = Decimal(weight.numerator) / Decimal(weight.denominator)
    text = f"{decimal.normalize():f}"
    return text if Fraction(text) == weight else f"{weight.numerator}/{weight.denominator}"


def weighed_matrix(table: RevisionMatrix, weights: Weights, aggregation: str) -> ScoreMatrix:
    """The scores of a revision under the weights, for the aggregation.

    Raises:
        WeightsError: the weights are not the revision's own, and no task that has an order weighs anything.
    """
    if not weights and aggregation == table.configuration.aggregation:
        return table.matrix
    own = table.configuration
    configuration = replace(
        own,
        aggregation=aggregation,
        tasks=tuple(replace(task, weight=weights.tasks.get(task.key, task.weight)) for task in own.tasks),
        groups=tuple(replace(group, weight=weights.groups.get(group.key, group.weight)) for group in own.groups),
    )
    matrix = build_matrix(table.matrix.values, table.systems, configuration)
    if weights and not matrix.votes.any():
        if any(task.votes for task in configuration.tasks):
            raise WeightsError(gettext("At least one task needs a weight above 0, and so does its group."))
        raise WeightsError(gettext("At least one task needs a weight above 0."))
    return matrix


def shares_of(matrix: ScoreMatrix, aggregation: str) -> list[Fraction]:
    """Each task's share of all votes under the aggregation, 0 where it has none.

    With `two_step` the groups vote: a task's share is that of its group, cut by the tasks' weights.

    Raises:
        WeightsError: the shares have too many digits.
    """
    aggregation = "balanced" if aggregation == "two_step" else aggregation
    if weight_bits(matrix, aggregation) > GROUPED_BITS:
        raise WeightsError(gettext("The weights of tasks within groups have too many digits to be balanced exactly."))
    weighed = reweighted(matrix, aggregation)
    voting = [weight if votes else Fraction(0) for weight, votes in zip(weighed.weights, weighed.votes, strict=True)]
    total = sum(voting, Fraction(0))
    return [weight / total if total else Fraction(0) for weight in voting]


def in_tenths(share: Fraction) -> int:
    """A share of 1 in tenths of a percent, the nearest; half a tenth is rounded up.

    Each share is rounded for itself, so equal shares read alike; their sum may miss 1000 by a little.
    """
    return (2 * TENTHS * share.numerator + share.denominator) // (2 * share.denominator)
