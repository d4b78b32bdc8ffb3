"""Ways to take over an account: making it before its owner comes, and a session that was left open or stolen."""

import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.organisations.founding import found_organisation
from leaderboard.accounts.organisations.members import find_organisation_invitation, invite_to_organisation
from leaderboard.accounts.people import invite
from leaderboard.accounts.tokens import create_token
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.teams import (
    accept_team_invitation,
    find_team_invitation,
    found_team,
    invite_by_link,
    members_of,
)
from leaderboard.models import (
    ApiToken,
    Invitation,
    Membership,
    OrganisationMember,
    OutboxMessage,
    PredictionSubmission,
    User,
)
from leaderboard.models.submissions import Source
from tests.signing_in import confirm_password, prove_address, signed_in

PASSWORD, ANOTHER = "a long password", "another long one"
VICTIM, ATTACKER = "victim@plurank.example", "attacker@plurank.example"
EMAILS, TOKENS = "/account/email/", "/account/tokens/"


@pytest.fixture(autouse=True)
def _quick(settings, db, quick_passwords):
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"


@pytest.fixture
def user(make):
    user = prove_address(make.user())
    user.set_password(PASSWORD)
    user.save()
    return user


def sign_up(email=VICTIM):
    client = Client()
    client.post("/account/signup/", {"email": email, "password1": PASSWORD, "password2": PASSWORD})
    return client


def link_in_mail(to, part):
    """The path of the newest link of this kind that was mailed to an address."""
    mails = OutboxMessage.objects.filter(payload__to=to).order_by("-pk")
    texts = [row.payload.get("text", "") for row in mails]
    matches = (re.search(rf"https?://[^/\s]+(/\S*{part}\S*)", text) for text in texts)
    return next((match[1] for match in matches if match), None)


def reset(email, password=ANOTHER):
    """Ask for a new password by mail and set it; whether there was such a mail."""
    Client().post("/account/password/reset/", {"email": email})
    link = link_in_mail(email, "/password/reset/key/")
    if link is None:
        return False
    client = Client()
    page = client.get(link)
    client.post(page["Location"], {"password1": password, "password2": password})
    return True


def may_sign_in(email, password):
    return Client().post("/account/login/", {"login": email, "password": password}).status_code == 302


def is_signed_in(client):
    return client.get(TOKENS).status_code == 200


def test_whoever_signs_up_with_somebody_elses_address_cannot_add_their_own_to_come_back_by(make):
    attacker = sign_up()
    account = User.objects.get(email=VICTIM)
    confirm_password(attacker, account)
    attacker.post(EMAILS, {"action_add": "", "email": ATTACKER})
    assert not EmailAddress.objects.filter(email=ATTACKER).exists()
    assert "Confirm victim@plurank.example first" in attacker.get(EMAILS).content.decode()
    if link := link_in_mail(ATTACKER, "/confirm-email/"):
        Client().post(link)
    assert reset(VICTIM)
    assert may_sign_in(VICTIM, ANOTHER)
    reset(ATTACKER, "a third long one")
    assert not may_sign_in(VICTIM, "a third long one")
    assert not is_signed_in(attacker)


def old_account(make):
    """An account as it could be made before: unproven, and with every way back in that there was."""
    attacker = sign_up()
    account = User.objects.get(email=VICTIM)
    EmailAddress.objects.create(user=account, email=ATTACKER, verified=True)
    Authenticator.objects.create(user=account, type="totp", data={"secret": "x"})
    SocialAccount.objects.create(user=account, provider="github", uid="1")
    create_token(account, name="for later", scopes=["manage"], days=365)
    own, theirs = make.benchmark(owner=account), make.benchmark()
    invite(own, author=account, role="owner")
    Membership.objects.create(benchmark=theirs, user=account, role="moderator")
    return attacker, account, own, theirs


def ways_in(account):
    """What opens the account, or something in its name."""
    return {
        "addresses": set(EmailAddress.objects.filter(user=account).values_list("email", flat=True)),
        "second factors": Authenticator.objects.filter(user=account).count(),
        "accounts elsewhere": SocialAccount.objects.filter(user=account).count(),
        "tokens": ApiToken.objects.filter(user=account).count(),
        "invitations": Invitation.objects.filter(author=account).count(),
        "roles": set(Membership.objects.filter(user=account).values_list("benchmark__name", "role")),
    }


def only_the_owner(own):
    nothing = dict.fromkeys(["second factors", "accounts elsewhere", "tokens", "invitations"], 0)
    return {"addresses": {VICTIM}, "roles": {(own.name, "owner")}} | nothing


def test_the_first_answer_to_a_mail_ends_every_way_in_that_was_made_before(make):
    attacker, account, own, theirs = old_account(make)
    Client().post(link_in_mail(VICTIM, "/confirm-email/"))
    assert ways_in(account) == only_the_owner(own)
    assert not is_signed_in(attacker)
    assert not may_sign_in(VICTIM, PASSWORD)  # nor by the password, which somebody has used
    entry = theirs.audit_entries.get(subject="person")
    assert (entry.field, entry.before, entry.after) == ("role", "moderator", "")
    assert reset(VICTIM)
    assert may_sign_in(VICTIM, ANOTHER)


