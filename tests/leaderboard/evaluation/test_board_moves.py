"""What of scored predictions gets onto the board: the last, the best, with the Ladder, and on the private split."""

import math
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.evaluation.board_moves import (
    TaskFigure,
    ladder_gain,
    ladder_score,
    standardized_gain,
    weighted_majority,
)
from leaderboard.evaluation.phases import store_phase, use_ladder
from leaderboard.evaluation.private_boards import open_private_boards
from leaderboard.evaluation.queries import progress_of
from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.evaluation.rescoring.corrections import score_again
from leaderboard.evaluation.teams import found_team
from leaderboard.models import Phase, PredictionSubmission, Score, Task
from ranking_engine.evaluation import Ladder
from ranking_engine.evaluation.instances import References
from ranking_engine.files.problems import InputError
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import (
    add_references,
    hidden_benchmark,
    labels_file,
    numbers_file,
    score_all,
    scored,
    texts_benchmark,
    upload,
)

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
N = 40
LABELS = ["yes" if k % 3 else "no" for k in range(N)]
SPLITS = ["public" if k % 2 else "private" for k in range(N)]


def labels_with_errors(wrong) -> bytes:
    other = {"yes": "no", "no": "yes"}
    rows = (f"i{k},{other[label] if k in wrong else label}\n" for k, label in enumerate(LABELS))
    return ("id,prediction\n" + "".join(rows)).encode()


@pytest.fixture
def benchmark(make):
    """One task whose instances all count."""
    benchmark = make.benchmark({}, n_tasks=1)
    rows = "".join(f"i{k},{label}\n" for k, label in enumerate(LABELS))
    add_references(benchmark.tasks.get(), f"id,reference\n{rows}", "exact_match", by=owner_of(benchmark))
    Task.objects.filter(benchmark=benchmark).update(key="animals")
    return benchmark


def halve(benchmark) -> None:
    """Make half of its instances public."""
    rows = "".join(f"i{k},{label},{SPLITS[k]}\n" for k, label in enumerate(LABELS))
    add_references(benchmark.tasks.get(), f"id,reference,split\n{rows}", "exact_match", by=owner_of(benchmark))


def phase_of(benchmark, **values) -> Phase:
    now = timezone.now()
    values = {"name": "Final", "opens_at": now - DAY, "closes_at": now + DAY} | values
    return store_phase(benchmark, values, author=owner_of(benchmark))


def submitted(benchmark, user, wrong, name="A") -> PredictionSubmission:
    return scored(benchmark, user, name=name, animals=labels_with_errors(wrong))


def board(benchmark) -> dict[str, float]:
    """The latest accepted score of every system."""
    rows = Score.objects.filter(submission__benchmark=benchmark, submission__state="accepted").order_by("pk")
    return dict(rows.values_list("submission__system__name", "value"))


def seen(row) -> dict[str, float]:
    """The scores that the submitter sees, be they its own or those of the best one so far."""
    row.refresh_from_db()
    return {result.task_key: result.value for result in progress_of(row).seen_results}


def test_the_best_submission_of_a_system_counts(make, benchmark):
    user = make.user()
    phase_of(benchmark, counts="best")
    first = submitted(benchmark, user, range(10))
    worse = submitted(benchmark, user, range(20))
    assert board(benchmark) == {"A": 0.75}
    assert (worse.submission, seen(worse)) == (None, {"animals": 0.5})
    better = submitted(benchmark, user, range(4))
    assert board(benchmark) == {"A": 0.9}
    assert None not in (first.submission, better.submission)


def test_the_last_submission_of_a_system_counts_where_owners_say_so(make, benchmark):
    user = make.user()
    phase_of(benchmark, counts="last")
    submitted(benchmark, user, range(10))
    submitted(benchmark, user, range(20))
    assert board(benchmark) == {"A": 0.5}


def test_only_the_public_instances_count_until_the_board_goes_private_for_all_at_once(make, benchmark):
    halve(benchmark)
    now = timezone.now()
    phase = phase_of(benchmark, split="public", private_at=now + 2 * DAY)
    public, private = ([k for k in range(N) if SPLITS[k] == name] for name in ("public", "private"))
    first = submitted(benchmark, make.user(), public[:5] + private[:1], "A")
    second = submitted(benchmark, make.user(), public[:2] + private[:10], "B")
    assert board(benchmark) == {"A": 0.75, "B": 0.9}
    assert (seen(first), seen(second)) == ({"animals": 0.75}, {"animals": 0.9})
    assert open_private_boards() == 0
    Phase.objects.update(opens_at=now - 5 * DAY, closes_at=now - 4 * DAY, private_at=now - 3 * DAY)
    before = benchmark.revisions.count()
    assert (open_private_boards(), open_private_boards()) == (1, 0)
    assert board(benchmark) == {"A": 0.95, "B": 0.5}
    assert benchmark.revisions.count() == before + 1, "one revision for all systems"
    phase.refresh_from_db()
    assert phase.went_private_at is not None
    assert (seen(PredictionSubmission.objects.get(pk=first.pk)), board(benchmark)["A"]) == ({"animals": 0.95}, 0.95)


