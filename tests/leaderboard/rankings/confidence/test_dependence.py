"""What pages say of tasks that are not independent, against correlations computed with a regression."""

import re

import numpy as np
import pytest
from django.test import override_settings
from django.urls import reverse

from jobs.runner import run_job
from leaderboard.models import Benchmark, Job, Report
from leaderboard.queue.kinds import JOB_KINDS
from leaderboard.rankings.confidence.dependence import cluster_name, dependence_of, published_dependence
from leaderboard.rankings.configuration import configuration_of


def overlapping_scores(n_systems: int = 40, seed: int = 1) -> np.ndarray:
    """Nine tasks: two families of three that repeat each other, and three that repeat nothing."""
    generator = np.random.default_rng(seed)
    ability = generator.normal(0, 1, (n_systems, 1))
    shared = generator.normal(0, 1, (n_systems, 5))[:, [0, 0, 0, 1, 1, 1, 2, 3, 4]]
    return (50 + 10 * (ability + shared + 0.4 * generator.normal(0, 1, (n_systems, 9)))).round(1)


def published(make, scores: np.ndarray, **fields):
    names = {f"System {i}": row.tolist() for i, row in enumerate(scores)}
    benchmark = make.publish(make.benchmark(names, **fields))
    with override_settings(JOB_LEASE_SECONDS=600):  # as in `Factory.publish`
        run_job(Job.objects.get(kind="significance", benchmark=benchmark).pk, worker="test")
    return benchmark


def draw_tasks(benchmark):
    """The job of rank intervals, with as many draws as say whether they are wide: with more it takes seconds."""
    jobs = Job.objects.filter(kind="bootstrap", benchmark=benchmark)
    jobs.update(parameters=JOB_KINDS["bootstrap"].parameters | {"n_resamples": 100})
    with override_settings(JOB_LEASE_SECONDS=600):  # as in `Factory.publish`
        run_job(jobs.get().pk, worker="test")


@pytest.fixture(scope="module")
def overlapping_once(make_once):
    return published(make_once, overlapping_scores())


@pytest.fixture
def overlapping(overlapping_once, make) -> Benchmark:
    """A board of tasks that overlap, as it is in the database."""
    return Benchmark.objects.select_related("publication__revision__configuration").get(pk=overlapping_once.pk)


def words(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page))


def correlation_by_hand(scores: np.ndarray, a: int, b: int) -> float:
    """Of two tasks, after the effects of systems are taken out of each as far as it reflects them."""
    measured = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    correlations = np.corrcoef(measured.T)
    loadings = np.full(len(correlations), 0.9)
    for _ in range(100):
        np.fill_diagonal(correlations, loadings**2)
        loadings = correlations.sum(axis=0) / np.sqrt(correlations.sum())
    left = measured - np.outer(measured @ loadings / (loadings @ loadings), loadings)
    return float(np.corrcoef(left[:, a], left[:, b])[0, 1])


def test_families_of_tasks_are_suggested_with_their_average_correlation(overlapping):
    scores = overlapping_scores()
    dependence = published_dependence(overlapping.publication)
    families = [
        ((f"Task {t + 1}", f"Task {t + 2}", f"Task {t + 3}"), [(t, t + 1), (t, t + 2), (t + 1, t + 2)]) for t in (0, 3)
    ]
    expected = {
        names: f"{np.mean([correlation_by_hand(scores, a, b) for a, b in pairs]):.2f}" for names, pairs in families
    }
    assert {one.task_names: one.correlation for one in dependence.suggestions} == expected
    assert [pair.correlation for pair in dependence.pairs] == sorted(
        (f"{correlation_by_hand(scores, a, b):.2f}" for _, pairs in families for a, b in pairs), reverse=True
    )


def test_board_and_stability_page_say_that_the_tasks_overlap(overlapping, client):
    dependence = published_dependence(overlapping.publication)
    said = r"the 9 tasks overlap and carry the information of about \d\.\d independent ones"
    assert re.fullmatch(said, dependence.short)
    board = client.get(f"/b/{overlapping.key}/").content.decode()
    folded = re.compile('<details class="answer-more">.*?</details>', re.DOTALL)
    assert f"Less certain than this: {dependence.short}." in words(folded.sub("", board))
    assert "answer-about" not in board  # intervals of ranks are not computed yet
    assert f'href="/b/{overlapping.key}/stability/?rule=borda#dependence"' in board
    stability = client.get(f"/b/{overlapping.key}/stability/").content.decode()
    assert dependence.sentence in words(stability)
    assert "Task 1, Task 2, Task 3" in words(stability)


