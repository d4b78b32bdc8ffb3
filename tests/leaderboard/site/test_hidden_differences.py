"""Two benchmarks that differ in nothing but what is hidden answer alike, to the byte: every route, headers and all.

The second benchmark is the first one with other hidden scores or names, stored and computed anew in its place, so that
numbers of rows, addresses and dates are the same.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from django.core.cache import cache
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from jobs.runner import SERVICES
from leaderboard.boards.public import cards
from leaderboard.common.append_only import append_only_permit
from leaderboard.common.cache import BoundedCache
from leaderboard.models import Job, Report, Revision, Score, System, SystemChange
from leaderboard.queue.kinds import RANKINGS, STUDY_PLAN
from leaderboard.rankings import published
from leaderboard.rankings.compute import ranking_reports
from tests.factories import Factory
from tests.leaderboard.site.test_hidden import HIDING, Hidden

# What differs between two answers to the same request.
OF_ONE_REQUEST = [
    re.compile(rb'name="csrfmiddlewaretoken" value="\w+"'),
    re.compile(rb'"X-CSRFToken": "\w+"'),
    re.compile(rb'name="csrf-token" content="\w+"'),
    re.compile(rb"\d+\xc2\xa0(minute|hour)s?"),  # Django's own clock goes on
]
Answer = tuple[int, dict[str, str], bytes]
HEADERS_OF_ONE_REQUEST = {"X-Request-ID", "Expires", "Content-Length"}  # the last follows the body


@pytest.fixture(scope="module")
def worlds(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        make = Factory()
        yield {hiding: Hidden(make, hiding) for hiding in HIDING}
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def clock_that_stopped(worlds, monkeypatch):
    """Pages say how long ago things were: here no time passes between two answers."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)


# What shows a new secret each time, when the answers before it were asked for, and how the machine is.
OF_THEIR_MOMENT = ("/account/second-factor/totp/activate/", "/account/tokens/", "/healthz/", "/readyz/")


def answers(world: Hidden, kind: str, paths: Sequence[str] = ()) -> dict[str, Answer]:
    """Status, headers and body of these addresses, or of every one; what reading them stores is not kept.

    A visit to a board is stored, and the export of one's own data lists it.
    """
    if kind not in world.tokens:
        world.tokens[kind] = world.token(kind)
    with transaction.atomic():
        given = read(world, kind, paths)
        transaction.set_rollback(True)
    return given


def read(world: Hidden, kind: str, paths: Sequence[str]) -> dict[str, Answer]:
    cache.clear()
    client, token = world.client(kind), world.tokens[kind]
    answer_of = {}
    for path in paths or world.paths():
        if path in OF_THEIR_MOMENT:
            continue
        answer = client.get(path, **(token if path.startswith("/api/") else {}))
        headers = {name: value for name, value in answer.headers.items() if name not in HEADERS_OF_ONE_REQUEST}
        if "RateLimit" in headers:  # how many requests are left, but not for how many seconds
            headers["RateLimit"] = re.sub(r";t=\d+", "", headers["RateLimit"])
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        for pattern in OF_ONE_REQUEST:
            body = pattern.sub(b"", body)
        answer_of[path] = (answer.status_code, headers, body)
    return answer_of


def first_difference(before: Answer, after: Answer) -> tuple[object, object]:
    """What of two answers differs first, for whoever reads that a test failed."""
    if before[:2] != after[:2]:
        one, other = ({"status": status} | headers for status, headers, _ in (before, after))
        return set(one.items()) - set(other.items()), set(other.items()) - set(one.items())
    at = next((i for i, (one, other) in enumerate(zip(before[2], after[2], strict=False)) if one != other), 0)
    return before[2][max(0, at - 80) : at + 120], after[2][max(0, at - 80) : at + 120]


@contextmanager
def other_secrets(world: Hidden, *, names: bool, monkeypatch) -> Iterator[None]:
    """The world with other hidden scores, or with the hidden names changed about; as it was afterwards."""
    zebrafish, axolotl = world.benchmark.systems.filter(name__in=["Zebrafish", "Axolotl"]).order_by("-key")
    with transaction.atomic():
        with append_only_permit("a test"):
            if names:
                exchange_names(zebrafish, axolotl)
            else:
                change_scores(world, zebrafish, axolotl)
            compute_again(world)
        with monkeypatch.context() as patched:
            patched.setattr(published, "_boards", BoundedCache(published.BOARD_CACHE_BYTES))
            patched.setattr(cards, "_cards", BoundedCache(cards.CARD_CACHE_BYTES))
            yield
        transaction.set_rollback(True)


