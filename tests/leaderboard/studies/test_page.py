"""The stability page: what it says of each study, against the distribution that the study stored."""

import html
import io
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from django.db.models import Q
from scipy import stats

from jobs.runner import run_job
from leaderboard.common.charts.lines import Curve, line_chart
from leaderboard.common.text import percent
from leaderboard.models import Job, Report
from leaderboard.rankings.confidence.significance import OUTDATED
from leaderboard.studies.findings import TELLERS, findings
from leaderboard.studies.page import stability_sections
from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability import catalogue
from ranking_engine.stability.separability.significance import significance

SMALL = {
    "missing_scores": {"n_repeats": 5, "levels": [0, 10, 20]},
    "system_additions": {"n_orders": 5},
    "task_subsets": {"n_repeats": 5, "n_best": 10, "largest_best": 2},
    "corrupted_tasks": {"n_repeats": 5},
    "judge_bootstrap": {"n_trials": 20, "n_resamples": 5, "n_rounds": 2},
}


def run_all() -> None:
    studies = Q(kind__in=["study_plan", "significance"]) | Q(kind__contains=":")
    while due := Job.objects.filter(studies, state="waiting").order_by("-priority", "pk").first():
        run_job(due.pk, worker="test")


def _with_defaults(study, defaults):
    declared = [replace(one, default=defaults.get(one.name, one.default)) for one in study.declared]
    return replace(study, declared=tuple(declared))


def _small_budget(study) -> dict:
    """No time for the rules that would be ranked anew matrix by matrix."""
    return {"budget": 0.2} if "budget" in study.parameters else {}


@pytest.fixture
def planned(make, monkeypatch):
    """Twelve systems without studies; those that are planned are small."""
    small = {
        key: _with_defaults(study, {**SMALL.get(key, {}), **_small_budget(study)})
        for key, study in catalogue.STUDIES.items()
    }
    monkeypatch.setattr(catalogue, "STUDIES", small)
    scores = np.random.default_rng(7).normal(50, 10, size=(12, 5)).round(1)
    names = {f"System {i}": row.tolist() for i, row in enumerate(scores)}
    return make.published(names, default_rule="copeland")


@pytest.fixture
def studied(planned):
    """The same with every study."""
    run_all()
    return planned


def sections(benchmark, marked="copeland"):
    return {section.state.key: section for section in stability_sections(benchmark, benchmark.publication, marked)}


def arrays_of(client, benchmark, study) -> dict[str, np.ndarray]:
    content = client.get(f"/b/{benchmark.key}/stability/{study}.npz").content
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return dict(stored)


def test_a_study_that_is_queued_is_not_one_without_a_result(planned, client):
    for kind in ("study_plan", ":missing_scores"):
        while due := Job.objects.filter(kind__contains=kind, state="waiting").order_by("-priority", "pk").first():
            run_job(due.pk, worker="test")
    shown_page = client.get(f"/b/{planned.key}/stability/")
    states = Counter(section.state.state for section in shown_page.context["sections"])
    assert states["done"] == 1
    assert states["waiting"] > 1
    assert f" studies. {states['waiting']} studies are not computed yet." in shown_page.context["summary"]
    n_without = len(catalogue.STUDIES) - 1 - states["waiting"]
    said = f" {n_without} study has no" if n_without == 1 else f" {n_without} studies have no" if n_without else ""
    assert said in shown_page.context["summary"]
    assert ("for this rule" in shown_page.context["summary"]) == bool(n_without)


def test_every_study_of_the_catalogue_is_told_by_the_page():
    assert sorted(TELLERS) == sorted(catalogue.EXPERIMENTS)


