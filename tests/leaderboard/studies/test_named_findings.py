"""What the stability page calls systems and tasks: by their names, each system with its page, never by keys.

Tasks weigh 1/13, 4/13 and 8/13 in the worst case below. The figures are made up; the page tells what is stored.
"""

import re
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Benchmark, Report
from leaderboard.studies import page
from leaderboard.studies.findings import findings
from leaderboard.studies.study_findings import StudyNames
from ranking_engine import ScoreMatrix, rank
from ranking_engine.stability.separability.significance import significance
from tests.markup import compact

SYSTEMS = {"sys-a": "ELECTRA (large), news & CLS", "sys-b": "ÄRGER 2", "sys-c": "Cleo"}
TASKS = {"t1": "Reading, aloud", "t2": "Coreference", "t3": "Word sense"}
NAMES = StudyNames(SYSTEMS, TASKS, lambda key: f"/b/board/systems/{key}/")
HALF = {"lower": 0.5, "upper": 1.0, "proven": False}
WEIGHTS = {"t1": 0.125, "t2": 0.5, "t3": 1.0}
TWO = "Reading, aloud and 40 % on Coreference"
FIVE = "x0, 14.3 % on x1, 14.3 % on x2, 14.3 % on x3 and 14.3 % on x4"
SUMMARIES = {
    "system_additions": {
        "rules": {
            "borda": {"n_newcomers": 4, "any_change": 2, "reversals": 1, "most_disruptive": {"sys-c": 1, "sys-a": 2}},
            "mean": {"n_newcomers": 4, "any_change": 0, "reversals": 0, "most_disruptive": {}},
        },
        "n_orders": 5,
    },
    "task_subsets": {
        "rules": {
            "borda": {
                "mean": [0.4, 0.5, 1.0], "deviation": [0.0, 0.0, 0.0], "best": [0.9, 1.0], "smallest": 2,
                "smallest_tasks": ["t3", "t1"], "smallest_is_proven": True,
            },
        },
        "n_repeats": 5,
    },
    "cardinal_sensitivity": {
        "feasible": {
            "scaled": {
                "reason": "", "n_systems": 3, "n_pairs": 3, "tau_b_distance": {"lower": 0.5, "weights": WEIGHTS},
                "discordant_share": HALF | {"weights": WEIGHTS}, "max_rank_change": HALF | {"weights": WEIGHTS},
            },
        },
    },
    "ordinal_sensitivity": {
        "reason": "", "top": ["sys-a"], "n_others": 2, "n_pairs": 1, "tau_b_distance": {"lower": 0.5, "added": []},
        "discordant_share": HALF | {"added": ["sys-c", "sys-b"]}, "max_rank_change": HALF | {"added": []},
    },
}  # fmt: skip


def findings_of(study, names=NAMES, **changes):
    return findings(study, SUMMARIES[study] | changes, "borda", names)


def test_the_most_disruptive_system_has_its_name_and_leads_to_its_page():
    cells = {row.key: row.cells[-1] for row in findings_of("system_additions").rows}
    assert (cells["borda"].text, cells["borda"].url) == ("ELECTRA (large), news & CLS", "/b/board/systems/sys-a/")
    assert (cells["mean"].text, cells["mean"].url) == ("", "")


def test_the_smallest_subset_of_tasks_has_their_names():
    assert "Word sense and Reading, aloud alone give the ranking of Borda" in findings_of("task_subsets").sentence


def test_the_systems_of_the_worst_case_are_named_and_from_the_eleventh_on_counted():
    study_findings = findings_of("ordinal_sensitivity")
    assert study_findings.sentence.endswith("The most that were reached reverse if 2 of the others join the first.")
    assert [(link.text, link.url) for link in study_findings.systems.links] == [
        ("Cleo", "/b/board/systems/sys-c/"), ("ÄRGER 2", "/b/board/systems/sys-b/"),
    ]  # fmt: skip
    assert study_findings.systems.n_more == 0
    many = StudyNames({f"k{i}": f"System {i:02}" for i in range(13)}, {}, lambda key: f"/{key}/")
    study_findings = findings_of(
        "ordinal_sensitivity", many, discordant_share=HALF | {"added": [f"k{i}" for i in range(13)]}
    )
    assert [link.text for link in study_findings.systems.links] == [f"System {i:02}" for i in range(10)]
    assert study_findings.systems.n_more == 3


def test_where_nearly_all_of_the_others_join_those_are_named_that_do_not():
    names = StudyNames({f"k{i}": f"System {i}" for i in range(6)}, {}, lambda key: f"/{key}/")
    most = {"top": ["k0", "k1"], "n_others": 4, "discordant_share": HALF | {"added": ["k2", "k3", "k5"]}}
    study_findings = findings_of("ordinal_sensitivity", names, **most)
    assert study_findings.sentence.endswith("The most that were reached reverse if 3 of the others join the first.")
    assert (study_findings.systems.intro, [link.text for link in study_findings.systems.links]) == (
        "All others join except:",
        ["System 4"],
    )
    # a system that the study left out is not one of the others, and who stays out is not known for certain
    study_findings = findings_of("ordinal_sensitivity", names, **most | {"n_others": 3})
    assert (study_findings.systems.intro, len(study_findings.systems.links)) == ("Systems that join:", 3)


