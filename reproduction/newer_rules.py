"""Rules of 2023 to 2025 on the demonstration boards: which published winners they change, and how steady they are."""

from __future__ import annotations

import numpy as np

from ranking_engine import ScoreMatrix, rank
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.ranking import UNRANKED
from ranking_engine.stability.agreement import CORRELATIONS
from ranking_engine.stability.study import mean_of
from reproduction.boards import IN_REPOSITORY, board
from reproduction.tables import Grid, Progress, Result, Section, number, ours_alone
from reproduction.zhang.sensitivity import CARDINAL

HOSTED = tuple(IN_REPOSITORY)
NEWER = ("maximal_lotteries", "soft_condorcet", "plackett_luce[prior=0.5]", "compatible_borda")
OLDER = ("borda", "copeland", "win_rate")
N_DRAWS = 10


def compared(progress: Progress) -> Result:
    """Ask on each board whom these rules elect, and how far their rankings stay when tasks are drawn again."""
    lines, changed, steady = [], dict.fromkeys(NEWER, 0), []
    for step, name in enumerate(HOSTED):
        progress(step, len(HOSTED))
        matrix = board(name)
        published = "mean" if name in CARDINAL else "win_rate"
        first = _winners(matrix, published)
        cells = []
        for rule in NEWER:
            winners = _winners(matrix, rule)
            is_other = not set(winners) & set(first)
            changed[rule] += is_other
            cells.append(
                _shown(winners) if is_other else "the same" if winners == first else f"the same, among {len(winners)}"
            )
        lines.append([name, get_rule(published).name, _shown(first), *cells])
        steady.append(kept_when_drawn_again(matrix))
    rows = [
        ours_alone(f"boards of {len(HOSTED)} with no published winner among those of {get_rule(rule).name}", str(n))
        for rule, n in changed.items()
    ]
    table = np.array(steady)
    full = table[~np.isnan(table).any(axis=1)]
    rules = (*NEWER, *OLDER)
    order = np.argsort(-full.mean(axis=0), kind="stable").tolist()
    rows += [
        ours_alone(f"{_DRAWN}, over {len(full)} boards: {get_rule(rules[k]).name}", number(float(full[:, k].mean()), 3))
        for k in order
    ]
    header = ["board", "published by", "winner", *(get_rule(rule).name for rule in NEWER)]
    facts = {"changed": changed, "order": [get_rule(rules[k]).name for k in order], "n_boards": len(full)}
    return Result(rows, [Grid("Winners", header, lines)], [_NOTE], facts=facts)


_DRAWN = "Spearman with the ranking on all tasks, tasks drawn again"
_NOTE = (
    f"Boards with their own weights. Steadiness: tasks are drawn {N_DRAWS} times with replacement, the same draws for "
    "every rule; Spearman's correlation is over the systems that both rankings rank, and a board counts where every "
    "rule has one. Cardinal benchmarks are published by the mean, the others by the win rate. Plackett-Luce has a "
    "prior of half a comparison, since a system that is first on every task has no finite strength. Copy-proof "
    "ratings rank only complete systems and are no rule of a board."
)


def _winners(matrix: ScoreMatrix, rule: str) -> list[str]:
    return [matrix.system_names[i] for i in rank(matrix, rule).winners]


def _shown(winners: list[str]) -> str:
    return ", ".join(winners[:2]) + (f" and {len(winners) - 2} others" if len(winners) > 2 else "")


def kept_when_drawn_again(matrix: ScoreMatrix) -> list[float]:
    """Return by rule the mean correlation of the ranking on drawn tasks with that on all."""
    generator = np.random.default_rng(0)
    rules = (*NEWER, *OLDER)
    whole = {rule: rank(matrix, rule) for rule in rules}
    voting = np.flatnonzero(matrix.votes)
    kept = []
    for _ in range(N_DRAWS):
        counts = np.bincount(generator.choice(len(voting), len(voting)), minlength=len(voting))
        weights = [0] * matrix.n_tasks
        for t, count in zip(voting.tolist(), counts.tolist(), strict=True):
            weights[t] = count * matrix.weights[t]
        drawn = matrix.with_weights(weights)
        row = []
        for rule in rules:
            ranking = rank(drawn, rule)
            among = (ranking.ranks != UNRANKED) & (whole[rule].ranks != UNRANKED)
            before, after = whole[rule].average_ranks[None], ranking.average_ranks[None]
            row.append(float(CORRELATIONS["spearman"](before, after, among[None])[0]) if among.sum() > 1 else np.nan)
        kept.append(row)
    return mean_of(np.array(kept), axis=0).tolist()


SECTIONS = (
    Section(
        "open-newer-rules",
        "Which winners change under newer rules, and how steady are these?",
        HOSTED,
        compared,
        is_slow=True,
    ),
)
