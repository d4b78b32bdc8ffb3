"""The landscape: each benchmark at the figures of its own reports, and nothing of what is hidden."""

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser

from leaderboard.models import Report
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


def studied(make, seed: int, **fields):
    """A benchmark with the three studies, computed by the engine from the same table."""
    scores = table(seed)
    benchmark = make.published(scores, **fields)
    found = {key: run_study(key, ScoreMatrix(list(scores.values()), system_names=list(scores))).summary for key in KEYS}
    revision = benchmark.publication.revision
    Report.objects.bulk_create(
        [
            make_report(revision, "study", parameters={"study": key}, summary=summary, arrays={}, seconds=0.0)
            for key, summary in found.items()
        ]
    )
    return benchmark, found


def test_every_benchmark_stands_where_its_studies_put_it(make, client, django_assert_num_queries):
    first, told = studied(make, 1, name="First")
    second, _ = studied(make, 2, name="Second")
    make.published(name="Without studies")
    with django_assert_num_queries(3):
        found = landscape(AnonymousUser())
    assert [place.name for place in found.places] == ["First", "Second", "Without studies"]
    place = found.places[0]
    assert place.diversity == told["diversity"]["diversity_tie_corrected"]
    share = told["cardinal_sensitivity"]["feasible"]["scaled"]["discordant_share"]
    assert (place.cardinal.lower, place.cardinal.upper) == (share["lower"], share["upper"])
    assert place.ordinal.lower == told["ordinal_sensitivity"]["discordant_share"]["lower"]
    assert [dot.key for dot in found.cardinal.dots] == [first.key, second.key]
    page = compact(client.get("/landscape/"))
    assert f'cx="{44 + 580 * place.diversity:.1f}"' in page
    assert place.cardinal.text in page
    assert page.count("<circle") == 4


def test_the_landscape_has_pages_each_with_its_own_dots_and_rows(make, client, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(service, "PAGE_PLACES", 2)
    for seed, name in enumerate(("C", "A", "B")):
        studied(make, seed, name=name)
    with django_assert_num_queries(3):
        found = [[place.name for place in landscape(AnonymousUser()).places]]
    found += [[place.name for place in landscape(AnonymousUser(), "2").places]]
    assert found == [["A", "B"], ["C"]]
    page = compact(client.get("/landscape/?page=2"))
    assert ("Benchmarks 3 to 3 of 3, by name" in page, page.count("<circle"), ">B</a>" in page) == (True, 2, False)


@pytest.mark.django_db
def test_the_page_says_that_the_trade_off_is_not_found_for_win_rates_and_on_how_few_boards_it_is_for_means(client):
    page = compact(client.get("/landscape/"))
    assert "ours 0.20 (p = 0.537, two-sided), and -0.05 without BigCode" in page
    assert "0.81 with the proven upper bounds" in page
    assert "Seven benchmarks are few" in page
    assert "share systems and scenarios, so that they are not independent points" in page


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
