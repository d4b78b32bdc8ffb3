"""Systems that are ticked on the board and compared: two as a pair, three to five side by side."""

import re
from urllib.parse import quote

import pytest

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Benchmark
from tests.markup import compact

pytestmark = pytest.mark.django_db
SCORES = {"A": [9.0, 1.0, 5.0], "B": [7.0, 3.0, 5.0], "C": [1.0, 2.0, None], "D": [0.0, 9.0, 1.0]}


@pytest.fixture
def benchmark(make) -> Benchmark:
    tasks = [TaskSpec("Up"), TaskSpec("Down", direction=-1), TaskSpec("Gap")]
    return make.published(SCORES, tasks=tasks, missing_policy="median")


def rows_of(body: str) -> dict[str, list[tuple[str, bool]]]:
    """{first cell: [(text, marked as the best)]} of the table of scores."""
    table = body.partition("Scores side by side")[2].partition("</table>")[0]
    rows = {}
    for row in re.findall(r"<tr>(.*?)</tr>", table):
        head = re.sub("<[^>]*>", "", row.partition("</th>")[0]).strip()
        cells = re.findall(r'<td class="number( wins)?">\s*([^<]*?)\s*</td>', row)
        rows[head] = [(text, bool(best)) for best, text in cells]
    return rows


def test_three_systems_are_side_by_side_with_the_best_of_each_task_marked(client, benchmark):
    body = compact(client.get(f"/b/{benchmark.key}/head-to-head/?pin=a&pin=c&pin=d"))
    assert "A, C and D side by side" in body
    rows = rows_of(body)
    assert rows["Up"] == [("9", True), ("1", False), ("0", False)]
    assert rows["Down"] == [("1", True), ("2", False), ("9", False)]  # less is better
    assert rows["Gap"] == [("5", True), ("–", False), ("1", False)]
    assert [text for text, _ in rows["Number of tasks on which it is best of these"]] == ["3", "0", "0"]
    assert body.count('<circle class="dot-') == 8  # a dot for each score


def test_with_nothing_ticked_the_page_says_what_to_select(client, benchmark):
    path = f"/b/{benchmark.key}/head-to-head/"
    board = compact(client.get(f"/b/{benchmark.key}/"))
    assert f'formaction="{path}" name="compare" value="1"' in board
    nothing = 'You selected no systems. Tick two or more on <a href="/b/'
    assert nothing in compact(client.get(f"{path}?compare=1&q="))
    assert nothing not in compact(client.get(path))
    assert client.get(f"{path}?compare=1&pin=a&pin=d")["Location"] == f"{path}?a=a&b=d#pair"
    location = client.get(f"{path}?compare=1&pin=a&pin=b&pin=c")["Location"]
    assert location == f"{path}?pin=a&pin=b&pin=c#pair"


def test_two_ticked_systems_are_a_pair_and_one_waits_for_another(client, benchmark):
    path = f"/b/{benchmark.key}/head-to-head/"
    assert client.get(f"{path}?pin=a&pin=d&sort=mean&q=")["Location"] == f"{path}?a=a&b=d#pair"
    assert client.get(f"{path}?pin=a")["Location"] == f"{path}?a=a#pair"
    body = compact(client.get(f"{path}?a=d"))
    assert '<input name="a" value="D"' in body


def test_the_address_is_cleared_of_what_the_board_sends_along_and_five_are_the_most(client, benchmark):
    path = f"/b/{benchmark.key}/head-to-head/"
    sent = "".join(f"&pin={key}" for key in ("a", "b", "a", "c", "d", "x" * 5000, "y"))
    location = client.get(f"{path}?q=&columns_of=3{sent}")["Location"]
    assert location == f"{path}?pin=a&pin=b&pin=c&pin=d&pin={quote('x' * 200)}#pair"
    assert "A, B, C and D side by side" in compact(client.get(location))  # what is not on the board is left out


def test_the_fields_begin_with_the_first_two_and_offer_every_name(client, benchmark):
    body = compact(client.get(f"/b/{benchmark.key}/head-to-head/?rule=mean"))
    assert '<input name="a" value="A"' in body
    assert '<input name="b" value="B"' in body
    offered = body.partition('<datalist id="system-names">')[2].partition("</datalist>")[0]
    assert re.findall(r'value="(.)"', offered) == ["A", "B", "D", "C"] or len(re.findall("<option", offered)) == 4


def test_the_board_offers_to_compare_what_is_ticked_unless_scores_are_hidden(make, client, benchmark):
    link = f'formaction="/b/{benchmark.key}/head-to-head/"'
    assert link in compact(client.get(f"/b/{benchmark.key}/"))
    Benchmark.objects.filter(pk=benchmark.pk).update(score_view=Benchmark.ScoreView.RANKS)
    assert link not in compact(client.get(f"/b/{benchmark.key}/"))
    assert client.get(f"/b/{benchmark.key}/head-to-head/?pin=a&pin=b&pin=c").status_code == 403
