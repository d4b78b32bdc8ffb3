"""Tokens: made on a page, shown once, counted on by the API, revoked."""

import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.tokens import MAX_TOKENS, TokenError, create_token
from leaderboard.models import ApiToken
from tests.leaderboard.api.conftest import Api, error_of

BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def user(make, client):
    user = make.user("Ada")
    client.force_login(user, backend=BACKEND)
    return user


def form(**fields):
    return {"name": "laptop", "scopes": ["read", "submit"], "days": "90"} | fields


def test_a_token_is_made_shown_once_and_works(make, schema, client, user):
    benchmark = make.published(visibility="private")
    benchmark.memberships.create(user=user, role="member")
    response = client.post(reverse("tokens"), form())
    assert response.status_code == 201
    assert "no-store" in response["Cache-Control"]
    secret = re.search(r'<code class="secret"[^>]*>(plurank_[0-9a-f]{64})</code>', response.content.decode())[1]
    token = ApiToken.objects.get()
    assert (token.user, token.name, token.scopes) == (user, "laptop", ["read", "submit"])
    assert abs(token.expiry - timezone.now() - timedelta(days=90)) < timedelta(minutes=1)
    assert secret not in str(ApiToken.objects.values().get())
    assert secret not in client.get(reverse("tokens")).content.decode()
    assert Api(schema, secret).get(f"benchmarks/{benchmark.key}/").status_code == 200


@pytest.mark.parametrize(
    "wrong", [{"name": ""}, {"name": "x" * 81}, {"scopes": []}, {"scopes": ["all"]}, {"days": "7"}, {"days": ""}]
)
def test_a_form_that_is_not_filled_in_makes_none(client, user, wrong):
    response = client.post(reverse("tokens"), form(**wrong))
    assert (response.status_code, ApiToken.objects.count()) == (400, 0)


def test_a_name_is_used_once_and_their_number_is_limited(client, user, make):
    client.post(reverse("tokens"), form())
    assert "You already have a token of this name" in client.post(reverse("tokens"), form()).content.decode()
    create_token(make.user(), name="laptop", scopes=["read"], days=30)
    for number in range(MAX_TOKENS - 1):
        create_token(user, name=str(number), scopes=["read"], days=30)
    with pytest.raises(TokenError, match="You have 50 tokens; revoke one first"):
        create_token(user, name="one too many", scopes=["read"], days=30)


def test_a_revoked_token_opens_nothing_and_nobody_revokes_anothers(make, schema, client, user):
    _, mine = create_token(user, name="laptop", scopes=["read"], days=30)
    _, theirs = create_token(make.user(), name="laptop", scopes=["read"], days=30)
    assert client.post(reverse("revoke_token"), {"name": "laptop"}).status_code == 302
    assert error_of(Api(schema, mine).get("rules/"))["code"] == "invalid_token"
    assert Api(schema, theirs).get("rules/").status_code == 200
    assert client.post(reverse("revoke_token"), {"name": "laptop"}).status_code == 302
    assert ApiToken.objects.count() == 1
    assert client.get(reverse("revoke_token")).status_code == 405


def test_the_page_lists_expired_tokens_as_such(client, user):
    token, _ = create_token(user, name="laptop", scopes=["read"], days=30)
    ApiToken.objects.filter(pk=token.pk).update(expiry=timezone.now())
    assert '<span class="badge is-error">expired</span>' in client.get(reverse("tokens")).content.decode()


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("Token nonsense", "invalid_token"),
        ("Token plurank_" + "0" * 64, "invalid_token"),
        ("Token schlüssel", "invalid_token"),
        ("Token", "invalid_header"),
        ("Bearer abc", "invalid_token"),
        ("Bearer", "invalid_header"),
        ("Basic YTpi", "invalid_header"),
    ],
)
def test_a_header_that_opens_nothing_is_a_401_even_where_anonymous_may_read(db, client, header, code):
    response = client.get("/api/v1/rules/", headers={"Authorization": header})
    assert (response.status_code, response.json()["error"]["code"]) == (401, code)
    assert response["WWW-Authenticate"] == "Bearer"


def test_a_token_of_a_user_who_is_not_active_opens_nothing(make, schema):
    user = make.user(is_active=False)
    _, secret = create_token(user, name="laptop", scopes=["read"], days=30)
    assert error_of(Api(schema, secret).get("rules/"))["code"] == "invalid_token"


def test_the_last_use_is_noted_once_a_minute(make, schema):
    token, secret = create_token(make.user(), name="laptop", scopes=["read"], days=30)
    api = Api(schema, secret)

    def last_use():
        return ApiToken.objects.values_list("last_used_at", flat=True).get()

    api.get("rules/")
    first = last_use()
    assert timezone.now() - first < timedelta(seconds=10)
    api.get("rules/")
    assert last_use() == first
    ApiToken.objects.filter(pk=token.pk).update(last_used_at=first - timedelta(seconds=61))
    api.get("rules/")
    assert last_use() > first


# --- Throttles -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["address", "user", "token"])
def test_each_rate_has_a_clear_429(make, api, settings, scope):
    settings.API_RATES = settings.API_RATES | {scope: "2/min"}
    asker = api.as_user(make.user())
    assert [asker.get("rules/").status_code for _ in range(3)] == [200, 200, 429]
    response = asker.get("rules/")
    assert 1 <= int(response["Retry-After"]) <= 60
    assert re.fullmatch(
        rf"Too many requests: 2/min are allowed by {scope}; try again in \d+ s\.", error_of(response)["message"]
    )


def test_another_token_of_the_same_user_is_counted_with_the_user_not_with_the_token(make, api, settings):
    settings.API_RATES = settings.API_RATES | {"token": "1/min", "user": "2/min"}
    user = make.user()
    first, second = api.as_user(user), api.as_user(user)
    assert [first.get("rules/").status_code, first.get("rules/").status_code] == [200, 429]
    assert [second.get("rules/").status_code] == [429]  # the user's third


def test_guessing_at_tokens_is_counted_by_address(db, schema, settings):
    settings.API_RATES = settings.API_RATES | {"address": "2/min"}
    assert [Api(schema, "x").get("rules/").status_code for _ in range(3)] == [401, 401, 429]


def test_what_a_client_says_of_its_address_counts_for_nothing(db, api, settings):
    settings.API_RATES = settings.API_RATES | {"address": "2/min"}
    statuses = [api.get("rules/", X_Forwarded_For=f"10.0.0.{n}").status_code for n in range(3)]
    assert statuses == [200, 200, 429]


def test_what_is_computed_on_demand_has_a_rate_of_its_own(make, api, settings):
    settings.API_RATES = settings.API_RATES | {"on_demand": "1/min"}
    path = f"benchmarks/{make.published().key}/rankings/borda/"
    assert [api.get(path, {"missing": "worst"}).status_code for _ in range(2)] == [200, 429]
    assert api.get(path).status_code == 200
    cache.clear()
    scores = path.replace("rankings/borda", "scores")
    assert [api.get(scores, {"format": "eee"}).status_code for _ in range(2)] == [200, 429]
    assert api.get(scores).status_code == 200
    cache.clear()


@pytest.mark.parametrize("scopes", [["read", "submit"], ["submit"], ["manage"], ["evaluate"]])
def test_the_command_that_the_page_shows_works_with_the_token(client, user, schema, scopes):
    page = client.post(reverse("tokens"), form(scopes=scopes)).content.decode()
    secret, path = re.search(r"Authorization: Token (\w+)&quot; http://testserver/api/v1/([\w/]+)<", page).groups()
    assert Api(schema, secret).get(path).status_code == 200
