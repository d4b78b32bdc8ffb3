"""From rows to arrays, and the hash of what figures are computed from."""

import hashlib
import math
import struct
from decimal import Decimal

import numpy as np
import pytest
from django.db import transaction

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.create import GroupSpec, TaskSpec, create_benchmark, record_configuration_change
from leaderboard.common.names import make_key
from leaderboard.models import Benchmark, Revision, Score, System, Task
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.score_matrix import input_hash, revision_matrix
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.preview.draft import preview_draft
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.catalogue.dispatch import rank, rank_all
from ranking_engine.catalogue.registry import listed_rules
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability.bootstrap import rank_intervals
from tests.factories import audience_of_draft, owner_of
from tests.leaderboard.benchmarks.older_weights import without_weight

SCORES = {"B": [1.0, 10.0], "A": [2.0, None], "C": [0.5, 30.0]}
TASKS = [TaskSpec("Accuracy"), TaskSpec("Time", direction=-1)]


def built(make, scores=None, tasks=None, groups=(), **fields) -> Revision:
    """The last revision of a benchmark made for this test."""
    benchmark = create_benchmark(
        name=fields.pop("name", "Hashed"), key=f"hashed-{Benchmark.objects.count()}", owner=make.user(), groups=groups,
        tasks=tasks or TASKS, submission_policy="open", **fields,
    )  # fmt: skip
    return make.accepted(benchmark, scores or SCORES)


def digest(revision: Revision) -> str:
    revision = Revision.objects.select_related("configuration").get(pk=revision.pk)
    return input_hash(revision_matrix(revision), configuration_of(revision))


def test_values_stand_as_stored_and_scores_are_turned_so_that_higher_is_better(make):
    matrix = revision_matrix(built(make)).matrix
    assert matrix.system_names == ("a", "b", "c")
    assert matrix.task_names == ("accuracy", "time")
    assert np.array_equal(matrix.values, [[2.0, math.nan], [1.0, 10.0], [0.5, 30.0]], equal_nan=True)
    assert np.array_equal(matrix.scores, [[2.0, math.nan], [1.0, -10.0], [0.5, -30.0]], equal_nan=True)


def test_systems_stand_in_the_order_of_their_keys_and_tasks_in_their_own(make):
    table = revision_matrix(built(make, {"Zeta": [1.0, 2.0], "alpha": [3.0, 4.0], "Beta": [5.0, 6.0]}))
    assert [system.key for system in table.systems] == ["alpha", "beta", "zeta"]
    assert [task.key for task in table.configuration.tasks] == ["accuracy", "time"]
    assert table.matrix.values.tolist() == [[3.0, 4.0], [5.0, 6.0], [1.0, 2.0]]


def test_what_is_missing_is_never_a_number(make):
    revision = built(make)
    score = Score.objects.get(submission__system__key="a", task__key="time")
    assert (score.value, score.missing_reason) == (None, "not_reported")
    assert np.isnan(revision_matrix(revision).matrix.values[0, 1])


def test_a_task_that_was_added_later_is_missing_for_all_and_was_never_submitted(make):
    revision = built(make)
    benchmark = revision.benchmark
    with transaction.atomic():
        task = Task.objects.create(benchmark=benchmark, key="late", name="Late", order=9)
        later = record_configuration_change(benchmark, author=None)
    assert np.isnan(revision_matrix(later).matrix.values[:, 2]).all()
    assert revision_matrix(revision).matrix.n_tasks == 2
    assert not Score.objects.filter(task=task).exists()


def test_an_archived_task_leaves_the_matrix_and_an_earlier_revision_keeps_it(make):
    revision = built(make)
    with transaction.atomic():
        revision.benchmark.tasks.filter(key="time").update(is_archived=True)
        later = record_configuration_change(revision.benchmark, author=None)
    assert (revision_matrix(later).matrix.task_names, revision_matrix(revision).matrix.n_tasks) == (("accuracy",), 2)


def test_without_systems_there_is_no_matrix_and_still_a_hash(make):
    benchmark = make.benchmark({}, n_tasks=2)
    with transaction.atomic():
        revision = make.accepted(benchmark, {"A": [1.0, 2.0]})
    empty = input_hash(None, configuration_of(revision))
    assert len(empty) == 64
    assert empty != digest(revision)


# --- What the hash does not depend on ------------------------------------------------------------------------------


