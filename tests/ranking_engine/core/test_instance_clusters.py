"""Clusters of instances: read from tables, drawn and tested as a whole, compared with loops over the definition."""

import io
import itertools
import json

import numpy as np
import pytest

from ranking_engine.command_line import main
from ranking_engine.core.instances import InstanceScores, paired_differences, tasks_drawn_together
from ranking_engine.files.instance_tables import cluster_codes, read_instance_table, read_instances
from ranking_engine.files.tables import TableError
from ranking_engine.stability.resampling.two_levels import two_level_intervals
from ranking_engine.stability.separability.instance_errors import paired_errors
from ranking_engine.stability.separability.pair_tests import instance_separability

WIDE = "system,instance,cluster,a,b\nX,u1,p,1,2\nX,u2,p,3,\nX,u3,,5,6\nY,u1,p,0,2\nY,u2, p,4,1\nY,u3,,1,1\n"
LONG = (
    "Cluster,task,system,score,instance\np,a,X,1,u1\np,a,X,3,u2\n,a,X,5,u3\np,b,X,2,u1\n,b,X,6,u3\n"
    "p,a,Y,0,u1\np,a,Y,4,u2\n,a,Y,1,u3\np,b,Y,2,u1\np,b,Y,1,u2\n,b,Y,1,u3\n"
)


def read(text, **options):
    return read_instance_table(io.StringIO(text), **options)


def some_scores(seed=0, missing=0.1, shared_from=100):
    """Three systems on tasks of 60 and 51 instances in clusters, those of the second from `shared_from` on."""
    random = np.random.default_rng(seed)
    blocks = [random.integers(0, 5, (3, n)) + 0.0 for n in (60, 51)]
    for block in blocks:
        block[random.random(block.shape) < missing] = np.nan
    clusters = tuple(
        first + np.sort(random.integers(0, n, block.shape[1]))
        for first, n, block in zip((0, shared_from), (17, 17), blocks, strict=True)
    )
    return InstanceScores(tuple("ABC"), ("s", "t"), tuple(blocks), (1, -1), clusters)


def test_both_forms_have_the_same_clusters_and_scores():
    for table in (read(WIDE), read(LONG)):
        of_task = [
            dict(zip(*pair, strict=True)) for pair in zip(table.scores.instance_names, table.cluster_names, strict=True)
        ]
        assert of_task == [{"u1": "p", "u2": "p", "u3": ""}] * 2
        assert [len(set(codes.tolist())) for codes in table.scores.clusters] == [2, 2]
        assert table.scores.task_names == ("a", "b")
        np.testing.assert_array_equal(table.scores.blocks[0], [[1, 3, 5], [0, 4, 1]])


def test_an_empty_cluster_is_one_by_itself():
    assert [codes.tolist() for codes in cluster_codes(["p", "", "q", "p", "", "q"])] == [[0, 1, 2, 0, 3, 2]]
    assert [codes.tolist() for codes in cluster_codes([])] == [[]]


def test_clusters_of_the_same_name_on_two_tasks_are_one():
    codes = cluster_codes(["p", "", "q"], ["q", "", "r", "p"])
    assert [of_task.tolist() for of_task in codes] == [[0, 1, 2], [2, 3, 4, 0]]
    assert [codes.tolist() for codes in read(LONG).scores.clusters] == [[0, 0, 1], [0, 2, 0]]


def test_tasks_that_share_clusters_are_drawn_together():
    parts = tasks_drawn_together([np.array(codes) for codes in ([0, 1], [5], [2, 1], [], [7, 5], [2])])
    assert parts == [[0, 2, 5], [1, 4], [3]]


