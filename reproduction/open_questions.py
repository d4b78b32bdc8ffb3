"""What the papers leave open: do correlations survive proof, which rules are steady, which winners are significant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ranking_engine import RULES
from ranking_engine.stability.separability.sign_flips import holm
from ranking_engine.stability.separability.significance import LEVEL
from reproduction.boards import IN_REPOSITORY, board
from reproduction.studies import first_two, judged, slug
from reproduction.tables import OURS_ALONE, Grid, Plot, Progress, Result, Row, Section, number, ours_alone
from reproduction.zhang.baselines import BOARDS_OF, MEASURES, correlation
from reproduction.zhang.sensitivity import CARDINAL, ORDINAL

HOSTED = tuple(IN_REPOSITORY)
STEADY = {
    "judge_stability": "other tasks drawn",
    "candidate_stability": "other systems drawn",
    "generalization": "tasks not seen",
}
CANDIDATES = (
    "mean", "median", "average_rank", "borda", "dowdall", "plurality", "win_rate", "relative_difference", "copeland",
    "minimax",
)  # fmt: skip
N_TRIALS, N_ROUNDS = 1_000, 3


def survives(progress: Progress) -> Result:
    """Ask whether diversity and sensitivity still go together once both are measured without doubt."""
    rows, facts = [], {}
    for step, kind in enumerate(BOARDS_OF):
        correlations = correlation(kind, _part(progress, step, len(BOARDS_OF))).facts
        facts[kind] = correlations
        rows.append(Row(f"{kind}: as printed, baselines included", number(correlations["printed"]), "", "", OURS_ALONE))
        rows.append(
            ours_alone(
                f"{kind}: their figures, the {correlations['n']} benchmarks alone", number(correlations["real_printed"])
            )
        )
        for measure, name in MEASURES.items():
            p, (without, least) = correlations["p"][measure], correlations["least"][measure]
            ours = f"{number(correlations['real'][measure])} (p = {number(p, 3)}; {number(least)} without {without})"
            rows.append(ours_alone(f"{kind}, the {correlations['n']} benchmarks alone: {name}", ours))
    return Result(rows, facts=facts)


def _part(progress: Progress, step: int, of: int) -> Progress:
    return lambda done, total: progress(round(1000 * (step + done / max(1, total)) / of), 1000)


def steadiest(progress: Progress) -> Result:
    """Ask which rules give the steadiest rankings over all demonstration benchmarks."""
    measured: dict[str, dict[str, dict[str, float | None]]] = {}
    for step, name in enumerate(HOSTED):
        measured[name] = _steadiness(name, _part(progress, step, len(HOSTED)))
    lines, places, firsts, means = [], {}, {}, {}
    for criterion, what in STEADY.items():
        full = [
            name for name in HOSTED if all(measured[name].get(r, {}).get(criterion) is not None for r in CANDIDATES)
        ]
        table = np.array([[measured[name][rule][criterion] for rule in CANDIDATES] for name in full], dtype=float)
        of_rule = _places(table)
        places[criterion], means[criterion] = of_rule.mean(axis=0), table.mean(axis=0)
        best = table >= table.max(axis=1, keepdims=True) - 1e-9
        firsts[criterion] = (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
        lines.append([f"{what}: boards on which all ten rules rank", *[""] * (len(CANDIDATES) - 1), str(len(full))])
    rows, n_boards = [], {c: int(line[-1]) for c, line in zip(STEADY, lines, strict=True)}
    for criterion, what in STEADY.items():
        order = np.argsort(places[criterion], kind="stable")
        first, last = CANDIDATES[order[0]], CANDIDATES[order[-1]]
        text = f"{RULES[first].name}, mean place {number(float(places[criterion][order[0]]))} of {len(CANDIDATES)}"
        text += f" (last: {RULES[last].name}, {number(float(places[criterion][order[-1]]))})"
        rows.append(ours_alone(f"steadiest when {what}, over {n_boards[criterion]} boards", text))
    total = np.mean([places[c] for c in STEADY], axis=0)
    by_total = np.argsort(total, kind="stable")
    grid_lines = []
    for r in by_total:
        cells = [f"{number(float(means[c][r]), 3)} (place {number(float(places[c][r]))})" for c in STEADY]
        cells += [number(float(total[r])), number(float(sum(firsts[c][r] for c in STEADY)), 1)]
        grid_lines.append([RULES[CANDIDATES[r]].name, *cells])
    header = ["rule", *STEADY.values(), "mean place", "times first"]
    picture = Plot(
        "open-steadiness",
        "How steady rankings are, by rule",
        f"Mean of Spearman's correlation over the boards on which all rules rank, at most {len(HOSTED)}.",
        "what changes",
        "Spearman",
        list(STEADY.values()),
        {RULES[CANDIDATES[r]].name: [float(means[c][r]) for c in STEADY] for r in by_total},
    )
    facts = {
        "n_boards": n_boards,
        "n_hosted": len(HOSTED),
        "n_rules": len(CANDIDATES),
        "order": [RULES[CANDIDATES[r]].name for r in by_total],
        "total": [float(total[r]) for r in by_total],
        "best": {c: RULES[CANDIDATES[int(np.argmin(places[c]))]].name for c in STEADY},
        "worst": {c: RULES[CANDIDATES[int(np.argmax(places[c]))]].name for c in STEADY},
    }
    title = "Mean of Spearman's correlation, and mean place among the rules"
    return Result(rows, [Grid(title, header, grid_lines)], [_STEADY], [picture], facts=facts)


_STEADY = (
    f"Pavao's criteria with {N_TRIALS:,} trials and {N_ROUNDS} rounds of 100 resamples, on the demonstration "
    "benchmarks with their own weights; a board counts where every rule ranks its systems. A place is among the ten "
    "rules on one board, so that boards on which everything is steady do not outvote the rest. Rules that look at a "
    "system's own scores alone (mean, median) cannot change when other systems are drawn: their 1.000 there is theirs "
    "by definition."
)


def _places(table: np.ndarray) -> np.ndarray:
    """Return the place of each column within each row, largest first, ties sharing the mean place."""
    above = (table[:, None, :] > table[:, :, None] + 1e-9).sum(axis=2)
    tied = (np.abs(table[:, None, :] - table[:, :, None]) <= 1e-9).sum(axis=2)
    return np.asarray(above + (tied + 1) / 2)


def _steadiness(name: str, progress: Progress) -> dict[str, dict[str, float | None]]:
    """Return each criterion's mean, by rule; empty where the study says nothing."""
    study = judged(f"steadiness-{slug(name)}", (name,), board(name), CANDIDATES, N_TRIALS, N_ROUNDS, progress)
    return {rule: {c: values[c]["mean"] for c in STEADY} for rule, values in study["rules"].items()}


