"""The link that confirms an address, where someone else is signed in or the address belongs to an account already."""

import re

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from tests.signing_in import prove_address, signed_in

BELONGS_TO_ANOTHER = (
    "This link would confirm bob@plurank.example for an account, but the address belongs to another one already. "
    "Nothing was changed. If you asked for the link, remove the address from the other account first, then open the "
    "link again. If you did not, close this page."
)
FOR_ANOTHER = (
    "This link confirms shared@plurank.example for another account than the one you are signed in to, Bob. "
    "Nothing was changed. If the other account is yours, too, sign out, then open the link again. If it is not, close "
    "this page: unless you confirm the address, it does not become theirs."
)
USED = "This link was already used, has expired or is incomplete. Have a new one sent."


@pytest.fixture
def ann(make):
    cache.clear()
    return prove_address(make.user("Ann"))


@pytest.fixture
def bob(make):
    bob = make.user("Bob")
    bob.email = "bob@plurank.example"
    bob.save()
    return prove_address(bob)


def link_for(user, email):
    """The link that confirms an address that an account has added."""
    address = EmailAddress.objects.create(user=user, email=email)
    return reverse("account_confirm_email", args=[EmailConfirmationHMAC(address).key])


def said(answer):
    """The sentences below the title of the page."""
    main = re.search(r"</h1>(.*?)</main>", answer.content.decode(), re.DOTALL)[1]
    return " ".join(re.sub(r"<[^>]+>", "", main).split())


def is_signed_in(client):
    return client.get("/account/").status_code == 200


@pytest.mark.parametrize(
    ("email", "sentences"), [("bob@plurank.example", BELONGS_TO_ANOTHER), ("shared@plurank.example", FOR_ANOTHER)]
)
def test_a_link_that_another_account_asked_for_signs_no_one_out_and_confirms_nothing(ann, bob, email, sentences):
    link, client = link_for(ann, email), signed_in(bob)
    answers = [client.get(link), client.post(link)]
    assert [(answer.status_code, said(answer)) for answer in answers] == [(200, sentences), (403, sentences)]
    assert is_signed_in(client)
    assert not EmailAddress.objects.get(user=ann, email=email).verified


def test_whoever_is_signed_out_reads_that_the_address_belongs_to_another_account(ann, bob):
    assert said(Client().get(link_for(ann, bob.email))) == BELONGS_TO_ANOTHER


@pytest.mark.parametrize("is_signed_in_to_it", [True, False])
def test_a_link_confirms_for_the_account_that_asked_and_for_no_one_twice(ann, is_signed_in_to_it):
    client = signed_in(ann) if is_signed_in_to_it else Client()
    link = link_for(ann, "shared@plurank.example")
    client.get(link)
    client.post(link)
    assert EmailAddress.objects.get(email="shared@plurank.example").verified
    assert is_signed_in(client) is is_signed_in_to_it
    assert said(client.get(link)) == USED
