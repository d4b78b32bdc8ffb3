"""Signing in by another site: OpenID Connect, GitHub, GitLab, Google, ORCID.

What such a site says identifies a person there, never an account here: only someone who is signed in links the two.
"""

from dataclasses import dataclass
from typing import Any

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, _build_apps_from_settings, get_adapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base import Provider
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.http import HttpRequest

from leaderboard.accounts.display_names import display_name_problem
from leaderboard.accounts.further_addresses import is_taken
from leaderboard.accounts.orcid import orcid_of
from leaderboard.models import User

NAMES = {"github": "GitHub", "gitlab": "GitLab", "google": "Google", "orcid": "ORCID"}


@dataclass(frozen=True)
class SignInSite:
    """Another site by which people sign in here."""

    id: str  # as in addresses and in `SocialAccount.provider`
    name: str


@dataclass(frozen=True)
class LinkedAccount:
    """A person's account at another site, by which they sign in here."""

    number: int
    site: SignInSite
    uid: str  # who they are there: a number or a name that stays


def sign_in_sites() -> list[SignInSite]:
    """The sites by which people can sign in, in a fixed order; none without settings."""
    applications = _build_apps_from_settings()
    return [
        SignInSite(application.provider_id or provider, application.name or NAMES[provider])
        for provider, configured in applications.items()
        for application in configured
    ]


def linked_accounts(user: User) -> list[LinkedAccount]:
    """The accounts elsewhere that open this one, oldest first; sites that are no longer configured included."""
    sites = {site.id: site for site in sign_in_sites()}
    rows = SocialAccount.objects.filter(user=user).order_by("pk")
    return [
        LinkedAccount(
            row.pk, sites.get(row.provider) or SignInSite(row.provider, NAMES.get(row.provider, row.provider)), row.uid
        )
        for row in rows
    ]


def sign_in_provider(request: HttpRequest, site_id: str) -> Provider | None:
    """allauth's provider of a site, or none where it is not configured."""
    if site_id not in {site.id for site in sign_in_sites()}:
        return None
    return get_adapter().get_provider(request, site_id)


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Takes applications from the settings alone, and keeps of what other sites say what identifies a person there."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """The applications of the settings; a table of them would keep secrets in the database and its backups."""
        configured = _build_apps_from_settings(provider=provider, client_id=client_id)
        return [application for applications in configured.values() for application in applications]

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        """Fill in what the sign-up form starts with, and forget the rest of the answer.

        Raises:
            OAuth2Error: the two answers of an OpenID provider are about different people (OpenID Connect Core 5.3.2).
        """
        answers = sociallogin.account.extra_data
        if "userinfo" in answers and "id_token" in answers and answers["userinfo"]["sub"] != answers["id_token"]["sub"]:
            raise OAuth2Error("userinfo and id_token have different subjects")
        sociallogin.account.extra_data = {}
        user: User = sociallogin.user
        user.email = str(data.get("email") or "").lower()
        name = data.get("name") or f"{data.get('first_name') or ''} {data.get('last_name') or ''}"
        name = " ".join(str(name).split())[:80]
        user.display_name = "" if display_name_problem(name) else name
        return user

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Drop the other site's token: nothing is asked there again, and it would be kept in the session.

        Some sites write as a text whether they checked an address; any text would count as true.
        """
        sociallogin.token = None
        for address in sociallogin.email_addresses:
            address.verified = str(address.verified).lower() == "true"

    def get_signup_form_initial_data(self, sociallogin: SocialLogin) -> dict[str, str]:
        """The address and the name that the other site stated, for the person to change."""
        user = sociallogin.user
        return {"email": user.email, "display_name": user.display_name}

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: object = None) -> User:
        """Store the account, with the ORCID iD that its person has just proven where they came by ORCID.

        Of the addresses that the other site states it gets those that the site checked, and no other account has: none
        where its person typed another one instead, which allauth would make a further one.
        """
        sociallogin.user.orcid = orcid_of(sociallogin.account)
        checked = [address for address in sociallogin.email_addresses if address.verified]
        free = [address for address in checked if not is_taken(address.email)]
        typed = getattr(form, "cleaned_data", {}).get("email", "")
        sociallogin.email_addresses = free if typed.lower() in {address.email.lower() for address in free} else []
        user: User = super().save_user(request, sociallogin, form)
        return user
