"""The settings of production: clean by Django's own check, and refused where they would be unsafe; headers; logs."""

import json
import logging
import os
import re
import stat
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from config import env, env_addresses
from config.monitoring.logs import JsonFormatter, LineFormatter, WithoutAddress, logged_as

KEY = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
GOOD = {
    "PLURANK_PRODUCTION": "true",
    "PLURANK_HOSTS": "boards.example",
    "PLURANK_SECRET_KEY": KEY,
    "DATABASE_URL": "postgres://plurank:secret@127.0.0.1:1/plurank",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "PLURANK_EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
    "PLURANK_EMAIL_FROM": "plurank@boards.example",
}


def manage(*arguments: str, tmp_path, **variables: str) -> subprocess.CompletedProcess:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLURANK_")}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=settings.ROOT,
        env=kept | {"PLURANK_VAR": str(tmp_path)} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def secret_key() -> str:
    return env.secret_key("PLURANK_X", settings.VAR / "no", is_production=True)


def former_keys() -> list[str]:
    return env.former_keys("PLURANK_X", "the present one", is_production=True)


def lasting_key() -> str:
    return env.lasting_key("PLURANK_X", KEY, is_production=True)


def test_djangos_own_check_of_a_deployment_finds_nothing(tmp_path):
    run = manage("check", "--deploy", "--fail-level", "DEBUG", tmp_path=tmp_path, **GOOD)
    assert (run.returncode, run.stdout) == (0, "System check identified no issues (0 silenced).\n"), run.stderr


def test_a_site_may_be_shown_in_the_frames_of_sites_that_are_named(tmp_path):
    program = "from django.conf import settings as s; print(s.CONTENT_SECURITY_POLICY['DIRECTIVES']['frame-ancestors'],"
    program += " s.SESSION_COOKIE_SAMESITE, s.CSRF_COOKIE_SAMESITE)"
    answers = [
        manage("shell", "--no-imports", "-c", program, tmp_path=tmp_path, **GOOD | variables).stdout.strip()
        for variables in ({}, {"PLURANK_FRAME_ANCESTORS": "https://huggingface.co"})
    ]
    assert answers == ["[\"'none'\"] Lax Lax", "['https://huggingface.co'] None None"]


@pytest.mark.parametrize(
    "change", [{"PLURANK_EMAIL_BACKEND": ""}, {"PLURANK_EMAIL_VERIFICATION": "optional"}], ids=["no mails", "chosen"]
)
def test_a_deployment_whose_sign_up_tells_addresses_is_told_so(tmp_path, change):
    run = manage("check", "--deploy", tmp_path=tmp_path, **GOOD | change)
    assert "(plurank.W004) Sign-up shows whether an email address has an account" in run.stderr


@pytest.mark.parametrize(
    ("read", "value", "words"),
    [
        (secret_key, "short", "has 5 characters"),
        (secret_key, "ab" * 40, "2 of them different"),
        (secret_key, "", "is not set"),
        (former_keys, f"{KEY},7q", r"key 2 of 2, which are between commas, has 2 characters"),
        (former_keys, f"{'ab' * 40},{KEY}", r"key 1 of 2, .* 2 of them different"),
        (lasting_key, "x", "has 1 characters"),
        (lasting_key, "ab" * 40, "2 of them different"),
        (lambda: env_addresses.hosts("PLURANK_X", "localhost", is_production=True), "", "is not set"),
        (
            lambda: env_addresses.hosts("PLURANK_X", "localhost", is_production=True),
            "a.example,*",
            "would answer to any name",
        ),
        (lambda: env.debug("PLURANK_X", is_production=True), "true", "shows settings and source"),
        (lambda: env.secret("PLURANK_X", least=20), "too short", "has 9 characters"),
    ],
)
def test_what_is_unsafe_in_production_stops_the_start_and_says_why(monkeypatch, read, value, words):
    monkeypatch.setenv("PLURANK_X", value)
    with pytest.raises(ImproperlyConfigured, match=words) as caught:
        read()
    assert str(caught.value).startswith("PLURANK_X")
    assert len(value) < 6 or "example" in value or value not in str(caught.value), "an error repeats no secret"