def test_a_password_set_by_mail_is_such_an_answer_too(make):
    attacker, account, own, _ = old_account(make)
    assert reset(VICTIM)
    assert ways_in(account) == only_the_owner(own)
    assert not is_signed_in(attacker)
    assert (may_sign_in(VICTIM, PASSWORD), may_sign_in(VICTIM, ANOTHER)) == (False, True)


def test_whoever_comes_back_by_their_own_address_first_loses_it_and_proves_nothing(make):
    _, account, _, _ = old_account(make)
    assert reset(ATTACKER, "a third long one")
    assert not reset(ATTACKER)  # no second time
    assert not EmailAddress.objects.filter(user=account, verified=True).exists()
    assert reset(VICTIM)
    assert (may_sign_in(VICTIM, "a third long one"), may_sign_in(VICTIM, ANOTHER)) == (False, True)


def test_the_page_that_confirms_says_what_confirming_means_and_offers_the_way_out(make):
    sign_up()
    page = Client().get(link_in_mail(VICTIM, "/confirm-email/")).content.decode()
    assert "otherwise someone else knows its password" in page
    assert 'href="/account/password/reset/"' in page


def test_who_confirms_where_they_signed_up_keeps_everything(make):
    client = sign_up()
    account = User.objects.get(email=VICTIM)
    create_token(account, name="mine", scopes=["read"], days=30)
    client.post(link_in_mail(VICTIM, "/confirm-email/"))
    assert EmailAddress.objects.get(user=account).verified
    assert is_signed_in(client)
    assert (ApiToken.objects.count(), may_sign_in(VICTIM, PASSWORD)) == (1, True)


def test_no_password_is_set_by_a_mail_to_an_address_that_was_only_typed(user):
    EmailAddress.objects.create(user=user, email=ATTACKER)
    assert not reset(ATTACKER)


def test_a_session_alone_makes_no_token_and_moves_no_address(user):
    thief = confirm_password(signed_in(user), user, seconds_ago=86_400)
    again = reverse("account_reauthenticate")
    redirect = thief.post(TOKENS, {"name": "t", "scopes": "manage", "days": "365"})
    assert redirect["Location"].startswith(again)
    assert thief.post(EMAILS, {"action_add": "", "email": ATTACKER})["Location"].startswith(again)
    EmailAddress.objects.create(user=user, email=ATTACKER, verified=True)
    assert thief.post(EMAILS, {"action_primary": "", "email": ATTACKER})["Location"].startswith(again)
    assert thief.post(EMAILS, {"action_remove": "", "email": ATTACKER})["Location"].startswith(again)
    assert (ApiToken.objects.count(), User.objects.get(pk=user.pk).email) == (0, user.email)


def test_who_types_the_password_goes_on_where_they_were(user):
    client = signed_in(user)
    redirect = client.post(TOKENS, {"name": "laptop", "scopes": "read", "days": "30"})
    made = client.post(redirect["Location"], {"password": PASSWORD})
    assert (made.status_code, ApiToken.objects.get().name) == (201, "laptop")
    assert re.search(r"plurank_\w+", made.content.decode())


def test_the_owner_is_mailed_about_a_new_token(user):
    create_token(user, name="laptop", scopes=["read", "manage"], days=30)
    (message,) = OutboxMessage.objects.all()
    assert (message.payload["to"], message.payload["subject"]) == (user.email, "[Plurank] A new API token")
    assert "“laptop”. Its scopes are read, manage" in message.payload["text"]


@pytest.mark.parametrize(("ticked", "n_left"), [({"revokes_tokens": "on"}, 0), ({}, 1)])
def test_a_changed_password_ends_the_tokens_unless_the_owner_keeps_them(user, ticked, n_left):
    create_token(user, name="laptop", scopes=["read"], days=30)
    client = signed_in(user)
    form = client.get("/account/password/change/").content.decode()
    assert re.search(r'name="revokes_tokens"[^>]* checked', form)
    sent = {"oldpassword": PASSWORD, "password1": ANOTHER, "password2": ANOTHER}
    assert client.post("/account/password/change/", sent | ticked).status_code == 302
    assert ApiToken.objects.count() == n_left


def test_a_password_set_by_mail_always_ends_the_tokens(user):
    _, secret = create_token(user, name="laptop", scopes=["read"], days=30)
    assert reset(user.email)
    answer = Client().get("/api/v1/benchmarks/", headers={"Authorization": f"Token {secret}"})
    assert answer.status_code == 401


def test_an_invitation_from_before_opens_nothing_once_the_address_is_proven(make):
    _, account, own, _ = old_account(make)
    secret = invite(own, author=account, role="owner")
    reset(VICTIM)
    assert signed_in(make.user()).get(reverse("join", args=[secret])).status_code == 404
    assert Invitation.objects.filter(expires_at__gt=timezone.now() + timedelta(days=-1)).count() == 0


