"""What the pages of an organisation ask before, say after, and lead to."""

import pytest
from django.urls import reverse

from leaderboard.accounts.organisations.founding import found_organisation, move_in, take_out
from leaderboard.accounts.organisations.members import (
    change_member,
    find_organisation_invitation,
    invite_to_organisation,
    open_invitations_of,
    revoke_organisation_invitation,
)
from leaderboard.models import Notice, Organisation, OrganisationInvitation
from tests.markup import compact
from tests.signing_in import signed_in

MANAGE, PUBLIC, LEAVE = "/o/lab/manage/", "/o/lab/", "/o/lab/leave/"


@pytest.fixture
def lab(make):
    """An organisation with two owners and a member."""
    ada, bert, cleo = make.user("Ada"), make.user("Bert"), make.user("Cleo")
    organisation = found_organisation(ada, key="lab", name="The 100% Lab")
    organisation.members.create(user=bert, role="owner")
    organisation.members.create(user=cleo, role="member")
    return organisation, ada, bert, cleo


def role_of(organisation, user):
    return organisation.members.filter(user=user).values_list("role", flat=True).first()


def said(response):
    return [str(message) for message in response.context["messages"]]


def test_owners_who_become_members_are_asked_and_led_to_the_page_that_they_still_see(lab):
    organisation, ada, _, _ = lab
    client, form = signed_in(ada), {"action": "change", "user": ada.pk, "role": "member"}
    question = compact(client.post(MANAGE, form))
    assert "Give up your role in The 100% Lab?" in question
    assert "you no longer own its benchmarks" in question
    assert role_of(organisation, ada) == "owner"
    answer = client.post(MANAGE, form | {"is_sure": "1"}, follow=True)
    assert (answer.status_code, answer.redirect_chain) == (200, [(PUBLIC, 302)])
    assert said(answer) == ["You are now a member of The 100% Lab."]
    assert role_of(organisation, ada) == "member"


@pytest.mark.parametrize("path", [MANAGE, LEAVE])
def test_who_leaves_is_asked_first(lab, path):
    organisation, ada, _, _ = lab
    client, form = signed_in(ada), {"action": "remove", "user": ada.pk}
    question = compact(client.post(path, form))
    assert "Leave The 100% Lab?" in question
    assert f'action="{LEAVE}"' in question
    assert role_of(organisation, ada) == "owner"
    answer = client.post(LEAVE, form | {"is_sure": "1"}, follow=True)
    assert (answer.status_code, said(answer)) == (200, ["You left The 100% Lab."])
    assert role_of(organisation, ada) is None


def test_the_only_owner_is_refused_without_a_question(make):
    ada = make.user("Ada")
    found_organisation(ada, key="lab", name="Lab")
    client = signed_in(ada)
    for path, form in ((MANAGE, {"action": "change", "user": ada.pk, "role": "member"}), (LEAVE, {})):
        answer = client.post(path, form, follow=True)
        assert said(answer) == ["An organisation needs at least one owner."]


def test_others_are_changed_and_removed_without_a_question(lab):
    organisation, ada, bert, cleo = lab
    client = signed_in(ada)
    client.post(MANAGE, {"action": "change", "user": bert.pk, "role": "member"})
    client.post(MANAGE, {"action": "remove", "user": cleo.pk})
    assert (role_of(organisation, bert), role_of(organisation, cleo)) == ("member", None)


def test_an_organisation_is_deleted_by_its_key_and_the_others_are_notified(lab):
    _, ada, bert, cleo = lab
    client = signed_in(ada)
    for key in ("", "labs"):
        answer = client.post(MANAGE, {"action": "delete", "key": key}, follow=True)
        assert said(answer) == ["Nothing was deleted: type the key of the organisation, lab."]
        assert Organisation.objects.exists()
    client.post(MANAGE, {"action": "delete", "key": "lab"})
    assert not Organisation.objects.exists()
    text = "Ada deleted the organisation The 100% Lab, of which you were a member."
    notices = Notice.objects.order_by("user").values_list("user", "kind", "text", "path")
    assert list(notices) == [(user.pk, "organisation", text, reverse("organisations")) for user in (bert, cleo)]
    assert text in compact(signed_in(cleo).get(reverse("notices")))


