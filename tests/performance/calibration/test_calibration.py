"""Intervals hold the truth and tests keep their level, on simulated boards that are as they assume.

Boards are seeded, so that a run repeats. A rate over n boards has a standard error, and a bound lies 1.645 of them off:
coverage is asserted by its lower bound, where enough boards make that reliable.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from performance.calibration.__main__ import PAGE, with_table
from performance.calibration.populations import Population, draw_board
from performance.calibration.simulation import Rate, rates, simulate
from performance.calibration.tables import DECLARED, N_RESAMPLES, NULLS, TABLES, Cell, Table, table_rows
from performance.calibration.trials import (
    RULES,
    differences,
    false_claims,
    intervals_of_measured_ranks,
    intervals_of_ranks,
    overlap,
    strengths,
)
from ranking_engine.core.clusters import clusters_of

COVERAGE, CLAIMS = 0.94, 0.06


def test_at_the_fewest_tasks_intervals_hold_the_true_rank():
    trial = partial(intervals_of_ranks, Population(10, 8), 400)
    figures = simulate("eight tasks", trial, 80)
    for rule in RULES:
        assert figures[f"{rule} covered"].mean >= COVERAGE, rule
        assert figures[f"{rule} together"].mean >= COVERAGE, rule
        assert figures[f"{rule} best"].mean >= COVERAGE, rule


def test_intervals_from_standard_errors_hold_the_true_rank_only_where_systems_are_far_apart():
    near, far = (simulate("measured", partial(intervals_of_measured_ranks, spread, 0.0), 10) for spread in (0.1, 4))
    assert near["mean covered"].mean < 0.9
    assert far["mean covered"].mean >= COVERAGE
    assert near["mean width"].mean > far["mean width"].mean


@pytest.mark.slow
@pytest.mark.parametrize("name", DECLARED)
def test_rank_intervals_hold_the_true_ranks(name):
    population = DECLARED[name]
    n_boards = 120 if population.n_systems > 30 else 300
    figures = simulate(name, partial(intervals_of_ranks, population, N_RESAMPLES), n_boards, processes=2)
    for rule in RULES:
        assert figures[f"{rule} covered"].lower() >= COVERAGE, rule
        assert figures[f"{rule} winner"].upper() >= COVERAGE, rule  # one system a board: a bound would need thousands
        assert figures[f"{rule} together"].lower() >= COVERAGE, rule
        assert figures[f"{rule} best"].lower() >= COVERAGE, rule


@pytest.mark.slow
@pytest.mark.parametrize("name", NULLS)
def test_tests_claim_no_more_than_their_level(name):
    """An exact test claims 5 %; to tell that from 6 % by an upper bound would take thousands of boards."""
    figures = simulate(name, partial(false_claims, NULLS[name]), 300, processes=2)
    assert {figure: rate.mean for figure, rate in figures.items() if rate.lower() > CLAIMS} == {}


@pytest.mark.slow
@pytest.mark.parametrize(("n_sets", "n_metrics"), [(10, 1), (30, 1), (12, 3)])
def test_intervals_of_strengths_hold_the_true_ones(n_sets, n_metrics):
    figures = simulate("strengths", partial(strengths, 6, n_sets, n_metrics, True), 1500, processes=2)
    assert figures["covered"].lower() >= COVERAGE


def test_agreeing_metrics_need_to_be_declared_for_intervals_of_strengths_to_hold():
    declared, undeclared = (
        simulate("metrics", partial(strengths, 6, 12, 3, is_declared), 150)["covered"].mean
        for is_declared in (True, False)
    )
    assert declared >= COVERAGE
    assert undeclared < 0.8


def test_tasks_overlap_by_what_they_share_and_not_by_their_precision():
    unequal, families = (
        simulate("overlap", partial(overlap, 50, noise, sizes), 60)
        for noise, sizes in (([0.3] * 10 + [3.0] * 10, []), ([0.5] * 20, [4] * 5))
    )
    assert (unequal["overlap"].mean, families["overlap"].mean) == (0, 1)
    assert unequal["pair"].lower() <= 0.05
    assert families["pair"].mean == 1


def test_undeclared_families_break_intervals():
    population = Population(10, 9, family=3, is_declared=False)
    assert simulate("undeclared", partial(intervals_of_ranks, population, 200), 60)["borda covered"].upper() < 0.9


def test_families_are_declared_as_clusters_and_share_noise():
    declared, abilities = draw_board(Population(400, 30, family=3), np.random.default_rng(0))
    undeclared, _ = draw_board(Population(400, 30, family=3, is_declared=False), np.random.default_rng(0))
    assert (len(clusters_of(declared)), len(clusters_of(undeclared))) == (10, 30)
    np.testing.assert_array_equal(declared.values, undeclared.values)
    noise = np.corrcoef((declared.values - abilities[:, None]).T)
    assert noise[0, 1] == pytest.approx(0.8, abs=0.1)
    assert abs(noise[0, 3]) < 0.2


def test_a_board_depends_on_its_kind_its_number_and_the_seed_and_not_on_processes():
    trial = partial(differences, 10, False)
    one, two = (simulate("a", trial, 30, seed=1, processes=n) for n in (1, 2))
    assert one == two
    assert simulate("b", trial, 30, seed=1) != one or simulate("a", trial, 30, seed=2) != one


def test_a_rate_leaves_out_boards_without_the_figure():
    figures = rates([{"a": 1.0, "b": 0.0}, {"a": 0.0}, {}])
    assert figures == {"a": Rate(0.5, pytest.approx(0.5 / 2**0.5), 2), "b": Rate(0.0, 0.0, 1)}
    assert figures["a"].lower() == pytest.approx(0.5 - 1.645 * 0.5 / 2**0.5)


def test_tables_replace_those_of_the_page():
    table = Table("key", "Title", "kind", [Cell("a", partial(differences, 6, True))], [("figure", ("covered",))])
    lines = table_rows(table, 4, 0, 1, {}, lambda line: None)
    page = "# Page\n\n## Title\n\nText.\n\n| old |\n|---|\n| 1 |\n\n## Other\n\n| x |\n"
    changed = with_table(page, "Title", lines)
    assert changed == page.replace("| old |\n|---|\n| 1 |\n", "\n".join(lines) + "\n")
    assert lines[0] == "| kind | boards | figure |"
    with pytest.raises(ValueError, match="no table under the heading 'Nowhere'"):
        with_table(page, "Nowhere", lines)


def test_every_table_of_the_page_has_its_rows():

    page = PAGE.read_text(encoding="utf-8")
    for table in TABLES:
        section = page.split(f"## {table.heading}\n")[1].split("\n## ")[0]
        names = [line.split(" | ")[0].removeprefix("| ") for line in section.splitlines() if line.startswith("| ")]
        assert names == [table.first, *(cell.name for cell in table.cells)], table.key
