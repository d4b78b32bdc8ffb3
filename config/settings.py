"""The one settings file. Everything that differs between installations comes from the environment (`env.py`)."""

import sys
from pathlib import Path
from typing import Any

from config import env
from ranking_engine import __version__ as engine_version

ROOT = Path(__file__).resolve().parent.parent
IS_TEST = "pytest" in sys.modules
# Database, broker folder, secret key; tests never touch what a demonstration keeps.
VAR = Path(env.text("PLURANK_VAR", str(ROOT / "var" / "test" if IS_TEST else ROOT / "var"))).resolve()
VAR.mkdir(parents=True, exist_ok=True)

DEBUG = env.boolean("PLURANK_DEBUG", default=False)
IS_PRODUCTION = env.boolean("PLURANK_PRODUCTION", default=False)
SECRET_KEY = env.secret_key("PLURANK_SECRET_KEY", VAR / "secret_key", is_production=IS_PRODUCTION)
ALLOWED_HOSTS = env.listing("PLURANK_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = env.listing("PLURANK_ORIGINS", "")
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
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "leaderboard.views.context.site",
            ],
        },
    },
]

# --- Database: an SQLite file, or PostgreSQL where DATABASE_URL says so ---------------------------------------
SQLITE_OPTIONS = {
    # Deferred transactions of several writers fail at once with "database is locked"; immediate ones queue.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON",
}
DATABASES: dict[str, dict[str, Any]] = {
    "default": env.database("DATABASE_URL", f"sqlite:///{VAR / 'plurank.sqlite3'}")
}
IS_SQLITE = DATABASES["default"]["ENGINE"].endswith("sqlite3")
if IS_SQLITE:
    DATABASES["default"] |= {"OPTIONS": SQLITE_OPTIONS, "TEST": {"NAME": str(VAR / "test.sqlite3")}}
else:
    # A process that stalls, or a machine that vanishes, in the middle of a transaction must not keep its locks.
    POSTGRESQL_OPTIONS = {"options": "-c idle_in_transaction_session_timeout=30s"}
    DATABASES["default"] |= {
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": POSTGRESQL_OPTIONS | DATABASES["default"].get("OPTIONS", {}),
    }

# --- Cache and background work: a folder, or Redis where REDIS_URL says so -------------------------------------
REDIS_URL = env.text("REDIS_URL", "")
if REDIS_URL:
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": REDIS_URL,
            "KEY_PREFIX": "plurank",
            "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 2},
        }
    }
    CELERY_BROKER_URL = REDIS_URL
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        "socket_connect_timeout": 1,
        "socket_timeout": 2,  # a Redis that stands still delays a request by no more
        "health_check_interval": 10,  # so that a worker soon finds out that Redis vanished without a word
        "max_retries": 0,
    }
else:
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "OPTIONS": {"MAX_ENTRIES": 500},
        }
    }
    BROKER_FOLDER = VAR / "broker"
    CELERY_BROKER_URL = "folder://localhost"  # without a host name kombu warns
    CELERY_BROKER_TRANSPORT = "config.filesystem_broker:Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "folder": str(BROKER_FOLDER / "messages"),
        "stale_seconds": 300,  # messages expire long before
        "polling_interval": 0.05,
    }
# A message is only a wake-up: it is acknowledged early, expires, returns nothing, and may be lost.
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker for as long as it takes
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "rankings"
CELERY_TIMEZONE = "UTC"

JOB_LEASE_SECONDS = env.number("PLURANK_LEASE_SECONDS", 30, least=1)
JOB_ATTEMPTS = env.number("PLURANK_JOB_ATTEMPTS", 3, least=1)
JOB_MEMORY_BYTES = env.number("PLURANK_JOB_MEMORY_MB", 4096, least=512) * 2**20
# When a study runs that a benchmark's owners chose nothing for, and how long it may take.
STUDIES_RUN = env.choice("PLURANK_STUDIES_RUN", "every", ["every", "nightly", "demand"])
STUDY_SECONDS = env.number("PLURANK_STUDY_SECONDS", 60, least=1)
# What a reader may ask to be computed on demand: systems x tasks x rules.
ON_DEMAND_BUDGET = env.number("PLURANK_ON_DEMAND_BUDGET", 5_000_000, least=1)
# What one uploaded file may hold.
UPLOAD_BYTES = env.number("PLURANK_UPLOAD_MB", 10, least=1) * 2**20
UPLOAD_SYSTEMS = env.number("PLURANK_UPLOAD_SYSTEMS", 10_000, least=1)
INSTANCE_CELLS = env.number("PLURANK_INSTANCE_CELLS", 1_000_000, least=1)
DRAFT_DAYS = env.number("PLURANK_DRAFT_DAYS", 7, least=1)

# --- People -----------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "leaderboard.User"
KNOX_TOKEN_MODEL = "leaderboard.ApiToken"  # noqa: S105 -- the name of a model
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
AUTHENTICATION_BACKENDS += ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_SIGNUP_FORM_CLASS = "leaderboard.forms.DisplayNameForm"
ACCOUNT_EMAIL_VERIFICATION = env.text("PLURANK_EMAIL_VERIFICATION", "optional")
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_ADAPTER = "leaderboard.services.accounts.AccountAdapter"
LOGIN_REDIRECT_URL = "home"
LOGIN_URL = "account_login"
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
EMAIL_BACKEND = env.text("PLURANK_EMAIL_BACKEND", "django.core.mail.backends.console.EmailBackend")
DEFAULT_FROM_EMAIL = env.text("PLURANK_EMAIL_FROM", "plurank@localhost")

# --- The API ----------------------------------------------------------------------------------------------------
# By address, user and token every request is counted; by `on_demand` and `write` those of whoever asks for it.
API_RATES = {
    "address": "1200/min",
    "user": "1200/min",
    "token": "600/min",
    "on_demand": "60/min",
    "write": "120/min",
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["leaderboard.api.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["leaderboard.api.permissions.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["leaderboard.api.parsers.StrictJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "leaderboard.api.negotiation.Negotiation",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "leaderboard.api.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "leaderboard.api.errors.handle",
    "DEFAULT_THROTTLE_CLASSES": [
        "leaderboard.api.throttles.UserThrottle",
        "leaderboard.api.throttles.TokenThrottle",
        "leaderboard.api.throttles.OnDemandThrottle",
        "leaderboard.api.throttles.WriteThrottle",
    ],
    # How many proxies of ours stand in front and add to X-Forwarded-For; what clients write there counts for nothing.
    "NUM_PROXIES": env.number("PLURANK_PROXIES", 0),
}
REST_KNOX = {"TOKEN_PREFIX": "plurank_"}  # so that scanners for leaked secrets know one when they see it
SPECTACULAR_SETTINGS = {
    "TITLE": "Plurank",
    "DESCRIPTION": "Multi-task benchmarks ranked by many rules side by side. Anonymous requests read public and "
    "unlisted benchmarks; everything else needs a token, which is made at `/account/tokens/`.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "LICENSE": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "POSTPROCESSING_HOOKS": [],
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
}

# --- Security ---------------------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
if IS_PRODUCTION:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = env.boolean("PLURANK_SSL_REDIRECT", default=True)
    SECURE_HSTS_SECONDS = env.number("PLURANK_HSTS_SECONDS", 31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

# --- Language, time, static files, logs -------------------------------------------------------------------------
LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "static/"
STATIC_ROOT = VAR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
STATICFILES_DIRS = [ROOT / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG or IS_TEST
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 12_000  # a table of 1,000 tasks
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.text("PLURANK_LOG_LEVEL", "INFO")},
}
