"""Corrected references: everything on the board is scored again, and one revision says what changed."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.accounts.tokens import create_token
from leaderboard.evaluation.board_moves import counted_before, figures_of, ladder_score
from leaderboard.evaluation.phases import store_phase, use_ladder
from leaderboard.evaluation.private_boards import open_private_boards
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.rescoring.corrections import outdated, score_again
from leaderboard.models import Batch, Notice, PredictionSubmission, Revision, Score
from leaderboard.rankings.scores import current_scores
from leaderboard.submissions.lifecycle import withdraw_submission
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import (
    LABELS,
    NUMBERS,
    REFERENCES,
    add_references,
    labels_file,
    numbers_file,
    score_all,
    scored,
    texts_benchmark,
)

pytestmark = pytest.mark.django_db


def animals(benchmark) -> dict[str, float]:
    rows = PredictionSubmission.objects.filter(benchmark=benchmark).select_related("submission")
    return {row.system_name: Score.objects.get(submission=row.submission, task__key="animals").value for row in rows}


def test_all_scores_change_together_with_one_revision(make, client):
    benchmark, user = texts_benchmark(make), make.user()
    owner = owner_of(benchmark)
    wrong = ["dog"] * 8
    scored(benchmark, user, name="Right", animals=labels_file())
    scored(benchmark, make.user(), name="Dogs", animals=labels_file(wrong))
    assert animals(benchmark) == {"Right": 1.0, "Dogs": pytest.approx(0.5)}
    with pytest.raises(EvaluationError, match="newest references"):
        score_again(audience_of(owner, benchmark))
    task = benchmark.tasks.get(key="animals")
    add_references(task, REFERENCES.replace("i2,cat", "i2,dog"), "exact_match", by=owner)
    benchmark.refresh_from_db()
    n_before = Revision.objects.filter(benchmark=benchmark).count()
    client.force_login(owner)
    page = " ".join(client.get(reverse("predictions", args=[benchmark.key])).content.decode().split())
    words = "2 submissions that are on the board, or might be, were scored against references that you corrected since."
    assert words in page
    assert score_again(audience_of(owner, benchmark)) == 2
    assert score_all(benchmark) == ["done", "done"]
    assert animals(benchmark) == {"Right": pytest.approx(5 / 6), "Dogs": pytest.approx(4 / 6)}
    assert Revision.objects.filter(benchmark=benchmark).count() == n_before + 1
    batch = Batch.objects.filter(benchmark=benchmark).order_by("-pk")[0]
    assert (batch.source, batch.note) == ("correction", "Scored again against corrected references: Animals (2).")
    notices = Notice.objects.filter(user=user).values_list("words", flat=True)
    assert list(notices.filter(kind="decision").order_by("-pk")[:1]) == [batch.note]
    benchmark.refresh_from_db()
    assert outdated(benchmark) == []
    row = PredictionSubmission.objects.get(submitter=user)
    assert (row.state, row.scored_with, row.rescored_by) == ("scored", {"animals": 2}, None)
    assert row.submission.corrects is not None


def test_single_instances_of_hidden_references_are_for_owners_alone(make, client):
    benchmark, user = texts_benchmark(make), make.user()
    scored(benchmark, user, animals=labels_file())
    make.publish(benchmark, studies=True)
    path = f"/api/v1/benchmarks/{benchmark.key}/instances/animals/"
    assert client.get(path).status_code == 403
    for who, status in ((user, 403), (owner_of(benchmark), 200)):
        _, secret = create_token(who, name="reader", scopes=["read"], days=30)
        assert client.get(path, headers={"Authorization": f"Token {secret}"}).status_code == status
    page = client.get(f"/b/{benchmark.key}/instances/").content.decode()
    assert ">i2<" not in page


@pytest.mark.parametrize("keeps_splits", [True, False])
def test_in_a_phase_on_the_public_split_tasks_without_one_are_scored_again_too(make, keeps_splits):
    benchmark, user = texts_benchmark(make), make.user()
    owner, task = owner_of(benchmark), benchmark.tasks.get(key="animals")
    halves = REFERENCES.replace("test", "public").replace("i7,dog,public", "i7,dog,private")
    add_references(task, halves, "exact_match", by=owner)
    values = {"name": "Final", "opens_at": timezone.now() - timedelta(days=1), "split": "public"}
    store_phase(benchmark, values, author=owner)
    scored(benchmark, user)
    corrected = (halves if keeps_splits else REFERENCES).replace("i2,cat", "i2,dog")
    add_references(task, corrected, "exact_match", by=owner)
    benchmark.refresh_from_db()
    assert score_again(audience_of(owner, benchmark)) == 1
    assert score_all(benchmark) == ["done"]
    row = PredictionSubmission.objects.get()
    assert (row.state, row.rescored_by) == ("scored", None)
    assert animals(benchmark) == {"Deep Thought": pytest.approx(4 / 5 if keeps_splits else 5 / 6)}


def test_scored_again_the_ladder_states_no_further_digits(make):
    benchmark, user = texts_benchmark(make), make.user()
    owner = owner_of(benchmark)
    use_ladder(benchmark, uses_ladder=True, author=owner)
    scored(benchmark, user)
    heavy = "id,reference,weight\nn1,1.5,1\nn2,2.5,1\nn3,5.1,2.5\n"
    add_references(benchmark.tasks.get(key="numbers"), heavy, "exact_match", by=owner)
    benchmark.refresh_from_db()
    score_again(audience_of(owner, benchmark))
    assert score_all(benchmark) == ["done"]
    row = PredictionSubmission.objects.get()
    figures = figures_of(list(row.files.select_related("task")), "test", with_values=False)
    figure = figures[benchmark.tasks.get(key="numbers").pk]
    score = Score.objects.get(submission=row.submission, task__key="numbers").value
    assert figure.value == pytest.approx(2 / 4.5)
    assert score == pytest.approx(ladder_score(figure)) != figure.value


def on_the_board(benchmark, key="animals") -> dict[str, float]:
    """The scores of a task on the latest board, by system."""
    scores, task = current_scores(benchmark.revisions.latest("number")), benchmark.tasks.get(key=key)
    names = dict(benchmark.systems.values_list("pk", "name"))
    return {names[system]: score.value for (system, one), score in scores.items() if one == task.pk}


def scored_with(benchmark, labels) -> int:
    """Say what is right in other references, and have everything scored again; how many submissions that was."""
    owner = owner_of(benchmark)
    rows = "".join(f"i{k},{label},{'development' if k < 2 else 'test'}\n" for k, label in enumerate(labels))
    add_references(benchmark.tasks.get(key="animals"), f"id,reference,split\n{rows}", "exact_match", by=owner)
    benchmark.refresh_from_db()
    n = score_again(audience_of(owner, benchmark))
    assert set(score_all(benchmark)) == {"done"}
    benchmark.refresh_from_db()
    assert outdated(benchmark) == []
    return n


DOGS = ["dog"] * 8
MIXED = ["cat", "dog", "cat", "dog", "dog", "cat", "dog", "dog"]


def test_what_is_the_best_by_corrected_references_gets_onto_the_board_though_it_was_skipped_or_replaced(make):
    benchmark, user, other = texts_benchmark(make), make.user(), make.user()
    right = scored(benchmark, user, animals=labels_file())
    dogs, mixed = (scored(benchmark, user, animals=labels_file(labels)) for labels in (DOGS, MIXED))
    scored(benchmark, make.user(), name="Alone", animals=labels_file())
    gone = scored(benchmark, other, name="Gone", animals=labels_file())
    never = scored(benchmark, other, name="Gone", animals=labels_file(DOGS))
    assert (dogs.submission, mixed.submission, never.submission) == (None, None, None)
    withdraw_submission(gone.submission, actor=owner_of(benchmark), reason="Wrong.")
    assert scored_with(benchmark, DOGS) == 4
    assert on_the_board(benchmark) == {"Deep Thought": 1.0, "Alone": 0.5}
    for row in (right, dogs, mixed, never):
        row.refresh_from_db()
    assert (dogs.submission.batch.uploader, dogs.outcome) == (user, "It is better than the one before.")
    assert (mixed.state, mixed.submission, mixed.problems, never.submission) == ("scored", None, [], None)
    news = [notice.text for notice in Notice.objects.filter(user=user, path__contains=str(dogs.uuid)).order_by("pk")]
    assert news[1:] == [
        f"The references of {benchmark.name} were corrected; now your predictions of Deep Thought count."
    ]
    assert scored_with(benchmark, ["cat", "dog", "cat", "cat", "cat", "cat", "dog", "dog"]) == 4
    assert on_the_board(benchmark) == pytest.approx({"Deep Thought": 5 / 6, "Alone": 5 / 6})
    right.refresh_from_db()
    assert audience_of(user, benchmark).proven_system_ids == {right.submission.system_id}, "scored twice, still theirs"


def test_where_tasks_are_replaced_one_by_one_each_score_is_corrected_in_its_own_submission(make):
    benchmark, user = texts_benchmark(make), make.user()
    type(benchmark).objects.filter(pk=benchmark.pk).update(replacement="task")
    benchmark.refresh_from_db()
    for given in ({"animals": labels_file(DOGS)}, {"animals": labels_file()}, {"numbers": numbers_file()}):
        scored(benchmark, user, **given)
    more = NUMBERS.replace("4.0", "5.0")
    add_references(benchmark.tasks.get(key="numbers"), more, "exact_match", by=owner_of(benchmark))
    assert scored_with(benchmark, MIXED) == 3
    assert (on_the_board(benchmark), on_the_board(benchmark, "numbers")) == (
        pytest.approx({"Deep Thought": 5 / 6}),
        pytest.approx({"Deep Thought": 2 / 3}),
    )
    assert [row.problems for row in PredictionSubmission.objects.all()] == [[], [], []]


def test_on_the_ladder_what_was_skipped_is_compared_with_the_best_of_its_team_again(make):
    benchmark, user = make.benchmark({}, n_tasks=1), make.user()
    type(benchmark.tasks.get()).objects.filter(benchmark=benchmark).update(key="animals")
    labels = [LABELS[k % 8] for k in range(40)]
    owner, task = owner_of(benchmark), benchmark.tasks.get()

    def table(head, of):
        return f"id,{head}\n" + "".join(f"i{k},{label}\n" for k, label in enumerate(of))

    add_references(task, table("reference", labels), "exact_match", by=owner)
    use_ladder(benchmark, uses_ladder=True, author=owner)
    scored(benchmark, user, name="A", animals=table("prediction", labels).encode())
    skipped = scored(benchmark, user, name="B", animals=table("prediction", ["dog"] * 40).encode())
    assert skipped.submission is None
    add_references(task, table("reference", ["dog"] * 40), "exact_match", by=owner)
    benchmark.refresh_from_db()
    assert score_again(audience_of(owner, benchmark)) == 2
    assert score_all(benchmark) == ["done", "done"]
    assert on_the_board(benchmark) == {"A": 0.5, "B": 1.0}
    coming = PredictionSubmission(benchmark=benchmark, submitter=user, statement={"name": "C"})
    assert counted_before(coming, of_any_system=True) == [skipped]


def test_what_is_on_a_private_board_is_scored_again_too(make):
    benchmark, user, now = texts_benchmark(make), make.user(), timezone.now()
    owner, task = owner_of(benchmark), benchmark.tasks.get(key="animals")
    halves = REFERENCES.replace("test", "public").replace("i7,dog,public", "i7,dog,private")
    halves = halves.replace("i6,dog,public", "i6,dog,private")
    add_references(task, halves, "exact_match", by=owner)
    values = {"name": "Final", "opens_at": now - timedelta(days=3), "closes_at": now + timedelta(days=1)}
    values |= {"split": "public", "private_at": now + timedelta(days=2)}
    phase = store_phase(benchmark, values, author=owner)
    row = scored(benchmark, user, animals=labels_file())
    moments = {"closes_at": now - timedelta(days=2), "private_at": now - timedelta(days=1)}
    type(phase).objects.filter(pk=phase.pk).update(**moments)
    assert open_private_boards() == 1
    row.refresh_from_db()
    assert animals(benchmark) == {"Deep Thought": 1.0}
    add_references(task, halves.replace("i7,dog", "i7,cat"), "exact_match", by=owner)
    benchmark.refresh_from_db()
    assert score_again(audience_of(owner, benchmark)) == 1
    score_all(benchmark)
    revision = benchmark.revisions.order_by("-number").first()
    (current,) = current_scores(revision, [row.submission.system_id]).values()
    assert current.value == 0.5
