"""References: what is accepted, what is refused without quoting a value, versions, ids that may be known."""

import pytest
from django.urls import reverse

from leaderboard.evaluation.encryption import opened_sha256
from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.evaluation.references import (
    MAX_VERSIONS,
    check_file,
    ids_of,
    newest_references,
    opened,
    store_references,
    versions_of,
)
from leaderboard.models import AuditEntry, TaskReferences
from ranking_engine.files.problems import InputError
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import add_references, hidden_benchmark, upload

pytestmark = pytest.mark.django_db
PARTS = b"id,reference,split\na,quokka,public\nb,wombat,private\nc,quokka,development\nd,wombat,public\n"


@pytest.fixture
def task(make):
    return make.benchmark({}, n_tasks=1).tasks.get()


def store(task, data: bytes = PARTS, name: str = "labels.csv", metric: str = "accuracy", **options) -> TaskReferences:
    return store_references(task, check_file(data, name, metric, options), author=owner_of(task.benchmark))


def test_a_file_is_stored_and_read_again_by_the_job_that_scores(task):
    row = TaskReferences.objects.get(pk=store(task).pk)
    metric, references = opened(row)
    assert (metric.key, references.ids, references.values) == ("accuracy", tuple("abcd"), ("quokka", "wombat") * 2)
    assert row.n_by_split == {"public": 2, "private": 1, "development": 1}
    assert (ids_of(row, "development"), ids_of(row, "test")) == (["c"], ["a", "b", "d"])
    assert len(opened_sha256(row)) == 64


def test_what_is_kept_in_clear_tells_neither_labels_nor_which_instances_are_private(task):
    store(task)
    kept = TaskReferences.objects.values_list().get()
    values = repr([bytes(value) if isinstance(value, memoryview) else value for value in kept])
    assert "quokka" not in values
    assert "wombat" not in values
    assert ids_of(TaskReferences.objects.get(), "test") == ["a", "b", "d"]


def test_a_correction_is_a_new_version_and_the_newest_one_counts(task):
    first, second = store(task), store(task, PARTS.replace(b"a,quokka", b"a,wombat"))
    assert [row.number for row in versions_of(task)] == [2, 1]
    assert newest_references([task.pk]) == {task.pk: second}
    assert opened_sha256(first) != opened_sha256(second)
    entries = AuditEntry.objects.filter(field="references").order_by("pk")
    assert list(entries.values_list("of", "before", "after")) == [(task.key, "", "1"), (task.key, "1", "2")]
    TaskReferences.objects.filter(pk=second.pk).update(number=MAX_VERSIONS)
    with pytest.raises(InputError, match="no more are kept"):
        store(task)


@pytest.mark.parametrize(
    ("data", "metric", "message"),
    [
        (b"", "accuracy", "the file is empty"),
        (b"id,reference\n", "accuracy", "there are no rows"),
        (b"id\na\n", "accuracy", "reference"),
        (b"id,reference\na,x\na,y\n", "accuracy", "already on line 2"),
        (b"id,reference\na,x\n", "no-such-metric", "there is no metric"),
        (b"id,reference,split\na,x,train\n", "accuracy", "the split 'train' is not allowed"),
        (b"id,reference,split\na,x,development\n", "accuracy", "nothing is left to score"),
        (b"id,reference,split\na,x,public\n", "accuracy", "without a private one"),
        (
            b"id,reference,split\na,x,public\nb,x,private\nc,x,test\n",
            "accuracy",
            "no instance can be of a split `test`",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused_with_the_reason(data, metric, message):
    with pytest.raises(InputError, match=message):
        check_file(data, "labels.csv", metric, {})


def test_what_is_wrong_is_said_by_line_without_the_value():
    with pytest.raises(InputError) as error:
        check_file(b"id,reference,weight\na,quokka,1\nb,0.5,wombat\nc,1,2\n", "numbers.csv", "rmse", {})
    assert "quokka" not in str(error.value)
    assert "wombat" not in str(error.value)
    assert [problem.line for problem in error.value.problems.listed] == [2, 3]


def test_owners_who_run_their_own_evaluator_state_the_instances_alone(task):
    row = store(task, b"id,split\na,development\nb,test\n", metric="evaluator")
    assert (ids_of(row, "development"), ids_of(row, "test")) == (["a"], ["b"])


def test_neither_what_was_read_nor_what_was_checked_shows_its_content_when_printed(task):
    assert "quokka" not in repr(check_file(PARTS, "labels.csv", "accuracy", {}))
    assert "quokka" not in repr(opened(store(task))[1])


def test_no_more_instances_are_stored_than_one_submission_may_predict(settings):
    settings.PREDICTIONS_ROWS = 2
    assert (
        check_file(b"id,reference,split\na,x,development\nb,x,test\nc,y,test\n", "r.csv", "accuracy", {}).n_instances
        == 3
    )
    with pytest.raises(InputError, match="more than 2 instances, which is as many predictions as one submission may"):
        check_file(b"id,reference\na,x\nb,y\nc,x\n", "r.csv", "accuracy", {})


def test_the_ids_of_all_instances_are_bounded_together():
    rows = "".join(f"{k:0200},x\n" for k in range(100_001))
    with pytest.raises(InputError, match="the ids have more than 20,000,000 characters in all; use shorter ones"):
        check_file(f"id,reference\n{rows}".encode(), "r.csv", "accuracy", {})


def test_the_example_file_has_every_id_as_it_is_and_is_streamed(task, client):
    store(task, b'id,reference\n"=1, 2",x\n-b,y\n')
    client.force_login(owner_of(task.benchmark))
    response = client.get(reverse("example_predictions", args=[task.benchmark.key, task.key, "test"]))
    rows = b"".join(response.streaming_content).decode().splitlines()
    assert [row.rpartition(",")[0] for row in rows] == ["id", '"=1, 2"', "-b"]


def test_no_private_split_comes_where_scores_on_all_instances_are_known(make):
    """From those and the ones on the public split anyone could compute the private ones."""
    benchmark = hidden_benchmark(make)
    task = benchmark.tasks.get(key="numbers")
    split = "id,reference,split\nn1,1.5,public\nn2,2.5,private\nn3,4,private\n"
    submit_predictions(benchmark, make.user(), upload())
    with pytest.raises(InputError, match="predictions for Numbers were scored on all instances before"):
        add_references(task, split, "rmse", by=owner_of(benchmark))
    assert TaskReferences.objects.filter(task=task).count() == 1
    other = hidden_benchmark(make)
    assert add_references(other.tasks.get(key="numbers"), split, "rmse", by=owner_of(other)).number == 2
