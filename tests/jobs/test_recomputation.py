"""An upgrade of the engine: every board is computed again, and nobody who submits meanwhile waits for that."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db.models import Count
from django.utils import timezone

from leaderboard.models import Benchmark, Heartbeat, Job, Publication
from leaderboard.queue import jobs
from leaderboard.queue.wake_ups import RUN_JOB
from ranking_engine import __version__ as engine_version
from tests.jobs.engine_versions import OLDER, boards_of_older_version, of_version
from tests.jobs.submitter import Submitter
from tests.jobs.test_kills import pointer_watched
from tests.running_site import RunningSite

pytestmark = pytest.mark.services

N_BOARDS = 150  # more than one sweep inserts jobs of
N_COMPUTED = 60
OFTEN = "tests.jobs.disturbed.often"


def n_messages(site: RunningSite, queue: str) -> int:
    """Wake-ups that lie in a queue, of whatever engine version."""
    if settings.REDIS_URL:
        import redis

        with redis.Redis.from_url(settings.REDIS_URL) as client:
            return sum(client.llen(name) for name in client.scan_iter(match=f"{queue}*"))
    return len(list((site.folder / "broker" / "messages").glob(f"*.{queue}*.msg")))


def recomputed():
    """The boards of this engine version at the number that the older one had published."""
    return Publication.objects.filter(engine_version=engine_version, revision__number=1)


def test_a_submission_during_an_upgrade_gets_its_board_before_what_is_left_of_the_recomputation(make_committed, site):
    """Takes about half a minute: six processes start, two of them of an older version, and 60 boards are computed."""
    site.environment["PLURANK_LEASE_SECONDS"] = "60"  # nobody is killed, and a busy machine must not look like it
    board = boards_of_older_version(make_committed, N_COMPUTED)
    with of_version(site, OLDER):
        site.start("rankings2", "sweep2")
        old = Submitter(site, board)
        site.running["old submitter"] = site.running.pop("submitter")
    site.start("rankings")
    site.start("sweep", through=OFTEN)
    new, most_messages = Submitter(site, board), 0
    with pointer_watched(board) as seen:
        site.wait_until(lambda: recomputed().count() >= 5, 60, "the first boards are computed again")
        assert new.accept({"Newcomer 2": [5.0] * 5})["number"] == 2
        n_before = recomputed().count()
        assert n_before < N_COMPUTED - 20, "the test came too late"
        published = Publication.objects.filter(revision__benchmark=board, revision__number=2).order_by("pk")
        first = site.wait_until(published.first, 60, "the submission has its board")
        n_between = recomputed().filter(pk__lt=first.pk).count() - n_before
        assert n_between <= 3, "one was under way, and one may have begun just before the acceptance committed"
        assert old.accept({"Newcomer 3": [6.0] * 5})["number"] == 3

        def is_done() -> bool:
            nonlocal most_messages
            most_messages = max(most_messages, n_messages(site, "rankings"))
            return not Benchmark.objects.exclude(published_engine_version=engine_version).exists()

        site.wait_until(is_done, 120, "every board is computed again")
    assert most_messages <= jobs.WAKE_UPS_UNHURRIED + 2
    assert (board_pointer(board), seen) == ((3, engine_version), sorted(seen))
    again = Publication.objects.values("revision", "engine_version").annotate(n=Count("pk")).filter(n__gt=1)
    assert list(again) == []
    done = Job.objects.filter(kind="rankings", state="done")
    assert set(done.values_list("attempts", "error")) == {(1, "")}
    names = done.filter(engine_version=engine_version).values_list("worker", flat=True)
    assert {int(name.rpartition(":")[2]) for name in names} <= set(site.processes("rankings"))


def board_pointer(board: Benchmark) -> tuple[int, str]:
    return Benchmark.objects.values_list("published_number", "published_engine_version").get(pk=board.pk)


def test_a_worker_of_another_version_leaves_what_it_cannot_run_to_others(make_committed, site):
    """Takes about ten seconds: three processes start one after the other."""
    boards_of_older_version(make_committed, 3)
    site.start("sweep")
    rankings = Job.objects.filter(kind="rankings")
    site.wait_until(lambda: rankings.filter(state="waiting").count() == 3, 30, "the jobs are inserted")
    with of_version(site, OLDER):
        site.start("rankings2")
        site.send(RUN_JOB, rankings.first().pk, queue="rankings")
    log = site.folder / "rankings2.log"
    site.wait_until(lambda: f"job {rankings.first().pk}: nothing to do" in log.read_text(), 30, "the older one looked")
    assert set(rankings.values_list("state", "attempts")) == {("waiting", 0)}
    site.start("rankings")
    site.wait_until(lambda: recomputed().count() == 3, 30, "the newer one computed all three")
    assert set(rankings.values_list("state", "attempts", "engine_version")) == {("done", 1, engine_version)}
    assert log.read_text().count("nothing to do") == 1


def test_wake_ups_for_a_recomputation_do_not_pile_up_without_a_worker(make_committed, site):
    """Takes about ten seconds: a sweep starts, goes on after another was killed, and has 150 boards to wake for."""
    boards_of_older_version(make_committed, N_BOARDS)
    site.start("sweep2")
    site.wait_until(Job.objects.exists, 30, "the first slice is inserted")
    site.kill("sweep2")
    site.start("sweep", through=OFTEN)
    rankings = Job.objects.filter(kind="rankings")
    site.wait_until(lambda: rankings.count() == N_BOARDS, 30, "a job of every board is inserted")
    for queue in ("rankings", "studies"):
        site.wait_until(lambda q=queue: n_messages(site, q) == jobs.WAKE_UPS_UNHURRIED, 30, "wake-ups are sent")
    site.wait_until(Heartbeat.objects.exists, 30, "the first sweep is through")
    woken = set(Job.objects.exclude(woken_at=None).values_list("pk", "woken_at"))
    # For two sweeps after those that were woken would be woken again.
    later = timezone.now() + timedelta(seconds=jobs.REWAKE_SECONDS + 3)
    site.wait_until(Heartbeat.objects.filter(seen_at__gt=later).exists, 30, "the sweep goes on")
    assert (n_messages(site, "rankings"), n_messages(site, "studies")) == (jobs.WAKE_UPS_UNHURRIED,) * 2
    assert set(Job.objects.exclude(woken_at=None).values_list("pk", "woken_at")) == woken
    assert Job.objects.values("kind", "subject_id").annotate(n=Count("pk")).filter(n__gt=1).count() == 0
