"""Leaving a team at the moment at which predictions are submitted for it."""

from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.evaluation.teams import (
    accept_team_invitation,
    find_team_invitation,
    found_team,
    invite_by_link,
    leave_team,
    team_of,
)
from tests.concurrency import at_once
from tests.leaderboard.evaluation.made import hidden_benchmark, upload


def test_who_leaves_while_the_team_submits_is_outside_or_bound(make_committed):
    benchmark, ada, bob = hidden_benchmark(make_committed), make_committed.user(), make_committed.user()
    owls = found_team(benchmark, ada, f"Owls {ada.pk}")
    accept_team_invitation(find_team_invitation(invite_by_link(owls, ada)), bob)
    submitted, left = at_once([
        lambda: submit_predictions(benchmark, bob, upload("First"))[0].team_id,
        lambda: leave_team(owls, bob),
    ])  # fmt: skip
    # Either the team submitted and Bob is in it, or he left before and submitted for himself.
    if team_of(bob, benchmark) == owls:
        assert (submitted, type(left)) == (owls.pk, EvaluationError)
    else:
        assert (submitted, left) == (None, None)