def test_tables_without_the_column_and_those_that_have_a_task_of_this_name_are_read_as_before():
    assert read("system,instance,a\nX,1,2\n").scores.clusters == ()
    table = read("system,instance,cluster\nX,1,2\n", cluster_column="")
    assert (table.scores.task_names, table.cluster_names) == (("cluster",), ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,instance,cluster,a\nX,1,p,1\nY,1,q,1\n",
         "table, line 3, column 3 (cluster): instance '1' is in two clusters, 'p' before"),
        ("system,instance,cluster,a\nX,1,p,1\nY,1,,1\n",
         "table, line 3, column 3 (cluster): instance '1' is in two clusters, 'p' before"),
        (f"system,instance,cluster,a\nX,1,{'p' * 101},1\n", "101 characters; the limit is 100"),
        ("system,instance,cluster,a\nX,1,p\u202eq,1\n", "table, line 2, column 3 (cluster): the cluster"),
        ("system,instance,cluster\nX,1,p\n", "table, line 1: no column holds the scores of a task"),
        ("system,instance,cluster,cluster\nX,1,1,1\n", "two columns have the same name"),
    ],
)  # fmt: skip
def test_bad_clusters_are_refused_with_their_place(text, message):
    with pytest.raises(TableError) as error:
        read(text)
    assert message in error.value.one_line()


def test_errors_and_intervals_take_the_clusters_of_the_scores():
    scores = some_scores()
    without = InstanceScores(scores.system_names, scores.task_names, scores.blocks, scores.directions)
    clustered = paired_errors(without, [(0, 1)], clusters=scores.clusters)
    assert paired_errors(scores, [(0, 1)]).standard_error.tolist() == clustered.standard_error.tolist()
    assert paired_errors(without, [(0, 1)]).standard_error.tolist() != clustered.standard_error.tolist()
    expected = two_level_intervals(without, clusters=scores.clusters, n_resamples=50)["mean"]
    assert two_level_intervals(scores, n_resamples=50)["mean"].lower["instances"].tolist() == (
        expected.lower["instances"].tolist()
    )


def test_a_resample_of_differences_draws_whole_clusters():
    scores = some_scores(1)
    intervals = paired_differences(scores, [(0, 1)], n_resamples=300, level=0.9, seed=4)
    random, means = np.random.default_rng([4, 0, 1]), np.zeros(300)
    for block, codes in zip(scores.oriented(), scores.clusters, strict=True):
        difference = block[0] - block[1]
        both = [u for u in range(len(codes)) if difference[u] == difference[u]]
        names = sorted({int(codes[u]) for u in both})
        for r, drawn in enumerate(random.integers(len(names), size=(300, len(names)))):
            values = [difference[u] for g in drawn for u in both if codes[u] == names[g]]
            means[r] += sum(values) / len(values) / 2
    assert [intervals.lower[0], intervals.upper[0]] == pytest.approx(np.quantile(means, (0.05, 0.95)).tolist())


def test_a_cluster_of_two_tasks_is_drawn_for_both():
    scores = some_scores(1, shared_from=9)
    intervals = paired_differences(scores, [(0, 1)], n_resamples=300, level=0.9, seed=4)
    instances = {}  # of each cluster the differences by task
    for t, (block, codes) in enumerate(zip(scores.oriented(), scores.clusters, strict=True)):
        for u, code in enumerate(codes.tolist()):
            if block[0, u] == block[0, u] and block[1, u] == block[1, u]:
                instances.setdefault(code, ([], []))[t].append(block[0, u] - block[1, u])
    names, means = sorted(instances), []
    for drawn in np.random.default_rng([4, 0, 1]).integers(len(names), size=(300, len(names))):
        of_tasks = [[d for g in drawn for d in instances[names[g]][t]] for t in (0, 1)]
        means.append(np.mean([np.mean(row) for row in of_tasks]))
    assert [intervals.lower[0], intervals.upper[0]] == pytest.approx(np.quantile(means, (0.05, 0.95)).tolist())