def test_links_into_organisations_and_teams_from_before_open_nothing_either(make):
    sign_up()
    account = User.objects.get(email=VICTIM)
    organisation = found_organisation(account, key="lab", name="Lab")
    team = found_team(make.benchmark({}, n_tasks=1), account, "Owls")
    secrets = invite_to_organisation(organisation, author=account, role="owner"), invite_by_link(team, account)
    assert reset(VICTIM)
    assert (find_organisation_invitation(secrets[0]), find_team_invitation(secrets[1])) == (None, None)
    assert (organisation.members.get().user, members_of(team)) == (account, [account])  # both are its own


@pytest.mark.parametrize("has_submitted", [False, True])
def test_a_team_of_someone_else_is_left_unless_it_submitted_as_its_quota_is_everyones(make, has_submitted):
    sign_up()
    account, other = User.objects.get(email=VICTIM), make.user()
    benchmark = make.benchmark({}, n_tasks=1)
    team = found_team(benchmark, other, "Owls")
    accept_team_invitation(find_team_invitation(invite_by_link(team, other)), account)
    if has_submitted:
        about = {"source": Source.FORM, "statement": {"name": "Owl"}}
        PredictionSubmission.objects.create(benchmark=benchmark, team=team, submitter=other, **about)
    assert reset(VICTIM)
    assert members_of(team) == ([other, account] if has_submitted else [other])


def test_links_of_an_account_that_staff_switched_off_bring_no_one_in(make):
    owner, guest = make.user(), make.user()
    benchmark, organisation = make.benchmark(owner=owner), found_organisation(owner, key="lab", name="Lab")
    team = found_team(benchmark, owner, "Owls")
    secrets = [
        invite(benchmark, author=owner, role="owner"),
        invite_to_organisation(organisation, author=owner, role="owner"),
    ]
    of_team = find_team_invitation(invite_by_link(team, owner))
    owner.is_active = False
    owner.save()
    pages = [reverse("join", args=[secrets[0]]), reverse("join_organisation", args=[secrets[1]])]
    assert [signed_in(guest).post(page).status_code for page in pages] == [404, 404]
    with pytest.raises(EvaluationError, match="already used or revoked"):
        accept_team_invitation(of_team, guest)
    assert not Membership.objects.filter(user=guest).exists()
    assert not OrganisationMember.objects.filter(user=guest).exists()


def test_links_of_mails_lead_to_the_site_whatever_port_the_request_named(user, settings):
    settings.SITE_URL = "https://boards.example"
    named = {"headers": {"Host": "127.0.0.1:31337"}}
    both = {"password1": PASSWORD, "password2": PASSWORD}
    Client().post("/account/password/reset/", {"email": user.email}, **named)
    Client().post("/account/password/reset/", {"email": "nobody@plurank.example"}, **named)
    Client().post("/account/signup/", {"email": "new@plurank.example"} | both, **named)
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    Client().post("/account/signup/", {"email": user.email} | both, **named)
    client = confirm_password(signed_in(user), user)
    client.post(EMAILS, {"action_add": "", "email": "further@plurank.example"}, **named)
    texts = [f"{row.payload['subject']} {row.payload['text']}" for row in OutboxMessage.objects.all()]
    assert len(texts) == 5
    for text in texts:
        assert "31337" not in text
        assert re.findall(r"https?://[^/\s]+", text) in (["https://boards.example"], ["https://boards.example"] * 2)


def test_addresses_in_feeds_are_the_sites_own_too(make, settings):
    settings.SITE_URL = "https://boards.example"
    benchmark = make.published()
    for address in (reverse("feed_of_all"), reverse("feed", args=[benchmark.key])):
        cache.clear()
        text = Client().get(address, headers={"Host": "127.0.0.1:31337"}).content.decode()
        assert "31337" not in text
        assert 'href="https://boards.example/' in text


def test_whose_mistyped_address_staff_corrected_confirms_it_and_uses_the_account_as_everyone(settings):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_up("vctim@plurank.example")
    User.objects.update(email=VICTIM)
    client, form = Client(), {"login": VICTIM, "password": PASSWORD}
    client.post("/account/login/", form)
    client.post(link_in_mail(VICTIM, "/confirm-email/"))
    assert client.post("/account/login/", form)["Location"] == "/account/"
    assert EmailAddress.objects.get(primary=True).email == VICTIM
    assert client.post("/account/reauthenticate/", {"password": PASSWORD}).status_code == 302


def test_the_password_is_asked_again_for_the_address_that_someone_signs_in_by_whatever_row_is_primary(user):
    EmailAddress.objects.filter(user=user).update(email="old@plurank.example", verified=False)
    answers = [
        signed_in(user).post("/account/reauthenticate/", {"password": each}).status_code for each in ("no", PASSWORD)
    ]
    assert answers == [200, 302]
