"""Roles on benchmarks through an organisation: who has which, and when they begin and end."""

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.accounts.address_proof import clear_before_proof
from leaderboard.accounts.closing import ClosingError, close_account
from leaderboard.accounts.organisations.founding import (
    MAX_OWNED,
    OrganisationError,
    delete_organisation,
    found_organisation,
    is_owner,
    move_in,
    take_out,
)
from leaderboard.accounts.organisations.members import (
    change_member,
    find_organisation_invitation,
    invite_to_organisation,
    join_organisation,
)
from leaderboard.accounts.people import PeopleError, accept_invitation, change_role, find_invitation, invite
from leaderboard.models import AuditEntry, Benchmark, Membership, Notice, Organisation, OrganisationMember, User
from leaderboard.notifications.webhooks import add_webhook
from tests.factories import owner_of
from tests.signing_in import signed_in


@pytest.fixture
def people(make):
    """An organisation with an owner, a second owner and a member."""
    ada, bert, cleo = make.user("ada"), make.user("bert"), make.user("cleo")
    organisation = found_organisation(ada, key="lab", name="Lab")
    join(organisation, bert, "owner")
    join(organisation, cleo, "member")
    return organisation, ada, bert, cleo


def join(organisation: Organisation, user: User, role: str) -> None:
    owner = organisation.members.filter(role="owner").first().user
    secret = invite_to_organisation(organisation, author=owner, role=role)
    join_organisation(find_organisation_invitation(secret), user)


def roles(benchmark: Benchmark) -> dict[str, tuple[str, bool, str]]:
    """Of each person: the role, whether it comes through the organisation, and the own role behind it."""
    rows = Membership.objects.filter(benchmark=benchmark).select_related("user")
    return {row.user.display_name: (row.role, row.organisation_id is not None, row.own_role) for row in rows}


def test_owners_of_an_organisation_own_its_benchmarks_and_members_read_them(make, people):
    organisation, ada, bert, cleo = people
    benchmark = make.benchmark(owner=ada, visibility="private")
    assert not audience_of(cleo, benchmark).may_read
    move_in(benchmark, organisation, author=ada)
    benchmark.refresh_from_db()
    assert roles(benchmark) == {
        "ada": ("owner", True, ""), "bert": ("owner", True, ""), "cleo": ("member", True, ""),
    }  # fmt: skip
    assert [audience_of(user, benchmark).may_administer for user in (ada, bert, cleo)] == [True, True, False]
    assert audience_of(cleo, benchmark).may_read
    assert not audience_of(make.user(), benchmark).may_read


def test_who_joins_later_has_the_roles_too_and_who_leaves_loses_them(make, people):
    organisation, ada, bert, _ = people
    benchmark = make.benchmark(owner=ada)
    move_in(benchmark, organisation, author=ada)
    join(organisation, make.user("dora"), "member")
    assert roles(benchmark)["dora"] == ("member", True, "")
    change_member(organisation, bert, author=ada, role="member")
    assert roles(benchmark)["bert"] == ("member", True, "")
    change_member(organisation, bert, author=bert, role="")
    assert "bert" not in roles(benchmark)
    entries = AuditEntry.objects.filter(benchmark=benchmark, subject="person", of=str(bert.pk)).order_by("pk")
    assert [(row.before, row.after, row.actor) for row in entries] == [
        ("", "owner", ada), ("owner", "member", ada), ("member", "", bert),
    ]  # fmt: skip


def test_a_role_of_ones_own_stays_beside_the_one_through_the_organisation(make, people):
    organisation, ada, bert, cleo = people
    benchmark = make.benchmark(owner=ada)
    for user in (bert, cleo):
        Membership.objects.create(benchmark=benchmark, user=user, role="moderator")
    move_in(benchmark, organisation, author=ada)
    assert roles(benchmark) == {
        "ada": ("owner", True, ""), "bert": ("owner", True, "moderator"), "cleo": ("moderator", False, ""),
    }  # fmt: skip
    change_member(organisation, bert, author=ada, role="")
    assert roles(benchmark)["bert"] == ("moderator", False, "")
    # The own role ends, and the one through the organisation is there again.
    change_role(benchmark, cleo, author=ada, role="")
    assert roles(benchmark)["cleo"] == ("member", True, "")
    change_member(organisation, cleo, author=ada, role="")
    assert "cleo" not in roles(benchmark)


def test_a_role_through_an_organisation_is_changed_there(make, people):
    organisation, ada, bert, _ = people
    benchmark = make.benchmark(owner=ada)
    move_in(benchmark, organisation, author=ada)
    with pytest.raises(PeopleError, match="has the role through Lab; it is changed there"):
        change_role(benchmark, bert, author=ada, role="member")
    page = signed_in(ada).get(reverse("manage_people", args=[benchmark.key])).content.decode()
    assert 'through <a href="/o/lab/">Lab</a>' in page


