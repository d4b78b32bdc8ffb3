"""The list of benchmarks: what is said of each, and to whom."""

import pytest
from django.contrib.auth.models import AnonymousUser

from leaderboard.benchmarks import listing
from leaderboard.benchmarks.listing import listed
from leaderboard.models import Benchmark, ListedBoard
from leaderboard.models.benchmarks import first_line, first_paragraph
from leaderboard.rankings.listed_boards import store_missing_listed_boards
from ranking_engine import ScoreMatrix, rank
from tests.factories import TOY
from tests.leaderboard.site.rules import board_rules

ANYONE = AnonymousUser()


def camps(winner: str) -> tuple[int, int]:
    """How many rules elect anyone on the toy, and how many others than `winner` alone."""
    matrix = ScoreMatrix(list(TOY.values()), system_names=list(TOY))
    elected = [[list(TOY)[i] for i in rank(matrix, rule).winners] for rule in board_rules()]
    return sum(map(bool, elected)), sum(names not in ([], [winner]) for names in elected)


def test_a_line_says_who_wins_and_how_many_rules_disagree(make):
    benchmark = make.published(name="Toy", description="\n  First line.\n\nSecond.", tags=["b", "a"])
    page = listed(ANYONE)
    line = page.benchmarks[0]
    assert (line.key, line.name, line.summary, line.visibility) == ("toy", "Toy", "First line.", "public")
    assert (line.n_systems, line.n_tasks, line.revision_number, line.is_computing) == (4, 5, 1, False)
    assert (line.default_rule_name, line.winner_names) == ("Borda", ["B"])
    assert (line.n_rules_electing, line.n_rules_elsewhere) == camps("B")
    n_electing, n_others = camps("B")
    assert [(camp.text, camp.n_rules) for camp in line.largest_camps] == [("B", n_electing - n_others)]
    assert n_others < n_electing / 2  # so that no other camp can be the largest
    assert (line.updated_at, page.tags) == (benchmark.publication.published_at, ["a", "b"])


def test_the_winner_is_that_of_the_default_rule(make):
    make.published(default_rule="plurality")
    line = listed(ANYONE).benchmarks[0]
    assert (line.default_rule_name, line.winner_names, line.n_rules_elsewhere) == ("Plurality", ["A"], camps("A")[1])


def test_where_as_many_rules_elect_others_all_of_them_are_the_largest_camp(make):
    make.published()
    rules = {"mean": "A", "borda": "A", "copeland": "B", "minimax": "B", "veto": "C"}
    ListedBoard.objects.update(winners=[[rule, [name], 1] for rule, name in rules.items()])
    camps = listed(ANYONE).benchmarks[0].largest_camps
    assert [(camp.text, camp.n_rules) for camp in camps] == [("A", 2), ("B", 2)]
    ListedBoard.objects.update(winners=[])
    assert listed(ANYONE).benchmarks[0].largest_camps == []


def test_benchmarks_without_scores_come_last_and_those_whose_scores_are_hidden_stand_in_their_place(make):
    make.benchmark({}, n_tasks=1, name="An empty one")
    hidden = make.published(name="Behind a curtain", key="behind")
    Benchmark.objects.filter(pk=hidden.pk).update(score_view="ranks")
    make.published(name="Toy")
    assert [line.name for line in listed(ANYONE).benchmarks] == ["Behind a curtain", "Toy", "An empty one"]


def test_before_the_first_board_there_is_nothing_to_say(make):
    make.benchmark()
    line = listed(ANYONE).benchmarks[0]
    assert (line.n_systems, line.n_tasks, line.winner_names, line.n_rules_electing) == (0, 0, [], 0)
    assert (line.revision_number, line.updated_at, line.is_computing) == (0, None, True)


def test_while_a_revision_is_computed_the_published_one_is_listed(make):
    benchmark = make.published()
    make.accepted(benchmark, {"E": [9.0] * 5})
    line = listed(ANYONE).benchmarks[0]
    assert (line.n_systems, line.winner_names, line.revision_number, line.is_computing) == (4, ["B"], 1, True)


@pytest.mark.parametrize(
    ("query", "tag", "names"),
    [("", "", ["Speech", "Vision"]), ("VIS", "", ["Vision"]), ("about", "", ["Speech", "Vision"]), ("second", "", []),
     ("", "audio", ["Speech"]), ("vision", "audio", []), ("", "aud", []), ("", "nothing", [])],
)  # fmt: skip
def test_a_search_looks_at_names_and_first_lines_and_a_tag_is_a_whole_one(make, query, tag, names):
    make.benchmark({}, n_tasks=1, name="Vision", description="About pictures.\nSecond line.", tags=["images"])
    make.benchmark({}, n_tasks=1, name="Speech", description="About sounds.", tags=["audio"])
    answer = listed(ANYONE, query=query, tag=tag)
    assert ([line.name for line in answer.benchmarks], answer.tags) == (names, ["audio", "images"])


def test_who_sees_which_benchmark(make):
    for visibility in ("public", "unlisted", "private"):
        make.benchmark({}, n_tasks=1, name=visibility, visibility=visibility, tags=[visibility])
    hidden = Benchmark.objects.get(key="private")
    people = {"anyone": ANYONE, "stranger": make.user(), "staff": make.user(is_staff=True, is_superuser=True)}
    people["member"] = make.member(hidden, "member")
    assert {who: [line.name for line in listed(viewer).benchmarks] for who, viewer in people.items()} == {
        "anyone": ["public"], "stranger": ["public"], "staff": ["public"], "member": ["private", "public"],
    }  # fmt: skip
    assert listed(people["stranger"]).tags == ["public"]


