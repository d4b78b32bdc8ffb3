"""Zhang and Hardt 2024: baselines, and how diversity and sensitivity go together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np

from reproduction.measures import BASELINE_KEYS, IMAGENET, IMAGENET_BOARD, of_diversity, trials
from reproduction.tables import (
    AGREES,
    DIFFERS,
    Grid,
    Progress,
    Result,
    Row,
    Section,
    compared,
    number,
    ours_alone,
)
from reproduction.zhang.sensitivity import (
    CARDINAL,
    CUT,
    NOTEBOOKS,
    ORDINAL,
    PRINTED,
    SOURCES,
    STOPS_SHORT,
    sensitivity_of,
)
from reproduction.zhang.unstructured import N_TRIALS

Pair = tuple[float, float]  # diversity, sensitivity

FIGURE_OF = {"cardinal": "Figure 3", "ordinal": "Figure 5"}
BOARDS_OF = {"cardinal": (*CARDINAL, IMAGENET_BOARD), "ordinal": ORDINAL}


def titles_of(kind: str) -> list[str]:
    """Return the baselines of a kind: ImageNet's classes are scores on one scale, and so a cardinal one alone."""
    return [IMAGENET, *BASELINE_KEYS] if kind == "cardinal" else list(BASELINE_KEYS)


def baselines(kind: str, progress: Progress) -> Result:
    """Compare the benchmarks without structure: means over five seeds."""
    rows, lines = [], []
    code, titles = NOTEBOOKS[kind]["baselines"], titles_of(kind)
    for step, title in enumerate(titles):
        progress(step, len(titles))
        sample = trials(kind, title)
        measures = {
            ("sensitivity", "(1 - tau) / 2", 0): [trial.tau_b_distance for trial in sample],
            ("sensitivity", "max rank change", 1): [trial.moved for trial in sample],
            ("diversity", "1 - W", 0): [trial.diversity for trial in sample],
            ("diversity", "max rank change", 1): [trial.varied for trial in sample],
        }
        for (measure, what, place), values in measures.items():
            because = STOPS_SHORT if measure == "sensitivity" else CUT
            text = code[measure][title][place]
            rows.append(compared(f"{title}, {measure}: {what}", float(np.mean(values)), code=text, because=because))
            texts = [number(value, 4) for value in values]
            lines.append([title, f"{measure}, {what}", *texts, number(float(np.mean(values)), 4)])
    header = ["baseline", "measure", *(f"seed {seed}" for seed in range(N_TRIALS)), "mean"]
    return Result(rows, [Grid("Every seed", header, lines)], [_TRIALS[kind]])


_DRAWN = (
    f"The scores are drawn by numpy's legacy generator with seeds 0 to {N_TRIALS - 1}, as in their code. The searches "
    "are cut short of proofs, so that ours are lower bounds."
)
_TRIALS = {
    "cardinal": f"{_DRAWN} ImageNet is a benchmark whose tasks agree: its 1,000 classes in 20 random blocks.",
    "ordinal": _DRAWN,
}


