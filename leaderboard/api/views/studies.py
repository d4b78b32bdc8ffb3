"""The studies of a revision: how far they are, and what they found."""

from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads
from leaderboard.api import study_shapes as shapes
from leaderboard.api.negotiation import NPZRenderer
from leaderboard.api.openapi import REVISION, reading
from leaderboard.api.problems import ApiError
from leaderboard.api.views.figures import FigureView
from leaderboard.models import Publication, Report
from leaderboard.selectors.reports import unpack_arrays
from leaderboard.services.job_kinds import STUDY
from leaderboard.services.study_states import StudyState, study_states

FORMAT = OpenApiParameter("format", enum=["json", "npz"], description="`npz`: the whole distribution, for NumPy.")


class Studies(FigureView):
    """All studies."""

    @extend_schema(
        operation_id="studies",
        summary="List studies",
        tags=["studies"],
        parameters=[REVISION],
        responses=reading(shapes.StudyList),
    )
    def get(self, request: Request, key: str) -> Response:
        """Every study of the catalogue: whether it runs, how far it is, what it was estimated to take and took."""
        publication = self.published()
        entries = [_entry(state) for state in study_states(self.benchmark, publication)]
        return self.answer_here(lambda: payloads.published(publication) | {"results": entries})


class Study(FigureView):
    """One study."""

    renderer_classes = [JSONRenderer, NPZRenderer]

    @extend_schema(
        operation_id="study",
        summary="Read a study",
        tags=["studies"],
        parameters=[REVISION, FORMAT],
        responses=reading(shapes.StudyDetail)
        | {(200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY, description="The arrays as .npz.")},
    )
    def get(self, request: Request, key: str, study: str) -> Response:
        """What a study found: its summary, and as a file for NumPy the whole distribution."""
        publication = self.published()
        states = {state.key: state for state in study_states(self.benchmark, publication)}
        if study not in states:
            raise Http404(f"There is no study {study!r}; there are {', '.join(states)}.")
        report = _report(publication, states[study])
        if request.accepted_renderer.format == NPZRenderer.format:
            if report is None:
                raise ApiError(404, "The study is not done.")
            return self._file(publication, report, study)
        arrays = sorted(unpack_arrays(report.arrays)) if report else []
        content = {"summary": report.summary if report else None, "arrays": arrays}
        return self.answer_here(lambda: payloads.published(publication) | _entry(states[study]) | content)

    def _file(self, publication: Publication, report: Report, study: str) -> Response:
        response = self.answer_here(lambda: bytes(report.arrays), state=[publication.pk, report.pk])
        name = f"{self.benchmark.key}-{study}-r{publication.revision.number}.npz"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response


def _report(publication: Publication, state: StudyState) -> Report | None:
    """The report of what is planned of a study."""
    if not state.parameter_hash:
        return None
    return Report.objects.filter(
        revision_id=publication.revision_id,
        engine_version=publication.engine_version,
        kind=STUDY,
        parameter_hash=state.parameter_hash,
    ).first()


def _entry(state: StudyState) -> dict[str, Any]:
    return {
        "study": state.key,
        "name": state.name,
        "question": state.question,
        "source": state.source,
        "state": state.state,
        "reason": state.reason,
        "progress": state.progress,
        "n_chunks": state.n_chunks,
        "estimate": state.estimate,
        "seconds": state.seconds,
        "parameters": {name: value for name, value in state.parameters.items() if name != "study"},
    }
