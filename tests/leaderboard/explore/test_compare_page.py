"""Benchmarks side by side: what matches, the board over them against ranks by hand, and nothing of what is hidden."""

import csv
import io
import re
from fractions import Fraction
from html import unescape
from itertools import combinations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache

from leaderboard.explore import benchmarks
from leaderboard.explore.benchmarks import CompareQuery, compare
from leaderboard.explore.matching import distinct_names
from leaderboard.models import ModelIdentity, System
from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.benchmark_agreement import benchmark_agreement
from tests.browser import by_hand
from tests.markup import compact

FIRST = {"Ada": [9, 9, 9], "Bob": [8, 8, 8], "Cleo": [7, 7, 7], "Dan": [7, 7, 7], "Only here": [1, 1, 1]}
SECOND = {"ADA": [1, 1], "bob": [3, 3], "Cleo": [2, 2], "Eve": [0, 0]}
THIRD = {"Bob": [5], "Cleo": [6], "Dan": [4], "Ada": [4]}
# The share of rivals below, ties one half, on each; worked out by hand.
SHARES = {
    "Ada": [Fraction(1), Fraction(1, 3), Fraction(1, 6)],
    "Bob": [Fraction(3, 4), Fraction(1), Fraction(2, 3)],
    "Cleo": [Fraction(3, 8), Fraction(2, 3), Fraction(1)],
    "Dan": [Fraction(3, 8), None, Fraction(1, 6)],
}
POINTS = {"Ada": [4, 1, 0], "Bob": [3, 3, 2], "Cleo": [1, 2, 3], "Dan": [1, None, 0]}


@pytest.fixture(autouse=True)
def nothing_counted():
    cache.clear()


@pytest.fixture(scope="module")
def three_once(make_once):
    tables = {"first": FIRST, "second": SECOND, "third": THIRD}
    for key, table in tables.items():
        scores = {name: [float(x) for x in row] for name, row in table.items()}
        make_once.published(scores, name=key.capitalize(), key=key, n_tasks=len(next(iter(table.values()))))


@pytest.fixture
def three(three_once, make):
    """Whatever a test changes of the three it takes back."""


def query_of(**fields) -> CompareQuery:
    return CompareQuery(keys=("first", "second", "third"), rule="mean", **fields)


def compared(query: CompareQuery, viewer=None):
    viewer = viewer or AnonymousUser()
    return compare(viewer, query)


def test_the_board_over_benchmarks_ranks_the_shares_of_rivals_beaten(three, client):
    board = compared(query_of())
    assert (board.n_matched, board.n_systems, board.n_rewritten) == (4, 6, 2)
    assert {row.name: row.other_names for row in board.rows if row.other_names} == {"Bob": ["bob"], "Ada": ["ADA"]}
    address = "/compare/?b=first&b=second&b=third&rule=mean"
    rows = list(csv.DictReader(io.StringIO(client.get(f"{address}&format=csv").content.decode())))
    assert {row["system"] for row in rows} == set(SHARES)
    expected = by_hand.all_ranks(SHARES)
    for rule in ("mean", "borda", "copeland", "minimax"):
        ranks = {row["system"]: int(row[f"{rule}_rank"]) for row in rows if row[f"{rule}_rank"]}
        assert ranks == expected[rule.capitalize()]
    names = [row["system"] for row in rows]
    assert names == [row.name for row in board.rows]
    page = unescape(compact(client.get(address)))
    assert "4 of 6 systems appear on at least 2 of the 3 benchmarks" in page
    places = re.findall(r'<tr><th scope="row">Cleo.*?</tr>', page, re.DOTALL)[-1]
    assert re.findall(r"(=?\d+)<small>/(\d+)</small>", places) == [("=3", "5"), ("2", "4"), ("1", "4")]


def test_points_make_a_first_place_on_a_long_board_worth_more(three):
    values = [[float("nan") if x is None else x for x in POINTS[name]] for name in ("Ada", "Bob", "Cleo", "Dan")]
    matrix = ScoreMatrix(values, system_names=["Ada", "Bob", "Cleo", "Dan"])
    board = compared(query_of(score="points", policy="worst")).board
    ranks = {column.rule: column.ranks.tolist() for column in board.columns}
    for rule in ("mean", "median", "borda"):
        assert ranks[rule] == rank(matrix, rule, missing="worst").ranks.tolist()


