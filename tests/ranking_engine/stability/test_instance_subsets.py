"""Rankings from single instances on fewer tasks, against ranking every subset by itself."""

import json

import numpy as np
import pytest

from ranking_engine.command_line import main
from ranking_engine.core.comparison import kendall_tau
from ranking_engine.core.instances import AGGREGATIONS, InstanceScores, aggregate
from ranking_engine.stability.instance_subsets import shown_sizes, task_subset_curves


def naive_curves(scores, n_draws, seed):
    """Each aggregation on the first k tasks of each order, ranked anew."""
    T = len(scores.blocks)
    curves = {}
    for key in AGGREGATIONS:
        whole, curve = aggregate(scores, key), []
        for k in range(1, T + 1):
            taus = []
            for draw in range(n_draws):
                tasks = np.random.default_rng([seed, draw]).permutation(T)[:k]
                names, blocks, directions = (
                    tuple(of_all[t] for t in tasks) for of_all in (scores.task_names, scores.blocks, scores.directions)
                )
                taus.append(
                    kendall_tau(whole, aggregate(InstanceScores(scores.system_names, names, blocks, directions), key))
                )
            curve.append(np.nanmean(taus) if not np.isnan(taus).all() else np.nan)
        curves[key] = curve
    return curves


def instance_scores(seed, missing=0.0):
    random = np.random.default_rng(seed)
    blocks = [random.integers(0, 5, size=(5, n)).astype(float) for n in (7, 4, 9)]
    for block in blocks:
        block[random.random(block.shape) < missing] = np.nan
    blocks[0][4] = np.nan  # a system without a score on one task
    return InstanceScores(tuple("ABCDE"), ("x", "y", "z"), tuple(blocks), (1, -1, 1))


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_the_curves_are_those_of_ranking_every_subset_by_itself(seed, missing):
    scores = instance_scores(seed, missing)
    n_draws, curves = task_subset_curves(scores, n_draws=12, seed=seed)
    assert n_draws == 12
    for key, curve in naive_curves(scores, 12, seed).items():
        np.testing.assert_allclose(curves[key], curve, atol=1e-12)


def test_one_task_or_one_system_or_too_many_of_both_have_no_curves():
    scores = instance_scores(1)
    one = InstanceScores(scores.system_names, ("x",), scores.blocks[:1])
    many = InstanceScores(tuple(map(str, range(20_000))), ("x", "y"), (np.zeros((20_000, 1)),) * 2)
    assert [task_subset_curves(each) for each in (one, many)] == [(0, {}), (0, {})]


def test_a_table_has_few_numbers_of_tasks_the_first_and_the_last_among_them():
    assert (shown_sizes(3), shown_sizes(100)) == ([1, 2, 3], [1, 12, 23, 34, 45, 56, 67, 78, 89, 100])


def test_the_command_line_prints_them(tmp_path, capsys):
    path = tmp_path / "instances.csv"
    rows = [f"{s},{u},{(ord(s) * (u + 3)) % 7},{(ord(s) + u) % 5}" for s in "ABCD" for u in range(6)]
    path.write_text("\n".join(["system,instance,x,y", *rows]) + "\n")
    assert main(["instances", str(path), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)["task_subsets"]
    assert (report["n_draws"], [taus[-1] for taus in report["tau"].values()]) == (100, [1.0, 1.0, 1.0])
    assert main(["instances", str(path)]) == 0
    assert "tau-b on k of 2 tasks  k = 1  k = 2" in capsys.readouterr().out
