"""Things that happen to one address of mail at the very same time: sign-ups, links that are followed, both."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.contrib.messages.storage import default_storage
from django.core.cache import cache
from django.db import transaction
from django.http import Http404
from django.test import Client, RequestFactory

from leaderboard.accounts.adapter import AccountAdapter
from leaderboard.accounts.further_addresses import links_replaced
from leaderboard.models import OutboxMessage, User
from tests.concurrency import at_once, before_it_ends
from tests.signing_in import confirm_password, prove_address, signed_in

ADDRESS, PASSWORD = "ada@plurank.example", "a long password"


@pytest.fixture(autouse=True)
def _quick(settings, make_committed, quick_passwords):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


def sign_up():
    return Client().post("/account/signup/", {"email": ADDRESS, "password1": PASSWORD, "password2": PASSWORD})


def link_for(user) -> str:
    """The link of the mail to the address, after the user has added it to their account."""
    cache.clear()  # some minutes later
    client = confirm_password(signed_in(prove_address(user)), user)
    assert client.post("/account/email/", {"action_add": "", "email": ADDRESS}).status_code == 302
    return re.search(r"/account/confirm-email/\S+", OutboxMessage.objects.latest("pk").payload["text"])[0]


def rows() -> list[tuple[int, bool]]:
    """Whose the address is, and whether they confirmed it."""
    return list(EmailAddress.objects.filter(email=ADDRESS).order_by("user").values_list("user", "verified"))


@pytest.mark.parametrize(
    ("verification", "pages"),
    [
        ("mandatory", {"/account/confirm-email/"}),
        ("optional", {"/account/", "/account/login/"}),
        ("none", {"/account/", "/account/login/"}),
    ],
)
def test_a_form_of_sign_up_that_is_sent_four_times_at_once_makes_one_account(settings, verification, pages):
    settings.ACCOUNT_EMAIL_VERIFICATION = verification
    answers = at_once([sign_up] * 4)
    # Whose form is read once the account is there sees it again, without `mandatory`.
    assert {answer.headers.get("Location") for answer in answers if answer.status_code != 200} <= pages
    assert {answer.status_code for answer in answers} <= ({302} if verification == "mandatory" else {200, 302})
    assert [row.email for row in User.objects.all()] == [ADDRESS]
    assert rows() == [(User.objects.get().pk, False)]


def test_of_four_accounts_that_confirm_one_address_at_once_one_has_it(make_committed):
    links = [link_for(make_committed.user()) for _ in range(4)]
    answers = at_once([lambda link=link: Client().post(link) for link in links])
    assert {answer.status_code for answer in answers} <= {302, 403}
    assert sorted(is_verified for _, is_verified in rows()) == [False, False, False, True]


def test_a_link_that_is_followed_twice_at_once_confirms_its_address(make_committed):
    user = make_committed.user()
    link = link_for(user)
    answers = at_once([lambda: Client().post(link)] * 2)
    assert {answer.status_code for answer in answers} <= {302, 404}
    assert rows() == [(user.pk, True)]


def test_a_link_that_is_followed_while_someone_signs_up_by_the_address_gives_it_to_one_of_both(make_committed):
    user = make_committed.user()
    link = link_for(user)
    answers = at_once([lambda: Client().post(link).status_code, lambda: sign_up().status_code])
    owner = User.objects.filter(email=ADDRESS).first()
    if owner is None:
        assert (answers, rows()) == ([302, 302], [(user.pk, True)])
    else:
        assert answers in ([403, 302], [404, 302])
        assert rows() == [(user.pk, False), (owner.pk, False)]


def confirm(row) -> bool:
    """Follow the link, by a request that read the row of the address a moment ago."""
    request = RequestFactory().post("/")
    request.session, request.user = {}, row.user
    request._messages = default_storage(request)
    return AccountAdapter().confirm_email(request, row)


def test_a_row_that_was_removed_in_this_moment_does_not_come_back_confirmed(make_committed):
    user = make_committed.user()
    link_for(user)
    row = EmailAddress.objects.get(email=ADDRESS)
    EmailAddress.objects.filter(pk=row.pk).delete()
    with pytest.raises(Http404):
        confirm(row)
    assert rows() == []


def test_signing_up_waits_for_a_confirmation_that_is_being_written_and_takes_nothing_away(make_committed):
    user = make_committed.user()
    link_for(user)
    row = EmailAddress.objects.get(email=ADDRESS)

    def replace_links():
        with transaction.atomic(), links_replaced([ADDRESS]):
            pass

    assert before_it_ends(lambda: confirm(row), replace_links) == [True, None]
    assert rows() == [(user.pk, True)]