def test_a_board_goes_private_only_when_everything_is_decided(make, benchmark):
    halve(benchmark)
    now = timezone.now()
    type(benchmark).objects.filter(pk=benchmark.pk).update(submission_policy="moderated")
    benchmark.refresh_from_db()
    phase_of(benchmark, split="public", private_at=now + 2 * DAY)
    submitted(benchmark, make.user(), range(10), "A")
    Phase.objects.update(opens_at=now - 5 * DAY, closes_at=now - 4 * DAY, private_at=now - 3 * DAY)
    assert open_private_boards() == 0
    assert board(benchmark) == {}


def test_private_scores_are_seen_by_no_one_before(make, benchmark):
    halve(benchmark)
    phase_of(benchmark, split="public")
    row = submitted(benchmark, make.user(), [k for k in range(N) if SPLITS[k] == "private"])
    assert seen(row) == {"animals": 1.0}
    assert row.files.get().results["private"]["value"] == 0.0


def test_with_the_ladder_the_board_and_the_submitter_see_a_score_only_if_it_is_better_beyond_chance(make, benchmark):
    owner, user = owner_of(benchmark), make.user()
    use_ladder(benchmark, uses_ladder=True, author=owner)
    first = submitted(benchmark, user, range(20))
    assert (board(benchmark), seen(first)) == ({"A": 0.5}, {"animals": 0.5})
    chance = submitted(benchmark, user, [*range(19), *range(25, 25)])  # one more is right
    assert board(benchmark) == {"A": 0.5}
    assert seen(chance) == {"animals": 0.5}, "the score of the best one, not its own"
    other_name = submitted(benchmark, user, range(1, 20), "B")
    assert (board(benchmark), seen(other_name)) == ({"A": 0.5}, {"animals": 0.5}), "a new name is no new start"
    better = submitted(benchmark, user, range(5), "B")
    assert board(benchmark) == {"A": 0.5, "B": 0.875}
    assert seen(better) == {"animals": 0.875}
    stranger = submitted(benchmark, make.user(), range(30), "C")
    assert seen(stranger) == {"animals": 0.25}, "everyone has a Ladder of their own"
    assert Score.objects.exclude(standard_error=None).count() == 0


def test_scoring_again_does_not_lower_what_the_ladder_asks_for(make, benchmark):
    owner, user = owner_of(benchmark), make.user()
    use_ladder(benchmark, uses_ladder=True, author=owner)
    submitted(benchmark, user, range(20))
    best = submitted(benchmark, user, range(5))
    rows = "".join(f"i{k},{'yes' if k == N - 1 else label}\n" for k, label in enumerate(LABELS))
    add_references(benchmark.tasks.get(), f"id,reference\n{rows}", "exact_match", by=owner)
    benchmark.refresh_from_db()
    assert score_again(audience_of(owner, benchmark)) == 2
    other_name, _ = submit_predictions(benchmark, user, upload("B", animals=labels_with_errors(range(10))))
    assert set(score_all(benchmark)) == {"done"}
    after = submitted(benchmark, user, range(10), "C")
    for row in (other_name, after):
        row.refresh_from_db()
        assert (row.submission, seen(row)) == (None, {"animals": pytest.approx(0.85)})
    scored_at = best.scored_at
    best.refresh_from_db()
    assert best.scored_at == scored_at


def test_members_of_a_team_climb_one_ladder(make, benchmark):
    first, second = make.user(), make.user()
    use_ladder(benchmark, uses_ladder=True, author=owner_of(benchmark))
    team = found_team(benchmark, first, "Owls")
    team.memberships.create(benchmark=benchmark, user=second)
    submitted(benchmark, first, range(20))
    assert seen(submitted(benchmark, second, range(1, 20), "B")) == {"animals": 0.5}


