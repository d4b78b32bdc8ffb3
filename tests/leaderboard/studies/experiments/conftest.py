"""A board to run experiments on."""

from copy import deepcopy

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def _nobody_was_counted(settings):
    cache.clear()
    settings.ON_DEMAND_SECONDS = 60  # a forecast on a busy machine


@pytest.fixture(scope="module")
def board_of_all(make_once):
    return make_once.published()


@pytest.fixture
def board(board_of_all, make):
    return deepcopy(board_of_all)