def test_the_hash_is_that_of_the_documented_text(make):
    """Written by hand from the docstring: whoever changes the form changes every published hash."""
    task = '{"chance":null,"direction":%d,"group":null,"key":"%s","maximum":null,"minimum":null,"weight":"1"}\n'
    text = b"plurank inputs 1\n" + (task % (1, "accuracy")).encode() + (task % (-1, "time")).encode()
    text += b'{"gamma": null}\n'
    for key, *values in (("a", 2.0, math.nan), ("b", 1.0, 10.0), ("c", 0.5, 30.0)):
        text += key.encode() + b"\0" + struct.pack("<2d", *values) + b"\n"
    assert digest(built(make)) == hashlib.sha256(text).hexdigest()


SAME = {
    "the order of tasks": lambda make: built(make, tasks=TASKS[::-1], scores={n: v[::-1] for n, v in SCORES.items()}),
    "the order of systems": lambda make: built(make, dict(reversed(SCORES.items()))),
    "names": lambda make: built(
        make,
        {"b": SCORES["B"], "a": SCORES["A"], "c": SCORES["C"]},
        tasks=[TaskSpec("Other", key="accuracy", metric="m", unit="u"), TaskSpec("Names", key="time", direction=-1)],
        name="Another name",
    ),
    "the default rule, visibility, description": lambda make: built(
        make, default_rule="mean", visibility="private", description="x", citation="y", tags=["z"]
    ),
    "the aggregation and the missing-score policy": lambda make: built(
        make, aggregation="two_step", missing_policy="median"
    ),
    "dust beyond twelve digits": lambda make: built(make, SCORES | {"B": [math.nextafter(1.0, 2.0), 10.0]}),
    "how a weight is written": lambda make: built(
        make, tasks=[TaskSpec("Accuracy", weight=Decimal("1.000")), TaskSpec("Time", direction=-1)]
    ),
}


def test_the_matrix_has_the_precision_and_the_cluster_of_each_task_and_an_old_configuration_has_none(make):
    tasks = [TaskSpec("Accuracy", precision=Decimal("0.1"), cluster=" Sums "), TaskSpec("Time", direction=-1)]
    revision = built(make, tasks=tasks)
    first, second = revision.configuration.content["tasks"]
    assert (first["precision"], first["cluster"]) == ("0.1", "Sums")
    assert not {"precision", "cluster"} & set(second), "what was stored before there were any says the same"
    matrix = revision_matrix(revision).matrix
    assert (matrix.precision.tolist()[0], matrix.clusters) == (0.1, ("Sums", None))
    assert math.isnan(matrix.precision[1])


@pytest.mark.parametrize("other", SAME.values(), ids=SAME)
def test_the_hash_does_not_depend_on(make, other):
    assert digest(other(make)) == digest(built(make))


def test_the_hash_does_not_depend_on_the_way_to_the_same_scores(make):
    revision = built(make, {"A": [9.0, 9.0], "B": [1.0, 10.0], "C": [0.5, 30.0]})
    assert digest(make.accepted(revision.benchmark, {"A": [2.0, None]})) == digest(built(make))


def test_minus_zero_is_zero(make):
    assert digest(built(make, {"A": [-0.0, 1.0]})) == digest(built(make, {"A": [0.0, 1.0]}))


def test_an_empty_cell_and_one_that_was_never_submitted_are_the_same_to_every_figure(make):
    revision = built(make, {"A": [1.0, None]})
    other = create_benchmark(name="Other", owner=make.user(), tasks=TASKS[:1], submission_policy="open")
    first = make.accepted(other, {"A": [1.0]})
    with transaction.atomic():
        Task.objects.create(benchmark=first.benchmark, key="time", name="Time", direction=-1, order=1)
        later = record_configuration_change(first.benchmark, author=None)
    assert digest(later) == digest(revision)


# --- What it depends on --------------------------------------------------------------------------------------------


def grouped(make, weight="1", group="G", key="g"):
    tasks = [TaskSpec("Accuracy", group=group), TaskSpec("Time", direction=-1)]
    return built(make, tasks=tasks, groups=[GroupSpec("G", Decimal(weight), key), GroupSpec("H", key="h")])


def test_a_group_without_tasks_changes_no_figure_and_no_hash(make):
    """Such groups come about by archiving; once they made every ranking of the benchmark fail."""
    grouped_revision = grouped(make)
    alone = built(
        make, tasks=[TaskSpec("Accuracy", group="G"), TaskSpec("Time", direction=-1)], groups=[GroupSpec("G", key="g")]
    )
    assert digest(grouped_revision) == digest(alone)
    published = make.publish(grouped_revision.benchmark)
    assert published.published_number == 1


