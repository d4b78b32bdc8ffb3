"""The landscape: each benchmark at the figures of its own reports, and nothing of what is hidden."""

import re
from functools import cache

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser
from scipy.stats import pearsonr

from leaderboard.models import Membership, Report
from leaderboard.rankings.reports import make_report
from leaderboard.studies import landscape as service
from leaderboard.studies.landscape import landscape
from ranking_engine import ScoreMatrix
from ranking_engine.stability.catalogue import run_study
from tests.markup import compact

KEYS = ("diversity", "cardinal_sensitivity", "ordinal_sensitivity")


def table(seed: int) -> dict[str, list[float]]:
    scores = np.random.default_rng(seed).normal(50, 10, size=(12, 5)).round(1)
    return {f"System {i:02d}": row.tolist() for i, row in enumerate(scores)}


def few(seed: int, n_systems: int) -> dict[str, list[float]]:
    return dict(list(table(seed).items())[:n_systems])


@cache
def summaries_of(seed: int, n_systems: int) -> dict[str, dict]:
    scores = few(seed, n_systems)
    matrix = ScoreMatrix(list(scores.values()), system_names=list(scores))
    return {key: run_study(key, matrix).summary for key in KEYS}


def studied(make, seed: int, n_systems: int = 12, **fields):
    """A benchmark with the three studies, computed by the engine from the same table."""
    benchmark = make.published(few(seed, n_systems), **fields)
    summaries = summaries_of(seed, n_systems)
    revision = benchmark.publication.revision
    Report.objects.bulk_create(
        [
            make_report(revision, "study", parameters={"study": key}, summary=summary, arrays={}, seconds=0.0)
            for key, summary in summaries.items()
        ]
    )
    return benchmark, summaries


def test_every_benchmark_is_where_its_studies_put_it(make, client, django_assert_num_queries):
    first, summaries = studied(make, 1, name="First")
    second, _ = studied(make, 2, name="Second")
    make.published(name="Without studies")
    with django_assert_num_queries(3):
        page = landscape(AnonymousUser())
    assert [place.name for place in page.places] == ["First", "Second", "Without studies"]
    place = page.places[0]
    assert place.diversity == summaries["diversity"]["diversity_tie_corrected"]
    share = summaries["cardinal_sensitivity"]["feasible"]["scaled"]["discordant_share"]
    assert (place.cardinal.lower, place.cardinal.upper) == (share["lower"], share["upper"])
    assert place.ordinal.lower == summaries["ordinal_sensitivity"]["discordant_share"]["lower"]
    for plane in (page.cardinal, page.ordinal):
        assert [[dot.key for dot in chart.dots] for chart in plane.charts] == [[first.key, second.key]] * 3
    page = compact(client.get("/landscape/"))
    for width in (1320, 880, 340):
        assert f'cx="{44 + (width - 60) * place.diversity:.1f}"' in page
    assert place.cardinal.text in page
    assert page.count('<a href="/b/first/stability/" aria-label=') == 6  # two planes, each for three widths


@pytest.mark.parametrize("most", [100, 1])
def test_a_benchmark_of_one_task_is_no_point_of_a_relation(make, client, monkeypatch, most):
    monkeypatch.setattr(service, "PAGE_PLACES", most)
    studied(make, 1, name="B")
    lone = make.published({name: scores[:1] for name, scores in table(2).items()}, name="A")
    matrix = ScoreMatrix([scores[:1] for scores in table(2).values()], system_names=list(table(2)))
    for key in KEYS:
        summary = run_study(key, matrix).summary
        make_report(
            lone.publication.revision, "study", parameters={"study": key}, summary=summary, arrays={}, seconds=0.0
        ).save()
    page = landscape(AnonymousUser())
    assert (page.places[0].name, page.places[0].diversity) == ("A", None)
    assert (page.cardinal.fit.n, page.ordinal.fit.n) == (1, 1)
    text = compact(client.get("/landscape/"))
    assert "the benchmarks on this site that you can see whole and that have at least two tasks" in text


