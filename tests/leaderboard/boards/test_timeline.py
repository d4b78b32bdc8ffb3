"""A board over time against what was said by hand and, at random, against every date looked at by itself."""

from copy import deepcopy
from datetime import UTC, date, datetime

import numpy as np
import pytest
from django.db import transaction
from django.urls import reverse
from hypothesis import given, settings, strategies as st

from leaderboard.access.audience import audience_of
from leaderboard.boards.timeline.moments import MAX_LEADERS, course_by_dates, course_by_revisions, leads_of
from leaderboard.boards.timeline.page import TimePage, time_page
from leaderboard.common.append_only import append_only_permit
from leaderboard.common.charts.calendar import MAX_DATES, date_ticks, day_of
from leaderboard.models import Revision, System
from leaderboard.rankings.published import ColumnTexts, UnknownChoiceError, make_column
from leaderboard.rankings.scores import BoardSystem
from tests.factories import owner_of

FIELDS = [
    {"key": "released", "name": "Released", "kind": "date"},
    {"key": "paper-of", "name": "Paper of", "kind": "date"},
    {"key": "parameters", "name": "Parameters", "kind": "number"},
]
SCORES = {"A": [9.0, 9.0], "B": [8.0, 8.0], "C": [7.0, 7.0], "D": [1.0, 1.0], "E": [5.0, 5.0], "F": [8.0, 8.0]}
RELEASED = {"D": "2020", "C": "2022-01-31", "B": "2023", "F": "2023-01-01", "A": "2024-05"}  # and of E nothing is known


@pytest.fixture(scope="module")
def made_once(make_once):
    benchmark = make_once.published(SCORES, metadata_fields=FIELDS, default_rule="mean")
    for name, released in RELEASED.items():
        System.objects.filter(benchmark=benchmark, name=name).update(metadata={"released": released})
    return benchmark


@pytest.fixture
def benchmark(made_once, make):
    return deepcopy(made_once)


def page_of(benchmark, **choice):
    return time_page(audience_of(owner_of(benchmark), benchmark), **choice)


def test_each_lead_lasts_from_one_release_to_the_next_that_is_better(benchmark):
    page = page_of(benchmark)
    assert (page.by, page.rule, page.course.n_left_out) == ("meta.released", "mean", 1)
    leads = [(lead.names, lead.start.text, lead.n_days, lead.start.score) for lead in page.leads]
    assert leads == [
        (["A"], "2024-05", None, 9.0),
        (["B", "F"], "2023", (date(2024, 5, 1) - date(2023, 1, 1)).days, 8.0),
        (["C"], "2022-01-31", (date(2023, 1, 1) - date(2022, 1, 31)).days, 7.0),
        (["D"], "2020", (date(2022, 1, 31) - date(2020, 1, 1)).days, 1.0),
    ]
    followed = {system.name: ranks for system, ranks in page.course.followed}
    assert followed == {
        "A": [None, None, None, 1], "B": [None, None, 1, 2], "F": [None, None, 1, 2],
        "C": [None, 1, 3, 4], "D": [1, 2, 4, 5],
    }  # fmt: skip
    assert page.sentence == (
        "Under Mean A has been first among the systems of the present board that have such a date since 2024-05; "
        "4 other systems before."
    )


def ranked(ranks):
    """Systems with these ranks, and the column of the rule."""
    summary = {"rule": "mean", "status": "ranked", "reason": "", "winner_names": [], "n_winners": 0}
    column = make_column(summary, {"ranks": ranks, "scores": -ranks.astype(float)}, ColumnTexts({}, ""))
    return [BoardSystem(i, f"s{i}", f"S{i}") for i in range(len(ranks))], column


orders = st.lists(st.tuples(st.integers(1, 4), st.one_of(st.none(), st.integers(0, 5))), max_size=9)


