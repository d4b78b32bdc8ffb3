"""A benchmark with what a user is to it."""

from functools import cache

from django.db.models import OuterRef, Subquery

from leaderboard.access.waiting import n_waiting
from leaderboard.common.prepared import PreparedQuery
from leaderboard.models import Ban, Benchmark, Membership

# In the place of a key, which has no such letter, and of the number of an account, which is never negative.
_KEY, _USER = "\N{REPLACEMENT CHARACTER}", -1


def role_and_ban(user: int) -> tuple[Subquery, Subquery]:
    """Of a query of benchmarks: a user's role, and the reason of their ban; None where they have no such thing."""
    roles = Membership.objects.filter(benchmark=OuterRef("pk"), user=user).order_by().values("role")
    bans = Ban.objects.filter(benchmark=OuterRef("pk"), user=user).order_by().values("reason")
    return Subquery(roles[:1]), Subquery(bans[:1])


def benchmark_of(key: str, *, user: int | None, counts_queue: bool) -> Benchmark | None:
    """The benchmark of a key, with all that nearly every page looks at beside it; None where there is none.

    Args:
        key: of the benchmark.
        user: the account whose `viewer_role` and `viewer_ban` it says; None where no one has signed in.
        counts_queue: whether it says, as `n_undecided`, how many batches wait for a decision.
    """
    query = benchmark_query(of_user=user is not None, counts_queue=counts_queue)
    return query.first({_KEY: key, _USER: user})


@cache
def benchmark_query(*, of_user: bool, counts_queue: bool) -> PreparedQuery[Benchmark]:
    """The query of `benchmark_of`, compiled once for each of its forms: nearly every page asks it."""
    beside = ("publication__revision__configuration", "organisation", "evaluation_mode")
    rows = Benchmark.objects.select_related(*beside).filter(key=_KEY).order_by("pk")
    if counts_queue:
        rows = rows.annotate(n_undecided=n_waiting())
    if of_user:
        role, ban = role_and_ban(_USER)
        rows = rows.annotate(viewer_role=role, viewer_ban=ban)
    return PreparedQuery(lambda: rows[:1])
