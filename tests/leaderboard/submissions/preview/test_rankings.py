"""The rankings before and after are those that the engine gives each state by itself."""

from dataclasses import replace

import numpy as np
import pytest

from leaderboard.computing.rankings import split_rules
from leaderboard.rankings.configuration import BoardConfiguration, ConfiguredGroup, ConfiguredTask
from leaderboard.rankings.scores import BoardSystem
from leaderboard.submissions.preview.draft import BoardState, rankings_of
from ranking_engine import AGGREGATIONS, Ranking, rank_all

N_TASKS = 17


def state_of(values: np.ndarray, aggregation: str = "basic") -> BoardState:
    """A board with two groups, unequal weights and a lower-is-better task."""
    tasks = [
        ConfiguredTask(
            id=t,
            key=f"task-{t}",
            name=f"Task {t}",
            group=["g", None, "h"][t % 3],
            direction=[1, -1, 1][t % 3],
            weight=["1", "0.1", "2", "0"][t % 4],
            metric="",
            unit="",
            minimum=None,
            maximum=None,
            chance=None,
        )
        for t in range(N_TASKS)
    ]
    configuration = BoardConfiguration(
        groups=(ConfiguredGroup("g", "G", "2"), ConfiguredGroup("h", "H", "0.3")),
        tasks=tuple(tasks),
        gamma=3.0,
        derived_gamma=None,
        missing_policy="median",
        aggregation=aggregation,
        replacement="row",
    )
    systems = [BoardSystem(i, f"s{i:02}", f"System {i}") for i in range(len(values))]
    return BoardState(1, configuration, systems, values)


def random_values(n: int, seed: int = 0) -> np.ndarray:
    """Few values, so that there are ties, and gaps."""
    return np.random.default_rng(seed).choice([1.0, 2.0, 3.0, 4.0, np.nan], size=(n, N_TASKS))


def assert_same(got: dict[str, Ranking], state: BoardState) -> None:
    matrix = state.matrix()
    rules = split_rules(matrix.n_systems, matrix.n_tasks).quick
    expected = rank_all(matrix, rules, missing=state.policy, aggregation=state.aggregation)
    assert list(got) == rules
    for rule, ranking in got.items():
        # The last bits of a matrix product may differ in the child process that ranks the preview.
        np.testing.assert_allclose(ranking.scores, expected[rule].scores, rtol=1e-14, atol=1e-15)
        np.testing.assert_array_equal(ranking.ranks, expected[rule].ranks)
        assert ranking.winners == expected[rule].winners
        assert (ranking.status, ranking.reason) == (expected[rule].status, expected[rule].reason)
        assert ranking.unranked_reasons == expected[rule].unranked_reasons
        assert ranking.details == expected[rule].details


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize(
    ("changed", "n_new"), [([], 0), ([3], 0), ([], 1), ([0], 1), ([1, 2, 5], 2)],
    ids=["none", "one", "a newcomer", "few", "many"],
)  # fmt: skip
def test_rows_that_change_and_join(changed, n_new, aggregation):
    old = random_values(8)
    new = np.vstack([old, random_values(n_new, seed=1)])
    new[changed] = random_values(len(changed), seed=2)
    before, after = state_of(old, aggregation), state_of(new, aggregation)
    got_before, got_after = rankings_of(before, after)
    assert_same(got_before, before)
    assert_same(got_after, after)


def test_a_system_that_loses_its_scores_leaves_and_one_without_any_comes_in():
    old, new = random_values(5), random_values(5)
    new[1], old[4] = np.nan, np.nan
    before, after = state_of(old), state_of(new)
    got_before, got_after = rankings_of(before, after)
    assert_same(got_before, before)
    assert_same(got_after, after)


def test_groups_that_weigh_nothing_leave_no_ranking():
    states = []
    for seed in (0, 1):
        state = state_of(random_values(3, seed=seed), "weighted")
        tasks = tuple(replace(task, group="g") for task in state.configuration.tasks)
        grouped = replace(state.configuration, groups=(ConfiguredGroup("g", "G", "0"),), tasks=tasks)
        states.append(replace(state, configuration=grouped))
    for rankings in rankings_of(*states):
        assert {(ranking.status, ranking.reason) for ranking in rankings.values()} == {
            ("undefined", "no task has an order and a weight above 0")
        }


def test_the_first_system_of_a_board():
    before, after = state_of(np.empty((0, N_TASKS))), state_of(random_values(1))
    got_before, got_after = rankings_of(before, after)
    assert got_before == {}
    assert_same(got_after, after)
