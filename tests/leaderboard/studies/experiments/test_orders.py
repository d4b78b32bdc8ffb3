"""Experiments that put the systems in another order: the closest to the tasks, and one with reserved places."""

import json
import re

import pytest
from django.urls import reverse

from leaderboard.accounts.tokens import create_token
from leaderboard.models import ApiToken, Experiment
from leaderboard.studies.findings import findings
from leaderboard.studies.study_findings import StudyNames
from tests.leaderboard.studies.experiments.test_pages import address, text_of
from tests.leaderboard.studies.experiments.waiting import run_experiments

SCORES = {name: [float(6 - place)] * 2 for place, name in enumerate("ABCDEF")}


def test_places_are_reserved_by_the_form_and_the_page_names_who_enters_and_who_leaves(make, client):
    board = make.published(SCORES)
    keys = dict(board.systems.values_list("name", "key"))
    client.force_login(make.user())
    sent = {"systems": f"{keys['E']}, {keys['F']}", "places": "2", "least": "1", "rule": "mean"}
    answer = client.post(address(board), {"study": "reserved_places", "missing": "drop_systems", "seed": "0", **sent})
    run_experiments()
    page = text_of(client.get(answer["Location"]))
    assert (
        "By Mean, the 2 named systems have 0 of the first 2 places. For at least 1, 3 pairs of systems must change "
        "order, and no order within these bounds changes fewer." in page
    )
    assert re.search(r"Systems that enter or leave the first 2 places: E\W+B\b", page)
    assert "E: rank 5 before, 2 after" in page


ALREADY = (
    "The ranking by Mean already gives the 1 named system at least 1 of the first 2 places, however ties are broken: 1."
)
IF_BROKEN_SO = (
    "The ranking by Mean gives the 1 named system at least 1 of the first 2 places if ties are broken so: it gives 0 "
    "to 1, depending on how ties are broken. No pair of systems must change order."
)
REVERSED = (
    "By Mean, the 2 named systems have 0 to 1 of the first 2 places, depending on how ties are broken. For at least 2, "
    "3 pairs of systems must change order"
)


@pytest.mark.parametrize(
    ("systems", "least", "sentence"), [("A", 1, ALREADY), ("C", 1, IF_BROKEN_SO), ("CD", 2, REVERSED)]
)
def test_the_page_says_what_ties_leave_open(make, client, systems, least, sentence):
    board = make.published({"A": [3.0, 3.0], "B": [2.0, 2.0], "C": [2.0, 2.0], "D": [1.0, 1.0]})
    keys = dict(board.systems.values_list("name", "key"))
    wanted = {"systems": [keys[name] for name in systems], "places": 2, "least": least, "rule": "mean"}
    experiment = make.experiment(board, "reserved_places", by=make.user(), **wanted)
    assert sentence in text_of(client.get(reverse("experiment", args=[board.key, experiment.pk])))


def test_experiments_that_were_stored_with_one_number_before_are_still_shown():
    stored = {
        "rule": "mean", "places": 2, "least": 1, "most": None, "all_along": False, "n_systems": 6, "n_group": 2,
        "first_before": 0, "first_after": 1, "reversed_pairs": 0, "discordant_share": 0.0, "max_rank_change": 0.0,
        "moved_up": [], "moved_down": [],
    }  # fmt: skip
    sentences = findings("reserved_places", stored, "mean", StudyNames())
    assert [row.cells[0].text for row in sentences.rows][:2] == ["0", "1"]


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"systems": ["nobody"]}, "`systems` names 'nobody'; there is no such system"),
        ({"systems": ["x"] * 501}, "`systems` has 501 values; at most 500 are taken"),
        ({"systems": ["x" * 201]}, "expected a value like"),
        ({"systems": [], "places": 0}, "`places` is 0; expected a whole number from 1 to 100,000"),
        ({}, "no systems are named"),
    ],
)
def test_wrong_systems_and_places_are_refused_by_the_api(make, client, parameters, reason):
    board = make.published(SCORES)
    _, secret = create_token(make.user(), name="t", scopes=list(ApiToken.Scope.values), days=30)
    answer = client.post(
        f"/api/v1/benchmarks/{board.key}/experiments/",
        json.dumps({"study": "reserved_places", "parameters": parameters}),
        content_type="application/json",
        headers={"Authorization": f"Token {secret}"},
    )
    assert answer.status_code == 400, answer.content
    assert reason in answer.content.decode()
    assert not Experiment.objects.exists()


def test_the_page_of_the_best_ranking_compares_every_rule_with_the_closest_order(make, client):
    board = make.published({"A": [3.0, 1.0, 3.0], "B": [2.0, 3.0, 2.0], "C": [1.0, 2.0, 1.0]})
    experiment = make.experiment(
        board, "best_ranking", by=make.user(), rules=["plurality", "veto"], measure="footrule", rule="plurality"
    )
    page = text_of(client.get(reverse("experiment", args=[board.key, experiment.pk])))
    # A B C twice and B C A once: 4 of at most 4 places off once, and none twice
    assert "By the footrule, the tasks are 33.3 % of the largest distance away from the closest order" in page
    assert "Closest order" in page
    assert "Plurality" in page
    assert "The first 3 under Plurality, before and after" in page


def test_what_is_not_proven_is_not_called_the_closest_order():
    best = {"kendall": {"distance": 0.2, "proven": False, "reason": ""}}
    summary = {"measure": "kendall", "rule": "borda", "best": best, "rules": {"borda": {"kendall": 0.25}}}
    sentences = findings("best_ranking", summary, "borda", StudyNames())
    assert "20 % of the largest distance away from the closest order that was found" in sentences.sentence
    assert "Nothing closer was found by Kendall’s distance, which is no proof." in sentences.note
    sentences = findings("best_ranking", {**summary, "rules": {"borda": {"kendall": None}}}, "borda", StudyNames())
    assert sentences.sentence == (
        "By Kendall’s distance, the tasks are 20 % of the largest distance away from the closest order that was found, "
        "on average; the ranking by Borda has no distance, because it does not rank all systems."
    )
    unknown = {"kendall": {"distance": None, "proven": False, "reason": "too many systems"}}
    sentences = findings("best_ranking", {**summary, "best": unknown}, "borda", StudyNames())
    assert sentences.sentence == "By Kendall’s distance, no closest order is known: too many systems."
    assert sentences.rows[0].cells[0].text == "–"
