"""A board with one system: pages that compare say that they need a second one, in place of empty grids."""

from urllib.parse import urlencode

import pytest
from django.urls import reverse

from tests.markup import compact

pytestmark = pytest.mark.django_db
SENTENCE = "has one system so far. Rankings compare systems"
SENT_IN_VAIN = "Nothing was stored: sign in, then fill in the form again."


@pytest.mark.parametrize("page", ["", "agreement/", "head-to-head/", "what-if/"])
def test_with_one_system_a_page_says_what_is_needed_and_draws_no_grid(make, client, page):
    benchmark = make.published({"Only one": [1.0, 2.0, 3.0]})
    text = compact(client.get(f"/b/{benchmark.key}/{page}"))
    content = text.partition("<main")[2]
    assert SENTENCE in content
    assert not page or "<svg" not in content
    assert "rules that have a winner" not in content
    assert content.count("<tr") <= 3  # the board itself has its head and its one row


def test_with_two_systems_no_page_says_so(make, client):
    benchmark = make.published({"A": [1.0, 2.0, 3.0], "B": [2.0, 1.0, 0.0]})
    for page in ("", "agreement/", "head-to-head/", "prospects/", "what-if/"):
        assert SENTENCE not in compact(client.get(f"/b/{benchmark.key}/{page}"))


def test_an_address_that_only_takes_a_form_is_a_page_with_a_way_back(make, client):
    benchmark = make.published()
    client.force_login(benchmark.memberships.get(role="owner").user)
    response = client.get(f"/b/{benchmark.key}/manage/studies/run/")
    assert (response.status_code, response["Allow"]) == (405, "POST")
    assert f'href="/b/{benchmark.key}/manage/studies/"' in compact(response)
    assert client.put(f"/b/{benchmark.key}/").content == b""


def test_whose_session_ended_gets_back_to_the_page_with_the_form_after_signing_in(make, client):
    benchmark = make.published()
    page, form = (f"/b/{benchmark.key}/manage/{name}" for name in ("releases/?from=mail", "edition/"))

    def sent(address):
        answer = client.post(form, {"name": "Next"}, headers={"Referer": address} if address else {})
        assert answer.status_code == 302
        return answer["Location"]

    sign_in = reverse("account_login")
    assert sent(f"http://testserver{page}") == f"{sign_in}?{urlencode({'next': page}, safe='/')}"
    assert SENT_IN_VAIN in compact(client.get(sign_in))
    assert SENT_IN_VAIN not in compact(client.get(sign_in))
    for elsewhere in ("", f"http://other.example{page}", f"//other.example{page}"):
        assert sent(elsewhere) == f"{sign_in}?next={form}"
    assert client.get(page)["Location"] == f"{sign_in}?{urlencode({'next': page}, safe='/')}"
