"""What the instances of one task say as items of a test, in one record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.stability.items.anchors import AnchorError, Anchors, anchor_errors, choose_anchors
from ranking_engine.stability.items.response_model import ItemModel, Model, UnfittedError, binary_responses, fit_items

SUSPECT_FROM = 0.9  # the chance that a discrimination is negative, from which an item is listed
MAX_SUSPECTS = 20
MAX_RESPONSES = 2_000_000  # of a task whose items are fitted
MAX_ANCHORED = 200_000  # of a task whose anchors are chosen: that fits the model five times more
COST_WANTED = 0.02  # the smallest anchors whose mean error is no larger are shown


@dataclass(frozen=True, eq=False)
class TaskItems:
    """The items of one task.

    Attributes:
        n_items: how many instances have a response.
        n_all_right, n_none_right: those that every system gets right, and those that none does.
        reason: why no model was fitted; otherwise empty.
        model: None with a reason.
        suspects: items, by index, whose discrimination is most likely negative, so that good systems get them wrong
            more often than bad ones: their labels may be wrong. The likeliest first, MAX_SUSPECTS at most.
        n_suspects: how many there are.
        errors: what anchors of several sizes cost; empty where there are too few or too many responses.
        anchors: the smallest whose mean error is at most COST_WANTED, else those that cost least; None without errors.
    """

    n_items: int
    n_all_right: int
    n_none_right: int
    reason: str
    model: ItemModel | None = None
    suspects: tuple[int, ...] = ()
    n_suspects: int = 0
    errors: tuple[AnchorError, ...] = ()
    anchors: Anchors | None = None


def task_items(block: FloatArray, direction: int = 1, *, model: Model = "2PL", seed: int = 0) -> TaskItems:
    """Fit the items of a task, and choose anchors.

    Args:
        block: scores as stored, shape (n_systems, n_instances); the items of tasks of 0 and 1 alone are fitted.
        direction: of the task, +1 or -1.
        model: "1PL" or "2PL". Suspects and anchors need the 2PL.
        seed: of the folds on which the cost of anchors is measured.
    """
    responses = binary_responses(block, direction)
    if responses is None:
        return TaskItems(int((~np.isnan(block)).any(axis=0).sum()), 0, 0, "its scores are not all 0 or 1")
    present = ~np.isnan(responses)
    n_present, n_right = present.sum(axis=0), np.where(present, responses, 0.0).sum(axis=0)
    counts = (
        int((n_present > 0).sum()), int(((n_present > 0) & (n_right == n_present)).sum()),
        int(((n_present > 0) & (n_right == 0)).sum()),
    )  # fmt: skip
    if responses.size > MAX_RESPONSES:
        return TaskItems(*counts, f"{responses.size:,} responses; at most {MAX_RESPONSES:,} are fitted")
    try:
        fitted = fit_items(responses, model=model)
    except UnfittedError as error:
        return TaskItems(*counts, str(error))
    if model == "1PL":
        return TaskItems(*counts, "", fitted)
    chance = np.nan_to_num(fitted.chance_negative)
    likely = np.argsort(-chance, kind="stable")[:MAX_SUSPECTS]
    suspects = tuple(int(j) for j in likely if chance[j] >= SUSPECT_FROM)
    errors = tuple(anchor_errors(responses, seed=seed)) if responses.size <= MAX_ANCHORED else ()
    anchors = None
    if errors:
        cheap = [one for one in errors if one.error <= COST_WANTED]
        chosen = cheap[0] if cheap else min(errors, key=lambda one: one.error)
        anchors = choose_anchors(fitted, chosen.n_items)
    return TaskItems(*counts, "", fitted, suspects, int((chance >= SUSPECT_FROM).sum()), errors, anchors)