@settings(max_examples=80, deadline=None)
@given(orders)
def test_every_date_is_that_of_the_systems_until_then(given_systems):
    ranks = np.array([rank for rank, _ in given_systems], dtype=np.int32)
    systems, column = ranked(ranks)
    dates = {i: (float(day), str(day)) for i, (_, day) in enumerate(given_systems) if day is not None}
    course = course_by_dates(column, systems, dates)
    by_day = sorted({day for day, _ in dates.values()})
    assert [moment.day for moment in course.moments] == by_day
    for k, moment in enumerate(course.moments):
        there = [i for i in dates if dates[i][0] <= moment.day]
        best = min(ranks[i] for i in there)
        assert {one.id for one in moment.leaders} == {i for i in there if ranks[i] == best}
        assert (moment.n_ranked, moment.n_leaders, moment.score) == (len(there), len(moment.leaders), float(-best))
        for system, over_time in course.followed:
            expected = 1 + sum(ranks[i] < ranks[system.id] for i in there) if system.id in there else None
            assert over_time[k] == expected
    leads = leads_of(course.moments)
    sets = [{one.id for one in moment.leaders} for moment in course.moments]
    news = [moment for k, moment in enumerate(course.moments) if k == 0 or sets[k] != sets[k - 1]]
    assert [lead.start for lead in leads] == news
    assert course.n_led == len(set().union(*sets))
    assert [lead.end for lead in leads] == [*(lead.start for lead in leads[1:]), None][: len(leads)]
    assert course.n_left_out == len(systems) - len(dates)


def test_of_thousands_that_are_all_first_each_date_names_a_few_and_counts_the_others():
    n = 3000
    systems, column = ranked(np.ones(n, dtype=np.int32))
    course = course_by_dates(column, systems, {i: (float(n - i), str(n - i)) for i in range(n)})
    assert [moment.n_leaders for moment in course.moments] == list(range(1, n + 1))
    assert max(len(moment.leaders) for moment in course.moments) == MAX_LEADERS
    assert [one.id for one in course.moments[-1].leaders] == list(range(MAX_LEADERS))
    page = TimePage([("meta.x", "X")], "meta.x", [("mean", "Mean")], "mean", course)
    assert len(page.leads) == n
    assert page.sentence == (
        "Under Mean S0, S1, S2 and 2997 more have been first among the systems of the present board that have such a "
        "date since 3000; no other system before."
    )


def test_reading_who_led_counts_as_asking(benchmark, client, settings):
    settings.API_RATES = {**settings.API_RATES, "on_demand": "2/hour"}
    paths = [reverse("timeline", args=[benchmark.key]), f"/api/v1/benchmarks/{benchmark.key}/time/"]
    assert [client.get(path).status_code for path in paths] == [200, 200]
    assert [client.get(path).status_code for path in paths] == [429, 429]


@pytest.fixture(scope="module")
def history_once(make_once):
    benchmark = make_once.published({"A": [5.0], "D": [4.0]}, default_rule="borda")
    for scores in ({"B": [9.0]}, {"C": [1.0]}):
        make_once.accepted(benchmark, scores)
        benchmark = make_once.publish(benchmark)
    for number, day in ((1, 1), (2, 11), (3, 31)):
        at = datetime(2026, 1, day, 12, tzinfo=UTC)
        with transaction.atomic(), append_only_permit("the time goes by"):
            Revision.objects.filter(benchmark=benchmark, number=number).update(created_at=at)
    return benchmark


@pytest.fixture
def with_history(history_once, make):
    """Revision 1: A first. 2: B, which is better, joins. 3: C, the worst. Each on another day."""
    return deepcopy(history_once)


