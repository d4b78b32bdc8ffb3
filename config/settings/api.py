"""The API: rate limits, and the texts of its schema."""

from config import env
from config.settings.accounts import PROXIES

# By address, user and token every request is counted; by `on_demand`, `dry_run` and `write` those that are such.
API_RATES = {
    "address": env.rate("PLURANK_API_ADDRESS_RATE", "1200/min"),
    "user": env.rate("PLURANK_API_USER_RATE", "1200/min"),
    "token": env.rate("PLURANK_API_TOKEN_RATE", "600/min"),
    "on_demand": env.rate("PLURANK_API_ON_DEMAND_RATE", "60/min"),
    "dry_run": env.rate("PLURANK_API_DRY_RUN_RATE", "120/min"),
    "write": env.rate("PLURANK_API_WRITE_RATE", "120/min"),
    # No routes of the API: tables on the page for trying, and the search over the site.
    "try": env.rate("PLURANK_TRY_RATE", "20/min"),
    "search": env.rate("PLURANK_SEARCH_RATE", "120/min"),
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["leaderboard.api.protocol.access.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["leaderboard.api.protocol.access.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["leaderboard.api.protocol.parsers.StrictJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "leaderboard.api.protocol.renderers.Negotiation",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "leaderboard.api.protocol.schema.AutoSchema",
    "EXCEPTION_HANDLER": "leaderboard.api.protocol.errors.handle",
    "DEFAULT_THROTTLE_CLASSES": [
        "leaderboard.api.protocol.access.UserThrottle",
        "leaderboard.api.protocol.access.TokenThrottle",
        "leaderboard.api.protocol.access.OnDemandThrottle",
        "leaderboard.api.protocol.access.DryRunThrottle",
        "leaderboard.api.protocol.access.WriteThrottle",
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
        {"name": "models"},
        {"name": "comparisons"},
        {"name": "meta-boards"},
        {"name": "prospects"},
        {"name": "studies"},
        {"name": "revisions"},
        {"name": "submissions"},
        {"name": "predictions"},
        {"name": "evaluations"},
        {"name": "votes"},
        {"name": "decisions"},
        {"name": "hosting"},
        {"name": "evaluation"},
        {"name": "people"},
        {"name": "organisations"},
        {"name": "webhooks"},
        {"name": "following"},
    ],
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "POSTPROCESSING_HOOKS": ["leaderboard.api.protocol.schema.strict_bodies"],
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
}
