"""What operators learn: metrics, reports of errors, logs."""

from config import env
from config.settings.base import IS_PRODUCTION, IS_TEST, PLURANK_VERSION

# Anyone who knows it reads `/metrics`; without one there is no such page.
METRICS_TOKEN = env.secret("PLURANK_METRICS_TOKEN", least=20)
# Where errors are reported, to Sentry or GlitchTip, and as which of several installations.
SENTRY_DSN = env.text("SENTRY_DSN", "")
SENTRY_ENVIRONMENT = env.text("SENTRY_ENVIRONMENT", "production" if IS_PRODUCTION else "development")
if SENTRY_DSN and not IS_TEST:
    from config.monitoring.error_reports import report_errors

    report_errors(SENTRY_DSN, release=f"plurank@{PLURANK_VERSION}", environment=SENTRY_ENVIRONMENT)

LOG_LEVEL = env.choice("PLURANK_LOG_LEVEL", "INFO", ["DEBUG", "INFO", "WARNING", "ERROR"])
# Celery says of each wake-up that it came, and of one that came too late that a "revoked task" is discarded. Most of a
# busy queue come too late, which is harmless. What came of a job is logged where it ran.
LEVEL_OF_WAKE_UPS = "WARNING" if LOG_LEVEL == "INFO" else LOG_LEVEL
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "config.monitoring.logs.LineFormatter"},
        "json": {"()": "config.monitoring.logs.JsonFormatter"},
    },
    "filters": {
        "without_address": {"()": "config.monitoring.logs.WithoutAddress"},
        "repeated": {"()": "config.monitoring.repeats.RepeatedErrors"},
    },
    "handlers": {
        "stderr": {
            "filters": ["without_address", "repeated"],
            "class": "logging.StreamHandler",
            "formatter": env.choice("PLURANK_LOG_FORMAT", "line", ["line", "json"]),
        }
    },
    "root": {
        "handlers": ["stderr"],
        "level": LOG_LEVEL,
    },
    "loggers": {f"celery.worker.{name}": {"level": LEVEL_OF_WAKE_UPS} for name in ("strategy", "request")},
}
