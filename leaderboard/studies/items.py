"""The instances of a board as items of a test: what is stored of them, and what a page says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext, ngettext

from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import percent, signed
from ranking_engine.core.instances import InstanceScores
from ranking_engine.stability.items.task_items import COST_WANTED, task_items

MAX_FITTED = 5_000_000  # responses of a board whose items are fitted; the first tasks are
HIDDEN = "the task has hidden references, and single instances would give them away"
LONGEST_NAME = 120  # letters of an instance's name that are shown


@dataclass(frozen=True)
class ItemRow:
    """One item whose label may be wrong."""

    name: str
    share_text: str
    discrimination_text: str
    chance_text: str


@dataclass(frozen=True)
class ItemsOfTask:
    """What a page says of the items of one task.

    Attributes:
        name: of the task.
        n_items, n_all_right, n_none_right: how many there are, every system gets right, and none does.
        reason: why no model was fitted; otherwise empty.
        difficulty_text: the median, and the middle half of the items.
        discrimination_text: the same.
        suspects: items whose label may be wrong.
        costs: for each size the mean error of anchors and of random items, as texts.
        anchors: the names of the anchors shown.
        n_suspects: how many there are; the likeliest are in `suspects`.
        is_cheap: the anchors have a mean error of at most COST_WANTED.
    """

    name: str
    n_items: int
    n_all_right: int
    n_none_right: int
    reason: str
    difficulty_text: str
    discrimination_text: str
    suspects: list[ItemRow]
    costs: list[tuple[int, str, str]]
    anchors: list[str]
    n_suspects: int
    is_cheap: bool

    @property
    def anchors_note(self) -> str:
        """Which anchors are listed."""
        if self.is_cheap:
            return gettext("The anchors listed are the fewest with a mean error of at most %(cost_wanted)s.") % {
                "cost_wanted": percent(COST_WANTED, 2)
            }
        return gettext("No size has a mean error of at most %(cost_wanted)s: the anchors listed have the smallest.") % {
            "cost_wanted": percent(COST_WANTED, 2)
        }


def items_of_board(
    scores: InstanceScores, names: Sequence[Sequence[str]], *, seed: int, hidden: Collection[str] = ()
) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """Fit the items of every task; what is stored of them, as JSON, and arrays with a row an item.

    Args:
        scores: on single instances, the tasks in the board's order.
        names: for each task those of its instances.
        seed: of the folds on which the cost of anchors is measured.
        hidden: the keys of tasks whose single instances no one sees.

    Returns:
        An entry a task, and by `items_{k}` of the k-th task difficulty, discrimination, its standard error, and the
        share of systems that get the item right; NaN where one is not known.
    """
    entries, arrays, n_fitted = [], {}, 0
    for k, (task, block, direction) in enumerate(zip(scores.task_names, scores.blocks, scores.directions, strict=True)):
        n_fitted += block.size
        if n_fitted > MAX_FITTED:
            break
        if task in hidden:
            none = {"n_items": block.shape[1], "n_all_right": 0, "n_none_right": 0}
            entries.append({"task": task, **none, "reason": HIDDEN, "suspects": [], "anchors": [], "costs": []})
            continue
        items = task_items(block, direction, seed=seed)
        entry: dict[str, Any] = {
            "task": task,
            "n_items": items.n_items,
            "n_all_right": items.n_all_right,
            "n_none_right": items.n_none_right,
            "reason": items.reason,
            "suspects": [],
            "anchors": [],
            "costs": [
                {"n_items": one.n_items, "error": one.error, "random_error": one.random_error} for one in items.errors
            ],
        }
        if (model := items.model) is not None:
            chance = model.chance_negative
            entry["suspects"] = [
                {
                    "instance": names[k][j][:LONGEST_NAME],
                    "share_right": float(model.share_right[j]),
                    "discrimination": float(model.discrimination[j]),
                    "chance_negative": float(chance[j]),
                }
                for j in items.suspects
            ]
            entry["n_suspects"] = items.n_suspects
            if items.anchors is not None:
                entry["anchors"] = [
                    {"instance": names[k][j][:LONGEST_NAME], "weight": float(weight)}
                    for j, weight in zip(items.anchors.items.tolist(), items.anchors.weights, strict=True)
                ]
            columns = (model.difficulty, model.discrimination, model.discrimination_error, model.share_right)
            arrays[f"items_{k}"] = np.column_stack(columns)
        entries.append(entry)
    return entries, arrays


def items_shown(
    summary: Mapping[str, Any], arrays: Mapping[str, np.ndarray], task_names: Mapping[str, str]
) -> list[ItemsOfTask]:
    """The items of every task, for a page; none in reports of earlier versions.

    Args:
        summary, arrays: of the report.
        task_names: by key.
    """
    rows = []
    for k, entry in enumerate(summary.get("items", [])):
        figures = arrays.get(f"items_{k}", np.empty((0, 4)))
        rows.append(
            ItemsOfTask(
                name=task_names.get(entry["task"], entry["task"]),
                n_items=entry["n_items"],
                n_all_right=entry["n_all_right"],
                n_none_right=entry["n_none_right"],
                reason=in_page_language(entry["reason"]),
                difficulty_text=_middle(figures[:, 0]),
                discrimination_text=_middle(figures[:, 1]),
                suspects=[
                    ItemRow(
                        one["instance"],
                        percent(one["share_right"], 2),
                        signed(one["discrimination"]),
                        percent(one["chance_negative"], 3),
                    )
                    for one in entry["suspects"]
                ],
                costs=[
                    (one["n_items"], percent(one["error"], 2), percent(one["random_error"], 2))
                    for one in entry["costs"]
                ],
                anchors=[one["instance"] for one in entry["anchors"]],
                n_suspects=entry.get("n_suspects", len(entry["suspects"])),
                is_cheap=any(one["error"] <= COST_WANTED for one in entry["costs"]),
            )
        )
    return rows


def items_sentence(tasks: Sequence[ItemsOfTask]) -> str:
    """How many items separate no one, and with how few a task would do; empty without items."""
    if not any(task.n_items for task in tasks):
        return ""
    n = sum(task.n_items for task in tasks)
    of_all, of_none = (sum(getattr(task, name) for task in tasks) for name in ("n_all_right", "n_none_right"))
    sentence = gettext("Of %(n)s instances every system gets %(of_all)s right, and none gets %(of_none)s right.") % {
        "n": localise(n, ","),
        "of_all": localise(of_all, ","),
        "of_none": localise(of_none, ","),
    }
    suspects = sum(task.n_suspects for task in tasks)
    if suspects:
        to_look_at = ngettext(
            "On %(n)s instance, better systems may be right less often: look at its label.",
            "On %(n)s instances, better systems may be right less often: look at their labels.",
            suspects,
        ) % {"n": localise(suspects, ",")}
        sentence = f"{sentence} {to_look_at}"
    return sentence


def _middle(values: np.ndarray) -> str:
    known = values[~np.isnan(values)]
    if not known.size:
        return ""
    low, middle, high = np.quantile(known, (0.25, 0.5, 0.75))
    return gettext("%(middle)s (%(low)s to %(high)s)") % {
        "middle": signed(middle), "low": signed(low), "high": signed(high),
    }  # fmt: skip
