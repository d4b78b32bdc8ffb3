"""What load balancers and container engines are told."""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.utils import timezone
from kombu import Connection
from redis import Redis

from config.backends.filesystem_broker import Transport
from leaderboard.models import Heartbeat, Job
from leaderboard.operations import health
from leaderboard.operations.health import problems, reached_limit
from leaderboard.queue import wake_ups
from leaderboard.queue.heartbeats import Process
from leaderboard.queue.priorities import RECOMPUTATION
from ranking_engine import __version__ as engine_version
from tests.config.redis_server import redis_server, wait_for_redis
from tests.markup import compact
from tests.running_site import free_port

HERE = socket.gethostname()


def heard_of(*roles: str, host: str = HERE, pid: int | None = None, seconds_ago: float = 0) -> None:
    for role in roles:
        process = Process(role, name=f"{role}@{host}", host=host, pid=pid or os.getpid())
        process.beat()
        row = Heartbeat.objects.filter(role=role, host=host, pid=process.pid)
        row.update(seen_at=timezone.now() - timedelta(seconds=seconds_ago))


def test_a_site_that_works_is_well(make, client):
    heard_of("sweep", "rankings", "studies")
    response = client.get("/healthz/")
    assert (response.status_code, response.content) == (200, b"ok\n")
    assert {role: problems(role) for role in ("web", "sweep", "rankings", "studies")} == {
        "web": [],
        "sweep": [],
        "rankings": [],
        "studies": [],
    }


@pytest.mark.parametrize(
    ("allowed", "name"),
    [(["*"], "127.0.0.1"), ([], "127.0.0.1"), (["*", ".a.example"], "a.example"), (["b.example"], "b.example")],
)
def test_the_web_server_is_asked_by_a_name_that_it_answers_to(make, settings, allowed, name):
    names = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            names.append(self.headers["Host"])
            self.send_response(200)
            self.end_headers()

    settings.ALLOWED_HOSTS = allowed
    with HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        call_command("check_health", "web", port=server.server_port)
    assert names == [name]


@pytest.mark.parametrize(
    ("arguments", "file", "message"),
    [
        (["prune"], "new.sqlite3", "the database lacks migrations: run `python manage.py migrate`"),
        (["run_due", "rankings"], "new.sqlite3", "the database lacks migrations: run `python manage.py migrate`"),
        (["prune"], "no/such.sqlite3", "the database does not answer: unable to open database file"),
        (["migrate"], "no/such.sqlite3", "the database failed: unable to open database file"),
    ],
)
def test_a_command_without_a_database_to_work_on_ends_in_one_line(tmp_path, settings, arguments, file, message):
    run = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=settings.ROOT,
        env=os.environ
        | {"PLURANK_VAR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path / file}", "REDIS_URL": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (1, f"{message}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serve", "--port", "0"], "argument --port: '0' is not a whole number from 1 to 65535"),
        (["serve", "--web", "0"], "argument --web: '0' is not a whole number from 1 to 1000"),
        (["serve", "--studies", "-1"], "argument --studies: '-1' is not a whole number from 0 to 1000"),
        (
            ["sweep", "--every", "nan"],
            "argument --every: 'nan' is not a number of seconds, more than 0 and at most 86400",
        ),
        (["retry", "--job", "9" * 30], f"argument --job: '{'9' * 30}' is not a whole number from 1 to {2**63 - 1}"),
    ],
)
def test_a_number_that_a_command_cannot_work_with_is_refused(arguments, message):
    with pytest.raises(CommandError) as error:
        call_command(*arguments)
    assert str(error.value) == f"Error: {message}"


def test_a_queue_that_nobody_works_on_is_not_well(make):
    heard_of("rankings", "studies")
    make.benchmark()
    Job.objects.filter(queue="rankings").update(not_before=timezone.now() - timedelta(minutes=11))
    expected = "1 jobs of queue rankings are due for more than 10 minutes and none runs"
    assert (problems("rankings"), problems("studies")) == ([expected], [])
    with pytest.raises(CommandError, match=expected):
        call_command("check_health", "rankings")


