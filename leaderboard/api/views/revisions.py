"""The history of a benchmark."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads, shapes
from leaderboard.api.openapi import PAGING, reading
from leaderboard.api.pagination import cut, next_url, window
from leaderboard.api.problems import ApiError
from leaderboard.api.views.base import BenchmarkView, job_state
from leaderboard.models import Revision as RevisionRow
from leaderboard.selectors.audience import Audience
from leaderboard.selectors.history import revision_jobs, revisions_of


class Revisions(BenchmarkView):
    """All revisions."""

    is_open_to_restricted = True

    @extend_schema(
        operation_id="revisions",
        summary="List revisions",
        tags=["revisions"],
        parameters=PAGING,
        responses=reading(shapes.RevisionPage),
    )
    def get(self, request: Request, key: str) -> Response:
        """Every state of the benchmark's inputs, newest first: what caused it, and what was published of it."""
        wanted = window(request.query_params)
        rows = revisions_of(self.benchmark)
        if wanted.after:
            if not wanted.after.isdecimal():
                raise ApiError(400, "`cursor` is none of this list's; follow the `next` of a page.")
            rows = rows.filter(number__lt=min(int(wanted.after), 2**31 - 1))
        page = cut(list(rows[: wanted.size + 1]), wanted, lambda revision: revision.number)
        found = {
            "revision": self.benchmark.published_number or None,
            "next": next_url(request, page),
            "results": _revisions(list(page.items), self.audience),
        }
        return self.answer_here(lambda: found)


class Revision(BenchmarkView):
    """One revision."""

    is_open_to_restricted = True

    @extend_schema(
        operation_id="revision",
        summary="Read a revision",
        tags=["revisions"],
        responses=reading(shapes.RevisionDetail),
    )
    def get(self, request: Request, key: str, number: int) -> Response:
        """One state of the benchmark's inputs, with its configuration."""
        rows = revisions_of(self.benchmark).select_related("configuration")
        row = rows.filter(number=min(number, 2**31 - 1)).first()
        if row is None:
            last = self.benchmark.last_revision_number
            raise Http404(f"There is no revision {number}; the last one is {last}.")
        configuration = payloads.configuration(row.configuration.content)
        found = _revisions([row], self.audience)[0] | {"configuration": configuration}
        return self.answer_here(lambda: found)


def _revisions(rows: list[RevisionRow], seeing: Audience) -> list[dict[str, Any]]:
    jobs = revision_jobs([row.pk for row in rows])
    found = [payloads.revision(row, [job_state(job) for job in jobs.get(row.pk, [])]) for row in rows]
    return [_quiet(entry, seeing) for entry in found] if seeing.is_restricted else found


def _quiet(entry: dict[str, Any], seeing: Audience) -> dict[str, Any]:
    """A revision for whom something is hidden: not who submitted, what they say of it, nor a hash to guess against."""
    told = entry | {"input_hash": None, "jobs": [job | {"error": ""} for job in entry["jobs"]]}
    is_the_owners = entry["cause"] == RevisionRow.Cause.CONFIGURATION
    if is_the_owners or (seeing.sees_others and seeing.sees_names):
        return told
    return told | {"author": None, "note": ""}
