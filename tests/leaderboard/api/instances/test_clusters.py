"""Clusters of instances that submissions state: from files and programs to errors, tests and the figures' hash."""

import csv
import io
from copy import deepcopy

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.benchmarks.releases import new_edition
from leaderboard.models import Benchmark, InstanceScores, Revision
from leaderboard.rankings.instances import clusters_on, current_instances, shared_sets, unpack_names
from leaderboard.rankings.score_matrix import error_table, hash_anew, revision_matrix
from leaderboard.studies.instances import with_clustered_errors
from leaderboard.submissions.importing.packing import packed, unpacked
from leaderboard.submissions.imports import read_import
from leaderboard.submissions.preview.table import StatedClusters
from leaderboard.submissions.uploads import Upload, submit_upload
from ranking_engine.core import instances as engine
from ranking_engine.files.instance_tables import cluster_codes
from ranking_engine.files.problems import InputError
from ranking_engine.stability.separability.instance_errors import paired_errors
from ranking_engine.stability.separability.pair_tests import instance_separability
from tests.factories import owner_of
from tests.leaderboard.submissions.test_imports_page import answer, choose, sign_in
from tests.markup import compact
from tests.ranking_engine.importers.test_samples import results_of, sample, samples_of

N = 40
PASSAGES = [f"passage {u // 3}" if u % 7 else "" for u in range(N)]  # some instances are alone
SCORES = np.random.default_rng(6).integers(0, 4, (3, N)) + np.arange(3)[:, None] / 4
NAMES = ("Ada", "Bert", "Cleo")


def table_of(systems=range(3), clusters=PASSAGES, *, is_stated=True):
    header = ["system", "task", "instance", "score", *(["cluster"] if is_stated else [])]
    lines = [
        [NAMES[i], "Task 1", f"q{u:02}", repr(float(SCORES[i, u])), *([clusters[u]] if is_stated else [])]
        for i in systems for u in range(N)
    ]  # fmt: skip
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *lines])
    return text.getvalue()


def upload(benchmark, text, by=None):
    table = Upload(table=text.encode(), is_of_instances=True, creates_systems=True)
    return submit_upload(benchmark, by or owner_of(benchmark), table)


@pytest.fixture(scope="module")
def made_once(make_once):
    return make_once.benchmark({}, tasks=[TaskSpec("Task 1"), TaskSpec("Task 2")])


@pytest.fixture
def benchmark(made_once, make):
    return deepcopy(made_once)


def on_board(benchmark):
    revision = Revision.objects.filter(benchmark=benchmark).latest("number")
    cells = current_instances(revision)
    task = benchmark.tasks.get(key="task-1").pk
    return clusters_on(cells, shared_sets(cells)).get(task, [])


def error_of(clusters):
    codes = cluster_codes(clusters) if clusters else ()
    scores = engine.InstanceScores(NAMES, ("task-1",), (SCORES,), clusters=codes)
    return paired_errors(scores, [(0, 1)]).standard_error[0]


def stated_error(client, benchmark):
    answer = client.get(reverse("api:head_to_head", args=[benchmark.key]), {"a": "ada", "b": "bert"}).json()
    return answer["measured"]["standard_error"]


def test_a_column_of_a_table_is_stored_and_used_for_errors_and_tests(make, client, benchmark):
    upload(benchmark, table_of())
    assert on_board(benchmark) == PASSAGES
    benchmark = make.publish(make.publish(benchmark), studies=True)
    assert stated_error(client, benchmark) == pytest.approx(error_of(PASSAGES))
    assert error_of(PASSAGES) != pytest.approx(error_of([]))
    address = reverse("head_to_head", args=[benchmark.key])
    assert "paired on these instances, by clusters of them" in (
        client.get(address, {"a": "ada", "b": "bert"}).content.decode()
    )
    answer = client.get(reverse("api:instances", args=[benchmark.key])).json()
    n_clusters = int(cluster_codes(PASSAGES)[0].max()) + 1
    assert answer["tasks"] == [
        {"task": "task-1", "n_instances": N, "n_clusters": n_clusters, "n_systems": 3, "n_other_set": 0}
    ]
    pairs = {tuple(pair["systems"]): pair["standard_error"] for pair in answer["neighbours"]}
    assert pairs["bert", "ada"] == pytest.approx(error_of(PASSAGES))
    page = client.get(reverse("instances", args=[benchmark.key])).content.decode()
    assert f"@misc{{{benchmark.key}-r{benchmark.published_number}-instances," in page
    assert f"in {n_clusters} clusters, 3 systems" in " ".join(page.split())


