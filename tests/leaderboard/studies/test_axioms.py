"""Violations of the rules' properties in a benchmark's scores: stored, read back, the same when searched anew."""

import html
import json

import numpy as np
import pytest
from django.test import Client, override_settings
from django.urls import reverse

from jobs.runner import run_job
from leaderboard.models import Benchmark, Job, Report
from leaderboard.queue.kinds import AXIOMS, JOB_KINDS
from leaderboard.rankings.reports import unpack_arrays
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.studies.axioms import FILLED_IN, axioms_report, properties_to_search, rule_properties, steps_for
from ranking_engine import RULES, ScoreMatrix, rank
from ranking_engine.axioms import PROPERTIES, Witness, entry, sentence, violates, witness
from ranking_engine.core.synthetic import random_matrix
from tests.markup import compact

# A and B swap under Borda once C is there, which B beats by more where it is ahead.
SWAP = {"Anna": [3, 3, 1, 1, 3], "Bert": [2, 2, 3, 3, 2], "Carl & Co": [1, 1, 2, 2, 1]}


FEW = JOB_KINDS[AXIOMS].parameters | {"max_steps": 20}  # boards a search; the site looks longer


def searched(make, *args, **fields):
    """A published benchmark whose search is done."""
    benchmark = make.published(*args, **fields)
    search(benchmark)
    return benchmark


def search(benchmark):
    job = Job.objects.get(benchmark=benchmark, kind=AXIOMS)
    Job.objects.filter(pk=job.pk).update(parameters=FEW)
    with override_settings(JOB_LEASE_SECONDS=600):  # as in `Factory.publish`
        assert run_job(job.pk, worker="test") == "done"


def published_with_flips(make, benchmark):
    """The board, once its newest revision is ranked and searched, and no other study of it is computed."""
    benchmark = make.publish(benchmark)
    with override_settings(JOB_LEASE_SECONDS=600):  # as in `Factory.publish`
        newest = Job.objects.filter(benchmark=benchmark, kind=AXIOMS, state="waiting").latest("pk")
        assert run_job(newest.pk, worker="test") == "done"
    return benchmark


def lines(benchmark, rule):
    return {line.name: line for line in rule_properties(benchmark.publication.revision, rule).lines}


def test_what_a_page_tells_is_found_again_by_a_search_from_the_scores(make):
    benchmark = searched(make)
    matrix = revision_matrix(benchmark.publication.revision).matrix
    names = {"a": "A", "b": "B", "c": "C", "d": "D"}
    tasks = {f"task-{t}": f"Task {t}" for t in range(1, 6)}
    n_violations = 0
    for rule in ("borda", "copeland", "median", "instant_runoff", "kemeny"):
        by_property = lines(benchmark, rule)
        for key, prop in PROPERTIES.items():
            assert by_property[prop.name].holds == entry(rule, key).holds
            if entry(rule, key).holds:
                assert by_property[prop.name].here == ""
                continue
            options = {"missing": "drop_systems"}
            violation = witness(rule, key, matrix, options=options, max_steps=FEW["max_steps"]).witness
            assert by_property[prop.name].is_violated == (violation is not None)
            if violation is not None:
                assert by_property[prop.name].here == sentence(violation, names, tasks)
                assert violates(matrix, violation)
                n_violations += 1
    assert n_violations > 5


def test_the_page_says_computing_until_the_search_is_there(make, client):
    benchmark = make.published(SWAP)
    address = reverse("rule", args=[benchmark.key, "borda"])
    before = client.get(address).content.decode()
    assert "Computing violations in these scores" in before
    assert "overtakes" not in before
    search(benchmark)
    after = html.unescape(client.get(address).content.decode())
    assert "computing" not in after
    assert "Remove Carl & Co and Anna overtakes Bert." in after
    assert "<span" not in lines(benchmark, "borda")["Independence of irrelevant alternatives"].here


def test_names_are_those_of_the_revision_and_escaped(make, client):
    benchmark = searched(make, {"<b>A</b>": [3, 3, 1, 1, 3], "B": [2, 2, 3, 3, 2], "C": [1, 1, 2, 2, 1]})
    page = client.get(reverse("rule", args=[benchmark.key, "borda"])).content.decode()
    assert "Remove C and &lt;b&gt;A&lt;/b&gt; overtakes B." in page


def test_missing_scores_can_break_what_holds_for_complete_ones(make):
    matrix = random_matrix(8, 6, seed=2, missing=0.4)
    assert properties_to_search("copeland", matrix) == list(PROPERTIES)
    assert "unanimity" not in properties_to_search("borda", matrix)
    assert "unanimity" not in properties_to_search("copeland", random_matrix(8, 6, seed=2))


@pytest.mark.parametrize("policy", ["median", "worst", "predicted", "drop_systems"])
def test_where_missing_scores_are_filled_in_the_page_says_that_properties_are_of_complete_ones(make, client, policy):
    benchmark = make.published(SWAP, missing_policy=policy)
    revision = benchmark.publication.revision
    page = compact(client.get(reverse("rule", args=[benchmark.key, "mean"])))
    answer = client.get(reverse("api:rule_properties", args=[benchmark.key, "mean"])).json()
    is_filled_in = policy != "drop_systems"
    assert (FILLED_IN in page, answer["note"]) == (is_filled_in, FILLED_IN if is_filled_in else "")
    assert rule_properties(revision, "copeland").note == ""  # needs no score filled in