def test_former_keys_and_the_lasting_key_are_taken_in_production_where_no_one_guesses_them(monkeypatch):
    monkeypatch.delenv("PLURANK_X", raising=False)
    assert (former_keys(), lasting_key()) == ([], KEY)
    monkeypatch.setenv("PLURANK_X", f"{KEY}, {KEY[::-1]}")
    assert former_keys() == [KEY, KEY[::-1]]
    monkeypatch.setenv("PLURANK_X", KEY[::-1])
    assert lasting_key() == KEY[::-1]


@pytest.mark.parametrize("name", ["PLURANK_OLD_SECRET_KEYS", "PLURANK_LASTING_KEY"])
def test_no_process_of_production_starts_with_another_weak_key(tmp_path, name):
    run = manage("check", tmp_path=tmp_path, **GOOD, **{name: "7q"})
    assert run.returncode != 0
    assert re.match(rf"{name}\b.* has 2 characters", run.stderr), run.stderr


def test_what_is_unsafe_in_production_is_a_convenience_elsewhere(monkeypatch, tmp_path):
    monkeypatch.delenv("PLURANK_X", raising=False)
    assert env_addresses.hosts("PLURANK_X", "localhost", is_production=False) == ["localhost"]
    assert env.secret("PLURANK_X", least=20) == ""
    monkeypatch.setenv("PLURANK_X", "true")
    assert env.debug("PLURANK_X", is_production=False) is True
    assert env.secret_key("PLURANK_X", tmp_path / "key", is_production=False) == "true"


