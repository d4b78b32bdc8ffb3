"""Who gets what on the routes that are about no benchmark. A route without a row fails with its name."""

import pytest
from django.test import Client
from django.urls import reverse

from tests.leaderboard.site.permissions.table import assert_everybody_gets_the_answer_of_the_table
from tests.leaderboard.site.world import routes, rows

VISIBILITIES = ("public",)


@pytest.mark.parametrize("row", [row for row in rows() if not row.is_of_a_benchmark], ids=str)
def test_every_kind_of_user_gets_the_answer_of_the_table(worlds, row, caplog):
    assert_everybody_gets_the_answer_of_the_table(worlds[row.visibility], row, caplog)


def test_every_route_of_the_site_has_a_row_for_both_methods():
    pairs = {(row.route.partition("~")[0], row.method) for row in rows()}
    assert {route for route in routes() if {(route, "GET"), (route, "POST")} - pairs} == set()


def test_staff_without_permissions_see_no_row_in_the_admin(make):
    client = Client()
    client.force_login(make.user(is_staff=True), backend="django.contrib.auth.backends.ModelBackend")
    lists = sorted(route for route in routes() if route.startswith("admin:") and route.endswith("_changelist"))
    assert len(lists) > 10
    assert {route: client.get(reverse(route)).status_code for route in lists} == dict.fromkeys(lists, 403)
