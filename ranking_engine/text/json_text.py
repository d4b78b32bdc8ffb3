"""Reports as JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def json_text(report: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> str:
    """Return a report as JSON, indented, with a line break at its end.

    Raises:
        ValueError: it has NaN or an infinity, which JSON does not have.
    """
    return json.dumps(report, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
