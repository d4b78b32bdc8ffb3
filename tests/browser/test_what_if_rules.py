"""The rules in the browser against the engine: two implementations, the same ranks, ties and winners.

Chromium runs the module on every demonstration benchmark and on 200 random tables with ties, missing scores, weights of
zero, groups and unordered tasks; the same contest is weighed anew again and again, as the sliders do.
"""

import functools
import math
import threading
from collections.abc import Iterator, Sequence
from fractions import Fraction
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from playwright.sync_api import Page

from ranking_engine import RULES, ScoreMatrix, rank_all, smith_set
from ranking_engine.core.aggregation import reweighted
from ranking_engine.core.decimals import rounded, rounded_to
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.files.benchmark_file import read_benchmark, to_matrix
from ranking_engine.files.tables import read_table
from tests.browser.by_hand import DEMONSTRATION

pytestmark = pytest.mark.browser
QUICK = [rule.key for rule in RULES.values() if rule.is_listed]  # not the slow ones, nor those with parameters
POLICIES = ["undefined", "drop_systems", "drop_tasks", "median", "worst"]
AGGREGATIONS = ["basic", "weighted", "balanced"]
SCRIPT = """
async tables => {
  const { Contest } = await import('/js/rules/catalogue.js');
  const { readWeight } = await import('/js/rules/weights.js');
  return tables.map(table => {
    const contest = new Contest(table);
    return table.weightings.map(({ tasks, groups, aggregation, policy, rules }) => {
      const weights = { tasks: tasks.map(readWeight), groups: groups.map(readWeight) };
      const found = contest.rank(weights, { aggregation, policy, rules });
      if (!found) return null;
      const told = Object.entries(found.rankings).map(([rule, { status, ranks }]) => [rule, [status, ...ranks]]);
      return { ranks: Object.fromEntries(told), smith: found.smithSet, apart: found.nApart };
    });
  });
}
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def page(chromium) -> Iterator[Page]:
    """A page that may load the site's modules."""
    handler = functools.partial(Quiet, directory=settings.ROOT / "static")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context = chromium.new_context()
        tab = context.new_page()
        tab.goto(f"http://127.0.0.1:{server.server_port}/img/mark.svg")
        yield tab
        context.close()
        server.shutdown()


def as_data(matrix: ScoreMatrix) -> dict[str, Any]:
    """A matrix as the page's data say it."""
    groups = list(matrix.group_weights)

    def texts(values: Sequence[float]) -> list[float | None]:
        return [None if math.isnan(value) else float(value) for value in values]

    scale = zip(texts(matrix.minimum), texts(matrix.maximum), texts(matrix.chance), strict=True)
    tasks = [
        {
            "direction": int(direction),
            "group": -1 if group is None else groups.index(group),
            "minimum": minimum,
            "maximum": maximum,
            "chance": chance,
            "precision": precision,
        }
        for direction, group, (minimum, maximum, chance), precision in zip(
            matrix.directions, matrix.groups, scale, texts(matrix.precision), strict=True
        )
    ]
    rules = [
        {"key": key, "needs_complete": RULES[key].needs_complete, "elects_only": RULES[key].elects_only}
        for key in QUICK
    ]
    return {"tasks": tasks, "values": [texts(row) for row in matrix.values], "gamma": matrix.gamma, "rules": rules}


def weighed(matrix: ScoreMatrix, generator: np.random.Generator, n_weightings: int) -> list[dict[str, Any]]:
    """Weightings to try one after the other: the own one, then some with zeros, quarters and tenths."""
    own = {
        "tasks": [str(weight) for weight in matrix.weights],
        "groups": [str(weight) for weight in matrix.group_weights.values()],
    }
    weightings = [own]
    for _ in range(n_weightings - 1):
        kinds = generator.choice(["0", "1", "1", "2", "0.25", "3.7", "1/3"], size=matrix.n_tasks)
        if all(kind == "0" for kind in kinds):
            kinds[0] = "1"
        groups = generator.choice(["0.5", "1", "2.5"], size=len(matrix.group_weights))
        weightings.append({"tasks": kinds.tolist(), "groups": groups.tolist()})
    return [
        weights
        | {
            "aggregation": AGGREGATIONS[k % 3] if matrix.group_weights else "basic",
            "policy": POLICIES[int(generator.integers(len(POLICIES)))],
            "rules": QUICK,
        }
        for k, weights in enumerate(weightings)
    ]


def by_engine(matrix: ScoreMatrix, weighting: dict[str, Any]) -> dict[str, Any]:
    """What the engine says under a weighting, in the shape of the script's answers."""
    group_weights = dict(zip(matrix.group_weights, map(Fraction, weighting["groups"]), strict=True))
    changed = ScoreMatrix(
        matrix.values,
        system_names=matrix.system_names,
        task_names=matrix.task_names,
        directions=matrix.directions,
        weights=list(map(Fraction, weighting["tasks"])),
        groups=matrix.groups,
        group_weights=group_weights,
        gamma=matrix.gamma,
        minimum=matrix.minimum,
        maximum=matrix.maximum,
        chance=matrix.chance,
        precision=matrix.precision,
    )
    aggregation = weighting["aggregation"]
    rankings = rank_all(changed, QUICK, aggregation=aggregation, missing=weighting["policy"])
    return {
        "ranks": {rule: [ranking.status, *ranking.ranks.tolist()] for rule, ranking in rankings.items()},
        "smith": list(smith_set(reweighted(changed, aggregation))),
        "apart": Pairwise.of(reweighted(changed, aggregation)).n_pairs_without_common_task,
    }


