"""What of scored predictions gets onto the board: the last, the best, with the Ladder, and on the private split."""

import math
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.evaluation.board_moves import TaskFigure, ladder_gain, ladder_score, seen_results, weighted_majority
from leaderboard.evaluation.phases import has_ladder, store_phase, use_ladder
from leaderboard.evaluation.private_boards import open_private_boards
from leaderboard.evaluation.teams import found_team
from leaderboard.models import Phase, PredictionSubmission, Score, Task
from ranking_engine.evaluation import Ladder
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import add_references, scored

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
    """One task, half of its instances public."""
    benchmark = make.benchmark({}, n_tasks=1)
    rows = "".join(f"i{k},{label},{SPLITS[k]}\n" for k, label in enumerate(LABELS))
    add_references(benchmark.tasks.get(), f"id,reference,split\n{rows}", "accuracy", by=owner_of(benchmark))
    Task.objects.filter(benchmark=benchmark).update(key="animals")
    return benchmark


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
    files = list(row.files.select_related("task"))
    row.refresh_from_db()
    found = seen_results(row, files, uses_ladder=has_ladder(row.benchmark))
    return {key: score["value"] for key, score in found.items()}


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
    now = timezone.now()
    type(benchmark).objects.filter(pk=benchmark.pk).update(submission_policy="moderated")
    benchmark.refresh_from_db()
    phase_of(benchmark, split="public", private_at=now + 2 * DAY)
    submitted(benchmark, make.user(), range(10), "A")
    Phase.objects.update(opens_at=now - 5 * DAY, closes_at=now - 4 * DAY, private_at=now - 3 * DAY)
    assert open_private_boards() == 0
    assert board(benchmark) == {}


def test_private_scores_are_seen_by_no_one_before(make, benchmark):
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
    use_ladder(benchmark, uses_ladder=True, author=owner_of(benchmark))
    phase_of(benchmark, split=split)
    generator, ladder, user = np.random.default_rng(3), Ladder(), make.user()
    counted = [k for k in range(N) if split == "test" or SPLITS[k] == split]
    for _ in range(6):
        wrong = {k for k in range(N) if generator.random() < generator.random()}
        answer = ladder.submit([float(k in wrong) for k in counted])
        row = submitted(benchmark, user, wrong)
        assert (row.submission is not None) == answer.is_best
        assert seen(row) == {"animals": pytest.approx(1 - answer.best_loss)}


def test_gains_on_several_tasks_are_combined_by_stouffers_method():
    tasks = {1: Task(pk=1, weight=3, direction=1), 2: Task(pk=2, weight=1, direction=-1),
             3: Task(pk=3, weight=5, direction=0)}  # fmt: skip
    old = {key: TaskFigure(0.5, 0.03, 100) for key in tasks}
    new = {key: TaskFigure(0.5 + 0.05, 0.04, 100) for key in tasks}
    gain = 0.05 / math.hypot(0.03, 0.04)
    assert ladder_gain(new, old, tasks) == pytest.approx((3 * gain - gain) / math.sqrt(10))
    assert weighted_majority(new, old, tasks) == 2


@pytest.mark.parametrize(
    ("figure", "stated"),
    [
        (TaskFigure(0.123456, 0.05, 8, is_share=True), 0.125),
        (TaskFigure(12.3456, 0.34, 50), 12.3),
        (TaskFigure(1234.5, 120.0, 50), 1200),
        (TaskFigure(0.4, None, 10), 0.4),
    ],
)
def test_the_ladder_states_no_more_digits_than_it_has_to(figure, stated):
    assert ladder_score(figure) == pytest.approx(stated)


def test_only_moderators_know_how_a_system_did_on_one_instance(make, benchmark, client):
    submitted(benchmark, make.user(), range(10))
    benchmark = make.publish(benchmark)
    address = f"/api/v1/benchmarks/{benchmark.key}/instances/animals/"
    assert client.get(address).status_code == 403
    assert audience_of(owner_of(benchmark), benchmark).may_moderate