def test_an_invitation_to_the_benchmark_gives_a_greater_role_than_the_organisation(make, people):
    organisation, ada, _, cleo = people
    benchmark = make.benchmark(owner=ada)
    move_in(benchmark, organisation, author=ada)
    secret = invite(benchmark, author=ada, role="moderator")
    assert accept_invitation(find_invitation(secret), cleo).role == "moderator"
    assert roles(benchmark)["cleo"] == ("moderator", False, "")


def test_a_benchmark_goes_from_a_person_to_an_organisation_and_back(make, people):
    organisation, ada, bert, _ = people
    benchmark = make.benchmark(owner=ada)
    move_in(benchmark, organisation, author=ada)
    benchmark.refresh_from_db()
    assert benchmark.organisation == organisation
    with pytest.raises(OrganisationError, match="has an organisation"):
        move_in(make_own(benchmark, ada), organisation, author=ada)
    page = " ".join(signed_in(bert).get(reverse("manage_organisation", args=["lab"])).content.decode().split())
    assert "Its owners are then: you and ada." in page
    take_out(benchmark, author=bert)
    notices = Notice.objects.filter(kind="organisation").values_list("user__display_name", "text", "path")
    text = f"bert took {benchmark.name} out of Lab, which no longer owns it; roles through it ended."
    assert list(notices) == [("ada", text, "/o/lab/manage/")]
    benchmark.refresh_from_db()
    assert benchmark.organisation is None
    assert roles(benchmark) == {"bert": ("owner", False, ""), "ada": ("owner", False, "")}
    moved = AuditEntry.objects.filter(benchmark=benchmark, field="organisation").order_by("pk")
    assert [(row.before, row.after, row.actor) for row in moved] == [("", "lab", ada), ("lab", "", bert)]


def make_own(benchmark: Benchmark, user: User) -> Benchmark:
    """The benchmark, which the user owns by a role of their own."""
    Membership.objects.filter(benchmark=benchmark, user=user).update(organisation=None)
    return benchmark


def test_handing_a_benchmark_over_takes_it_out_of_its_organisation(make, people):
    organisation, ada, _, _ = people
    benchmark, other = make.benchmark(owner=ada), make.user("other")
    move_in(benchmark, organisation, author=ada)
    benchmark.refresh_from_db()
    secret = invite(benchmark, author=ada, role="owner", hands_over=True)
    accept_invitation(find_invitation(secret), other)
    benchmark.refresh_from_db()
    assert benchmark.organisation is None
    assert roles(benchmark) == {"ada": ("member", False, ""), "other": ("owner", False, "")}


@pytest.mark.parametrize("who", ["member", "stranger", "owner of the benchmark alone"])
def test_only_who_owns_both_moves_a_benchmark(make, people, who):
    organisation, ada, _, cleo = people
    user = cleo if who == "member" else make.user()
    benchmark = make.benchmark(owner=user if "alone" in who else ada)
    with pytest.raises(OrganisationError):
        move_in(benchmark, organisation, author=user)
    if "alone" not in who:
        move_in(benchmark, organisation, author=ada)
        with pytest.raises(OrganisationError):
            take_out(benchmark, author=user)


def test_an_organisation_keeps_an_owner_and_is_deleted_without_benchmarks_alone(make, people):
    organisation, ada, bert, _ = people
    benchmark = make.benchmark(owner=ada)
    move_in(benchmark, organisation, author=ada)
    change_member(organisation, bert, author=ada, role="")
    for role in ("", "member"):
        with pytest.raises(OrganisationError, match="at least one owner"):
            change_member(organisation, ada, author=ada, role=role)
    with pytest.raises(OrganisationError, match="take them out first"):
        delete_organisation(organisation, author=ada)
    take_out(benchmark, author=ada)
    delete_organisation(organisation, author=ada)
    assert not Organisation.objects.exists()
    assert roles(benchmark) == {"ada": ("owner", False, "")}


def test_who_closes_the_account_leaves_and_the_last_owner_stays(make, people):
    organisation, ada, bert, _ = people
    benchmark = make.benchmark(owner=ada)
    move_in(benchmark, organisation, author=ada)
    close_account(bert)
    assert "former member" not in roles(benchmark)
    assert not OrganisationMember.objects.filter(user=bert).exists()
    make.member(benchmark, "owner")
    with pytest.raises(ClosingError, match="only owner of the organisation Lab"):
        close_account(ada)


def test_roles_from_before_the_address_was_proven_end(make, people):
    organisation, ada, _, cleo = people
    benchmark = make.benchmark(owner=ada)
    move_in(benchmark, organisation, author=ada)
    clear_before_proof(cleo)
    assert "cleo" not in roles(benchmark)
    assert not OrganisationMember.objects.filter(user=cleo).exists()