def test_two_levels_draw_a_cluster_of_two_tasks_for_both():
    scores = some_scores(2, shared_from=9)
    intervals = two_level_intervals(scores, n_resamples=200, level=0.8, seed=3)["mean"]
    random, names = np.random.default_rng([3, 200]), sorted(set(np.concatenate(scores.clusters).tolist()))
    random.integers(2, size=(200, 2))  # the tasks
    ranks = []
    for drawn in random.integers(len(names), size=(200, len(names))):
        means = []
        for block, codes in zip(scores.oriented(), scores.clusters, strict=True):
            chosen = [u for g in drawn for u in np.flatnonzero(codes == names[g])]
            means.append(np.nanmean(block[:, chosen], axis=1))
        average = np.mean(means, axis=0)
        ranks.append([1 + sum(other > one + 1e-12 for other in average) for one in average])
    ordered = np.sort(np.array(ranks), axis=0)
    assert intervals.lower["instances"].tolist() == ordered[19].tolist()
    assert intervals.upper["instances"].tolist() == ordered[180].tolist()
    assert np.isnan(intervals.instance_share).all()


def test_two_levels_on_the_same_clusters_of_all_tasks_are_as_sure_as_one_task():
    """The tasks differ by nothing but a shift, so that only the clusters that are drawn decide."""
    block = np.random.default_rng(1).normal(size=(4, 20))
    blocks = tuple(block + t for t in range(8))
    scores = InstanceScores(tuple("ABCD"), tuple("abcdefgh"), blocks, clusters=(np.arange(20),) * 8)
    for statistic, intervals in two_level_intervals(scores, n_resamples=200).items():
        assert intervals.lower["both"].tolist() == intervals.lower["instances"].tolist(), statistic
        assert intervals.upper["both"].tolist() == intervals.upper["instances"].tolist(), statistic


def test_signs_are_flipped_by_cluster():
    random = np.random.default_rng(2)
    scores, clusters = random.integers(0, 5, (3, 22)) + 0.0, np.arange(22) // 2
    scores[0, 3] = scores[2, 8] = np.nan
    tests = instance_separability(scores, np.array([[0, 1], [2, 0]]), clusters=clusters)
    for k, (i, j) in enumerate([(0, 1), (2, 0)]):
        difference = scores[i] - scores[j]
        sums = [
            np.nansum(difference[clusters == g]) for g in range(11) if not np.isnan(difference[clusters == g]).all()
        ]
        flips = [abs(sum(s * d for s, d in zip(signs, sums, strict=True)))
                 for signs in itertools.product((1, -1), repeat=len(sums))]  # fmt: skip
        assert tests.p_values[k] == np.mean([flip >= abs(sum(sums)) - 1e-9 for flip in flips])
        assert tests.pairs[k].tolist() == [i, j]
        assert np.sign(tests.differences[k]) == np.sign(sum(sums))
    singles = instance_separability(scores, np.array([[0, 1]]), clusters=np.arange(22))
    assert singles.p_values.tolist() == instance_separability(scores, np.array([[0, 1]])).p_values.tolist()


def test_clusters_that_do_not_fit_the_instances_are_refused():
    with pytest.raises(ValueError, match="`clusters` must have an entry for each instance"):
        InstanceScores(("A",), ("t",), (np.zeros((1, 3)),), clusters=(np.zeros(2, dtype=np.int64),))


def test_the_command_counts_clusters(tmp_path, capsys):
    scores = some_scores(3, missing=0)
    lines = [
        f"{name},{task},q{u},{block[i, u]:g},c{scores.clusters[t][u]}"
        for t, (task, block) in enumerate(zip(scores.task_names, scores.blocks, strict=True))
        for i, name in enumerate(scores.system_names)
        for u in range(block.shape[1])
    ]
    path = tmp_path / "instances.csv"
    path.write_text("\n".join(["system,task,instance,score,passage", *lines, ""]))
    arguments = ["instances", str(path), "--intervals", "--format", "json", "--resamples", "20", "--lower", "t"]
    assert main([*arguments, "--cluster-column", "Passage"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["n_clusters"] == {
        task: len(set(codes.tolist())) for task, codes in zip(scores.task_names, scores.clusters, strict=True)
    }
    errors = paired_errors(scores, [(0, 1), (0, 2), (1, 2)]).standard_error
    assert [entry["standard_error"] for entry in report["differences"]] == pytest.approx(errors.tolist())
    assert (
        read_instances(path, cluster_column="passage").clusters[0].tolist()
        == cluster_codes([str(code) for code in scores.clusters[0]])[0].tolist()
    )
