"""Diversity and sensitivity of leaderboards and of baselines, kept, since several sections speak of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability.diversity import Diversity, diversity
from ranking_engine.stability.sensitivity.cardinal import CardinalSensitivity, cardinal_sensitivity
from ranking_engine.stability.sensitivity.ordinal import OrdinalSensitivity, ordinal_sensitivity
from reproduction import store
from reproduction.boards import board
from reproduction.tables import number
from reproduction.zhang.unstructured import (
    CARDINAL_SHAPE,
    N_TRIALS,
    ORDINAL_RANDOM_TOP,
    ORDINAL_SHAPE,
    Kind,
    unstructured_benchmark,
)

BASELINE_KEYS: Mapping[str, Kind] = {"Constant": "constant", "Random": "random"}
IMAGENET, IMAGENET_BOARD = "ImageNet", "bb-imagenet1000"
N_BLOCKS = 20  # of classes, each a task
SWEEP_BOXES = 300_000_000  # work on a point of a curve, before it is called open


@dataclass(frozen=True)
class Measured:
    """A sensitivity in figures.

    Attributes:
        n_systems: whose order is at stake: all, or the first fifth.
        tau_b_distance: (1 - tau-b) / 2, the largest met: a lower bound.
        pairs: the share of reversed pairs, as reached and as proven to be out of reach.
        moved: the largest change of a rank, likewise.
    """

    n_systems: int
    tau_b_distance: float
    pairs: tuple[float, float]
    moved: tuple[float, float]


def figures_of(sensitivity: CardinalSensitivity | OrdinalSensitivity) -> Measured:
    """Return what the page says of a sensitivity."""
    systems = sensitivity.systems if isinstance(sensitivity, CardinalSensitivity) else sensitivity.top
    pairs, moved = sensitivity.discordant_share, sensitivity.max_rank_change
    if pairs is None or moved is None:
        raise ValueError(f"no sensitivity: {sensitivity.reason}")
    return Measured(len(systems), sensitivity.tau_b_distance, (pairs.lower, pairs.upper), (moved.lower, moved.upper))


def measured(stored: Mapping[str, Any]) -> Measured:
    """Return what was kept."""
    return Measured(stored["n_systems"], stored["tau_b_distance"], tuple(stored["pairs"]), tuple(stored["moved"]))


@cache
def of_cardinal(name: str) -> Measured:
    def compute() -> dict[str, Any]:
        return asdict(figures_of(cardinal_sensitivity(board(name))))

    return measured(store.kept(f"cardinal-sensitivity-{name}", (name,), compute))


@cache
def of_paper_set(name: str) -> Measured:
    """Return the cardinal sensitivity for the weights that section 5 of Zhang and Hardt 2024 describes."""

    def compute() -> dict[str, Any]:
        sensitivity = cardinal_sensitivity(board(name), feasible="box", max_programs=0, box_work=SWEEP_BOXES)
        return asdict(figures_of(sensitivity))

    return measured(store.kept(f"paper-set-sensitivity-{name}", (name,), compute))


@cache
def of_ordinal(name: str) -> Measured:
    def compute() -> dict[str, Any]:
        return asdict(figures_of(ordinal_sensitivity(board(name))))

    return measured(store.kept(f"ordinal-sensitivity-{name}", (name,), compute))


def interval(bounds: tuple[float, float]) -> str:
    """Return what is reached and what is proven to be out of reach; one figure where they meet."""
    low, high = bounds
    return number(low, 4) if low >= high else f"{number(low, 4)} to {number(high, 4)}"


@cache
def of_diversity(name: str) -> Diversity:
    return diversity(board(name))


@cache
def at_least_weight(name: str, least_weight: float) -> Measured:
    """Return the cardinal sensitivity when noise preserves at least that share of a task's differences."""

    def compute() -> dict[str, Any]:
        sensitivity = cardinal_sensitivity(board(name), least_weight=least_weight, max_programs=0, box_work=SWEEP_BOXES)
        return asdict(figures_of(sensitivity))

    return measured(store.kept(f"preserved-{name}-{least_weight:g}", (name,), compute))


@dataclass(frozen=True)
class Trial:
    """One baseline: sensitivity and diversity, each with its max rank change."""

    tau_b_distance: float
    pairs: float
    moved: float
    diversity: float
    tie_corrected: float
    varied: float


def trials(kind: str, title: str) -> list[Trial]:
    """Return the baselines of seeds 0 to 4."""
    return [_trial(kind, title, seed) for seed in range(N_TRIALS)]


@cache
def _trial(kind: str, title: str, seed: int) -> Trial:
    def compute() -> dict[str, Any]:
        matrix = drawn(kind, title, seed)
        figures, varied = figures_of(_short_search(kind, title, matrix)), diversity(matrix)
        trial = Trial(
            figures.tau_b_distance,
            figures.pairs[0],
            figures.moved[0],
            varied.diversity,
            varied.diversity_tie_corrected,
            varied.mean_max_rank_change,
        )
        return asdict(trial)

    boards = (IMAGENET_BOARD,) if title == IMAGENET else ()
    return Trial(**store.kept(f"baseline-{kind}-{title}-{seed}", boards, compute))


def drawn(kind: str, title: str, seed: int) -> ScoreMatrix:
    """Return a baseline as a leaderboard."""
    if title == IMAGENET:
        return imagenet(seed)
    return unstructured_benchmark(
        BASELINE_KEYS[title], *(CARDINAL_SHAPE if kind == "cardinal" else ORDINAL_SHAPE), seed=seed
    )


def imagenet(seed: int) -> ScoreMatrix:
    """Return ImageNet as 20 tasks, each the mean over 50 classes drawn as in the released code."""
    classes = board(IMAGENET_BOARD)
    order = np.random.RandomState(seed).permutation(classes.n_tasks).reshape(N_BLOCKS, -1)
    values = np.stack([classes.values[:, block].mean(axis=1) for block in order], axis=1)
    return ScoreMatrix(values, system_names=classes.system_names)


def _short_search(kind: str, title: str, matrix: ScoreMatrix) -> CardinalSensitivity | OrdinalSensitivity:
    """Search without asking for proofs."""
    if kind == "cardinal":
        return cardinal_sensitivity(matrix, max_programs=0, box_work=0)
    return ordinal_sensitivity(matrix, n_top=ORDINAL_RANDOM_TOP if title == "Random" else None, max_nodes=1)