def test_invitations_of_former_owners_are_not_listed_as_open(lab):
    organisation, ada, bert, _ = lab
    secret = invite_to_organisation(organisation, author=bert, role="owner")
    assert "Open invitation" in compact(signed_in(ada).get(MANAGE))
    change_member(organisation, bert, author=ada, role="member")
    assert "Open invitation" not in compact(signed_in(ada).get(MANAGE))
    assert find_organisation_invitation(secret) is None


def test_who_joined_is_led_to_the_organisation_by_the_same_link(make, lab):
    organisation, ada, _, _ = lab
    dora, secret = make.user("Dora"), invite_to_organisation(organisation, author=ada, role="member")
    path, client = reverse("join_organisation", args=[secret]), signed_in(dora)
    assert [client.post(path)["Location"], client.get(path)["Location"], client.post(path)["Location"]] == [PUBLIC] * 3
    assert signed_in(make.user()).get(path).status_code == 404
    change_member(organisation, dora, author=ada, role="")
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("method", ["get", "post"])
def test_members_use_up_no_invitation_that_gives_them_nothing_new(make, lab, method):
    organisation, ada, _, cleo = lab
    for user, role in ((ada, "owner"), (ada, "member"), (cleo, "member")):
        secret = invite_to_organisation(organisation, author=ada, role=role)
        path = reverse("join_organisation", args=[secret])
        answer = getattr(signed_in(user), method)(path, follow=True)
        assert answer.redirect_chain == [(PUBLIC, 302)]
        text = "You are in The 100% Lab already. The link still works: send it to the person it is for."
        assert said(answer) == [text]
        assert find_organisation_invitation(secret) is not None
    invited = invite_to_organisation(organisation, author=ada, role="owner")
    signed_in(cleo).post(reverse("join_organisation", args=[invited]))
    assert role_of(organisation, cleo) == "owner"


def test_a_form_that_is_sent_twice_makes_one_invitation(lab):
    organisation, ada, _, _ = lab
    client = signed_in(ada)
    form = {"action": "invite", "role": "member", "once": client.get(MANAGE).context["once"]}
    links = {client.post(MANAGE, form).context["link"] for _ in range(2)}
    assert (len(links), open_invitations_of(organisation).count()) == (1, 1)
    another = form | {"once": client.get(MANAGE).context["once"]}
    assert client.post(MANAGE, another).context["link"] not in links
    # Once it was revoked, the form opens the same link for no one.
    number = OrganisationInvitation.objects.order_by("pk").values_list("pk", flat=True).first()
    revoke_organisation_invitation(organisation, number, author=ada)
    assert said(client.post(MANAGE, form, follow=True)) == [
        "You sent this form before, and its invitation has ended; send it again."
    ]
    assert open_invitations_of(organisation).count() == 1


def test_changes_name_people_and_benchmarks(make, lab):
    organisation, ada, bert, _ = lab
    open_one, secret_one = make.benchmark(owner=ada, name="Open"), make.benchmark(owner=ada, name="Secret")
    for benchmark in (open_one, secret_one):
        move_in(benchmark, organisation, author=ada)
    take_out(secret_one, author=ada)
    type(secret_one).objects.filter(pk=secret_one.pk).update(visibility="private")
    change_member(organisation, bert, author=ada, role="member")
    invite_to_organisation(organisation, author=ada, role="member")
    change_member(organisation, bert, author=ada, role="owner")
    changes = signed_in(bert).get(MANAGE).context["changes"]
    assert [(line.who, line.what, line.before, line.after) for line in changes] == [
        ("Ada", "role of Bert", "Member", "Owner"),
        ("Ada", "invitation", "", "Member"),
        ("Ada", "role of Bert", "Owner", "Member"),
        ("Ada", f"{secret_one.key}: taken out", "", ""),
        ("Ada", f"{secret_one.key}: given to the organisation", "", ""),
        ("Ada", "Open: given to the organisation", "", ""),
        ("Ada", "name", "", "The 100% Lab"),
    ]


def test_a_taken_key_says_which_and_what_to_do(make, lab):
    answer = signed_in(make.user()).post(reverse("organisations"), {"name": "Mine", "key": "lab"})
    assert (answer.status_code, "The key “lab” is taken; choose another." in compact(answer)) == (400, True)
