"""Baselines: owners mark them by page, by the API and in a file; the board sets them apart and says who is above."""

import json
import random

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.baselines import MAX_BASELINES, mark_baseline
from leaderboard.benchmarks.folders import import_folder
from leaderboard.benchmarks.releases import new_edition
from leaderboard.boards.board import build_board
from leaderboard.boards.query import BoardQuery
from leaderboard.models import AuditEntry, System
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.score_matrix import input_hash, revision_matrix
from ranking_engine.files.tables import TableError
from tests.factories import owner_of
from tests.markup import compact

ANYONE = AnonymousUser()
PEOPLE = {"People": [50.0, 50.0], "Best": [70.0, 60.0], "Mixed": [90.0, 40.0], "Low": [10.0, 20.0]}


def marked(benchmark, name, baseline="human"):
    system = benchmark.systems.get(name=name)
    mark_baseline(system, baseline, author=owner_of(benchmark))
    return system


def test_the_board_says_how_many_systems_are_above_the_baseline_under_one_rule_and_under_every_one(make):
    benchmark = make.published(PEOPLE, default_rule="mean")
    marked(benchmark, "People")
    [standing] = build_board(audience_of(ANYONE, benchmark), BoardQuery()).saturation
    assert (standing.system, standing.kind, standing.rank) == ("people", "human", 3)
    assert (standing.n_above, standing.n_others, standing.n_never_below) == (2, 3, 1)
    assert standing.sentence == (
        "2 of 3 systems are above the human baseline People under Mean; 1 is above it under some rule and below "
        f"it under none of the {standing.n_rules} that rank it."
    )


def test_where_no_system_is_above_the_baseline_the_board_says_none(make):
    benchmark = make.published({"P": [9.0, 9.0], "A": [1.0, 2.0], "B": [2.0, 1.0]}, default_rule="mean")
    marked(benchmark, "P")
    [standing] = build_board(audience_of(ANYONE, benchmark), BoardQuery()).saturation
    assert standing.sentence == (
        "0 of 2 systems are above the human baseline P under Mean; none is above it under some rule without being "
        "below it under another one."
    )


def test_a_system_out_of_competition_is_marked_and_neither_measures_nor_counts(make, client):
    benchmark = make.published(PEOPLE, default_rule="mean")
    marked(benchmark, "People")
    before = build_board(audience_of(ANYONE, benchmark), BoardQuery())
    marked(benchmark, "Best", "guest")
    board = build_board(audience_of(ANYONE, benchmark), BoardQuery())
    [standing] = board.saturation
    assert (standing.system, standing.rank, standing.n_above, standing.n_others) == ("people", 3, 1, 2)
    assert [column.ranks.tolist() for column in board.columns] == [column.ranks.tolist() for column in before.columns]
    n = sum("Best" in column.winner_names for column in board.columns)
    of = sum(column.elects for column in board.columns)
    assert before.winning_guests == ""
    assert board.winning_guests == (
        f"Best takes part out of competition; it wins under {n} of {of} rules. First in competition under Mean: Mixed."
    )
    assert board.winning_guests in compact(client.get(f"/b/{benchmark.key}/"))
    marked(benchmark, "Mixed", "other")  # a baseline does not compete
    board = build_board(audience_of(ANYONE, benchmark), BoardQuery())
    assert board.winning_guests.endswith("First in competition under Mean: Low.")


@pytest.mark.parametrize("seed", range(6))
def test_the_counts_are_those_of_looking_at_every_pair_of_ranks(make, seed):
    draw = random.Random(seed)
    names = [f"S{i}" for i in range(7)]
    scores = {name: [None if draw.random() < 0.15 else draw.randint(1, 6) for _ in range(3)] for name in names}
    benchmark = make.published(scores)
    baselines = draw.sample(names, 2)
    for name in baselines:
        marked(benchmark, name, "other")
    board = build_board(audience_of(ANYONE, benchmark), BoardQuery())
    names = board.names
    for standing in board.saturation:
        me = names.index(standing.name)
        ranks = [c.ranks.tolist() for c in board.columns if c.status == "ranked" and c.ranks[me] >= 1]
        others = [i for i, name in enumerate(names) if name not in baselines]
        never_below = 0
        for i in others:
            pairs = [(rank[i], rank[me]) for rank in ranks if rank[i] >= 1]
            is_above = any(theirs < mine for theirs, mine in pairs)
            never_below += is_above and not any(theirs > mine for theirs, mine in pairs)
        reference = board.reference.ranks.tolist()
        above = sum(1 <= reference[i] < reference[me] for i in others) if reference[me] >= 1 else 0
        expected = (above, sum(reference[i] >= 1 for i in others), never_below, len(ranks))
        assert (standing.n_above, standing.n_others, standing.n_never_below, standing.n_rules) == expected
    assert [standing.name for standing in board.saturation] == [name for name in names if name in baselines]


def test_a_baseline_that_the_rule_leaves_out_has_no_rank(make):
    benchmark = make.published({"P": [None, 1.0], "A": [1.0, 2.0], "B": [2.0, 3.0]}, default_rule="mean")
    marked(benchmark, "P", "other")
    [standing] = build_board(audience_of(ANYONE, benchmark), BoardQuery()).saturation
    assert standing.sentence.startswith("Mean gives the baseline P no rank; 1 is above it under some rule and ")
    assert (standing.rank, standing.n_above) == (None, 0)