def test_clusters_of_two_tasks_are_one_for_errors_and_tests(make, client, benchmark):
    """Both tasks have the scores of the same instances: the second adds nothing that the first does not tell."""
    lines = table_of().splitlines()
    upload(benchmark, "\n".join([*lines, *(line.replace("Task 1", "Task 2") for line in lines[1:]), ""]))
    benchmark = make.publish(make.publish(benchmark), studies=True)
    clusters = [name or f"alone {u}" for u, name in enumerate(PASSAGES)]
    as_one = cluster_codes([name or f"{u} of {t}" for t in (1, 2) for u, name in enumerate(PASSAGES)])
    both = engine.InstanceScores(NAMES, ("tasks",), (np.hstack([SCORES, SCORES]),), clusters=as_one)
    assert stated_error(client, benchmark) == pytest.approx(paired_errors(both, [(0, 1)]).standard_error[0], rel=0.02)
    assert stated_error(client, benchmark) > 1.2 * error_of(clusters) / 2**0.5
    answer = client.get(reverse("api:instances", args=[benchmark.key])).json()
    pairs = {tuple(pair["systems"]): pair for pair in answer["neighbours"]}
    assert pairs["bert", "ada"]["standard_error"] == pytest.approx(stated_error(client, benchmark))
    order = np.array([[1, 0], [2, 1]]) if ("cleo", "bert") in pairs else np.array([[1, 0], [0, 2]])
    tests = instance_separability(np.hstack([SCORES, SCORES]), order, clusters=as_one[0])
    expected = dict(zip(map(tuple, order.tolist()), tests.adjusted.tolist(), strict=True))
    p_values = {tuple("abc".index(key[0]) for key in pair): one["p_adjusted"] for pair, one in pairs.items()}
    assert p_values == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("n_clusters", [0, 3, 12])
def test_few_clusters_have_no_interval_though_standard_errors_are_stated(api, make, client, benchmark, n_clusters):
    rows = [
        {
            "name": NAMES[i],
            "scores": {"Task 1": {"value": 0.5, "standard_error": 0.13}},
            "instances": {"Task 1": {f"q{u}": SCORES[i, u] for u in range(12 if n_clusters else 9)}},
            "clusters": {"Task 1": {f"q{u}": f"text {u % n_clusters}" for u in range(12)}} if n_clusters else {},
        }
        for i in range(2)
    ]
    sender, path = api.as_user(owner_of(benchmark)), f"benchmarks/{benchmark.key}/submissions/"
    assert sender.post(path, {"systems": rows, "create_systems": True}).status_code == 201
    make.publish(benchmark)
    pair = client.get(reverse("api:head_to_head", args=[benchmark.key]), {"a": "ada", "b": "bert"}).json()
    by = {0: "standard_errors", 3: None, 12: "instances"}[n_clusters]
    assert (pair["measured"] and pair["measured"]["measured_by"]) == by
    assert bool(pair["no_measured"]) == (by is None)
    page = client.get(reverse("head_to_head", args=[benchmark.key]), {"a": "ada", "b": "bert"}).content.decode()
    assert ("No interval of the mean difference: the instances are in clusters" in page) == (by is None)


