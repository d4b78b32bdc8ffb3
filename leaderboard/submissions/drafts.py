"""Drafts: what someone wants to submit, checked, and kept until they confirm it."""

from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from leaderboard.access.audience import Audience
from leaderboard.common.language.numbers import localise
from leaderboard.models import Draft, Score, Task
from leaderboard.submissions.checks import check_rows
from leaderboard.submissions.rows import CheckedRow, SubmittedRow

MAX_DRAFTS = 50  # a user; the oldest ones go
SHOWN_CELLS = 200  # of a draft that can no longer be previewed


def make_draft(audience: Audience, rows: Sequence[SubmittedRow], *, source: str, note: str = "") -> Draft:
    """Check an upload and keep it until it is confirmed. Of someone's drafts the newest are kept.

    Raises:
        InputError: something in it cannot be stored; nothing is kept.
    """
    benchmark, owner = audience.benchmark, audience.user
    draft = Draft.objects.create(
        benchmark=benchmark,
        owner=owner,
        source=source,
        rows=check_rows(audience, rows),
        note=note,
        previewed_number=benchmark.last_revision_number,
        expires_at=timezone.now() + timedelta(days=settings.DRAFT_DAYS),
    )
    older = Draft.objects.filter(owner=owner).order_by("-pk").values_list("pk", flat=True)[MAX_DRAFTS:]
    Draft.objects.filter(pk__in=list(older)).delete()
    return draft


def rows_now(draft: Draft, audience: Audience) -> list[CheckedRow]:
    """The draft's rows, checked again: systems, tasks and rights may have changed since it was made.

    Args:
        draft: what was checked some time ago.
        audience: what its owner is now to the benchmark as it is now.

    Raises:
        InputError: something in it cannot be stored any more.
    """
    raw = []
    for row in draft.rows:  # what a correction took over is taken over again
        about, carried = row["system"], row.get("carried", ())
        instances = row.get("stated_instances", row.get("instances", {}))
        raw.append(
            SubmittedRow(
                system_name=about["name"],
                scores={
                    key: score["value"] if "value" in score else score["missing"]
                    for key, score in row["scores"].items()
                    if key not in carried
                },
                organisation=about["organisation"],
                url=about["url"],
                description=about["description"],
                metadata=about.get("metadata", {}),
                line=row["line"],
                instances={key: entry for key, entry in row.get("instances", {}).items() if key in instances},
                corrects=row.get("corrects", ""),
                details={
                    key: (score.get("standard_error"), score.get("n_instances"))
                    for key, score in row["scores"].items()
                    if len(score) > 1
                },
            )
        )
    return check_rows(audience, raw)


def draft_lines(draft: Draft) -> tuple[list[tuple[str, str, str]], int]:
    """What a draft says as it was read: system, task and score of the first lines, and how many more there are."""
    names = dict(Task.objects.filter(benchmark=draft.benchmark).values_list("key", "name"))
    cells = [
        (
            row["system"]["name"],
            names.get(key, key),
            str(Score.MissingReason(score["missing"]).label)
            if "missing" in score
            else localise(score["value"], ".12g"),
        )
        for row in draft.rows
        for key, score in row["scores"].items()
    ]
    return cells[:SHOWN_CELLS], max(0, len(cells) - SHOWN_CELLS)