@pytest.mark.parametrize(
    ("text", "line"), [("", ""), (" \n\t\n", ""), ("a\nb", "a"), ("\n  x  \ny", "x"), ("# T", "# T")]
)
def test_the_first_line_is_the_first_that_says_something(text, line):
    assert first_line(text) == line


@pytest.mark.parametrize(
    ("text", "paragraph"),
    [
        ("", ""),
        (
            "\n Three tasks,\nwhose answers stay:\r\n  digits.\n\nMore.",
            "Three tasks, whose answers stay: digits.",
        ),
        ("# T\ntext", "# T"),
        ("Some of:\n- one\n- two", "Some of:"),
        ("- one\n- two", "- one"),
        ("Before\n## After", "Before"),
    ],
)
def test_lists_show_the_first_paragraph_and_not_half_a_sentence(make, client, text, paragraph):
    assert first_paragraph(text) == paragraph
    make.benchmark({}, n_tasks=1, name="Wrapped", description=text, visibility="public")
    assert listed(ANYONE).benchmarks[0].summary == paragraph


def test_pages_follow_each_other_by_name_and_miss_nobody(make, monkeypatch):
    monkeypatch.setattr(listing, "PAGE_BENCHMARKS", 2)
    for name in ("E", "C", "A", "D", "B"):
        make.benchmark({}, n_tasks=1, name=name)
    make.published(name="With a board")
    pages = [listed(ANYONE, page=number) for number in ("1", "2", "3")]
    names = [[line.name for line in part.benchmarks] for part in pages]
    assert names == [["With a board", "A"], ["B", "C"], ["D", "E"]]
    assert [(part.page.number, part.page.paginator.count) for part in pages] == [(1, 6), (2, 6), (3, 6)]


@pytest.mark.parametrize(("page", "number"), [(None, 1), ("", 1), ("x", 1), ("0", 3), ("4", 3), ("9" * 5000, 1)])
def test_a_page_that_there_is_none_of_is_the_first_or_the_last(make, monkeypatch, page, number):
    monkeypatch.setattr(listing, "PAGE_BENCHMARKS", 1)
    for name in ("A", "B", "C"):
        make.benchmark({}, n_tasks=1, name=name)
    assert listed(ANYONE, page=page).page.number == number


def test_search_and_tag_go_over_all_pages(make, monkeypatch):
    monkeypatch.setattr(listing, "PAGE_BENCHMARKS", 1)
    for number in range(4):
        make.benchmark({}, n_tasks=1, name=f"Straße {number}", tags=["even", "x"] if number % 2 == 0 else ["odd"])
    for query, tag, names in [("STRASSE", "even", ["Straße 0", "Straße 2"]), ("", "odd", ["Straße 1", "Straße 3"])]:
        pages = [listed(ANYONE, query=query, tag=tag, page=str(number)) for number in (1, 2)]
        assert [line.name for part in pages for line in part.benchmarks] == names
        assert pages[0].page.paginator.num_pages == 2


@pytest.mark.parametrize("text", ["%", "_", "\\", "\0", "'", '"', "[", "\n"])
def test_signs_that_mean_something_to_a_database_are_looked_for_as_they_are(make, text):
    make.benchmark({}, n_tasks=1, name="Plain", tags=["plain"])
    make.benchmark({}, n_tasks=1, name="A 5% [cut] of 'it' \"as_is\" \\", tags=["%", "_", "\\", "'", '"', "["])
    names = [line.name for line in listed(ANYONE, query=text, tag=text).benchmarks]
    assert names == ([] if text in "\0\n" else ["A 5% [cut] of 'it' \"as_is\" \\"])


def test_the_tags_offered_are_those_of_most_benchmarks_however_many_there_are(make, monkeypatch):
    monkeypatch.setattr(listing, "SHOWN_TAGS", 2)
    for tags in (["rare", "b"], ["c", "b"], ["c"], ["c", "a"], []):
        make.benchmark({}, n_tasks=1, tags=tags)
    assert listed(ANYONE).tags == ["b", "c"]


def test_a_renamed_benchmark_is_found_by_its_new_name_and_its_new_first_line(make):
    benchmark = make.benchmark({}, n_tasks=1, name="Before", description="old line")
    benchmark.name, benchmark.description = "After", "new line"
    benchmark.save(update_fields=["name", "description"])
    assert [len(listed(ANYONE, query=text).benchmarks) for text in ("before", "old", "AFTER", "new")] == [0, 0, 1, 1]


def test_a_long_first_line_is_cut_and_not_read_to_its_end(make):
    make.benchmark({}, n_tasks=1, description="word " * 4000)
    (line,) = listed(ANYONE).benchmarks
    assert (len(line.summary), line.summary[-1]) == (400, "…")


def test_a_board_that_was_published_before_lists_kept_anything_is_read_from_its_reports_until_the_sweep_comes(
    make, django_assert_num_queries
):
    for _ in range(3):
        make.published()
    kept = listed(ANYONE).benchmarks
    ListedBoard.objects.all().delete()
    with django_assert_num_queries(5):  # one more: the reports of all three
        assert listed(ANYONE).benchmarks == kept
    assert (store_missing_listed_boards(), store_missing_listed_boards()) == (3, 0)
    with django_assert_num_queries(4):
        assert listed(ANYONE).benchmarks == kept
