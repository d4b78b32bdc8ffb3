"""What is odd about tables: names that say that less is better, such as "Latency (ms)", and scores beyond a scale."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.text.names import counted, fold_name, shorten

LOWER_IS_BETTER = frozenset({
    "latency", "time", "times", "runtime", "walltime", "duration", "ms", "msec", "milliseconds", "sec", "secs",
    "seconds", "minutes", "hours", "error", "errors", "loss", "losses", "perplexity", "ppl", "cost", "costs",
    "price", "prices", "memory", "ram", "vram", "params", "parameters", "size", "wer", "cer", "ter", "mer",
    "fid", "kid", "rmse", "mse", "mae", "mape", "nll", "bpb", "bpc", "ece", "brier", "regret", "flops",
    "energy", "carbon", "co2", "watts",
})  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+\d?")


def lower_word(name: str) -> str:
    """Return the word of a task's name that says that less is better there; an empty text where none does."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)  # as in evalLoss
    return next((word for word in _WORD.findall(parted) if word.casefold() in LOWER_IS_BETTER), "")


def doubtful_tasks(
    names: Iterable[str], directions: Iterable[int], directed: Iterable[str] = ()
) -> list[tuple[str, str]]:
    """Return the tasks that count as higher is better although a word of their names says otherwise.

    Args:
        names, directions: of the tasks; 1 is higher is better.
        directed: names of tasks whose direction someone stated, and no one only took for granted.

    Returns:
        name and word of each.
    """
    known = {fold_name(name) for name in directed}
    return [
        (name, word)
        for name, direction in zip(names, directions, strict=True)
        if direction == 1 and (word := lower_word(name)) and fold_name(name) not in known
    ]


def beyond_scales(matrix: ScoreMatrix) -> list[str]:
    """Return a remark on each task with scores below its stated minimum or above its stated maximum."""
    beyond = (matrix.values < matrix.minimum) | (matrix.values > matrix.maximum)
    return [
        f"{shorten(matrix.task_names[t])}: {counted(n, 'score')} beyond the stated scale"
        for t, n in enumerate(beyond.sum(axis=0).tolist())
        if n
    ]


__all__ = ["LOWER_IS_BETTER", "beyond_scales", "doubtful_tasks", "lower_word"]
