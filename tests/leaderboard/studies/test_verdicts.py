"""The stability page at a glance: one figure and one grade a study, and a sentence for the whole board."""

import re

import numpy as np
import pytest

from leaderboard.studies.grades import GOOD, MIXED, POOR, TOO_FEW_TASKS, UNKNOWN, StudyGrade
from leaderboard.studies.intervals import IntervalRow
from leaderboard.studies.verdicts import board_sentence, verdict_of
from ranking_engine.stability.catalogue import STUDIES
from ranking_engine.stability.separability.pair_tests import NOT_SEPARABLE, SEPARABLE, TOO_FEW, PairTests
from tests.markup import compact

SHARE = {"lower": 0.2, "upper": 0.4, "proven": False}
SUMMARIES = {
    "missing_scores": {"levels": [0, 10], "top": 7, "rules": {"borda": {"mean": [1.0, 0.75]}}},
    "system_additions": {"rules": {"borda": {"n_newcomers": 20, "reversals": 4}}},
    "task_subsets": {"rules": {"borda": {"mean": [0.2, 0.9, 0.95, 1.0]}}},
    "corrupted_tasks": {"rules": {"borda": {"reversed": [0.05, 0.4]}}},
    "judge_bootstrap": {"rules": {"borda": {"judge_stability": {"mean": 0.95}}}},
    "diversity": {"reason": "", "dispersion_normalized": 0.3},
    "significance": {"reason": "", "rules": {"borda": {"neighbours": {"n_pairs": 40, "n_separable": 3}}}},
    "cardinal_sensitivity": {"feasible": {"scaled": {"reason": "too large"}, "box": {
        "reason": "", "discordant_share": {**SHARE, "lower": 0.05, "proven": True}}}},
    "ordinal_sensitivity": {"reason": "", "discordant_share": SHARE},
}  # fmt: skip
EXPECTED = {
    "missing_scores": (MIXED, "correlation 0.75 of the first 7 systems with 10 % of the scores deleted"),
    "system_additions": (POOR, "20 % of the newcomers reverse two other systems"),
    "task_subsets": (GOOD, "Kendall’s τ 0.90 between the rankings on 2 of 4 tasks and on all"),
    "corrupted_tasks": (
        GOOD,
        "5 % of the pairs of systems reordered, where a tie in one ranking alone counts half",
    ),
    "judge_bootstrap": (GOOD, "correlation 0.95 of two rankings from tasks drawn again"),
    "diversity": (
        MIXED,
        (
            "two tasks order 30 % of the pairs of systems differently, where a tie on one of them alone counts half, "
            "whatever the rule"
        ),
    ),
    "significance": (POOR, "3 of 40 pairs of neighbours differ significantly"),
    "cardinal_sensitivity": (
        GOOD,
        "up to 5 % of the pairs in the ranking by mean score can be reversed in the worst case",
    ),
    "ordinal_sensitivity": (
        POOR,
        (
            "between 20 % and 40 % of the pairs among the first fifth by win rate (ties as losses) can be reversed in "
            "the worst case"
        ),
    ),
}


def test_of_a_small_board_the_first_two_are_told_and_not_the_first_fifth():
    verdict = verdict_of("ordinal_sensitivity", SUMMARIES["ordinal_sensitivity"] | {"note": "few systems"}, "win_rate")
    assert "of the pairs among the first two by win rate (ties as losses)" in verdict.figure
    assert "among the first two, ties as losses" in verdict.condition


def test_nothing_is_said_of_missing_scores_where_none_was_deleted():
    summary = SUMMARIES["missing_scores"]
    assert verdict_of("missing_scores", summary | {"n_deleted": [0, 0]}, "borda") is None
    assert verdict_of("missing_scores", summary | {"n_deleted": [0, 1]}, "borda").grade == MIXED


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_has_a_grade_with_its_figure(study):
    verdict = verdict_of(study, SUMMARIES[study], "borda")
    assert (verdict.grade, verdict.figure) == EXPECTED[study]


@pytest.mark.parametrize("study", [key for key in STUDIES if "rules" in SUMMARIES.get(key, {})])
def test_a_rule_that_a_study_leaves_out_has_no_grade(study):
    assert verdict_of(study, SUMMARIES[study], "kemeny") is None


