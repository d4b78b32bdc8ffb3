"""A site below a path of its host: links, static files, redirects, cookies, the API, whatever the proxy passes on."""

import io
import re
from urllib.parse import urlencode

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import override_settings
from django.urls import clear_script_prefix

from config import env_addresses
from config.processes.prefix import without_prefix
from config.processes.requests import Handler
from tests.config.test_production import GOOD, manage
from tests.factories import owner_of

BELOW = {
    "STATIC_URL": "/boards/static/",
    "FORCE_SCRIPT_NAME": "/boards", "SESSION_COOKIE_PATH": "/boards/", "CSRF_COOKIE_PATH": "/boards/",
    "DEVICE_COOKIE_PATH": "/boards/", "WHITENOISE_USE_FINDERS": True, "WHITENOISE_AUTOREFRESH": True,
}  # fmt: skip


@pytest.fixture(params=["passed on", "taken away"])
def ask(request, make):
    """Asks the application as gunicorn does, behind a proxy that passes the prefix on, or takes it away."""

    def answer(path: str, *, method: str = "GET", body: bytes = b"", **headers: str):
        path, _, query = path.partition("?")
        path = path if request.param == "passed on" else path.removeprefix("/boards")
        said: dict = {}
        environ = {
            "REQUEST_METHOD": method, "PATH_INFO": path,
            "QUERY_STRING": query, "SERVER_NAME": "testserver", "SERVER_PORT": "80", "SCRIPT_NAME": "",
            "CONTENT_LENGTH": str(len(body)), "CONTENT_TYPE": "application/x-www-form-urlencoded",
            "wsgi.input": io.BytesIO(body), "wsgi.errors": io.StringIO(), "wsgi.url_scheme": "http", **headers,
        }  # fmt: skip
        parts = application(environ, lambda status, fields, *_: said.update(status=status, headers=fields))
        content = b"".join(parts)
        parts.close()
        return int(said["status"][:3]), said["headers"], content.decode(errors="replace")

    for signal in (request_started, request_finished):  # they would close the database of the test
        signal.disconnect(close_old_connections)
    with override_settings(**BELOW):
        application = without_prefix(Handler())
        yield answer
    clear_script_prefix()
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def addresses(text: str) -> list[str]:
    """Every address of this site in a page."""
    paths = re.findall(r"(?:href|src|action|hx-get|data-url)=\"(/[^\"]*)\"", text)
    return [address for address in paths if not address.startswith("//")]


@pytest.mark.parametrize("path", ["", "b/KEY/", "b/KEY/stability/", "b/KEY/what-if/", "rules/", "docs/api/", "try/"])
def test_every_address_of_a_page_is_below_the_prefix(ask, make, path):
    benchmark = make.published()
    status, _, text = ask(f"/boards/{path.replace('KEY', benchmark.key)}")
    assert status == 200
    links = addresses(text)
    assert len(links) > 10
    assert [address for address in links if not address.startswith("/boards/")] == []
    assert re.findall(r"http://(?:testserver|127\.0\.0\.1:8000)/(?!boards/)[^\"<]*", text) == []


def test_static_files_and_errors_of_pages_and_of_the_api_are_there(ask, make):
    page = ask("/boards/")[2]
    sheet = next(address for address in addresses(page) if "css/base" in address)
    assert ask(sheet)[0] == 200
    status, headers, _ = ask("/boards/api/v1/benchmarks/nothing/")
    assert (status, dict(headers)["Content-Type"].partition(";")[0]) == (404, "application/json")
    assert ask("/boards/nothing/")[0] == 404
    assert ask("/boards")[0] == 200


def test_redirects_and_cookies_stay_below_the_prefix(ask, make):
    owner = owner_of(make.published())
    status, headers, _ = ask("/boards/account/tokens/")
    assert (status, dict(headers)["Location"]) == (302, "/boards/account/login/?next=/boards/account/tokens/")
    owner.set_password("a long password")
    owner.save()
    cookies = [value for name, value in ask("/boards/account/login/")[1] if name == "Set-Cookie"]
    assert cookies
    token = re.search(r"csrftoken=(\w+)", "".join(cookies))[1]
    form = {"login": owner.email, "password": "a long password", "csrfmiddlewaretoken": token}
    status, headers, _ = ask(
        "/boards/account/login/", method="POST", body=urlencode(form).encode(), HTTP_COOKIE=f"csrftoken={token}"
    )
    assert (status, dict(headers)["Location"].startswith("/boards/account/")) == (302, True)
    cookies += [value for name, value in headers if name == "Set-Cookie"]
    # Django gives the cookie of messages no path of its own; it is signed, and gone with the next page.
    cookies = [cookie for cookie in cookies if not cookie.strip().startswith("messages=")]
    assert [cookie for cookie in cookies if "Path=/boards/" not in cookie] == []
    assert {cookie.strip().partition("=")[0] for cookie in cookies} >= {"csrftoken", "sessionid"}


def test_cookies_of_production_have_names_for_parts_of_a_host_then(tmp_path):
    program = "from django.conf import settings as s;"
    program += " print(s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_PATH, s.FORCE_SCRIPT_NAME)"
    answers = [
        manage("shell", "--no-imports", "-c", program, tmp_path=tmp_path, **GOOD | variables).stdout.strip()
        for variables in ({}, {"PLURANK_PREFIX": "/boards/"})
    ]
    assert answers == ["__Host-sessionid / None", "__Secure-sessionid /boards/ /boards"]


@pytest.mark.parametrize("value", ["boards", "/a b", "//host", "/a?b", "https://host/boards"])
def test_what_is_no_path_is_refused(monkeypatch, value):
    monkeypatch.setenv("X", value)
    with pytest.raises(Exception, match="X="):
        env_addresses.prefix("X")