@pytest.mark.parametrize("split", ["test", "public"])
def test_on_one_task_it_is_the_ladder_of_blum_and_hardt(make, benchmark, split):
    """Against `Ladder`, for random submissions."""
    if split == "public":
        halve(benchmark)
    use_ladder(benchmark, uses_ladder=True, author=owner_of(benchmark))
    phase_of(benchmark, split=split)
    # By both, the third of these is better than the first beyond chance, and the others are not.
    generator, ladder, user = np.random.default_rng(6), Ladder(), make.user()
    answers = []
    counted = [k for k in range(N) if split == "test" or SPLITS[k] == split]
    for _ in range(4):
        wrong = {k for k in range(N) if generator.random() < generator.random()}
        answer = ladder.submit([float(k in wrong) for k in counted])
        row = submitted(benchmark, user, wrong)
        assert (row.submission is not None) == answer.is_best
        assert seen(row) == {"animals": pytest.approx(1 - answer.best_loss)}
        answers.append(answer.is_best)
    assert answers == [True, False, True, False]


def test_gains_on_several_tasks_are_combined_by_stouffers_method():
    tasks = {1: Task(pk=1, weight=3, direction=1), 2: Task(pk=2, weight=1, direction=-1),
             3: Task(pk=3, weight=5, direction=0)}  # fmt: skip
    old = {key: TaskFigure(0.5, 0.03, 100) for key in tasks}
    new = {key: TaskFigure(0.5 + 0.05, 0.04, 100) for key in tasks}
    gain = 0.05 / math.hypot(0.03, 0.04)
    assert ladder_gain(new, old, tasks) == pytest.approx((3 * gain - gain) / math.sqrt(10))
    assert weighted_majority(new, old, tasks) == 2


def test_the_majority_of_tasks_can_go_round_in_a_circle_as_the_document_says():
    tasks = {key: Task(pk=key, weight=1, direction=1) for key in (1, 2, 3)}
    first, second, third = (
        {key: TaskFigure(value, None, 100) for key, value in enumerate(values, start=1)}
        for values in ([3, 2, 1], [1, 3, 2], [2, 1, 3])
    )
    pairs = [(second, first), (third, second), (first, third)]
    assert [weighted_majority(new, old, tasks) for new, old in pairs] == [1, 1, 1]


def figure_of(values, weights=None, clusters=None) -> TaskFigure:
    values = np.array(values, float)
    hidden = References(
        tuple(map(str, range(len(values)))), tuple(values), weights=weights, clusters=clusters and tuple(clusters)
    )
    mean = float(np.average(values, weights=weights))
    return TaskFigure(mean, 0.05, len(values), is_share=True, is_mean=True, instance_values=values, hidden=hidden)


def test_what_is_not_better_is_no_gain_however_the_score_is_rounded():
    figure = figure_of([1.0] * 34 + [0.4] + [0.0] * 65)
    assert ladder_score(figure) < figure.value
    assert standardized_gain(figure, figure) == 0
    one_worse = figure_of([1.0] * 34 + [0.3] + [0.0] * 65)
    assert ladder_score(figure) < one_worse.value
    assert standardized_gain(one_worse, figure) == pytest.approx(-1)
    assert standardized_gain(figure, one_worse) == pytest.approx(1)
    everywhere = [figure_of([value] * 100) for value in (0.604, 0.603)]
    assert [standardized_gain(*everywhere), standardized_gain(*reversed(everywhere))] == [8, -8]


def test_a_task_that_gains_the_same_everywhere_does_not_outvote_all_others():
    tasks = {key: Task(pk=key, weight=1, direction=1) for key in (1, 2)}
    old = {1: figure_of([0.5] * 100), 2: figure_of([1.0] * 90 + [0.0] * 10)}
    new = {1: figure_of([0.6] * 100), 2: figure_of([1.0] * 10 + [0.0] * 90)}
    assert standardized_gain(new[1], old[1]) == 8
    assert ladder_gain(new, old, tasks) < 0


@pytest.mark.parametrize(("n", "gain"), [(9, 0), (10, 8)])
def test_below_ten_instances_nothing_is_a_gain(n, gain):
    assert standardized_gain(figure_of([1.0] * n), figure_of([0.0] * n)) == gain


def test_without_a_standard_error_nothing_is_a_gain():
    assert standardized_gain(TaskFigure(0.9, None, 50), TaskFigure(0.5, None, 50)) == 0
    assert standardized_gain(TaskFigure(0.9, 0.1, 50), TaskFigure(0.5, None, 50)) == 0


def test_tasks_that_do_not_count_show_no_gain():
    tasks = {1: Task(pk=1, weight=0, direction=1), 2: Task(pk=2, weight=1, direction=0)}
    old, new = ({key: figure_of([value] * 10) for key in tasks} for value in (0.2, 0.9))
    assert ladder_gain(new, old, tasks) == 0


