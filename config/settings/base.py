"""What Django is made of here: folders, secret key, hosts, apps, middleware, templates, static files."""

import os
import sys
from pathlib import Path

from config import env, env_addresses
from config.settings import tests
from ranking_engine import __version__ as engine_version

ROOT = Path(__file__).resolve().parents[2]
IS_TEST = "pytest" in sys.modules
# Database, broker folder, secret key; tests never touch what a demonstration keeps.
VAR = env.folder("PLURANK_VAR", ROOT / "var")
if IS_TEST:
    VAR = tests.own_folder(None if VAR == ROOT / "var" else VAR)
else:
    os.umask(0o077)  # what a process of the site writes has personal data in it, or keys: it is its user's alone
STATIC_ROOT = VAR / "static"
env.make_folders(VAR, STATIC_ROOT, name="PLURANK_VAR")

IS_PRODUCTION = env.boolean("PLURANK_PRODUCTION", default=False)
DEBUG = env.debug("PLURANK_DEBUG", is_production=IS_PRODUCTION)
SECRET_KEY = env.secret_key("PLURANK_SECRET_KEY", VAR / "secret_key", is_production=IS_PRODUCTION)
# Former keys: what they signed or encrypted still works (docs/operate.md, "The secret key").
SECRET_KEY_FALLBACKS = env.former_keys("PLURANK_OLD_SECRET_KEYS", SECRET_KEY, is_production=IS_PRODUCTION)
# Secrets of webhooks and numbers of systems with hidden names are derived from it, so that they outlive a secret key.
LASTING_KEY = env.lasting_key(
    "PLURANK_LASTING_KEY", [SECRET_KEY, *SECRET_KEY_FALLBACKS][-1], is_production=IS_PRODUCTION
)
# What encrypts the references of tasks; it is never in the database (`leaderboard/evaluation/encryption.py`).
REFERENCES_KEYS = env.references_keys("PLURANK_REFERENCES_KEYS")
REFERENCES_KEY_FILE = VAR / "references_key"  # where the setting is empty, outside production
ALLOWED_HOSTS = env_addresses.hosts("PLURANK_HOSTS", "127.0.0.1,localhost,[::1]", is_production=IS_PRODUCTION)
# The path below which the site is, behind a proxy that has other sites too.
FORCE_SCRIPT_NAME = env_addresses.prefix("PLURANK_PREFIX") or None
CSRF_TRUSTED_ORIGINS = env_addresses.origins("PLURANK_ORIGINS")
PLURANK_VERSION = "0.1.0"
ENGINE_VERSION = engine_version

INSTALLED_APPS = [
    "leaderboard",
    "jobs",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.github",
    "allauth.socialaccount.providers.gitlab",
    "allauth.socialaccount.providers.google",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.socialaccount.providers.orcid",
    "allauth.usersessions",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
]
MIDDLEWARE = [
    "config.monitoring.requests.RequestMiddleware",
    "leaderboard.common.language.middleware.LanguageMiddleware",
    "leaderboard.common.middleware.CharsetMiddleware",
    "leaderboard.common.busy_page.BodyMiddleware",
    "leaderboard.common.busy_page.WritesMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "leaderboard.api.protocol.compression.ApiGzipMiddleware",
    "leaderboard.common.middleware.CacheMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "leaderboard.accounts.middleware.AccountMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "leaderboard.common.busy_page.BusyMiddleware",
    "leaderboard.on_demand.views.ComputingMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "leaderboard.common.middleware.MethodMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [
    {
        "BACKEND": "config.backends.templates.Templates",
        "NAME": "django",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "leaderboard.notifications.context.site",
                "leaderboard.accounts.context.sign_in",
            ],
        },
    },
]

# The language of all pages. There is no catalogue but English; a site can have its own in the folder `locale` of VAR.
LOCALE_PATHS = [ROOT / "locale", VAR / "locale"]
LANGUAGE_CODE = env.language("PLURANK_LANGUAGE", "en", LOCALE_PATHS)
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = f"{FORCE_SCRIPT_NAME or ''}/static/"
STATICFILES_DIRS = [ROOT / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG or IS_TEST
        else "config.backends.static_storage.StaticStorage"
    },
}
