"""Two-step aggregation has no Condorcet winner: every page, answer and picture says so, and names nobody's.

On this board A beats everybody with the tasks' own weights, on three tasks of five, and B with balanced groups, on two
groups of three.
"""

import json
import re
import xml.etree.ElementTree as ET
from html import unescape
from importlib import import_module

import numpy as np
import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from leaderboard.boards.board import build_board
from leaderboard.boards.public.board import ANYBODY
from leaderboard.boards.public.cards import board_card
from leaderboard.boards.query import BoardQuery
from leaderboard.computing import rankings
from leaderboard.models import ListedBoard, Report
from leaderboard.rankings import compute
from leaderboard.rankings.listed_boards import store_missing_listed_boards
from leaderboard.rankings.published import published_board
from ranking_engine import Pairwise, condorcet_winner, smith_set
from tests.markup import compact

pytestmark = pytest.mark.django_db

SCORES = {"A": [3, 3, 3, 2, 2], "B": [2, 2, 2, 3, 3], "C": [1, 1, 1, 1, 1]}
GROUPS = "GGGHI"
NOBODY = "two-step aggregation has no Condorcet winner."
TABLE = "system,T1,T2,T3,T4,T5\nA,3,3,3,2,2\nB,2,2,2,3,3\nC,1,1,1,1,1\n"
ABOUT = "".join(f'[[task]]\nname = "T{t}"\ngroup = "{group}"\n' for t, group in enumerate(GROUPS, 1))


def grouped(make, aggregation):
    return make.published(
        SCORES,
        tasks=[TaskSpec(f"T{t}", group=group) for t, group in enumerate(GROUPS, 1)],
        groups=[GroupSpec(name) for name in "GHI"],
        aggregation=aggregation,
    )


def page_of(name, benchmark, query=""):
    return unescape(compact(Client().get(reverse(name, args=[benchmark.key]) + query)))


def answer_of(path):
    return json.loads(Client().get(path).content)


def headlines(benchmark, query=""):
    """Everything that says in a sentence who is elected, with `query` on what takes one."""
    audience = audience_of(ANYBODY, benchmark)
    query_of_board = BoardQuery(aggregation=query.removeprefix("?aggregation="))
    said = {
        "board": build_board(audience, query_of_board).sentence,
        "rankings": answer_of(f"/api/v1/benchmarks/{benchmark.key}/rankings/{query}")["verdict"],
        "board of the API": answer_of(f"/api/v1/benchmarks/{benchmark.key}/board/{query}")["verdict"],
    }
    if query:
        return said
    badge = ET.fromstring(Client().get(reverse("badge", args=[benchmark.key])).content)
    feed = Client().get(reverse("feed", args=[benchmark.key])).content.decode()
    return said | {
        "card": board_card(audience).card.verdict,
        "badge": " ".join(element.text for element in badge.iter() if element.text),
        "feed": " ".join(unescape(feed).split()),
    }


def winners_stated(benchmark, query=""):
    """Every figure of the name `condorcet_winner`."""
    winners = {
        "board": answer_of(f"/api/v1/benchmarks/{benchmark.key}/board/{query}")["condorcet_winner"],
        "download": answer_of(reverse("board_download", args=[benchmark.key, "json"]) + query)["condorcet_winner"],
    }
    if not query:
        winners["benchmark"] = answer_of(f"/api/v1/benchmarks/{benchmark.key}/")["condorcet_winner"]
        winners["list"] = ListedBoard.objects.get(publication=benchmark.publication).condorcet_winner or None
    return winners


@pytest.mark.parametrize(("aggregation", "winner"), [("basic", "A"), ("balanced", "B"), ("two_step", None)])
def test_every_figure_names_the_winner_under_the_aggregation_and_none_with_two_steps(make, aggregation, winner):
    benchmark = grouped(make, aggregation)
    assert set(winners_stated(benchmark).values()) == {winner}
    other = grouped(make, "basic" if aggregation != "basic" else "balanced")
    assert set(winners_stated(other, f"?aggregation={aggregation}").values()) == {winner}


