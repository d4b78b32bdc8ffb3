"""Who may sign up, and the other sites by which people sign in.

A site is offered once its client id is set. Applications are never read from the database: their secrets are in the
environment alone.
"""

from django.core.exceptions import ImproperlyConfigured

from config import env, env_addresses
from config.settings.accounts import ACCOUNT_EMAIL_VERIFICATION

SIGN_UP = env.choice("PLURANK_SIGN_UP", "open", ["open", "domains", "invitation", "closed"])
SIGN_UP_DOMAINS = env_addresses.mail_domains("PLURANK_SIGN_UP_DOMAINS")
if SIGN_UP == "domains" and not SIGN_UP_DOMAINS:
    raise ImproperlyConfigured("PLURANK_SIGN_UP='domains' needs PLURANK_SIGN_UP_DOMAINS, such as example.org")
if SIGN_UP == "domains" and ACCOUNT_EMAIL_VERIFICATION != "mandatory":
    raise ImproperlyConfigured(
        "PLURANK_SIGN_UP='domains' needs PLURANK_EMAIL_VERIFICATION=mandatory: without it people could type any "
        "email address"
    )


def _application(site: str, client_id: str, secret: str, **fields: object) -> list[dict[str, object]]:
    """The application by which another site knows us; none where it is not set up.

    Raises:
        ImproperlyConfigured: the id or the secret is set without the other.
    """
    if bool(client_id) != bool(secret):
        raise ImproperlyConfigured(
            f"PLURANK_{site}_CLIENT_ID and PLURANK_{site}_CLIENT_SECRET belong together: set both, or none"
        )
    return [{"client_id": client_id, "secret": secret, **fields}] if client_id else []


OIDC_URL = env_addresses.site_url("PLURANK_OIDC_URL", "")
OIDC_APPLICATIONS = _application(
    "OIDC",
    env.text("PLURANK_OIDC_CLIENT_ID", ""),
    env.text("PLURANK_OIDC_CLIENT_SECRET", ""),
    provider_id="oidc",
    name=env.text("PLURANK_OIDC_NAME", "single sign-on"),
    settings={"server_url": OIDC_URL, "oauth_pkce_enabled": True},
)
if OIDC_APPLICATIONS and not OIDC_URL:
    raise ImproperlyConfigured("PLURANK_OIDC_CLIENT_ID needs PLURANK_OIDC_URL, the issuer of your identity provider")
GITHUB_APPLICATIONS = _application(
    "GITHUB", env.text("PLURANK_GITHUB_CLIENT_ID", ""), env.text("PLURANK_GITHUB_CLIENT_SECRET", "")
)
GITLAB_APPLICATIONS = _application(
    "GITLAB",
    env.text("PLURANK_GITLAB_CLIENT_ID", ""),
    env.text("PLURANK_GITLAB_CLIENT_SECRET", ""),
    settings={"gitlab_url": env_addresses.site_url("PLURANK_GITLAB_URL", "https://gitlab.com")},
)
GOOGLE_APPLICATIONS = _application(
    "GOOGLE", env.text("PLURANK_GOOGLE_CLIENT_ID", ""), env.text("PLURANK_GOOGLE_CLIENT_SECRET", "")
)
ORCID_APPLICATIONS = _application(
    "ORCID", env.text("PLURANK_ORCID_CLIENT_ID", ""), env.text("PLURANK_ORCID_CLIENT_SECRET", "")
)

SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {"APPS": OIDC_APPLICATIONS},
    "github": {"APPS": GITHUB_APPLICATIONS, "OAUTH_PKCE_ENABLED": True},
    "gitlab": {"APPS": GITLAB_APPLICATIONS, "OAUTH_PKCE_ENABLED": True},
    "google": {"APPS": GOOGLE_APPLICATIONS, "OAUTH_PKCE_ENABLED": True},
    "orcid": {"APPS": ORCID_APPLICATIONS},
}
SOCIALACCOUNT_ADAPTER = "leaderboard.accounts.sign_in.SocialAccountAdapter"
SOCIALACCOUNT_FORMS = {"signup": "leaderboard.accounts.forms.OtherSiteForm"}
# People see the name and address that an account would get before there is one.
SOCIALACCOUNT_AUTO_SIGNUP = False
# An address that another site states never opens the account that has it here; its owner links the two.
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
SOCIALACCOUNT_LOGIN_ON_GET = False
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_REQUESTS_TIMEOUT = 5  # seconds