@pytest.mark.parametrize("policy", ["median", "worst", "predicted"])
def test_filled_in_scores_let_other_systems_decide_under_the_mean_which_of_two_is_ahead(policy):
    generator, n_reversed = np.random.default_rng(0), 0
    for _ in range(10):
        values = np.round(10 * generator.normal(size=(12, 1)) + 3 * generator.normal(size=(12, 6)), 1)
        values[generator.permutation(12)[:4], 0] = np.nan
        whole = rank(ScoreMatrix(values), "mean", missing=policy).ranks
        for k in range(12):
            others = np.delete(np.arange(12), k)
            without = rank(ScoreMatrix(values[others]), "mean", missing=policy).ranks
            both = (whole[others] > 0) & (without > 0)
            before, after = whole[others][both], without[both]
            n_reversed += ((before[:, None] < before) & (after[:, None] > after)).sum()
    assert n_reversed > 0


def test_two_step_boards_say_why_nothing_was_searched(make, client):
    two_step = searched(make, SWAP, aggregation="two_step")
    assert rule_properties(two_step.publication.revision, "borda").reason == (
        "with two-step aggregation groups vote, not tasks"
    )
    page = client.get(reverse("rule", args=[two_step.key, "borda"])).content.decode()
    assert "These scores were not searched for violations: with two-step aggregation" in page


def test_the_report_is_small_and_the_same_twice(make):
    benchmark = make.published(SWAP)
    revision = benchmark.publication.revision
    first, second = (axioms_report(revision, FEW, lambda progress: None) for _ in range(2))
    assert bytes(first.arrays) == bytes(second.arrays)
    assert first.summary["n_violations"] > 20
    assert not Report.objects.filter(kind=AXIOMS).exists()


def test_a_stored_witness_is_read_back_as_it_was():
    example = Witness("borda", "iia", {"missing": "drop_systems"}, x="a", y="b", removed=("c",), effect="reversed")
    assert Witness.from_dict(example.to_dict()) == example


@pytest.mark.parametrize("size", [(10, 10), (300, 80)])
def test_the_number_of_steps_reads_no_clock(size):
    matrix = random_matrix(*size, seed=0)
    parameters = JOB_KINDS[AXIOMS].parameters
    steps = {rule: steps_for(rule, matrix, parameters) for rule in ("borda", "kemeny")}
    assert steps == {10: {"borda": 9_302, "kemeny": 595}, 300: {"borda": 526, "kemeny": 1}}[size[0]]


def test_the_searches_under_a_rule_divide_the_boards_that_its_seconds_allow(make):
    revision = make.published().publication.revision
    cost = RULES["kemeny"].cost(4, 5)
    n_steps = []
    for seconds in (19 * cost, 30 * cost, 1_000 * cost):
        report = axioms_report(revision, FEW | {"seconds": seconds}, lambda done: None)
        searches = json.loads(unpack_arrays(report.arrays)["found"].tobytes())["kemeny"]
        n_steps.append(sum(search["n_steps"] for search in searches.values()))
    assert n_steps[0] == 0
    assert 0 < n_steps[1] <= 30 < n_steps[2]


# --- The history ---------------------------------------------------------------------------------------------------


def history(client, benchmark):
    return [row.iia_violations for row in client.get(reverse("history", args=[benchmark.key])).context["revisions"]]


def test_the_history_tells_which_others_a_newcomer_made_swap(make, client):
    two = {name: SWAP[name] for name in ("Anna", "Bert")}
    benchmark = make.published(two, name="Two")
    make.accepted(benchmark, {"Carl & Co": SWAP["Carl & Co"]})
    assert history(client, benchmark) == ["", ""]  # not computed yet
    published_with_flips(make, benchmark)
    newest, first = history(client, benchmark)
    assert first == ""
    assert newest.startswith("Other systems changed their order under Borda, ")
    assert newest.endswith("; under Borda 1 pair swapped (e.g. Bert overtook Anna).")
    flips = Report.objects.get(kind=AXIOMS, revision__number=2).summary["flips"]
    assert flips["joined"] == {"n": 1, "names": ["Carl & Co"]}
    assert "mean" not in flips["rules"]
    assert "median" not in flips["rules"]


def test_the_history_tells_of_ties_alone_and_of_nobody_moved(make, client):
    benchmark = make.published({"A": [3, 3]})
    make.accepted(benchmark, {"B": [2, 2]})
    published_with_flips(make, benchmark)
    make.accepted(benchmark, {"C": [1, 1]})  # now neither A nor B is ever last
    published_with_flips(make, benchmark)
    assert history(client, benchmark) == [
        "Other systems changed their order under Veto, only because ties appeared or were broken.",
        "No other systems changed their order under any rule.",
        "",
    ]


# --- What is hidden ------------------------------------------------------------------------------------------------


def test_who_may_not_see_all_is_told_no_violation_and_no_flip(make):
    benchmark = make.published({name: SWAP[name] for name in ("Anna", "Bert")})
    make.accepted(benchmark, {"Carl & Co": SWAP["Carl & Co"]})
    benchmark = published_with_flips(make, benchmark)
    address = reverse("rule", args=[benchmark.key, "borda"])
    for score_view in ("ranks", "own"):
        Benchmark.objects.filter(pk=benchmark.pk).update(score_view=score_view)
        stranger, owner = Client(), Client()
        owner.force_login(benchmark.memberships.get(role="owner").user)
        revisions = reverse("history", args=[benchmark.key])
        assert [who.get(address).status_code for who in (stranger, owner)] == [403, 200]
        assert ["overtook" in who.get(revisions).content.decode() for who in (stranger, owner)] == [False, True]
