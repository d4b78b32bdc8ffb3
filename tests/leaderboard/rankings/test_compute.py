"""Rankings as they are stored: the engine's own figures, whole, and published in order."""

import io
import random

import numpy as np
import pytest
from django.db import transaction

from leaderboard.computing import rankings
from leaderboard.models import Benchmark, Job, Publication, Report
from leaderboard.rankings.compute import publish, ranking_reports
from leaderboard.rankings.published import published_board
from leaderboard.rankings.reports import make_report, pack_arrays, unpack_arrays
from leaderboard.rankings.score_matrix import revision_matrix
from ranking_engine import ScoreMatrix, condorcet_winner, rank, smith_set
from tests.factories import owner_of
from tests.leaderboard.benchmarks.older_weights import without_weight
from tests.leaderboard.site.rules import board_rules


def some_scores(seed: int, n_systems: int = 7, n_tasks: int = 5) -> dict[str, list[float | None]]:
    dice = random.Random(seed)
    return {f"S{i}": [dice.choice([1.0, 2.0, 3.0, None]) for _ in range(n_tasks)] for i in range(n_systems)}


@pytest.mark.parametrize("policy", ["undefined", "drop_systems", "drop_tasks", "median", "worst"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_stored_is_what_the_engine_says(make, seed, policy):
    benchmark = make.published(some_scores(seed), missing_policy=policy)
    revision = benchmark.publication.revision
    matrix = revision_matrix(revision).matrix
    names = [system.name for system in revision_matrix(revision).systems]
    columns = {column.rule: column for column in published_board(benchmark.publication).columns}
    assert list(columns) == board_rules()
    for rule, column in columns.items():
        own = rank(matrix, rule, missing=policy)
        assert column.ranks.tolist() == own.ranks.tolist()
        assert np.array_equal(column.scores, own.scores, equal_nan=True)
        assert column.status == own.status
        assert column.winner_names == [names[i] for i in own.winners]
        assert all(column.reason_of(i) for i in range(len(names)) if column.ranks[i] < 1)


def test_the_toy_is_ranked_as_by_hand(make):
    columns = {column.rule: column for column in published_board(make.published().publication).columns}
    assert columns["plurality"].scores.tolist() == [2, 1, 1, 1]
    assert columns["borda"].scores.tolist() == [6, 9, 8, 7]
    assert columns["copeland"].scores.tolist() == [-3, 3, 1, -1]
    assert columns["minimax"].scores.tolist() == [-3, 0, -3, -3]
    assert columns["borda"].ranks.tolist() == [4, 1, 2, 3]
    assert columns["minimax"].ranks.tolist() == [2, 1, 2, 2]
    assert columns["condorcet"].winner_names == ["B"]


@pytest.mark.parametrize("seed", range(4))
def test_the_board_report_counts_and_names_the_choice_sets(make, seed):
    benchmark = make.published(some_scores(seed))
    board, table = published_board(benchmark.publication), revision_matrix(benchmark.publication.revision)
    values = table.matrix.values
    winner = condorcet_winner(table.matrix)
    counted = {
        "n_systems": 7,
        "n_tasks": 5,
        "n_voting_tasks": 5,
        "n_missing": int(np.isnan(values).sum()),
        "condorcet_winner": None if winner is None else table.systems[winner].name,
        "rules": board_rules(),
    }
    assert {name: board.facts[name] for name in counted} == counted
    assert board.n_scored.tolist() == (~np.isnan(values)).sum(axis=1).tolist()
    assert np.flatnonzero(board.in_smith_set).tolist() == sorted(smith_set(table.matrix))
    assert board.system_ids.tolist() == [system.id for system in table.systems]


@pytest.mark.parametrize("seed", range(4))
def test_the_choice_sets_are_the_same_where_pairs_are_not_all_compared(monkeypatch, seed):
    draw = random.Random(seed)
    matrix = ScoreMatrix([[draw.choice([0.0, 1.0, 2.0, float("nan")]) for _ in range(5)] for _ in range(12)])
    winner, in_smith_set = rankings.majority_facts(matrix, "basic")
    monkeypatch.setattr(rankings, "COMPARED_AT_ONCE", 1)
    assert rankings.majority_facts(matrix, "basic")[0] == winner == condorcet_winner(matrix)
    assert rankings.majority_facts(matrix, "basic")[1].tolist() == in_smith_set.tolist()
    assert np.flatnonzero(in_smith_set).tolist() == list(smith_set(matrix))


def test_a_rule_that_raises_costs_its_own_column_only(make, monkeypatch):
    honest = rankings.rank

    def broken(matrix, rule, **options):
        if rule == "borda":
            raise RuntimeError("no such luck")
        return honest(matrix, rule, **options)

    def all_broken(*_args, **_options):
        raise RuntimeError("one of them")

    monkeypatch.setattr(rankings, "rank", broken)
    monkeypatch.setattr(rankings, "rank_all", all_broken)
    columns = {column.rule: column for column in published_board(make.published().publication).columns}
    assert (columns["borda"].status, columns["borda"].reason) == ("failed", "RuntimeError: no such luck")
    assert columns["borda"].ranks.tolist() == [-1] * 4
    assert columns["copeland"].scores.tolist() == [-3, 3, 1, -1]


def test_many_joint_winners_are_counted_and_not_all_named(make):
    benchmark = make.published({f"S{i:02}": [1.0, 1.0] for i in range(30)})
    mean = next(column for column in published_board(benchmark.publication).columns if column.rule == "mean")
    assert (mean.n_winners, len(mean.winner_names)) == (30, 20)


def test_publishing_goes_forward_and_never_back(make):
    benchmark = make.benchmark()
    make.accepted(benchmark, {"E": [1.0] * 5})
    first, second = benchmark.revisions.order_by("number")
    for revision, moves in ((second, True), (first, False)):
        Report.objects.bulk_create(ranking_reports(revision)[0])
        assert publish(revision) is moves
    benchmark.refresh_from_db()
    assert (benchmark.published_number, benchmark.publication.revision) == (2, second)
    assert list(Publication.objects.values_list("revision__number", "is_pointer_moved")) == [(2, True), (1, False)]


def test_one_revision_is_published_once_an_engine_version(make):
    benchmark = make.published()
    with pytest.raises(Exception, match=r"(?i)unique"), transaction.atomic():
        publish(benchmark.publication.revision)


def test_a_benchmark_whose_last_system_left_has_an_empty_board(make):
    benchmark = make.benchmark({"A": [1.0]})
    from leaderboard.submissions.lifecycle import withdraw_submission

    withdraw_submission(benchmark.submissions.get(), actor=owner_of(benchmark), reason="A mistake.")
    published = make.publish(Benchmark.objects.get())
    assert published.published_number == 2
    assert published_board(published.publication).facts == {"n_systems": 0, "n_tasks": 1, "rules": []}
    assert set(Job.objects.filter(queue="rankings").values_list("state", flat=True)) == {"done", "superseded"}


# --- Reports as rows -----------------------------------------------------------------------------------------------


def test_arrays_come_back_as_they_went_in():
    arrays = {
        "ranks": np.array([1, 2, -1], np.int32),
        "scores": np.array([0.1, np.nan, -np.inf]),
        "names": np.array(["a", "ß", ""]),
        "none": np.empty(0),
    }
    copies = unpack_arrays(pack_arrays(arrays))
    assert list(copies) == list(arrays)
    for name, array in arrays.items():
        assert copies[name].dtype == array.dtype
        assert np.array_equal(copies[name], array, equal_nan=array.dtype.kind == "f")


def test_arrays_of_objects_are_neither_written_nor_read():
    with pytest.raises(ValueError, match=r"allow_pickle|Object arrays"):
        pack_arrays({"x": np.array([{}], dtype=object)})
    buffer = io.BytesIO()
    np.savez(buffer, x=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        unpack_arrays(buffer.getvalue())


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1.5, np.nan], [-0.0, np.inf], [3.0, 4.0]]),
        np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
        np.array(7, dtype=">i4"),
        np.array([], dtype=np.float64),
        np.zeros((0, 3), dtype=np.int8),
        np.array(["Ada", "Zoë"]),
        np.array([""], dtype="<U0"),
        np.array([True, False]),
    ],
    ids=lambda array: f"{array.dtype.kind}{array.shape}",
)
def test_arrays_are_read_as_numpy_reads_them(array):
    packed = pack_arrays({"one": array, "other": np.array([1])})
    with np.load(io.BytesIO(packed)) as stored:
        expected = stored["one"]
    read = unpack_arrays(packed, ["one"])
    assert list(read) == ["one"]
    one = read["one"]
    assert (one.dtype, one.shape, one.flags.f_contiguous) == (
        expected.dtype, expected.shape, expected.flags.f_contiguous,
    )  # fmt: skip
    assert one.tobytes() == expected.tobytes() == array.tobytes()
    assert one.flags.writeable


