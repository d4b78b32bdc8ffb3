"""The catalogue of rules and the chooser: computed examples, properties with witnesses, answers in the address."""

import re
from fractions import Fraction
from html import unescape

import numpy as np
import pytest

from leaderboard.boards.catalogue import RuleFilter, catalogue, rule_entry
from ranking_engine import RULES, ScoreMatrix, rank
from ranking_engine.axioms import PROPERTIES, entry, stored_witnesses, table, violates
from ranking_engine.axioms.table import convention_of, conventions
from ranking_engine.catalogue.choice import reads_orders
from reproduction.zhang.arrow import arrow_rules
from tests.browser import by_hand
from tests.markup import compact
from tests.reference import REPOSITORY

TOY = {"A": [4, 4, 1, 1, 1], "B": [3, 1, 4, 3, 3], "C": [2, 3, 2, 4, 2], "D": [1, 2, 3, 2, 4]}


def told_by_hand(rule: str) -> list[int] | None:
    """The ranks that the rule's page in `docs/rules` works out for the same table, where it prints them."""
    text = (REPOSITORY / "docs" / "rules" / f"{rule}.md").read_text(encoding="utf-8").partition("## The toy example")[2]
    example = re.search(rf'rank\((?:toy|scaled)[^,]*, "{rule}"[^\n]*\)\.ranks\.tolist\(\)\n\[([\d, -]+)\]', text)
    return [int(rank) for rank in example[1].split(",")] if example else None


def shown_ranks(page: str) -> dict[str, str]:
    """{system: rank} of the table of the result."""
    result = page.partition('aria-label="The result"')[2].partition("</table>")[0]
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', result, re.DOTALL)
    texts = {name: re.sub("<[^>]*>", "", cells.rpartition('<td class="number">')[2]) for name, cells in rows}
    return {name: "".join(re.findall(r"\d+", text)) for name, text in texts.items()}


@pytest.mark.parametrize("rule", RULES)
def test_the_page_of_a_rule_works_its_example_out_as_it_is_worked_out_by_hand(client, rule):
    page = compact(client.get(f"/rules/{rule}/"))
    ranks = shown_ranks(page)
    assert set(ranks) == set(TOY)
    by_page = told_by_hand(rule)
    if by_page:
        assert ranks == {name: str(rank) for name, rank in zip(TOY, by_page, strict=True)}
    if RULES[rule].name in by_hand.RULES:
        scores = by_hand.RULES[RULES[rule].name]({name: [Fraction(x) for x in row] for name, row in TOY.items()})
        assert ranks == {name: str(rank) for name, rank in by_hand.ranks(scores).items()}
    assert "1" in ranks.values()


def test_most_examples_were_held_against_what_was_worked_out_by_hand():
    assert sum(told_by_hand(rule) is not None for rule in RULES) >= 20


@pytest.mark.parametrize("rule", RULES)
def test_every_convention_shows_its_properties_and_a_board_for_each_that_fails(client, rule):
    for options in conventions(rule):
        name = convention_of(rule, options)
        convention = rule_entry(rule, name)
        assert convention.convention == name
        for line in convention.properties:
            witness = stored_witnesses().get((rule, name, line.property.key))
            assert line.holds is (witness is None)
            if witness is not None:
                assert violates(witness.board, witness.witness)
                assert len(line.board.rows) == witness.board.n_systems
    page = unescape(compact(client.get(f"/rules/{rule}/?convention={name}")))
    assert all(line.witness in page for line in convention.properties)
    assert page.count(">fails<") == sum(not line.holds for line in convention.properties)


def test_the_table_narrows_down_to_what_a_rule_must_have(client):
    assert [row.rule.key for row in catalogue(RuleFilter(family="consensus"))] == ["kemeny", "soft_condorcet"]
    wanted = ("condorcet_winner", "monotonicity")
    expected = [
        key for key, entries in table().items() if all(entries[name].holds for name in wanted)
        and not RULES[key].needs_complete
    ]  # fmt: skip
    keys = [row.rule.key for row in catalogue(RuleFilter(properties=wanted, gaps=True))]
    assert keys == expected != []
    page = compact(client.get("/rules/?has=condorcet_winner&has=monotonicity&gaps=1&has=nonsense"))
    assert re.findall(r'<th scope="row"><a href="/rules/(\w+)/">', page) == expected
    assert f"{len(expected)} of {len(RULES)} rules" in page
    assert "No rule has all of these" in compact(client.get("/rules/?has=clones&has=participation"))