def hold_to_the_engine(page: Page, matrices: Sequence[ScoreMatrix], n_weightings: int) -> int:
    """Compare the two on every matrix under every weighting; return the number of rankings compared."""
    generator = np.random.default_rng(7)
    weightings = [weighed(matrix, generator, n_weightings) for matrix in matrices]
    pairs = zip(matrices, weightings, strict=True)
    answers = page.evaluate(SCRIPT, [as_data(matrix) | {"weightings": tried} for matrix, tried in pairs])
    n_compared = 0
    for number, (matrix, tried, page_answers) in enumerate(zip(matrices, weightings, answers, strict=True)):
        for weighting, answer in zip(tried, page_answers, strict=True):
            expected = by_engine(matrix, weighting)
            if not any(ranks[0] != "undefined" for ranks in expected["ranks"].values()):
                assert answer is None or answer == expected
                continue
            differing = {rule for rule in QUICK if answer["ranks"][rule] != expected["ranks"][rule]}
            assert (number, differing) == (number, set()), (weighting, matrix.values.tolist())
            assert answer["smith"] == expected["smith"]
            assert answer["apart"] == expected["apart"]
            n_compared += len(expected["ranks"])
    return n_compared


def test_every_demonstration_benchmark_ranks_as_the_engine_ranks_it(page):
    folders = sorted(path for path in DEMONSTRATION.iterdir() if (path / "scores.csv").exists())
    matrices = [
        to_matrix(read_table(folder / "scores.csv"), read_benchmark(folder / "benchmark.toml")) for folder in folders
    ]
    assert len(folders) == 28
    assert hold_to_the_engine(page, matrices, 3) == 28 * 3 * len(QUICK)


def random_table(generator: np.random.Generator) -> ScoreMatrix:
    """A small table in which anything may happen: ties, gaps, empty rows, negative and lower-is-better scores."""
    n, T = int(generator.integers(1, 13)), int(generator.integers(1, 10))
    kind = generator.integers(4)
    values = generator.integers(0, 4, (n, T)).astype(float) if kind == 0 else generator.normal(size=(n, T)).round(1)
    if kind == 1:
        values = np.abs(values) * 40 + 1
    if generator.random() < 0.6:
        values[generator.random((n, T)) < generator.choice([0.05, 0.3, 0.7])] = np.nan
    has_scale = generator.random() < 0.3
    directions = generator.choice([1, 1, 1, 1, -1, 0] if generator.random() < 0.5 else [1], size=T)
    names = [str(name) if generator.random() < 0.8 else None for name in generator.choice(["x", "y", "z"], size=T)]
    return ScoreMatrix(
        values,
        directions=directions,
        groups=names if generator.random() < 0.6 else None,
        gamma=float(generator.choice([0.0, 2.0, 95.0])) if generator.random() < 0.5 else None,
        minimum=[-100.0] * T if has_scale else None,
        maximum=[100.0] * T if has_scale else None,
        chance=[float(x) for x in generator.integers(0, 2, T)] if has_scale else None,
        precision=[0.5 if chosen else None for chosen in generator.integers(0, 2, T)] if kind == 2 else None,
    )


def test_numbers_are_rounded_as_the_engine_rounds_them(page):
    """To 12 digits and to a precision; halves, long and tiny numbers among them."""
    generator = np.random.default_rng(5)
    numbers = [
        *generator.uniform(-100, 100, 500).tolist(),
        *(generator.integers(-(10**14), 10**14, 500) / 2).tolist(),
        *(generator.integers(0, 2000, 500) / 20).tolist(),
        *(10 ** generator.uniform(-300, 300, 500)).tolist(),
        5e-324, 1.7976931348623157e308, 92.19999999999999, 0.1 + 0.2, 0.0,
    ]  # fmt: skip
    precisions = generator.choice([0.1, 0.5, 1.0, 7e-5, 0.25, 3.0], len(numbers)).tolist()
    script = """
    async ([numbers, precisions]) => {
      const { rounded, roundedTo } = await import('/js/rules/decimals.js');
      return numbers.map((number, k) => [rounded(number), roundedTo(rounded(number), precisions[k])]);
    }
    """
    expected = [[x, float(rounded_to(x, p))] for x, p in zip(rounded(numbers).tolist(), precisions, strict=True)]
    results = page.evaluate(script, [numbers, precisions])
    assert [[float(x), float(y)] for x, y in results] == expected


def test_two_hundred_random_tables_rank_as_the_engine_ranks_them(page):
    generator = np.random.default_rng(20_260_101)
    matrices = [random_table(generator) for _ in range(200)]
    assert sum(bool(np.isnan(matrix.values).any()) for matrix in matrices) > 80
    assert hold_to_the_engine(page, matrices, 4) > 200 * 3 * len(QUICK)