def test_a_system_on_one_benchmark_alone_takes_no_part_whatever_an_old_address_asks(three, make, client):
    address = "/compare/?b=first&b=second&rule=mean"
    with_1, with_2 = (unescape(compact(client.get(f"{address}&least={n}"))) for n in (1, 2))
    assert re.findall(r'name="least" min="(\d+)" max="12" value="(\d+)"', with_1) == [("2", "2")]
    assert "3 of 6 systems appear on each of the 2 benchmarks" in with_1
    assert with_1.replace("least=1", "least=2").replace("least%3D1", "least%3D2") == with_2  # the way back, too
    make.published({"Zoe": [1.0], "Ada": [2.0]}, name="Fourth", key="fourth", n_tasks=1)
    make.published({"Yan": [1.0], "Xia": [2.0]}, name="Fifth", key="fifth", n_tasks=1)
    for other, said in (("fourth", "Only Ada appears"), ("fifth", "No system appears")):
        page = unescape(compact(client.get(f"/compare/?b=first&b={other}&least=1")))
        assert f"{said} on at least 2 of these 2 under the same name or as the same declared model." in page
        assert "Who comes first?" not in page


@pytest.mark.parametrize("address", ["/compare/?b=first&b=second", "/b/first/"])
def test_links_to_rules_that_are_not_shown_lead_somewhere_and_are_not_in_the_caption(three, client, address):
    page = compact(client.get(address))
    before, _, after = page.partition("</table>")
    said = "Not shown (undefined for these scores):"
    assert (said in before, f'</div><p class="small soft">{said}' in after) == (False, True)
    links = re.findall(r'href="([^"]+)"', after.partition(said)[2].partition("</p>")[0])
    rules = [link.removeprefix("#rule-").removeprefix("/rules/").strip("/") for link in links]
    assert "normalized_mean" in rules
    assert links == [f"/rules/{rule}/" if address.startswith("/compare/") else f"#rule-{rule}" for rule in rules]
    assert all(f'id="{link[1:]}"' in page for link in links if link.startswith("#"))


def test_systems_that_share_a_rank_over_the_benchmarks_are_marked(make, client):
    for key, scores in (("up", {"Ada": [2.0], "Bob": [1.0]}), ("down", {"Ada": [1.0], "Bob": [2.0]})):
        make.published(scores, name=key.title(), key=key, n_tasks=1)
    page = compact(client.get("/compare/?b=up&b=down&rule=mean"))
    assert re.findall(r'(=?)<span class="rank is-first">1</span>', page) == ["=", "="]


def test_systems_on_more_benchmarks_alone_and_names_that_are_looked_for(three, client):
    assert {row.name for row in compared(query_of(least=3)).rows} == {"Ada", "Bob", "Cleo"}
    assert [row.name for row in compared(query_of(q="bo")).rows] == ["Bob"]
    page = client.get("/compare/?b=first&b=second&least=&q=")
    assert page.headers["Location"] == "/compare/?b=first&b=second"
    assert "Choose at least two" in compact(client.get("/compare/?b=first&b=nothing"))
    assert client.get("/compare/?b=first&b=second&least=99&score=x&policy=y&rule=z").status_code == 200


@pytest.mark.parametrize("hidden", [{"visibility": "private"}, {"visibility": "unlisted"}])
def test_what_lists_do_not_mention_is_as_if_it_were_not_there(three, make, client, hidden):
    benchmark = make.published({"Ada": [1.0], "Hidden thing": [2.0]}, name="Fourth", key="fourth", n_tasks=1, **hidden)
    address = "/compare/?b=first&b=second&b="
    with_it, without = (compact(client.get(address + key)) for key in ("fourth", "zzzzzz"))
    assert with_it == without.replace("zzzzzz", "fourth")
    assert "Fourth" not in with_it
    client.force_login(benchmark.memberships.get().user, backend="django.contrib.auth.backends.ModelBackend")
    assert "Fourth" in compact(client.get(f"{address}fourth"))


def test_a_benchmark_that_hides_scores_takes_part_with_its_ranks_and_one_that_hides_more_not(three, make, client):
    secret = make.published({"Ada": [123.25, 0.0], "Bob": [4.0, 0.0]}, name="Fourth", key="fourth", n_tasks=2)
    secret.score_view = "ranks"
    secret.save()
    page = compact(client.get("/compare/?b=first&b=fourth&rule=mean"))
    assert "ranks only" in page
    assert "123.25" not in page
    assert "61.625" not in page
    board = compare(AnonymousUser(), CompareQuery(keys=("first", "fourth"), rule="mean"))
    assert [row.places[1].rank for row in board.rows if row.name == "Ada"] == [1]
    secret.score_view = "own"
    secret.save()
    assert "hide which system has which rank" in compact(
        client.get("/compare/?b=first&b=fourth&b=second").content.decode()
    )
    board = compared(CompareQuery(keys=("first", "fourth", "second"), rule="mean"))
    assert [one.key for one in board.benchmarks] == ["first", "second"]
    assert [(one.key, one.places) for one in board.left_out] == [("fourth", {})]


