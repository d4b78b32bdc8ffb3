"""What readers have computed cannot keep a site from answering: a real web server, and the worst that it accepts."""

import http.client
import json
import os
import random
import signal
import threading
import time
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from django.core.cache import cache

from tests.databases import own_database
from tests.factories import Factory
from tests.running_site import RunningSite

NO_RATE = {"PLURANK_API_ON_DEMAND_RATE": "100000/min", "PLURANK_TRY_RATE": "100000/min"}
SECONDS = 2  # that a request may have computed
RISE = 300 * 2**20  # bytes by which a web process may grow
SLACK = 1.5  # on a machine that does much else
PATIENCE = 5  # seconds that other pages may take then; what is computed beside them takes longer


def table_of(n_systems: int, n_tasks: int) -> str:
    dice = random.Random(n_systems * n_tasks)
    head = "system," + ",".join(f"t{t}" for t in range(n_tasks))
    return "\n".join([head, *(f"s{i}," + ",".join(str(dice.randrange(1000)) for _ in range(n_tasks))
                              for i in range(n_systems))])  # fmt: skip


def in_groups_of_three(n_tasks: int) -> str:
    return "".join(f'[[task]]\nname = "t{t}"\ngroup = "g{t // 3}"\n' for t in range(n_tasks))


def long_fractions(names: list[str]) -> dict[str, str]:
    dice = random.Random(1)
    return {name: f"{dice.randrange(10**29, 10**30)}/{dice.randrange(10**29, 10**30)}" for name in names}


WORST = {
    "two steps over 66 groups": (table_of(300, 198), in_groups_of_three(198), {"aggregation": "two_step"}),
    "weights with thirty digits below the line": (
        table_of(200, 200), json.dumps(long_fractions([f"t{t}" for t in range(200)])), {},
    ),
    "a hundred systems on thirty tasks": (table_of(100, 30), "", {}),
    "as large as it may be": (table_of(300, 180), "", {}),
}  # fmt: skip


@dataclass
class Answer:
    status: int
    text: str
    headers: dict[str, str]
    seconds: float


