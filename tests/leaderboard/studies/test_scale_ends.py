"""The stored figures of the baselines: what the engine computes, and what the papers page prints seed by seed."""

import json

import numpy as np
import pytest

from leaderboard.papers.results import stored
from leaderboard.studies.scale_ends import ENDS, ScaleEnd, n_trials, random_top, scale_ends
from ranking_engine.stability.diversity import diversity
from ranking_engine.stability.sensitivity.cardinal import cardinal_sensitivity
from reproduction.zhang.unstructured import (
    CARDINAL_SHAPE,
    N_TRIALS,
    ORDINAL_RANDOM_TOP,
    ORDINAL_SHAPE,
    unstructured_benchmark,
)


def test_the_ends_have_the_sizes_of_the_paper():
    sizes = {
        kind: [(end.name, end.n_systems, end.n_tasks) for end in scale_ends(kind)] for kind in ("cardinal", "ordinal")
    }
    assert sizes == {
        "cardinal": [("Constant", *CARDINAL_SHAPE), ("Random", *CARDINAL_SHAPE)],
        "ordinal": [("Constant", *ORDINAL_SHAPE), ("Random", *ORDINAL_SHAPE)],
    }
    assert (n_trials(), random_top()) == (N_TRIALS, ORDINAL_RANDOM_TOP)


def test_constant_is_computed_again_as_it_is_stored():
    drawn = unstructured_benchmark("constant", *CARDINAL_SHAPE)
    reached = cardinal_sensitivity(drawn, max_programs=0, box_work=0).discordant_share.lower
    again = ScaleEnd("Constant", *CARDINAL_SHAPE, diversity(drawn).diversity_tie_corrected, reached)
    assert scale_ends("cardinal")[0] == again


@pytest.mark.parametrize(("kind", "shape"), [("cardinal", CARDINAL_SHAPE)])
def test_the_diversity_of_random_is_computed_again_from_the_sums_of_ranks(kind, shape):
    n, n_tasks = shape
    values = []
    for seed in range(N_TRIALS):
        scores = np.random.RandomState(seed).random_sample(shape)
        sums = (scores.argsort(axis=0).argsort(axis=0) + 1).sum(axis=1)
        values.append(1 - 12 * ((sums - sums.mean()) ** 2).sum() / (n_tasks**2 * (n**3 - n)))
    assert scale_ends(kind)[1].diversity == pytest.approx(np.mean(values))


def test_the_sensitivity_of_random_is_the_mean_that_the_papers_page_prints():
    sections = {section["key"]: section for of in stored()["papers"] for section in of["sections"]}
    (grid,) = sections["zhang-baselines-cardinal"]["grids"]
    (mean,) = [line[-1] for line in grid["lines"] if line[:2] == ["Random", "sensitivity, (1 - tau) / 2"]]
    # Without ties (1 - tau) / 2 is the share of reversed pairs.
    assert f"{scale_ends('cardinal')[1].reached:.4f}" == mean


def test_constant_has_no_tie_to_break_and_random_no_rank_to_keep():
    kept = json.loads(ENDS.read_text(encoding="utf-8"))
    assert [kept[kind][0]["reached"] for kind in ("cardinal", "ordinal")] == [0.0, 0.0]
    assert all(0.5 < kept[kind][1]["reached"] <= 1 for kind in ("cardinal", "ordinal"))