def test_what_every_study_found_stands_on_the_page_in_the_api_and_in_the_files(studied, client):
    """One test, because the studies are computed once for all of it, by real jobs."""
    by_study = sections(studied)
    assert sorted(by_study) == sorted(catalogue.STUDIES)
    page = client.get(f"/b/{studied.key}/stability/").content.decode().replace("&#x27;", "'")
    for key, section in by_study.items():
        assert (section.state.state, section.state_text) == ("done", ""), (key, section.state)
        assert section.findings.sentence.endswith("."), key
        assert section.findings.sentence in page, key
        assert all(len(row.cells) == len(section.findings.headers) for row in section.findings.rows), key
        assert all([section.findings.first_header, *section.findings.headers]), key
        answer = client.get(f"/api/v1/benchmarks/{studied.key}/studies/{key}/").json()
        shapes = {name: list(array.shape) for name, array in arrays_of(client, studied, key).items()}
        assert answer["distribution"] == shapes, key
        assert answer["parameters"]["seed"] == 0
        if section.findings.is_by_rule:
            assert [row.key for row in section.findings.rows if row.is_marked] == ["copeland"], key
            assert sorted(answer["summary"]["rules"]) == sorted(row.key for row in section.findings.rows)
    listed = client.get(f"/api/v1/benchmarks/{studied.key}/studies/").json()["results"]
    assert {entry["study"]: entry["state"] for entry in listed} == dict.fromkeys(catalogue.STUDIES, "done")
    figures_are_means_of_the_distribution(client, studied, by_study)
    readings = by_study["judge_bootstrap"].findings.headers[-2:]
    assert readings == ["Resampled systems, each once", "Resampled systems, as often as drawn"]
    sensitivity_is_that_of_the_ranks_that_are_stored(client, studied)
    a_private_distribution_is_for_its_members(client, studied)


def figures_are_means_of_the_distribution(client, benchmark, by_study):
    taus = arrays_of(client, benchmark, "task_subsets")["borda.tau"]
    row = next(row for row in by_study["task_subsets"].findings.rows if row.key == "borda")
    assert row.cells[0].text == f"{np.nanmean(taus[0]):.3f}"
    effects = arrays_of(client, benchmark, "system_additions")["copeland.effect"]
    row = next(row for row in by_study["system_additions"].findings.rows if row.key == "copeland")
    assert row.cells[0].text == percent((effects >= 1).sum() / (effects >= 0).sum())
    correlations = arrays_of(client, benchmark, "missing_scores")["minimax.spearman"]
    row = next(row for row in by_study["missing_scores"].findings.rows if row.key == "minimax")
    cells = dict(zip(by_study["missing_scores"].findings.headers, row.cells, strict=True))
    assert cells["20 % deleted"].text == f"{np.nanmean(correlations[:, 2]):.3f}".replace("-", "\N{MINUS SIGN}")
    filled = arrays_of(client, benchmark, "missing_scores")["minimax.filled_worst"]
    cell_text = cells["10 %, missing scores filled with the task’s worst score"].text
    assert cell_text == f"{np.nanmean(filled[:, 0]):.3f}".replace("-", "\N{MINUS SIGN}")


def sensitivity_is_that_of_the_ranks_that_are_stored(client, benchmark):
    """The lower bound is reached: the stored ranks reverse as many pairs of the reference as it says."""
    arrays = arrays_of(client, benchmark, "cardinal_sensitivity")
    summary = client.get(f"/api/v1/benchmarks/{benchmark.key}/studies/cardinal_sensitivity/").json()["summary"]
    for feasible, figures in summary["feasible"].items():
        before, after = arrays[f"{feasible}.reference"], arrays[f"{feasible}.discordant_share.ranks"]
        turned = sum(
            (before[i] - before[j]) * (after[i] - after[j]) < 0 for i, j in combinations(range(len(before)), 2)
        )
        assert figures["discordant_share"]["lower"] == pytest.approx(turned / figures["n_pairs"])


def a_private_distribution_is_for_its_members(client, benchmark):
    benchmark.visibility = "private"
    benchmark.save()
    path = f"/b/{benchmark.key}/stability/missing_scores.npz"
    assert client.get(path).status_code == 404
    client.force_login(benchmark.memberships.get(role="owner").user)
    assert client.get(path)["Content-Type"] == "application/zip"


