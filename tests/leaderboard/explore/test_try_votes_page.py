"""The page on which anyone rates systems by votes: its figures, what it refuses, and that nothing is kept."""

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaderboard.explore.views_try_votes import EXAMPLE
from ranking_engine.votes.reading import read_votes
from ranking_engine.votes.report import vote_report

URL = "/try/votes/"
HEADER = "model_a,model_b,winner\n"
pytestmark = pytest.mark.django_db


def test_the_example_has_the_figures_of_the_engine(client):
    page = client.get(reverse("try_votes"), {"example": "1"}).content.decode()
    report = vote_report(read_votes(EXAMPLE.encode()))
    for row in report["systems"]:
        assert f'<th scope="row">{row["system"]}</th>' in page
        assert f'<td class="number">{row["points"]:.1f}</td>' in page
    for part in report["categories"]["categories"]:
        assert f'<th scope="row">{part["category"]}</th>' in page
    assert "Without " in page
    assert report["first_place"]["rival"] in page


@pytest.mark.parametrize("name", ["text", "file"])
def test_votes_are_pasted_or_uploaded(client, name):
    sent = SimpleUploadedFile("battles.csv", EXAMPLE.encode()) if name == "file" else EXAMPLE
    answer = client.post(URL, {name: sent, "model": "davidson"})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "The tie parameter nu" in page
    assert "Ash,Birch,model_a,code" in page  # the votes are in the form again


@pytest.mark.parametrize(
    ("form", "status", "message"),
    [
        ({"text": ""}, 400, "Paste votes, choose a file, or take the example."),
        ({"text": HEADER + "A,B,maybe\n"}, 400, "line 2, column &#x27;winner&#x27;: &#x27;maybe&#x27; is no outcome"),
        ({"text": "system,x\nA,1\n"}, 400, "no column is a or b or winner"),
        ({"text": HEADER + "A,B,tie\n", "cluster": "voter"}, 400, "the votes do not say the voter"),
        ({"text": HEADER + "A,B,tie\n", "model": "elo"}, 400, "Select a valid choice"),
        ({"text": HEADER + "<b>x</b>,B,tie\n"}, 200, "&lt;b&gt;x&lt;/b&gt;"),
    ],
)
def test_what_cannot_be_rated_says_why(client, form, status, message):
    answer = client.post(URL, form)
    assert (answer.status_code, message in answer.content.decode()) == (status, True)


def test_more_than_the_page_takes_is_refused(client, settings):
    settings.TRY_BYTES, settings.TRY_SYSTEMS = 1_000, 3
    assert "More than 1 kB is too large" in client.post(URL, {"text": HEADER + "A,B,tie\n" * 200}).content.decode()
    rows = "".join(f"s{k},t{k},tie\n" for k in range(2))
    assert "4 systems; at most 3 are rated here" in client.post(URL, {"text": HEADER + rows}).content.decode()
    assert client.post(URL, {"text": "x" * 200_000}).status_code == 413


def test_groups_that_votes_do_not_connect_are_a_column(client):
    page = client.post(URL, {"text": HEADER + "A,B,tie\nC,D,tie\n"}).content.decode()
    assert "The votes connect 2 groups of systems" in page
    assert '<th scope="col" class="number">Group</th>' in page


def test_tries_are_limited(client, settings):
    cache.clear()
    settings.API_RATES = {**settings.API_RATES, "try": "1/min"}
    statuses = [client.post(URL, {"text": HEADER + "A,B,tie\n"}).status_code for _ in range(2)]
    assert statuses == [200, 429]


def test_a_page_shows_so_many_categories_as_it_can_take(client):
    chain = "".join(f"S{k:03},S{k + 1:03},tie,all\n" for k in range(200))
    many = "".join(f"S000,S001,tie,c{k:03}\n" for k in range(60))
    answer = client.post(URL, {"text": "model_a,model_b,winner,category\n" + chain + many})
    categories = answer.context["rated"].categories
    assert len(categories) == 5_000 // 201
    assert f"{61 - len(categories)} more categories are not shown" in answer.content.decode()