def correlation(kind: str, progress: Progress) -> Result:
    """Compare how diversity and sensitivity go together, over benchmarks with and without the baselines."""
    names = CARDINAL if kind == "cardinal" else ORDINAL
    (theirs, their_baselines), theirs_moved = _in_notebooks(kind, TAU), _in_notebooks(kind, MOVED)
    ours: dict[str, dict[str, Pair]] = {measure: {} for measure in MEASURES}
    ours_moved: dict[str, Pair] = {}
    for step, name in enumerate(names):
        progress(step, len(names) + 1)
        sensitivity, varied = sensitivity_of(kind, name), of_diversity(name)
        ours["as theirs"][name] = (varied.diversity, sensitivity.tau_b_distance)
        ours_moved[name] = (varied.diversity, sensitivity.moved[0])
        ours["reached"][name] = (varied.diversity_tie_corrected, sensitivity.pairs[0])
        ours["out of reach"][name] = (varied.diversity_tie_corrected, sensitivity.pairs[1])
    our_baselines = {measure: _baseline_pairs(kind, measure) for measure in MEASURES}
    moved_baselines = _moved_baselines(kind)
    tau_printed, moved_printed = PRINTED["correlation"][kind]
    as_theirs = {**ours["as theirs"], **our_baselines["as theirs"]}
    n = len(names)
    rows = [
        compared(
            "1 - W with (1 - tau) / 2, baselines included",
            pearson(as_theirs),
            printed=tau_printed,
            code=number(pearson({**theirs, **their_baselines})),
            because=LARGER[kind],
        ),
        compared(
            "1 - W with the max rank change, baselines included",
            pearson({**ours_moved, **moved_baselines}),
            printed=moved_printed,
            code=number(pearson({**theirs_moved[0], **theirs_moved[1]})),
            because=LARGER[kind],
        ),
        line_row((theirs, their_baselines), (ours["as theirs"], our_baselines["as theirs"])),
        ours_alone(f"of the figures of their notebooks, the {n} real benchmarks alone", number(pearson(theirs))),
        ours_alone(f"of our figures, the {n} real benchmarks alone", number(pearson(ours["as theirs"]))),
    ]
    lines = [["as their notebooks print", *_line(theirs, their_baselines)]]
    lines += [[MEASURES[measure], *_line(ours[measure], our_baselines[measure])] for measure in MEASURES]
    lines += [
        ["1 - W and the max rank change, as their notebooks print", *_line(*theirs_moved)],
        ["1 - W and the max rank change, ours", *_line(ours_moved, moved_baselines)],
    ]
    header = ["figures", "Pearson", "without baselines", "Spearman without", "least without one benchmark", "p"]
    facts = {
        "n": n,
        "printed": float(tau_printed),
        "with_baselines": pearson(as_theirs),
        "real_printed": pearson(theirs),
        "real": {measure: pearson(ours[measure]) for measure in MEASURES},
        "real_spearman": {measure: spearman(ours[measure]) for measure in MEASURES},
        "p": {measure: p_value(ours[measure]) for measure in MEASURES},
        "least": {measure: least_without_one(ours[measure]) for measure in MEASURES},
        "better": len(better_than_line(ours["as theirs"], our_baselines["as theirs"])),
        "better_printed": len(better_than_line(theirs, their_baselines)),
    }
    notes = [_IN_CODE, _SURVIVES]
    return Result(rows, [Grid(f"Correlation over the {n} benchmarks", header, lines)], notes, facts=facts)


def line_row(theirs: tuple[Mapping[str, Pair], Mapping[str, Pair]], ours: tuple[Mapping[str, Pair], ...]) -> Row:
    """Return the row on how many benchmarks are no better than a line between the baselines: all, says section 1.1.

    Args:
        theirs, ours: the figures of the benchmarks and of the baselines.
    """
    n, better = len(ours[0]), [better_than_line(*of) for of in (theirs, ours)]
    code, own = (n - len(names) for names in better)
    what = f"1 - W with (1 - tau) / 2: benchmarks of the {n} on or above the line from Constant to Random"
    below = "; ".join(
        f"{whose} {', '.join(names)}" for whose, names in zip(("theirs", "ours"), better, strict=True) if names
    )
    return Row(
        what, "all", str(code), str(own), AGREES if own == n else DIFFERS, f"below the line: {below}" if below else ""
    )


def better_than_line(real: Mapping[str, Pair], baselines_of: Mapping[str, Pair]) -> list[str]:
    """Return the benchmarks that are less sensitive than the line from Constant to Random is at their diversity."""
    (x0, y0), (x1, y1) = baselines_of["Constant"], baselines_of["Random"]
    return [name for name, (x, y) in real.items() if y < y0 + (y1 - y0) * (x - x0) / (x1 - x0)]


def _in_notebooks(kind: str, place: int) -> tuple[dict[str, Pair], dict[str, Pair]]:
    """Return diversity and sensitivity as the notebooks print them, of the benchmarks and of the baselines."""
    of = NOTEBOOKS[kind]

    def pairs(diversity: Mapping[str, list[str]], sensitivity: Mapping[str, list[str]]) -> dict[str, Pair]:
        return {name: (float(w), float(sensitivity[name][place])) for name, (w, _) in diversity.items()}

    return (
        pairs(of["diversity"], of["sensitivity"]),
        pairs(of["baselines"]["diversity"], of["baselines"]["sensitivity"]),
    )