def test_each_benchmark_costs_as_many_queries(three, django_assert_num_queries):
    for keys in combinations(("first", "second", "third"), 2):
        compare(AnonymousUser(), CompareQuery(keys=keys))
    for n in (2, 3):
        with django_assert_num_queries(2 * n + 2):
            compare(AnonymousUser(), CompareQuery(keys=("first", "second", "third")[:n]))


def test_the_form_offers_some_benchmarks_finds_the_others_and_keeps_what_is_chosen(
    three, client, monkeypatch, django_assert_num_queries
):
    monkeypatch.setattr(benchmarks, "MAX_OFFERED", 1)

    def offered(address: str) -> list[tuple[str, bool]]:
        with django_assert_num_queries(1):
            page = compact(client.get(address))
        boxes = re.findall(r'name="b" value="([a-z]+)"( checked)?', page)
        return [(key, bool(checked)) for key, checked in boxes]

    assert offered("/compare/") == [("first", False)]
    assert offered("/compare/?find=THIRD") == [("third", False)]
    assert offered("/compare/?find=nothing%00") == []
    page = compact(client.get("/compare/?b=first&b=second&find=third"))
    boxes = re.findall(r'name="b" value="([a-z]+)"( checked)?', page)
    assert boxes == [("first", " checked"), ("second", " checked"), ("third", "")]


def test_variants_are_columns_of_the_board_over_benchmarks(three, client):
    query = {"b": ["first", "second", "third"], "rule": "mean", "variants": "copeland[variant=lower]\nveto[then=borda]"}
    rows = list(csv.DictReader(io.StringIO(client.get("/compare/", query | {"format": "csv"}).content.decode())))
    values = [[float("nan") if x is None else float(x) for x in SHARES[row["system"]]] for row in rows]
    matrix = ScoreMatrix(values, system_names=[row["system"] for row in rows])
    for key in ("copeland[variant=lower]", "veto[then=borda]"):
        expected = [str(place) if place > 0 else "" for place in rank(matrix, key).ranks.tolist()]
        assert [row[f"{key}_rank"] for row in rows] == expected
    page = unescape(compact(client.get("/compare/", query | {"reference": "veto[then=borda]"})))
    assert '<option value="veto[then=borda]" selected>Veto (ties by Borda)</option>' in page


@pytest.mark.parametrize("variants", ["borda", "copeland[variant=nothing]", "x" * 4_000, "a\0[b=c]"])
def test_the_page_leaves_out_what_is_no_variant_and_says_so(three, client, variants):
    page = unescape(compact(client.get("/compare/", {"b": ["first", "second"], "variants": variants})))
    assert "The page leaves it out." in page
    assert "Ada" in page


def test_a_variant_ranks_each_benchmark_that_has_it_as_a_column(three, make, client):
    make.published({"Ada": [1.0, 5.0], "Bob": [2.0, 4.0]}, name="Fourth", key="fourth", variants=["veto[then=borda]"])
    query = {"b": ["first", "fourth"], "rule": "veto[then=borda]", "variants": "veto[then=borda]"}
    page = unescape(compact(client.get("/compare/", query)))
    assert "Veto (ties by Borda) gives no ranking there" in page


# --- Declared models ----------------------------------------------------------------------------------------------


def linked(key: str, **models: str) -> None:
    """Links systems of a benchmark, called by key, to models that are made where they are not there."""
    for system, model in models.items():
        identity, _ = ModelIdentity.objects.get_or_create(key=model)
        assert System.objects.filter(benchmark__key=key, key=system).update(identity=identity)


def rows_of(board) -> dict[str, list[str | None]]:
    return {row.name: [place and place.name for place in row.places] for row in board.rows}


