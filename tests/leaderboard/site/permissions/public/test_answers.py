"""Who gets what on every route of a public benchmark."""

from uuid import uuid4

import pytest

from tests.leaderboard.site.permissions.nothing import answers_to
from tests.leaderboard.site.permissions.table import assert_everybody_gets_the_answer_of_the_table
from tests.leaderboard.site.world import rows_of

VISIBILITIES = ("public",)


@pytest.mark.parametrize("row", rows_of(*VISIBILITIES), ids=str)
def test_every_kind_of_user_gets_the_answer_of_the_table(worlds, row, caplog):
    assert_everybody_gets_the_answer_of_the_table(worlds[row.visibility], row, caplog)


@pytest.mark.parametrize("kind", ["stranger", "moderator", "staff", "anonymous"])
@pytest.mark.parametrize("route", ["draft", "batch~pending"])
def test_somebody_elses_draft_and_a_pending_batch_answer_as_what_is_not_there(worlds, kind, route):
    world = worlds["public"]
    if (kind, route) == ("moderator", "batch~pending"):
        assert answers_to(world, kind, world.path(route))[0] == 200
        return
    there = world.path(route)
    missing = there.replace(str(world.draft.uuid), str(uuid4())).replace(str(world.pending.uuid), str(uuid4()))
    headers, nothing_headers = answers_to(world, kind, there)[2], answers_to(world, kind, missing)[2]
    headers.pop("Location", None), nothing_headers.pop("Location", None)
    assert answers_to(world, kind, there)[:2] == answers_to(world, kind, missing)[:2]
    assert headers == nothing_headers


def test_a_pending_system_is_on_no_page_and_in_no_download(worlds):
    world = worlds["public"]
    for path in (world.path("board"), world.path("board_csv"), world.path("submit"), world.path("system")):
        for kind in ("stranger", "member", "moderator"):
            assert b"Secret" not in world.client(kind).get(path).content
