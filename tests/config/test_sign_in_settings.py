"""Settings of sign-up and of sign-in by other sites: what is offered with them, and what is refused at the start."""

import runpy

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

OIDC = {
    "PLURANK_OIDC_URL": "https://sso.university.example/realms/main/",
    "PLURANK_OIDC_CLIENT_ID": "plurank",
    "PLURANK_OIDC_CLIENT_SECRET": "secret",
}


def read(monkeypatch, **variables: str) -> dict:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(settings.ROOT / "config/settings/sign_in.py"))


def test_without_variables_everyone_may_sign_up_and_no_other_site_is_asked(monkeypatch):
    read_settings = read(monkeypatch)
    assert read_settings["SIGN_UP"] == "open"
    assert [provider["APPS"] for provider in read_settings["SOCIALACCOUNT_PROVIDERS"].values()] == [[]] * 5


def test_an_identity_provider_is_an_application_with_its_url(monkeypatch):
    providers = read(monkeypatch, **OIDC, PLURANK_OIDC_NAME="University")["SOCIALACCOUNT_PROVIDERS"]
    assert providers["openid_connect"]["APPS"] == [
        {
            "client_id": "plurank",
            "secret": "secret",
            "provider_id": "oidc",
            "name": "University",
            "settings": {"server_url": "https://sso.university.example/realms/main", "oauth_pkce_enabled": True},
        }
    ]


@pytest.mark.parametrize("site", ["github", "gitlab", "google", "orcid"])
def test_a_site_is_offered_once_its_id_and_secret_are_set(monkeypatch, site):
    prefix = f"PLURANK_{site.upper()}"
    both = {f"{prefix}_CLIENT_ID": "id", f"{prefix}_CLIENT_SECRET": "secret"}
    [application] = read(monkeypatch, **both)["SOCIALACCOUNT_PROVIDERS"][site]["APPS"]
    assert (application["client_id"], application["secret"]) == ("id", "secret")


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"PLURANK_GITHUB_CLIENT_ID": "id"}, "belong together: set both, or none"),
        ({"PLURANK_GITHUB_CLIENT_SECRET": "a secret"}, "belong together: set both, or none"),
        (OIDC | {"PLURANK_OIDC_URL": ""}, "needs PLURANK_OIDC_URL"),
        (OIDC | {"PLURANK_OIDC_URL": "http://sso.university.example"}, "must be an https:// URL"),
        ({"PLURANK_GITLAB_URL": "gitlab.university.example"}, "must be an https:// URL"),
        ({"PLURANK_SIGN_UP": "never"}, "choose one of open, domains, invitation, closed"),
        ({"PLURANK_SIGN_UP": "domains"}, "needs PLURANK_SIGN_UP_DOMAINS"),
        (
            {"PLURANK_SIGN_UP": "domains", "PLURANK_SIGN_UP_DOMAINS": "university.example"},
            "needs PLURANK_EMAIL_VERIFICATION=mandatory",
        ),
    ],
)
def test_settings_that_cannot_work_stop_the_start_and_say_why(monkeypatch, variables, message):
    with pytest.raises(ImproperlyConfigured, match=message) as caught:
        read(monkeypatch, **variables)
    assert "a secret" not in str(caught.value)