def test_a_top_that_is_no_fifth_is_said():
    note = "the first fifth of 7 systems has no pair: the first 2 are studied"
    sentence = findings_of("ordinal_sensitivity", note=note).note
    assert sentence.startswith("The first fifth of 7 systems has no pair: the first 2 are studied. A lower bound is ")
    assert findings_of("ordinal_sensitivity").note.startswith("A lower bound is reached")


def test_both_readings_of_a_system_drawn_twice_are_side_by_side():
    means = {"winner_rank": 0.9, "condorcet": 1.0, "generalization": 0.5, "judge_stability": 0.8}
    once, often = {"candidate_stability": 0.7}, {"candidate_stability_copies": 0.6}
    criteria = {name: {"mean": mean} for name, mean in (means | once | often).items()}
    summary = {"rules": {"win_rate": criteria}, "n_trials": 20, "baselines": {"dictator": criteria}}
    both = findings("judge_bootstrap", summary, "win_rate")
    assert both.headers[-2:] == ["Resampled systems, each once", "Resampled systems, as often as drawn"]
    assert [[cell.text for cell in row.cells[-2:]] for row in both.rows] == [["0.700", "0.600"]] * 2
    assert both.sentence.endswith(
        " Two rankings from resampled systems agree at 0.70 if a system that is drawn twice takes part once, and at "
        "0.60 if it takes part twice."
    )
    assert "as in the paper, so that rules that count rivals feel its copies." in both.note
    assert "agree at about 0.5 even if systems differ by chance alone." in both.note
    one = {name: entry for name, entry in criteria.items() if name not in often}
    earlier = findings("judge_bootstrap", {"rules": {"win_rate": one}, "n_trials": 20}, "win_rate")
    assert earlier.headers == both.headers[:-1]
    assert "drawn twice" not in earlier.sentence + earlier.note


@pytest.mark.parametrize("earlier", [{}, {"winner_rank": 1, "condorcet": 1}], ids=["now", "an earlier report"])
def test_tasks_needed_has_numbers_of_tasks_where_more_help_and_says_what_drawing_cannot(earlier):
    rule = {name: [0.5, 0.95] for name in ("winner_rank", "condorcet", "generalization", "judge_stability")}
    rule["reached"] = earlier | {"generalization": None, "judge_stability": 40}
    summary = {"rules": {"borda": rule}, "sizes": [10, 40], "n_tasks": 10, "n_resamples": 60, "target": 0.9}
    needed = findings("tasks_needed", summary, "borda")
    assert needed.headers == ["Unseen tasks: number of tasks", "Resampled tasks: number of tasks"]
    assert [cell.text for cell in needed.rows[0].cells] == ["not reached", "40"]
    assert needed.sentence.endswith("40 tasks are enough. Rankings from new tasks agree less, and need more of them.")
    assert (
        "from as many tasks as the board has agree at about 0.5, and two rankings from new tasks do not" in needed.note
    )
    kendall = findings("tasks_needed", summary | {"correlation": "kendall"}, "borda")
    assert "agree at about 0.35, and" in kendall.note


@pytest.mark.parametrize(("added", "text"), [([], "none of the others joins"), (["sys-b"], "1 of the others joins")])
def test_no_system_or_one_is_told_in_grammar(added, text):
    study_findings = findings_of("ordinal_sensitivity", discordant_share=HALF | {"added": added})
    assert study_findings.sentence.endswith(f"The most that were reached reverse if {text} the first.")
    assert (study_findings.systems is None) is (not added)


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        (WEIGHTS, "61.5 % of the weight on Word sense; the other 2 tasks share 38.5 %"),
        ({"t1": 1.0, "t2": 1.0, "t3": 0.5}, f"40 % of the weight on {TWO}; the other task has 20 %"),
        (dict.fromkeys(TASKS, 1.0), "equal weights"),
        ({f"x{i}": float(i < 7) for i in range(8)}, f"14.3 % of the weight on {FIVE}; the other 3 tasks share 28.6 %"),
    ],
)  # fmt: skip
def test_the_weights_of_the_worst_case_are_told_in_words(weights, text):
    feasible = SUMMARIES["cardinal_sensitivity"]["feasible"]["scaled"] | {
        "discordant_share": HALF | {"weights": weights}
    }
    study_findings = findings_of("cardinal_sensitivity", feasible={"scaled": feasible})
    assert study_findings.sentence.endswith(f"The most that were reached reverse with {text}.")
    proven = feasible | {"discordant_share": feasible["discordant_share"] | {"upper": 0.5, "proven": True}}
    study_findings = findings_of("cardinal_sensitivity", feasible={"scaled": proven})
    assert study_findings.sentence.endswith(f"Most pairs reverse with {text}.")


