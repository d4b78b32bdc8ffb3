"""Roles, invitations and bans."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.people import PeopleError, accept_invitation, ban, change_role, find_invitation, invite
from leaderboard.models import Invitation, Membership
from tests.factories import owner_of
from tests.markup import compact
from tests.signing_in import signed_in

# --- People ---------------------------------------------------------------------------------------------------------


def test_an_invitation_gives_its_role_once(make):
    benchmark, user = make.benchmark(visibility="private"), make.user()
    secret = invite(benchmark, author=owner_of(benchmark), role="moderator")
    assert secret not in Invitation.objects.values_list("secret_hash", flat=True)
    invitation = find_invitation(secret)
    assert accept_invitation(invitation, user).role == "moderator"
    assert find_invitation(secret) is None
    with pytest.raises(PeopleError, match="used already"):
        accept_invitation(invitation, make.user())


def test_an_invitation_takes_no_role_away_and_dies_with_its_authors_and_its_time(make):
    benchmark = make.benchmark()
    owner, second = owner_of(benchmark), make.member(benchmark, "owner")
    accept_invitation(find_invitation(invite(benchmark, author=owner, role="member")), second)
    assert benchmark.memberships.get(user=second).role == "owner"
    by_second = find_invitation(invite(benchmark, author=second, role="owner"))
    change_role(benchmark, second, author=owner, role="")
    with pytest.raises(PeopleError):
        accept_invitation(by_second, second)
    late = invite(benchmark, author=owner, role="member")
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert find_invitation(late) is None


def test_a_benchmark_keeps_an_owner_and_its_moderators_cannot_be_banned(make):
    benchmark = make.benchmark()
    owner, moderator = owner_of(benchmark), make.member(benchmark, "moderator")
    for role in ("", "member"):
        with pytest.raises(PeopleError, match="at least one owner"):
            change_role(benchmark, owner, author=owner, role=role)
    with pytest.raises(PeopleError, match="cannot be banned"):
        ban(benchmark, moderator, author=owner, reason="x")
    with pytest.raises(PeopleError, match="Nobody"):
        change_role(benchmark, make.user(), author=owner, role="owner")
    change_role(benchmark, moderator, author=owner, role="owner")
    change_role(benchmark, owner, author=moderator, role="")
    assert Membership.objects.get(benchmark=benchmark).user == moderator


def test_the_people_page_tells_nothing_of_who_has_an_account(make):
    """There is no field for an e-mail address, and numbers of strangers change nothing."""
    benchmark, stranger = make.benchmark(), make.user()
    client, path = signed_in(owner_of(benchmark)), reverse("manage_people", args=[benchmark.key])
    answers = []
    for number in (str(stranger.pk), "999999", "x"):
        client.post(path, {"action": "change", "user": number, "role": "owner"})
        answers.append([str(message) for message in client.get(path).context["messages"]])
    assert answers[1] == answers[2]
    assert Membership.objects.filter(benchmark=benchmark).count() == 1


@pytest.mark.parametrize("n", [1, 12])
def test_the_people_page_takes_as_many_queries_for_many_people_as_for_one(make, n, django_assert_num_queries):
    benchmark = make.benchmark()
    for number in range(n):
        make.member(benchmark, "member")
        ban(benchmark, make.user(f"Spammer {number}"), author=owner_of(benchmark), reason="Spam.")
    client, address = signed_in(owner_of(benchmark)), reverse("manage_people", args=[benchmark.key])
    with django_assert_num_queries(9):
        text = compact(client.get(address))
    assert (text.count('name="role"'), text.count('value="lift"')) == (n + 2, n)  # the owner, and the invitation


def test_people_have_pages_owners_first(make, monkeypatch):
    monkeypatch.setattr("leaderboard.accounts.views_people.PAGE_PEOPLE", 2)
    benchmark = make.benchmark()
    owner = owner_of(benchmark)
    for role in ("member", "moderator", "member"):
        make.member(benchmark, role)
    client, address = signed_in(owner), reverse("manage_people", args=[benchmark.key])
    pages = [compact(client.get(f"{address}?page={number}")) for number in (1, 2)]
    rows = [re.findall(r'<th scope="row">(\w+)</th><td>(\w+)</td>', page) for page in pages]
    assert rows == [[("owner", "Owner"), ("moderator", "Moderator")], [("member", "Member"), ("member", "Member")]]
