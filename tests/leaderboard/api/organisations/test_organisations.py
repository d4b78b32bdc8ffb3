"""Organisations by the API: what their pages show and do, with the same rights, whole or not at all."""

import pytest

from leaderboard.accounts.organisations.founding import MAX_OWNED, found_organisation, move_in
from leaderboard.accounts.organisations.members import find_organisation_invitation, join_organisation
from leaderboard.models import Membership, Organisation, OrganisationInvitation, OrganisationMember
from tests.leaderboard.api.conftest import error_of


@pytest.fixture
def ada(make):
    return make.user("Ada")


@pytest.fixture
def lab(ada):
    return found_organisation(ada, key="lab", name="Lab")


def test_an_organisation_is_founded_described_and_deleted(api, ada):
    theirs = api.as_user(ada)
    body = {"key": "lab", "name": "Lab", "description": "Measures.\n\nA lot.", "url": "https://lab.example/"}
    dry = theirs.post("organisations/", body, query="dry_run=true")
    assert (dry.status_code, dry["Dry-Run"], Organisation.objects.count()) == (200, "true", 0)
    founded = theirs.post("organisations/", body)
    organisation = body | {"created_at": founded.json()["created_at"]}
    assert (founded.status_code, founded.json()) == (201, organisation)
    changed = theirs.patch("organisations/lab/", {"name": "The Lab"}).json()
    assert changed == organisation | {"name": "The Lab"}
    assert theirs.get("organisations/").json() == {
        "count": 1, "next": None, "results": [changed | {"role": "owner"}],
    }  # fmt: skip
    assert theirs.post("organisations/lab/delete/").json() == {"deleted": "lab"}
    assert error_of(theirs.get("organisations/lab/"))["status"] == 404


def test_what_is_wrong_with_a_new_organisation_is_said_with_its_place(api, ada, lab):
    theirs = api.as_user(ada)
    refused = error_of(theirs.post("organisations/", {"key": "lab", "name": "Another"}))
    assert (refused["status"], refused["details"][0]["place"]) == (400, "key")
    for body, place in [
        ({"key": "Not a key", "name": "A"}, "key"),
        ({"key": "a"}, "name"),
        ({"key": "a", "name": "x" * 10_000}, "name"),
        ({"key": "a", "name": "A", "description": "x" * 5001}, "description"),
        ({"key": "a", "name": "A", "url": "javascript:alert(1)"}, "url"),
        ({"key": "a", "name": "A", "owner": 7}, "owner"),
        ({"key": "a", "name": "A\x00"}, "name"),
    ]:
        refused = error_of(theirs.post("organisations/", body))
        assert (refused["status"], [problem["place"] for problem in refused["details"]]) == (400, [place])
    assert list(Organisation.objects.values_list("key", flat=True)) == ["lab"]


def test_no_one_owns_more_organisations_than_the_page_allows(api, ada):
    for number in range(MAX_OWNED):
        found_organisation(ada, key=f"lab-{number}", name="Lab")
    refused = error_of(api.as_user(ada).post("organisations/", {"key": "one-more", "name": "Lab"}))
    assert (refused["status"], refused["message"]) == (409, "One person can own 10 organisations at most.")


def test_everyone_reads_an_organisation_with_the_benchmarks_that_they_may_list(api, make, ada, lab):
    for key, visibility in (("open", "public"), ("secret", "private")):
        move_in(make.benchmark(key=key, name=key.title(), visibility=visibility, owner=ada), lab, author=ada)
    public = [{"key": "open", "name": "Open"}]
    content = api.get("organisations/lab/").json()
    assert (content["name"], content["role"], content["benchmarks"]) == ("Lab", None, public)
    content = api.as_user(ada).get("organisations/lab/").json()
    assert (content["role"], content["benchmarks"]) == ("owner", [*public, {"key": "secret", "name": "Secret"}])
    assert api.get("benchmarks/open/").json()["organisation"] == "lab"
    refused = error_of(api.as_user(ada).post("organisations/lab/delete/"))
    assert (refused["status"], refused["message"]) == (409, "The organisation owns benchmarks; take them out first.")


