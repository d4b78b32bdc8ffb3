"""Votes in a running site: a worker of its own rates them, and the board follows, also where a worker is killed."""

from leaderboard.models import Benchmark, Job, VoteReport
from leaderboard.queue.kinds import VOTES
from tests.leaderboard.votes.sent import collecting, sent, vote_lines


def published_number(benchmark: Benchmark) -> int:
    """The revision that readers see."""
    return int(Benchmark.objects.get(pk=benchmark.pk).published_number)


def test_votes_become_a_board_in_other_processes_also_those_that_a_killed_worker_had(site, make_committed):
    benchmark = collecting(make_committed)
    batch = sent(benchmark, vote_lines(240, seed=1))
    # As a worker leaves it that was killed in the middle: running, with a lease that ends soon.
    Job.objects.filter(kind=VOTES).update(
        state="running", claim_token=batch.uuid, worker="killed", lease_until=batch.created_at,
        deadline=batch.created_at, attempts=1,
    )  # fmt: skip
    site.start("rankings", "studies", "sweep")
    site.wait_until(lambda: published_number(benchmark) >= 1, 30, "a board of the votes is published")
    assert VoteReport.objects.get().n_votes == 240
    sent(benchmark, vote_lines(240, seed=2))
    site.wait_until(lambda: published_number(benchmark) >= 2, 30, "a board of all the votes is published")
    assert list(VoteReport.objects.order_by("change").values_list("n_votes", flat=True)) == [240, 480]
