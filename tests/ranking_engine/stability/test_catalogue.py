from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from ranking_engine import ScoreMatrix
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability import catalogue, studies
from ranking_engine.stability.catalogue import EXPERIMENTS, STUDIES, get_study, run_study
from tests.reference import REPOSITORY

MATRIX = ScoreMatrix(
    np.exp(random_matrix(8, 7, seed=5, n_levels=9, missing=0.1).values / 4),
    gamma=2.0,
    maximum=[99.0] * 7,
    chance=[0.1] * 7,
)
# of every way to score many matrices one, and one rule that is ranked matrix by matrix
RULES = ["mean", "median", "borda", "baldwin", "threshold", "copeland", "win_rate"]
QUICK = {
    "missing_scores": {"rules": RULES, "n_repeats": 6, "levels": [0, 20]},
    "system_additions": {"rules": RULES, "n_orders": 6},
    "task_subsets": {"rules": RULES, "n_repeats": 1, "n_best": 2, "largest_best": 3},
    "corrupted_tasks": {"rules": RULES, "n_repeats": 6, "factors": [0.1, 10]},
    "judge_bootstrap": {"rules": RULES, "n_trials": 8, "n_resamples": 4, "n_rounds": 2},
}


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks as they are where a study takes long."""
    monkeypatch.setattr("ranking_engine.stability.study.CHUNK_SECONDS", 1e-9)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("key", list(QUICK))
def test_the_merged_result_has_the_same_bits_with_any_number_of_workers(key):
    study = STUDIES[key]
    parameters = study.with_defaults(QUICK[key])
    n_chunks = study.n_chunks(MATRIX, parameters)
    assert n_chunks > 5
    whole = run_study(key, MATRIX, QUICK[key], seed=7)
    for n_workers in (2, 5):
        partials = {}
        for worker in reversed(range(n_workers)):  # each takes every n-th chunk, the last first
            for chunk in reversed(range(worker, n_chunks, n_workers)):
                partials[chunk] = study.run_chunk(MATRIX, parameters, 7, chunk)
        merged = study.merge(MATRIX, parameters, 7, [partials[chunk] for chunk in range(n_chunks)])
        assert merged.summary == whole.summary
        assert list(merged.arrays) == list(whole.arrays)
        assert all(merged.arrays[name].tobytes() == whole.arrays[name].tobytes() for name in merged.arrays)


@pytest.mark.parametrize("key", list(QUICK))
def test_the_cut_into_chunks_does_not_change_the_distribution(key, monkeypatch):
    whole = run_study(key, MATRIX, QUICK[key], seed=7)
    monkeypatch.setattr("ranking_engine.stability.study.CHUNK_SECONDS", 1e-9)
    cut = run_study(key, MATRIX, QUICK[key], seed=7)
    for name, values in whole.arrays.items():
        np.testing.assert_allclose(cut.arrays[name], values, rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("key", list(QUICK))
def test_another_seed_is_another_experiment(key):
    first, second = (run_study(key, MATRIX, QUICK[key], seed=seed) for seed in (0, 1))
    assert any(not np.array_equal(first.arrays[name], second.arrays[name], equal_nan=True) for name in first.arrays)


@pytest.mark.parametrize("key", list(EXPERIMENTS))
def test_every_entry_of_the_catalogue_is_complete(key):
    study = get_study(key)
    assert study.key == key
    assert study.name
    assert study.question.endswith("?")
    assert study.source
    assert json.loads(json.dumps(study.parameters)) == dict(study.parameters)
    assert not study.steps or study.parameters[study.steps] > 0
    assert all(parameter.checked(parameter.example) == parameter.example for parameter in study.declared)
    assert study.estimate(MATRIX, study.parameters) > 0


def test_numbers_order_the_studies_and_part_their_random_numbers():
    assert [study.number for study in EXPERIMENTS.values()] == list(range(1, len(EXPERIMENTS) + 1))


def test_the_guide_names_every_study():
    guide = (REPOSITORY / "docs" / "studies.md").read_text(encoding="utf-8")
    assert [key for key in EXPERIMENTS if f"`{key}`" not in guide] == []


def test_a_module_with_a_record_adds_a_study(tmp_path, monkeypatch):
    module = "from dataclasses import replace\nfrom ranking_engine.stability.studies.missing_scores import STUDY\n"
    (tmp_path / "trial.py").write_text(f"{module}TRIAL = replace(STUDY, number=99, key='trial')\n", encoding="utf-8")
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(tmp_path)])
    assert list({study.key: study for study in catalogue._records()}) == [*EXPERIMENTS, "trial"]
    sys.modules.pop("ranking_engine.stability.studies.trial")


@pytest.mark.parametrize("key", list(QUICK))
def test_summaries_are_small_and_plain(key):
    summary = run_study(key, MATRIX, QUICK[key]).summary
    assert len(json.dumps(summary, allow_nan=False)) < 64_000
    assert set(summary["rules"]).isdisjoint(summary["not_studied"])


@pytest.mark.parametrize("key", list(QUICK))
def test_a_matrix_that_says_nothing_gets_a_reason(key):
    empty = ScoreMatrix([[np.nan, np.nan], [np.nan, np.nan]])
    with pytest.raises(ValueError, match="says nothing here: no system has a score on a task of weight above 0"):
        run_study(key, empty)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("key", list(QUICK))
def test_progress_rises_to_its_end_and_may_cancel(key):
    seen = []
    run_study(key, MATRIX, QUICK[key], progress=lambda done, total: seen.append((done, total)))
    assert {total for _, total in seen} == {1000}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (1000, 1000)

    def cancel(done, total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        run_study(key, MATRIX, QUICK[key], progress=cancel)


def test_unknown_studies_and_bad_seeds_are_named():
    with pytest.raises(ValueError, match="`study` is 'guess'; expected one of missing_scores"):
        run_study("guess", MATRIX)
    with pytest.raises(ValueError, match="`seed` is -1"):
        run_study("missing_scores", MATRIX, seed=-1)
