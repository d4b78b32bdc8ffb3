"""A whole benchmark as a folder, which imports again."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.negotiation import ZipRenderer
from leaderboard.api.openapi import READING, REVISION, error
from leaderboard.api.problems import ApiError
from leaderboard.api.views.figures import FigureView
from leaderboard.services.folder_exports import FolderError, folder_zip

JSON = "application/json"  # of errors, whatever was asked for


class Folder(FigureView):
    """The folder."""

    renderer_classes = [ZipRenderer]

    @extend_schema(
        operation_id="folder",
        summary="Download a benchmark",
        tags=["benchmarks"],
        parameters=[REVISION],
        responses={
            (200, "application/zip"): OpenApiResponse(
                OpenApiTypes.BINARY, description="A zip of a folder with `scores.csv` and `benchmark.toml`."
            ),
            (422, JSON): error("There is nothing to write, or more than is sent."),
            **{(status, JSON) if answer.response else status: answer for status, answer in READING.items()},
        },
    )
    def get(self, request: Request, key: str) -> Response:
        """Scores, tasks, groups and settings of a revision. Imported again they give the same `input_hash`.

        Notes, descriptions and the history stay behind.
        """
        publication = self.published()
        try:
            return self.table(publication, "folder", lambda: folder_zip(publication.revision))
        except FolderError as problem:
            raise ApiError(422, f"This revision has no folder: {problem}.") from problem
