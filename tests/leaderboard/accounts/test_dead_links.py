"""Links of invitations and drafts that lead nowhere, or no longer."""

import uuid
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.organisations.founding import found_organisation
from leaderboard.accounts.organisations.members import invite_to_organisation
from leaderboard.accounts.people import accept_invitation, change_role, find_invitation, invite, revoke_invitation
from leaderboard.models import Draft, Invitation, OrganisationInvitation
from tests.factories import owner_of
from tests.leaderboard.site.hostile import draft_of
from tests.markup import compact
from tests.signing_in import signed_in

NO_INVITATION = (
    "This link opens no invitation. It may be mistyped, was already used or revoked, or has expired, or the person "
    "who sent it is no longer an owner. Ask an owner for another one."
)
NO_DRAFT = "You have no such draft. Drafts expire after some days."
LATE = timezone.now() - timedelta(days=1)


@pytest.fixture(autouse=True)
def _forget(db):
    cache.clear()


@pytest.fixture
def invited(make):
    """A private benchmark, its owner, a guest, and the secret of the guest's invitation."""
    benchmark = make.benchmark(visibility="private")
    owner = owner_of(benchmark)
    return benchmark, owner, make.user("Guest"), invite(benchmark, author=owner, role="member")


def end(how, invited, make):
    """End the invitation; the secret of the link that is followed then."""
    benchmark, owner, _, secret = invited
    if how == "revoked":
        revoke_invitation(benchmark, Invitation.objects.get().pk, author=owner)
    elif how == "expired":
        Invitation.objects.update(expires_at=LATE)
    elif how == "of a former owner":
        change_role(benchmark, owner, author=make.member(benchmark, "owner"), role="member")
    elif how == "used by another":
        accept_invitation(find_invitation(secret), make.user())
    return "a-secret-that-never-was" if how == "unknown" else secret


@pytest.mark.parametrize("how", ["revoked", "expired", "used by another", "of a former owner", "unknown"])
def test_a_link_that_opens_no_invitation_says_why_that_may_be_and_never_which(make, invited, how):
    path = reverse("join", args=[end(how, invited, make)])
    guest = signed_in(invited[2])
    answers = [guest.get(path), guest.post(path)]
    assert [(answer.status_code, NO_INVITATION in compact(answer)) for answer in answers] == [(404, True)] * 2
    assert invited[0].name not in compact(answers[0])


def test_whoever_accepted_is_led_to_the_benchmark_again_as_long_as_they_have_a_role(make, invited):
    benchmark, owner, guest, secret = invited
    path, client = reverse("join", args=[secret]), signed_in(guest)
    board = reverse("board", args=[benchmark.key])
    assert [client.post(path)["Location"], client.get(path)["Location"], client.post(path)["Location"]] == [board] * 3
    change_role(benchmark, guest, author=owner, role="")
    assert NO_INVITATION in compact(client.get(path))


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize(("role", "hands_over"), [("member", False), ("owner", False), ("owner", True)])
def test_owners_who_open_their_own_link_read_what_to_do_and_use_it_up_for_no_one(make, method, role, hands_over):
    benchmark = make.benchmark()
    owner = owner_of(benchmark)
    secret = invite(benchmark, author=owner, role=role, hands_over=hands_over)
    answer = getattr(signed_in(owner), method)(reverse("join", args=[secret]), follow=True)
    assert answer.redirect_chain == [(reverse("board", args=[benchmark.key]), 302)]
    text = f"You have this role on {benchmark.name} already. The link still works: send it to the person it is for."
    assert text in compact(answer)
    assert find_invitation(secret) is not None


def test_an_expired_invitation_to_an_organisation_says_so(make):
    owner = make.user()
    secret = invite_to_organisation(found_organisation(owner, key="lab", name="Lab"), author=owner, role="member")
    OrganisationInvitation.objects.update(expires_at=LATE)
    answer = signed_in(make.user()).get(reverse("join_organisation", args=[secret]))
    assert (answer.status_code, NO_INVITATION in compact(answer)) == (404, True)


def test_a_draft_that_expired_says_what_one_that_never_was_says(make):
    benchmark = make.published()
    owner = owner_of(benchmark)
    draft = draft_of(make, benchmark, owner)
    Draft.objects.update(expires_at=LATE)
    for number in (draft.uuid, uuid.uuid4()):
        answer = signed_in(owner).get(reverse("draft", args=[number]))
        assert (answer.status_code, NO_DRAFT in compact(answer)) == (404, True)


def test_a_page_that_never_was_says_no_more_than_before(client):
    assert "The URL may be mistyped, or its page may not be open to you" in compact(client.get("/b/none/"))
