"""What programs ask for at addresses that they know beforehand."""

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest
from django.test import override_settings

from config import env_addresses
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.operations import views_crawlers
from tests.factories import owner_of


def addresses(response) -> list[str]:
    return [element.text for element in ET.fromstring(response.content).iter() if element.tag.endswith("}loc")]


def test_robots_leave_accounts_forms_and_what_is_computed_alone(client, db):
    response = client.get("/robots.txt")
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    lines = response.content.decode().splitlines()
    assert lines[:2] == ["User-agent: *", "Disallow: /account/"]
    assert "Disallow: /b/*/manage/" in lines
    assert lines[-1] == "Sitemap: http://127.0.0.1:8000/sitemap.xml"
    again = client.get("/robots.txt", headers={"If-None-Match": response["ETag"]})
    assert again.status_code == 304


def test_the_sitemap_has_the_pages_that_anyone_may_read(client, make):
    boards = {visibility: make.published(visibility=visibility) for visibility in ("public", "unlisted", "private")}
    for board in boards.values():
        freeze_revision(board, author=owner_of(board), number=1, name="One")
    make.benchmark({}, n_tasks=2)  # nothing is published of it
    client.force_login(owner_of(boards["private"]))  # a sitemap is the same for everyone
    base, key = "http://127.0.0.1:8000", boards["public"].key
    listed = addresses(client.get("/sitemap.xml"))
    assert [one for one in listed if "/b/" in one] == [f"{base}/b/{key}/", f"{base}/b/{key}/releases/one/"]
    assert {client.get(one.removeprefix(base)).status_code for one in listed} == {200}


def test_a_long_sitemap_has_what_changed_last(client, make, monkeypatch, django_assert_num_queries):
    keys = [make.published().key for _ in range(3)]
    monkeypatch.setattr(views_crawlers, "MAX_LISTED", 2)
    with django_assert_num_queries(2):
        listed = addresses(client.get("/sitemap.xml"))
    assert [one.split("/")[-2] for one in listed if "/b/" in one] == [keys[2], keys[1]]


def test_without_a_contact_there_is_no_security_txt(client, db):
    assert client.get("/.well-known/security.txt").status_code == 404


def test_security_txt_names_the_contact_and_expires_within_a_year(client, db):
    with override_settings(SECURITY_CONTACT="mailto:security@boards.example"):
        response = client.get("/.well-known/security.txt")
    fields = dict(line.split(": ", 1) for line in response.content.decode().splitlines())
    expires = datetime.fromisoformat(fields.pop("Expires"))
    assert timedelta(days=100) < expires - datetime.now(UTC) < timedelta(days=365)
    assert fields == {
        "Contact": "mailto:security@boards.example",
        "Preferred-Languages": "en",
        "Canonical": "http://127.0.0.1:8000/.well-known/security.txt",
        "Policy": "http://127.0.0.1:8000/docs/security/",
    }
    assert client.get("/docs/security/").status_code == 200


@pytest.mark.parametrize(
    ("value", "uri"),
    [
        ("", ""), ("a@b.example", "mailto:a@b.example"), ("mailto:a@b.example", "mailto:a@b.example"),
        ("https://b.example/report", "https://b.example/report"),
    ],
)  # fmt: skip
def test_a_contact_is_an_address_or_a_page(monkeypatch, value, uri):
    monkeypatch.setenv("X", value)
    assert env_addresses.contact("X") == uri


@pytest.mark.parametrize("value", ["http://b.example/", "me", "a@b.example\nContact: x@y.example", "https://", "a b@c"])
def test_what_is_no_contact_is_refused_by_name(monkeypatch, value):
    monkeypatch.setenv("X", value)
    with pytest.raises(Exception, match="X="):
        env_addresses.contact("X")


@pytest.mark.parametrize("path", ["/", "/rules/borda/", "/docs/settings/"])
def test_pages_have_a_canonical_address_without_their_parameters(client, db, path):
    text = client.get(path + "?q=1").content.decode()
    assert f'<link rel="canonical" href="http://127.0.0.1:8000{path}">' in text
    assert f'<meta property="og:url" content="http://127.0.0.1:8000{path}">' in text
    assert "canonical" not in client.get("/b/nothing/").content.decode()