def test_a_study_that_is_not_there_says_where_it_stands(make, client):
    benchmark = make.published()
    page = client.get(f"/b/{benchmark.key}/stability/").content.decode()
    assert page.count("Not planned yet:") == 2 * (len(catalogue.STUDIES) - 1)  # at a glance, and where each study is
    answer = client.get(f"/api/v1/benchmarks/{benchmark.key}/studies/missing_scores/").json()
    assert (answer["state"], answer["summary"], answer["distribution_url"]) == ("unplanned", {}, None)
    assert client.get(f"/b/{benchmark.key}/stability/?rule=nothing").status_code == 400
    assert client.get(f"/api/v1/benchmarks/{benchmark.key}/studies/nothing/").status_code == 404


def test_the_page_says_how_to_compute_a_study_with_the_parameters_that_differ_from_the_defaults(make, client):
    benchmark = make.published({f"S{i}": [i, 9 - i, (3 * i) % 7] for i in range(6)})
    revision = benchmark.publication.revision
    parameters = catalogue.STUDIES["missing_scores"].with_defaults(
        {"budget": 59.957, "levels": [0, 10], "more_repeats": 0.04}
    )
    result = catalogue.run_study("missing_scores", random_matrix(6, 3, seed=1), parameters | {"n_repeats": 2}, 3)
    Report.objects.create(
        revision=revision, kind="study", engine_version=benchmark.publication.engine_version, summary=result.summary,
        parameters={"study": "missing_scores", "seed": 3, **parameters}, seconds=1, arrays=b"",
    )  # fmt: skip
    command = (
        "plurank stability scores.csv --study missing_scores --seed 3 "
        "--param 'levels=[0, 10]' --param more_repeats=0.04 --param budget=59.957"
    )
    assert set(sections(benchmark)["missing_scores"].command.split(" --param ")) == set(command.split(" --param "))
    page = html.unescape(client.get(f"/b/{benchmark.key}/stability/").content.decode())
    assert f"<code>{sections(benchmark)['missing_scores'].command}</code>" in page


def test_the_sentence_names_the_marked_rule_the_best_and_the_worst():
    figures = {"mean": [1.0, 0.9], "deviation": [0.0, 0.1], "n_undefined": [0, 0]}
    rules = {"borda": figures, "mean": figures | {"mean": [1.0, 0.5]}, "copeland": figures | {"mean": [1.0, 0.95]}}
    summary = {"levels": [0, 10], "n_repeats": 3, "top": 7, "rules": rules}
    assert findings("missing_scores", summary, "borda").sentence == (
        "With 10 % of the scores deleted at random, the order of the first 7 systems agrees with the full one at 0.90 "
        "under Borda (Spearman’s correlation with the full ranking); best under Copeland (0.95), worst under Mean "
        "(0.50)."
    )


def test_the_sentence_says_what_of_a_difference_comes_from_how_gaps_are_filled():
    def entry_of(mean, median, worst):
        filled = {"median": {"levels": [10], "mean": [median]}, "worst": {"levels": [10], "mean": [worst]}}
        return {"mean": [1.0, mean], "deviation": [0.0, 0.1], "n_undefined": [0, 0], "filled": filled}

    rules = {"borda": entry_of(0.55, 0.55, 0.4), "win_rate": entry_of(0.93, 0.55, 0.4)}
    summary = {"levels": [0, 10], "n_repeats": 3, "top": 7, "missing": "median", "rules": rules}
    section = findings("missing_scores", summary, "borda")
    assert section.sentence.endswith(
        "best under Win rate (0.93), worst under Borda (0.55). Borda needs every score: on tables filled with the "
        "task’s median it agrees at 0.55, with the task’s worst score at 0.40. On the same filled tables Win rate "
        "agrees at 0.55: any further difference comes from the filling, not from the rule."
    )
    assert section.headers[-2:] == [
        "10 %, missing scores filled with the task’s median",
        "10 %, missing scores filled with the task’s worst score",
    ]
    cells = {row.key: [cell.text for cell in row.cells][-2:] for row in section.rows}
    assert cells == {"borda": ["0.550", "0.400"], "win_rate": ["0.550", "0.400"]}
    assert (
        "missing scores are filled with the task’s median; the others compare two systems on the tasks" in section.note
    )


