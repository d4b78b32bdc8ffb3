"""The chooser: what it recommends follows from the properties and the catalogue, for every combination of answers."""

import itertools

import numpy as np
import pytest

from ranking_engine import RULES, ScoreMatrix, rank
from ranking_engine.axioms import PROPERTIES, table
from ranking_engine.catalogue.choice import CREDITED, QUESTIONS, choose_rule, reads_orders, survives_units
from ranking_engine.catalogue.tied_shares import tied_share

# What each answer asks for, said once more: a property, or something that the catalogue knows.
ASKED = {
    ("winner", "majority"): "majority",
    ("winner", "condorcet"): "condorcet_winner",
    ("winner", "loser"): "condorcet_loser",
    ("entrants", "all"): "iia",
    ("entrants", "neighbours"): "local_iia",
    ("entrants", "clones"): "clones",
    ("evidence", "better"): "monotonicity",
    ("evidence", "tasks"): "participation",
    ("evidence", "unanimous"): "unanimity",
}
ENTRIES = table()
PAIRS = {"relative_difference"}


def expected_first(answers: dict[str, str]) -> str:
    """Every rule by itself: requirements met, then properties, then speed, then the catalogue's order."""

    def merit(key: str) -> tuple[int, int, bool, int]:
        rule = RULES[key]
        is_cardinal = rule.family == "cardinal" or key in PAIRS
        met = int(ENTRIES[key]["transitivity"].holds)
        met += answers["scores"] == "orders" and not is_cardinal
        met += answers["scores"] == "scales" and (not is_cardinal or key == "normalized_mean")
        met += answers["gaps"] == "yes" and not rule.needs_complete
        met += answers["ties"] == "some" and tied_share(key) < 1 / 2
        met += answers["ties"] == "few" and tied_share(key) <= 1 / 5
        met += sum(ENTRIES[key][ASKED[item]].holds for item in answers.items() if item in ASKED)
        n_properties = sum(ENTRIES[key][name].holds for name in PROPERTIES)
        return met, n_properties, not rule.is_slow, -list(RULES).index(key)

    return max((key for key, rule in RULES.items() if not rule.parameters), key=merit)


def test_every_combination_of_answers_leads_to_the_rule_that_meets_most():
    keys = [question.key for question in QUESTIONS]
    combinations = list(itertools.product(*[[answer.key for answer in question.answers] for question in QUESTIONS]))
    assert len(keys) == 6
    assert len(combinations) == 1152
    for combination in combinations:
        answers = dict(zip(keys, combination, strict=True))
        assert choose_rule(answers).candidates[0].rule.key == expected_first(answers), answers


def test_what_nobody_answers_and_what_is_no_answer_asks_for_an_order_alone():
    for given in ({}, {"winner": "nobody at all", "colour": "red"}):
        choice = choose_rule(given)
        assert [need.key for need in choice.requirements] == ["transitivity"]
        assert choice.is_met
    assert choose_rule({"entrants": "clones"}).candidates[0].rule.key == "schulze"
    assert not choose_rule({"entrants": "clones", "evidence": "tasks"}).is_met  # no rule has both


def test_a_rule_that_lacks_something_tells_under_which_convention_it_would_not():
    candidates = {candidate.rule.key: candidate for candidate in choose_rule({"winner": "loser"}).candidates}
    assert dict(candidates["borda"].remedies) == {"condorcet_loser": "ties average"}
    assert dict(candidates["mean"].remedies) == {}


def test_every_rule_that_theory_credits_either_has_the_property_or_says_why_not():
    for key, credited in CREDITED.items():
        (answers,) = [{question: answer} for (question, answer), name in ASKED.items() if name == key]
        departures = choose_rule(answers).departures
        lacking = [(rule, source) for rule, source in credited if not ENTRIES[rule][key].holds]
        assert [(departure.rule.key, departure.source) for departure in departures] == lacking
        assert [departure.why for departure in departures] == [ENTRIES[rule][key].source for rule, _ in lacking]
        assert all(departure.why for departure in departures)


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_who_reads_orders_alone_stays_when_scores_are_stretched(rule):
    """Powers keep every task's order and change every distance; some board then moves whoever reads distances."""
    generator = np.random.default_rng(5)
    moved = False
    for _ in range(15):
        values = generator.integers(1, 30, (5, 4)).astype(float)
        powers = np.array([1, 2, 1, 3])
        scales = [(0, 40.0**power) for power in powers]
        moved = moved or differs(rule.key, values, values**powers, [(0, 40)] * 4, scales)
    assert moved is not reads_orders(rule)


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_who_survives_units_stays_when_a_task_and_its_scale_are_told_in_another_one(rule):
    generator = np.random.default_rng(6)
    moved = False
    for _ in range(15):
        values = generator.integers(1, 30, (5, 4)).astype(float)
        factor, shift = np.array([1, 10, 3, 1]), np.array([0, 5, 0, 20])
        scales = [(0, 40), (5, 405), (0, 120), (20, 60)]
        moved = moved or differs(rule.key, values, values * factor + shift, [(0, 40)] * 4, scales)
    assert moved is not survives_units(rule)


def differs(rule: str, values: np.ndarray, others: np.ndarray, scales: list, other_scales: list) -> bool:
    """Whether a rule ranks two tables differently, each with what its tasks run from and to."""
    ranks = []
    for table_of, scale in ((values, scales), (others, other_scales)):
        least, most = zip(*scale, strict=True)
        matrix = ScoreMatrix(table_of, minimum=list(least), maximum=list(most), chance=list(least), gamma=20)
        ranks.append(rank(matrix, rule, **RULES[rule].example_options).ranks.tolist())
    return ranks[0] != ranks[1]
