"""Every way of scoring many boards at once ranks each of them as the rule does by itself."""

from collections.abc import Iterator

import numpy as np
import pytest

from ranking_engine.catalogue.dispatch import rank
from ranking_engine.catalogue.registry import RULES, get_rule
from ranking_engine.core.ranking import ranks_of
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.kernels import votes
from ranking_engine.kernels.tables import MatrixBatch
from ranking_engine.stability.resampling.drawn_boards import drawn_rankings
from ranking_engine.stability.resampling.growing_boards import growing_scores
from ranking_engine.stability.resampling.resampled_scores import resampled_scores, reweighted

TRIALS = 60


def with_kernel(*kinds: str) -> list[str]:
    """The rules that score many boards at once in one of these ways."""
    return [key for key, rule in RULES.items() if any(getattr(rule.kernels, kind) is not None for kind in kinds)]


def random_scores(random: np.random.Generator, rule: str, shape: tuple[int, ...], share_missing: float) -> np.ndarray:
    """Scores with many ties; gaps where the rule takes them, and no score of 0 where it takes none."""
    scores = random.integers(1 if get_rule(rule).needs_positive else 0, 5, shape).astype(float)
    if not get_rule(rule).needs_complete:
        scores[random.random(shape) < share_missing] = np.nan
    return scores


def random_boards(rule: str) -> Iterator[tuple[np.random.Generator, ScoreMatrix]]:
    """Small boards with ties, weights, gaps where the rule takes them, and names in another order than the rows."""
    random = np.random.default_rng(sum(map(ord, rule)))
    for _ in range(TRIALS):
        n, T = int(random.integers(1, 8)), int(random.integers(1, 6))
        scores = random_scores(random, rule, (n, T), 0.15)
        scores[np.isnan(scores).all(axis=1), 0] = 1.0
        yield (
            random,
            ScoreMatrix(
                scores,
                system_names=[f"s{k}" for k in random.permutation(n)],
                weights=random.integers(1, 4, T).tolist(),
                gamma=3.0,
                minimum=np.zeros(T),
                maximum=np.full(T, 5.0),
                chance=np.full(T, 0.5),
            ),
        )


@pytest.mark.parametrize("rule", with_kernel("tables"))
def test_tables_of_other_scores(rule: str) -> None:
    kernel = get_rule(rule).kernels.tables
    for random, board in random_boards(rule):
        scores = random_scores(random, rule, (3, *board.values.shape), 0.15)
        ranks = ranks_of(kernel(MatrixBatch(board, scores)))
        assert ranks.tolist() == [rank(board.with_values(table), rule).ranks.tolist() for table in scores]


@pytest.mark.parametrize("rule", with_kernel("draws", "pairs"))
def test_boards_of_some_systems_on_tasks_drawn_again(rule: str) -> None:
    for random, board in random_boards(rule):
        counts = random.multinomial(board.n_tasks, np.full(board.n_tasks, 1 / board.n_tasks), size=3)
        present = random.random((3, board.n_systems)) < 0.7
        drawn = drawn_rankings(board, counts, present, [rule])[rule]
        for r in range(3):
            systems = np.flatnonzero(present[r])
            expected, winners = np.full(board.n_systems, -1), np.zeros(board.n_systems, dtype=bool)
            if systems.size:
                ranking = rank(reweighted(board, counts[r]).subset(systems=systems), rule, missing="undefined")
                expected[systems] = ranking.ranks
                winners[systems[list(ranking.winners)]] = True
            assert ranks_of(drawn.scores)[r].tolist() == expected.tolist()
            assert drawn.is_winner[r].tolist() == winners.tolist()


@pytest.mark.parametrize("rule", with_kernel("resamples", "pairs"))
def test_all_systems_on_tasks_drawn_again(rule: str) -> None:
    for random, board in random_boards(rule):
        counts = random.multinomial(board.n_tasks, np.full(board.n_tasks, 1 / board.n_tasks), size=3)
        scores = resampled_scores(board, counts, [rule], lambda _share: None)[rule]
        ranks = [rank(reweighted(board, drawn), rule, missing="undefined").ranks.tolist() for drawn in counts]
        assert ranks_of(scores).tolist() == ranks


@pytest.mark.parametrize("rule", with_kernel("growing"))
def test_boards_that_grow_by_one_system_at_a_time(rule: str) -> None:
    for _random, board in random_boards(rule):
        scores = growing_scores(board, [rule], {rule: rank(board, rule)})[rule]
        for k in range(board.n_systems):
            expected = rank(board.subset(systems=np.arange(k + 1)), rule).ranks.tolist()
            assert ranks_of(scores)[k, : k + 1].tolist() == expected


