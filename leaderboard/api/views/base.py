"""What all views of the API share: throttles, errors, and answers that can be asked for again cheaply."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.http import parse_etags
from rest_framework.exceptions import Throttled
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from leaderboard.api import payloads
from leaderboard.api.problems import ApiError
from leaderboard.api.throttles import AddressThrottle
from leaderboard.models import Benchmark, Job, Publication, User
from leaderboard.selectors.audience import Audience, Viewer, proven_system_ids, readable_benchmark
from leaderboard.selectors.history import WithdrawnRevisionError, publication_at, revision_jobs, told_hash
from leaderboard.services.hashing import content_hash
from leaderboard.services.table_files import SHEET_FORMATS, Sheet

REVALIDATE = "max-age=0, must-revalidate"


class ApiView(APIView):
    """A view of the API."""

    http_method_names = ["get", "head", "post", "patch"]
    # Which scope each method needs of a token: one of these. Reading needs `read` where nothing is said.
    scopes: ClassVar[dict[str, tuple[str, ...]]] = {}
    is_on_demand: ClassVar[bool] = False  # whether every answer is computed when it is asked for
    reads_by_post: ClassVar[bool] = False  # whether POST only asks, and is as open as reading

    def perform_authentication(self, request: Request) -> None:
        """Count the address first, so that guessing at tokens is counted too."""
        throttle = AddressThrottle()
        if not throttle.allow_request(request, self):
            self._too_often(throttle)
        super().perform_authentication(request)

    def check_throttles(self, request: Request) -> None:
        """Count the request for its user and its token."""
        for throttle in self.get_throttles():
            if not throttle.allow_request(request, self):
                self._too_often(throttle)

    @staticmethod
    def _too_often(throttle: Any) -> None:  # noqa: ANN401
        wait = throttle.wait()
        error = Throttled(wait)
        again = f"try again in {max(1, round(wait))} s" if wait else "try again later"
        what = throttle.scope.replace("_", " ")
        error.detail = f"Too many requests: {throttle.rate} are allowed by {what}; {again}."  # type: ignore[assignment]
        raise error

    def get_renderers(self) -> list[BaseRenderer]:
        """Files are only read; what is written is answered with JSON."""
        is_reading = self.request is None or self.request.method in {"GET", "HEAD"}
        return super().get_renderers() if is_reading else [JSONRenderer()]

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Errors are JSON, whatever was asked for, and nobody keeps them."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        if getattr(answer, "exception", False):
            answer.accepted_renderer = JSONRenderer()
            answer.accepted_media_type = JSONRenderer.media_type
            answer["Cache-Control"] = "no-store"
        return answer

    @property
    def viewer(self) -> Viewer:
        """Who asks."""
        return self.request.user

    @property
    def user(self) -> User:
        """Who asks with a token; the permission has seen to it that there is one."""
        if not isinstance(self.request.user, User):
            raise ApiError(401, "This needs a token.")
        return self.request.user

    @property
    def is_csv(self) -> bool:
        """Whether a table is asked for."""
        return self.file_format == "csv"

    @property
    def file_format(self) -> str:
        """The ending of the file that is asked for; empty where it is JSON."""
        asked = str(self.request.accepted_renderer.format)
        return "" if asked == "json" else asked

    def named_file(self, response: Response, stem: str) -> Response:
        """The answer as a file of this name."""
        response["Content-Disposition"] = f'attachment; filename="{stem}.{self.file_format}"'
        return response

    def written(self, sheet: Sheet) -> str:
        """A table in the form that is asked for."""
        return SHEET_FORMATS[self.file_format][1](sheet)

    def truth(self, name: str) -> bool:
        """What the address says under `name`, false where it says nothing.

        Raises:
            ApiError: it says neither true nor false.
        """
        text = self.request.query_params.get(name, "false")
        if text not in {"true", "false"}:
            raise ApiError(400, f"`{name}` is {text[:40]!r}; expected true or false.")
        return bool(text == "true")

    def answer(
        self, build: Callable[[], Any], *, state: Any = None, level: str = "public", is_public: bool  # noqa: ANN401
    ) -> Response:
        """An answer with an ETag, or a 304 to whoever has it already. Call after permission was checked.

        Args:
            build: makes the content.
            state: what the content depends on beside the address and the audience; where None, the content itself.
            level: the audience's level.
            is_public: whether the answer to an anonymous request may be kept by caches that others share.
        """
        content = build() if state is None else None
        depends = content if state is None else state
        query = sorted(self.request.query_params.lists())
        etag = f'"{content_hash([self.request.path, query, level, self.request.accepted_media_type, depends])[:32]}"'
        known = parse_etags(self.request.META.get("HTTP_IF_NONE_MATCH", ""))
        if etag in known or f"W/{etag}" in known or "*" in known:
            response = Response(status=304)
        else:
            response = Response(build() if state is not None else content)
        is_shared = is_public and isinstance(self.viewer, AnonymousUser)
        response["ETag"] = etag
        response["Cache-Control"] = f"{'public' if is_shared else 'private'}, {REVALIDATE}"
        response["Vary"] = "Accept" if is_shared else "Accept, Authorization"
        return response


class BenchmarkView(ApiView):
    """A view of one benchmark: who may not read it gets the 404 of one that does not exist."""

    benchmark: Benchmark
    audience: Audience
    # Whether the view shows restricted viewers no more than they may see; whatever does not say so is closed to them.
    is_open_to_restricted: ClassVar[bool] = False

    def initial(self, request: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Check the token, then find the benchmark."""
        super().initial(request, *args, **kwargs)
        self.benchmark, self.audience = readable_benchmark(
            request.user, kwargs["key"], restricted=self.is_open_to_restricted
        )

    @cached_property
    def own(self) -> frozenset[int]:
        """Of a restricted viewer the systems that are proven theirs."""
        return proven_system_ids(self.viewer, self.benchmark) if self.audience.is_restricted else frozenset()

    def stamp(self, publication: Publication | None) -> dict[str, Any]:
        """Which revision an answer belongs to, with the hash of its inputs as far as it may be told."""
        found = payloads.published(publication)
        return found | {"input_hash": told_hash(publication.revision, self.audience) if publication else None}

    def job_states(self, publication: Publication | None) -> list[dict[str, Any]]:
        """The jobs about what is published; an error may name what is hidden."""
        found = job_states(publication)
        return [job | {"error": ""} for job in found] if self.audience.is_restricted else found

    def answer_here(self, build: Callable[[], Any], *, state: Any = None) -> Response:  # noqa: ANN401
        """An answer about this benchmark."""
        is_public = self.benchmark.visibility == Benchmark.Visibility.PUBLIC
        seeing, level = self.audience, self.audience.level
        if seeing.is_restricted:
            level = f"{level}, {seeing.sees_others}, {seeing.sees_names}, {sorted(self.own)}"
        return self.answer(build, state=state, level=level, is_public=is_public)

    def publication(self) -> Publication | None:
        """What is published, or what `?revision=` names; None while nothing is.

        Raises:
            ApiError: the revision is no number, or its rankings are not stored.
        """
        asked = self.request.query_params.get("revision", "")
        if not asked:
            return self.benchmark.publication
        if not (asked.isascii() and asked.isdigit() and len(asked) < 10):
            raise ApiError(400, f"`revision` is {asked[:40]!r}; expected the number of a revision.")
        number = int(asked)
        try:
            found = publication_at(self.benchmark, number)
        except WithdrawnRevisionError as error:
            raise ApiError(410, str(error), code="withdrawn") from error
        if found is None:
            last = self.benchmark.last_revision_number
            if not 1 <= number <= last:
                raise ApiError(404, f"There is no revision {number}; the last one is {last}.")
            raise ApiError(
                404, f"The rankings of revision {number} are not stored; `revisions/` says which ones are published."
            )
        return found

    def published(self) -> Publication:
        """As `publication`, where there has to be one.

        Raises:
            ApiError: nothing is published yet.
        """
        found = self.publication()
        if found is None:
            raise ApiError(404, "Nothing is published here yet.")
        return found


def job_states(publication: Publication | None) -> list[dict[str, Any]]:
    """The jobs about what is published, each with its state."""
    if publication is None:
        return []
    return [job_state(job) for job in revision_jobs([publication.revision_id]).get(publication.revision_id, [])]


def job_state(job: Job) -> dict[str, Any]:
    """A job as readers see it: of its error only the first line."""
    return {"kind": job.kind, "state": job.state, "error": job.error.split("\n", 1)[0][:200]}


def path_below(request: HttpRequest | Request, path: str) -> str:
    """A path of this site as an absolute address."""
    return str(request.build_absolute_uri(path))