def test_the_leads_by_revision_are_those_that_each_board_showed(with_history):
    page = page_of(with_history)
    assert (page.by, page.rule) == ("revision", "borda")
    # The Borda score of the first is the number of systems below it, which a newcomer raises.
    moments = [(m.revision, m.n_ranked, [one.name for one in m.leaders], m.score) for m in page.course.moments]
    assert moments == [(1, 2, ["A"], 1.0), (2, 3, ["B"], 2.0), (3, 4, ["B"], 3.0)]
    assert [(lead.names, lead.n_days) for lead in page.leads] == [(["B"], None), (["A"], 10)]
    followed = {system.name: ranks for system, ranks in page.course.followed}
    assert followed == {"B": [None, 1, 1], "A": [1, 2, 2], "D": [2, 3, 3], "C": [None, None, 4]}
    dots = [(dot.said, dot.url, dot.label.text if dot.label else "") for dot in page.score_chart.dots]
    assert sorted(dots) == [
        ("A: first from 1 Jan 2026, 12:00 UTC, 1 under Borda", "../?revision=1", "A"),
        ("B: first from 11 Jan 2026, 12:00 UTC, 2 under Borda", "../?revision=2", "B"),
        ("B: first from 31 Jan 2026, 12:00 UTC, 3 under Borda", "../?revision=3", ""),
    ]


def test_older_revisions_than_are_read_are_not_denied(with_history, monkeypatch):
    since = "since 11 Jan 2026, 12:00 UTC;"
    assert page_of(with_history).sentence == f"Under Borda B has led {since} 1 other system led before."
    monkeypatch.setattr("leaderboard.boards.timeline.moments.MAX_REVISIONS", 2)
    at_least = f"Under Borda B has led at least {since} no other system led before in the stored revisions."
    assert page_of(with_history).sentence == at_least
    # Of a board as it was, the newest revisions until then are read.
    course = course_by_revisions(with_history, "borda", 2)
    assert [moment.revision for moment in course.moments] == [1, 2]


def test_the_dates_on_which_systems_joined_have_the_ranks_of_the_present_board(with_history):
    page = page_of(with_history, by="joined", rule="mean")
    moments = [(m.text, m.n_ranked, [one.name for one in m.leaders], m.score) for m in page.course.moments]
    assert moments == [
        ("1 Jan 2026, 12:00 UTC", 2, ["A"], 5.0), ("11 Jan 2026, 12:00 UTC", 3, ["B"], 9.0),
        ("31 Jan 2026, 12:00 UTC", 4, ["B"], 9.0),
    ]  # fmt: skip


def test_the_steps_of_the_leading_score_go_up_at_each_lead(benchmark):
    chart = page_of(benchmark).score_chart
    sure = sorted((dot for dot in chart.dots if dot.standing), key=lambda dot: float(dot.x))
    assert [dot.label.text for dot in sure] == ["D", "C", "B +1", "A"]
    first, *others = sure
    steps = "".join(f"H{dot.x}V{dot.y}" for dot in others)
    assert chart.steps == f"M{first.x} {first.y}{steps}H{chart.right}"
    heights = [float(dot.y) for dot in sure]
    assert heights == sorted(heights, reverse=True)
    days = [day_of(date(2020, 1, 1)), day_of(date(2022, 1, 31)), day_of(date(2023, 1, 1)), day_of(date(2024, 5, 1))]
    shares = [(day - days[0]) / (days[-1] - days[0]) for day in days]
    places = [(float(dot.x) - float(first.x)) / (float(sure[-1].x) - float(first.x)) for dot in sure]
    assert places == pytest.approx(shares, abs=0.001)


@settings(max_examples=200, deadline=None)
@given(st.floats(1, 3_000_000), st.floats(1e-3, 600_000))
def test_dates_below_an_axis_are_round_few_and_in_order(least, span):
    ticks = date_ticks(least, least + span)
    days = [day for day, _ in ticks]
    assert len(ticks) <= MAX_DATES
    assert days == sorted(set(days))
    assert all(least <= day <= least + span for day in days)
    assert len({text for _, text in ticks}) == len(ticks)


