"""How many queries it takes to tell people of a board."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.models import Notice
from leaderboard.rankings.notices import tell_of_publications

N_QUERIES = {"full": 25, "own": 29}  # of a sweep that tells of one board, by what the board shows
TWO = {"Low": [1.0, 1.0], "Mid": [2.0, 2.0]}


@pytest.mark.parametrize("hidden", ["full", "own"])
def test_people_are_told_by_as_many_queries_however_many_they_are(make, hidden):
    numbers = []
    for n_people in (1, 3):
        benchmark = make.published(TWO, name="Speech", score_view=hidden)
        make.member(benchmark, "member")
        users = [make.user() for _ in range(n_people)]
        for n, user in enumerate(users):
            make.accepted(benchmark, {f"Of user {n}": [3.0 + n, 3.0 + n]}, by=user)
        make.publish(benchmark)
        tell_of_publications()
        Notice.objects.all().delete()
        make.accepted(benchmark, {"First": [9.0, 9.0]}, by=make.user())
        make.publish(benchmark)
        with CaptureQueriesContext(connection) as queries:
            tell_of_publications()
        assert Notice.objects.filter(user__in=users, kind="overtaken").count() == n_people
        numbers.append(len(queries))
    assert numbers == [N_QUERIES[hidden]] * 2