def test_an_error_that_knows_the_clusters_of_instances_takes_the_place_of_a_stated_one(make, api):
    """Twelve passages of five questions each, all right or all wrong: as good as twelve instances, not as sixty."""
    benchmark = make.benchmark({}, tasks=[TaskSpec("Task 0"), TaskSpec("Task 1")])
    right = {name: np.repeat(np.arange(12) % (k + 2) == 0, 5).astype(float) for k, name in enumerate("AB")}
    naive = {name: float(row.std(ddof=1)) / 60**0.5 for name, row in right.items()}
    rows = [
        {
            "name": name,
            "scores": {
                "Task 0": {"value": float(row.mean()) + off, "standard_error": naive[name]},
                "Task 1": {"value": 1, "standard_error": 0.5},
            },
            "instances": {"Task 0": {f"q{u:02}": value for u, value in enumerate(row.tolist())}},
            "clusters": {"Task 0": {f"q{u:02}": f"passage {u // 5}" for u in range(60)}},
        }
        for (name, row), off in zip(right.items(), (0, 0.1), strict=True)
    ]
    sent = api.as_user(owner_of(benchmark)).post(
        f"benchmarks/{benchmark.key}/submissions/", {"systems": rows, "create_systems": True}
    )
    assert sent.status_code == 201, sent.json()
    table = revision_matrix(make.publish(benchmark).publication.revision)
    errors = with_clustered_errors(table, error_table(table))
    clustered = float(right["A"][::5].std(ddof=1)) / 12**0.5
    # The score of B is not the mean of its instances: its error is not theirs.
    assert errors.tolist() == [[pytest.approx(clustered), 0.5], [pytest.approx(naive["B"]), 0.5]]


def test_the_scores_that_are_given_out_can_be_submitted_again(make, client, benchmark):
    upload(benchmark, table_of())
    benchmark = make.publish(benchmark)
    address = reverse("api:instance_scores", args=[benchmark.key, "task-1"])
    assert client.get(address).json()["clusters"] == PASSAGES
    again = make.benchmark({}, tasks=[TaskSpec("Task 1"), TaskSpec("Task 2")])
    upload(again, client.get(address + "?format=csv").content.decode())
    assert on_board(again) == PASSAGES


def test_files_without_clusters_are_as_they_were(make, client, benchmark):
    upload(benchmark, table_of(is_stated=False))
    assert set(InstanceScores.objects.values_list("clusters", flat=True)) == {None}
    benchmark = make.publish(benchmark)
    assert stated_error(client, benchmark) == pytest.approx(error_of([]))
    address = reverse("api:instance_scores", args=[benchmark.key, "task-1"])
    assert client.get(address).json()["clusters"] == []
    assert client.get(address + "?format=csv").content.decode().splitlines()[0] == "system,task,instance,score"


def test_a_task_called_cluster_keeps_its_column(make):
    benchmark = make.benchmark({}, tasks=[TaskSpec("Cluster"), TaskSpec("Task 2")])
    upload(benchmark, "system,instance,cluster,Task 2\nAda,q1,1,2\nAda,q2,3,4\n")
    stored = InstanceScores.objects.values_list("task__key", "clusters")
    assert sorted(stored) == [("cluster", None), ("task-2", None)]


def test_the_hash_of_the_figures_covers_clusters_and_nothing_else_that_is_new(make):
    hashes = set()
    for clusters in (PASSAGES, [*PASSAGES[:-1], "another"], None):
        benchmark = make.benchmark({}, tasks=[TaskSpec("Task 1"), TaskSpec("Task 2")])
        upload(benchmark, table_of(clusters=clusters) if clusters else table_of(is_stated=False))
        revision = make.publish(benchmark).publication.revision
        assert hash_anew(revision) == revision.input_hash
        hashes.add(revision.input_hash)
    assert len(hashes) == 3


def test_moderators_state_clusters_and_replace_them(make, benchmark):
    upload(benchmark, table_of([0], is_stated=False))
    assert on_board(benchmark) == []
    upload(benchmark, table_of([1]), by=make.member(benchmark, "moderator"))
    assert on_board(benchmark) == PASSAGES
    upload(benchmark, table_of([2], is_stated=False))
    assert on_board(benchmark) == PASSAGES
    every = ["all"] * N
    upload(benchmark, table_of([2], clusters=every))
    assert on_board(benchmark) == every
    upload(benchmark, table_of([0]))
    assert on_board(benchmark) == PASSAGES


