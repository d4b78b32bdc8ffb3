"""What the papers leave open: do correlations survive proof, which rules are steady, which winners are significant."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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
# The mean and the median look at a system's own scores alone: other systems drawn cannot change their rankings.
MET_BY_DEFINITION = {"candidate_stability": ("mean", "median")}
COMPARED = tuple(criterion for criterion in STEADY if criterion not in MET_BY_DEFINITION)
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
    places, firsts, means, n_boards = {}, {}, {}, {}
    for criterion in STEADY:
        full = [
            name for name in HOSTED if all(measured[name].get(r, {}).get(criterion) is not None for r in CANDIDATES)
        ]
        table = np.array([[measured[name][rule][criterion] for rule in CANDIDATES] for name in full], dtype=float)
        can_fail = np.array([rule not in MET_BY_DEFINITION.get(criterion, ()) for rule in CANDIDATES])
        places[criterion] = np.full(len(CANDIDATES), np.nan)
        places[criterion][can_fail] = places_within(table[:, can_fail]).mean(axis=0)
        means[criterion], n_boards[criterion] = table.mean(axis=0), len(full)
        best = table >= table.max(axis=1, keepdims=True) - 1e-9
        firsts[criterion] = (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
    rows, in_order = [], {}
    for criterion, what in STEADY.items():
        of_places = _in_order(places[criterion], 1, places[criterion])
        of_values = _in_order(means[criterion], -1, places[criterion])
        in_order[criterion] = {"place": of_places, "value": of_values}
        n = int((~np.isnan(places[criterion])).sum())
        text = f"by mean place {of_places[0][0]}, {number(of_places[0][1])} of {n} "
        text += f"(last: {of_places[-1][0]}, {number(of_places[-1][1])}); "
        text += f"by mean correlation {of_values[0][0]}, {number(of_values[0][1], 3)} "
        text += f"(last: {of_values[-1][0]}, {number(of_values[-1][1], 3)})"
        among = f", of the {n} rules that this can change" if n < len(CANDIDATES) else ""
        rows.append(ours_alone(f"steadiest when {what}, over {n_boards[criterion]} boards{among}", text))
    total = np.mean([places[c] for c in COMPARED], axis=0)
    by_total = np.argsort(total, kind="stable")
    grid_lines = []
    for r in by_total:
        place_of = {c: float(places[c][r]) for c in STEADY}
        where = {c: "by definition" if math.isnan(place) else f"place {number(place)}" for c, place in place_of.items()}
        cells = [f"{number(float(means[c][r]), 3)} ({where[c]})" for c in STEADY]
        cells += [number(float(total[r])), number(float(sum(firsts[c][r] for c in COMPARED)), 1)]
        grid_lines.append([RULES[CANDIDATES[r]].name, *cells])
    of_compared = "; ".join(STEADY[c] for c in COMPARED)
    header = ["rule", *STEADY.values(), f"mean place ({of_compared})", "times first in these"]
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
        "n_hosted": len(HOSTED),
        "n_rules": len(CANDIDATES),
        "order": [RULES[CANDIDATES[r]].name for r in by_total],
        "total": [float(total[r]) for r in by_total],
        "in_order": in_order,
    }
    title = "Mean of Spearman's correlation, and mean place among the rules"
    return Result(rows, [Grid(title, header, grid_lines)], [_STEADY], [picture], facts=facts)


_STEADY = (
    f"Pavao's criteria with {N_TRIALS:,} trials and {N_ROUNDS} rounds of 100 resamples, on the demonstration "
    "benchmarks with their own weights; a board counts where every rule ranks its systems. A place is among the rules "
    "on one board, so that boards on which everything is steady do not outvote the rest; places and correlations can "
    "put different rules first, and neither has an error here. Rules that look at a system's own scores alone (mean, "
    "median) cannot change when other systems are drawn: their 1.000 there is theirs by definition. So that column is "
    "in no mean place, and its places are among the other rules."
)


def _in_order(values: np.ndarray, sign: int, places: np.ndarray) -> list[tuple[str, float]]:
    """Return the rules that have a place, by name with their values, the least `sign * value` first."""
    order = [int(r) for r in np.argsort(sign * values, kind="stable") if not np.isnan(places[r])]
    return [(RULES[CANDIDATES[r]].name, float(values[r])) for r in order]


def places_within(table: np.ndarray) -> np.ndarray:
    """Return the place of each column within each row, largest first, ties sharing the mean place."""
    above = (table[:, None, :] > table[:, :, None] + 1e-9).sum(axis=2)
    tied = (np.abs(table[:, None, :] - table[:, :, None]) <= 1e-9).sum(axis=2)
    return np.asarray(above + (tied + 1) / 2)


def _steadiness(name: str, progress: Progress) -> dict[str, dict[str, float | None]]:
    """Return each criterion's mean, by rule; empty where the study says nothing."""
    study = judged(f"steadiness-{slug(name)}", (name,), board(name), CANDIDATES, N_TRIALS, N_ROUNDS, progress)
    return {rule: {c: values[c]["mean"] for c in STEADY} for rule, values in study["rules"].items()}


