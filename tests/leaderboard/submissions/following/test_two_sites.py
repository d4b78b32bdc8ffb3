"""Two sites, each with processes and a database of its own, that follow each other's boards and come to rest."""

import csv
import io
import json
import os
import sys
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from leaderboard.models import FollowedAddress
from tests.databases import connected_to, own_database
from tests.running_site import RunningSite

LIMITS = {f"PLURANK_API_{kind}_RATE": "100000/min" for kind in ("ADDRESS", "USER", "TOKEN", "WRITE", "ON_DEMAND")}
PROGRAM = "tests.leaderboard.submissions.following.one_board"


@dataclass
class Site:
    """One of the two, and what its owner asks it."""

    running: RunningSite
    key: str
    database: str
    token: str = ""

    @property
    def board(self) -> str:
        return f"{self.running.url}/b/{self.key}/"

    def call(self, path: str, body: object = None):
        headers = {"Authorization": f"Token {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.running.url}/api/v1/benchmarks/{self.key}/{path}", data, headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.read().decode()

    @property
    def scores(self) -> dict[str, list[str]]:
        return {row[0]: row[1:] for row in list(csv.reader(io.StringIO(self.call("scores/?format=csv"))))[1:]}

    @property
    def n_revisions(self) -> int:
        return json.loads(self.call("revisions/"))["count"]

    def follow(self, other: "Site") -> None:
        body = {"address": other.board, "kind": "board", "every_minutes": 15, "is_direct": True}
        added = json.loads(self.call("followed/", body | {"creates_systems": True}))
        self.address = f"followed/{added['uuid']}/"

    @property
    def fetches(self) -> list[dict[str, object]]:
        return json.loads(self.call(self.address))["fetches"]

    def come_due(self) -> None:
        """As if the quarter of an hour were over."""
        with connected_to(self.database):
            FollowedAddress.objects.update(next_at=timezone.now())

    def make_board(self, *scores: str) -> None:
        token, errors = (self.running.folder / name for name in ("token", "board.log"))
        command = [sys.executable, "-m", PROGRAM, self.key, f"From {self.key}", *scores]
        with Path(os.devnull).open("rb") as nothing, token.open("wb") as out, errors.open("wb") as err:
            made = self.running.launch(command, nothing.fileno(), out.fileno(), err.fileno())
        assert made.wait() == 0, self.running.logs()
        self.token = token.read_text().strip()


@pytest.fixture
def two_sites(django_db_setup, django_db_blocker, tmp_path):
    with django_db_blocker.unblock(), ExitStack() as stack:
        sites = []
        for key in ("north", "south"):
            folder = tmp_path / key
            folder.mkdir()
            more = {"REDIS_URL": "", "PLURANK_WEBHOOKS_INSIDE": "true", **LIMITS}
            url = stack.enter_context(own_database())  # of the north nothing is in it yet that the south would copy
            running = RunningSite(folder, url, lease_seconds=30, is_forked=True, **more)
            stack.callback(running.stop_all)
            sites.append(Site(running, key, connection.settings_dict["NAME"]))
        for site, scores in zip(sites, ("574", "664"), strict=True):
            site.make_board(*scores)
            site.running.start("web", "rankings", "sweep")
        for site in sites:
            site.running.wait_for_web(60)
        yield sites


@pytest.mark.services
def test_two_sites_that_follow_each_other_have_the_same_board_and_come_to_rest(two_sites):
    north, south = two_sites
    both = {"From north": ["5", "7", "4"], "From south": ["6", "6", "4"]}
    north.follow(south)
    north.running.wait_until(lambda: north.scores == both, 30, "the north has the system of the south")
    south.follow(north)
    south.running.wait_until(lambda: south.scores == both, 30, "the south has the system of the north")
    n_revisions = [site.n_revisions for site in two_sites]
    assert n_revisions == [2, 2]
    # From now on nothing is new, however often they look.
    for _ in range(2):
        for site in two_sites:
            before = len(site.fetches)
            site.come_due()
            site.running.wait_until(lambda s=site, n=before: len(s.fetches) > n, 30, "the address is fetched")
    assert [site.n_revisions for site in two_sites] == n_revisions
    assert [site.scores for site in two_sites] == [both, both]
    history = [(fetch["outcome"], fetch["status_code"]) for fetch in north.fetches]
    # What the south has got from the north is news once; then its ETag says that nothing changed.
    assert history == [("unchanged", 304), ("unchanged", 200), ("accepted", 200)]
    assert [fetch["outcome"] for fetch in south.fetches] == ["unchanged", "unchanged", "accepted"]
    assert all(not fetch["error"] for site in two_sites for fetch in site.fetches)