def test_independent_tasks_are_said_to_agree_with_the_assumption(make, client):
    generator = np.random.default_rng(3)
    scores = (50 + 10 * (generator.normal(size=(40, 1)) + generator.normal(size=(40, 9)))).round(1)
    benchmark = published(make, scores)
    dependence = published_dependence(benchmark.publication)
    assert dependence.sentence.startswith("The tests assume 9 tasks, taken as independent. The scores agree")
    assert (dependence.short, dependence.suggestions) == ("", [])
    assert "tasks overlap" not in words(client.get(f"/b/{benchmark.key}/").content.decode())
    scores[:, 1] = scores[:, 0] + generator.normal(size=40).round(1)
    dependence = published_dependence(published(make, scores).publication)
    assert "favour the same systems more than luck explains" in dependence.sentence
    assert (dependence.short, dependence.n_pairs > 0) == ("", True)


def test_a_board_of_few_systems_says_that_nothing_can_be_told(make, client):
    benchmark = published(make, overlapping_scores(n_systems=6))
    page = words(client.get(f"/b/{benchmark.key}/stability/").content.decode())
    assert "The scores cannot show whether the tasks are independent: fewer than 10 systems have scores" in page


def test_the_dependence_is_measured_where_the_pairs_are_not_tested(make, client):
    benchmark = published(make, overlapping_scores(), aggregation="two_step")
    summary = Report.objects.get(kind="significance", revision__benchmark=benchmark).summary
    assert (summary["status"], len(summary["dependence"]["suggested"])) == ("undefined", 2)
    assert "Suggested clusters" in client.get(f"/b/{benchmark.key}/stability/").content.decode()


def test_a_restricted_reader_of_the_board_learns_nothing_of_it(make, client):
    benchmark = published(make, overlapping_scores(), score_view="ranks")
    assert "tasks overlap" not in words(client.get(f"/b/{benchmark.key}/").content.decode())


def test_a_report_from_before_it_was_measured_says_nothing(overlapping):
    summary = Report.objects.get(kind="significance", revision__benchmark=overlapping).summary
    tasks = configuration_of(overlapping.publication.revision).tasks
    earlier = {name: value for name, value in summary.items() if name != "dependence"}
    assert dependence_of(summary, tasks) == published_dependence(overlapping.publication)
    assert dependence_of(earlier, tasks) is None
    assert dependence_of(None, tasks) is None


@pytest.mark.parametrize(
    ("names", "name"),
    [
        (["Logical Deduction Three Objects", "Logical Deduction Five Objects"], "Logical Deduction"),
        (["MS MARCO (regular) - RR", "MS MARCO (TREC) - NDCG"], "MS MARCO"),
        (["CoLA", "SST-2"], "CoLA and others"),
        (["Same", "Same"], "Same"),
    ],
)
def test_a_cluster_is_called_by_the_words_that_its_tasks_begin_with(names, name):
    assert cluster_name(names) == name


def test_every_page_that_states_a_certainty_says_that_the_tasks_overlap(overlapping, client):
    scores, benchmark = overlapping_scores(), overlapping
    draw_tasks(benchmark)
    short = published_dependence(benchmark.publication).short
    assert short.startswith("the 9 tasks overlap and carry the information of about ")

    def text(name: str, *parts: str, **query: str) -> str:
        return words(client.get(reverse(name, args=[benchmark.key, *parts]), query).content.decode())

    best, worst = (f"system-{place(scores.mean(axis=1))}" for place in (np.argmax, np.argmin))
    board, system = text("board"), text("system", best)
    pair = text("head_to_head", a=best, b=worst)
    assert f"Less certain than this: {short}." in board
    wider = f"With only 9 tasks it is wide, and should be wider still, because {short}."
    assert [wider in page for page in (board, system)] == [True, True]
    assert "by more than chance would explain" in pair
    assert f"Less certain than this: {short}." in pair


def test_a_first_place_that_is_sure_by_its_interval_and_not_by_its_test_is_explained(make, client):
    """The first is ahead of the second on all but one task, by little; on that one far behind."""
    scores = np.array([[2.0] * 8 + [0.0], [1.0] * 8 + [9.0], [0.5] * 9, [0.1] * 9])
    benchmark = published(make, scores, default_rule="plurality")
    draw_tasks(benchmark)
    board = words(client.get(reverse("board", args=[benchmark.key])).content.decode())
    assert ("does not differ significantly" in board, "Both can be true" in board) == (True, True)
