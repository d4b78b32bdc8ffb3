"""Stability studies: where each stands, and what it found."""

from typing import Any

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads
from leaderboard.api.negotiation import TABLES
from leaderboard.api.openapi import REVISION, TABLE_FORMAT, reading
from leaderboard.api.shapes import studies as shapes
from leaderboard.api.views.base import path_below
from leaderboard.api.views.figures import FigureView
from leaderboard.models import Publication
from leaderboard.services.sheets import Origin, studies_sheet, study_sheet
from leaderboard.services.stability_page import array_shapes, study_arrays, study_reports
from leaderboard.services.study_states import StudyState, study_states


def entry(state: StudyState) -> dict[str, Any]:
    """A study as the list says it."""
    return {
        "study": state.key,
        "name": state.name,
        "question": state.question,
        "source": state.source,
        "state": state.state,
        "reason": state.reason,
        "progress": state.progress,
        "estimated_seconds": state.estimate,
        "seconds": state.seconds,
        "steps": state.steps,
    }


class Studies(FigureView):
    """Every study."""

    renderer_classes = TABLES

    @extend_schema(
        operation_id="studies",
        summary="List the stability studies",
        tags=["studies"],
        parameters=[REVISION, TABLE_FORMAT],
        responses=reading(shapes.Studies, table="study, question, state, seconds, reason."),
    )
    def get(self, request: Request, key: str) -> Response:
        """Every study of the catalogue: what it asks, and where it stands for the revision."""
        publication = self.published()
        results = [entry(state) for state in study_states(self.benchmark, publication)]
        if self.file_format:
            origin = Origin.of(self.benchmark, publication.revision)
            return self.table(
                publication,
                "studies",
                lambda: self.written(studies_sheet(origin, self.benchmark, publication)),
                results,
            )
        return self.figures(publication, lambda: {**payloads.published(publication), "results": results}, results)


class Study(FigureView):
    """One study."""

    renderer_classes = TABLES

    @extend_schema(
        operation_id="study",
        summary="Read a stability study",
        tags=["studies"],
        parameters=[REVISION, TABLE_FORMAT],
        responses=reading(shapes.StudyDetail, table="rule, figure, value: a line for each figure of the summary."),
    )
    def get(self, request: Request, key: str, study: str) -> Response:
        """What a study found, its parameters and seed, and where its whole distribution is."""
        publication = self.published()
        states = study_states(self.benchmark, publication)
        state = next((state for state in states if state.key == study), None)
        if state is None:
            raise Http404(f"There is no study {study!r}; there are: {', '.join(state.key for state in states)}.")
        head = entry(state)
        if self.file_format:
            origin, name = Origin.of(self.benchmark, publication.revision), state.name
            return self.table(
                publication, study, lambda: self.written(study_sheet(origin, publication, study, name)), [head]
            )

        def build() -> dict[str, Any]:
            return {**payloads.published(publication), **head, **self._found(publication, study)}

        return self.figures(publication, build, [head])

    def _found(self, publication: Publication, study: str) -> dict[str, Any]:
        report = study_reports(publication).get(study)
        if report is None:
            return {"parameters": {}, "summary": {}, "distribution": {}, "distribution_url": None}
        path = reverse("distribution", args=[self.benchmark.key, study])
        return {
            "parameters": {name: value for name, value in report.parameters.items() if name != "study"},
            "summary": report.summary,
            "distribution": array_shapes(study_arrays(publication, study) or b""),
            "distribution_url": f"{path_below(self.request, path)}?revision={publication.revision.number}",
        }
