"""What one request may cost, on every route: five seconds, 300 MB, and other readers answered within one.

Processor time is that of the web server's processes with all that they start, so that a machine which is busy with
other things makes no difference. Here every bomb that is known, and some drawn requests; `make cost` draws thousands.
"""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings as examples, strategies as st

from tests.cost.bombs import TEXTS
from tests.cost.measuring import MeasuredSite, Sent
from tests.cost.stage import LENGTHS, Stage, posted, queries
from tests.databases import own_database
from tests.factories import Factory
from tests.leaderboard.site import world as pages
from tests.running_site import RunningSite

N_REQUESTS = int(os.environ.get("PLURANK_COST_REQUESTS", "40"))
RATES = ("API_ADDRESS", "API_USER", "API_TOKEN", "API_WRITE", "API_ON_DEMAND", "TRY")
NO_LIMIT = {f"PLURANK_{name}_RATE": "1000000/min" for name in RATES}
MANY = {"PLURANK_BENCHMARKS_PER_ACCOUNT": "1000000"}


@pytest.fixture(scope="module")
def stage(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[tuple[Stage, MeasuredSite]]:
    """A world with everything in it, and the real web server before it."""
    with django_db_blocker.unblock(), own_database() as url:
        made = Stage(Factory())
        site = RunningSite(tmp_path_factory.mktemp("cost"), url, **NO_LIMIT, **MANY)
        try:
            yield made, MeasuredSite(site)
        finally:
            site.stop_all()


def check(site: MeasuredSite, sent: Sent, what: str) -> None:
    cost = site.cost(sent)
    print(f"{what}: {cost.seconds:.1f} s, {cost.megabytes:.0f} MB, waited {cost.wait:.2f} s, {cost.status}")
    assert cost.is_bounded, f"{what}: {cost}\n{site.site.logs()}"


def test_every_route_has_a_row():
    """A new route is to be added to `QUERIES` or `SILENT`, and its form to `FIELDS` or to the table of rights."""
    ours = {name for name in pages.routes() if not name.startswith("admin:")}
    assert set(queries()) == ours
    assert posted() <= ours


def test_every_known_bomb_costs_little_where_nobody_is_signed_in(stage):
    world, site = stage
    for name, sent in world.known().items():
        check(site, sent, name)


def test_whatever_anybody_may_have_computed_costs_little(stage):
    world, site = stage
    for name, sent in world.known_to_compute().items():
        check(site, sent, name)


def test_every_known_bomb_costs_little_for_any_account(stage):
    world, site = stage
    for name, sent in world.known_signed_in().items():
        check(site, sent, name)


def test_drawn_requests_cost_little_wherever_they_go(stage):
    world, site = stage
    places = world.places()

    @examples(
        max_examples=N_REQUESTS, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.sampled_from(places), st.sampled_from(sorted(TEXTS)), st.sampled_from(LENGTHS))
    def send(place, text, n):
        check(site, world.sent(place, TEXTS[text](n)), f"{place}, {n} characters of {text}")

    send()