def test_dates_below_an_axis_are_said_as_far_as_they_differ():
    first = day_of(date(2024, 1, 1))
    assert [text for _, text in date_ticks(first, first + 2000)] == ["2024", "2025", "2026", "2027", "2028", "2029"]
    assert [text for _, text in date_ticks(first, first + 100)] == ["Jan 2024", "Feb 2024", "Mar 2024", "Apr 2024"]
    assert [text for _, text in date_ticks(first, first + 3)] == [
        "1 Jan 2024, 00:00", "1 Jan 2024, 12:00", "2 Jan 2024, 00:00", "2 Jan 2024, 12:00", "3 Jan 2024, 00:00",
        "3 Jan 2024, 12:00", "4 Jan 2024, 00:00",
    ]  # fmt: skip


@pytest.mark.parametrize("choice", [{"by": "meta.parameters"}, {"by": "gone"}, {"rule": "best"}, {"by": "x" * 5000}])
def test_what_there_is_not_is_named(benchmark, client, choice):
    with pytest.raises(UnknownChoiceError):
        page_of(benchmark, **choice)
    assert client.get(reverse("timeline", args=[benchmark.key]), choice).status_code == 400
    assert client.get(f"/api/v1/benchmarks/{benchmark.key}/time/", choice).status_code == 400
    assert client.get(f"/b/{benchmark.key}/exports/time.csv", choice).status_code == 400


def test_the_page_the_file_and_the_api_say_the_same(benchmark, client):
    page = client.get(reverse("timeline", args=[benchmark.key])).content.decode()
    assert "since 2024-05; " in page
    assert "1 system of the board" in " ".join(page.split())
    table = client.get(f"/b/{benchmark.key}/exports/time.csv").getvalue().decode().splitlines()
    assert table == [
        "date,revision,n_ranked,leaders,n_leaders,leading_score,rank:a,rank:b,rank:f,rank:c,rank:d",
        "2020,,1,d,1,1.0,,,,,1", "2022-01-31,,2,c,1,7.0,,,,1,2", "2023,,4,b f,2,8.0,,1,1,3,4",
        "2024-05,,5,a,1,9.0,1,2,2,4,5",
    ]  # fmt: skip
    answer = client.get(f"/api/v1/benchmarks/{benchmark.key}/time/").json()
    assert answer["choices"] == ["meta.released", "joined", "revision"]
    last = answer["results"][-1]
    assert last == {
        "date": "2024-05", "for_revision": 0, "n_ranked": 5, "leaders": [{"system": "a", "name": "A"}],
        "n_leaders": 1, "leading_score": 9.0, "ranks": {"a": 1, "b": 2, "f": 2, "c": 4, "d": 5},
    }  # fmt: skip
    assert client.get(f"/api/v1/benchmarks/{benchmark.key}/time/?format=csv").getvalue().decode().splitlines() == table


def test_an_earlier_revision_does_not_know_later_ones(with_history, client):
    answer = client.get(f"/api/v1/benchmarks/{with_history.key}/time/", {"revision": 2}).json()
    assert [(moment["for_revision"], moment["date"]) for moment in answer["results"]] == [
        (1, "2026-01-01T12:00:00Z"), (2, "2026-01-11T12:00:00Z"),
    ]  # fmt: skip
    answer = client.get(f"/api/v1/benchmarks/{with_history.key}/time/", {"revision": 2, "by": "joined"}).json()
    assert [(moment["n_ranked"], moment["date"]) for moment in answer["results"]] == [
        (2, "2026-01-01T12:00:00Z"), (3, "2026-01-11T12:00:00Z"),
    ]  # fmt: skip
    table = client.get(f"/api/v1/benchmarks/{with_history.key}/time/?format=csv&by=joined").getvalue().decode()
    assert [line.split(",")[0] for line in table.splitlines()[1:3]] == ["2026-01-01T12:00:00Z", "2026-01-11T12:00:00Z"]


def test_a_board_without_ranks_says_so(make, client):
    empty = make.benchmark({}, n_tasks=1)
    page = client.get(reverse("timeline", args=[empty.key]))
    assert (page.status_code, "No rule ranks the systems" in page.content.decode()) == (200, True)
    assert client.get(f"/api/v1/benchmarks/{empty.key}/time/").status_code == 404