def test_an_owner_marks_a_system_on_its_page_and_no_input_of_a_ranking_changes(make, client):
    benchmark = make.published(PEOPLE)
    revision = benchmark.publication.revision
    before = input_hash(revision_matrix(revision), configuration_of(revision))
    client.force_login(owner_of(benchmark))
    page = client.get(reverse("system", args=[benchmark.key, "people"])).content.decode()
    assert 'id="baseline"' in page
    path = reverse("baseline", args=[benchmark.key, "people"])
    page = client.post(path, {"baseline": "human", "reason": "Ten people."}, follow=True).content.decode()
    assert "People is now marked as: human baseline." in page
    client.logout()
    board = client.get(reverse("board", args=[benchmark.key])).content.decode()
    assert '<tr class="is-baseline">' in board
    assert '<span class="badge">human baseline</span></th>' in board
    assert "above the human baseline People under Borda" in board
    assert 'id="baseline"' not in client.get(reverse("system", args=[benchmark.key, "people"])).content.decode()
    benchmark.refresh_from_db()
    assert benchmark.last_revision_number == revision.number
    assert input_hash(revision_matrix(revision), configuration_of(revision)) == before
    entry = AuditEntry.objects.get(benchmark=benchmark, subject="system")
    assert (entry.of, entry.field, entry.before, entry.after, entry.reason) == (
        "people", "baseline", "no baseline", "human baseline", "Ten people.",
    )  # fmt: skip


def test_a_kind_that_there_is_not_is_refused_at_each_door(make, client):
    benchmark = make.published(PEOPLE)
    owner = owner_of(benchmark)
    client.force_login(owner)
    path = reverse("baseline", args=[benchmark.key, "people"])
    assert client.post(path, {"baseline": "alien"}).status_code == 400
    assert client.post(path, {"baseline": "human", "reason": "x" * 5001}).status_code == 400
    _, secret = create_token(owner, name="t", scopes=["manage"], days=30)
    path = reverse("api:system", args=[benchmark.key, "people"])
    headers = {"Authorization": f"Token {secret}"}
    answer = client.patch(path, json.dumps({"baseline": "alien"}), content_type="application/json", headers=headers)
    assert answer.status_code == 400
    with pytest.raises(ValidationError, match="'alien' is not one of none, human, other"):
        mark_baseline(benchmark.systems.get(key="people"), "alien", author=owner)
    assert not System.objects.exclude(baseline="none").exists()


def test_the_api_marks_a_system_and_tells_it_of_systems_and_boards(make, client):
    benchmark = make.published(PEOPLE, default_rule="mean")
    _, secret = create_token(owner_of(benchmark), name="t", scopes=["manage"], days=30)
    path, headers = reverse("api:system", args=[benchmark.key, "people"]), {"Authorization": f"Token {secret}"}
    body = json.dumps({"baseline": "human"})
    dry = client.patch(f"{path}?dry_run=true", body, content_type="application/json", headers=headers)
    assert (dry.json()["baseline"], client.get(path).json()["baseline"]) == ("human", "none")
    assert client.patch(path, body, content_type="application/json", headers=headers).json()["baseline"] == "human"
    assert client.get(path).json()["baseline"] == "human"
    systems = client.get(reverse("api:systems", args=[benchmark.key])).json()["results"]
    assert {one["system"]: one["baseline"] for one in systems if one["baseline"] != "none"} == {"people": "human"}
    board = client.get(reverse("api:board", args=[benchmark.key])).json()
    assert [(one["key"], one["baseline"]) for one in board["systems"] if one["baseline"] != "none"] == [
        ("people", "human")
    ]
    counts = ("system", "kind", "rank", "n_above", "n_others", "n_never_below")
    assert [[one[name] for name in counts] for one in board["baselines"]] == [["people", "human", 3, 2, 3, 1]]


def test_a_board_has_no_more_baselines_than_sentences(make):
    benchmark = make.published({f"S{i}": [float(i)] for i in range(MAX_BASELINES + 1)})
    for i in range(MAX_BASELINES):
        marked(benchmark, f"S{i}")
    with pytest.raises(ValidationError, match="A benchmark can have at most 20 baselines"):
        marked(benchmark, f"S{MAX_BASELINES}")
    marked(benchmark, "S0", "none")
    marked(benchmark, f"S{MAX_BASELINES}")


def test_a_folder_states_baselines_and_takes_them_out_again(make, tmp_path, client):
    (tmp_path / "scores.csv").write_text("system,T\nPeople,1\nA,2\n", encoding="utf-8")
    about = tmp_path / "benchmark.toml"
    about.write_text('[[system]]\nname = "people"\nbaseline = "human"\n', encoding="utf-8")
    benchmark = import_folder(tmp_path, owner=make.user(), key="people-first")
    kinds = dict(benchmark.systems.values_list("name", "baseline"))
    assert kinds == {"People": "human", "A": "none"}
    client.force_login(owner_of(benchmark))
    edition = new_edition(benchmark, author=owner_of(benchmark), name="Again", with_scores=True)
    assert dict(edition.systems.values_list("name", "baseline")) == kinds
    about.write_text('[[system]]\nname = "Nobody"\nbaseline = "human"\n', encoding="utf-8")
    with pytest.raises(TableError, match="no row for system 'Nobody'"):
        import_folder(tmp_path, owner=make.user(), key="nobody")
    about.write_text('[[system]]\nname = "A"\nbaseline = "alien"\n', encoding="utf-8")
    with pytest.raises(TableError, match="baseline is 'alien'; expected one of none, human, other"):
        import_folder(tmp_path, owner=make.user(), key="aliens")


def test_nobody_learns_of_baselines_where_names_are_hidden(make):
    benchmark = make.published(PEOPLE, score_view="ranks")
    marked(benchmark, "People")
    board = build_board(audience_of(ANYONE, benchmark), BoardQuery())
    assert (board.saturation, {row.baseline for row in board.rows}) == ([], {"none"})