def test_instances_of_a_cluster_count_as_one_and_heavy_ones_as_many():
    generator = np.random.default_rng(5)
    clusters = [f"c{k // 5}" for k in range(100)]
    weights = generator.integers(1, 9, 100).astype(float)
    old, new = generator.random((2, 100)).round()
    by_cluster = {
        name: sum(w * (b - a) for a, b, w, c in zip(old, new, weights, clusters, strict=True) if c == name)
        for name in clusters
    }
    gain = sum(by_cluster.values()) / weights.sum()
    weight_of = {name: sum(w for w, c in zip(weights, clusters, strict=True) if c == name) for name in clusters}
    without = [(gain * weights.sum() - by_cluster[c]) / (weights.sum() - weight_of[c]) for c in by_cluster]
    error = math.sqrt(19 / 20 * sum((left - np.mean(without)) ** 2 for left in without))
    figures = [figure_of(values, weights, clusters) for values in (new, old)]
    assert standardized_gain(*figures) == pytest.approx(gain / error)
    one_with_most = ["c0"] * 80 + [f"c{k}" for k in range(1, 21)]
    assert standardized_gain(*(figure_of(values, None, one_with_most) for values in (new, old))) == 0


def test_scores_of_two_tasks_cannot_be_had_one_after_the_other_on_the_ladder(make):
    benchmark = hidden_benchmark(make)
    use_ladder(benchmark, uses_ladder=True, author=owner_of(benchmark))
    with pytest.raises(InputError) as caught:
        submit_predictions(benchmark, make.user(), upload("A", animals=labels_file()))
    assert [(one.place, one.message) for one in caught.value.problems.listed] == [
        ("files.numbers", "predictions for Numbers are missing; the Ladder needs all tasks")
    ]


def test_where_the_best_counts_each_task_is_compared_with_the_newest_submission_that_has_it(make):
    benchmark, user = texts_benchmark(make), make.user()
    scored(benchmark, user, name="A", animals=labels_file())
    scored(benchmark, user, name="A", numbers=numbers_file())
    worse = scored(benchmark, user, name="A", animals=labels_file(["cat"] * 8))
    assert (worse.submission, worse.outcome) == (None, "It is not better than the one before, which still counts.")


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (TaskFigure(0.123456, 0.05, 8, is_share=True, is_mean=True), 0.125),
        (TaskFigure(0.123456, 0.05, 8, is_share=True), 0.12),
        (TaskFigure(0.4, None, 10, is_share=True), 0.4),
        (TaskFigure(12.3456, 0.34, 50, is_mean=True), 12.3),
        (TaskFigure(1234.5, 120.0, 50, is_mean=True), 1200),
        (TaskFigure(0.000796, 0.000055, 100, is_mean=True), 0.0008),
        (TaskFigure(-0.000796, None, 9, is_mean=True), -0.0008),
        (TaskFigure(0.0, None, 9, is_mean=True), 0),
    ],
)
def test_the_ladder_states_no_more_digits_than_it_has_to(figure, expected):
    assert ladder_score(figure) == pytest.approx(expected)


def test_the_ladder_states_small_errors_in_the_unit_of_the_metric(make):
    """It once said 0 for every error below 1 / 2 n, and told by its digits whether a single error exceeds 1."""
    benchmark = make.benchmark({}, n_tasks=1)
    Task.objects.filter(benchmark=benchmark).update(key="numbers", direction=-1)
    rows = "".join(f"i{k},{k / 1000}\n" for k in range(N))
    add_references(benchmark.tasks.get(), f"id,reference\n{rows}", "mae", by=owner_of(benchmark))
    use_ladder(benchmark, uses_ladder=True, author=owner_of(benchmark))
    phase_of(benchmark)
    user = make.user()

    def scores_seen(errors) -> dict[str, float]:
        lines = "".join(f"i{k},{k / 1000 + error}\n" for k, error in enumerate(errors))
        return seen(scored(benchmark, user, name="A", numbers=f"id,prediction\n{lines}".encode()))

    assert scores_seen([0.0006, 0.001] * (N // 2)) == {"numbers": pytest.approx(0.0008)}
    assert scores_seen([0.0002, 0.0003] * (N // 2)) == {"numbers": pytest.approx(0.00025)}
    assert board(benchmark) == {"A": pytest.approx(0.00025)}


def test_only_moderators_know_how_a_system_did_on_one_instance(make, benchmark, client):
    submitted(benchmark, make.user(), range(10))
    benchmark = make.publish(benchmark)
    address = f"/api/v1/benchmarks/{benchmark.key}/instances/animals/"
    assert client.get(address).status_code == 403
    assert audience_of(owner_of(benchmark), benchmark).may_moderate