def test_others_do_not_state_clusters_where_the_board_has_none(make, benchmark):
    """The first to submit would otherwise put all instances into one cluster, and nothing would be significant."""
    stranger = make.user("eve")
    with pytest.raises(InputError, match="count only if a moderator of the benchmark states them; leave"):
        upload(benchmark, table_of([0], clusters=["all"] * N), by=stranger)
    upload(benchmark, table_of([0], is_stated=False), by=stranger)
    assert set(InstanceScores.objects.values_list("clusters", flat=True)) == {None}


def test_others_state_the_clusters_of_the_board_or_none(make, benchmark):
    stranger = make.user("eve")
    upload(benchmark, table_of([0]))
    with pytest.raises(InputError, match="in other clusters than on the board; leave the clusters out"):
        upload(benchmark, table_of([1], clusters=["all"] * N), by=stranger)
    renamed = [name and f"text {name}" for name in PASSAGES]
    upload(benchmark, table_of([1], clusters=renamed), by=stranger)  # names of theirs could be those of another task
    assert [unpack_names(row.clusters) for row in InstanceScores.objects.all()] == [PASSAGES] * 2


@pytest.mark.parametrize("clusters", [PASSAGES, ["all"] * N])
def test_where_scores_are_hidden_no_message_says_whether_clusters_are_those_of_the_board(make, benchmark, clusters):
    upload(benchmark, table_of([0]))
    Benchmark.objects.filter(pk=benchmark.pk).update(score_view=Benchmark.ScoreView.OWN)
    benchmark.refresh_from_db()
    with pytest.raises(InputError, match="count only if a moderator of the benchmark states them; leave"):
        upload(benchmark, table_of([1], clusters=clusters), by=make.user("eve"))


def test_a_correction_does_not_bring_replaced_clusters_back(api, benchmark):
    owner = owner_of(benchmark)
    upload(benchmark, table_of([0]))
    first = InstanceScores.objects.get().submission
    every = ["all"] * N
    upload(benchmark, table_of([1], clusters=every))
    body = {"systems": [{"corrects": str(first.uuid), "scores": {"Task 2": 3}}], "note": "It was left out."}
    assert api.as_user(owner).post(f"benchmarks/{benchmark.key}/submissions/", body).status_code == 201
    assert InstanceScores.objects.latest("pk").clusters is None
    assert on_board(benchmark) == every


def test_a_file_cannot_put_an_instance_into_two_clusters(benchmark):
    lines = table_of([0]) + table_of([1], clusters=PASSAGES[::-1]).split("\n", 1)[1]
    with pytest.raises(InputError, match="is in two clusters"):
        upload(benchmark, lines)


@pytest.mark.parametrize("cluster", ["c" * 101, "two\u202elines"])
def test_names_of_clusters_have_limits_in_tables_and_programs(api, benchmark, cluster):
    with pytest.raises(InputError, match="the cluster "):
        upload(benchmark, table_of([0], clusters=[cluster] * N))
    rows = [{"name": "Ada", "instances": {"Task 1": {"a": 1}}, "clusters": {"Task 1": {"a": cluster}}}]
    sender, path = api.as_user(owner_of(benchmark)), f"benchmarks/{benchmark.key}/submissions/"
    error = sender.post(path, {"systems": rows, "create_systems": True}).json()["error"]
    assert error["details"][0]["place"].startswith("systems[0].clusters.Task 1.a")
    assert InstanceScores.objects.count() == 0