def exchange_names(one: System, other: System) -> None:
    """Key and name of two systems, from the beginning."""
    System.objects.filter(pk=one.pk).update(key="for-now", name_folded="for-now")
    System.objects.filter(pk=other.pk).update(key=one.key, name=one.name, name_folded=one.name_folded)
    System.objects.filter(pk=one.pk).update(key=other.key, name=other.name, name_folded=other.name_folded)
    SystemChange.objects.filter(system=one).update(name=other.name)
    SystemChange.objects.filter(system=other).update(name=one.name)


def change_scores(world: Hidden, zebrafish: System, axolotl: System) -> None:
    """Where ranks are seen the scores change so little that ranks do not; else the two exchange their scores."""
    rows = Score.objects.filter(submission__system__in=[zebrafish, axolotl], submission__state="accepted")
    if world.benchmark.score_view != "own":
        rows.update(value=F("value") + 0.0123)
        return
    first, second = (rows.filter(submission__system=system).order_by("task") for system in (zebrafish, axolotl))
    for one, other in zip(list(first), list(second), strict=True):
        Score.objects.filter(pk=one.pk).update(value=other.value)
        Score.objects.filter(pk=other.pk).update(value=one.value)


def compute_again(world: Hidden) -> None:
    """Everything that was computed of the benchmark, from the scores as they are now; the dates stay."""
    revisions = list(Revision.objects.filter(benchmark=world.benchmark).select_related("configuration"))
    for revision in revisions:
        before = {
            (row.kind, row.parameter_hash): row for row in Report.objects.filter(revision=revision).defer("arrays")
        }
        jobs = list(Job.objects.filter(subject_kind="revision", subject_id=revision.pk, state="done").order_by("pk"))
        again = [job for job in jobs if job.kind in SERVICES and job.kind not in {RANKINGS, STUDY_PLAN}]
        Report.objects.filter(revision=revision).delete()
        if any(job.kind == RANKINGS for job in jobs):
            reports, digest = ranking_reports(revision)
            assert digest != revision.input_hash
            Report.objects.bulk_create(reports)
            Revision.objects.filter(pk=revision.pk).update(input_hash=digest)
        for job in again:
            SERVICES[job.kind](job, lambda progress: None)()
        for row in Report.objects.filter(revision=revision).defer("arrays"):
            old = before[row.kind, row.parameter_hash]
            Report.objects.filter(pk=row.pk).update(created_at=old.created_at, seconds=old.seconds)


@pytest.mark.parametrize(
    ("hiding", "names", "kind"),
    [
        ("ranks", False, "anonymous"),
        ("ranks", False, "submitter"),
        ("own", False, "anonymous"),
        ("own", False, "submitter"),
        ("anonymous", False, "submitter"),
        ("anonymous", True, "anonymous"),
        ("anonymous", True, "submitter"),
        ("anonymous", True, "proposer"),
    ],
)
def test_no_answer_depends_on_what_is_hidden(worlds, monkeypatch, hiding, names, kind):
    world = worlds[hiding]
    before = answers(world, kind)
    with other_secrets(world, names=names, monkeypatch=monkeypatch):
        after = answers(world, kind)
    assert len(before) > 100
    differences = {path: first_difference(before[path], after[path]) for path in before if before[path] != after[path]}
    assert differences == {}


def test_an_owner_sees_the_difference(worlds, monkeypatch):
    """The change that nobody else may notice is one."""
    for hiding, names in [("own", False), ("anonymous", True)]:
        world = worlds[hiding]
        scores = f"/api/v1/benchmarks/{world.benchmark.key}/scores/"
        release = f"/b/{world.benchmark.key}/releases/frozen/"
        assert {scores, release} <= set(world.paths())
        before = answers(world, "owner", [scores, release])
        with other_secrets(world, names=names, monkeypatch=monkeypatch):
            after = answers(world, "owner", [scores, release])
        differ = {path for path in before if before[path] != after[path]}
        assert scores in differ
        assert names or release in differ
