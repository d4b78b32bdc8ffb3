"""The board of a benchmark that collects votes, before its first revision."""

import pytest
from django.urls import reverse

from leaderboard.models import Job
from tests.factories import owner_of
from tests.leaderboard.votes.sent import collecting, rate, sent, vote_lines
from tests.markup import compact
from tests.signing_in import signed_in

POLL = 'hx-get="" hx-trigger="every 3s" hx-select="#content"'


def test_an_empty_board_speaks_of_votes_where_scores_come_from_votes(make):
    benchmark = collecting(make)
    owner = signed_in(owner_of(benchmark))
    board, scores = (compact(owner.get(reverse(name, args=[benchmark.key]))) for name in ("board", "scores"))
    assert "The board appears as soon as the first votes are accepted and rated." in board
    assert '<a href="/docs/votes/">How votes are rated</a>' in board
    assert "Submit one system with a form" not in board
    assert "as soon as the first votes are accepted and rated." in scores


@pytest.mark.parametrize("state", ["waiting", "running"])
def test_while_the_first_ratings_are_computed_every_page_says_so_and_follows(make, client, state):
    benchmark = collecting(make)
    sent(benchmark, vote_lines(60))
    Job.objects.filter(benchmark=benchmark, kind="votes").update(state=state)
    board, scores, votes = (compact(client.get(f"/b/{benchmark.key}/{end}")) for end in ("", "scores/", "votes/"))
    assert "The first board is being computed." in board
    assert POLL in board
    assert "Nothing to rank yet" not in board
    assert "The first board is being computed." in scores
    assert POLL in votes
    assert "This page shows them as soon as they are ready." in votes
    assert "Load the page again" not in votes


def test_once_they_are_rated_the_board_waits_for_its_ranks(make, client):
    benchmark = collecting(make)
    sent(benchmark, vote_lines(60))
    rate(benchmark)
    assert "The first board is being computed." in compact(client.get(f"/b/{benchmark.key}/scores/"))
    make.publish(benchmark)
    assert "being computed" not in compact(client.get(f"/b/{benchmark.key}/"))
