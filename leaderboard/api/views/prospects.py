"""Who can win under which weights: stored verdicts, and answers under conditions."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads, prospect_payloads
from leaderboard.api.bodies import conditions_of
from leaderboard.api.negotiation import TABLES
from leaderboard.api.openapi import CONDITIONS_EXAMPLE, PAGING, READING, REVISION, TABLE_FORMAT, error, reading
from leaderboard.api.pagination import cut_counted, next_url, window
from leaderboard.api.problems import ApiError
from leaderboard.api.shapes import prospects as shapes
from leaderboard.api.views.base import job_states
from leaderboard.api.views.figures import FigureView
from leaderboard.models import Publication
from leaderboard.selectors.scores import systems_at
from leaderboard.services.on_demand import TooLargeError
from leaderboard.services.prospects import (
    StoredProspects,
    prospects_under,
    read_conditions,
    stored_prospects,
    system_names,
)
from leaderboard.services.prospects_page import prospect_order
from leaderboard.services.sheets import PROSPECT_HEADINGS, Origin, prospects_sheet
from ranking_engine.prospects import ConditionError
from ranking_engine.prospects import Prospects as Found

ALL_TASKS = OpenApiParameter(
    "all_tasks", bool, description="Whether tasks of weight 0 count, too; without any, nothing changes."
)


class ProspectsView(FigureView):
    """A view of a revision's prospects."""

    def is_asked_for_all_tasks(self) -> bool:
        """What `?all_tasks=` says.

        Raises:
            ApiError: it says neither true nor false.
        """
        asked = self.request.query_params.get("all_tasks", "false")
        if asked not in {"true", "false"}:
            raise ApiError(400, f"`all_tasks` is {asked[:40]!r}; expected true or false.")
        return asked == "true"

    def opening(self, publication: Publication, jobs: list[dict[str, Any]]) -> tuple[dict[str, Any], Found | None]:
        """What every answer says, and the prospects that were asked for, where they are there."""
        stored, reason = stored_prospects(publication)
        job = next((job for job in jobs if job["kind"] == "prospects"), None)
        is_failed = job is not None and job["state"] == "failed"
        missing = "undefined" if reason else "failed" if is_failed else "computing"
        found = self._chosen(stored)
        return {
            **payloads.published(publication),
            "status": "computed" if stored else missing,
            "reason": job["error"] if job is not None and is_failed else reason,
            "all_tasks": bool(stored and found is stored.with_all_tasks),
            "unweighted_tasks": list(stored.unweighted) if stored else [],
            "tasks": list(found.tasks) if found else [],
            "n_draws": found.n_draws if found else 0,
            "seed": found.seed if found else 0,
            "is_complete": bool(found and found.is_complete),
            "jobs": jobs,
        }, found

    def _chosen(self, stored: StoredProspects | None) -> Found | None:
        if stored is None:
            return None
        return stored.with_all_tasks if self.is_asked_for_all_tasks() and stored.with_all_tasks else stored.found


class Prospects(ProspectsView):
    """Every system's prospect."""

    renderer_classes = TABLES
    reads_by_post = True

    @extend_schema(
        operation_id="prospects",
        summary="Who can win",
        tags=["prospects"],
        parameters=[REVISION, ALL_TASKS, TABLE_FORMAT, *PAGING],
        responses=reading(
            shapes.ProspectsDetail, table=f"{', '.join(heading.key for heading in PROSPECT_HEADINGS)}."
        ),
    )
    def get(self, request: Request, key: str) -> Response:
        """Of every system whether some weighting of the tasks makes it win: with weights, or with a proof."""
        publication, wanted = self.published(), window(request.query_params)
        jobs = job_states(publication)
        self.is_asked_for_all_tasks()
        if self.file_format:
            return self.table(publication, "prospects", lambda: self._file(publication), jobs)

        def build() -> dict[str, Any]:
            head, found = self.opening(publication, jobs)
            told = _results(found, system_names(publication.revision))
            page = cut_counted(told["results"], wanted)
            return head | told | {
                "next": next_url(request, page, revision=publication.revision.number),
                "results": page.items,
            }

        return self.figures(publication, build, jobs)

    def _file(self, publication: Publication) -> str:
        stored, _ = stored_prospects(publication)
        origin = Origin.of(self.benchmark, publication.revision)
        return self.written(prospects_sheet(origin, stored, all_tasks=self.is_asked_for_all_tasks()))

    @extend_schema(
        operation_id="prospects_under_conditions",
        summary="Who can win under conditions on the weights",
        tags=["prospects"],
        parameters=[REVISION],
        request=shapes.ConditionsBody,
        examples=[CONDITIONS_EXAMPLE],
        responses={
            (200, "application/json"): shapes.ConditionsAnswer,
            400: error("A condition cannot be read, or names what there is not."),
            422: error("The board is too large for an answer on demand; the message says the limit."),
            **{status: answer for status, answer in READING.items() if status != 304},
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """Solved when asked, stored nowhere. Conditions that no weights satisfy are told apart from a system that
        cannot win under them."""
        publication = self.published()
        texts, all_tasks, rule = conditions_of(request.data)
        revision = publication.revision
        try:
            conditions = read_conditions(texts, revision)
            found = prospects_under(revision, conditions, self.audience.level, all_tasks=all_tasks, rule=rule)
        except ConditionError as problem:
            raise ApiError(400, f"The conditions cannot be read: {problem}.") from problem
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        response = Response(
            payloads.published(publication)
            | {
                "rule": found.rule,
                "conditions": list(found.conditions),
                "feasible": not found.conditions_reason,
                "reason": found.conditions_reason,
                "all_tasks": all_tasks,
                "tasks": list(found.tasks),
                "is_complete": found.is_complete,
            }
            | _results(found, system_names(revision))
        )
        response["Cache-Control"] = "no-store"
        return response


class Prospect(ProspectsView):
    """One system's prospect."""

    @extend_schema(
        operation_id="prospect",
        summary="Whether one system can win",
        tags=["prospects"],
        parameters=[REVISION, ALL_TASKS],
        responses=reading(shapes.ProspectDetail),
    )
    def get(self, request: Request, key: str, system_key: str) -> Response:
        """A system's verdict: weights with which it wins and the nearest ones, or the proof that there are none."""
        publication = self.published()
        if system_key not in {system.key for system in systems_at(publication.revision)}:
            raise Http404(f"No system {system_key!r} is on the board of revision {publication.revision.number}.")
        jobs = job_states(publication)
        self.is_asked_for_all_tasks()

        def build() -> dict[str, Any]:
            head, found = self.opening(publication, jobs)
            names = system_names(publication.revision)
            return head | {"result": prospect_payloads.entry(found[system_key], names) if found else None}

        return self.figures(publication, build, jobs)


def _results(found: Found | None, names: dict[str, str]) -> dict[str, Any]:
    ordered = _ordered(found, names)
    conditions = found.conditions if found else ()
    return {
        "n_prospective": sum(prospect.is_prospective for prospect in ordered),
        "results": [prospect_payloads.entry(prospect, names, conditions) for prospect in ordered],
    }


def _ordered(found: Found | None, names: dict[str, str]) -> list[Any]:
    return sorted(found.systems, key=lambda prospect: prospect_order(prospect, names)) if found else []