def test_programs_state_clusters_beside_instances(api, benchmark):
    rows = [
        {"name": "Ada", "instances": {"Task 1": {"a": 1, "b": 0, "c": 1}}, "clusters": {"task-1": {"b": "p"}}},
        {"name": "Bert", "instances": {"task-1": {"c": 1, "b": 0, "a": 1}}, "clusters": {"task-1": {"c": "p"}}},
    ]
    sender, path = api.as_user(owner_of(benchmark)), f"benchmarks/{benchmark.key}/submissions/"
    assert sender.post(path, {"systems": rows, "create_systems": True}).status_code == 201
    assert on_board(benchmark) == ["", "p", "p"]
    for clusters, place, message in [
        ({"Task 2": {"a": "p"}}, "clusters.Task 2", "this system has no scores on instances of this task"),
        ({"Task 1": {"z": "p"}}, "clusters.Task 1.z", "'z' is not an instance with a score here"),
        ({"Task 1": {"a": 3}}, "clusters.Task 1.a", "expected"),
        ({"Task 1": ["p"]}, "clusters.Task 1", "expected an object with a cluster for each instance"),
        (["p"], "clusters", "expected an object with an object for each task"),
    ]:
        row = {"name": "Cleo", "instances": {"Task 1": {"a": 1, "b": 0, "c": 1}}, "clusters": clusters}
        error = sender.post(path, {"systems": [row], "create_systems": True}).json()["error"]
        assert (error["details"][0]["place"], message in str(error)) == (f"systems[0].{place}", True)
    row = {"name": "Cleo", "scores": {"Task 1": 1}, "clusters": {"Task 1": {"a": "p"}}}
    error = sender.post(path, {"systems": [row], "create_systems": True}).json()["error"]
    assert "this system has no scores on instances of this task" in str(error)
    twice = [
        {"name": name, "instances": {"Task 2": {"a": 1}}, "clusters": {"Task 2": {"a": name}}} for name in ("X", "Y")
    ]
    error = sender.post(path, {"systems": twice, "create_systems": True}).json()["error"]
    assert "the instance 'a' is in two clusters" in str(error)


def test_a_correction_of_another_task_and_an_edition_keep_them(api, benchmark):
    owner = owner_of(benchmark)
    upload(benchmark, table_of([0]))
    row = InstanceScores.objects.get()
    body = {"systems": [{"corrects": str(row.submission.uuid), "scores": {"Task 2": 3}}], "note": "It was left out."}
    assert api.as_user(owner).post(f"benchmarks/{benchmark.key}/submissions/", body).status_code == 201
    assert InstanceScores.objects.count() == 2
    assert on_board(benchmark) == PASSAGES
    benchmark.refresh_from_db()
    edition = new_edition(benchmark, author=owner, name="Second", with_scores=True)
    assert on_board(edition) == PASSAGES


def test_samples_of_a_program_may_name_the_cluster(make, client):
    benchmark = make.published({"A": [20.0]}, tasks=[TaskSpec("Quiz")])
    lines = [{**sample(u, acc=u % 2), "cluster": u // 2} for u in range(4)] + [sample(4, acc=1)]
    files = [results_of({"quiz": {"acc": 0.6}}), samples_of(lines)]
    user = owner_of(benchmark)
    results = read_import([(file.name, file.data) for file in files])
    ((place, one),) = results.instances.items()
    assert (one.names, one.clusters) == (("0", "1", "2", "3", "4"), ("0", "0", "1", "1", ""))
    assert unpacked(packed(results, benchmark, user), benchmark, user).instances[place].clusters == one.clusters
    sign_in(client, benchmark)
    page = choose(client, benchmark, files)
    response = answer(client, benchmark, page, scale_0="as-is")
    assert response.status_code == 302, response.context["errors"]
    client.post(response["Location"], {"action": "confirm", "previewed_number": "1", "create_system": "1"})
    task = benchmark.tasks.get()
    (packed_names,) = InstanceScores.objects.filter(task=task).values_list("clusters", flat=True)
    assert unpack_names(packed_names) == ["0", "0", "1", "1", ""]
    second = samples_of([{**sample(0, acc=1), "cluster": "x"}, {**sample(0, "strict", acc=1), "cluster": "y"}])
    with pytest.raises(InputError, match="the instance '0' is in two clusters"):
        read_import([(second.name, second.data)])


def test_the_preview_of_a_file_counts_the_clusters_that_it_states(client, benchmark):
    client.force_login(owner_of(benchmark), backend="django.contrib.auth.backends.ModelBackend")
    file = SimpleUploadedFile("instances.csv", table_of().encode())
    sent = client.post(reverse("upload", args=[benchmark.key]), {"instances": file})
    page = client.get(sent["Location"])
    n_clusters = len(set(PASSAGES) - {""}) + PASSAGES.count("")
    assert page.context["preview"].clusters == [StatedClusters("Task 1", n_clusters, N)]
    assert f"Task 1 ({n_clusters} clusters of {N} instances)." in compact(page)
