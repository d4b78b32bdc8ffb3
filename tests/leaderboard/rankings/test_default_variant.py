"""A variant of a rule as the default rule of a board: its winner is the one that is told, wherever a board is named."""

from dataclasses import replace
from html import unescape

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from leaderboard.benchmarks.folders import import_folder
from leaderboard.benchmarks.settings import change_settings
from leaderboard.benchmarks.tasks import ProposalError, apply_proposal, present_proposal, preview_proposal
from leaderboard.models import Benchmark, Membership
from tests.markup import compact

pytestmark = pytest.mark.django_db

# Ada is first under Borda. With points for first places alone, ties by the worst task, Bob is.
SCORES = {"Ada": [2, 2, 2, 3], "Bob": [3, 3, 1, 1], "Cleo": [1, 1, 3, 2]}
VARIANT = "positional[vector=1]"


@pytest.fixture
def benchmark(make):
    made = make.published(SCORES, key="toy", name="Toy", n_tasks=4, variants=[VARIANT])
    change_settings(made, {"default_rule": VARIANT}, author=owner_of(made))
    return Benchmark.objects.get(pk=made.pk)


def owner_of(benchmark):
    return Membership.objects.get(benchmark=benchmark, role=Membership.Role.OWNER).user


def test_lists_feeds_cards_and_the_board_tell_the_winner_of_the_variant(benchmark, client):
    home = unescape(compact(client.get("/")))
    assert "First under Positional (1)" in home
    board = client.get("/b/toy/board.json").json()
    assert board["reference"] == VARIANT
    assert board["systems"][0]["name"] == "Bob"
    assert "Bob first under Positional (1)" in unescape(client.get("/b/toy/feed.atom").content.decode())


@pytest.mark.parametrize(
    "page",
    ["", "agreement/", "history/", "what-if/", "head-to-head/", "stability/", "card.png", "systems/bob/", "manage/"],
)
def test_every_page_of_such_a_board_opens(benchmark, page):
    client = Client()
    client.force_login(owner_of(benchmark))
    assert client.get(f"/b/toy/{page}").status_code == 200


def test_boards_of_revisions_without_the_variant_are_ordered_by_the_rule_itself(make, client):
    made = make.published(SCORES, key="toy", name="Toy", n_tasks=4, variants=[])
    owner = owner_of(made)
    proposal = replace(present_proposal(made), variants=["borda[ties=average]"])
    apply_proposal(made, proposal, author=owner, token=preview_proposal(made, proposal).token)
    make.publish(made)
    made.refresh_from_db()
    change_settings(made, {"default_rule": "borda[ties=average]"}, author=owner)
    boards = [client.get(f"/b/toy/board.json?revision={number}").json()["reference"] for number in (1, 2)]
    assert boards == ["borda", "borda[ties=average]"]


@pytest.mark.parametrize(
    "rule", ["copeland[variant=lower]", "nothing", "positional[vector=2]", "[" * 300, "positional"]
)
def test_what_is_no_column_cannot_be_the_default_rule(benchmark, rule):
    with pytest.raises(ValidationError, match=r"is not one of mean, .*, positional\[vector=1\]"):
        change_settings(benchmark, {"default_rule": rule}, author=owner_of(benchmark))


def test_the_default_rule_cannot_be_taken_off_the_board(benchmark):
    with pytest.raises(ProposalError) as refusal:
        preview_proposal(benchmark, replace(present_proposal(benchmark), variants=[]))
    assert "is the board's default rule" in str(refusal.value.problems)


def test_the_form_offers_the_variants_that_are_columns(benchmark, client):
    client.force_login(owner_of(benchmark))
    page = unescape(compact(client.get("/b/toy/manage/")))
    assert f'<option value="{VARIANT}" selected>Positional (1)</option>' in page


def test_a_folder_states_a_variant_as_the_default_rule(make, tmp_path):
    (tmp_path / "scores.csv").write_text("system,T1,T2\nAda,1,2\nBob,2,1\n")
    (tmp_path / "benchmark.toml").write_text(
        'title = "Toy"\ndefault_rule = "borda[ties=average]"\nvariants = ["borda[ties=average]"]\n'
        '[[task]]\nname = "T1"\n[[task]]\nname = "T2"\n'
    )
    assert import_folder(tmp_path, owner=make.user(), key="toy").default_rule == "borda[ties=average]"
