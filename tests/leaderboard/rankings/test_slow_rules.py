"""Rules that are slow at a board's size: the board does not wait for them, and says so."""

import pytest
from django.urls import reverse

from jobs.runner import run_job
from leaderboard.benchmarks.demonstration import FOLDER
from leaderboard.benchmarks.folders import import_folder
from leaderboard.models import Job, ListedBoard, Report
from leaderboard.rankings.published import published_board
from leaderboard.rankings.score_matrix import revision_matrix
from ranking_engine import rank, slow_rules

SLOW = ("kemeny", "soft_condorcet")


@pytest.fixture
def benchmark(make, monkeypatch):
    """BIG-Bench Hard, where the order of Kemeny and that of soft Condorcet take longest; they count as slow here."""
    monkeypatch.setattr("ranking_engine.catalogue.rule.QUICK_SECONDS", 0.05)
    return make.publish(import_folder(FOLDER / "bigbench-hard", owner=make.user("owner")))


def columns(benchmark):
    return {column.rule: column for column in published_board(benchmark.publication).columns}


def test_a_board_is_there_before_its_slow_rules(benchmark, client):
    assert slow_rules(107, 27) == SLOW
    assert {rule for rule, column in columns(benchmark).items() if column.status == "computing"} == set(SLOW)
    page = client.get(reverse("board", args=[benchmark.key])).content.decode()
    assert "It is slower than the others and is being computed." in page
    assert Job.objects.get(kind="slow_rankings").state == "waiting"


def test_the_job_of_the_slow_rules_fills_their_columns(benchmark):
    before = columns(benchmark)
    assert run_job(Job.objects.get(kind="slow_rankings").pk, worker="test") == "done"
    after = columns(benchmark)
    expected = rank(revision_matrix(benchmark.publication.revision).matrix, "kemeny")
    assert expected.details["proven"] is True
    assert after["kemeny"].ranks.tolist() == expected.ranks.tolist()
    assert after["kemeny"].remark.startswith("Proven optimal: no order disagrees less with the tasks (distance 25033).")
    assert {rule: column.ranks.tolist() for rule, column in after.items() if rule not in SLOW} == {
        rule: column.ranks.tolist() for rule, column in before.items() if rule not in SLOW
    }


def test_lists_say_whom_the_slow_rules_elect_as_soon_as_it_is_known(benchmark):
    before = ListedBoard.objects.get(publication=benchmark.publication)
    run_job(Job.objects.get(kind="slow_rankings").pk, worker="test")
    after = ListedBoard.objects.get(publication=benchmark.publication)
    table = revision_matrix(benchmark.publication.revision)
    elected = []
    for rule in SLOW:
        winners = [table.systems[i].name for i in rank(table.matrix, rule).winners]
        elected.append([rule, winners, len(winners)])
    assert sorted(after.winners) == sorted([*before.winners, *elected])
    newest = Report.objects.filter(revision=benchmark.publication.revision, kind="ranking").latest("created_at")
    assert before.updated_at < after.updated_at == newest.created_at


def test_a_board_without_slow_rules_brings_no_job_for_them(make):
    make.published()
    assert not Job.objects.filter(kind="slow_rankings").exists()
