"""Mails and webhooks. Mails are rows first (`OutboxMessage`), which the sweep sends."""

from django.core.exceptions import ImproperlyConfigured

from config import env, env_addresses
from config.settings.base import ALLOWED_HOSTS, CSRF_TRUSTED_ORIGINS, IS_PRODUCTION

CONSOLE_MAILS = "django.core.mail.backends.console.EmailBackend"
EMAIL_BACKEND = env.module_path("PLURANK_EMAIL_BACKEND", CONSOLE_MAILS)
EMAIL_HOST = env_addresses.host("PLURANK_EMAIL_HOST", "localhost")
EMAIL_PORT = env.number("PLURANK_EMAIL_PORT", 25, least=1, most=65_535)
EMAIL_HOST_USER = env.text("PLURANK_EMAIL_USER", "")
EMAIL_HOST_PASSWORD = env.text("PLURANK_EMAIL_PASSWORD", "")
EMAIL_USE_TLS = env.boolean("PLURANK_EMAIL_STARTTLS", default=False)
EMAIL_USE_SSL = env.boolean("PLURANK_EMAIL_TLS", default=False)
if EMAIL_USE_TLS and EMAIL_USE_SSL:
    raise ImproperlyConfigured(
        "PLURANK_EMAIL_STARTTLS and PLURANK_EMAIL_TLS are both true; set the one that fits the port"
    )
EMAIL_TIMEOUT = env.seconds("PLURANK_EMAIL_SECONDS", 10, least=1)
OUTBOX_ATTEMPTS = env.number("PLURANK_EMAIL_ATTEMPTS", 12, least=1)
MAIL_DAYS = env.days("PLURANK_EMAIL_DAYS", 7, least=1)  # for which the text of a mail that is not sent is kept
# Where links in mails and feeds lead, by whatever name and port someone asked the site.
OWN_ADDRESS = f"https://{ALLOWED_HOSTS[0].lstrip('.')}" if IS_PRODUCTION else "http://127.0.0.1:8000"
SITE_URL = env_addresses.own_url(
    "PLURANK_URL", next((origin for origin in CSRF_TRUSTED_ORIGINS if "*" not in origin), OWN_ADDRESS)
)
DEFAULT_FROM_EMAIL = env_addresses.sender(
    "PLURANK_EMAIL_FROM", env_addresses.sender_of(SITE_URL) if IS_PRODUCTION else "plurank@localhost"
)
# Webhooks go to the public internet alone, unless an operator's own receivers are inside.
WEBHOOKS_INSIDE = env.boolean("PLURANK_WEBHOOKS_INSIDE", default=False)
WEBHOOK_SECONDS = env.seconds("PLURANK_WEBHOOK_SECONDS", 10, least=1)
# How long one file of an address that a benchmark follows may take.
FOLLOW_SECONDS = env.seconds("PLURANK_FOLLOW_SECONDS", 30, least=1)
NOTICE_SECONDS = env.number("PLURANK_NOTICE_SECONDS", 3600)  # between two mails about one benchmark
