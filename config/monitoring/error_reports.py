"""Reports of errors to Sentry, or to GlitchTip, which takes the same. Imported only where `SENTRY_DSN` is set.

A report says where in the program something went wrong, and of which request or job it was part. It says nothing of
what was worked on: no values of variables, no texts of exceptions, no address, header, cookie or body of a request. The
log has the texts, under the same ids. What a report may hold is listed here; whatever else the package gathers, now or
in a later release, is left out.
"""

import logging
import time
from typing import Any

import sentry_sdk
from django.core.exceptions import ImproperlyConfigured
from sentry_sdk.integrations.atexit import AtexitIntegration
from sentry_sdk.integrations.celery import CeleryIntegration
from sentry_sdk.integrations.dedupe import DedupeIntegration
from sentry_sdk.integrations.django import DjangoIntegration
from sentry_sdk.integrations.excepthook import ExcepthookIntegration
from sentry_sdk.integrations.logging import LoggingIntegration
from sentry_sdk.integrations.threading import ThreadingIntegration
from sentry_sdk.utils import BadDsn

from config.monitoring.logs import current_ids

IDS = ("request", "job", "kind", "attempt")
OF_EVENT = ("event_id", "timestamp", "level", "platform", "logger", "release", "environment", "server_name", "sdk")
OF_FRAME = (
    "filename", "abs_path", "function", "module", "lineno", "pre_context", "context_line", "post_context", "in_app",
)  # fmt: skip
OF_MECHANISM = ("type", "handled", "exception_id", "parent_id", "is_exception_group")
# Only of these loggers the text before its values were put in is known to be one of the program.
OUR_LOGGERS = ("leaderboard", "jobs", "config", "plurank", "django")
NAMES = ("component", "task")  # a view or a task by its name, not by the address that led there
LEFT_OUT = "left out; the log has it"
QUIET_SECONDS = 60.0  # the same error of one process is reported once in so long
MOST_REMEMBERED = 200

_reported: dict[tuple, float] = {}


def report_errors(dsn: str, *, release: str, environment: str) -> None:
    """Report what is logged as an error, and what ends a request, a job or a process, from now on.

    Args:
        dsn: the address of the project, with its key.
        release: which version runs.
        environment: which of several installations this is.

    Raises:
        ImproperlyConfigured: the address is none. The message does not repeat it: it holds a key.
    """
    try:
        sentry_sdk.init(
            dsn,
            release=release,
            environment=environment,
            before_send=_without_data,
            send_default_pii=False,
            include_local_variables=False,
            max_request_body_size="never",
            max_breadcrumbs=0,
            default_integrations=False,
            auto_enabling_integrations=False,
            integrations=[
                DjangoIntegration(transaction_style="function_name", signals_spans=False),
                CeleryIntegration(propagate_traces=False),
                LoggingIntegration(level=None, event_level=logging.ERROR, sentry_logs_level=None),
                ExcepthookIntegration(),
                ThreadingIntegration(propagate_scope=False),
                DedupeIntegration(),
                AtexitIntegration(callback=lambda _pending, _timeout: None),
            ],
            auto_session_tracking=False,
            send_client_reports=False,
            propagate_traces=False,
            enable_metrics=False,
        )
    except BadDsn:
        raise ImproperlyConfigured(
            "SENTRY_DSN is not the URL of a project; write it as Sentry or GlitchTip shows it: https://KEY@HOST/NUMBER"
        ) from None


def _without_data(event: Any, hint: Any) -> Any:  # noqa: ANN401 -- Sentry's own shapes
    """What of an event is sent; None where the same was reported a moment ago."""
    if _was_reported(event):
        return None
    kept = {name: event[name] for name in OF_EVENT if name in event}
    ids = current_ids()
    kept["tags"] = {name: str(ids[name]) for name in IDS if name in ids}
    if event.get("transaction_info", {}).get("source") in NAMES:
        kept["transaction"] = event["transaction"]
    template = event.get("logentry", {}).get("message")
    if template is not None:
        is_ours = str(event.get("logger", "")).partition(".")[0] in OUR_LOGGERS
        kept["logentry"] = {"message": template if is_ours else LEFT_OUT}
    if event.get("exception"):
        values = []
        for value in event["exception"]["values"]:
            about = {name: value[name] for name in ("type", "module") if name in value} | {"value": LEFT_OUT}
            if mechanism := value.get("mechanism"):
                about["mechanism"] = {name: mechanism[name] for name in OF_MECHANISM if name in mechanism}
            if value.get("stacktrace"):
                frames = value["stacktrace"].get("frames", [])
                about["stacktrace"] = {"frames": [{name: f[name] for name in OF_FRAME if name in f} for f in frames]}
            values.append(about)
        kept["exception"] = {"values": values}
    return kept


def _was_reported(event: Any) -> bool:  # noqa: ANN401
    """While a database is away every process fails every second; one report of each place says it all."""
    values = (event.get("exception") or {}).get("values") or []
    frames = (values[-1].get("stacktrace") or {}).get("frames") or [] if values else []
    place = (frames[-1].get("module"), frames[-1].get("lineno")) if frames else ()
    key = (event.get("logger"), event.get("logentry", {}).get("message"), *(v.get("type") for v in values), *place)
    now = time.monotonic()
    if now - _reported.get(key, -QUIET_SECONDS) < QUIET_SECONDS:
        return True
    if len(_reported) >= MOST_REMEMBERED:
        _reported.clear()
    _reported[key] = now
    return False
