"""An address that someone added to their account, and never confirmed, is nobody's: its owner signs up with it."""

import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress, EmailConfirmation
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.further_addresses import UNCONFIRMED_DAYS
from leaderboard.models import OutboxMessage, User
from leaderboard.operations.retention import remove_all_old, retain
from tests.markup import compact
from tests.signing_in import confirm_password, prove_address, signed_in

PASSWORD, ANOTHER = "a long password", "another long one"
VICTIM, EMAILS, SIGN_UP = "victim@plurank.example", "/account/email/", "/account/signup/"
CONFIRM, RESET = r"/account/confirm-email/\S+", r"/account/password/reset/key/\S+"
DEAD = "This link was already used, has expired or is incomplete"


@pytest.fixture(autouse=True)
def _quick(settings, db, quick_passwords):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


@pytest.fixture
def mallory(make):
    user = prove_address(make.user("Mallory"))
    user.set_password(PASSWORD)
    user.save()
    return user


def add(user, email=VICTIM) -> Client:
    client = confirm_password(signed_in(user), user)
    assert client.post(EMAILS, {"action_add": "", "email": email}).status_code == 302
    return client


def sign_up(email=VICTIM):
    return Client().post(SIGN_UP, {"email": email, "password1": ANOTHER, "password2": ANOTHER})


def mails(to=VICTIM) -> list[str]:
    """The texts of the mails to an address, oldest first."""
    return [row.payload["text"] for row in OutboxMessage.objects.filter(payload__to=to).order_by("pk")]


def link(text, kind=CONFIRM) -> str:
    return re.search(kind, text)[0]


def addresses(user) -> list[tuple[str, bool]]:
    return list(EmailAddress.objects.filter(user=user).order_by("email").values_list("email", "verified"))


def may_sign_in(email, password) -> bool:
    return "_auth_user_id" in sign_in(email, password).session


def sign_in(email, password) -> Client:
    client = Client()
    client.post("/account/login/", {"login": email, "password": password})
    return client


def test_the_owner_of_an_address_that_someone_added_signs_up_with_it_at_once(mallory):
    add(mallory)
    before = addresses(mallory)
    assert sign_up()["Location"] == "/account/confirm-email/"
    theirs, own = mails()
    assert "Mallory asked on" in theirs
    assert "An account on" in own
    assert link(own) != link(theirs)
    Client().post(link(own))
    owner = User.objects.get(email=VICTIM)
    assert (addresses(owner), addresses(mallory)) == ([(VICTIM, True)], before)
    assert may_sign_in(VICTIM, ANOTHER)


def test_signing_up_ends_the_link_of_whoever_added_the_address_before(mallory):
    add(mallory)
    sign_up()
    theirs = link(mails()[0])
    assert DEAD in compact(Client().get(theirs))
    assert Client().post(theirs).status_code == 404
    assert not EmailAddress.objects.filter(email=VICTIM, verified=True).exists()


def test_a_link_that_is_sent_later_takes_the_address_from_no_one_who_signs_in_by_it(mallory):
    sign_up()
    add(mallory)
    theirs = link(mails()[1])
    page = compact(Client().get(theirs))
    assert f"confirms <strong>{VICTIM}</strong> for the account of Mallory, but another account signs in" in page
    assert "Yes, confirm it" not in page
    assert Client().post(theirs).status_code == 403
    assert not EmailAddress.objects.filter(email=VICTIM, verified=True).exists()
    Client().post(link(mails()[0]))
    assert addresses(User.objects.get(email=VICTIM)) == [(VICTIM, True)]
    assert "belongs to another one already" in compact(Client().get(theirs))


def test_who_reads_the_mail_of_an_address_takes_it_from_an_unproven_account_where_they_are_signed_in(mallory):
    sign_up()  # someone else did, with an address that is not theirs
    client = add(mallory)
    client.post(link(mails()[1]))
    assert (VICTIM, True) in addresses(mallory)


def test_the_mails_to_the_owner_never_contradict_each_other(mallory):
    add(mallory)
    Client().post("/account/password/reset/", {"email": VICTIM})
    assert "There is no such account, or the address was never confirmed for it" in mails()[-1]
    assert "you can make one" in mails()[-1]
    sign_up()
    assert "An account on" in mails()[-1]
    cache.clear()  # some minutes later
    sign_up()
    assert "There is one already" in mails()[-1]
    Client().post("/account/password/reset/", {"email": VICTIM})
    client = Client()
    client.post(client.get(link(mails()[-1], RESET))["Location"], {"password1": PASSWORD, "password2": PASSWORD})
    assert may_sign_in(VICTIM, PASSWORD)
    assert addresses(User.objects.get(email=VICTIM)) == [(VICTIM, True)]


