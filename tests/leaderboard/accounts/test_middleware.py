"""The account of a session comes with its unread notices; a session that ended opens nothing at the next request."""

from datetime import timedelta

import pytest
from django.conf import settings as site
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.contrib.sessions.models import Session
from django.test import RequestFactory
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.middleware import AccountMiddleware
from leaderboard.accounts.session_store import SessionStore
from leaderboard.accounts.sessions import end_all_sessions
from leaderboard.models import Notice, User
from leaderboard.notifications.queries import count_unread
from tests.signing_in import signed_in


def change_password(user: User) -> None:
    user.set_password("Another long password")
    user.save()


def close_for_now(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def delete_account(user: User) -> None:
    User.objects.filter(pk=user.pk).delete()


def delete_sessions(_: User) -> None:
    Session.objects.all().delete()


@pytest.mark.parametrize("ending", [change_password, close_for_now, delete_account, delete_sessions, end_all_sessions])
def test_a_session_opens_nothing_at_the_first_request_after_its_end(make, ending):
    user = make.user()
    client = signed_in(user)
    assert client.get(reverse("notices")).status_code == 200
    ending(user)
    assert client.get(reverse("notices")).status_code == 302


@pytest.mark.parametrize(("fallbacks", "status"), [(["test key of yesterday"], 200), ([], 302)])
def test_a_session_of_an_older_key_goes_on_while_the_site_knows_that_key(make, settings, fallbacks, status):
    newer, settings.SECRET_KEY = settings.SECRET_KEY, "test key of yesterday"
    client = signed_in(make.user())
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = newer, fallbacks
    assert client.get(reverse("notices")).status_code == status


def test_the_account_comes_with_the_number_of_notices_that_it_may_see_and_did_not_read(make, django_assert_num_queries):
    user, other = make.user(), make.user()
    closed, own = make.benchmark(visibility="private"), make.benchmark(visibility="private", owner=user)
    for number, (reader, benchmark) in enumerate([(user, None), (user, own), (user, closed), (other, None)]):
        Notice.objects.create(user=reader, benchmark=benchmark, kind="token", key=str(number), text="A text", path="/")
    request = RequestFactory().get("/")
    request.session = signed_in(user).session
    AccountMiddleware(lambda _: None).process_request(request)
    with django_assert_num_queries(2):  # the session and the account
        assert (request.user, request.user.n_unread_notices) == (user, 2)
    assert count_unread(user) == 2
    assert count_unread(other) == 1


def test_a_session_whose_time_is_over_opens_nothing_and_neither_does_one_of_another_key(make):
    client = signed_in(make.user())
    key = client.session.session_key
    assert client.get(reverse("notices")).status_code == 200
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert client.get(reverse("notices")).status_code == 302
    Session.objects.update(expire_date=timezone.now() + timedelta(hours=1))
    for other, status in [(key, 200), ("?", 302), ("%s", 302), ("x" * 32, 302)]:
        client.cookies[site.SESSION_COOKIE_NAME] = other
        assert client.get(reverse("notices")).status_code == status


def test_a_session_that_django_stored_is_read_and_the_other_way_round(make):
    user = make.user()
    theirs = DatabaseSessions(signed_in(user).session.session_key)
    assert theirs["_auth_user_id"] == str(user.pk)
    theirs["seen"] = 1
    theirs.save()
    assert SessionStore(theirs.session_key)["seen"] == 1
