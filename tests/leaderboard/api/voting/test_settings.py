"""How votes are rated, changed by programs: what the page of votes lets an owner choose."""

import pytest

from leaderboard.models import AuditEntry, Benchmark, Job, VoteSettings
from leaderboard.queue.kinds import VOTES
from tests.factories import owner_of
from tests.leaderboard.api.conftest import error_of
from tests.leaderboard.votes.sent import collecting, rate, sent, vote_lines

USUAL = {
    "tie_model": "half_wins", "cluster": "vote", "n_resamples": 0, "covariates": [], "shows_elo": False,
    "exports_voters": False,
}  # fmt: skip
OTHERS = {
    "tie_model": "davidson", "cluster": "voter", "n_resamples": 100, "covariates": ["length", "lists"],
    "shows_elo": True, "exports_voters": True,
}  # fmt: skip


def chosen_of(benchmark):
    return VoteSettings.objects.values(*USUAL).get(benchmark=benchmark)


def patch(api, benchmark, body, query=""):
    return api.as_user(owner_of(benchmark)).patch(f"benchmarks/{benchmark.key}/votes/settings/", body, query=query)


def test_an_owner_changes_any_of_them_and_what_is_left_out_stays(make, api):
    benchmark = collecting(make)
    assert patch(api, benchmark, {}).json() == USUAL | {"n_changed": 0}
    assert patch(api, benchmark, {"tie_model": "davidson"}).json() == USUAL | {"tie_model": "davidson", "n_changed": 1}
    assert patch(api, benchmark, OTHERS | {"reason": "As agreed."}).json() == OTHERS | {"n_changed": 5}
    assert chosen_of(benchmark) == OTHERS
    assert AuditEntry.objects.filter(benchmark=benchmark, reason="As agreed.").count() == 5


def test_ratings_follow_a_change_and_not_a_dry_run(make, api):
    benchmark = collecting(make)
    sent(benchmark, vote_lines(120))
    rate(benchmark)
    n_jobs = Job.objects.filter(kind=VOTES).count()
    answer = patch(api, benchmark, {"cluster": "voter"}, "dry_run=true")
    assert (answer.json()["cluster"], chosen_of(benchmark)["cluster"]) == ("voter", "vote")
    assert patch(api, benchmark, {"exports_voters": True}).status_code == 200  # no rating depends on it
    assert Job.objects.filter(kind=VOTES).count() == n_jobs
    assert patch(api, benchmark, {"cluster": "voter"}).status_code == 200
    assert Job.objects.filter(kind=VOTES, state="waiting").count() == 1
    assert Job.objects.filter(kind=VOTES).count() == n_jobs + 1


@pytest.mark.parametrize(
    ("body", "place", "message"),
    [
        ({"tie_model": "elo"}, "tie_model", "expected one of"),
        ({"cluster": 3}, "cluster", "expected one of vote, voter, prompt"),
        ({"n_resamples": 99}, "n_resamples", "Write 0, or a number from 100 to 500."),
        ({"n_resamples": 501}, "n_resamples", "Write 0, or a number from 100 to 500."),
        ({"n_resamples": 10**30}, "n_resamples", "expected a whole number"),
        ({"covariates": ["a", "A"]}, "covariates", "Name each covariate once"),
        ({"covariates": [f"c{k}" for k in range(1_000)]}, "covariates", ""),
        ({"covariates": ["x" * 10_000]}, "covariates", ""),
        ({"shows_elo": "yes"}, "shows_elo", "expected true or false"),
        ({"voter_key": "x"}, "voter_key", ""),
        ({"collects_votes": False}, "collects_votes", "A benchmark cannot stop collecting votes."),
    ],
)
def test_what_cannot_be_chosen_is_refused_with_its_place_and_nothing_changes(make, api, body, place, message):
    benchmark = collecting(make)
    error = error_of(patch(api, benchmark, body | {"reason": "Why."}))
    assert error["status"] == 400
    assert error["details"][0]["place"].startswith(place)
    assert message in str(error)
    assert chosen_of(benchmark) == USUAL


def test_a_benchmark_starts_to_collect_votes_where_nothing_was_submitted(make, api):
    benchmark = make.benchmark({}, n_tasks=1)
    error = error_of(patch(api, benchmark, {"tie_model": "davidson"}))
    assert "This benchmark collects scores; `collects_votes` changes that." in error["message"]
    answer = patch(api, benchmark, {"collects_votes": True, "tie_model": "davidson"})
    assert (answer.status_code, answer.json()["tie_model"]) == (200, "davidson")
    assert Benchmark.objects.get().kind == "votes"
    assert patch(api, benchmark, {"collects_votes": True}).json()["n_changed"] == 0
    with_scores = make.published()
    error = error_of(patch(api, with_scores, {"collects_votes": True}))
    assert "This benchmark has submissions of scores." in error["message"]
