"""The one settings file. Everything that differs between installations comes from the environment (`env.py`)."""

import sys
from pathlib import Path
from typing import Any

from config import env
from config.query_limits import bound_waits
from ranking_engine import __version__ as engine_version

ROOT = Path(__file__).resolve().parent.parent
IS_TEST = "pytest" in sys.modules
# Database, broker folder, secret key; tests never touch what a demonstration keeps.
VAR = Path(env.text("PLURANK_VAR", str(ROOT / "var" / "test" if IS_TEST else ROOT / "var"))).resolve()
VAR.mkdir(parents=True, exist_ok=True)

IS_PRODUCTION = env.boolean("PLURANK_PRODUCTION", default=False)
DEBUG = env.debug("PLURANK_DEBUG", is_production=IS_PRODUCTION)
SECRET_KEY = env.secret_key("PLURANK_SECRET_KEY", VAR / "secret_key", is_production=IS_PRODUCTION)
ALLOWED_HOSTS = env.hosts("PLURANK_HOSTS", "127.0.0.1,localhost,[::1]", is_production=IS_PRODUCTION)
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
    "allauth.mfa",
    "allauth.usersessions",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
]
MIDDLEWARE = [
    "config.requests.RequestMiddleware",
    "leaderboard.views.busy.WritesMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "leaderboard.views.caching.CacheMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "leaderboard.views.busy.BusyMiddleware",
    "leaderboard.views.computing.ComputingMiddleware",
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
    "timeout": env.number("PLURANK_SQLITE_WAIT_SECONDS", 20, least=1),
    # Without recursive triggers INSERT OR REPLACE would delete rows that the triggers of history keep.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; "
    "PRAGMA recursive_triggers=ON",
}
DATABASES: dict[str, dict[str, Any]] = {"default": env.database("DATABASE_URL", f"sqlite:///{VAR / 'plurank.sqlite3'}")}
IS_SQLITE = DATABASES["default"]["ENGINE"].endswith("sqlite3")
if IS_SQLITE:
    DATABASES["default"] |= {"OPTIONS": SQLITE_OPTIONS, "TEST": {"NAME": str(VAR / "test.sqlite3")}}
else:
    # How long one statement may take; 0 is without end, as commands like `migrate` need it. What serves requests, the
    # workers and the sweep set their own default before they read this file.
    QUERY_SECONDS = env.number("PLURANK_QUERY_SECONDS", 0)
    LOCK_SECONDS = env.number("PLURANK_LOCK_SECONDS", 10, least=1)
    # PgBouncer in transaction mode knows no start-up options, and no cursor outlives its transaction there.
    IS_POOLED = env.boolean("PLURANK_PGBOUNCER", default=False)
    POSTGRESQL_OPTIONS: dict[str, Any] = {
        "connect_timeout": 5,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 20_000,  # ms until data that nobody acknowledges ends the connection
    }
    if not IS_POOLED:
        # A process that stalls, or a machine that vanishes, in the middle of a transaction must not keep its locks.
        limits = ["idle_in_transaction_session_timeout=30s", f"statement_timeout={QUERY_SECONDS}s"]
        limits += [f"lock_timeout={LOCK_SECONDS}s"] if QUERY_SECONDS else []
        POSTGRESQL_OPTIONS["options"] = " ".join(f"-c {limit}" for limit in limits)
    DATABASES["default"] |= {
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": IS_POOLED,
        "OPTIONS": POSTGRESQL_OPTIONS | DATABASES["default"].get("OPTIONS", {}),
    }
    if QUERY_SECONDS:
        bound_waits(QUERY_SECONDS)
# How many requests of one web process may change something at once: the other threads go on answering readers.
WRITES_AT_ONCE = env.number("PLURANK_WRITES_AT_ONCE", 5, least=1)