def test_webhooks_end_with_the_role_through_the_organisation(make, people, settings):
    settings.WEBHOOKS_INSIDE = True
    organisation, ada, bert, _ = people
    benchmark = make.benchmark(owner=ada)
    move_in(benchmark, organisation, author=ada)
    webhook, _ = add_webhook(benchmark, author=bert, address="http://127.0.0.1:1/", events=["revision"])
    change_member(organisation, bert, author=ada, role="member")
    webhook.refresh_from_db()
    assert not webhook.is_active


def test_a_link_works_once_and_while_its_author_owns_the_organisation(make, people):
    organisation, ada, bert, _ = people
    secret, other = (invite_to_organisation(organisation, author=bert, role="member") for _ in range(2))
    invitation = find_organisation_invitation(secret)
    join_organisation(invitation, make.user("dora"))
    with pytest.raises(OrganisationError, match="already used"):
        join_organisation(invitation, make.user())
    change_member(organisation, bert, author=ada, role="member")
    assert find_organisation_invitation(other) is None


def test_a_person_owns_some_organisations_and_no_more(make):
    user = make.user()
    for number in range(MAX_OWNED):
        found_organisation(user, key=f"lab-{number}", name="Lab")
    with pytest.raises(OrganisationError, match="One person can own 10 organisations"):
        found_organisation(user, key="another", name="Lab")


def test_the_page_lists_what_its_reader_may_know_of(make, people):
    organisation, ada, _, cleo = people
    for visibility in ("public", "unlisted", "private"):
        move_in(make.benchmark(owner=ada, visibility=visibility, name=f"A {visibility} one"), organisation, author=ada)
    path = reverse("organisation", args=["lab"])

    def seen(client):
        page = client.get(path).content.decode()
        return [v for v in ("public", "unlisted", "private") if f"A {v} one" in page], "cleo" in page

    assert seen(Client()) == seen(signed_in(make.user())) == (["public"], False)
    assert seen(signed_in(cleo)) == (["public", "unlisted", "private"], True)


def test_the_board_names_the_organisation(make, people):
    organisation, ada, _, _ = people
    benchmark = make.published(owner=ada)
    assert "/o/lab/" not in Client().get(reverse("board", args=[benchmark.key])).content.decode()
    move_in(benchmark, organisation, author=ada)
    assert 'href="/o/lab/">Lab</a>' in Client().get(reverse("board", args=[benchmark.key])).content.decode()


def test_an_owner_does_everything_on_the_page(make):
    owner, other = make.user("owner"), make.user("other")
    client, benchmark = signed_in(owner), make.benchmark(owner=owner)
    assert client.post(reverse("organisations"), {"name": "Lab", "key": "Not a key"}).status_code == 400
    client.post(reverse("organisations"), {"name": "Lab", "key": "lab"})
    assert client.post(reverse("organisations"), {"name": "Lab", "key": "lab"}).status_code == 400
    path = reverse("manage_organisation", args=["lab"])
    client.post(path, {"action": "describe", "name": "The Lab", "url": "https://lab.example/"})
    link = client.post(path, {"action": "invite", "role": "member"}).context["link"]
    joining = signed_in(other)
    assert "The Lab" in joining.get(link).content.decode()
    joining.post(link)
    client.post(path, {"action": "change", "user": other.pk, "role": "owner"})
    client.post(path, {"action": "move_in", "benchmark": benchmark.key})
    assert roles(benchmark) == {"owner": ("owner", True, ""), "other": ("owner", True, "")}
    client.post(path, {"action": "remove", "user": other.pk})
    client.post(path, {"action": "take_out", "benchmark": benchmark.key})
    assert roles(benchmark) == {"owner": ("owner", False, "")}
    changes = [(change.field, change.before, change.after) for change in Organisation.objects.get().changes.all()]
    assert changes[::-1] == [
        ("name", "", "Lab"),
        ("name", "Lab", "The Lab"),
        ("url", "", "https://lab.example/"),
        ("invitation", "", "member"),
        (f"role of user {other.pk}", "", "member"),
        (f"role of user {other.pk}", "member", "owner"),
        (f"benchmark {benchmark.key}", "", "owned"),
        (f"role of user {other.pk}", "owner", ""),
        (f"benchmark {benchmark.key}", "owned", ""),
    ]
    client.post(path, {"action": "delete", "key": "lab"})
    assert not Organisation.objects.exists()
    assert owner_of(benchmark) == owner


def test_no_one_comes_to_own_more_organisations_by_a_link_or_by_another_role(make, people):
    organisation, ada, _, cleo = people
    for number in range(MAX_OWNED):
        found_organisation(cleo, key=f"lab-{number}", name="Lab")
    refused = f"One person can own {MAX_OWNED} organisations at most."
    with pytest.raises(OrganisationError, match=refused):
        change_member(organisation, cleo, author=ada, role="owner")
    change_member(organisation, cleo, author=ada, role="")
    with pytest.raises(OrganisationError, match=refused):
        join(organisation, cleo, "owner")
    join(organisation, cleo, "member")
    assert not is_owner(organisation, cleo)