def test_the_critical_difference_diagram_has_names():
    scores = [[4.0 * i + (7 * t + 3 * i) % 5 for t in range(12)] for i in range(3)]
    matrix = ScoreMatrix(scores, system_names=list(SYSTEMS))
    summary = significance(matrix, rank(matrix, "borda")).summary()
    study_findings = findings("significance", {"reason": "", **summary, "rules": {"borda": summary}}, "borda", NAMES)
    assert sorted(dot.name for dot in study_findings.diagram.dots) == sorted(SYSTEMS.values())


@pytest.fixture
def studied(make, monkeypatch):
    """A board with those names, whose studies found what is above."""
    names = list(SYSTEMS.values())
    benchmark = make.published(
        {name: [3.0 - i, 2.0, 1.0 + i] for i, name in enumerate(names)},
        tasks=[TaskSpec(name, key=key) for key, name in TASKS.items()],
    )
    keys = dict(benchmark.systems.values_list("name", "key"))

    def by_its_key(value):
        if isinstance(value, dict):
            return {by_its_key(key): by_its_key(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [by_its_key(entry) for entry in value]
        return keys[SYSTEMS[value]] if value in SYSTEMS else value

    reports = {
        study: Report(summary=by_its_key(summary), parameters={"seed": 0}) for study, summary in SUMMARIES.items()
    }
    monkeypatch.setattr(page, "study_reports", lambda publication: reports)
    return benchmark


def test_the_page_has_names_with_links_and_no_key(studied):
    text = compact(Client().get(f"/b/{studied.key}/stability/"))
    keys = dict(studied.systems.values_list("name", "key"))
    linked = dict(re.findall(rf'<a href="/b/{studied.key}/systems/([^"/]*)/">([^<]*)</a>', text))
    assert {key: unescape(name) for key, name in linked.items()} == {key: name for name, key in keys.items()}
    without_links = unescape(re.sub(r'href="[^"]*"', "", text))
    assert [key for key in keys.values() if key in without_links and key not in SYSTEMS.values()] == []
    assert "Systems that join: " in without_links
    assert "61.5 % of the weight on Word sense" in without_links


@pytest.mark.parametrize("hiding", [{"score_view": "own"}, {"score_view": "ranks"}, {"anonymous_until": True}])
def test_who_may_not_see_names_or_scores_sees_no_finding(studied, hiding):
    fields = {name: timezone.now() + timezone.timedelta(days=1) if v is True else v for name, v in hiding.items()}
    Benchmark.objects.filter(pk=studied.pk).update(**fields)
    answer = Client().get(f"/b/{studied.key}/stability/")
    assert answer.status_code == 403
    assert [name for name in SYSTEMS.values() if name in unescape(answer.content.decode())] == []


@pytest.mark.parametrize(
    ("resamples", "clause"),
    [
        ({}, ""),
        ({"n_resamples": 100, "of_resamples": 100}, ""),
        ({"n_resamples": 2, "of_resamples": 100}, ", and 2 of the 100 resamples of each round"),
    ],
)
def test_a_slow_rule_says_how_many_repeats_and_resamples_it_ranked(resamples, clause):
    entry = {"n_repeats": 100, "of": 10_000, "n_tables": 140, "proven": 0.9996, **resamples}
    assert page.slow_rule_texts({"kemeny": entry}) == [
        f"Kemeny ranked 100 of 10,000 repeats{clause}; its order is proven to be the best for 99.9 % of 140 tables.",
        "Where a sentence compares the rules, those that ranked fewer repeats are left out.",
    ]


@pytest.mark.parametrize(
    ("n_repeats", "marked", "ending", "repeats"),
    [
        (5, "borda", "; never under Mean.", ["", ""]),
        (2, "borda", ".", ["", "2 of 5 repeats"]),
        (2, "mean", "; the most of all rules is 50 %, under Borda; never under Mean.", ["", "2 of 5 repeats"]),
    ],
)
def test_a_rule_of_few_repeats_says_so_and_is_not_compared(n_repeats, marked, ending, repeats):
    slow_rules = {"mean": {"n_repeats": n_repeats, "of": 5, "n_tables": None, "proven": None}}
    rules = dict(reversed(SUMMARIES["system_additions"]["rules"].items()))
    summary = {**SUMMARIES["system_additions"], "rules": rules, "slow_rules": slow_rules}
    result = findings("system_additions", summary, marked, NAMES)
    assert result.sentence.endswith(f"reverse two of them{ending}")
    assert {row.name: row.repeats for row in result.rows} == dict(zip(["Borda", "Mean"], repeats, strict=True))


def test_reasons_of_rules_that_are_left_out_name_tasks_as_pages_do():
    why = "tasks t1, t3 and 2 more have no stated chance level or best score"
    assert page.left_out({"normalized_mean": why, "condorcet": "no"}, TASKS) == [
        ("tasks Reading, aloud, Word sense and 2 more have no stated chance level or best score", ["Normalised mean"]),
        ("no", ["Condorcet"]),
    ]