def test_no_list_of_addresses_tells_who_has_an_account(mallory, make):
    known = prove_address(make.user())
    pages = []

    def seen(client, email):
        return re.sub(r'"csrfmiddlewaretoken" value="\w+"', "", compact(client.get(EMAILS))).replace(email, "*")

    for email in (known.email, VICTIM):
        client = add(mallory, email)
        pages.append([seen(client, email)])
        sign_up(email)
        pages[-1].append(seen(client, email))
        cache.clear()
        client.post(EMAILS, {"action_send": "", "email": email})
        pages[-1].append(seen(client, email))
        EmailAddress.objects.filter(user=mallory, email=email).delete()
    assert pages[0] == pages[1]


def test_mails_for_whoever_added_an_address_leave_the_turn_of_its_owner(mallory):
    client = add(mallory)
    sign_up()
    client.post(EMAILS, {"action_send": "", "email": VICTIM})  # again within three minutes
    assert [("Mallory" in text, "An account on" in text) for text in mails()] == [(True, False), (False, True)]


def test_no_one_signs_in_by_an_address_that_they_only_added(mallory):
    add(mallory)
    cache.clear()
    assert not may_sign_in(VICTIM, PASSWORD)
    assert len(mails()) == 1  # nor is its owner mailed because of it
    EmailAddress.objects.filter(email=VICTIM).update(verified=True)
    assert may_sign_in(VICTIM, PASSWORD)


def test_two_accounts_may_wait_for_one_address_and_the_first_who_confirms_has_it(mallory, make):
    other = prove_address(make.user())
    add(mallory)
    cache.clear()
    add(other)
    first, second = map(link, mails())
    Client().post(second)
    assert (VICTIM, True) in addresses(other)
    assert "belongs to another one already" in compact(Client().get(first))
    assert (VICTIM, False) in addresses(mallory)


def test_an_address_that_waits_goes_after_some_days_and_one_that_an_account_signs_in_by_stays(mallory):
    sign_up("new@plurank.example")
    add(mallory)
    own = [(mallory.email, True)]
    assert retain()["unconfirmed addresses"] == 0
    began = EmailConfirmation.objects.get().created
    for days, left in [(-1, [*own, (VICTIM, False)]), (1, own)]:
        at = timezone.now() - timedelta(days=UNCONFIRMED_DAYS + days)
        EmailConfirmation.objects.update(created=at)
        assert remove_all_old().get("unconfirmed addresses", 0) == (days > 0)
        assert addresses(mallory) == sorted(left)
    assert timezone.now() - began < timedelta(minutes=5)
    assert addresses(User.objects.get(email="new@plurank.example")) == [("new@plurank.example", False)]


def test_a_confirmed_address_stays_however_long_ago_that_was(mallory):
    add(mallory)
    retain()
    Client().post(link(mails()[0]))
    EmailConfirmation.objects.update(created=timezone.now() - timedelta(days=400))
    assert "unconfirmed addresses" not in remove_all_old()
    assert addresses(mallory) == sorted([(mallory.email, True), (VICTIM, True)])


def test_the_key_beside_the_date_of_an_address_confirms_nothing(mallory):
    add(mallory)
    retain()
    answer = Client().post(f"/account/confirm-email/{EmailConfirmation.objects.get().key}/")
    assert (answer.status_code, (VICTIM, False) in addresses(mallory)) == (404, True)


def test_the_page_says_how_long_an_address_waits(mallory):
    page = compact(signed_in(mallory).get(EMAILS))
    assert "An email address that is not confirmed within 7 days is removed." in page


def test_who_removes_an_address_and_adds_it_again_at_once_reads_why_there_is_no_mail(mallory):
    client = add(mallory)
    client.post(EMAILS, {"action_remove": "", "email": VICTIM})
    steps = [{"action_add": "", "email": VICTIM}, {"action_send": "", "email": VICTIM}]
    pages = [compact(client.post(EMAILS, step, follow=True)) for step in steps]
    assert [f"the last one to {VICTIM} went out less than three minutes ago" in page for page in pages] == [True, True]
    assert len(mails()) == 1


def test_the_link_says_for_whose_account_it_confirms_an_address(mallory):
    add(mallory)
    assert "Confirm it only if the account of Mallory is yours" in compact(Client().get(link(mails()[0])))
    Client().post(SIGN_UP, {"email": "ada@plurank.example", "password1": ANOTHER, "password2": ANOTHER})
    page = compact(Client().get(link(mails("ada@plurank.example")[0])))
    assert "Confirm it only if you created the account yourself" in page
    assert "is yours: this address" not in page
