"""Results of prospects: one verdict per system, with its evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Verdict = Literal["strict", "tie_only", "none", "no_scores", "undecided"]
Weights = Mapping[str, Fraction]
Arrays = dict[str, NDArray[Any]]

VERDICTS: Mapping[Verdict, str] = {
    "strict": "Weights exist under which it beats every rival.",
    "tie_only": "Weights exist under which it loses to no one, but never without a tie.",
    "none": "Under every weighting some rival beats it.",
    "no_scores": "It lacks the scores that a comparison needs.",
    "undecided": "Neither weights nor a proof against them were found and verified.",
}
_VERDICTS = list(VERDICTS)
_CODE = {verdict: code for code, verdict in enumerate(_VERDICTS)}


@dataclass(frozen=True)
class WeightChange:
    """Weights under which a system loses to no one, and how far they are from those it started from.

    Attributes:
        weights: task name to weight, the positive ones; verified exactly.
        change: the distance of exactly these weights, from 0 to 1.
    """

    weights: Weights
    change: float


@dataclass(frozen=True)
class Nearest:
    """The smallest changes of weights that make a system lose to no one.

    Attributes:
        total_change: least half of sum_t |w_t - w0_t|: how much weight has to move.
        largest_change: least max_t |w_t - w0_t|: how much a single task's weight has to move.
    """

    total_change: WeightChange
    largest_change: WeightChange


@dataclass(frozen=True)
class Prospect:
    """Whether one system can win, with the evidence.

    Attributes:
        system: its name.
        verdict: a key of VERDICTS.
        weights: for `strict` and `tie_only`, weights under which it loses to no one (the objective's optimum where
            the conditions state one): task name to weight, the positive ones. Verified exactly. Empty otherwise.
        margin: the largest delta such that some weighting puts it at least delta ahead of every rival: a share of
            the weight under the majority rule, points of the rule otherwise. None without a rival or a verdict, and
            where the tasks' scales are too far apart to find it.
        certificate: for `none`, a mixture of rivals against which it loses on balance on every voting task that it
            has a score on; for `tie_only`, one against which it never gains: rival's name to share. Verified exactly.
            Empty otherwise, and for `none` where every winning weighting that the conditions allow weighs only tasks
            without a score of it.
        condition_shares: with conditions, the multiple of each that belongs to the certificate, by its place in
            `Prospects.conditions`; only positive ones. On every voting task the mixture's lead and these multiples of
            (1 if the task is in the set, else 0) - bound, or the reverse for an upper bound, add up to less than 0.
        nearest: from "equal" and from the benchmark's "own" weights; empty where not asked for or not winnable.
        share: the share of all weightings under which it loses to no one, estimated; 0 for `none`.
        share_error: the standard error of `share`.
        share_bound: where no draw hit, the bound below which the share is with 95 % confidence (3 / n_draws).
        share_lower, share_upper: where a single draw hit, or all but one, the exact 95 % interval of the share; where
            all did and some rival is ahead on some task, 1 - 3 / n_draws, above which it is with 95 % confidence; 1.
        needed_tasks: the tasks that have a positive weight whenever it wins; each proven exactly.
        objective: the weight of the set that the conditions minimise or maximise, at `weights`.
        n_incomparable: rivals that can neither beat it nor be beaten: at `weights` no task with a score of both weighs
            anything; without weights, no voting task has a score of both.
        reason: why there is no verdict.
    """

    system: str
    verdict: Verdict
    weights: Weights = field(default_factory=dict)
    margin: float | None = None
    certificate: Weights = field(default_factory=dict)
    condition_shares: Mapping[int, Fraction] = field(default_factory=dict)
    nearest: Mapping[str, Nearest] = field(default_factory=dict)
    share: float | None = None
    share_error: float | None = None
    share_bound: float | None = None
    share_lower: float | None = None
    share_upper: float | None = None
    needed_tasks: tuple[str, ...] = ()
    objective: Fraction | None = None
    n_incomparable: int = 0
    reason: str = ""

    @property
    def is_prospective(self) -> bool:
        """Whether weights exist under which it loses to no one."""
        return self.verdict in ("strict", "tie_only")


@dataclass(frozen=True)
class Prospects:
    """Who can win a benchmark.

    Attributes:
        systems: one prospect a system, in the order of the matrix.
        tasks: the names of the voting tasks, in the order of the matrix.
        rule: the rule that is to be won: `majority`, or the key of a rule on points.
        n_draws: weightings drawn for the shares.
        seed: of the draws.
        n_steps: linear programs solved.
        is_complete: False where `max_steps` ended the work: what was left is undecided.
        conditions_reason: why the conditions admit no weights at all; empty where they do.
        conditions: the conditions as text.
    """

    systems: tuple[Prospect, ...]
    tasks: tuple[str, ...]
    rule: str = "majority"
    n_draws: int = 0
    seed: int = 0
    n_steps: int = 0
    is_complete: bool = True
    conditions_reason: str = ""
    conditions: tuple[str, ...] = ()

    def __getitem__(self, system: str) -> Prospect:
        """Return the prospect of the system of that name, or raise a KeyError."""
        for prospect in self.systems:
            if prospect.system == system:
                return prospect
        raise KeyError(system)

    def summary(self) -> dict[str, Any]:
        """Return what is small, as plain data for JSON."""
        counts = {verdict: sum(p.verdict == verdict for p in self.systems) for verdict in _VERDICTS}
        return {
            "rule": self.rule,
            "n_systems": len(self.systems),
            "n_tasks": len(self.tasks),
            "verdicts": counts,
            "n_draws": self.n_draws,
            "seed": self.seed,
            "n_steps": self.n_steps,
            "is_complete": self.is_complete,
            "conditions": list(self.conditions),
            "conditions_reason": self.conditions_reason,
        }

    def as_arrays(self) -> Arrays:
        """Return everything about the systems and tasks as arrays; `from_arrays` takes it with `summary`.

        `names` are those of the systems, then of further rivals. System k's fractions are those with
        `fraction_system == k`: `fraction_kind` says what of (see _KINDS), `fraction_index` of which task, rival or
        condition, and `numerators` over `denominators` is the value: int64 where all fit, else decimal text. Missing
        numbers are NaN.
        """
        systems = self.systems
        own = dict.fromkeys(p.system for p in systems)
        names = [*own, *(name for p in systems for name in p.certificate if name not in own)]
        names = list(dict.fromkeys(names))
        task_places, system_places = _places(self.tasks), _places(names)
        nearest: list[dict[int, WeightChange]] = [
            {
                _NEAREST + 2 * a + b: getattr(p.nearest[origin], norm)
                for a, origin in enumerate(_ORIGINS)
                for b, norm in enumerate(_NORMS)
                if origin in p.nearest
            }
            for p in systems
        ]
        fractions = []
        for k, p in enumerate(systems):
            kinds: dict[int, dict[int, Fraction]] = {
                _WEIGHTS: {task_places[name]: value for name, value in p.weights.items()},
                _CERTIFICATE: {system_places[name]: value for name, value in p.certificate.items()},
                _CONDITION: dict(p.condition_shares),
                _OBJECTIVE: {} if p.objective is None else {0: p.objective},
            }
            for kind, change in nearest[k].items():
                kinds[kind] = {task_places[name]: value for name, value in change.weights.items()}
            for kind, values in kinds.items():
                fractions += [(k, kind, index, value.numerator, value.denominator) for index, value in values.items()]
        columns = list(zip(*fractions, strict=True)) or [()] * 5
        needed = [(k, task_places[name]) for k, p in enumerate(systems) for name in p.needed_tasks]
        changes = [[n[k].change if k in n else math.nan for k in range(_NEAREST, _NEAREST + 4)] for n in nearest]
        return {
            "names": np.array(names, dtype=str),
            "tasks": np.array(self.tasks, dtype=str),
            "verdicts": np.array([_CODE[p.verdict] for p in systems], dtype=np.int32),
            **{name: np.array([getattr(p, name) for p in systems], dtype=np.float64) for name in _NUMBERS},
            "changes": np.array(changes, dtype=np.float64).reshape(len(systems), 4),
            "n_incomparable": np.array([p.n_incomparable for p in systems], dtype=np.int64),
            "reasons": np.array([p.reason for p in systems], dtype=str),
            "needed": np.array(needed, dtype=np.int32).reshape(-1, 2),
            "fraction_system": np.array(columns[0], dtype=np.int32),
            "fraction_kind": np.array(columns[1], dtype=np.int32),
            "fraction_index": np.array(columns[2], dtype=np.int32),
            "numerators": _integers(columns[3]),
            "denominators": _integers(columns[4]),
        }

    @classmethod
    def from_arrays(cls, summary: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Prospects:
        """Return what `summary` and `as_arrays` were made of."""
        names, tasks = [str(name) for name in arrays["names"]], [str(name) for name in arrays["tasks"]]
        n = len(arrays["verdicts"])
        fractions: list[dict[int, dict[int, Fraction]]] = [{} for _ in range(n)]
        sparse = [arrays[f"fraction_{what}"].tolist() for what in ("system", "kind", "index")]
        values = zip(arrays["numerators"].tolist(), arrays["denominators"].tolist(), strict=True)
        for k, kind, index, (above, below) in zip(*sparse, values, strict=True):
            fractions[k].setdefault(kind, {})[index] = Fraction(int(above), int(below))
        needed: list[list[str]] = [[] for _ in range(n)]
        for k, t in arrays["needed"].tolist():
            needed[k].append(tasks[t])
        restore = partial(_restored, names=names, tasks=tasks, arrays=arrays)
        systems = tuple(restore(k, fractions[k], tuple(needed[k])) for k in range(n))
        return cls(
            systems,
            tuple(tasks),
            **{name: summary[name] for name in ("rule", "n_draws", "seed", "n_steps", "is_complete")},
            conditions_reason=summary["conditions_reason"],
            conditions=tuple(summary["conditions"]),
        )


_NUMBERS = ("margin", "share", "share_error", "share_bound", "share_lower", "share_upper")
_ORIGINS = ("equal", "own")
_NORMS = ("total_change", "largest_change")
# what a stored fraction is: the numbers are kept in reports
_WEIGHTS, _CERTIFICATE, _CONDITION, _OBJECTIVE, _NEAREST = 0, 1, 2, 3, 4
_KINDS = {
    _WEIGHTS: "the weight of a task",
    _CERTIFICATE: "the share of a rival",
    _CONDITION: "the share of a condition",
    _OBJECTIVE: "the objective",
    **{
        _NEAREST + 2 * a + b: f"the weight of a task, nearest from {origin} weights by {norm}"
        for a, origin in enumerate(_ORIGINS)
        for b, norm in enumerate(_NORMS)
    },
}


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: k for k, name in enumerate(names)}


def _restored(
    k: int,
    fractions: Mapping[int, Mapping[int, Fraction]],
    needed: tuple[str, ...],
    *,
    names: Sequence[str],
    tasks: Sequence[str],
    arrays: Mapping[str, NDArray[Any]],
) -> Prospect:
    def by_task(kind: int) -> dict[str, Fraction]:
        return {tasks[t]: value for t, value in fractions.get(kind, {}).items()}

    changes = arrays["changes"][k].tolist()
    nearest = {
        origin: Nearest(*(WeightChange(by_task(_NEAREST + 2 * a + b), changes[2 * a + b]) for b in range(len(_NORMS))))
        for a, origin in enumerate(_ORIGINS)
        if not math.isnan(changes[2 * a])
    }
    numbers = {name: float(arrays[name][k]) for name in _NUMBERS if name in arrays}  # older reports lack the last
    return Prospect(
        system=names[k],
        verdict=_VERDICTS[int(arrays["verdicts"][k])],
        weights=by_task(_WEIGHTS),
        certificate={names[j]: value for j, value in fractions.get(_CERTIFICATE, {}).items()},
        condition_shares=dict(fractions.get(_CONDITION, {})),
        nearest=nearest,
        needed_tasks=needed,
        objective=fractions.get(_OBJECTIVE, {}).get(0),
        n_incomparable=int(arrays["n_incomparable"][k]),
        reason=str(arrays["reasons"][k]),
        **{name: None if math.isnan(value) else value for name, value in numbers.items()},
    )


def _integers(values: Sequence[int]) -> NDArray[Any]:
    fits = all(-(2**63) <= value < 2**63 for value in values)
    return np.array(values, dtype=np.int64) if fits else np.array([str(value) for value in values])