def test_before_the_first_answer_no_rule_is_named_first(client):
    page = unescape(compact(client.get("/rules/choose/")))
    n_rules = sum(not rule.parameters for rule in RULES.values())
    assert f"{n_rules} rules to choose from" in page
    names = re.findall(
        r'<li><a href="/rules/\w+/">([^<]+)</a>', page.partition('class="rule-names"')[2].partition("</ul>")[0]
    )
    assert names == [rule.name for rule in RULES.values() if not rule.parameters]
    assert "We suggest" not in page
    assert " checked>" not in page
    assert 'id="all"' not in page
    assert "meets all that you ask" not in page
    assert "meets all that you ask" in unescape(compact(client.get("/rules/choose/?winner=condorcet")))
    undecided = unescape(compact(client.get("/rules/choose/?winner=any")))
    assert "Your answers exclude no rule so far." in undecided


def test_the_page_says_why_a_rule_that_theory_credits_lacks_it_here(client):
    page = unescape(compact(client.get("/rules/choose/?entrants=clones")))
    about = page.partition("Rules that you may have expected")[2].partition("</dl>")[0]
    assert re.findall(r"/rules/(\w+)/", about) == ["ranked_pairs", "instant_runoff"]
    assert "a clone gives equal strengths more orders; where none are equal it has it" in about
    losers = unescape(compact(client.get("/rules/choose/?winner=loser")))
    assert "It has it with ties average." in losers.partition("Rules that you may have expected")[2]
    excluded = page.partition("Rules that are excluded, and why")[2].partition("</dl>")[0]
    assert "lacks the property “Independence of clones”." in excluded


def test_the_answers_stand_in_the_address_and_lead_to_a_rule_with_reasons(client):
    answer = client.get("/rules/choose/?scores=orders&gaps=yes&winner=condorcet&entrants=")
    assert answer.headers["Location"] == "/rules/choose/?scores=orders&gaps=yes&winner=condorcet"
    page = unescape(compact(client.get(answer.headers["Location"])))
    assert "We suggest Schulze" in page
    assert "It has the property “Condorcet winner”." in page
    assert page.count(" checked>") == 3
    assert f"of all {len(PROPERTIES)} properties" in page
    borda = page.partition('<a href="/rules/borda/">Borda</a>:')[2]
    assert "lacks the property “Condorcet winner”" in borda.partition("</li>")[0]


def test_few_ties_are_asked_for_by_a_figure_that_says_how_it_was_counted(client):
    page = unescape(compact(client.get("/rules/choose/?scores=orders&ties=few")))
    assert "Counted on 200 random boards of 20 systems and 8 tasks of equal weight" in page
    assert (
        "96 % under Plurality, 94 % under Minimax, 33 % under Copeland, 15 % under Borda and 0 % under Dowdall" in page
    )
    assert "It ranks at most one system in five equal with another, on random boards." in page
    about = page.partition("If ties are a problem")[2].partition("</ul>")[0]
    assert "Dowdall</a>: meets all that you ask." in about
    lacks = "ranks more than one system in five equal with another, or not at all, on random boards."
    assert f"Minimax</a>: {lacks}" in about


def test_what_nothing_can_meet_is_said_so(client):
    page = unescape(compact(client.get("/rules/choose/?winner=condorcet&evidence=tasks")))
    assert "No rule meets everything that you ask." in page
    assert "We suggest" in page


def test_arrows_theorem_comes_with_the_numbers_of_our_enumeration(client):
    page = unescape(compact(client.get("/rules/")))
    section = page.partition('id="arrow"')[2].partition("</section>")[0]
    with_ties, strict = arrow_rules(2, with_ties=True), arrow_rules(3, with_ties=False)
    assert (with_ties, strict) == ((729, 2, 2), (262_144, 3, 3))
    assert "there are 729; 2 of them always give an order, and both follow one task" in section
    assert "there are 262,144; 3 always give an order, and each follows one task" in section
    assert set(re.findall(r'href="#property-(\w+)"', section)) == {
        "transitivity", "unanimity", "iia", "non_dictatorship",
    }  # fmt: skip
    four = ("transitivity", "unanimity", "iia", "non_dictatorship")
    on_orders = [rule.key for rule in RULES.values() if reads_orders(rule)]
    assert not [key for key in on_orders if all(entry(key, name).holds for name in four)]
    assert all(entry("mean", name).holds for name in four)


