"""Owners declare suggested clusters with one click; tests and intervals then count them as one."""

import re
from copy import deepcopy

import pytest

from jobs.runner import run_job
from leaderboard.benchmarks.cluster_suggestions import cluster_suggestions, declare_suggested
from leaderboard.benchmarks.tasks import StaleProposalError
from leaderboard.models import AuditEntry, Job, Report
from leaderboard.rankings.confidence.dependence import published_dependence
from tests.factories import owner_of
from tests.leaderboard.rankings.confidence.test_dependence import overlapping_scores, published, words


@pytest.fixture(scope="module")
def made_once(make_once):
    return published(make_once, overlapping_scores())


@pytest.fixture
def benchmark(made_once, make):
    """A board of nine tasks, of which two families of three repeat each other."""
    return deepcopy(made_once)


def clusters(benchmark) -> dict[str, str]:
    return dict(benchmark.tasks.exclude(cluster="").values_list("name", "cluster"))


def test_an_owner_declares_a_suggestion_with_one_click(benchmark, client):
    client.force_login(owner_of(benchmark))
    page = client.get(f"/b/{benchmark.key}/manage/tasks/").content.decode()
    numbers = re.findall(r'name="suggestion" value="(\d+)"', page)
    assert numbers == ["0", "1"]
    assert all(one.cluster in words(page) for one in cluster_suggestions(benchmark))
    first = cluster_suggestions(benchmark)[0]
    answer = client.post(f"/b/{benchmark.key}/manage/clusters/", {"suggestion": "0", "revision": "1"}, follow=True)
    assert "Declared as one cluster. Revision 2 is being computed." in words(answer.content.decode())
    assert clusters(benchmark) == dict.fromkeys(first.task_names, first.cluster)
    assert re.findall(r'name="suggestion" value="(\d+)"', answer.content.decode()) == ["1"]
    entries = AuditEntry.objects.filter(benchmark=benchmark, field="cluster")
    assert {entry.actor for entry in entries} == {owner_of(benchmark)}
    assert len(entries) == 3


def test_the_next_revision_counts_the_cluster_as_one(benchmark, make):
    for suggestion in cluster_suggestions(benchmark):
        benchmark.refresh_from_db()
        declare_suggested(benchmark, suggestion.number, revision_number=1, author=owner_of(benchmark))
    benchmark = make.publish(benchmark)
    run_job(Job.objects.get(kind="significance", benchmark=benchmark, sequence=3).pk, worker="test")
    summary = Report.objects.get(kind="significance", revision__number=3).summary
    assert (summary["rules"]["borda"]["n_clusters"], len(summary["dependence"]["clusters"])) == (5, 5)
    dependence = published_dependence(benchmark.publication)
    assert dependence.suggestions == []
    assert dependence.sentence.startswith("The tests assume 5 clusters of tasks, by group or as the owners declared.")
    assert cluster_suggestions(benchmark) == []


def test_the_name_of_a_cluster_is_not_that_of_another(benchmark):
    first, second = cluster_suggestions(benchmark)
    benchmark.tasks.filter(key=second.task_keys[0]).update(cluster=first.cluster)
    declare_suggested(benchmark, first.number, revision_number=1, author=owner_of(benchmark))
    assert {clusters(benchmark)[name] for name in first.task_names} == {f"{first.cluster} 2"}


@pytest.mark.parametrize(("number", "revision_number"), [(0, 2), (7, 1)])
def test_a_suggestion_that_is_no_more_changes_nothing(benchmark, number, revision_number):
    with pytest.raises(StaleProposalError):
        declare_suggested(benchmark, number, revision_number=revision_number, author=owner_of(benchmark))
    assert clusters(benchmark) == {}


@pytest.mark.parametrize(
    "sent", [{}, {"suggestion": "x", "revision": "1"}, {"suggestion": "²", "revision": "1"}, {"suggestion": "9" * 5000}]
)
def test_a_request_without_a_number_is_refused(benchmark, client, sent):
    client.force_login(owner_of(benchmark))
    assert client.post(f"/b/{benchmark.key}/manage/clusters/", sent).status_code == 400
    assert clusters(benchmark) == {}
