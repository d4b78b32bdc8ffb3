"""What owners hide is on no page and in no answer: scores, ranks of others, names. Every route is asked.

Two benchmarks that differ in nothing but what is hidden answer alike, to the byte, headers and all. The second
benchmark is the first one with other hidden scores and names, stored and computed anew in its place, so that numbers of
rows, addresses and dates are the same.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from django.core.cache import cache
from django.db import transaction
from django.db.models import F
from django.http import HttpResponse
from django.urls import reverse
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
from tests.leaderboard.site.hiding import HIDING, Hidden, people_of_every_kind

FIGURES = ["71.31", "62.11", "12.73", "93.17"]
TIME_OF_DAY = re.compile(r"\d\d:\d\d:\d\d\.\d+")  # its seconds can be one of the figures by chance
WAY_BACK = re.compile(r'"/account/(?:login|signup)/\?next=[^"]*"')
# The proposer is a stranger with a submission that waits; staff see what everyone sees (`permissions/table.txt`).
RESTRICTED = ["anonymous", "member", "submitter", "proposer"]

# What differs between two answers to the same request.
OF_ONE_REQUEST = [
    re.compile(rb'name="csrfmiddlewaretoken" value="\w+"'),
    re.compile(rb'"X-CSRFToken": "\w+"'),
    re.compile(rb'name="csrf-token" content="\w+"'),
    re.compile(rb"\d+\xc2\xa0(minute|hour)s?"),  # Django's own clock goes on
]
READERS_ASKED_TWICE = {
    "ranks": ["anonymous", "submitter"],
    "own": ["anonymous", "submitter"],
    "anonymous": ["anonymous", "submitter", "proposer"],
}
Answer = tuple[int, dict[str, str], bytes]
HEADERS_OF_ONE_REQUEST = {"X-Request-ID", "Expires", "Content-Length"}  # the last follows the body


# What shows a new secret each time, when the answers before it were asked for, and how the machine is.
OF_THEIR_MOMENT = ("/account/second-factor/totp/activate/", "/account/tokens/", "/healthz/", "/readyz/")


class Reading:
    """A benchmark for each way of hiding, and what each kind of reader is told; nothing is asked twice."""

    def __init__(self, make: Factory) -> None:
        people = people_of_every_kind(make)
        self.worlds = {hiding: Hidden(make, hiding, people) for hiding in HIDING}
        self._tokens = {kind: self.worlds["ranks"].token(kind) for kind in ("anonymous", *people)}
        self._common = set.intersection(*(set(world.paths()) for world in self.worlds.values()))
        self._answers: dict[tuple[str, str], dict[str, Answer]] = {}

    def answers(self, hiding: str, kind: str) -> dict[str, Answer]:
        """What every address says. Those that are about no benchmark are asked once for all of them."""
        for key, paths in [("", self._common), (hiding, set(self.worlds[hiding].paths()) - self._common)]:
            if (key, kind) not in self._answers:
                self._answers[key, kind] = self.ask(kind, paths)
        return self._answers["", kind] | self._answers[hiding, kind]

    def answers_now(self, hiding: str, kind: str) -> dict[str, Answer]:
        """The same of now, in the same order."""
        return self.ask(kind, self._common) | self.ask(kind, set(self.worlds[hiding].paths()) - self._common)

    def ask(self, kind: str, paths: Iterable[str]) -> dict[str, Answer]:
        """Status, headers and body of these addresses; what reading them stores is not kept.

        A visit to a board is stored, and the export of one's own data lists it.
        """
        cache.clear()
        with transaction.atomic():
            client, token = self.worlds["ranks"].client(kind), self._tokens[kind]
            given = {
                path: answer_of(client.get(path, **(token if path.startswith("/api/") else {})))
                for path in sorted(paths)
            }
            transaction.set_rollback(True)
        return given


def answer_of(response: HttpResponse) -> Answer:
    """What must be the same of two answers to the same request."""
    headers = {name: value for name, value in response.headers.items() if name not in HEADERS_OF_ONE_REQUEST}
    if "RateLimit" in headers:  # how many requests are left, but not for how many seconds
        headers["RateLimit"] = re.sub(r";t=\d+", "", headers["RateLimit"])
    body = response.getvalue()
    for pattern in OF_ONE_REQUEST:
        body = pattern.sub(b"", body)
    return response.status_code, headers, body


@pytest.fixture(scope="module")
def reading(make_once) -> Iterator[Reading]:
    """Pages say how long ago things were: here no time passes between two answers."""
    made = Reading(make_once)
    now = timezone.now()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(timezone, "now", lambda: now)
        yield made


def bodies(reading: Reading, hiding: str, kind: str) -> dict[str, str]:
    """The body of every address, in lower case."""
    said = {
        path: TIME_OF_DAY.sub("", body.decode(errors="replace").lower())
        for path, (_, _, body) in reading.answers(hiding, kind).items()
    }
    # The feed of all tells of the other worlds, too.
    feed, mark = reverse("feed_of_all"), f"benchmark/{reading.worlds[hiding].benchmark.key}/"
    entries = [part for part in said[feed].split("<entry>") if mark in part]
    assert entries
    # A picture is no text; `test_other_sites.py` holds what it is drawn from.
    return said | {feed: "".join(entries)}


def first_difference(before: Answer, after: Answer) -> tuple[object, object]:
    """What of two answers differs first, for whoever reads that a test failed."""
    if before[:2] != after[:2]:
        one, other = ({"status": status} | headers for status, headers, _ in (before, after))
        return set(one.items()) - set(other.items()), set(other.items()) - set(one.items())
    at = next((i for i, (one, other) in enumerate(zip(before[2], after[2], strict=False)) if one != other), 0)
    return before[2][max(0, at - 80) : at + 120], after[2][max(0, at - 80) : at + 120]


@contextmanager
def other_secrets(world: Hidden) -> Iterator[None]:
    """The world with other hidden scores, and the hidden names changed about; as it was afterwards."""
    zebrafish, axolotl = world.benchmark.systems.filter(name__in=["Zebrafish", "Axolotl"]).order_by("-key")
    with transaction.atomic():
        with append_only_permit("a test"):
            change_scores(world, zebrafish, axolotl)
            if world.benchmark.anonymous_until:
                exchange_names(zebrafish, axolotl)
            compute_again(world)
        with pytest.MonkeyPatch.context() as patched:
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


@dataclass(frozen=True)
class AskedTwice:
    """What each kind of reader is told of a benchmark, and of the same one with other secrets."""

    release: str
    scores: str
    before: dict[str, dict[str, Answer]]
    after: dict[str, dict[str, Answer]]


@pytest.fixture(scope="module", params=HIDING)
def asked_twice(request, reading) -> AskedTwice:
    world = reading.worlds[request.param]
    release, scores = f"/b/{world.benchmark.key}/releases/frozen/", f"/api/v1/benchmarks/{world.benchmark.key}/scores/"
    kinds = READERS_ASKED_TWICE[request.param]
    before = {kind: reading.answers(request.param, kind) for kind in kinds}
    before["owner"] = reading.ask("owner", [release, scores])
    with other_secrets(world):
        after = {kind: reading.answers_now(request.param, kind) for kind in kinds}
        after["owner"] = reading.ask("owner", [release, scores])
    return AskedTwice(release, scores, before, after)


def test_no_answer_depends_on_what_is_hidden(asked_twice):
    differences = {}
    for kind in set(asked_twice.before) - {"owner"}:
        before, after = ({path: answer for path, answer in given[kind].items() if path not in OF_THEIR_MOMENT}
                         for given in (asked_twice.before, asked_twice.after))  # fmt: skip
        assert len(before) > 100
        differences |= {
            (kind, path): first_difference(before[path], after[path]) for path in before if before[path] != after[path]
        }
    assert differences == {}


def test_an_owner_sees_the_difference(asked_twice):
    """The change that nobody else may notice is one."""
    before, after = asked_twice.before["owner"], asked_twice.after["owner"]
    assert {path for path in before if before[path] != after[path]} == {asked_twice.release, asked_twice.scores}


@pytest.mark.parametrize("kind", RESTRICTED)
@pytest.mark.parametrize("hiding", HIDING)
def test_no_address_tells_a_hidden_score(reading, hiding, kind):
    said = bodies(reading, hiding, kind)
    assert len(said) > 100
    assert {path for path, body in said.items() for figure in FIGURES if figure in body} == set()


@pytest.mark.parametrize("kind", RESTRICTED)
@pytest.mark.parametrize("hiding", ["own", "anonymous"])
def test_no_address_tells_a_hidden_name(reading, hiding, kind):
    parts = ("?q=zebra", "/zebrafish/")  # an address that says the name itself may repeat it
    # So may the link that signs in.
    said = {path: WAY_BACK.sub("", body) for path, body in bodies(reading, hiding, kind).items()}
    leaks = {path for path, body in said.items() if "axolotl" in body or ("zebrafish" in body and not
            any(part in path for part in parts))}  # fmt: skip
    assert leaks == set()


@pytest.mark.parametrize("hiding", HIDING)
def test_the_hash_of_hidden_scores_is_nowhere(reading, hiding):
    world = reading.worlds[hiding]
    hashes = [text for text in world.benchmark.revisions.values_list("input_hash", flat=True) if text]
    assert hashes
    for kind in RESTRICTED:
        said = bodies(reading, hiding, kind)
        assert {path for path, body in said.items() for text in hashes if text in body} == set()
    page = world.client("owner").get(f"/b/{world.benchmark.key}/releases/frozen/")
    assert hashes[0] in page.content.decode()
