"""The rows of the page What if: their order, and who moves most, against all of them made and sorted."""

import pytest

from leaderboard.explore import what_if
from leaderboard.explore.what_if import MAX_MOVERS, WhatIfQuery, what_if_board
from leaderboard.rankings.published import published_board
from leaderboard.rankings.weights import Weights
from ranking_engine.core.synthetic import random_matrix

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("rule", ["borda", "mean", "copeland"])
@pytest.mark.parametrize("page", [1, 2, 5])
def test_a_page_of_a_large_board_has_its_part_of_all_rows(make, monkeypatch, rule, page):
    matrix = random_matrix(12, 4, seed=3, n_levels=4, missing=0.2)
    scores = {f"S{i}": [None if value != value else value for value in row] for i, row in enumerate(matrix.values)}
    publication = make.published(scores).publication
    query = WhatIfQuery(weights=Weights(tasks={"task-1": "5"}), rule=rule, page=page)
    whole = what_if_board(publication, WhatIfQuery(weights=query.weights, rule=rule), rule, "everyone")
    own = next(column for column in published_board(publication).columns if column.rule == rule).ranks.tolist()
    now = whole.column.ranks.tolist()
    by_rank = sorted(range(12), key=lambda i: (now[i] < 1, now[i], i))
    changes = {i: own[i] - now[i] if own[i] >= 1 and now[i] >= 1 else 0 for i in range(12)}
    texts = ["–" if rank < 1 else f"={rank}" if now.count(rank) > 1 else str(rank) for rank in now]
    assert [(row.index, row.text, row.change) for row in whole.rows] == [(i, texts[i], changes[i]) for i in by_rank]
    most = sorted((i for i in range(12) if changes[i]), key=lambda i: (-abs(changes[i]), i))
    assert [row.index for row in whole.movers] == most[:MAX_MOVERS]
    monkeypatch.setattr(what_if, "LIVE_SYSTEMS", 11)
    monkeypatch.setattr(what_if, "PAGE_ROWS", 5)
    cut = what_if_board(publication, query, rule, "everyone")
    first = 5 * (min(page, 3) - 1)
    assert (cut.n_pages, cut.rows, cut.movers) == (3, whole.rows[first : first + 5], whole.movers)