@pytest.mark.parametrize(("study", "own_rule"), [("cardinal_sensitivity", "mean"), ("ordinal_sensitivity", "win_rate")])
def test_a_worst_case_joins_the_sentence_of_its_own_rule_alone(study, own_rule):
    rules = ("mean", "win_rate", "borda")
    verdicts = {rule: verdict_of(study, SUMMARIES[study], rule) for rule in rules}
    assert len({verdict.figure for verdict in verdicts.values()}) == 1
    assert {rule for rule in rules if verdicts[rule].condition} == {own_rule}
    assert own_rule.replace("_", " ") in verdicts[own_rule].figure


@pytest.mark.parametrize(
    ("lower", "upper", "is_proven", "grade"),
    [
        (0.02, 0.7, False, UNKNOWN),
        (0.02, 0.1, False, UNKNOWN),
        (0.02, 0.05, False, GOOD),
        (0.06, 0.15, False, MIXED),
        (0.2, 1.0, False, POOR),
        (0.02, 0.02, True, GOOD),
    ],
)
def test_a_worst_case_without_proof_has_a_grade_only_where_both_of_its_bounds_have_it(lower, upper, is_proven, grade):
    share = {"lower": lower, "upper": upper, "proven": is_proven}
    verdict = verdict_of("ordinal_sensitivity", {"reason": "", "discordant_share": share}, "win_rate")
    assert (verdict.grade, bool(verdict.condition)) == (grade, grade != UNKNOWN)
    assert ("between" in verdict.figure) is not is_proven


@pytest.mark.parametrize(
    ("n_separable", "n_too_few_tasks", "grade", "figure"),
    [
        (0, 40, TOO_FEW_TASKS, "no test of 40 pairs of neighbours could be significant"),
        (4, 32, GOOD, "4 of 8 pairs of neighbours differ significantly; 32 more have too few tasks to tell"),
        (0, 0, POOR, "0 of 40 pairs of neighbours differ significantly"),
    ],
)
def test_pairs_with_too_few_tasks_are_not_counted_as_pairs_that_do_not_differ(
    n_separable, n_too_few_tasks, grade, figure
):
    verdicts = np.full(40, NOT_SEPARABLE, dtype=np.int8)
    verdicts[:n_too_few_tasks] = TOO_FEW
    verdicts[40 - n_separable :] = SEPARABLE
    pairs, nothing = np.zeros((40, 2), dtype=np.intp), np.zeros(40)
    tests = PairTests(pairs, nothing, np.zeros(40, dtype=np.int64), nothing, nothing, nothing, verdicts, n_draws=0)
    summary = {"reason": "", "rules": {"borda": {"neighbours": tests.summary()}}}
    verdict = verdict_of("significance", summary, "borda")
    assert (verdict.grade, verdict.figure) == (grade, figure)


@pytest.mark.parametrize(("n_repeats", "suffix"), [(2, " (2 of 100 repeats)"), (100, "")])
def test_a_figure_from_fewer_repeats_says_so(n_repeats, suffix):
    slow_rules = {"borda": {"n_repeats": n_repeats, "of": 100, "n_tables": None, "proven": None}}
    usual = verdict_of("corrupted_tasks", SUMMARIES["corrupted_tasks"], "borda")
    verdict = verdict_of("corrupted_tasks", {**SUMMARIES["corrupted_tasks"], "slow_rules": slow_rules}, "borda")
    assert verdict == StudyGrade(usual.grade, usual.figure + suffix, usual.condition + suffix)


def test_under_the_mean_the_sentence_does_not_contradict_itself_on_systems_that_join():
    joining = {"rules": {"mean": {"n_newcomers": 20, "reversals": 0}}}
    verdicts = {
        "System additions": verdict_of("system_additions", joining, "mean"),
        "Ordinal sensitivity": verdict_of("ordinal_sensitivity", SUMMARIES["ordinal_sensitivity"], "mean"),
    }
    assert board_sentence(verdicts, "Mean", 2, [], 0.95) == (
        "The order is stable when systems join. This sums up 1 of 2 studies. Not in it: Ordinal sensitivity (poor)."
    )