def test_a_queue_with_a_recomputation_of_hours_is_well(make):
    heard_of("rankings", "studies")
    make.benchmark()
    Job.objects.update(not_before=timezone.now() - timedelta(minutes=11), priority=RECOMPUTATION)
    assert (problems("rankings"), problems("studies")) == ([], [])


@pytest.mark.parametrize(
    ("role", "who"),
    [("sweep", "no sweep"), ("rankings", "no worker of queue rankings"), ("studies", "no worker of queue studies")],
)
def test_where_no_process_of_a_role_ever_wrote_that_is_said(make, role, who):
    expected = f"{who} was seen within the last day: none was started, or none can reach the database"
    assert problems(role) == [expected]
    with pytest.raises(CommandError, match=expected):
        call_command("check_health", role)


def ended_process() -> int:
    """The id of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_process_that_fell_silent_is_named_with_its_host_its_last_beat_and_the_likely_cause(make):
    pid, parent = ended_process(), os.getppid()
    heard_of("sweep", pid=pid, seconds_ago=75)
    heard_of("rankings", pid=parent, seconds_ago=75)
    heard_of("studies", host="other", pid=7, seconds_ago=75)
    moment = re.compile(r"(\d+) s ago, at [\d: -]+ UTC")
    said = {role: problems(role)[0] for role in ("sweep", "rankings", "studies")}
    assert all(75 <= int(moment.search(text)[1]) < 600 for text in said.values())
    answers = {role: moment.sub("… s ago", text) for role, text in said.items()}
    assert answers == {
        "sweep": f"no sweep was heard of for 60 s: the last was sweep@{HERE} (process {pid} on {HERE}), … s ago; "
        "it ended and was not restarted",
        "rankings": f"no worker of queue rankings was heard of for 60 s: the last was rankings@{HERE} (process "
        f"{parent} on {HERE}), … s ago; it still exists, so it is stuck, was stopped, or cannot reach the database: "
        f"see its log",
        "studies": "no worker of queue studies was heard of for 60 s: the last was studies@other (process 7 on other), "
        "… s ago; it ended, is stuck, or cannot reach the database: see its log on other",
    }


def test_a_health_check_asks_for_any_process_one_of_this_host_or_this_very_one(make, capsys):
    heard_of("rankings", host="other", pid=7)
    call_command("check_health", "rankings")
    with pytest.raises(CommandError, match=f"no worker of queue rankings on host {HERE} was seen"):
        call_command("check_health", "rankings", "--here")
    heard_of("rankings", pid=11)
    call_command("check_health", "rankings", "--here")
    call_command("check_health", "rankings", "--pid", "11")
    with pytest.raises(CommandError, match=f"no worker of queue rankings on host {HERE} with process id 7 was seen"):
        call_command("check_health", "rankings", "--pid", "7")
    assert capsys.readouterr().out == 3 * "well\n"


def away() -> str:
    return "the database does not answer: it is away"


@pytest.mark.parametrize("policy", ["noeviction", "volatile-lru"])
def test_a_redis_that_is_full_is_no_broker_that_works(make, client, settings, tmp_path, monkeypatch, policy):
    """Takes a second: a Redis of its own."""
    port = free_port()
    settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    with redis_server(port, tmp_path):
        redis = Redis(port=port)
        wait_for_redis(redis)
        monkeypatch.setattr(
            wake_ups.current_app, "connection_for_write", lambda **options: Connection(settings.REDIS_URL, **options)
        )
        heard_of("sweep", "rankings")
        assert problems("sweep") == []
        redis.config_set("maxmemory-policy", policy)
        redis.config_set("maxmemory", "1")
        assert problems("sweep") == ["the broker does not answer, or takes no message"]
        answer = client.get("/readyz/")
        assert (answer.status_code, answer.json()["broker"]) == (503, False)
        redis.config_set("maxmemory", "0")
        assert client.get("/readyz/").json()["broker"] is True
        assert 0 < redis.ttl(wake_ups.PROBE) <= 60


def test_a_folder_that_is_full_is_no_broker_that_works(make, settings, tmp_path, monkeypatch):
    settings.REDIS_URL = ""
    options = {"folder": str(tmp_path / "messages")}
    app = wake_ups.current_app
    with app.connection_for_write(transport=Transport, transport_options=options) as connection:
        monkeypatch.setattr(app, "connection_for_write", lambda **_: connection)
        assert wake_ups.reaches_broker()
        assert list((tmp_path / "messages").iterdir()) == []
        monkeypatch.setattr(wake_ups, "PROBE_BYTES", 10_000)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # as on a full disk: an empty file can be made
        try:
            assert not wake_ups.reaches_broker()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, ignored)
        assert list((tmp_path / "messages").iterdir()) == []


def test_a_process_is_alive_while_what_it_depends_on_is_away(make, monkeypatch, capsys):
    """Health checks that start a process again ask so: an outage of the broker or database is none of the process."""
    heard_of("rankings", "sweep")
    Job.objects.filter(queue="rankings").update(not_before=timezone.now() - timedelta(minutes=11))
    monkeypatch.setattr(health, "reaches_broker", lambda: False)
    for role in ("rankings", "sweep"):
        with pytest.raises(CommandError, match="the broker does not answer"):
            call_command("check_health", role, "--here")
        call_command("check_health", role, "--here", "--alive")
    with pytest.raises(CommandError, match=f"no worker of queue studies on host {HERE} was seen"):
        call_command("check_health", "studies", "--here", "--alive")
    monkeypatch.setattr(health, "database_problem", away)
    for role in ("rankings", "studies"):
        with pytest.raises(CommandError, match=away()):
            call_command("check_health", role, "--here")
        call_command("check_health", role, "--here", "--alive")
    assert capsys.readouterr().out == 4 * "well\n"


def test_a_web_server_is_alive_if_it_answers_whatever_it_answers(make, monkeypatch):
    paths = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            paths.append(self.path)
            self.send_response(503)
            self.end_headers()

    with HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(CommandError, match="the web server answers 503"):
            call_command("check_health", "web", port=server.server_port)
        monkeypatch.setattr(health, "database_problem", away)
        call_command("check_health", "web", "--alive", port=server.server_port)
        server.shutdown()
    assert paths == ["/healthz/", "/robots.txt"]
    with pytest.raises(CommandError, match="the web server does not answer"):
        call_command("check_health", "web", "--alive", port=server.server_port)


def test_the_status_page_names_living_processes_to_staff_alone(make, client):
    heard_of("rankings", host="machine-7", pid=4711)
    heard_of("studies", host="machine-8", pid=4712, seconds_ago=100)
    page = compact(client.get("/status/"))
    assert "machine-7" not in page
    client.force_login(make.user(is_staff=True))
    page = compact(client.get("/status/"))
    row = re.search(r"<tr>(?:(?!<tr>).)*machine-7.*?</tr>", page)
    assert row
    cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row[0])
    assert [re.sub(r"<.*?>", "", cell) for cell in cells][:5] == [
        "rankings@machine-7",
        "rankings",
        "machine-7",
        "4711",
        engine_version,
    ]
    assert "machine-8" not in page


def test_a_database_without_its_migrations_is_not_well(make, client):
    with connection.cursor() as cursor:
        newest = "(SELECT max(name) FROM django_migrations WHERE app = 'leaderboard')"
        cursor.execute(f"DELETE FROM django_migrations WHERE app = 'leaderboard' AND name = {newest}")
    assert problems("web") == ["the database lacks migrations: run `python manage.py migrate`"]
    response = client.get("/healthz/")
    assert (response.status_code, response.content) == (503, b"unwell\n")


def test_a_web_server_that_does_not_answer_is_not_well(make):
    with pytest.raises(CommandError, match="the web server does not answer"):
        call_command("check_health", "web", port=1)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("FATAL:  unsupported startup parameter: options", "This command needs the URL of PostgreSQL itself"),
        ("canceling statement due to lock timeout", "PLURANK_LOCK_SECONDS; "),
        ("terminating connection due to idle-in-transaction timeout", "SET idle_in_transaction_session_timeout`)"),
        ("connection refused", ""),
    ],
)
def test_an_error_about_a_limit_names_the_limit(text, named):
    limit = reached_limit(OperationalError(text))
    assert named in limit
    assert bool(limit) == bool(named)