def ask(site: RunningSite, method: str, path: str, fields: dict | None = None, *, is_json: bool = False) -> Answer:
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    headers = {"Content-Type": "application/json" if is_json else "application/x-www-form-urlencoded"}
    headers |= {"Cookie": f"csrftoken={CSRF}"}
    body = json.dumps(fields) if is_json else urllib.parse.urlencode((fields or {}) | {"csrfmiddlewaretoken": CSRF})
    connection.request(method, path, body if method == "POST" else None, headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return Answer(response.status, text, dict(response.headers), time.monotonic() - began)


CSRF = "a" * 32


@pytest.fixture(scope="module")
def server(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[RunningSite]:
    with django_db_blocker.unblock(), own_database() as url:
        more = {"PLURANK_ON_DEMAND_SECONDS": str(SECONDS)} | NO_RATE
        site = RunningSite(tmp_path_factory.mktemp("site"), url, is_forked=True, **more)
        try:
            yield site
        finally:
            site.stop_all()


@pytest.fixture
def web(server) -> RunningSite:
    """It runs, also after a test that stopped it."""
    if "web" not in server.running:
        server.start("web")
        server.wait_for_web()
    return server


class Patient:
    """Asks /healthz/ again and again, from a connection of its own, while something else goes on."""

    def __init__(self, site: RunningSite) -> None:
        self.site, self.longest, self.n_children = site, 0.0, 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._over.is_set():
            self.longest = max(self.longest, self.site.health_seconds())
            self.n_children = max(self.n_children, len(self.site.children()))
            time.sleep(0.05)

    def __enter__(self) -> "Patient":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


@pytest.mark.parametrize("name", WORST)
def test_the_page_for_trying_keeps_its_seconds_whatever_the_table(web, name):
    text, about, options = WORST[name]
    before, memory = web.cpu_seconds(), web.memory_bytes()
    with Patient(web) as patient:
        answer = ask(web, "POST", "/try/", {"text": text, "about": about, **options})
    assert answer.status in (200, 400)
    assert (answer.status == 400) == ("thirty digits" in name)
    assert web.cpu_seconds() - before < (SECONDS + 1) * SLACK
    assert web.memory_bytes(is_peak=True) - memory < RISE
    assert patient.longest < PATIENCE
    if "two steps" in name:
        assert "was too short for" in answer.text
        assert "Bradley-Terry" in answer.text
        assert answer.text.count('scope="row"') >= 300


def test_many_at_once_are_computed_two_at_a_time_and_the_rest_is_told_when_to_come_again(web):
    text, about, options = WORST["two steps over 66 groups"]
    with Patient(web) as patient, ThreadPoolExecutor(12) as crowd:
        calls = [crowd.submit(ask, web, "POST", "/try/", {"text": text, "about": about, **options}) for _ in range(12)]
        answers = [call.result() for call in calls]
    statuses = sorted(answer.status for answer in answers)
    assert statuses.count(503) >= 2  # of twelve six have a turn or wait for one
    assert set(statuses) <= {200, 422, 503}  # 422 where the machine was so busy that not one rule was done in time
    assert all(answer.headers["Retry-After"] == "5" for answer in answers if answer.status == 503)
    assert patient.longest < PATIENCE
    assert patient.n_children <= 3  # two, and for a moment one that is being replaced
    assert len(web.children()) == 2
    assert ask(web, "POST", "/try/", {"text": "system,a\nx,1\ny,2"}).status == 200


def test_hanging_up_ends_the_work(web):
    text, about, options = WORST["two steps over 66 groups"]
    at_rest, before = set(web.children()), web.cpu_seconds()
    body = urllib.parse.urlencode({"text": text, "about": about, "csrfmiddlewaretoken": CSRF, **options})
    connection = http.client.HTTPConnection("127.0.0.1", web.port)
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": f"csrftoken={CSRF}"}
    connection.request("POST", "/try/", body, headers)
    time.sleep(0.5)
    connection.close()
    web.wait_until(lambda: len(at_rest - set(web.children())) == 1, 1, "the child that computed for it is gone")
    assert web.cpu_seconds() - before < SECONDS  # that it was given had not all been used
    web.wait_until(lambda: "try 499" in web.logs(), 5, "the log says that the client hung up")


def test_weights_with_long_denominators_are_refused_before_anything_is_computed(web):
    tasks = [f"task-{t}" for t in range(1, 6)]
    benchmark = Factory().published()
    began = web.cpu_seconds()
    path = f"/api/v1/benchmarks/{benchmark.key}/rankings/"
    answer = ask(web, "POST", path, {"weights": long_fractions(tasks)}, is_json=True)
    assert answer.status == 400
    assert "the weight of the task 'task 3'" in answer.text.lower()
    assert web.cpu_seconds() - began < 1


def test_no_child_outlives_the_web_server(web):
    text, about, options = WORST["two steps over 66 groups"]
    children = web.children()
    with ThreadPoolExecutor(1) as crowd:
        call = crowd.submit(ask, web, "POST", "/try/", {"text": text, "about": about, **options})
        time.sleep(0.5)
        master, workers = web.running["web"].pid, [pid for pid in web.processes("web") if pid not in children]
        for pid in (master, *(pid for pid in workers if pid != master)):
            os.kill(pid, signal.SIGKILL)
        assert isinstance(call.exception(), OSError | http.client.HTTPException)
    web.wait_until(lambda: not alive(children), 10, "all children are gone")
    web.kill("web")


def alive(pids: list[int]) -> list[int]:
    from pathlib import Path

    return [pid for pid in pids if Path(f"/proc/{pid}/cmdline").exists() and
            b"computing" in Path(f"/proc/{pid}/cmdline").read_bytes()]  # fmt: skip


VARIANTS = [
    f"policy={policy}&aggregation={aggregation}&ties={ties}"
    for policy in ("median", "worst", "drop_tasks")
    for aggregation in ("basic", "weighted")
    for ties in ("average", "best")
]


@pytest.mark.parametrize("path", ["", "board.csv", "board.json", "board.md", "embed/", "exports/ranks.csv"])
def test_boards_under_other_settings_have_a_rate_at_every_door(make, client, settings, path):
    settings.API_RATES = settings.API_RATES | {"on_demand": "5/min"}
    cache.clear()
    benchmark = make.published()
    for _ in range(3):
        assert client.get(f"/b/{benchmark.key}/{path}").status_code == 200  # what is stored is not counted
    cache.clear()  # exports count what is stored, too
    answers = [client.get(f"/b/{benchmark.key}/{path}?{variant}") for variant in VARIANTS[:7]]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
    assert all(0 < int(answer["Retry-After"]) <= 60 for answer in answers[5:])


def test_one_request_is_counted_once_however_much_of_it_is_computed(make, client, settings):
    settings.API_RATES = settings.API_RATES | {"on_demand": "4/min"}
    cache.clear()
    benchmark = make.published()
    paths = [f"/b/{benchmark.key}/?policy=median", f"/api/v1/benchmarks/{benchmark.key}/rankings/?missing=worst"]
    statuses = [client.get(path).status_code for path in (*paths, *paths, *paths)]
    assert statuses == [200] * 4 + [429] * 2