def test_the_board_has_one_sentence_with_the_winner_and_what_its_order_survives():
    row = IntervalRow("a", "A", 1, "1 to 3", "1 to 4", "", is_possibly_best=True)
    missing = {"levels": [10], "top": 7, "rules": {"borda": {"mean": [0.5]}}}
    verdicts = {
        "System additions": StudyGrade(GOOD, "", "when systems join"),
        "Missing scores": verdict_of("missing_scores", missing, "borda"),
        "Corrupted tasks": StudyGrade(GOOD, "", "when one task is reversed"),
        "Diversity": StudyGrade(POOR, ""),
    }
    assert board_sentence(verdicts, "Borda", 9, [row], 0.9) == (
        "A is first under Borda; if the tasks are drawn again, the 90 % interval of its rank is 1 to 3. The order is "
        "stable when systems join and when one task is reversed, but changes a lot when 10 % of the scores are missing "
        "(first 7 systems only). This sums up 3 of 9 studies. Not in it: Diversity (poor). 5 studies have no result "
        "for this rule."
    )
    unsaid = "Not in it: Diversity (poor)."
    assert board_sentence(verdicts, "Borda", 9, [], 0.9, n_pending=4).endswith(
        f" This sums up 3 of 9 studies. {unsaid} 4 studies are not computed yet. 1 study has no result for this rule."
    )
    assert board_sentence(verdicts, "Borda", 5, [], 0.9, n_pending=1).endswith(
        f" This sums up 3 of 5 studies. {unsaid} 1 study is not computed yet."
    )
    assert board_sentence({}, "Borda", 9, [], 0.95) == ""


@pytest.mark.parametrize(
    ("neighbours", "sentence"),
    [
        ({"n_pairs": 15, "n_separable": 0}, "No two neighbours differ significantly."),
        ({"n_pairs": 15, "n_separable": 4}, "4 of 15 pairs of neighbours differ significantly."),
        (
            {"n_pairs": 15, "n_separable": 0, "n_too_few_tasks": 15},
            "There are too few tasks to show that any neighbours differ significantly.",
        ),
    ],
)
def test_the_sentence_says_whether_neighbours_differ_and_names_every_condition(neighbours, sentence):
    conditions = ["when a", "when b", "when c", "when d", "when e"]
    verdicts = {condition: StudyGrade(GOOD, "", condition) for condition in conditions}
    summary = {"reason": "", "rules": {"borda": {"neighbours": neighbours}}}
    verdicts["Significance"] = verdict_of("significance", summary, "borda")
    verdicts["Cardinal sensitivity"] = verdict_of("cardinal_sensitivity", SUMMARIES["cardinal_sensitivity"], "borda")
    assert board_sentence(verdicts, "Borda", 7, [], 0.95) == (
        f"The order is stable when a, when b, when c, when d and when e. {sentence} This sums up 6 of 7 studies. "
        "Not in it: Cardinal sensitivity (good)."
    )


def test_without_studies_that_disturb_a_board_the_sentence_is_about_its_neighbours():
    verdicts = {"Significance": verdict_of("significance", SUMMARIES["significance"], "borda")}
    assert board_sentence(verdicts, "Borda", 9, [], 0.95, n_pending=8) == (
        "3 of 40 pairs of neighbours differ significantly. This sums up 1 of 9 studies. 8 studies are not computed yet."
    )


def test_an_interval_of_rank_1_alone_is_not_said_to_be_certain():
    row = IntervalRow("a", "A", 1, "1", "1 to 4", "", is_possibly_best=True)
    assert board_sentence({}, "Borda", 9, [row], 0.95) == (
        "A is first under Borda; if the tasks are drawn again, the 95 % interval of its rank is 1."
    )


@pytest.mark.django_db
def test_the_page_begins_with_a_line_for_each_study_that_leads_to_it(make, client):
    benchmark = make.published()
    page = compact(client.get(f"/b/{benchmark.key}/stability/"))
    overview = page.partition('id="studies-overview"')[2].partition("</section>")[0]
    assert re.findall(r'<th scope="row"><a href="#([a-z_]+)">', overview) == list(STUDIES)
    assert page.index('id="studies-overview"') < page.index('class="study"')
    assert ("that alone does not make it right" in page, "rely on it" in page) == (True, False)
    waiting = re.search(r'hx-select-oob="([^"]*)"', page)
    assert waiting is not None
    assert waiting[1].startswith("#studies-overview,")