def separable(progress: Progress) -> Result:
    """Ask which published winners differ significantly from their runner-up, under the rule that they win under."""
    lines: list[list[str]] = []
    tested: dict[str, float] = {}  # boards by name, with the p-value of each
    for step, name in enumerate(HOSTED):
        progress(step, len(HOSTED))
        test = first_two(name, "mean" if name in CARDINAL else "win_rate")
        verdict, p = verdict_on(test), test["p"]
        lines.append(
            [
                name,
                test["rule"],
                test["first"],
                test["second"],
                _quantity(test),
                str(test["n_units"]) if p is not None else "-",
                "-" if p is None else number(p, 4),
                verdict,
            ]
        )
        if verdict in (APART, NOT_APART, CONTRADICTED):
            tested[name] = float(p)
    adjusted = holm(np.array(list(tested.values()))) if tested else np.empty(0)
    apart = [line[0] for line in lines if line[-1] == APART]
    after = [name for name, p in zip(tested, adjusted, strict=True) if p <= LEVEL and name in apart]
    counts = {verdict: sum(line[-1] == verdict for line in lines) for verdict in KEYS}
    rows = [ours_alone(f"winners of {len(HOSTED)} boards: {verdict}", str(n)) for verdict, n in counts.items()]
    said = "; ".join(after) or "none"
    rows.append(ours_alone(f"differ significantly after Holm's adjustment over the {len(tested)} boards tested", said))
    header = ["board", "ranked by", "first", "second", "tested", "tasks or clusters", "p", "first against second"]
    facts = {**{key: counts[verdict] for verdict, key in KEYS.items()}, "n": len(HOSTED), "after_holm": after}
    facts["apart_names"] = apart
    return Result(rows, [Grid("First against second", header, lines)], [_TEST], facts=facts)


APART, NOT_APART = "differ significantly", "no significant difference"
CONTRADICTED = "contradicted, the second is significantly ahead"
TOO_FEW, SHARED = "too few tasks to tell", "the first place is shared"
KEYS = {
    APART: "n_apart",
    NOT_APART: "n_not_apart",
    CONTRADICTED: "n_contradicted",
    TOO_FEW: "n_too_few",
    SHARED: "n_shared",
}
_TEST = (
    "A sign-flip test over tasks, those of one cluster (or, without declared clusters, of one group) flipped together, "
    "as the page of a board tests a pair: of what each task adds to the scores of the rule that ranks. Where scores "
    "are missing the win rate is no sum over tasks, and the test is of mean differences in units of each task's "
    "spread; in these the second system can be ahead. *Differ significantly* means that the first is ahead; were it "
    "the second, the ranking would be contradicted. Nothing is adjusted for the other systems: the one question is "
    "whether the published winner differs significantly. With n clusters the least p is 2 to the power 1 - n, so that "
    "five or fewer can never tell. Cardinal benchmarks are ranked by the mean, the others by the win rate."
)


def verdict_on(test: Mapping[str, Any]) -> str:
    """Return what a test of the first two systems says of the first place, at LEVEL."""
    if test["is_shared"]:
        return SHARED
    if test["p"] is None or 2.0 ** (1 - test["n_units"]) > LEVEL:
        return TOO_FEW
    if test["p"] > LEVEL:
        return NOT_APART
    return APART if test["difference"] > 0 else CONTRADICTED


def _quantity(test: Mapping[str, Any]) -> str:
    if test["is_of_rule"]:
        return f"what tasks add to the {test['rule'].lower()}"
    return f"mean differences{', the second ahead' if test['difference'] < 0 else ''}"


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
