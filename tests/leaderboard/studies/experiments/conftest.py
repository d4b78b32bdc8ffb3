"""A board to run experiments on."""

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def _nobody_was_counted(settings):
    cache.clear()
    settings.ON_DEMAND_SECONDS = 60  # a forecast on a busy machine


@pytest.fixture
def board(make):
    return make.published()