def separable(progress: Progress) -> Result:
    """Ask which published winners cannot be told from their runner-up."""
    lines: list[list[str]] = []
    p_values: list[float] = []
    names: list[str] = []
    for step, name in enumerate(HOSTED):
        progress(step, len(HOSTED))
        test = first_two(name, "mean" if name in CARDINAL else "win_rate")
        verdict = _verdict(test)
        p = test["p"]
        lines.append(
            [
                name,
                test["rule"],
                test["first"],
                test["second"],
                str(test["n_units"]) if p is not None else "-",
                "-" if p is None else number(p, 4),
                verdict,
            ]
        )
        if verdict in (APART, NOT_APART):
            p_values.append(float(p))
            names.append(name)
    adjusted = holm(np.array(p_values)) if p_values else np.empty(0)
    after = [name for name, p in zip(names, adjusted, strict=True) if p <= LEVEL]
    counts = {verdict: sum(line[-1] == verdict for line in lines) for verdict in (APART, NOT_APART, TOO_FEW, SHARED)}
    rows = [ours_alone(f"winners of {len(HOSTED)} boards: {verdict}", str(n)) for verdict, n in counts.items()]
    said = "; ".join(after) or "none"
    rows.append(ours_alone(f"differ significantly after Holm's adjustment over the {len(names)} boards tested", said))
    header = ["board", "ranked by", "first", "second", "tasks or clusters", "p", "first against second"]
    facts = {**{key: counts[verdict] for verdict, key in KEYS.items()}, "n": len(HOSTED), "after_holm": after}
    facts["apart_names"] = [line[0] for line in lines if line[-1] == APART]
    return Result(rows, [Grid("First against second", header, lines)], [_TEST], facts=facts)


APART, NOT_APART = "differ significantly", "no significant difference"
TOO_FEW, SHARED = "too few tasks to tell", "the first place is shared"
KEYS = {APART: "n_apart", NOT_APART: "n_not_apart", TOO_FEW: "n_too_few", SHARED: "n_shared"}
_TEST = (
    "A sign-flip test over tasks, those of one cluster (or, without declared clusters, of one group) flipped together, "
    "of the differences between the first and the second system, in units of each task's spread. Nothing is adjusted "
    "for the other systems: the one question is whether the published winner differs significantly. With n "
    "clusters the least p is 2 to the power 1 - n, so that five or fewer can never tell. Cardinal "
    "benchmarks are ranked by the mean, the others by the win rate."
)


def _verdict(test: dict[str, Any]) -> str:
    if test["is_shared"]:
        return SHARED
    if test["p"] is None or 2.0 ** (1 - test["n_units"]) > LEVEL:
        return TOO_FEW
    return APART if test["p"] <= LEVEL else NOT_APART


def _section(key: str, title: str, boards: tuple[str, ...], compute: Callable[[Progress], Result]) -> Section:
    return Section(key, title, boards, compute, is_slow=True)


SECTIONS = (
    _section(
        "open-correlation",
        "Do diversity and sensitivity still go together when both are proven?",
        tuple(dict.fromkeys((*BOARDS_OF["cardinal"], *ORDINAL))),
        survives,
    ),
    _section("open-steadiness", f"Which rules are steadiest over {len(HOSTED)} benchmarks?", HOSTED, steadiest),
    _section("open-winners", "Which published winners differ significantly from the runner-up?", HOSTED, separable),
)
