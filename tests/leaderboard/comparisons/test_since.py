"""What changed since a week, a month, one's last visit: which revision that is, and what is kept of whom."""

from copy import deepcopy
from datetime import timedelta

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.closing import close_account
from leaderboard.common.append_only import append_only_permit
from leaderboard.comparisons.since import note_visit, recent_changes, revision_then
from leaderboard.models import Benchmark, Revision, Visit
from leaderboard.submissions.lifecycle import accept_batch, withdraw_submission
from tests.factories import owner_of


def days_ago(days: float):
    return timezone.now() - timedelta(days=days)


@pytest.fixture(scope="module")
def made_once(make_once):
    """Revision 1, forty days ago: A and D. 2, ten days ago: B. 3, two days ago: C. 4, today: C leaves."""
    benchmark = make_once.published({"A": [5.0], "D": [4.0]})
    make_once.accepted(benchmark, {"B": [9.0]})
    benchmark = make_once.publish(benchmark)
    c = make_once.pending(benchmark, {"C": [1.0]}, by=owner_of(benchmark))
    accept_batch(c, actor=owner_of(benchmark))
    benchmark = make_once.publish(benchmark)
    withdraw_submission(c.submissions.get(), actor=owner_of(benchmark), reason="An error.")
    benchmark = make_once.publish(benchmark)
    for number, days in ((1, 40), (2, 10), (3, 2)):
        with transaction.atomic(), append_only_permit("the time goes by"):
            Revision.objects.filter(benchmark=benchmark, number=number).update(created_at=days_ago(days))
    return benchmark


@pytest.fixture
def benchmark(made_once, make):
    return deepcopy(made_once)


@pytest.mark.parametrize(("days", "number"), [(0, 4), (1, 3), (7, 2), (30, 1), (400, 1)])
def test_the_revision_then_is_the_newest_of_that_time_or_the_first_of_all(benchmark, days, number):
    assert revision_then(benchmark, days_ago(days)) == number


@pytest.mark.parametrize(("since", "first", "joined"), [("week", 2, []), ("month", 1, ["B"])])
def test_the_page_compares_the_board_of_then_with_the_one_of_today(benchmark, client, since, first, joined):
    page = client.get(reverse("history_compare", args=[benchmark.key]), {"since": since})
    assert page.context["page"].numbers == (first, 4)
    assert page.context["changes"].joined == joined  # C came and went meanwhile
    answer = client.get(f"/api/v1/benchmarks/{benchmark.key}/revisions/4/changes/", {"since": since}).json()
    assert (answer["since"], answer["revision"], answer["joined"]) == (first, 4, joined)


def test_what_is_no_period_is_refused_and_a_visit_needs_someone_signed_in(benchmark, client, make):
    path = reverse("history_compare", args=[benchmark.key])
    assert client.get(path, {"since": "x" * 5000}).status_code == 400
    assert client.get(path, {"since": "visit"}).url.startswith(reverse("account_login"))
    client.force_login(make.user())
    assert "did not look at this board before" in client.get(path, {"since": "visit"}).content.decode()


def test_a_visit_ends_after_an_hour_and_only_signed_in_readers_have_one(benchmark, client, make):
    board, user = reverse("board", args=[benchmark.key]), make.user()
    assert "since your visit" not in client.get(board).content.decode()
    assert not Visit.objects.exists()
    client.force_login(user)
    assert "since your visit" not in client.get(board).content.decode()
    Visit.objects.update(at=days_ago(12))
    page = client.get(board).content.decode()
    assert "since your visit on" in page
    assert "?since=visit" in page
    # Another look of the same visit does not begin a new one.
    assert "since your visit on" in client.get(board).content.decode()
    compared = client.get(reverse("history_compare", args=[benchmark.key]), {"since": "visit"})
    assert compared.context["page"].numbers == (1, 4)
    assert Visit.objects.count() == 1


def test_looks_are_stored_no_more_often_than_needed(benchmark, make, django_assert_num_queries):
    user = make.user()
    note_visit(user, benchmark)
    with django_assert_num_queries(1):
        note_visit(user, benchmark)
    seen_at = days_ago(1)
    Visit.objects.update(at=seen_at)
    assert note_visit(user, benchmark) == seen_at
    with django_assert_num_queries(1):
        assert note_visit(user, benchmark) == seen_at


def test_the_history_offers_the_last_visit_only_to_those_who_had_one(benchmark, client, make):
    history, compared = (reverse(name, args=[benchmark.key]) for name in ("history", "history_compare"))
    assert "?since=visit" not in client.get(history).content.decode()
    client.force_login(make.user())
    client.get(reverse("board", args=[benchmark.key]))
    assert "?since=visit" not in client.get(history).content.decode()
    Visit.objects.update(at=days_ago(12))
    assert f"{compared}?since=visit" in client.get(history).content.decode()
    assert client.get(compared, {"since": "visit"}).status_code == 200


def test_visits_go_with_the_account(benchmark, make):
    user = make.user()
    note_visit(user, benchmark)
    close_account(user)
    assert not Visit.objects.exists()


def test_the_list_says_how_many_came_and_went_this_week(benchmark, client, make):
    assert recent_changes([benchmark.pk], days_ago(7))[benchmark.pk].text == "1 system joined, 1 system left"
    assert recent_changes([benchmark.pk], days_ago(30))[benchmark.pk].text == "2 systems joined, 1 system left"
    assert "1 system joined, 1 system left this week" in client.get("/").content.decode()
    Benchmark.objects.filter(pk=benchmark.pk).update(score_view="own")
    assert "this week" not in client.get("/").content.decode()


def test_only_revisions_with_a_board_count(benchmark, make):
    make.accepted(benchmark, {"E": [2.0]})  # revision 5 has no board yet
    assert recent_changes([benchmark.pk], days_ago(7))[benchmark.pk].text == "1 system joined, 1 system left"
    with transaction.atomic(), append_only_permit("its scores were taken down"):
        Revision.objects.filter(benchmark=benchmark, number=3).update(withdrawn_at=timezone.now())
    assert recent_changes([benchmark.pk], days_ago(7))[benchmark.pk].text == "1 system left"
