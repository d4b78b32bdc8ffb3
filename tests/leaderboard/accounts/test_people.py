"""Roles, invitations and bans."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.people import (
    PeopleError,
    accept_invitation,
    ban,
    change_role,
    find_invitation,
    invite,
    revoke_invitation,
)
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
    with pytest.raises(PeopleError, match="already used"):
        accept_invitation(invitation, make.user())


def test_an_invitation_takes_no_role_away_and_dies_with_its_authors_and_its_time(make):
    benchmark = make.benchmark()
    owner, second = owner_of(benchmark), make.member(benchmark, "owner")
    with pytest.raises(PeopleError, match="already"):
        accept_invitation(find_invitation(invite(benchmark, author=owner, role="member")), second)
    assert benchmark.memberships.get(user=second).role == "owner"
    by_second = find_invitation(invite(benchmark, author=second, role="owner"))
    change_role(benchmark, second, author=owner, role="")
    with pytest.raises(PeopleError):
        accept_invitation(by_second, second)
    late = invite(benchmark, author=owner, role="member")
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert find_invitation(late) is None


def test_a_benchmark_is_handed_over_when_the_new_owner_accepts_and_not_before(make, client):
    benchmark, user = make.benchmark(visibility="private"), make.user()
    owner = owner_of(benchmark)
    client.force_login(owner)
    page = compact(client.post(f"/b/{benchmark.key}/manage/people/", {"action": "hand_over", "name": "Ada"}))
    secret = re.search(r"/join/([\w-]+)/", page)[1]
    assert benchmark.memberships.get(user=owner).role == "owner"
    with pytest.raises(PeopleError, match="send it to the person"):
        accept_invitation(find_invitation(secret), owner)
    client.force_login(user)
    assert "they hand it over to you" in compact(client.get(reverse("join", args=[secret])))
    client.post(reverse("join", args=[secret]))
    roles = dict(benchmark.memberships.values_list("user", "role"))
    assert roles == {user.pk: "owner", owner.pk: "member"}
    entries = benchmark.audit_entries.filter(field="role").order_by("pk")
    assert list(entries.values_list("of", "before", "after")) == [
        (str(user.pk), "", "owner"), (str(owner.pk), "owner", "member"),
    ]  # fmt: skip


def test_handing_over_to_someone_who_owns_it_already_leaves_them_the_owner(make):
    benchmark = make.benchmark()
    owner, second = owner_of(benchmark), make.member(benchmark, "owner")
    accept_invitation(find_invitation(invite(benchmark, author=owner, role="owner", hands_over=True)), second)
    assert dict(benchmark.memberships.values_list("user", "role")) == {second.pk: "owner", owner.pk: "member"}
    with pytest.raises(PeopleError, match="handed over to an owner"):
        invite(benchmark, author=second, role="member", hands_over=True)


def test_an_invitation_greets_by_name_also_before_signing_in_and_its_name_goes_with_its_use(make, client):
    benchmark, user = make.benchmark(visibility="private", name="Hidden bench"), make.user()
    secret = invite(benchmark, author=owner_of(benchmark), role="member", name="Ada <Lovelace>")
    path = reverse("join", args=[secret])
    page = compact(client.get(path))
    assert "Hello Ada &lt;Lovelace&gt;," in page
    assert f"{owner_of(benchmark).shown_name} invites you to the benchmark as a member" in page
    assert f"/account/login/?next={path}" in page
    assert client.post(path)["Location"].endswith(f"?next={path}")
    assert find_invitation(secret) is not None
    assert signed_in(user).post(path)["Location"] == reverse("board", args=[benchmark.key])
    assert Invitation.objects.get().name == ""


def test_an_owner_revokes_an_invitation_and_its_link_no_longer_works(make, client):
    benchmark, other = make.benchmark(), make.benchmark()
    secret = invite(benchmark, author=owner_of(benchmark), role="moderator", name="Bob")
    number = str(Invitation.objects.get().pk)
    path = reverse("manage_people", args=[benchmark.key])
    signed_in(owner_of(other)).post(
        reverse("manage_people", args=[other.key]), {"action": "revoke", "invitation": number}
    )
    assert find_invitation(secret) is not None  # an owner of another benchmark revokes nothing here
    owner = signed_in(owner_of(benchmark))
    assert "Revoke the invitation for Bob" in re.sub(r"<[^>]*>", "", compact(owner.get(path)))
    owner.post(path, {"action": "revoke", "invitation": number})
    assert find_invitation(secret) is None
    assert client.get(reverse("join", args=[secret])).status_code == 404
    answer = owner.post(path, {"action": "revoke", "invitation": number}, follow=True)
    assert "used, revoked or expired already" in compact(answer)
    trail = benchmark.audit_entries.get(field="invitation")
    assert (trail.before, trail.after) == ("moderator", "")


@pytest.mark.parametrize("name", ["x" * 201, "two\nlines", "a\u202eb"])
def test_a_name_that_cannot_be_kept_makes_no_invitation(make, name):
    benchmark = make.benchmark()
    with pytest.raises(PeopleError, match="The name "):
        invite(benchmark, author=owner_of(benchmark), role="member", name=name)
    assert not Invitation.objects.exists()


def test_a_benchmark_keeps_an_owner_and_its_moderators_cannot_be_banned(make):
    benchmark = make.benchmark()
    owner, moderator = owner_of(benchmark), make.member(benchmark, "moderator")
    for role in ("", "member"):
        with pytest.raises(PeopleError, match="at least one owner"):
            change_role(benchmark, owner, author=owner, role=role)
    with pytest.raises(PeopleError, match="cannot be banned"):
        ban(benchmark, moderator, author=owner, reason="x")
    with pytest.raises(PeopleError, match="no such person"):
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


@pytest.mark.parametrize(
    ("role", "n_entries", "answer"),
    [
        ("owner", 0, "Nothing changed: it was so already."),
        ("member", 1, "Changed."),
    ],
)
def test_the_people_page_says_changed_only_of_what_changed(make, role, n_entries, answer):
    benchmark = make.benchmark()
    owner, second = owner_of(benchmark), make.member(benchmark, "owner")
    n_before = benchmark.audit_entries.count()
    client, path = signed_in(owner), reverse("manage_people", args=[benchmark.key])
    client.post(path, {"action": "change", "user": str(second.pk), "role": role})
    assert [str(message) for message in client.get(path).context["messages"]] == [answer]
    assert benchmark.audit_entries.count() - n_before == n_entries


@pytest.mark.parametrize(
    ("visibility", "form", "leads_to", "text"),
    [
        ("private", {"action": "change", "role": "member"}, "board", "You are now a member of {}."),
        ("public", {"action": "change", "role": "moderator"}, "board", "You are now a moderator of {}."),
        ("public", {"action": "remove"}, "board", "You no longer have a role on {}."),
        ("private", {"action": "remove"}, "dashboard", "You no longer have a role on {}."),
    ],
)
def test_owners_who_give_up_their_role_are_asked_and_led_to_what_they_see(make, visibility, form, leads_to, text):
    benchmark = make.benchmark(visibility=visibility)
    second = make.member(benchmark, "owner")
    client, path = signed_in(second), reverse("manage_people", args=[benchmark.key])
    form = form | {"user": str(second.pk)}
    question = compact(client.post(path, form))
    assert (f"{benchmark.name}?</h1>" in question, "nor open it" in question) == (True, leads_to == "dashboard")
    assert benchmark.memberships.get(user=second).role == "owner"
    answer = client.post(path, form | {"is_sure": "1"}, follow=True)
    target = reverse(leads_to, args=[benchmark.key] if leads_to == "board" else [])
    assert (answer.status_code, answer.redirect_chain) == (200, [(target, 302)])
    assert [str(message) for message in answer.context["messages"]] == [text.format(benchmark.name)]


def test_a_link_to_own_a_benchmark_says_what_one_is_now(make):
    benchmark = make.benchmark()
    secret = invite(benchmark, author=owner_of(benchmark), role="owner")
    answer = signed_in(make.user()).post(reverse("join", args=[secret]), follow=True)
    assert f"You are now an owner of {benchmark.name}." in compact(answer)


@pytest.mark.parametrize("action", ["invite", "hand_over"])
def test_a_form_that_is_sent_twice_makes_one_invitation(make, action):
    benchmark = make.benchmark()
    client, path = signed_in(owner_of(benchmark)), reverse("manage_people", args=[benchmark.key])
    form = {"action": action, "role": "member", "name": "Ada ", "once": client.get(path).context["once"]}
    links = {client.post(path, form).context["link"] for _ in range(2)}
    assert (len(links), Invitation.objects.count()) == (1, 1)
    assert client.post(path, form | {"once": client.get(path).context["once"]}).context["link"] not in links
    revoke_invitation(benchmark, Invitation.objects.order_by("pk").first().pk, author=owner_of(benchmark))
    assert "its invitation has ended; send it again" in compact(client.post(path, form, follow=True))
    assert find_invitation(links.pop().rstrip("/").rpartition("/")[2]) is None


def test_the_list_has_no_invitations_of_former_owners(make):
    benchmark = make.benchmark()
    owner, second = owner_of(benchmark), make.member(benchmark, "owner")
    secret = invite(benchmark, author=second, role="member", name="Eve")
    path = reverse("manage_people", args=[benchmark.key])
    assert "Eve" in compact(signed_in(owner).get(path))
    change_role(benchmark, second, author=owner, role="member")
    assert "Eve" not in compact(signed_in(owner).get(path))
    assert signed_in(make.user()).get(reverse("join", args=[secret])).status_code == 404


def test_the_only_owner_who_stays_owner_and_who_is_not_banned_are_told_that_nothing_changed(make):
    benchmark = make.benchmark()
    owner, member = owner_of(benchmark), make.member(benchmark, "member")
    client, path = signed_in(owner), reverse("manage_people", args=[benchmark.key])
    for form in ({"action": "change", "user": str(owner.pk), "role": "owner"}, {"action": "lift", "user": member.pk}):
        client.post(path, form)
        messages = [str(message) for message in client.get(path).context["messages"]]
        assert messages == ["Nothing changed: it was so already."]
    assert not benchmark.audit_entries.filter(subject="person").exists()


@pytest.mark.parametrize("n", [1, 12])
def test_the_people_page_takes_as_many_queries_for_many_people_as_for_one(make, n, django_assert_num_queries):
    benchmark = make.benchmark()
    for number in range(n):
        make.member(benchmark, "member")
        ban(benchmark, make.user(f"Spammer {number}"), author=owner_of(benchmark), reason="Spam.")
    client, address = signed_in(owner_of(benchmark)), reverse("manage_people", args=[benchmark.key])
    with django_assert_num_queries(8):
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
