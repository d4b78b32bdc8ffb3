"""What becomes of a revision whose ranks are removed, on a benchmark with three of them."""

import re
from copy import deepcopy
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import numpy as np
import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.runner import run_job
from leaderboard.benchmarks.releases import ReleaseError, freeze_revision
from leaderboard.common.append_only import append_only_permit
from leaderboard.models import Benchmark, Job, Publication, Report, Revision, Score
from leaderboard.rankings import old_ranks
from leaderboard.rankings.old_ranks import count_old_ranks, old_revisions, remove_old_ranks
from leaderboard.rankings.ranks_again import OtherInputsError, compute_ranks_again, request_ranks
from leaderboard.rankings.reports import unpack_arrays
from leaderboard.rankings.score_matrix import hash_anew
from tests.leaderboard.rankings.past import days_ago, long_past, numbers_without_ranks
from tests.markup import compact

pytestmark = pytest.mark.usefixtures("few_kept")


@pytest.fixture
def few_kept(settings):
    settings.KEEP_RANKS_DAYS, settings.KEEP_DAILY_RANKS_DAYS, settings.KEEP_NEWEST_RANKS = 30, 100, 2


@pytest.fixture(scope="module")
def made_once(make_once):
    return long_past(make_once)


@pytest.fixture
def benchmark(made_once, make):
    return deepcopy(made_once)


# --- Which ones ------------------------------------------------------------------------------------------------------


def test_zero_days_keep_all_ranks_for_ever(benchmark, settings):
    settings.KEEP_RANKS_DAYS = 0
    assert (count_old_ranks(), remove_old_ranks(0)) == (0, (0, 0))


def test_a_benchmark_that_is_behind_keeps_what_readers_see_and_what_people_were_told_of(benchmark):
    told_of = Publication.objects.get(revision__number=3)
    published = Publication.objects.get(revision__number=4)
    Benchmark.objects.update(publication=published, published_number=4, noticed_publication=told_of)
    remove_old_ranks(0)
    assert numbers_without_ranks(benchmark) == [2]


def test_one_that_is_frozen_at_the_last_moment_stays(benchmark):
    going = old_revisions(benchmark.pk)
    freeze_revision(benchmark, author=benchmark.memberships.get().user, number=3, name="2020")
    old_ranks._remove(benchmark.pk, going)
    assert numbers_without_ranks(benchmark) == [2, 4]


# --- What readers find -----------------------------------------------------------------------------------------------


class Links(HTMLParser):
    """The addresses that a page leads to, on this site."""

    def __init__(self, text: str, address: str) -> None:
        super().__init__()
        self.address, self.paths = address, []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        target = dict(attrs).get("href" if tag in ("a", "link") else "action" if tag == "form" else "src")
        if target:
            url = urlsplit(urljoin(self.address, target))
            if not url.netloc and not url.path.startswith("/static/"):
                self.paths.append(url.path + (f"?{url.query}" if url.query else ""))


def walk(client: Client, first: str, *, depth: int) -> dict[str, int]:
    """The status of every page that the first one leads to, and those lead to that say that something is gone."""
    statuses: dict[str, int] = {}
    ahead = [first]
    for _ in range(depth + 1):
        pages, ahead = ahead, []
        for address in pages:
            if address in statuses:
                continue
            answer = client.get(address)
            statuses[address] = answer.status_code
            if address == first or answer.status_code == 410:
                ahead += [link for link in Links(compact(answer), address).paths if link.startswith("/b/")]
    return statuses