def test_a_summary_larger_than_a_report_may_hold_is_refused(make):
    revision = make.benchmark().revisions.get()
    with pytest.raises(ValueError, match="the summary of report 'x' has 65549 bytes; at most 65536 are stored"):
        make_report(revision, "x", parameters={}, summary={"text": "x" * 65_538}, arrays={}, seconds=0.0)


def test_equal_parameters_have_one_hash_in_whatever_order(make):
    revision = make.benchmark().revisions.get()
    one, other = (
        make_report(revision, "x", parameters=parameters, summary={}, arrays={}, seconds=0.0).parameter_hash
        for parameters in ({"a": 1, "b": [2]}, {"b": [2], "a": 1})
    )
    assert one == other


def test_reasons_of_a_board_name_systems_as_pages_do(make, client):
    """The engine knows systems by their keys, and Bradley-Terry lists those that won only."""
    board = make.published({"Ärger, large": [3.0, 3.0], "Bär (2)": [2.0, 2.0], "Cleo": [1.0, 1.0]})
    why = "have not both won and lost against each other (Ärger, large; Bär (2); Cleo); a prior would give some"
    stored = {row["rule"]: row for row in client.get(f"/api/v1/benchmarks/{board.key}/rankings/").json()["results"]}
    assert stored["bradley_terry"]["reason"].endswith(why)
    results = client.get(f"/api/v1/benchmarks/{board.key}/rankings/?aggregation=balanced").json()["results"]
    assert next(row for row in results if row["rule"] == "bradley_terry")["reason"].endswith(why)


@pytest.mark.parametrize("aggregation", ["basic", "weighted", "balanced", "two_step"])
def test_a_board_without_any_weight_from_an_older_release_is_computed_and_says_why_it_has_no_ranking(make, aggregation):
    benchmark = make.publish(without_weight(make, aggregation))
    assert list(Job.objects.filter(queue="rankings").values_list("kind", "state")) == [("rankings", "done")]
    board = published_board(benchmark.publication)
    of_groups = "no group of weight above 0 has a task with an order and a weight above 0"
    why = of_groups if aggregation == "two_step" else "no task has an order and a weight above 0"
    assert (board.why_nothing_ranked, board.facts["condorcet_winner"]) == (why, None)
    assert {(column.status, column.n_ranked) for column in board.columns} == {("undefined", 0)}