# --- Cache and background work: a folder, or Redis where REDIS_URL says so -------------------------------------
REDIS_URL = env.redis("REDIS_URL")
if REDIS_URL:
    CACHES = {
        "default": {
            "BACKEND": "config.cache.ForgivingRedisCache",
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
        # Messages are wake-ups and may be lost. Acknowledging one to Redis fails while Redis is away; the message then
        # counts as held for good, and the worker takes no other.
        "ack_emulation": False,
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

# --- Operators ---------------------------------------------------------------------------------------------------
# Whoever knows it reads `/metrics`; without one there is no such page.
METRICS_TOKEN = env.secret("PLURANK_METRICS_TOKEN", least=20)

JOB_LEASE_SECONDS = env.number("PLURANK_LEASE_SECONDS", 30, least=1)
JOB_ATTEMPTS = env.number("PLURANK_JOB_ATTEMPTS", 3, least=1)
# What computing one board may take, and by how much a job may outlast its time before its process is killed.
BOARD_SECONDS = env.number("PLURANK_BOARD_SECONDS", 120, least=1)
JOB_GRACE_SECONDS = env.number("PLURANK_JOB_GRACE_SECONDS", 30, least=1)
JOB_MEMORY_BYTES = env.number("PLURANK_JOB_MEMORY_MB", 4096, least=512) * 2**20
# When a study runs that a benchmark's owners chose nothing for, and how long it may take.
STUDIES_RUN = env.choice("PLURANK_STUDIES_RUN", "every", ["every", "nightly", "demand"])
STUDY_SECONDS = env.number("PLURANK_STUDY_SECONDS", 60, least=1)
# What a reader may ask to be computed on demand: systems x tasks x rules. It is computed in child processes of each web
# process: so many at once, each with so many seconds and so much memory, and so many more that wait for their turn.
ON_DEMAND_BUDGET = env.number("PLURANK_ON_DEMAND_BUDGET", 5_000_000, least=1)
ON_DEMAND_CHILDREN = env.number("PLURANK_ON_DEMAND_CHILDREN", 2, least=1)
ON_DEMAND_WAITING = env.number("PLURANK_ON_DEMAND_WAITING", 4)
ON_DEMAND_SECONDS = env.number("PLURANK_ON_DEMAND_SECONDS", 4, least=1)
ON_DEMAND_MEMORY_BYTES = env.number("PLURANK_ON_DEMAND_MEMORY_MB", 384, least=128) * 2**20
ON_DEMAND_PATIENCE_SECONDS = 2
# What one uploaded file may hold.
UPLOAD_BYTES = env.number("PLURANK_UPLOAD_MB", 10, least=1) * 2**20
UPLOAD_SYSTEMS = env.number("PLURANK_UPLOAD_SYSTEMS", 10_000, least=1)
UPLOAD_CELLS = env.number("PLURANK_UPLOAD_CELLS", 150_000, least=1)
INSTANCE_CELLS = env.number("PLURANK_INSTANCE_CELLS", 1_000_000, least=1)
# What somebody without an account may have ranked on the page for trying.
TRY_BYTES = env.number("PLURANK_TRY_KB", 300, least=1) * 1000
TRY_SYSTEMS = env.number("PLURANK_TRY_SYSTEMS", 300, least=2)
TRY_TASKS = env.number("PLURANK_TRY_TASKS", 200, least=1)
# How many benchmarks one account may make; staff as many as they like.
BENCHMARKS_PER_ACCOUNT = env.number("PLURANK_BENCHMARKS_PER_ACCOUNT", 20, least=1)
# How many scores one account may store: they are kept for good, some 125 bytes each.
CELLS_PER_DAY = env.number("PLURANK_CELLS_PER_DAY", 1_000_000, least=1)
CELLS_PER_ACCOUNT = env.number("PLURANK_CELLS_PER_ACCOUNT", 10_000_000, least=1)
DRAFT_DAYS = env.number("PLURANK_DRAFT_DAYS", 7, least=1)

# --- Mails: rows first (`OutboxMessage`), sent by the sweep ------------------------------------------------------
CONSOLE_MAILS = "django.core.mail.backends.console.EmailBackend"
EMAIL_BACKEND = env.text("PLURANK_EMAIL_BACKEND", CONSOLE_MAILS)
DEFAULT_FROM_EMAIL = env.text("PLURANK_EMAIL_FROM", "plurank@localhost")
EMAIL_HOST = env.text("PLURANK_EMAIL_HOST", "localhost")
EMAIL_PORT = env.number("PLURANK_EMAIL_PORT", 25, least=1)
EMAIL_HOST_USER = env.text("PLURANK_EMAIL_USER", "")
EMAIL_HOST_PASSWORD = env.text("PLURANK_EMAIL_PASSWORD", "")
EMAIL_USE_TLS = env.boolean("PLURANK_EMAIL_STARTTLS", default=False)
EMAIL_USE_SSL = env.boolean("PLURANK_EMAIL_TLS", default=False)
EMAIL_TIMEOUT = env.number("PLURANK_EMAIL_SECONDS", 10, least=1)
OUTBOX_ATTEMPTS = env.number("PLURANK_EMAIL_ATTEMPTS", 12, least=1)
# Where links in mails and feeds lead, by whatever name and port somebody asked the site.
OWN_ADDRESS = f"https://{ALLOWED_HOSTS[0].lstrip('.')}" if IS_PRODUCTION else "http://127.0.0.1:8000"
SITE_URL = env.text("PLURANK_URL", CSRF_TRUSTED_ORIGINS[0] if CSRF_TRUSTED_ORIGINS else OWN_ADDRESS)
# Webhooks go to the public internet alone, unless an operator's own receivers are inside.
WEBHOOKS_INSIDE = env.boolean("PLURANK_WEBHOOKS_INSIDE", default=False)
WEBHOOK_SECONDS = env.number("PLURANK_WEBHOOK_SECONDS", 10, least=1)
NOTICE_SECONDS = env.number("PLURANK_NOTICE_SECONDS", 3600)  # between two mails about one benchmark


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
# Sign-up must not tell whether an address has an account. Whoever is signed in at once was told that it had none, so
# that only `mandatory` keeps it: whatever the address, the answer is the same page, and what is true stands in a mail
# to it. Without a mail server nobody could follow that link, and a new installation is its maker's own.
ACCOUNT_EMAIL_VERIFICATION = env.choice(
    "PLURANK_EMAIL_VERIFICATION",
    "optional" if EMAIL_BACKEND == CONSOLE_MAILS else "mandatory",
    ["none", "optional", "mandatory"],
)
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_ADAPTER = "leaderboard.services.accounts.AccountAdapter"
ACCOUNT_FORMS = {
    "change_password": "leaderboard.forms.accounts.ChangeForm",
    "reset_password": "leaderboard.forms.accounts.ResetForm",
    "reset_password_from_key": "leaderboard.forms.accounts.NewPasswordForm",
}
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Plurank] "  # not the name by which a request asked
ACCOUNT_EMAIL_NOTIFICATIONS = True  # whoever changes a password or a second factor: its owner reads of it
# What guesses is counted in the database, by account and by address (`ATTEMPTS`); these two would count it again.
# The other two send mails to addresses that somebody merely typed.
ACCOUNT_RATE_LIMITS = {
    "login_failed": "",
    "reset_password": "",
    "manage_email": "10/m/user,20/h/user",
    "signup": "20/m/ip,60/h/ip",
}
ACCOUNT_MAX_EMAIL_ADDRESSES = 5
# A session that was left open, or stolen, is not the account: what would make it one asks for the password again.
ACCOUNT_REAUTHENTICATION_REQUIRED = True
MFA_ADAPTER = "leaderboard.services.second_factor.SecondFactorAdapter"
MFA_FORMS = {
    "authenticate": "leaderboard.forms.accounts.CodeForm",
    "reauthenticate": "leaderboard.forms.accounts.CodeAgainForm",
    "activate_totp": "leaderboard.forms.accounts.ActivateForm",
}
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Plurank"
# How many proxies of ours stand in front and add to X-Forwarded-For; what clients write there counts for nothing.
PROXIES = env.number("PLURANK_PROXIES", 0)
# How often one may try before one waits: {what: {whose: (attempts, within seconds)}}. Only failures count, except of
# `reset`, where every mail does.
ATTEMPTS = {
    "login": {"account": (5, 300), "address": (20, 300)},
    "code": {"account": (5, 300), "address": (20, 300)},
    "reset": {"account": (3, 3600), "address": (10, 3600)},
    "token": {"address": (30, 60)},
    "join": {"account": (20, 300), "address": (20, 300)},
}
LOGIN_REDIRECT_URL = "home"
LOGIN_URL = "account_login"
ACCOUNT_LOGOUT_REDIRECT_URL = "home"

# --- The API ----------------------------------------------------------------------------------------------------
# By address, user and token every request is counted; by `on_demand` and `write` those of whoever asks for it.
API_RATES = {
    "address": env.rate("PLURANK_API_ADDRESS_RATE", "1200/min"),
    "user": env.rate("PLURANK_API_USER_RATE", "1200/min"),
    "token": env.rate("PLURANK_API_TOKEN_RATE", "600/min"),
    "on_demand": env.rate("PLURANK_API_ON_DEMAND_RATE", "60/min"),
    "write": env.rate("PLURANK_API_WRITE_RATE", "120/min"),
    "try": env.rate("PLURANK_TRY_RATE", "20/min"),  # tables on the page for trying; no route of the API
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
    "NUM_PROXIES": PROXIES,
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
    # In the order of the page: what is read first, then what is written, then what is administered.
    "TAGS": [
        {"name": "benchmarks"},
        {"name": "rankings"},
        {"name": "systems"},
        {"name": "comparisons"},
        {"name": "prospects"},
        {"name": "studies"},
        {"name": "revisions"},
        {"name": "submissions"},
        {"name": "decisions"},
        {"name": "hosting"},
        {"name": "people"},
        {"name": "webhooks"},
    ],
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
# What no page of the site uses, so that nothing that gets into one may either.
PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()"
    for feature in [
        "accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer", "microphone", "midi",
        "payment", "publickey-credentials-get", "screen-wake-lock", "usb", "xr-spatial-tracking",
    ]
)  # fmt: skip
SECURE_REFERRER_POLICY = "same-origin"
DEVICE_COOKIE_NAME = "device"
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
    # With this prefix browsers take the cookies over HTTPS from this very host alone, not from a neighbour's.
    SESSION_COOKIE_NAME = "__Host-sessionid"
    CSRF_COOKIE_NAME = "__Host-csrftoken"
    DEVICE_COOKIE_NAME = "__Host-device"

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
        else "config.static_storage.StaticStorage"
    },
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 12_000  # a table of 1,000 tasks
DATA_UPLOAD_MAX_NUMBER_FILES = 200  # result files of one import
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "config.logs.LineFormatter"}, "json": {"()": "config.logs.JsonFormatter"}},
    "filters": {"without_address": {"()": "config.logs.WithoutAddress"}},
    "handlers": {
        "stderr": {
            "filters": ["without_address"],
            "class": "logging.StreamHandler",
            "formatter": env.choice("PLURANK_LOG_FORMAT", "line", ["line", "json"]),
        }
    },
    "root": {
        "handlers": ["stderr"],
        "level": env.choice("PLURANK_LOG_LEVEL", "INFO", ["DEBUG", "INFO", "WARNING", "ERROR"]),
    },
}
