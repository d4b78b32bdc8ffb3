"""Examples of hosting for the schema."""

from typing import Any

from drf_spectacular.utils import OpenApiExample


def _example(name: str, value: dict[str, Any]) -> OpenApiExample:
    return OpenApiExample(name, value=value, request_only=True, media_type="application/json")


BENCHMARK_EXAMPLE = _example(
    "Two groups of tasks",
    {
        "name": "Reading and counting",
        "key": "reading-and-counting",
        "visibility": "private",
        "submission_policy": "moderated",
        "groups": [{"name": "Reading", "weight": "2"}, {"name": "Counting"}],
        "tasks": [
            {"name": "BoolQ", "group": "Reading", "minimum": 0, "maximum": 100},
            {"name": "GSM8K", "group": "Counting"},
            {"name": "Latency", "direction": -1, "unit": "ms", "weight": "0.5"},
        ],
    },
)
SETTINGS_EXAMPLE = _example(
    "Close it at the end of the year",
    {"deadline": "2026-12-31T23:59:59Z", "daily_cap": 5, "reason": "Announced with the call."},
)
TASKS_EXAMPLE = _example(
    "A weight, a task more and one less",
    {
        "tasks": [
            {"key": "boolq", "weight": "0.5"},
            {"name": "MATH", "group": "Counting"},
            {"key": "gsm8k", "is_archived": True},
        ],
        "reason": "GSM8K is solved.",
    },
)
ARCHIVE_EXAMPLE = _example("It is solved", {"archived": True, "reason": "It is solved."})
EDITION_EXAMPLE = _example("The next year's", {"name": "GLUE 2027", "with_scores": True})
RELEASE_EXAMPLE = _example("To be cited", {"revision": 1, "name": "2026.1"})
DECISIONS_EXAMPLE = _example(
    "Reject one", {"submissions": ["5c0f3b1e-8a1d-4f0b-9a53-0d9f3c1c2b7a"], "decision": "reject", "reason": "Made up."}
)
PERSON_EXAMPLE = _example("Another role", {"role": "member", "reason": "They asked for it."})
INVITATION_EXAMPLE = _example("A moderator", {"role": "moderator"})
TAKEDOWN_EXAMPLE = _example(
    "Published without a right to it", {"reason": "The test set's owner objects.", "with_note": True, "is_sure": True}
)
CLOSING_EXAMPLE = _example("For good", {"password": "your own password", "is_sure": True})
WEBHOOK_EXAMPLE = _example("Of new revisions", {"address": "https://example.org/hook", "events": ["revision"]})
WEBHOOK_CHANGE_EXAMPLE = _example("Switch it off", {"is_active": False})
