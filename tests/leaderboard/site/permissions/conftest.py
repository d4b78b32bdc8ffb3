"""The worlds that the tables of who gets what are held against."""

import pytest

from tests.factories import Factory
from tests.leaderboard.site.world import World


@pytest.fixture(scope="module")
def worlds(make_once: Factory, request: pytest.FixtureRequest) -> dict[str, World]:
    """A world of each visibility that the file is about."""
    return {visibility: World(make_once, visibility) for visibility in request.module.VISIBILITIES}
