"""Studies of boards with variants of rules: the variants take part beside the rules."""

from dataclasses import replace

import numpy as np
import pytest
from django.urls import reverse

from leaderboard.models import Report, StudyChoice
from leaderboard.studies.chunks import study_matrix
from leaderboard.studies.plans import plan_study
from ranking_engine.stability import catalogue
from tests.leaderboard.studies.test_page import run_all

LOWER, POINTS = "copeland[variant=lower]", "positional[vector=3,2,1]"
SCORES = {f"System {i}": row for i, row in enumerate(np.random.default_rng(3).normal(size=(8, 5)).round(1).tolist())}
SMALL = {"n_repeats": 5, "levels": [0, 20]}


@pytest.fixture
def one_small_study(monkeypatch):
    """Missing scores, with few repeats, is the only study of the site."""
    study = catalogue.STUDIES["missing_scores"]
    declared = tuple(replace(one, default=SMALL.get(one.name, one.default)) for one in study.declared)
    small = replace(study, declared=declared)
    monkeypatch.setattr(catalogue, "STUDIES", {small.key: small})
    return small


def test_a_study_of_all_rules_takes_the_variants_of_the_board_alone(make):
    matrix = study_matrix(make.published(SCORES).publication.revision)
    for key, study in catalogue.STUDIES.items():
        choice = StudyChoice(study=key, when="every", budget_seconds=10**6)
        without = plan_study(study, matrix, choice).parameters
        parameters = plan_study(study, matrix, choice, variants=[LOWER]).parameters
        if without.get("rules", "") is None:
            assert parameters["rules"][parameters["rules"].index("copeland") + 1] == LOWER
        else:
            assert parameters == without


def test_a_study_says_of_a_variant_what_it_says_of_it_alone(make, client, one_small_study):
    benchmark = make.published(SCORES, variants=[LOWER, POINTS])
    run_all()
    report = Report.objects.get(kind="study")
    matrix = study_matrix(benchmark.publication.revision)
    alone = catalogue.run_study(one_small_study.key, matrix, {**SMALL, "rules": [LOWER, POINTS]}, seed=0)
    assert set(report.summary["rules"]) > {LOWER, POINTS}
    for rule in (LOWER, POINTS):
        assert report.summary["rules"][rule] == alone.summary["rules"][rule]
    page = client.get(reverse("stability", args=[benchmark.key]), {"rule": LOWER})
    assert "Copeland (lower)" in page.content.decode()