def test_every_headline_says_that_two_steps_have_no_condorcet_winner(make):
    two_steps, basic = grouped(make, "two_step"), grouped(make, "basic")
    said = headlines(two_steps) | {f"asked for: {k}": v for k, v in headlines(basic, "?aggregation=two_step").items()}
    assert [name for name, text in said.items() if NOBODY not in text] == []
    assert [name for name, text in said.items() if "the Condorcet winner" in text] == []
    assert [name for name, text in headlines(basic).items() if NOBODY in text] == []
    for benchmark, query in ((two_steps, ""), (basic, "?aggregation=two_step")):
        board = page_of("board", benchmark, query)
        assert NOBODY in board
        assert "Smith set" not in board  # A's, with the tasks' own weights


def test_what_if_and_head_to_head_say_it_in_a_sentence(make):
    two_steps, basic = grouped(make, "two_step"), grouped(make, "basic")
    sentence = "Two-step aggregation ranks groups, so there is no Condorcet winner."
    for benchmark, query in (
        (two_steps, ""),
        (two_steps, "?weights=t1:2"),
        (basic, "?aggregation=two_step"),
    ):
        page = page_of("what_if", benchmark, query)
        assert sentence in page
        assert re.search(r"Condorcet winner: [AB]", page) is None
    assert "Condorcet winner: A." in page_of("what_if", two_steps, "?aggregation=basic")
    assert "Condorcet winner: B." in page_of("what_if", two_steps, "?aggregation=balanced")
    duel = page_of("head_to_head", two_steps)
    assert "Two-step aggregation ranks groups of tasks, so there is no Condorcet winner." in duel
    assert "The margins here count every task with its own weight." in duel
    assert "beats every other system" not in duel
    assert "A beats every other system head to head" in page_of("head_to_head", basic)


def test_a_table_on_trial_says_it_too(client):
    two_steps = unescape(compact(client.post("/try/", {"text": TABLE, "about": ABOUT, "aggregation": "two_step"})))
    assert NOBODY in two_steps
    assert "Two-step aggregation ranks groups of tasks, so there is no Condorcet winner." in two_steps
    balanced = unescape(compact(client.post("/try/", {"text": TABLE, "about": ABOUT, "aggregation": "balanced"})))
    assert "B beats every other system head to head" in balanced


def test_boards_that_were_published_with_the_winner_of_other_weights_no_longer_name_it(make, monkeypatch):
    def earlier_facts(matrix, _aggregation):
        pairwise = Pairwise.of(matrix)
        return condorcet_winner(pairwise), np.isin(np.arange(matrix.n_systems), smith_set(pairwise))

    with monkeypatch.context() as patch:
        patch.setattr(compute, "majority_facts", earlier_facts)
        benchmark = grouped(make, "two_step")
    assert published_board(benchmark.publication).in_smith_set.tolist() == [False] * 3
    assert set(winners_stated(benchmark).values()) == {None}
    assert [name for name, text in headlines(benchmark).items() if NOBODY not in text] == []


def test_no_majority_is_counted_for_two_steps(make):
    of_revision = compute.revision_matrix(grouped(make, "two_step").publication.revision)
    winner, members = rankings.majority_facts(of_revision.matrix, "two_step")
    assert (winner, members.tolist()) == (None, [False] * 3)
    winner, members = rankings.majority_facts(of_revision.matrix, "balanced")
    assert (winner, members.tolist()) == (1, [False, True, False])


def test_lists_do_not_repeat_the_winner_that_a_report_of_an_earlier_version_names(make):
    benchmark = grouped(make, "two_step")
    stored = Report.objects.get(revision=benchmark.publication.revision, kind="board")
    stored.summary = stored.summary | {"condorcet_winner": "A"}
    stored.save()
    ListedBoard.objects.all().delete()
    assert store_missing_listed_boards() == 1
    assert winners_stated(benchmark)["list"] is None
    ListedBoard.objects.update(condorcet_winner="A")
    import_module("leaderboard.migrations.0030_listed_condorcet_winners").forget_winners(apps, None)
    assert winners_stated(benchmark)["list"] is None