def test_systems_of_one_model_are_the_same_whatever_they_are_called(three, client):
    linked("first", ada="m")
    linked("second", eve="m")
    comparison = compared(query_of())
    # Ada of the second board is by its name no longer that of the first, which is Eve there; nor is the third's one,
    # whose name is that of the model: no system of its own board is linked.
    assert rows_of(comparison) == {
        "Ada": ["Ada", "Eve", "Ada"],
        "Bob": ["Bob", "bob", "Bob"],
        "Cleo": ["Cleo", "Cleo", "Cleo"],
        "Dan": ["Dan", None, "Dan"],
    }
    assert (comparison.n_matched, comparison.n_declared) == (4, 0)
    linked("third", ada="m")
    comparison = compared(query_of())
    assert rows_of(comparison)["Ada"] == ["Ada", "Eve", "Ada"]
    assert [(row.name, row.model, row.is_declared) for row in comparison.rows if row.model] == [("Ada", "m", True)]
    page = unescape(compact(client.get("/compare/?b=first&b=second&b=third&rule=mean")))
    assert "declared 1 of them to be the same model. The others are <strong>matched by name</strong>" in page
    assert '<a href="/s/m/">Ada</a>' in page


def test_systems_of_one_name_that_are_different_models_are_two(three):
    linked("first", bob="m", cleo="n", dan="o")
    linked("second", bob="k", cleo="n")
    linked("third", cleo="n", dan="o")
    comparison = compared(query_of())
    assert rows_of(comparison) == {
        "Ada": ["Ada", "ADA", "Ada"],
        "Cleo": ["Cleo", "Cleo", "Cleo"],
        "Dan": ["Dan", None, "Dan"],
    }
    # The third board's Bob could be either, and is neither.
    assert comparison.n_systems == 8
    assert [row.name for row in comparison.rows if row.is_declared] == [
        row.name for row in comparison.rows if row.name in ("Cleo", "Dan")
    ]
    linked("third", bob="m")
    linked("first", ada="k")
    assert rows_of(compared(query_of(least=2)))["Bob"] == ["Bob", None, "Bob"]


def test_rows_of_one_name_are_told_apart(three):
    linked("first", ada="m", bob="k")
    linked("second", ada="k", bob="m")
    comparison = compared(CompareQuery(keys=("first", "second"), rule="mean"))
    assert rows_of(comparison) == {"Ada": ["Ada", "bob"], "Bob": ["Bob", "ADA"], "Cleo": ["Cleo", "Cleo"]}
    assert distinct_names(["Ada", "Bob", "Ada", "Ada (2)", "Ada"]) == ["Ada", "Bob", "Ada (3)", "Ada (2)", "Ada (4)"]


def test_how_far_benchmarks_agree_is_computed_from_the_shares_of_rivals(three, client):
    values = [[float("nan") if x is None else float(x) for x in SHARES[name]] for name in sorted(SHARES)]
    expected = [one.kendall.whole for one in benchmark_agreement(values)]
    for score in ("share", "points"):
        comparison = compared(query_of(score=score))
        assert [one.kendall.whole for one in comparison.agreement] == expected
    page = unescape(compact(client.get("/compare/?b=first&b=second&b=third&rule=mean")))
    table = page[page.index('id="benchmark-agreement"') :]
    lines = re.findall(
        r'<tr><th scope="row">(\w+)</th><td class="number">(\d)</td><td class="number">(.\d\.\d\d|\d\.\d\d)', table
    )
    texts = {
        name: f"{tau:.2f}".replace("-", "\N{MINUS SIGN}")
        for name, tau in zip(("First", "Second", "Third"), expected, strict=True)
    }
    assert {name: tau for name, _, tau in lines} == texts
    assert {name: int(n) for name, n, _ in lines} == {"First": 4, "Second": 3, "Third": 4}
    assert '<th scope="col" class="number">Defined in subsets</th>' in table
    assert table.count('<td class="number">1 of 1</td>') == 3
    assert ">z</th>" not in table  # from five benchmarks on


def test_two_benchmarks_agree_with_one_another_alike_over_all_systems(three, client):
    (agreement, other) = compared(CompareQuery(keys=("first", "third"), rule="mean")).agreement
    assert agreement.kendall.whole == other.kendall.whole
    page = unescape(compact(client.get("/compare/?b=first&b=third&rule=mean")))
    table = page[page.index('id="benchmark-agreement"') :]
    text = f"{agreement.kendall.whole:.2f}".replace("-", "\N{MINUS SIGN}")
    lines = re.findall(r'<tr><th scope="row">(\w+)</th><td class="number">4</td><td class="number">([^<]+)</td>', table)
    assert lines == [("First", text), ("Third", text)]
    assert "The figures are over all systems that both have." in table
    assert "sd</th>" not in table
