from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings

from ranking_engine import ScoreMatrix
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import get_study, run_study
from ranking_engine.stability.diversity import diversity
from tests.ranking_engine.strategies import matrices

KEYS = ["diversity", "significance", "cardinal_sensitivity", "ordinal_sensitivity"]


@pytest.mark.parametrize("key", KEYS)
def test_each_gives_a_summary_in_json_its_arrays_and_progress_to_the_end(key):
    matrix = random_matrix(12, 7, seed=3)
    steps = []
    result = run_study(key, matrix, seed=1, progress=lambda done, total: steps.append(done / total))
    text = json.dumps(result.summary, allow_nan=False)
    assert len(text) < 64_000
    assert result.arrays
    assert (steps == sorted(steps), steps[-1]) == (True, 1)
    again = run_study(key, matrix, seed=1)
    assert json.dumps(again.summary) == text
    for name, array in result.arrays.items():
        np.testing.assert_array_equal(array, again.arrays[name])
    assert get_study(key).estimate(matrix, get_study(key).parameters) > 0


def test_the_feasible_sets_are_chunks_and_merge_into_one():
    matrix, study = random_matrix(8, 4, seed=3), get_study("cardinal_sensitivity")
    assert study.n_chunks(matrix, study.parameters) == 2
    partials = [study.run_chunk(matrix, study.parameters, 0, chunk) for chunk in (1, 0)][::-1]
    merged = study.merge(matrix, study.parameters, 0, partials)
    whole = run_study("cardinal_sensitivity", matrix)
    assert merged.summary == whole.summary
    assert set(merged.summary["feasible"]) == {"scaled", "box"}
    assert set(merged.arrays) == set(whole.arrays)
    assert "box.discordant_share.ranks" in merged.arrays


def test_significance_follows_the_rule_named_and_the_diversity_is_that_of_the_engine():
    matrix = random_matrix(6, 12, seed=3, missing=0.1)
    assert run_study("significance", matrix).summary["rule"] == "copeland"
    assert run_study("significance", matrix, {"rule": "win_rate"}).summary["rule"] == "win_rate"
    assert run_study("diversity", matrix).summary["diversity"] == diversity(matrix).diversity


@settings(max_examples=15, deadline=None)
@given(matrices(max_systems=5, max_tasks=3))
def test_a_matrix_that_a_study_cannot_use_is_refused_with_a_reason_and_others_are_not(matrix):
    for key in KEYS:
        study = get_study(key)
        reason = study.why_not(matrix, study.parameters)
        if reason:
            with pytest.raises(ValueError, match="says nothing here"):
                run_study(key, matrix)
        else:
            assert run_study(key, matrix).summary


def test_reasons_are_told():
    one = ScoreMatrix([[1.0, 2.0]])
    reasons = {key: get_study(key).why_not(one, get_study(key).parameters) for key in KEYS}
    assert reasons == {
        "diversity": "fewer than two systems have a score on a task of weight above 0",
        "significance": "fewer than two systems are ranked",
        "cardinal_sensitivity": "fewer than two systems have all scores",
        "ordinal_sensitivity": "1 system with a score: no other system could join the first 2",
    }