def test_a_study_without_words_gets_a_plain_sentence_and_breaks_nothing(monkeypatch):
    monkeypatch.delitem(TELLERS, "diversity")
    section = findings("diversity", {"rules": {}}, "borda")
    assert section.sentence == catalogue.STUDIES["diversity"].name + " is computed; see the downloads for its figures."
    assert (section.rows, section.headers) == ([], [])
    assert findings("tomorrow", {}, "borda").sentence == "tomorrow is computed; see the downloads for its figures."


def separability_summary(matrix):
    """What the job of a board finds out about it under Borda, as it is stored."""
    summary = significance(matrix, rank(matrix, "borda")).summary()
    return {"reason": "", **summary, "rules": {"borda": summary}}


def test_the_critical_difference_diagram_stands_where_friedmans_test_is_valid_and_else_the_reason():
    scores = np.random.default_rng(3).normal(size=(4, 12)) + np.array([[0.0], [0.1], [2.0], [4.0]])
    matrix = ScoreMatrix(scores, system_names=["a", "b", "c", "d"])
    section = findings("significance", separability_summary(matrix), "borda")
    ranks = stats.rankdata(-scores, axis=0).mean(axis=1)
    assert [dot.name for dot in section.diagram.dots] == [matrix.system_names[i] for i in np.argsort(ranks)]
    assert [dot.rank_text for dot in section.diagram.dots] == [f"{rank:.2f}" for rank in np.sort(ranks)]
    difference = stats.studentized_range.ppf(0.95, 4, np.inf) / np.sqrt(2) * np.sqrt(4 * 5 / (6 * 12))
    assert section.diagram.difference_text == f"critical difference {difference:.2f}"
    few = ScoreMatrix(scores[:, :9])
    section_of_few = findings("significance", separability_summary(few), "borda")
    assert section_of_few.diagram is None
    assert "fewer than 10" in section_of_few.note


def test_a_curve_is_drawn_in_the_box_and_breaks_where_there_is_no_value():
    chart = line_chart(
        "T", "D", [Curve("a", "A", [1.0, None, 0.5, 0.0], is_marked=True)], ["0", "1", "2", "3"], x_label="", y_label=""
    )
    (line,) = chart.lines
    assert line.path == "M44.0 28.0M433.3 144.0L628.0 260.0"
    assert [tick.text for tick in chart.y_ticks] == [f"{k / 10:.2f}" for k in range(11)]
    assert line.said == "A: 1.00 at 0, 0.00 at 3"


def test_what_an_earlier_engine_stored_of_separability_is_not_shown_as_if_it_were_of_this_one():
    few = ScoreMatrix(np.random.default_rng(3).normal(size=(4, 9)))
    stored = separability_summary(few)
    families = {family: stored["rules"]["borda"][family] for family in ("neighbours", "top", "every_pair")}
    for family in families.values():
        del family["n_contradicted"], family["n_tied"]
    section = findings(
        "significance", stored | {"rules": {"borda": families}, "friedman": "there are 9 tasks"}, "borda"
    )
    assert (section.sentence, section.rows) == (OUTDATED, [])


def test_the_stability_page_counts_every_verdict_and_states_the_null_hypothesis():
    matrix = ScoreMatrix(np.random.default_rng(3).normal(size=(4, 12)) + np.array([[0.0], [0.0], [2.0], [4.0]]))
    section = findings("significance", separability_summary(matrix), "borda")
    assert section.headers == [
        "Pairs",
        "Significant",
        "Contradicted",
        "Not significant",
        "Tied",
        "Too few tasks to tell",
    ]
    for row in section.rows:
        pairs, *verdicts = (int(cell.text) for cell in row.cells)
        assert pairs == sum(verdicts)
    assert "as likely with either sign" in section.note
    assert section.sentence.endswith("Tested: what each task adds to the score under Borda, weights included.")
