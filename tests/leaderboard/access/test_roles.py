"""A benchmark as every page reads it: with the reader's role, their ban and what waits."""

from pathlib import Path

import pytest

import leaderboard
from leaderboard.access.roles import benchmark_of
from leaderboard.models import Ban


def test_it_says_what_a_user_is_to_it_and_each_user_something_else(make):
    benchmark = make.published(submission_policy="moderated")
    owner, member, banned = benchmark.memberships.get(role="owner").user, make.member(benchmark, "member"), make.user()
    Ban.objects.create(benchmark=benchmark, user=banned, reason="Copied.", author=owner)
    make.pending(benchmark, {"E": [1.0] * 5}, by=member)
    for _ in range(2):
        for user, role, ban in [(owner, "owner", None), (member, "member", None), (banned, None, "Copied.")]:
            row = benchmark_of(benchmark.key, user=user.pk, counts_queue=True)
            assert (row, row.viewer_role, row.viewer_ban, row.n_undecided) == (benchmark, role, ban, 1)
            row = benchmark_of(benchmark.key, user=user.pk, counts_queue=False)
            assert (row, row.viewer_role, row.viewer_ban) == (benchmark, role, ban)


@pytest.mark.parametrize("counts_queue", [True, False])
def test_who_has_not_signed_in_has_neither_and_an_unknown_key_no_benchmark(make, counts_queue):
    benchmark = make.published()
    row = benchmark_of(benchmark.key, user=None, counts_queue=counts_queue)
    assert (row, hasattr(row, "viewer_role"), hasattr(row, "viewer_ban")) == (benchmark, False, False)
    assert row.publication.revision.configuration_id == benchmark.publication.revision.configuration_id
    assert benchmark_of("no-such-benchmark", user=None, counts_queue=counts_queue) is None


def test_every_lock_of_a_benchmark_is_taken_where_roles_are_looked_up_again():
    package = Path(leaderboard.__file__).parent
    locking = [path for path in package.rglob("*.py") if "Benchmark.objects.select_for_update" in path.read_text()]
    assert locking == [package / "access/locks.py"]
