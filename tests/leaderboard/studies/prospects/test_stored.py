"""Prospects as the site computes, stores and solves them: held against the scores by counting, without the engine."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from jobs.runner import run_job
from leaderboard.benchmarks.create import GroupSpec, TaskSpec, create_benchmark
from leaderboard.benchmarks.tasks import apply_proposal, present_proposal, preview_proposal
from leaderboard.models import Job, Report
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.studies.prospects import stored as service
from leaderboard.studies.prospects.page import ProspectsQuery as Query, prospects_page, waiting_for
from leaderboard.studies.prospects.stored import (
    in_own_words,
    pair_under,
    prospects_under,
    read_conditions,
    stored_prospects,
)
from leaderboard.studies.prospects.what_it_takes import what_it_takes
from ranking_engine.prospects import ConditionError
from tests.factories import TOY, owner_of

# Best of three on each of two tasks; the all-rounder is second on both; the last is behind the all-rounder everywhere.
SPECIALISTS = {"First": [3.0, 0.0], "Second": [0.0, 3.0], "Rounder": [2.0, 2.0], "Last": [1.0, 1.0]}
# Everyone is beaten on both tasks by somebody; nobody beats Middle on both, and half of each specialist does.
MIXED = {"North": [4.0, 1.0, 4.0], "South": [1.0, 4.0, 4.0], "Middle": [2.0, 2.0, 2.0]}


def computed(make, scores=None, **fields):
    """A benchmark whose board and prospects are there."""
    benchmark = make.published(scores, **fields)
    job = Job.objects.get(kind="prospects", benchmark=benchmark, sequence=benchmark.published_number)
    assert run_job(job.pk, worker="test") == "done"
    return benchmark


def sign(a, b) -> int:
    return 0 if a is None or b is None else (a > b) - (a < b)


def lead(scores, weights, name, rival) -> Fraction:
    """The weight of the tasks on which one is above the other, minus the reverse."""
    return sum((w * sign(scores[name][t], scores[rival][t]) for t, w in weights.items()), Fraction(0))


@pytest.mark.parametrize("scores", [TOY, SPECIALISTS, MIXED])
def test_every_stored_verdict_is_proven_by_what_stands_beside_it(make, scores):
    benchmark = computed(make, scores)
    stored, reason = stored_prospects(benchmark.publication)
    assert reason == ""
    by_key = {name.lower(): row for name, row in scores.items()}
    n_tasks = len(next(iter(by_key.values())))
    place = {f"task-{t + 1}": t for t in range(n_tasks)}
    for prospect in stored.prospects.systems:
        rivals = [key for key in by_key if key != prospect.system]
        if prospect.is_prospective:
            weights = {place[task]: weight for task, weight in prospect.weights.items()}
            leads = [lead(by_key, weights, prospect.system, rival) for rival in rivals]
            assert (sum(weights.values()), min(leads) >= 0, min(leads) > 0) == (1, True, prospect.verdict == "strict")
        if prospect.certificate:
            assert sum(prospect.certificate.values()) == 1
            balances = [
                sum(
                    share * sign(by_key[prospect.system][t], by_key[rival][t])
                    for rival, share in prospect.certificate.items()
                )
                for t in range(n_tasks)
            ]
            assert max(balances) < 0 if prospect.verdict == "none" else max(balances) <= 0


def test_the_verdicts_of_a_small_board_are_those_by_hand(make):
    stored, _ = stored_prospects(computed(make, SPECIALISTS).publication)
    assert {p.system: p.verdict for p in stored.prospects.systems} == {
        "first": "strict", "second": "strict", "rounder": "tie_only", "last": "none",
    }  # fmt: skip
    assert stored.prospects["last"].certificate == {"rounder": Fraction(1)}
    assert stored.own_weights == {"task-1": 0.5, "task-2": 0.5}
    assert stored.with_all_tasks is None


def test_tasks_of_weight_0_are_counted_apart(make):
    tasks = [TaskSpec("Main"), TaskSpec("Diagnostic", weight=Decimal(0)), TaskSpec("Unordered", direction=0)]
    scores = {"A": [2.0, 1.0, 5.0], "B": [1.0, 2.0, 6.0], "C": [1.5, 1.5, 5.0]}
    benchmark = computed(make, scores, tasks=tasks)
    stored, _ = stored_prospects(benchmark.publication)
    assert (stored.unweighted, stored.prospects.tasks) == (("diagnostic",), ("main",))
    assert [p.verdict for p in stored.prospects.systems] == ["strict", "none", "none"]
    assert [p.verdict for p in stored.with_all_tasks.systems] == ["strict", "strict", "tie_only"]
    page, _ = prospects_page(benchmark.publication, Query())
    assert page.difference == (
        "Diagnostic weighs nothing here and does not vote. If it counted, 3 systems could win (1 of them only by "
        "a tie) and 0 could not: 2 more could."
    )
    assert page.sentence == (
        "1 of 3 systems can win head to head under some weights; 2 cannot under any weights of the tasks that count."
    )
    answer, _ = what_it_takes(benchmark.publication, "b", "", "public")
    assert (answer.headline, answer.row.evidence, answer.with_all_tasks.verdict) == (
        "It cannot win head to head under any weights of the tasks that count.",
        "No weights work: A is ahead of it on every task that counts for it.",
        "strict",
    )


def test_a_benchmark_where_no_task_votes_says_so(make):
    benchmark = make.benchmark({"A": [1.0]}, tasks=[TaskSpec("Only", direction=0)])
    run_job(Job.objects.get(kind="prospects").pk, worker="test")
    benchmark = make.publish(benchmark)
    assert stored_prospects(benchmark.publication) == (None, "no task has a weight above 0")


def test_systems_without_scores_and_pairs_without_a_common_task_are_told_apart(make):
    benchmark = computed(make, {"A": [1.0, None], "B": [None, 2.0], "C": [None, None]})
    page, _ = prospects_page(benchmark.publication, Query())
    assert {row.key: row.verdict for row in page.rows} == {"a": "tie_only", "b": "tie_only", "c": "no_scores"}
    texts = {row.key: row.incomparable_text for row in page.rows}
    apart = "At these weights 1 rival shares no task with it that counts, and can neither beat it nor lose to it."
    assert texts["a"] == apart
    assert page.sentence.endswith("1 has no score on a task of weight above 0.")


def test_the_weights_of_the_aggregation_are_where_nearest_weights_start(make):
    owner = make.user()
    benchmark = create_benchmark(
        name="Grouped",
        owner=owner,
        groups=[GroupSpec("Pair", weight=Decimal(1))],
        tasks=[TaskSpec("One", group="Pair"), TaskSpec("Two", group="Pair"), TaskSpec("Three")],
        submission_policy="open",
        aggregation="balanced",
    )
    make.accepted(benchmark, {"A": [1.0, 1.0, 2.0], "B": [2.0, 2.0, 1.0]}, by=owner)
    benchmark = make.publish(benchmark)
    run_job(Job.objects.get(kind="prospects").pk, worker="test")
    stored, _ = stored_prospects(benchmark.publication)
    assert stored.own_weights == {"one": 0.25, "two": 0.25, "three": 0.5}
    assert stored.prospects["b"].nearest["own"].total_change.change == 0
    assert stored.prospects["a"].nearest["equal"].total_change.change == pytest.approx(1 / 6, abs=1e-9)


def test_the_same_revision_gives_the_same_report_again(make):
    benchmark = computed(make)
    report = Report.objects.get(kind="prospects")
    again = service.prospects_report(benchmark.publication.revision, report.parameters, lambda progress: None)
    assert (again.summary, bytes(again.arrays)) == (report.summary, bytes(report.arrays))


# --- While it is computed --------------------------------------------------------------------------------------------


def test_what_is_not_there_yet_says_how_far_it_is_and_where_an_earlier_one_stands(make):
    benchmark = computed(make)
    assert waiting_for(benchmark.publication).earlier_revision is None
    make.accepted(benchmark, {"E": [1.0] * 5})
    benchmark = make.publish(benchmark)
    assert prospects_page(benchmark.publication, Query()) == (None, "")
    waiting = waiting_for(benchmark.publication)
    assert (waiting.state, waiting.progress_percent, waiting.earlier_revision) == ("waiting", None, 1)
    jobs = Job.objects.filter(kind="prospects", sequence=2)
    jobs.update(state="running", progress=0.25)
    assert waiting_for(benchmark.publication).progress_percent == 25
    jobs.update(state="failed", error="MemoryError: 3 GiB\nTraceback")
    text = "The results of this revision could not be computed: MemoryError: 3 GiB"
    assert waiting_for(benchmark.publication).text == text


# --- Conditions ------------------------------------------------------------------------------------------------------


def test_conditions_are_read_by_names_and_keys_and_told_by_names(make):
    owner = make.user()
    groups, tasks = [GroupSpec("Hard ones")], [TaskSpec("Task A", group="Hard ones"), TaskSpec("Task B")]
    benchmark = create_benchmark(name="G", owner=owner, groups=groups, tasks=tasks, submission_policy="open")
    make.accepted(benchmark, {"A": [1.0, 2.0], "B": [2.0, 1.0]}, by=owner)
    revision = make.publish(benchmark).publication.revision
    texts = ["Task A >= 0.3", "0.1 <= group:Hard ones <= 1/2", "task-a >= Task B", "minimise task-b"]
    conditions = read_conditions(texts, revision)
    assert conditions.texts == (
        "task-a >= 3/10", "group:hard-ones >= 1/10", "group:hard-ones <= 1/2", "task-a >= task-b", "minimise task-b",
    )  # fmt: skip
    sentences = [text.replace("\u00a0", " ") for text in in_own_words(conditions, revision)]
    assert sentences == [
        "Task A weighs at least 30 %",
        "the group Hard ones weighs at least 10 %",
        "the group Hard ones weighs at most 50 %",
        "Task A weighs at least as much as Task B",
        "of the winning weights, Task B weighs as little as possible",
    ]


@pytest.mark.parametrize("text", ["Task 9 >= 0.5", "group:none >= 0.1", "Task 1", "0.5 >= 0.2"])
def test_conditions_on_what_there_is_not_are_refused(make, text):
    revision = make.published().publication.revision
    with pytest.raises(ConditionError):
        prospects_under(revision, read_conditions([text], revision), "public")


def test_conditions_that_nobody_can_meet_differ_from_a_system_that_cannot_win(make):
    revision = make.published(SPECIALISTS).publication.revision

    def under(*texts):
        return prospects_under(revision, read_conditions(texts, revision), "public")

    some = under("Task 1 >= 0.75")
    assert (some.conditions_reason, some["first"].verdict, some["second"].verdict) == ("", "strict", "none")
    nobody = under("Task 1 >= 0.75", "Task 2 >= 0.75")
    assert nobody.conditions_reason == "no weights satisfy the conditions"
    assert {p.verdict for p in nobody.systems} == {"undecided"}


def test_the_weight_of_a_set_is_minimised_among_the_weights_that_win(make):
    revision = make.published(SPECIALISTS).publication.revision
    prospects = prospects_under(revision, read_conditions(["minimise Task 1"], revision), "public")
    assert prospects["first"].objective == Fraction(1, 2)
    assert prospects["second"].objective == 0


def test_a_board_that_is_too_large_is_refused_on_demand(make, monkeypatch):
    monkeypatch.setattr(service, "ON_DEMAND_CELLS", 4 * 4 * 5 - 1)
    revision = make.published().publication.revision
    with pytest.raises(TooLargeError, match="4 systems x 4 rivals x 5 tasks = 80; at most 79 can be solved on demand"):
        prospects_under(revision, read_conditions(["Task 1 >= 0.5"], revision), "public")


# --- A pair ----------------------------------------------------------------------------------------------------------


def test_what_puts_one_system_above_another(make):
    benchmark = computed(make, SPECIALISTS)
    answer, _ = what_it_takes(benchmark.publication, "second", "first", "public")
    assert answer.pair["text"] == "Some weights put Second above First."
    answer, _ = what_it_takes(benchmark.publication, "last", "rounder", "public")
    assert answer.pair["text"] == "Nothing can: Rounder is ahead of Last on every task that counts for it."
    assert what_it_takes(benchmark.publication, "last", "last", "public")[0].pair is None
    assert what_it_takes(benchmark.publication, "last", "nobody", "public")[0].pair is None


def test_the_nearest_weights_of_a_pair_bring_them_level(make):
    scores = {"A": [1.0, 1.0, 2.0], "B": [2.0, 2.0, 1.0]}
    revision = make.published(scores).publication.revision
    pair = pair_under(revision, "a", "b", "public")
    change = pair.nearest["own"].total_change
    assert change.change == pytest.approx(1 / 6)
    assert change.weights["task-3"] == Fraction(1, 2)


def test_answers_on_demand_follow_the_aggregation_and_the_policy(make):
    """The hash of the inputs leaves out both."""
    tasks = [TaskSpec(name, group="h" if name == "d" else "g") for name in "abcd"]
    scores = {"One": [5.0, 5.0, 5.0, 1.0], "Two": [1.0, 1.0, 1.0, 9.0], "Three": [2.0, 2.0, 2.0, None]}
    groups = [GroupSpec("g"), GroupSpec("h")]
    benchmark = make.published(scores, tasks=tasks, groups=groups, aggregation="balanced", missing_policy="median")

    def answers():
        revision = benchmark.publication.revision
        under = prospects_under(revision, read_conditions(["d >= 0.1"], revision), "public", rule="mean")
        return pair_under(revision, "two", "one", "public").nearest["own"].total_change.change, under["three"].verdict

    before = answers()
    proposal = replace(present_proposal(benchmark), aggregation="basic", missing_policy="drop_systems")
    apply_proposal(benchmark, proposal, author=owner_of(benchmark), token=preview_proposal(benchmark, proposal).token)
    hashes = [benchmark.publication.revision.input_hash]
    benchmark = make.publish(benchmark)
    hashes.append(benchmark.publication.revision.input_hash)
    assert hashes[0] == hashes[1]
    assert (before, answers()) == ((0.0, "none"), (0.25, "no_scores"))
