"""Around the table of a board: whether the first can be told from the second, and what there is as files."""

import re

import pytest

from leaderboard.boards.answers import leader_verdict
from tests.leaderboard.rankings.confidence.test_significance import SPLIT, computed

FEW = {name: row[:5] for name, row in SPLIT.items()}
LEADING_PAIR = {"Even": SPLIT["Even"], "Odd": SPLIT["Odd"], "Behind": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", "", page))


def files_of(page: str) -> list[str]:
    part = page.partition('id="downloads"')[2].partition("</section>")[0]
    return re.findall(r'href="([^"]+)"', part)


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        (SPLIT, "The first differs significantly from the second; 1 of 2 pairs of neighbours differ significantly."),
        (
            LEADING_PAIR,
            "The first does not differ significantly from the second; 1 of 2 pairs of neighbours differ significantly.",
        ),
        (
            FEW,
            "5 tasks are too few to show any significant difference (3 pairs at once).",
        ),
    ],
)
def test_whether_the_first_can_be_told_from_the_second_stands_above_the_board(make, client, scores, verdict):
    benchmark = computed(make, scores)
    page = client.get(f"/b/{benchmark.key}/").content.decode()
    tests_url = f"/b/{benchmark.key}/stability/?rule=borda#significance"
    assert verdict in text_of(page)
    assert f'href="{tests_url}"' in page
    assert 'id="significance"' in client.get(tests_url).content.decode()


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["separable"], "differs significantly from the second"),
        (["not separable"], "does not differ significantly from the second"),
        (["contradicted"], "is significantly behind the second, against the order of the ranking"),
        (["separable", "separable"], "differs significantly from all 2 systems on rank 2"),
        (["separable", "not separable"], "differs significantly from 1 of the 2 systems on rank 2"),
        (["not separable"] * 2, "does not differ significantly from any of the 2 systems on rank 2"),
        (["separable", "contradicted"], "is significantly behind a system on rank 2, against the order of the ranking"),
        (["separable", "too few tasks to tell"], ""),
        ([], ""),
    ],
)
def test_the_first_differs_only_where_it_does_from_every_system_on_rank_2(verdicts, words):
    assert leader_verdict(verdicts) == words


def test_every_file_that_a_board_offers_is_there_and_scores_come_first(make, client):
    benchmark = make.published({"A": [1.0, 2.0], "B": [2.0, 1.5]})
    files = files_of(client.get(f"/b/{benchmark.key}/?reference=mean").content.decode())
    assert [client.get(file.replace("&amp;", "&")).status_code for file in files] == [200] * len(files)
    assert files[0] == f"/b/{benchmark.key}/exports/scores.csv"
    assert f"/b/{benchmark.key}/board.csv?reference=mean" in files
    assert files[-1] == f"/b/{benchmark.key}/exports/folder.zip"


def test_who_may_not_see_scores_is_offered_the_ranks_alone(make, client):
    benchmark = make.published({"A": [1.0, 2.0], "B": [2.0, 1.5]}, score_view="ranks")
    files = files_of(client.get(f"/b/{benchmark.key}/").content.decode())
    assert [file.rpartition("/")[2].partition(".")[0] for file in files] == ["board"] * 4


def test_a_board_says_why_rules_leave_systems_out(make, client):
    lacking = make.published({"A": [1.0, 2.0], "B": [2.0, 1.5], "C": [3.0, None]})
    too_low = make.published({"A": [1.0, 2.0], "B": [2.0, 1.5], "C": [3.0, 0.0]})
    both = make.published({"A": [1.0, 2.0], "B": [2.0, None], "C": [3.0, 0.0]})
    said = [text_of(client.get(f"/b/{board.key}/").content.decode()) for board in (lacking, too_low, both)]
    no_mean = "have a score of 0 or less, so there is no geometric or harmonic mean."
    assert "of 3 systems; the others lack scores." in said[0]
    assert f"Geometric mean and Harmonic mean rank 2 of 3 systems; the others {no_mean}" in said[1]
    assert f"of 3 systems; the others lack scores or {no_mean}" in said[2]