def _moved_baselines(kind: str) -> dict[str, Pair]:
    return {
        title: (_mean(x.diversity for x in trials(kind, title)), _mean(x.moved for x in trials(kind, title)))
        for title in titles_of(kind)
    }


LARGER = {
    "cardinal": "our sensitivities are larger where their searches stop before the worst case; MTEB's columns differ",
    "ordinal": "our sensitivities are larger where their searches stop before the worst case",
}
TAU, MOVED = 0, 1  # of the two figures that the notebooks print of every measure
MEASURES = {
    "as theirs": "1 - W and (1 - tau-b) / 2, ours",
    "reached": "1 - W corrected for ties, and the share of pairs that some weights or systems reverse",
    "out of reach": "the same with the proven upper bound of that share",
}
_IN_CODE = (
    "The second column of the rows is what the figures of the authors' notebooks give. They have two decimals, so that "
    "a correlation of them may differ from the paper's in the last digit."
)
_SURVIVES = (
    "*Without one benchmark* is the smallest correlation after leaving out one benchmark. *p* is two-sided and without "
    "baselines: the share of 100,000 random pairings of the two measures whose correlation is at least as far from 0. "
    "It takes the benchmarks as independent, which those of one family, such as HELM's, are not."
)


def _baseline_pairs(kind: str, measure: str) -> dict[str, Pair]:
    trials_of = {title: trials(kind, title) for title in titles_of(kind)}
    if measure == "as theirs":
        return {
            t: (_mean(x.diversity for x in all_), _mean(x.tau_b_distance for x in all_))
            for t, all_ in trials_of.items()
        }
    return {t: (_mean(x.tie_corrected for x in all_), _mean(x.pairs for x in all_)) for t, all_ in trials_of.items()}


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _line(real: Mapping[str, Pair], added: Mapping[str, Pair]) -> list[str]:
    name, least = least_without_one(real)
    return [
        number(pearson({**real, **added})),
        number(pearson(real)),
        number(spearman(real)),
        f"{number(least)} (without {name})",
        number(p_value(real), 4),
    ]


def pearson(pairs: Mapping[str, Pair]) -> float:
    return float(np.corrcoef(np.array(list(pairs.values())).T)[0, 1])


def spearman(pairs: Mapping[str, Pair]) -> float:
    """Return Pearson's correlation of average ranks."""
    columns = np.array(list(pairs.values())).T
    ranks = [(column[:, None] > column).sum(axis=1) + (column[:, None] == column).sum(axis=1) / 2 for column in columns]
    return float(np.corrcoef(ranks)[0, 1])


def least_without_one(pairs: Mapping[str, Pair]) -> tuple[str, float]:
    """Return the benchmark without which the correlation is least, and that correlation."""
    without = {name: pearson({k: v for k, v in pairs.items() if k != name}) for name in pairs}
    name = min(without, key=lambda n: without[n])
    return name, without[name]


N_PAIRINGS = 100_000


def p_value(pairs: Mapping[str, Pair]) -> float:
    """Return the share of random pairings of the two measures with a correlation at least as far from 0: two-sided."""
    x, y = np.array(list(pairs.values())).T
    generator = np.random.default_rng(0)
    shuffled = generator.permuted(np.tile(y, (N_PAIRINGS, 1)), axis=1)
    centred = (shuffled - y.mean()) @ (x - x.mean())
    observed = (y - y.mean()) @ (x - x.mean())
    return float((1 + (np.abs(centred) >= abs(observed) - 1e-12).sum()) / (N_PAIRINGS + 1))


SECTIONS = (
    *(
        Section(
            f"zhang-baselines-{kind}",
            f"Baselines, {kind}",
            (IMAGENET_BOARD,) if kind == "cardinal" else (),
            partial(baselines, kind),
            (SOURCES[kind],),
            is_slow=True,
        )
        for kind in ("cardinal", "ordinal")
    ),
    *(
        Section(
            f"zhang-correlation-{kind}",
            f"{FIGURE_OF[kind]}: diversity against sensitivity, {kind}",
            boards,
            partial(correlation, kind),
            (SOURCES[kind],),
            is_slow=True,
        )
        for kind, boards in BOARDS_OF.items()
    ),
)
