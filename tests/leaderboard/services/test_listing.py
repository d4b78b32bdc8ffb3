"""The list of benchmarks: what is said of each, and to whom."""

import pytest
from django.contrib.auth.models import AnonymousUser

from leaderboard.models import Benchmark
from leaderboard.services.listing import _largest_camps, first_line, listed
from ranking_engine import ScoreMatrix, rank
from tests.factories import TOY
from tests.leaderboard.rules import board_rules

ANYONE = AnonymousUser()


def camps(winner: str) -> tuple[int, int]:
    """How many rules elect anyone on the toy, and how many others than `winner` alone."""
    matrix = ScoreMatrix(list(TOY.values()), system_names=list(TOY))
    elected = [[list(TOY)[i] for i in rank(matrix, rule).winners] for rule in board_rules()]
    return sum(map(bool, elected)), sum(names not in ([], [winner]) for names in elected)


def test_a_line_says_who_wins_and_how_many_rules_disagree(make):
    benchmark = make.published(name="Toy", description="\n  First line.\n\nSecond.", tags=["b", "a"])
    lines, tags = listed(ANYONE)
    line = lines[0]
    assert (line.key, line.name, line.summary, line.visibility) == ("toy", "Toy", "First line.", "public")
    assert (line.n_systems, line.n_tasks, line.revision_number, line.is_computing) == (4, 5, 1, False)
    assert (line.default_rule_name, line.winner_names) == ("Borda", ["B"])
    assert (line.n_rules_electing, line.n_rules_elsewhere) == camps("B")
    n_electing, n_others = camps("B")
    assert [(camp.text, camp.n_rules) for camp in line.largest_camps] == [("B", n_electing - n_others)]
    assert n_others < n_electing / 2  # so that no other camp can be the largest
    assert (line.updated_at, tags) == (benchmark.publication.published_at, ["a", "b"])


def test_the_winner_is_that_of_the_default_rule(make):
    make.published(default_rule="plurality")
    line = listed(ANYONE)[0][0]
    assert (line.default_rule_name, line.winner_names, line.n_rules_elsewhere) == ("Plurality", ["A"], camps("A")[1])


def test_where_as_many_rules_elect_others_all_of_them_are_the_largest_camp():
    summaries = [{"rule": rule, "winner_names": [name], "n_winners": 1} for rule, name in
                 (("mean", "A"), ("borda", "A"), ("copeland", "B"), ("minimax", "B"), ("veto", "C"))]  # fmt: skip
    assert [(camp.text, camp.n_rules) for camp in _largest_camps(summaries)] == [("A", 2), ("B", 2)]
    assert _largest_camps([]) == []


def test_benchmarks_without_scores_come_last_and_those_whose_scores_are_hidden_stand_in_their_place(make):
    make.benchmark({}, n_tasks=1, name="An empty one")
    hidden = make.published(name="Behind a curtain", key="behind")
    Benchmark.objects.filter(pk=hidden.pk).update(score_view="ranks")
    make.published(name="Toy")
    assert [line.name for line in listed(ANYONE)[0]] == ["Behind a curtain", "Toy", "An empty one"]


def test_before_the_first_board_there_is_nothing_to_say(make):
    make.benchmark()
    line = listed(ANYONE)[0][0]
    assert (line.n_systems, line.n_tasks, line.winner_names, line.n_rules_electing) == (0, 0, [], 0)
    assert (line.revision_number, line.updated_at, line.is_computing) == (0, None, True)


def test_while_a_revision_is_computed_the_published_one_is_listed(make):
    benchmark = make.published()
    make.accepted(benchmark, {"E": [9.0] * 5})
    line = listed(ANYONE)[0][0]
    assert (line.n_systems, line.winner_names, line.revision_number, line.is_computing) == (4, ["B"], 1, True)


@pytest.mark.parametrize(
    ("query", "tag", "found"),
    [("", "", ["Speech", "Vision"]), ("VIS", "", ["Vision"]), ("about", "", ["Speech", "Vision"]), ("second", "", []),
     ("", "audio", ["Speech"]), ("vision", "audio", []), ("", "aud", []), ("", "nothing", [])],
)  # fmt: skip
def test_a_search_looks_at_names_and_first_lines_and_a_tag_is_a_whole_one(make, query, tag, found):
    make.benchmark({}, n_tasks=1, name="Vision", description="About pictures.\nSecond line.", tags=["images"])
    make.benchmark({}, n_tasks=1, name="Speech", description="About sounds.", tags=["audio"])
    lines, tags = listed(ANYONE, query=query, tag=tag)
    assert ([line.name for line in lines], tags) == (found, ["audio", "images"])


def test_who_sees_which_benchmark(make):
    for visibility in ("public", "unlisted", "private"):
        make.benchmark({}, n_tasks=1, name=visibility, visibility=visibility, tags=[visibility])
    hidden = Benchmark.objects.get(key="private")
    people = {"anyone": ANYONE, "stranger": make.user(), "staff": make.user(is_staff=True, is_superuser=True)}
    people["member"] = make.member(hidden, "member")
    assert {who: [line.name for line in listed(viewer)[0]] for who, viewer in people.items()} == {
        "anyone": ["public"], "stranger": ["public"], "staff": ["public"], "member": ["private", "public"],
    }  # fmt: skip
    assert listed(people["stranger"])[1] == ["public"]


@pytest.mark.parametrize(
    ("text", "line"), [("", ""), (" \n\t\n", ""), ("a\nb", "a"), ("\n  x  \ny", "x"), ("# T", "# T")]
)
def test_the_first_line_is_the_first_that_says_something(text, line):
    assert first_line(text) == line
