"""Rows of an upload: one system as someone states it, and the same checked, as drafts keep it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict


@dataclass(frozen=True)
class SubmittedRow:
    """One system's scores as they came in, from a form, a table, a program or an importer: nothing checked.

    Attributes:
        system_name: empty where `key` or `corrects` says which system is meant.
        scores: by task: a number or a text; an empty text or None is a score that is not reported, one of
            MISSING_WORDS says why there is none. Tasks are named by key; in a program's rows by name or key.
        organisation: who made the system.
        url: where more is said of it.
        description: in words.
        line: of the file, or the number of the row from 1.
        instances: by task: scores of single instances, as `instances.vectors.entry_of` packs them.
        corrects: the id of the submission that it corrects.
        details: by task: standard error and number of instances of its score, None where one is not stated.
        key: of a system on the board, in place of its name; or the one that a new system is to have.
        instance_scores: by task, then by instance, as a program sends them: not packed yet.
        instance_clusters: by task, then by instance, as a program sends them.
        metadata: by the key or the name of a field of its benchmark.
    """

    system_name: str = ""
    scores: Mapping[str, str | float | None] = field(default_factory=dict)
    organisation: str = ""
    url: str = ""
    description: str = ""
    line: int | None = None
    instances: Mapping[str, "PackedInstances"] = field(default_factory=dict)
    corrects: str = ""
    details: Mapping[str, tuple[float | None, int | None]] = field(default_factory=dict)
    key: str = ""
    instance_scores: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    instance_clusters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


class CheckedSystem(TypedDict):
    """Which system a checked row is of, and what the row says about it."""

    name: str
    key: NotRequired[str | None]  # None where it is not on the board
    organisation: NotRequired[str]
    url: NotRequired[str]
    description: NotRequired[str]
    near_misses: NotRequired[list[str]]  # names on the board that a new name may be a slip of the pen for
    new_key: NotRequired[str]  # that someone wants for a new system
    tags: NotRequired[list[str]]  # of a copy of a benchmark
    metadata: NotRequired[dict[str, Any]]  # by the key of a field


class CheckedScore(TypedDict, total=False):
    """A score: either `value`, with what is known of its measurement, or `missing`, a `Score.MissingReason`."""

    value: float
    missing: str
    standard_error: float
    n_instances: int


class PackedInstances(TypedDict):
    """One system's scores on the instances of one task."""

    set: str  # the hash of the instances' names
    n: int  # how many have a score
    mean: float  # of these
    values: str
    names: NotRequired[str]  # in the first entry of the set in an upload
    clusters: NotRequired[str]  # of the instances, in the first entry of the task in an upload that states some


class CheckedRow(TypedDict):
    """One system of an upload, checked: the JSON that drafts store."""

    system: CheckedSystem
    scores: dict[str, CheckedScore]  # by task key
    line: int | None
    instances: NotRequired[dict[str, PackedInstances]]
    corrects: NotRequired[str]  # the id of the submission that it corrects
    carried: NotRequired[list[str]]  # tasks whose scores a correction takes over
    stated_instances: NotRequired[list[str]]  # tasks whose instances a correction states itself


def measured_score(value: float, standard_error: float | None, n_instances: int | None) -> CheckedScore:
    """A score with what is known of its measurement; None where something is not."""
    score: CheckedScore = {"value": value}
    if standard_error is not None:
        score["standard_error"] = standard_error
    if n_instances is not None:
        score["n_instances"] = n_instances
    return score