OTHER = {
    "a score": lambda make: built(make, SCORES | {"B": [1.00000000001, 10.0]}),
    "a missing score": lambda make: built(make, SCORES | {"B": [None, 10.0]}),
    "a system": lambda make: built(make, SCORES | {"D": [1.0, 1.0]}),
    "the key of a system": lambda make: built(make, {"D" if n == "C" else n: v for n, v in SCORES.items()}),
    "scores exchanged between systems": lambda make: built(make, SCORES | {"B": SCORES["C"], "C": SCORES["B"]}),
    "a direction": lambda make: built(make, tasks=[TaskSpec("Accuracy"), TaskSpec("Time")]),
    "unordered": lambda make: built(make, tasks=[TaskSpec("Accuracy"), TaskSpec("Time", direction=0)]),
    "a weight": lambda make: built(make, tasks=[TaskSpec("Accuracy", weight=Decimal("1.0000000001")), TASKS[1]]),
    "the key of a task": lambda make: built(make, tasks=[TaskSpec("Accuracy", key="acc"), TASKS[1]]),
    "the minimum": lambda make: built(make, tasks=[TaskSpec("Accuracy", minimum=0.0), TASKS[1]]),
    "the maximum": lambda make: built(make, tasks=[TaskSpec("Accuracy", maximum=0.0), TASKS[1]]),
    "the chance level": lambda make: built(make, tasks=[TaskSpec("Accuracy", chance=0.0), TASKS[1]]),
    "the precision": lambda make: built(make, tasks=[TaskSpec("Accuracy", precision=Decimal("0.1")), TASKS[1]]),
    "the cluster": lambda make: built(make, tasks=[TaskSpec("Accuracy", cluster="C"), TASKS[1]]),
    "gamma": lambda make: built(make, gamma=95.0),
    "groups": grouped,
    "the weight of a group": lambda make: grouped(make, weight="2"),
    "the group of a task": lambda make: grouped(make, group="H"),
    "the key of a group": lambda make: grouped(make, key="other"),
}


def test_every_score_task_weight_and_group_has_its_say_in_the_hash(make):
    hashes = {name: digest(other(make)) for name, other in OTHER.items()}
    hashes["as it was"] = digest(built(make))
    assert len(set(hashes.values())) == len(hashes)


@pytest.mark.parametrize("nothing", ["weight", "direction"])
def test_where_no_task_votes_the_board_says_so_and_a_draft_can_still_be_previewed(make, nothing):
    unordered = [TaskSpec("a", 0), TaskSpec("b", 0)]
    benchmark = without_weight(make) if nothing == "weight" else make.benchmark(SCORES, tasks=unordered)
    assert revision_matrix(benchmark.revisions.get()).matrix.votes.tolist() == [False, False]
    benchmark = make.publish(benchmark)
    assert benchmark.published_number == 1
    draft = make_draft(audience_of(owner_of(benchmark), benchmark), [SubmittedRow("New", {"b": "1"})], source="form")
    assert {effect.rank_after for effect in preview_draft(draft, audience_of_draft(draft)).effects} == {None}


def test_the_hash_is_written_with_the_rankings_and_not_before(make):
    revision = built(make)
    assert revision.input_hash == ""
    make.publish(revision.benchmark)
    revision.refresh_from_db()
    assert revision.input_hash == digest(revision)
    assert System.objects.count() == 3


def test_a_file_and_the_site_give_the_same_figures(make):
    """In a file systems and tasks have names, here keys that are in another order if capitals come first."""
    tasks = ["RTE", "ReCoRD", "WSC", "WiC", "a b", "a-c", "A_d", "Éd", "z (2)", "Z"]
    systems = ["Vega v2", "ST-MoE", "albert", "BERT", "bert 2", "GPT-3.5", "Gpt-3", "ünseen", "T5"]
    values = np.random.default_rng(5).integers(0, 6, (len(systems), len(tasks))).astype(float)
    benchmark = make.benchmark(
        {name: row.tolist() for name, row in zip(systems, values, strict=True)},
        tasks=[TaskSpec(name) for name in tasks],
    )
    site = revision_matrix(benchmark.revisions.get()).matrix
    rows = [site.system_names.index(make_key(name, ())) for name in systems]
    file = ScoreMatrix(values, system_names=systems, task_names=tasks)
    assert site.task_names == tuple(make_key(name, ()) for name in tasks)
    for rule, of_file in rank_all(file, listed_rules()).items():
        of_site = rank(site, rule)
        assert of_site.status == of_file.status
        if of_file.scores is not None:
            assert of_site.scores[rows].tobytes() == of_file.scores.tobytes(), rule
    rules = ("borda", "copeland", "ranked_pairs")
    of_file, of_site = (rank_intervals(matrix, rules, n_resamples=200) for matrix in (file, site))
    for rule in rules:
        assert of_site.lower[rule][rows].tolist() == of_file.lower[rule].tolist()
        assert of_site.upper[rule][rows].tolist() == of_file.upper[rule].tolist()
