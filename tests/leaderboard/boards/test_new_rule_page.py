"""A rule with nothing but its record is on the pages about rules; its own page has what `docs/rules` says of it."""

import pytest

from leaderboard.boards import catalogue
from tests.ranking_engine.catalogue.test_one_record import trial  # noqa: F401 -- the fixture

pytestmark = pytest.mark.django_db


@pytest.mark.usefixtures("trial")
def test_it_is_listed_chosen_and_has_a_page(client, monkeypatch):
    assert "Podium" in client.get("/rules/").content.decode()
    assert "Podium" in client.get("/rules/", {"family": "positional"}).content.decode()
    assert client.get("/rules/choose/", {"scores": "orders"}).status_code == 200
    monkeypatch.setattr(catalogue, "section_html", lambda document, section: f"<p>{document}: {section}</p>")
    page = client.get("/rules/podium/").content.decode()
    assert "rules/podium: Definition" in page
    assert "Where only the first three places of each task matter." in page