def test_the_landscape_has_pages_each_with_its_own_dots_and_rows(make, client, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(service, "PAGE_PLACES", 2)
    for seed, name in enumerate(("C", "A", "B")):
        studied(make, seed, name=name)
    with django_assert_num_queries(4):  # one more: the figures of the other pages, for the relation
        pages = [landscape(AnonymousUser())]
    pages.append(landscape(AnonymousUser(), "2"))
    assert [[place.name for place in one.places] for one in pages] == [["A", "B"], ["C"]]
    page = compact(client.get("/landscape/?page=2"))
    n_dots = page.count('stability/" aria-label=')
    assert ("Benchmarks 3 to 3 of 3, by name" in page, n_dots, ">B</a>" in page) == (True, 6, False)
    assert "These figures and the line are of the benchmarks of all 2 pages." in page


def test_the_relation_of_a_page_is_that_of_all_pages(make, monkeypatch):
    for seed in range(4):
        studied(make, seed, name=f"Number {seed}")
    whole = landscape(AnonymousUser())
    monkeypatch.setattr(service, "PAGE_PLACES", 3)
    for number in ("1", "2"):
        part = landscape(AnonymousUser(), number)
        for plane, of_all in ((part.cardinal, whole.cardinal), (part.ordinal, whole.ordinal)):
            assert plane.fit.n == of_all.fit.n == 4
            assert plane.fit.reached.text == of_all.fit.reached.text
            assert plane.fit.verdict == of_all.fit.verdict


def test_a_board_too_small_for_a_first_fifth_is_in_no_relation_of_win_rates(make, monkeypatch):
    for seed in range(3):
        studied(make, seed, name=f"Number {seed}")
    small, summaries = studied(make, 3, n_systems=6, name="Small")
    assert summaries["ordinal_sensitivity"]["n_pairs"] == 1
    whole = landscape(AnonymousUser())
    assert [plane.fit.n for plane in (whole.cardinal, whole.ordinal)] == [4, 3]
    assert next(place for place in whole.places if place.key == small.key).ordinal is None
    monkeypatch.setattr(service, "PAGE_PLACES", 3)
    assert [plane.fit.n for plane in (landscape(AnonymousUser()).cardinal, whole.ordinal)] == [4, 3]


def test_a_study_by_another_version_than_the_published_board_is_in_no_relation(make, monkeypatch):
    for seed in range(4):
        studied(make, seed, name=f"Number {seed}")
    newest = Report.objects.filter(kind="study").latest("pk").revision
    Report.objects.filter(revision=newest, kind="study").update(engine_version="0.0.1")
    whole = landscape(AnonymousUser())
    monkeypatch.setattr(service, "PAGE_PLACES", 3)
    assert [landscape(AnonymousUser()).ordinal.fit.n, whole.ordinal.fit.n] == [3, 3]


def test_the_page_says_what_scipy_says_of_the_points_in_its_own_table(make, client):
    for seed in range(5):
        studied(make, seed, name=f"Number {seed}")
    page = compact(client.get("/landscape/"))
    places = landscape(AnonymousUser()).places
    for which in ("cardinal", "ordinal"):
        shares = [getattr(place, which) for place in places]
        r, p = pearsonr([place.diversity for place in places], [share.lower for share in shares])
        text = f"r = {r:.2f}, p = {p:.3f}".replace("-", "\N{MINUS SIGN}")
        assert f'Pearson’s <span class="figures">{text}</span>, n = 5' in page
        assert "These 5 benchmarks do not show a relation: at least 8 are needed, whatever r is." in page


def test_the_line_in_the_picture_is_the_one_of_least_squares(make, client):
    for seed in range(4):
        studied(make, seed, name=f"Number {seed}")
    places = landscape(AnonymousUser()).places
    x, y = [p.diversity for p in places], [p.cardinal.lower for p in places]
    slope, intercept = np.polyfit(x, y, 1)
    ends = [(44 + 1260 * at, 28 + 492 * (1 - (intercept + slope * at))) for at in (min(x), max(x))]
    (path,) = re.findall(r'<path class="fit" d="M([^"]*)"/>', client.get("/landscape/").text)[:1]
    drawn = [[float(number) for number in end.split()] for end in path.split("L")]
    assert np.allclose(drawn, ends, atol=0.06)


def test_the_two_ends_are_marked_with_diamonds_and_have_a_table_of_their_own(make, client):
    studied(make, 1, name="First")
    page = compact(client.get("/landscape/"))
    for said in (
        "Constant: diversity 0.00, reversed pairs 0.00",
        "Random: diversity 0.99, reversed pairs 0.60",
        "Random: diversity 0.99, reversed pairs 0.98",
    ):
        assert f'aria-label="{said}"> <path class="end"' in page
    assert re.findall(r'<th scope="row">((?:Constant|Random), by [a-z ]*)</th>', page) == [
        "Constant, by mean", "Random, by mean", "Constant, by win rate", "Random, by win rate",
    ]  # fmt: skip
    assert landscape(AnonymousUser()).cardinal.fit.n == 1  # the ends are no part of the relation
    assert re.findall(r'href="(/papers/\?[^"]*)"', page) == [
        "/papers/?paper=zhang",
        "/papers/?paper=zhang#zhang-correlation-cardinal",
        "/papers/?paper=zhang#zhang-correlation-ordinal",
        "/papers/?paper=zhang#zhang-baselines-cardinal",
        "/papers/?paper=zhang#zhang-baselines-ordinal",
    ]


@pytest.mark.django_db
def test_every_section_of_the_papers_that_the_landscape_links_to_is_there(client):
    anchors = re.findall(r'href="/papers/\?paper=zhang#([^"]*)"', client.get("/landscape/").text)
    papers = client.get("/papers/?paper=zhang").text
    assert [f'id="{anchor}"' in papers for anchor in anchors] == [True] * 4


@pytest.mark.django_db
def test_the_page_says_that_the_trade_off_is_not_found_for_win_rates_and_on_how_few_boards_it_is_for_means(client):
    page = compact(client.get("/landscape/"))
    assert "at 0.16 by their own figures, and at 0.34 (p = 0.304, two-sided; 0.12 without BigCode) by ours" in page
    assert "reversed pairs correlate at 0.20 (p = 0.537, two-sided; -0.05 without BigCode)" in page
    assert "0.81 with the proven upper bounds" in page
    assert "Seven benchmarks are few" in page
    assert "share systems and scenarios, so they are not independent points" in page


def test_a_diversity_that_rests_on_filled_gaps_says_on_how_many(make, client):
    scores = table(4) | {"System 00": [None, None, 50.0, 40.0, 30.0]}
    benchmark = make.published(scores, name="With gaps")
    values = [[np.nan if value is None else value for value in row] for row in scores.values()]
    summary = run_study("diversity", ScoreMatrix(values, system_names=list(scores))).summary
    report = make_report(
        benchmark.publication.revision, "study", parameters={"study": "diversity"}, summary=summary, arrays={},
        seconds=0.0,
    )  # fmt: skip
    Report.objects.bulk_create([report])
    (place,) = landscape(AnonymousUser()).places
    assert place.imputed_text == "2 of 60 scores filled in"
    assert "2 of 60 scores filled in" in compact(client.get("/landscape/"))


@pytest.mark.parametrize("hidden", [{"visibility": "private"}, {"score_view": "ranks"}])
def test_what_is_hidden_is_on_nobodys_landscape(make, client, hidden):
    benchmark, _ = studied(make, 3, name="Hidden thing")
    for field, value in hidden.items():
        setattr(benchmark, field, value)
    benchmark.save()
    assert "Hidden thing" not in compact(client.get("/landscape/"))


def test_what_is_hidden_is_in_nobodys_relation_but_its_members(make, monkeypatch):
    owner, stranger = make.user(), make.user()
    for seed in range(3):
        studied(make, seed, name=f"Open {seed}")
    before = landscape(AnonymousUser())
    benchmark, _ = studied(make, 3, name="Hidden thing")
    assert landscape(AnonymousUser()).cardinal.fit.n == 4
    Membership.objects.create(benchmark=benchmark, user=owner, role="owner")
    is_open = {"visibility": benchmark.visibility, "score_view": benchmark.score_view}
    # Scores that are hidden stay out of the landscape even for those who may see them, as on the page so far.
    for hidden, n_for_owner in (
        ({"visibility": "private"}, 4),
        ({"visibility": "unlisted"}, 4),
        ({"score_view": "ranks"}, 3),
    ):
        type(benchmark).objects.filter(pk=benchmark.pk).update(**is_open | hidden)
        for page_places in (100, 2):
            monkeypatch.setattr(service, "PAGE_PLACES", page_places)
            for viewer in (AnonymousUser(), stranger):
                after = landscape(viewer)
                assert (after.cardinal.fit, after.ordinal.fit) == (before.cardinal.fit, before.ordinal.fit), hidden
            assert landscape(owner).cardinal.fit.n == n_for_owner
