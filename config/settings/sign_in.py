"""Who may sign up, and the other sites by which people sign in.

A site is offered once its client id is set. Applications are never read from the database: their secrets are in the
environment alone.
"""

from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from config import env
from config.settings.accounts import ACCOUNT_EMAIL_VERIFICATION

SIGN_UP = env.choice("PLURANK_SIGN_UP", "open", ["open", "domains", "invitation", "closed"])
SIGN_UP_DOMAINS = [domain.lower().removeprefix("@") for domain in env.listing("PLURANK_SIGN_UP_DOMAINS", "")]
if SIGN_UP == "domains" and not SIGN_UP_DOMAINS:
    raise ImproperlyConfigured("PLURANK_SIGN_UP='domains' needs PLURANK_SIGN_UP_DOMAINS, such as example.org")
if SIGN_UP == "domains" and ACCOUNT_EMAIL_VERIFICATION != "mandatory":
    raise ImproperlyConfigured(
        "PLURANK_SIGN_UP='domains' needs PLURANK_EMAIL_VERIFICATION=mandatory: without it people could type any address"
    )

LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def _server(name: str, default: str = "") -> str:
    """The URL of another site.

    Raises:
        ImproperlyConfigured: it is not https, except on this machine: tokens would be readable on the way.
    """
    url = env.text(name, default).rstrip("/")
    parts = urlsplit(url)
    if url and not (parts.hostname and (parts.scheme == "https" or parts.hostname in LOOPBACK)):
        raise ImproperlyConfigured(f"{name}={url!r} must be an https:// URL")
    return url


def _application(prefix: str, **fields: object) -> list[dict[str, object]]:
    """The application that the site `prefix` knows us by; none where its client id is not set.

    Raises:
        ImproperlyConfigured: the id or the secret is set without the other.
    """
    client_id, secret = env.text(f"{prefix}_CLIENT_ID", ""), env.text(f"{prefix}_CLIENT_SECRET", "")
    if bool(client_id) != bool(secret):
        raise ImproperlyConfigured(f"{prefix}_CLIENT_ID and {prefix}_CLIENT_SECRET belong together: set both, or none")
    return [{"client_id": client_id, "secret": secret, **fields}] if client_id else []


OIDC_URL = _server("PLURANK_OIDC_URL")
OIDC_APPLICATIONS = _application(
    "PLURANK_OIDC",
    provider_id="oidc",
    name=env.text("PLURANK_OIDC_NAME", "single sign-on"),
    settings={"server_url": OIDC_URL, "oauth_pkce_enabled": True},
)
if OIDC_APPLICATIONS and not OIDC_URL:
    raise ImproperlyConfigured("PLURANK_OIDC_CLIENT_ID needs PLURANK_OIDC_URL, the issuer of your identity provider")

SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {"APPS": OIDC_APPLICATIONS},
    "github": {"APPS": _application("PLURANK_GITHUB"), "OAUTH_PKCE_ENABLED": True},
    "gitlab": {
        "APPS": _application(
            "PLURANK_GITLAB", settings={"gitlab_url": _server("PLURANK_GITLAB_URL", "https://gitlab.com")}
        ),
        "OAUTH_PKCE_ENABLED": True,
    },
    "google": {"APPS": _application("PLURANK_GOOGLE"), "OAUTH_PKCE_ENABLED": True},
    "orcid": {"APPS": _application("PLURANK_ORCID")},
}
SOCIALACCOUNT_ADAPTER = "leaderboard.accounts.sign_in.SocialAccountAdapter"
# People see the name and address that an account would get before there is one.
SOCIALACCOUNT_AUTO_SIGNUP = False
# An address that another site states never opens the account that has it here; its owner links the two.
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
SOCIALACCOUNT_LOGIN_ON_GET = False
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_REQUESTS_TIMEOUT = 5  # seconds
