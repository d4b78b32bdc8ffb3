"""The stability page: what it says of each study, against the distribution that the study stored."""

import io

import numpy as np
import pytest

from leaderboard.charts.lines import Curve, line_chart
from leaderboard.models import Job
from leaderboard.selectors.audience import audience
from leaderboard.services.job_runner import run_job
from leaderboard.services.stability_page import stability_sections
from leaderboard.services.stability_wording import TELLERS, findings
from ranking_engine.stability import catalogue

SMALL = {
    "missing_scores": {"n_repeats": 5, "levels": [0, 10, 20]},
    "system_additions": {"n_orders": 5},
    "task_subsets": {"n_repeats": 5, "n_best": 10, "largest_best": 2},
    "corrupted_tasks": {"n_repeats": 5},
    "judge_bootstrap": {"n_trials": 20, "n_resamples": 5, "n_rounds": 2},
}


def run_all() -> None:
    while due := Job.objects.filter(state="waiting", queue="studies").order_by("-priority", "pk").first():
        run_job(due.pk, worker="test")


@pytest.fixture
def studied(make, monkeypatch):
    """The toy with every study that pages tell of, small."""
    small = {}
    for key, study in catalogue.STUDIES.items():
        if key in SMALL:
            small[key] = type(study)(**{**vars(study), "parameters": {**study.parameters, **SMALL[key]}})
    monkeypatch.setattr(catalogue, "STUDIES", small)
    benchmark = make.published(default_rule="copeland")
    run_all()
    return benchmark


def sections(benchmark, marked="copeland"):
    return {section.state.key: section for section in stability_sections(benchmark, benchmark.publication, marked)}


def arrays_of(client, benchmark, study) -> dict[str, np.ndarray]:
    content = client.get(f"/b/{benchmark.key}/stability/{study}.npz").content
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return dict(stored)


def test_every_study_of_the_catalogue_is_told_by_the_page():
    assert sorted(TELLERS) == sorted(catalogue.STUDIES)


def test_every_study_has_a_sentence_and_a_row_a_rule(studied):
    found = sections(studied)
    assert sorted(found) == sorted(SMALL)
    for key, section in found.items():
        assert section.state_text == "", key
        assert section.findings.sentence.endswith("."), key
        assert [row.key for row in section.findings.rows if row.is_marked] == ["copeland"], key
        assert all(len(row.cells) == len(section.findings.headers) for row in section.findings.rows), key


def test_the_figures_are_means_of_the_distribution_that_is_downloaded(studied, client):
    found = sections(studied)
    taus = arrays_of(client, studied, "task_subsets")["borda.tau"]
    row = next(row for row in found["task_subsets"].findings.rows if row.key == "borda")
    assert row.cells[0].text == f"{np.nanmean(taus[0]):.3f}"
    effects = arrays_of(client, studied, "system_additions")["copeland.effect"]
    row = next(row for row in found["system_additions"].findings.rows if row.key == "copeland")
    assert row.cells[0].text == f"{(effects >= 1).sum() / (effects >= 0).sum():.3f}"
    correlations = arrays_of(client, studied, "missing_scores")["minimax.spearman"]
    row = next(row for row in found["missing_scores"].findings.rows if row.key == "minimax")
    assert row.cells[-1].text == f"{np.nanmean(correlations[:, 2]):.3f}".replace("-", "\N{MINUS SIGN}")


def test_the_page_and_the_api_say_the_same(studied, client):
    page = client.get(f"/b/{studied.key}/stability/?rule=borda").content.decode()
    for key, section in sections(studied, "borda").items():
        assert section.findings.sentence in page.replace("&#x27;", "'"), key
        answer = client.get(f"/api/v1/benchmarks/{studied.key}/studies/{key}/").json()
        shapes = {name: list(array.shape) for name, array in arrays_of(client, studied, key).items()}
        assert answer["distribution"] == shapes, key
        assert answer["parameters"]["seed"] == 0
        assert sorted(answer["summary"]["rules"]) == sorted(row.key for row in section.findings.rows)
    listed = client.get(f"/api/v1/benchmarks/{studied.key}/studies/").json()["results"]
    assert {entry["study"]: entry["state"] for entry in listed} == dict.fromkeys(SMALL, "done")


def test_a_study_that_is_not_there_says_where_it_stands(make, client):
    benchmark = make.published()
    page = client.get(f"/b/{benchmark.key}/stability/").content.decode()
    assert "Not begun yet: studies run when nothing more urgent waits." in page
    answer = client.get(f"/api/v1/benchmarks/{benchmark.key}/studies/missing_scores/").json()
    assert (answer["state"], answer["summary"], answer["distribution_url"]) == ("unplanned", {}, None)
    assert client.get(f"/b/{benchmark.key}/stability/?rule=nothing").status_code == 400
    assert client.get(f"/api/v1/benchmarks/{benchmark.key}/studies/nothing/").status_code == 404


def test_a_private_distribution_is_for_its_members(studied, client):
    studied.visibility = "private"
    studied.save()
    path = f"/b/{studied.key}/stability/missing_scores.npz"
    assert client.get(path).status_code == 404
    owner = studied.memberships.get(role="owner").user
    assert audience(owner, studied).may_read
    client.force_login(owner)
    assert client.get(path)["Content-Type"] == "application/zip"


def test_the_sentence_names_the_marked_rule_the_best_and_the_worst():
    told = {"mean": [1.0, 0.9], "deviation": [0.0, 0.1], "n_undefined": [0, 0]}
    rules = {"borda": told, "mean": told | {"mean": [1.0, 0.5]}, "copeland": told | {"mean": [1.0, 0.95]}}
    summary = {"levels": [0, 10], "n_repeats": 3, "top": 7, "rules": rules}
    assert findings("missing_scores", summary, "borda").sentence == (
        "With 10 % of the scores deleted at random, the first 7 systems keep their order at 0.90 under Borda "
        "(Spearman’s correlation with the full ranking); best under Copeland (0.95), worst under Mean (0.50)."
    )


def test_a_curve_is_drawn_in_the_box_and_breaks_where_there_is_no_value():
    chart = line_chart(
        "T", "D", [Curve("a", "A", [1.0, None, 0.5, 0.0], is_marked=True)], ["0", "1", "2", "3"], x_label="", y_label=""
    )
    (line,) = chart.lines
    assert line.path == "M44.0 12.0M433.3 136.0L628.0 260.0"
    assert [tick.text for tick in chart.y_ticks] == [f"{k / 10:.2f}" for k in range(11)]
    assert line.said == "A: 1.00 at 0, 0.00 at 3"