def test_some_rules_give_no_answer_to_some_complete_boards():
    """What Arrow's section says of the two means, Bradley-Terry and Plackett-Luce, and of no other rule that ranks."""
    below_zero, one_sided = ScoreMatrix([[-1, -2], [-3, -1]]), ScoreMatrix([[2, 2], [1, 1]])
    scale = {"minimum": [-5, -5], "maximum": [5, 5], "chance": [-5, -5], "gamma": 1.0}
    silent = {
        rule
        for rule in RULES
        for board in (below_zero, one_sided)
        if rank(ScoreMatrix(board.values, **scale), rule, **RULES[rule].example_options).status == "undefined"
    }
    assert silent == {"geometric_mean", "harmonic_mean", "bradley_terry", "plackett_luce"}


def test_where_lower_is_better_or_chance_is_best_three_rules_and_one_give_no_answer(client):
    """Every rule on complete boards of positive scores with all scales stated, as Arrow's section says."""
    random = np.random.default_rng(1)
    scales = {"minimum": [0, 0, 0], "maximum": [9, 9, 9], "chance": [1, 1, 1], "gamma": 5.0}
    lower, at_chance = scales | {"directions": [1, 1, -1]}, scales | {"chance": [1, 1, 9]}
    cases = {
        "plain": scales,
        "a task where lower is better": lower,
        "a task whose best score is chance": at_chance,
    }
    # Close scores in every order, so that every rule that can rank such a board does.
    boards = [np.array([[4, 5, 6], [5, 6, 4], [6, 4, 5]]) + random.integers(0, 2, size=(3, 3)) for _ in range(10)]
    silent = {
        case: {
            rule
            for rule in RULES
            for values in boards
            if rank(ScoreMatrix(values, **options), rule, **RULES[rule].example_options).status == "undefined"
        }
        - {"bradley_terry", "plackett_luce"}  # give none where no finite strengths fit
        for case, options in cases.items()
    }
    assert silent == {
        "plain": set(),
        "a task where lower is better": {"geometric_mean", "harmonic_mean", "optimality_gap"},
        "a task whose best score is chance": {"normalized_mean"},
    }
    page = " ".join(client.get("/rules/").content.decode().split())
    sentences = page.partition('id="universality">')[2].partition("</span>")[0]
    assert "the normalised mean none where the best score of a task is no better than chance" in sentences
    assert (
        "Where lower is better on a task, the geometric mean, the harmonic mean and the optimality gap give none."
        in sentences
    )


def test_there_is_no_page_for_what_is_no_rule(client):
    assert client.get("/rules/nonsense/").status_code == 404
    assert len(PROPERTIES) == 15


def test_the_rules_without_universality_are_those_that_leave_a_board_or_a_system_without_an_answer(client):
    """On boards of whole scores with both signs, and one on which a system is above all others on every task."""
    random = np.random.default_rng(0)
    boards = [random.integers(-3, 4, size=(4, 3)).astype(float) for _ in range(40)]
    boards.append(np.array([[3.0, 3.0, 3.0], [2.0, 2.0, 2.0], [1.0, 1.0, 1.0]]))
    keys = [key for key, rule in RULES.items() if not rule.parameters]
    silent = {
        RULES[key].name for key in keys for values in boards if rank(ScoreMatrix(values), key).n_ranked < len(values)
    }
    page = " ".join(client.get("/rules/").content.decode().split())
    sentence = page.partition('id="universality">')[2].partition("</span>")[0].lower()
    named = {"Condorcet", "Geometric mean", "Harmonic mean", "Bradley-Terry", "Plackett-Luce", "Normalised mean"}
    assert silent == named | {"Optimality gap"}
    words = ("condorcet", "the geometric and the harmonic mean", "bradley-terry and plackett-luce", "normalised mean")
    assert [word for word in words if word not in sentence] == []