@pytest.mark.parametrize("who", ["anybody", "owner"])
def test_no_link_of_the_history_leads_nowhere_after_ranks_were_removed(benchmark, client, who):
    remove_old_ranks(0)
    if who == "owner":
        client.force_login(benchmark.memberships.get().user)
    statuses = walk(client, reverse("history", args=[benchmark.key]), depth=2)
    posts = {reverse("compute_ranks", args=[benchmark.key, number]) for number in (2, 3, 4)}
    assert {address for address, status in statuses.items() if status == 405} == (posts if who == "owner" else set())
    assert {status for address, status in statuses.items() if address not in posts} == {200, 410}
    board = reverse("board", args=[benchmark.key])
    assert {address for address, status in statuses.items() if status == 410} >= {
        f"{board}?revision={number}" for number in (2, 3, 4)
    }
    compared = reverse("history_compare", args=[benchmark.key])
    assert statuses[f"{compared}?from=2&to=3"] == 200, "what changed between two of them is computed anew"
    for table in ("scores.csv", "folder.zip"):
        assert statuses[f"{board}exports/{table}?revision=3"] == 200, "scores are always kept"


def test_the_history_and_the_page_say_when_the_ranks_were_removed_and_what_is_kept(benchmark, client):
    remove_old_ranks(0)
    today = f"{timezone.now():%-d %b %Y}"
    history = compact(client.get(reverse("history", args=[benchmark.key])))
    assert history.count(f"Its ranks were removed on {today}; its scores are kept.") == 3
    page = client.get(reverse("board", args=[benchmark.key]), {"revision": 3})
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", compact(page)))
    assert page.status_code == 410
    assert f"They were removed on {today}, like those of most old revisions." in text
    assert Revision.objects.get(number=3).input_hash in text
    assert "The benchmark’s owners can have them computed again." in text


def test_every_page_of_such_a_revision_explains_itself(benchmark, client):
    remove_old_ranks(0)
    for route in ("agreement", "head_to_head", "prospects", "stability", "what_if", "embed"):
        answer = client.get(reverse(route, args=[benchmark.key]), {"revision": 3})
        assert (answer.status_code, "were removed" in compact(answer)) == (410, True), route


def test_where_scores_are_hidden_neither_they_nor_their_hash_are_offered(benchmark, client):
    remove_old_ranks(0)
    digest = Revision.objects.get(number=3).input_hash
    Benchmark.objects.update(score_view=Benchmark.ScoreView.RANKS)
    answer = client.get(reverse("board", args=[benchmark.key]), {"revision": 3})
    page = compact(answer)
    assert (answer.status_code, "were removed" in page) == (410, True)
    assert [text for text in (digest, "scores.csv", "folder.zip") if text in page] == []


def test_the_api_answers_410_for_the_ranks_and_goes_on_to_serve_the_scores(benchmark, client):
    before = client.get(reverse("api:scores", args=[benchmark.key]), {"revision": 3}).json()
    remove_old_ranks(0)
    rankings = client.get(reverse("api:rankings", args=[benchmark.key]), {"revision": 3})
    assert (rankings.status_code, rankings.json()["error"]["code"]) == (410, "ranks_removed")
    assert "Its scores are kept" in rankings.json()["error"]["message"]
    assert client.get(reverse("api:scores", args=[benchmark.key]), {"revision": 3}).json() == before
    rows = client.get(reverse("api:revisions", args=[benchmark.key])).json()["results"]
    states = {row["revision"]: (row["is_published"], row["ranks_removed_at"] is not None) for row in rows}
    gone, there = (False, True), (True, False)
    assert states == {1: there, 2: gone, 3: gone, 4: gone, 5: there, 6: there}


def test_a_submission_whose_earlier_ranks_are_gone_shows_those_of_today(benchmark, client):
    submission = benchmark.submissions.get(system__name="S5")
    remove_old_ranks(0)
    client.force_login(benchmark.memberships.get().user)
    answer = client.get(reverse("batch", args=[submission.batch.uuid]))
    assert (answer.status_code, answer.context["page"].has_before) == (200, False)


# --- Computed again --------------------------------------------------------------------------------------------------


def content(number: int) -> dict:
    """What the reports of a revision's ranks say, in the order of their parameters."""
    rows = Report.objects.filter(revision__number=number, kind__in=["board", "ranking"])
    return {
        (row.kind, row.parameter_hash, row.engine_version): (
            row.summary,
            {name: array.tobytes() for name, array in unpack_arrays(row.arrays).items()},
        )
        for row in rows
    }