def test_bradley_terry_of_boards_far_apart_and_of_boards_without_finite_strengths() -> None:
    n = 60
    ladder = np.column_stack([np.arange(n), -np.arange(n)]).astype(float)
    board = ScoreMatrix(ladder, weights=[10**6, 1])
    one_way = ladder.copy()
    one_way[:, 1] = ladder[:, 0]
    scores = get_rule("bradley_terry").kernels.tables(MatrixBatch(board, np.array([ladder, one_way])))
    assert scores[0] == pytest.approx(rank(board, "bradley_terry").scores, abs=1e-9)
    assert np.isnan(scores[1]).all()


def test_plackett_luce_of_boards_far_apart_and_of_boards_without_finite_strengths() -> None:
    n = 40
    ladder = np.column_stack([np.arange(n), -np.arange(n)]).astype(float)
    board = ScoreMatrix(ladder, weights=[100, 1], system_names=[f"s{k:02}" for k in range(n)])
    one_way, one_ahead = ladder.copy(), ladder.copy()
    one_way[:, 1] = ladder[:, 0]
    one_ahead[0, 0] = n
    tables = [ladder, one_way, one_ahead]
    scores = get_rule("plackett_luce").kernels.tables(MatrixBatch(board, np.array(tables)))
    rankings = [rank(board.with_values(table), "plackett_luce") for table in tables]
    assert [ranking.status for ranking in rankings] == ["ranked", "undefined", "undefined"]
    assert scores[0] == pytest.approx(rankings[0].scores, abs=1e-9)
    assert np.isnan(scores[1:]).all()


def random_tables(n_tables: int, n_systems: int, n_tasks: int) -> tuple[ScoreMatrix, np.ndarray]:
    """Larger boards with ties and gaps, whose names are in another order than the rows."""
    random = np.random.default_rng(n_systems)
    tables = random.integers(0, 30, (n_tables, n_systems, n_tasks)).astype(float)
    tables[random.random(tables.shape) < 0.1] = np.nan
    names = [f"s{k}" for k in random.permutation(n_systems)]
    return ScoreMatrix(tables[0], system_names=names, weights=random.integers(1, 4, n_tasks).tolist()), tables


@pytest.mark.parametrize("rule", ["plackett_luce", "soft_condorcet", "bradley_terry"])
def test_fitted_scores_of_larger_tables_are_those_of_the_rule(rule: str) -> None:
    board, tables = random_tables(6, 30, 7)
    scores = get_rule(rule).kernels.tables(MatrixBatch(board, tables))
    for table, row in zip(tables, scores, strict=True):
        assert row == pytest.approx(rank(board.with_values(table), rule).scores, abs=1e-9)


@pytest.mark.parametrize("weights", [[1, 1, 1], [1, 40, 7]])
def test_threshold_of_more_systems_than_a_byte_counts(weights: list[int]) -> None:
    random = np.random.default_rng(3)
    board = ScoreMatrix(random.integers(0, 290, (300, 3)).astype(float), weights=weights)
    tables = random.integers(0, 290, (3, 300, 3)).astype(float)
    ranks = ranks_of(get_rule("threshold").kernels.tables(MatrixBatch(board, tables)))
    assert ranks.tolist() == [rank(board.with_values(table), "threshold").ranks.tolist() for table in tables]


@pytest.mark.parametrize("rule", ["coombs", "instant_runoff"])
def test_rounds_of_tables_that_do_not_fit_into_one_block(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(votes, "_BLOCK_CELLS", 20)
    random = np.random.default_rng(4)
    board = ScoreMatrix(random.integers(0, 9, (10, 6)).astype(float), weights=[1, 2, 1, 3, 1, 1])
    tables = random.integers(0, 9, (5, 10, 6)).astype(float)
    ranks = ranks_of(get_rule(rule).kernels.tables(MatrixBatch(board, tables)))
    assert ranks.tolist() == [rank(board.with_values(table), rule).ranks.tolist() for table in tables]


def test_ranked_pairs_of_more_systems_than_a_word_has_bits() -> None:
    random = np.random.default_rng(7)
    board = ScoreMatrix(random.integers(0, 12, (140, 9)).astype(float))
    tables = random.integers(0, 12, (4, 140, 9)).astype(float)
    ranks = ranks_of(get_rule("ranked_pairs").kernels.tables(MatrixBatch(board, tables)))
    assert ranks.tolist() == [rank(board.with_values(table), "ranked_pairs").ranks.tolist() for table in tables]


def test_ranked_pairs_winners_of_boards_with_circles_below_the_winners() -> None:
    random = np.random.default_rng(5)
    for _ in range(40):
        scores = random.integers(0, 3, (9, 5)).astype(float)
        board = ScoreMatrix(scores, system_names=[f"s{k}" for k in random.permutation(9)])
        counts = random.multinomial(5, np.full(5, 1 / 5), size=10)
        drawn = drawn_rankings(board, counts, np.ones((10, 9), dtype=bool), ["ranked_pairs"])["ranked_pairs"]
        winners = [set(rank(reweighted(board, count), "ranked_pairs").winners) for count in counts]
        assert [set(np.flatnonzero(row).tolist()) for row in drawn.is_winner] == winners