@pytest.mark.parametrize("path", ["/", "/status/", "/no-such-page/", "/api/v1/benchmarks/", "/account/login/"])
def test_every_answer_carries_the_headers_that_tell_browsers_what_to_refuse(db, client, path):
    headers = client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    values = {name: headers[name] for name in ("X-Frame-Options", "X-Content-Type-Options", "Referrer-Policy")}
    assert values == {"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=(), display-capture=(), geolocation=()" in headers["Permissions-Policy"]


def test_the_one_page_with_a_wider_policy_allows_pictures_inside_its_own_style_and_nothing_else(db, client):
    usual = client.get("/").headers["Content-Security-Policy"].split("; ")
    wider = client.get("/api/docs/").headers["Content-Security-Policy"].split("; ")
    assert set(wider) ^ set(usual) == {"img-src 'self'", "img-src 'self' data:"}


def test_cookies_of_production_go_to_this_host_over_https_alone(tmp_path):
    program = (
        "import django, json; django.setup(); from django.conf import settings as s; print(json.dumps("
        "[s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.DEVICE_COOKIE_NAME, "
        "s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE, "
        "s.SESSION_COOKIE_HTTPONLY, s.SESSION_COOKIE_SAMESITE, s.SECURE_HSTS_SECONDS, s.SECURE_SSL_REDIRECT]))"
    )
    run = manage("shell", "--no-imports", "-c", program, tmp_path=tmp_path, **GOOD)
    expected = ["__Host-sessionid", "__Host-csrftoken", "__Host-device", True, True, True, "Lax", 31_536_000, True]
    assert json.loads(run.stdout.splitlines()[-1]) == expected


@pytest.mark.parametrize("prefix", ["", "/boards"])
def test_what_load_balancers_and_prometheus_ask_for_is_answered_without_https_and_nothing_else(prefix, tmp_path):
    program = (
        "from django.http import HttpResponse\n"
        "from django.middleware.security import SecurityMiddleware\n"
        "from django.test import RequestFactory\n"
        "answer = SecurityMiddleware(lambda request: HttpResponse())\n"
        "for path in ('/healthz/', '/metrics/', '/readyz/', '/b/metrics/'):\n"
        "    response = answer(RequestFactory().get(path, headers={'Host': 'boards.example'}))\n"
        "    print(response.status_code, response.get('Location', ''))"
    )
    run = manage("shell", "--no-imports", "-c", program, tmp_path=tmp_path, **GOOD | {"PLURANK_PREFIX": prefix})
    site = f"https://boards.example{prefix}"
    assert run.stdout.splitlines() == ["200 ", "200 ", f"301 {site}/readyz/", f"301 {site}/b/metrics/"], run.stderr


def test_what_a_site_writes_can_be_read_by_its_user_alone(tmp_path):
    var = tmp_path / "new" / "var"
    program = (
        "from django.db import connection; connection.cursor().execute('CREATE TABLE t (a)'); import os; os._exit(0)"
    )
    run = manage("shell", "--no-imports", "-c", program, tmp_path=var, DATABASE_URL="", REDIS_URL="")
    assert {path.name: stat.filemode(path.stat().st_mode) for path in [var, *var.iterdir()]} == {
        "var": "drwx------", "static": "drwx------", "secret_key": "-rw-------", "plurank.sqlite3": "-rw-------",
        "plurank.sqlite3-shm": "-rw-------", "plurank.sqlite3-wal": "-rw-------",
    }, run.stderr  # fmt: skip


# --- Logs ------------------------------------------------------------------------------------------------------------


def record(**extras):
    made = logging.makeLogRecord({"name": "plurank.x", "levelname": "INFO", "msg": "said %s", "args": ("so",)})
    vars(made).update(extras)
    return made


def test_a_record_says_which_request_and_job_it_belongs_to():
    with logged_as(request="abc"), logged_as(job=17):
        line, fields = LineFormatter().format(record()), json.loads(JsonFormatter().format(record(route="board")))
    assert line.endswith("INFO plurank.x: said so [request=abc job=17]")
    del fields["at"], fields["process"]
    expected = {"level": "INFO", "logger": "plurank.x", "message": "said so", "request": "abc", "job": 17}
    assert fields == expected | {"route": "board"}
    assert "[" not in LineFormatter().format(record())


def test_a_request_is_logged_by_its_route_and_never_by_its_address(db, client, caplog):
    with caplog.at_level(logging.INFO, logger="plurank.requests"):
        client.get("/join/a-secret-invitation/?q=what-i-looked-for")
    (logged,) = [r for r in caplog.records if r.name == "plurank.requests"]
    assert (logged.method, logged.route, logged.status) == ("GET", "join", 404)
    assert "secret" not in JsonFormatter().format(logged)


@pytest.mark.parametrize(
    ("path", "host", "line"),
    [
        ("/no/secret-page/", "testserver", "WARNING django.request: Not Found: none"),
        ("/no/secret-ü/", "testserver", "WARNING django.request: Not Found: none"),
        ("/b/{}/?revision=secret-1", "testserver", "WARNING django.request: Bad Request (BadRequest): board"),
        (
            "/b/{}/?q=secret", "x" * 200,
            f"WARNING django.security.DisallowedHost: Bad Request (Invalid HTTP_HOST header: '{'x' * 73}): none",
        ),
    ],
)  # fmt: skip
def test_what_django_itself_logs_about_a_request_is_a_line_that_names_no_address_either(
    make, client, caplog, path, host, line
):
    (handler,) = settings.LOGGING["handlers"].values()
    assert handler["filters"] == ["without_address", "repeated"]
    caplog.handler.addFilter(WithoutAddress())
    assert client.get(path.format(make.published().key), headers={"Host": host}).status_code in (400, 404)
    (logged,) = [r for r in caplog.records if r.name.startswith("django.")]
    assert LineFormatter().format(logged).split(" ", 2)[2] == line


def test_a_wrong_setting_ends_a_command_with_its_one_sentence(tmp_path):
    run = manage("check", tmp_path=tmp_path, **GOOD | {"PLURANK_SECRET_KEY": ""})
    expected = "PLURANK_SECRET_KEY is not set; in production it must be a long random string\n"
    assert (run.returncode, run.stderr) == (1, expected)


def test_a_deployment_without_postgresql_or_redis_is_told_so(tmp_path):
    run = manage("check", "--deploy", tmp_path=tmp_path, **GOOD | {"DATABASE_URL": "", "REDIS_URL": ""})
    assert run.returncode == 0
    assert "DATABASE_URL is not set" in run.stderr
    assert "REDIS_URL is not set" in run.stderr


def test_no_documented_setting_is_taken_for_a_misspelt_one_on_sqlite_either(tmp_path):
    """`manage.py` sets one of them itself, which SQLite has no use for."""
    rows = re.findall(r"^\| `(PLURANK_\w+)` \|", (settings.ROOT / "docs" / "settings.md").read_text(), re.MULTILINE)
    assert len(rows) > 80
    program = "from config import env; print(*env.asked_for)"
    run = manage("shell", "--no-imports", "-c", program, tmp_path=tmp_path, **GOOD | {"DATABASE_URL": ""})
    assert set(rows) <= set(run.stdout.split())
    run = manage("check", "--deploy", tmp_path=tmp_path, **GOOD | {"DATABASE_URL": "", "PLURANK_QUERY_SECONDS": "15"})
    assert "is not a setting" not in run.stderr


@pytest.mark.parametrize(
    ("backend", "problem"),
    [
        ("django.core.mail.backends.smtp.EmailBackendx", "cannot be imported: ImportError"),
        ("django.core.mail.get_connection", "is no class"),
        ("json.tool.main.x", "is no class of a module that is installed"),
    ],
)
@pytest.mark.parametrize("command", [("check", "--deploy"), ("sweep", "--once")])
def test_nothing_starts_with_a_backend_of_emails_that_there_is_not(tmp_path, backend, problem, command):
    run = manage(*command, tmp_path=tmp_path, **GOOD | {"PLURANK_EMAIL_BACKEND": backend})
    assert (run.returncode, run.stderr.count("\n")) == (1, 1)
    assert f"PLURANK_EMAIL_BACKEND='{backend}' {problem}" in run.stderr


@pytest.mark.parametrize(
    ("change", "sender"),
    [
        ({"PLURANK_URL": "https://lab.example:8443"}, "plurank@lab.example"),
        ({"PLURANK_HOSTS": "192.0.2.1"}, "plurank@localhost"),
    ],
)
def test_a_mail_server_without_a_named_sender_is_noted(tmp_path, change, sender):
    run = manage("check", "--deploy", tmp_path=tmp_path, **GOOD | {"PLURANK_EMAIL_FROM": ""} | change)
    assert f"(plurank.W006) PLURANK_EMAIL_FROM is not set: emails come from {sender}" in run.stderr


def test_the_name_of_a_mail_server_is_one(tmp_path):
    run = manage("check", tmp_path=tmp_path, **GOOD | {"PLURANK_EMAIL_HOST": "smtp exampel"})
    assert run.returncode == 1
    assert "PLURANK_EMAIL_HOST='smtp exampel' is no name of a host" in run.stderr


@pytest.mark.parametrize(("children", "is_much"), [("2", False), ("3", True)])
def test_computations_that_leave_no_thread_for_pages_are_noted(tmp_path, children, is_much):
    run = manage("check", "--deploy", tmp_path=tmp_path, **GOOD | {"PLURANK_ON_DEMAND_CHILDREN": children})
    warning = "(plurank.W005) PLURANK_ON_DEMAND_CHILDREN and PLURANK_ON_DEMAND_WAITING are 7 together"
    assert (warning in run.stderr) is is_much


def test_a_misspelt_setting_is_told_and_what_is_none_of_ours_is_left_alone(tmp_path):
    run = manage("check", "--deploy", tmp_path=tmp_path, **GOOD | {"PLURANK_ORIGIN": "x", "PLURANK_CI": "1"})
    assert "PLURANK_ORIGIN is not a setting" in run.stderr
    assert "Did you mean PLURANK_ORIGINS?" in run.stderr
    assert run.stderr.count("is not a setting") == 1


@pytest.mark.parametrize("given", ["abc-123-def", "x" * 64])
def test_the_id_that_a_proxy_gave_comes_back(db, client, given):
    assert client.get("/healthz/", headers={"X-Request-ID": given}).headers["X-Request-ID"] == given


@pytest.mark.parametrize("given", ["", "short", "x" * 65, "x" * 100_000, "a b<c>def", "abcdefgh\u00e9"])
def test_what_is_no_id_is_replaced_by_one_of_our_own_another_for_each_request(db, client, given):
    ids = [client.get("/healthz/", headers={"X-Request-ID": given}).headers["X-Request-ID"] for _ in range(2)]
    assert [len(own) for own in ids] == [32, 32]
    assert ids[0] != ids[1]