def test_people_are_invited_given_roles_and_removed(api, make, ada, lab):
    theirs, bert = api.as_user(ada), make.user("Bert")
    assert theirs.post("organisations/lab/invitations/", {"role": "owner"}, query="dry_run=true").json() == {
        "role": "owner", "url": None,
    }  # fmt: skip
    url = theirs.post("organisations/lab/invitations/", {"role": "member"}).json()["url"]
    invitation = find_organisation_invitation(url.rstrip("/").rpartition("/")[2])
    people = theirs.get("organisations/lab/people/").json()
    assert [(one["number"], one["role"], one["author"]) for one in people["invitations"]] == [
        (invitation.pk, "member", "Ada")
    ]
    join_organisation(invitation, bert)
    path = f"organisations/lab/people/{bert.pk}/"
    assert theirs.post(path, {"role": "owner"}).json() == {"user": bert.pk, "role": "owner"}
    people = theirs.get("organisations/lab/people/").json()
    assert people["members"] == [
        {"user": ada.pk, "name": "Ada", "role": "owner"}, {"user": bert.pk, "name": "Bert", "role": "owner"},
    ]  # fmt: skip
    newest = {"who": "Ada", "field": f"role of user {bert.pk}", "before": "member", "after": "owner"}
    assert people["changes"][0] | newest == people["changes"][0]
    assert theirs.post(path, {"role": None}).json() == {"user": bert.pk, "role": None}
    assert error_of(theirs.post(path, {"role": "member"}))["status"] == 404  # only the link brings someone in
    assert error_of(theirs.post(f"organisations/lab/people/{10**30}/", {"role": None}))["status"] == 404


def test_an_invitation_is_revoked_once(api, ada, lab):
    theirs = api.as_user(ada)
    theirs.post("organisations/lab/invitations/", {"role": "member"})
    number = OrganisationInvitation.objects.get().pk
    path = f"organisations/lab/invitations/{number}/revoke/"
    assert theirs.post(path).json() == {"revoked": number}
    assert error_of(theirs.post(path))["status"] == 409
    assert error_of(theirs.post(f"organisations/lab/invitations/{10**30}/revoke/"))["status"] == 409


def test_members_see_each_other_and_can_leave_but_change_no_one(api, make, ada, lab):
    bert = make.user("Bert")
    lab.members.create(user=bert, role="member")
    theirs = api.as_user(bert)
    people = theirs.get("organisations/lab/people/").json()
    assert ([one["name"] for one in people["members"]], people["invitations"], people["changes"]) == (
        ["Ada", "Bert"], [], [],
    )  # fmt: skip
    for user, role in ((ada, None), (bert, "owner")):
        assert error_of(theirs.post(f"organisations/lab/people/{user.pk}/", {"role": role}))["status"] == 403
    assert theirs.post(f"organisations/lab/people/{bert.pk}/", {"role": None}).status_code == 200
    assert not OrganisationMember.objects.filter(user=bert).exists()
    refused = error_of(api.as_user(ada).post(f"organisations/lab/people/{ada.pk}/", {"role": None}))
    assert (refused["status"], refused["message"]) == (409, "An organisation needs at least one owner.")


def test_a_benchmark_moves_in_and_out(api, make, ada, lab):
    benchmark, bert = make.benchmark(key="board", owner=ada), make.user("Bert")
    lab.members.create(user=bert, role="owner")
    path, theirs = "benchmarks/board/organisation/", api.as_user(ada)
    assert theirs.post(path, {"organisation": "lab"}, query="dry_run=true").json() == {
        "benchmark": "board", "organisation": "lab",
    }  # fmt: skip
    assert not Membership.objects.filter(benchmark=benchmark, user=bert).exists()
    theirs.post(path, {"organisation": "lab"})
    assert Membership.objects.get(benchmark=benchmark, user=bert).role == "owner"
    assert error_of(theirs.post(path, {"organisation": "lab"}))["status"] == 409
    assert api.as_user(bert).post(path, {"organisation": None}).json() == {"benchmark": "board", "organisation": None}
    assert list(Membership.objects.filter(benchmark=benchmark).values_list("user", "role")) == [(bert.pk, "owner")]


def test_a_benchmark_moves_only_between_what_one_owns(api, make, ada, lab):
    owner = make.user("Olga")
    make.benchmark(key="board", owner=owner)
    theirs, path = api.as_user(owner), "benchmarks/board/organisation/"
    refused = error_of(theirs.post(path, {"organisation": "lab"}))
    message = "You can give a benchmark that you own to an organisation that you own."
    assert (refused["status"], refused["message"]) == (409, message)
    refused = error_of(theirs.post(path, {"organisation": "no-such"}))
    assert refused["details"] == [{"place": "organisation", "message": "there is no organisation 'no-such'"}]
    assert error_of(theirs.post(path, {"organisation": None}))["status"] == 409
    assert error_of(theirs.post(path, {}))["details"][0]["place"] == "organisation"
    assert error_of(theirs.post(path, {"organisation": "x" * 10_000}))["status"] == 400