def test_removed_ranks_are_computed_again_from_the_scores_the_same_to_the_bit(benchmark, client):
    Job.objects.filter(kind="axioms").update(state="done")
    before, digest = content(3), Revision.objects.get(number=3).input_hash
    scores = list(Score.objects.order_by("pk").values_list())
    newest = Benchmark.objects.values("publication", "published_number").get()
    publications = list(Publication.objects.values_list())
    remove_old_ranks(0)
    assert (content(3), list(Score.objects.order_by("pk").values_list())) == ({}, scores)
    client.force_login(benchmark.memberships.get().user)
    client.post(reverse("compute_ranks", args=[benchmark.key, 3]))
    board = reverse("board", args=[benchmark.key])
    assert "They are being computed again." in compact(client.get(board, {"revision": 3}))
    assert run_job(Job.objects.get(kind="ranks_again").pk, worker="test") == "done"
    revision = Revision.objects.get(number=3)
    assert (content(3), hash_anew(revision), revision.ranks_removed_at) == (before, digest, None)
    assert Benchmark.objects.values("publication", "published_number").get() == newest
    assert list(Publication.objects.values_list()) == publications
    page = client.get(board, {"revision": 3})
    assert (page.status_code, "computing" in compact(page)) == (200, False)
    rule = compact(client.get(reverse("rule", args=[benchmark.key, "borda"]), {"revision": 3}))
    assert "the results are old and were deleted" in rule


def test_what_was_computed_again_is_kept_like_a_new_one_and_can_go_and_come_back_again(benchmark):
    remove_old_ranks(0)
    for _ in range(2):
        assert request_ranks(benchmark, 3)
        assert run_job(Job.objects.get(kind="ranks_again").pk, worker="test") == "done"
        remove_old_ranks(0)
        assert numbers_without_ranks(benchmark) == [2, 4]
        Report.objects.filter(revision__number=3).update(created_at=days_ago(31))
        remove_old_ranks(0)
        assert numbers_without_ranks(benchmark) == [2, 3, 4]
    assert Job.objects.filter(kind="ranks_again").count() == 1


def test_ranks_that_are_there_or_of_no_revision_are_not_asked_for(benchmark):
    remove_old_ranks(0)
    assert [request_ranks(benchmark, number) for number in (1, 7, 0)] == [False] * 3
    assert not Job.objects.filter(kind="ranks_again").exists()


def test_scores_that_are_not_what_they_were_give_no_ranks(benchmark):
    remove_old_ranks(0)
    request_ranks(benchmark, 3)
    with transaction.atomic(), append_only_permit("as if other scores had been stored"):
        Revision.objects.filter(number=3).update(input_hash="0" * 64)
    job = Job.objects.get(kind="ranks_again")
    with pytest.raises(OtherInputsError, match=r"revision 3 .* ranked by inputs of the hash 000000000000"):
        compute_ranks_again(job, lambda _: None)
    assert content(3) == {}


def test_removed_ranks_are_not_frozen_before_they_are_back(benchmark):
    remove_old_ranks(0)
    owner = benchmark.memberships.get().user
    with pytest.raises(ReleaseError, match="The ranks of revision 3 were removed"):
        freeze_revision(benchmark, author=owner, number=3, name="2020")
    request_ranks(benchmark, 3)
    run_job(Job.objects.get(kind="ranks_again").pk, worker="test")
    assert freeze_revision(benchmark, author=owner, number=3, name="2020").revision.number == 3


def test_the_ranks_of_a_kept_revision_are_the_ones_that_were_drawn_before(benchmark, client):
    remove_old_ranks(0)
    page = client.get(reverse("history", args=[benchmark.key]))
    assert page.context["ranks"].numbers == [1, 5, 6]
    newest = Report.objects.get(revision__number=6, kind="ranking", summary__rule=benchmark.default_rule)
    drawn = {system.name: int(texts[-1]) for system, texts in page.context["ranks"].rows}
    assert sorted(drawn.values()) == sorted(np.asarray(unpack_arrays(newest.arrays)["ranks"]).tolist())
