"""Ranks among the systems that a filter leaves, against the engine on those systems alone."""

import json
from copy import deepcopy

import numpy as np
import pytest
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.boards.board import build_board
from leaderboard.boards.query import BoardQuery
from leaderboard.models import System
from leaderboard.rankings.published import UnknownChoiceError
from ranking_engine import ScoreMatrix, rank
from tests.factories import TOY, owner_of

# Under Borda A is before B with all four, and behind it without C and D.
FIELDS = [{"key": "kind", "name": "Kind", "kind": "choice", "choices": ["model", "human"]}]
SCORES = TOY | {"E": [0.0, None, 2.0, 5.0, 1.0]}
MODELS = ("A", "B", "E")


@pytest.fixture(scope="module")
def made_once(make_once):
    benchmark = make_once.published(SCORES, metadata_fields=FIELDS, missing_policy="median")
    System.objects.filter(benchmark=benchmark, name__in=MODELS).update(metadata={"kind": "model"})
    return benchmark


@pytest.fixture
def benchmark(made_once, make):
    return deepcopy(made_once)


def board_of(benchmark, viewer=None, **query):
    query = {"meta": (("kind", "model"),), "ranks": "filtered"} | query
    return build_board(audience_of(viewer or owner_of(benchmark), benchmark), BoardQuery(**query))


def engine_ranks(rule, names=MODELS, **options):
    values = [[np.nan if score is None else score for score in SCORES[name]] for name in names]
    ranking = rank(ScoreMatrix(np.array(values), system_names=list(names)), rule, missing="median", **options)
    return dict(zip(names, ranking.ranks.tolist(), strict=True))


@pytest.mark.parametrize("rule", ["borda", "mean", "copeland", "minimax", "plurality", "win_rate", "average_rank"])
def test_the_rules_rank_the_systems_shown_as_if_there_were_no_others(benchmark, rule):
    board = board_of(benchmark)
    ranks = {row.name: cell.rank for row in board.rows for column, cell in zip(board.visible, row.cells, strict=True)
             if column.rule == rule}  # fmt: skip
    assert ranks == engine_ranks(rule)
    assert (board.n_shown, board.n_on_board, board.published.facts["n_missing"]) == (3, 5, 1)


def test_each_row_says_its_place_among_all(benchmark):
    whole = engine_ranks(benchmark.default_rule, names=tuple(SCORES))
    assert {row.name: row.among_text for row in board_of(benchmark).rows} == {
        name: f"{whole[name]} of 5 among all" for name in MODELS
    }


def test_systems_without_a_rank_are_no_rivals(make):
    """The geometric mean leaves out E, which has a score of 0."""
    complete = SCORES | {"E": [0.0, 1.0, 2.0, 5.0, 1.0]}
    benchmark = make.published(complete, metadata_fields=FIELDS)
    System.objects.filter(benchmark=benchmark, name__in=MODELS).update(metadata={"kind": "model"})
    values = np.array(list(complete.values()))
    whole = rank(ScoreMatrix(values, system_names=list(complete)), "geometric_mean")
    places = dict(zip(complete, whole.ranks.tolist(), strict=True))
    assert (whole.n_ranked, places["E"]) == (4, -1)
    board = board_of(benchmark, reference="geometric_mean")
    assert {row.name: row.among_text for row in board.rows} == {
        "A": f"{places['A']} of 4 among all",
        "B": f"{places['B']} of 4 among all",
        "E": "",
    }


def test_what_is_pinned_is_shown_and_ranked_with_the_others(benchmark):
    board = board_of(benchmark, pins=("c",))
    ranks = {row.name: row.place for row in board.rows}
    assert ranks == engine_ranks(benchmark.default_rule, names=("A", "B", "C", "E"))


def test_the_first_k_are_chosen_by_their_rank_among_all(benchmark):
    first = [name for name, place in engine_ranks("borda", names=tuple(SCORES)).items() if place <= 2]
    board = board_of(benchmark, meta=(), top=2, reference="borda")
    assert sorted(row.name for row in board.rows) == sorted(first)


@pytest.mark.parametrize("query", [{"meta": ()}, {"q": "nothing is called so"}])
def test_without_a_filter_or_a_system_left_ranks_are_among_all(benchmark, query):
    board = board_of(benchmark, **query)
    assert (board.n_on_board, len(board.columns[0].ranks)) == (0, 5)


def test_the_page_says_which_ranks_these_are_and_has_the_way_back(benchmark, client):
    path = reverse("board", args=[benchmark.key])
    plain = client.get(path, {"meta.kind": "model"}).content.decode()
    assert "3 of 5 systems; ranks are among all 5" in plain
    assert f'href="{path}?meta.kind=model&amp;ranks=filtered"' in plain
    filtered = client.get(path, {"meta.kind": "model", "ranks": "filtered"}).content.decode()
    assert "3 of 5 systems; ranks are among these 3 alone" in filtered
    assert f'href="{path}?meta.kind=model"' in filtered
    assert client.get(path, {"ranks": "x" * 5000}).status_code == 400


def test_files_and_the_api_have_the_same_ranks(benchmark, client):
    query = {"meta.kind": "model", "ranks": "filtered"}
    answer = client.get(f"/api/v1/benchmarks/{benchmark.key}/board/", query).json()
    assert answer["n_ranked_among"] == 3
    assert {row["name"]: row["ranks"]["borda"] for row in answer["systems"]} == engine_ranks("borda")
    table = client.get(reverse("board_download", args=[benchmark.key, "json"]), query).getvalue()
    assert {row["name"]: row["ranks"]["borda"] for row in json.loads(table)["systems"]} == engine_ranks("borda")
    ranks = client.get(f"/b/{benchmark.key}/exports/ranks.json", query | {"rule": "borda"}).getvalue()
    assert {row["name"]: row["rank"] for row in json.loads(ranks)["rows"]} == engine_ranks("borda")
    assert client.get(f"/api/v1/benchmarks/{benchmark.key}/board/", {"ranks": "some"}).status_code == 400


def test_another_policy_counts_in_both(benchmark):
    board = board_of(benchmark, policy="worst")
    values = np.array([[np.nan if score is None else score for score in SCORES[name]] for name in MODELS])
    expected = rank(ScoreMatrix(values, system_names=list(MODELS)), "mean", missing="worst").ranks.tolist()
    column = next(column for column in board.columns if column.rule == "mean")
    assert column.ranks.tolist() == expected


@pytest.mark.parametrize("hides", [{"score_view": "ranks"}, {"score_view": "own"}])
def test_where_scores_are_hidden_no_one_has_them_ranked_again(make, hides):
    benchmark = make.published(SCORES, **hides)
    with pytest.raises(UnknownChoiceError, match="Scores are hidden on this board"):
        board_of(benchmark, make.user(), meta=(), q="a")
    assert board_of(benchmark, meta=(), q="a").n_on_board == 5


def test_a_board_too_large_for_an_answer_on_demand_says_so(benchmark, client, settings):
    settings.ON_DEMAND_BUDGET = 1
    answer = client.get(reverse("board", args=[benchmark.key]), {"meta.kind": "model", "ranks": "filtered"})
    assert answer.status_code == 422
