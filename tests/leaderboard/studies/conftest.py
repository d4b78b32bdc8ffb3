"""A catalogue of one small study."""

import pytest

from leaderboard.studies import plans
from ranking_engine.stability import catalogue
from tests.jobs.small_study import LEADERS


@pytest.fixture
def one_study(monkeypatch, settings):
    """The studies of the site are that of `tests/jobs/small_study.py` alone."""
    monkeypatch.setattr(catalogue, "STUDIES", {"leaders": LEADERS})
    settings.STUDY_SECONDS = 100
    monkeypatch.setattr(plans, "BUDGET_IDLE", 100)
