"""Who gets what on every route of a private benchmark.

Whoever may not know that it exists gets, byte for byte, what they would get where there is nothing.
"""

import pytest

from tests.leaderboard.site.permissions.nothing import answers_to
from tests.leaderboard.site.permissions.table import assert_everybody_gets_the_answer_of_the_table
from tests.leaderboard.site.world import rows_of

VISIBILITIES = ("private",)


@pytest.mark.parametrize("row", rows_of(*VISIBILITIES), ids=str)
def test_every_kind_of_user_gets_the_answer_of_the_table(worlds, row, caplog):
    assert_everybody_gets_the_answer_of_the_table(worlds[row.visibility], row, caplog)


@pytest.mark.parametrize("kind", ["stranger", "submitter", "staff", "anonymous"])
@pytest.mark.parametrize(
    "route",
    [
        "board", "board_csv", "board_download", "rule", "head_to_head", "agreement", "scores", "task",
        "history_compare", "pareto", "timeline", "submitters", "prospects", "prospects~asked",
        "what_if", "what_if~weighed", "what_if_data", "stability", "distribution", "instances",
        "experiments", "experiment", "experiment_arrays",
        "system", "submit", "upload", "draft", "batch",
        "badge", "system_badge", "embed", "card", "feed",
        "batch_progress", "history", "release", "manage", "manage_tasks", "manage_studies", "manage_metadata",
        "manage_models",
        "manage_releases", "manage_queue", "manage_people", "manage_audit", "manage_webhooks", "manage_following",
    ],
)  # fmt: skip
def test_what_is_private_answers_as_what_is_not_there(worlds, kind, route):
    world = worlds["private"]
    there = world.path(route)
    missing = there.replace(world.benchmark.key, "no-such-benchmark")
    for stored in (world.draft, world.accepted):
        missing = missing.replace(str(stored.uuid), "00000000-0000-4000-8000-000000000000")
    assert missing != there
    status, body, headers = answers_to(world, kind, there)
    nothing_status, nothing_body, nothing_headers = answers_to(world, kind, missing)
    headers.pop("Location", None), nothing_headers.pop("Location", None)  # to sign in, and then to the same address
    assert (status, body, headers) == (nothing_status, nothing_body, nothing_headers)
