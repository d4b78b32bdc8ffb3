"""First places and steady rules: tested as boards test them, and no rule praised for what it cannot fail."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from ranking_engine import rank
from ranking_engine.core.clusters import cluster_key, clusters_of
from reproduction import open_questions, pavao, store
from reproduction.__main__ import SITE
from reproduction.boards import board
from reproduction.open_questions import APART, CONTRADICTED, NOT_APART, SHARED, TOO_FEW, verdict_on
from reproduction.studies import first_two
from reproduction.zhang.curves import smallest_in_words

STORED = json.loads(SITE.read_text(encoding="utf-8"))
SECTIONS = {section["key"]: section for paper in STORED["papers"] for section in paper["sections"]}
CLAIMS = {claim["title"]: claim["text"] for claim in STORED["essay"]}


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "FOLDER", tmp_path)


@pytest.mark.parametrize(("name", "rule"), [("GLUE", "mean"), ("MTEB", "mean"), ("HEIM-aesthetics-human", "win_rate")])
def test_the_first_two_are_tested_by_what_tasks_add_to_the_scores_of_the_rule(name, rule):
    matrix, test = board(name), first_two(name, rule)
    first, second = (matrix.system_names.index(test[place]) for place in ("first", "second"))
    added = matrix.scores
    if rule == "win_rate":  # the share of rivals below, half of the tied ones
        above = (matrix.scores[:, None] > matrix.scores[None]).sum(axis=1)
        tied = (matrix.scores[:, None] == matrix.scores[None]).sum(axis=1) - 1
        added = (above + tied / 2) / (matrix.n_systems - 1)
    weights = np.array([float(weight) for weight in matrix.weights])
    differences = (added[first] - added[second]) * weights / weights.sum()
    numbers = clusters_of(matrix)
    of_task = np.array([numbers[cluster_key(matrix, t)] for t in range(matrix.n_tasks)])
    units = np.bincount(of_task, differences)
    sums = np.array([np.dot(units, signs) for signs in itertools.product((1, -1), repeat=len(units))])
    assert test["is_of_rule"]
    assert test["n_units"] == len(units)
    assert test["p"] == pytest.approx(np.mean(np.abs(sums) >= abs(units.sum()) - 1e-12))
    scores = rank(matrix, rule).scores
    assert test["difference"] == pytest.approx(scores[first] - scores[second])
    assert test["difference"] > 0


def test_where_the_rule_is_no_sum_over_tasks_mean_differences_are_tested_and_can_be_against_the_winner():
    test = first_two("HELM-bias", "win_rate")
    assert not test["is_of_rule"]
    assert test["difference"] < 0


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, APART),
        ({"difference": -1.0}, CONTRADICTED),
        ({"p": 0.06}, NOT_APART),
        ({"p": 0.06, "difference": -1.0}, NOT_APART),
        ({"n_units": 5}, TOO_FEW),
        ({"p": None}, TOO_FEW),
        ({"is_shared": True}, SHARED),
    ],
)
def test_a_verdict_on_the_first_place_respects_who_is_ahead(changes, verdict):
    assert verdict_on({"is_shared": False, "p": 0.01, "n_units": 9, "difference": 1.0, **changes}) == verdict


def test_boards_on_which_the_winner_is_significantly_ahead_are_those_of_the_claim():
    (grid,) = SECTIONS["open-winners"]["grids"]
    apart = [line[0] for line in grid["lines"] if line[-1] == APART]
    assert CLAIMS["Which published winners differ significantly?"].startswith(f"Significant: {', '.join(apart)};")
    against = [line for line in grid["lines"] if "the second ahead" in line[4]]
    assert {line[-1] for line in against} == {TOO_FEW}


@pytest.mark.parametrize("name", pavao.ALL)
def test_a_criterion_that_rules_meet_by_definition_has_no_better_rule_on_any_board(name):
    (grid,) = SECTIONS[f"pavao-{name.lower().replace(' ', '-')}"]["grids"]
    of_rule = {line[0]: [float(cell.partition(" ")[0]) for cell in line[1:]] for line in grid["lines"]}
    for k, criterion in enumerate(pavao.CRITERIA):
        for key in pavao.MET_BY_DEFINITION.get(criterion, ()):
            if pavao.NAMES[key] in of_rule:
                assert of_rule[pavao.NAMES[key]][k] == max(values[k] for values in of_rule.values())


def test_places_of_the_six_rest_on_criteria_that_every_rule_can_fail():
    (grid,) = SECTIONS["pavao-summary"]["grids"]
    *_, compared, over_all = grid["header"]
    assert compared == "mean place of 6 (generalisation; stability, tasks drawn)"
    assert over_all == "mean place of 6 (all criteria)"
    first, last, of_all = (
        choose(grid["lines"], key=lambda line, place=place: float(line[place]))
        for choose, place in ((min, -2), (max, -2), (min, -1))
    )
    claim = CLAIMS["Choose a rule for what should stay."]
    assert f"the best mean place of six goes to {first[0]} ({first[-2]}), the last to {last[0]} ({last[-2]})" in claim
    assert f"Over all five {of_all[0]} is first ({of_all[-1]}), which cannot fail one" in claim


def test_steadiness_is_said_by_places_and_by_correlations_and_without_what_cannot_change():
    (grid,) = SECTIONS["open-steadiness"]["grids"]
    names = [line[0] for line in grid["lines"]]
    cells = {line[0]: [cell.partition(" (") for cell in line[1:4]] for line in grid["lines"]}
    assert {name for name in names if cells[name][1][2] == "by definition)"} == {"Mean", "Median"}
    places = {name: [float(cells[name][k][2].removeprefix("place ").rstrip(")")) for k in (0, 2)] for name in names}
    of_two = {line[0]: float(line[4]) for line in grid["lines"]}
    assert of_two == {name: pytest.approx(np.mean(places[name]), abs=0.011) for name in names}
    assert names == sorted(names, key=lambda name: of_two[name])
    claim = CLAIMS["Which rules are steadiest?"]
    assert ", ".join(f"{line[0]} {line[4]}" for line in grid["lines"][:4]) in claim
    by_place = sorted(names, key=lambda name: places[name][0])[:2]
    by_value = sorted(names, key=lambda name: -float(cells[name][0][0]))[:2]
    said = CLAIMS["Choose a rule for what should stay."]
    first, second = (f"{places[name][0]:.2f}" for name in by_place)
    assert f"the best mean place is that of {by_place[0]} ({first}; {by_place[1]} has {second})" in said
    first, second = (cells[name][0][0] for name in by_value)
    assert f"the best mean correlation that of {by_value[0]} ({first}; {by_value[1]} has {second})" in said


def test_places_are_shared_by_equal_values():
    table = np.array([[3.0, 1.0, 3.0], [1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(open_questions.places_within(table), [[1.5, 3, 1.5], [3, 2, 1]])


def test_a_smallest_subset_is_said_to_be_the_smallest_only_where_all_smaller_ones_were_tried():
    assert smallest_in_words(4, True, 19) == "4"
    assert smallest_in_words(5, False, 19) == "at most 5"
    assert smallest_in_words(None, False, 12) == "more than 6"
    assert smallest_in_words(None, False, 13) == "none of up to 6 among the subsets tried"


def test_the_page_says_more_than_six_of_boards_of_up_to_twelve_tasks_alone():
    lines = [line for grid in SECTIONS["zhang-subsets"]["grids"] for line in grid["lines"]]
    assert {line[0] for line in lines if line[-1] == "more than 6"} == {
        line[0] for line in lines if int(line[1]) <= 12 and not line[-1].isdigit()
    }


def test_the_claim_on_win_rates_names_both_measures_and_compares_like_with_like():
    (grid,) = SECTIONS["zhang-correlation-ordinal"]["grids"]
    theirs, ours, corrected, *_ = grid["lines"]
    assert ours[0] == "1 - W and (1 - tau-b) / 2, ours"
    assert corrected[0].startswith("1 - W corrected for ties, and the share of pairs")
    claim = CLAIMS["The trade-off for win rates rests on little."]
    p_ours, p_corrected = (f"{float(line[-1]):.3f}" for line in (ours, corrected))
    assert f"at {theirs[2]} by their own figures, and at {ours[2]} (p = {p_ours}, two-sided" in claim
    in_pairs = f"1 - W and the share of reversed pairs correlate at {corrected[2]} (p = {p_corrected}, two-sided"
    assert f"With ties corrected, {in_pairs}" in claim
