"""Taking the next revision number. Everything that changes a benchmark's inputs goes through here."""

from django.db import transaction
from django.db.models import F

from leaderboard.models import Benchmark, Revision, User
from leaderboard.services.configuration import store_configuration
from leaderboard.services.job_kinds import insert_revision_jobs
from leaderboard.services.webhooks import announce_revision


def next_revision(benchmark: Benchmark, *, cause: str, author: User | None, note: str = "") -> Revision:
    """Take the benchmark's next number and store its revision with the jobs that compute it.

    The UPDATE locks the benchmark's row until the transaction ends, so that revisions of one benchmark commit in the
    order of their numbers; the configuration is read after it, so that no change slips in between. The caller
    inserts what the revision consists of in the same transaction.

    Raises:
        RuntimeError: no transaction is open.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("a revision is taken inside the transaction that writes its contents")
    Benchmark.objects.filter(pk=benchmark.pk).update(last_revision_number=F("last_revision_number") + 1)
    benchmark.refresh_from_db()
    revision = Revision.objects.create(
        benchmark=benchmark,
        number=benchmark.last_revision_number,
        cause=cause,
        configuration=store_configuration(benchmark),
        author=author,
        note=note,
    )
    insert_revision_jobs(revision)
    announce_revision(revision)
    return revision
