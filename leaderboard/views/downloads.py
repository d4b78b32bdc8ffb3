"""Tables of a page as files."""

from collections.abc import Sequence
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse

from leaderboard.services.table_files import FORMAT_NAMES, csv_text


def csv_response(name: str, rows: Sequence[Sequence[object]]) -> HttpResponse:
    """Rows as a CSV file of this name."""
    response = HttpResponse(csv_text(rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def export_links(key: str, table: str, **stated: object) -> list[dict[str, str]]:
    """Where a table of a benchmark is to be had, in every format.

    Args:
        key: the benchmark's.
        table: one of those of `views.exports`.
        stated: parameters of the address; empty ones are left out.
    """
    return [
        {"label": label, "url": export_url(key, table, extension, **stated)}
        for extension, label in FORMAT_NAMES.items()
    ]


def export_url(key: str, table: str, extension: str, **stated: object) -> str:
    """Where one file of a benchmark is to be had."""
    kept = {name: value for name, value in stated.items() if value}
    return reverse("export", args=[key, table, extension]) + (f"?{urlencode(kept)}" if kept else "")
