"""What all views of the API share: common shapes, rights, cheap repetition, writes that are whole."""

from collections.abc import Callable, Iterator
from datetime import datetime
from hashlib import sha256
from typing import Any, ClassVar

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import HttpResponseBase
from django.utils.functional import cached_property
from django.utils.http import parse_etags
from rest_framework import serializers as s
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.response import Response

from leaderboard.access.audience import DECIDERS_ALONE, Audience, Viewer, readable_benchmark
from leaderboard.api.protocol.conflicts import CONFLICTS
from leaderboard.api.protocol.deprecation import deprecated
from leaderboard.api.protocol.exchange import Exchange
from leaderboard.api.protocol.fields import Moment, Shape
from leaderboard.api.protocol.problem_json import ProblemRenderer, as_problem, asks_for_problems
from leaderboard.api.protocol.problems import ApiError, wrong_body, wrong_parameter
from leaderboard.benchmarks.tasks import ProposalError
from leaderboard.common.file_parts import file_response
from leaderboard.common.files import EXPORT_FORMATS, ExportTable
from leaderboard.common.hashing import content_hash
from leaderboard.models import ApiToken, Benchmark, Job, Publication, User
from leaderboard.queue.queries import error_line
from leaderboard.rankings.revision_parameter import stated_revision
from leaderboard.rankings.revisions import (
    RemovedRanksError,
    WithdrawnRevisionError,
    publication_at,
    revision_jobs,
    visible_hash,
)

MANAGE = (ApiToken.Scope.MANAGE,)
ROWS = {"tasks", "groups"}
DRY = {"Dry-Run": "true", "Cache-Control": "no-store"}  # headers of a preview
REVALIDATE = "max-age=0, must-revalidate"
REVISION_TEXT = "The revision that everything here belongs to; null while nothing is published."


class PublishedSerializer(Shape):
    """Which revision an answer belongs to, and what computed it."""

    revision = s.IntegerField(allow_null=True, help_text=REVISION_TEXT)
    published_at = s.DateTimeField(allow_null=True)
    engine_version = s.CharField(allow_null=True)
    input_hash = s.CharField(
        allow_null=True,
        help_text="SHA-256 of scores, tasks, weights and groups; not of aggregation and missing-score policy.",
    )


class JobStateSerializer(Shape):
    """Background work, and how far it is."""

    kind = s.CharField()
    state = s.ChoiceField(choices=Job.State.values)
    error = s.CharField(allow_blank=True)


class NamedSystemSerializer(Shape):
    """A system's key and its name at the revision."""

    system = s.CharField()
    name = s.CharField()


class ApiView(Exchange):
    """A view of the API."""

    http_method_names = ["get", "head", "post", "patch"]
    # Which scope each method needs of a token: one of these. Reading needs `read` where nothing is said.
    scopes: ClassVar[dict[str, tuple[str, ...]]] = {}
    is_on_demand: ClassVar[bool] = False  # whether every answer is computed when it is asked for
    reads_by_post: ClassVar[bool] = False  # whether POST only asks, and is as open as reading
    # Whether this is the address of the same view that answers with files alone: see `leaderboard.api.protocol.files`.
    is_of_files: ClassVar[bool] = False

    def get_renderers(self) -> list[BaseRenderer]:
        """Files are only read; what is written is answered with JSON."""
        is_reading = self.request is None or self.request.method in {"GET", "HEAD"}
        if not is_reading:
            return [JSONRenderer()]
        renderers: list[BaseRenderer] = super().get_renderers()
        return [one for one in renderers if not (self.is_of_files and isinstance(one, JSONRenderer))]

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Errors are JSON, whatever was asked for, and no one keeps them."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        if getattr(answer, "exception", False):
            answer.accepted_renderer = JSONRenderer()
            answer.accepted_media_type = JSONRenderer.media_type
            answer["Cache-Control"] = "no-store"
            if asks_for_problems(request.META.get("HTTP_ACCEPT", "")) and "error" in (answer.data or ()):
                body = getattr(request, "_full_data", None)  # only if it was read
                answer.data = as_problem(answer.status_code, answer.data["error"], body)
                answer.accepted_renderer = ProblemRenderer()
                answer.accepted_media_type = ProblemRenderer.media_type
            else:
                deprecated(answer)
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
    def token(self) -> ApiToken:
        """With which token they ask."""
        if not isinstance(self.request.auth, ApiToken):
            raise ApiError(401, "This needs a token.")
        return self.request.auth

    @property
    def is_csv(self) -> bool:
        """Whether a table is asked for."""
        return self.file_format == "csv"

    @property
    def file_format(self) -> str:
        """The ending of the file that is asked for; empty where it is JSON."""
        ending = str(self.request.accepted_renderer.format)
        return "" if ending == "json" else ending

    def named_file(self, response: HttpResponseBase, stem: str) -> HttpResponseBase:
        """The answer as a file of this name."""
        response["Content-Disposition"] = f'attachment; filename="{stem}.{self.file_format}"'
        return response

    def written(self, table: ExportTable) -> Iterator[str]:
        """A table in the form that is asked for, line by line."""
        return EXPORT_FORMATS[self.file_format][1](table)

    def truth(self, name: str) -> bool:
        """What the address says under `name`, false where it says nothing.

        Raises:
            ApiError: it says neither true nor false.
        """
        text = self.request.query_params.get(name, "false")
        if text not in {"true", "false"}:
            raise wrong_parameter(name, f"`{name}` is {text[:40]!r}; expected true or false.")
        return bool(text == "true")

    def moment(self, name: str) -> datetime | None:
        """The time that the address says under `name`; None where it says none.

        Raises:
            ApiError: it is no time with its zone.
        """
        text = self.request.query_params.get(name, "").replace(" ", "+")  # a plus that was not escaped
        try:
            return Moment().to_internal_value(text) if text else None
        except s.ValidationError as error:
            raise wrong_parameter(name, f"`{name}`: {error.detail[-1]}.") from error  # type: ignore[index]

    def answer(
        self,
        build: Callable[[], Any],
        *,
        state: Any = None,  # noqa: ANN401
        level: str = "public",
        is_public: bool,
    ) -> HttpResponseBase:
        """An answer with an ETag, or a 304 to anyone who has it already. Call after permission was checked.

        Args:
            build: makes the content; lines are the file that is asked for.
            state: what the content depends on beside the address and the audience, which may be nothing that changes
                without it; lines are then sent while they are made. Where None, the content itself.
            level: the audience's level.
            is_public: whether the answer to an anonymous request may be kept by caches that others share.
        """
        content = build() if state is None else None
        content = tuple(content) if isinstance(content, Iterator) else content
        depends = sha256(content).hexdigest() if isinstance(content, bytes) else content if state is None else state
        query = sorted(self.request.query_params.lists())
        etag = f'"{content_hash([self.request.path, query, level, self.request.accepted_media_type, depends])[:32]}"'
        known = parse_etags(self.request.META.get("HTTP_IF_NONE_MATCH", ""))
        if etag in known or f"W/{etag}" in known or "*" in known:
            response: HttpResponseBase = Response(status=304)
        else:
            content = build() if state is not None else content
            if isinstance(content, Iterator | tuple):
                form = self.request.accepted_renderer
                response = file_response(self.request, content, f"{form.media_type}; charset={form.charset}")
            else:
                response = Response(content)
        is_shared = is_public and isinstance(self.viewer, AnonymousUser)
        response["ETag"] = etag
        response["Cache-Control"] = f"{'public' if is_shared else 'private'}, {REVALIDATE}"
        response["Vary"] = "Accept, Accept-Encoding" if is_shared else "Accept, Authorization, Accept-Encoding"
        return response


class BenchmarkView(ApiView):
    """A view of one benchmark: who may not read it gets the 404 of one that does not exist."""

    benchmark: Benchmark
    audience: Audience
    # Whether the view shows restricted viewers no more than they may see; whatever does not say so is closed to them.
    is_open_to_restricted: ClassVar[bool] = False
    needs_ranks: ClassVar[bool] = True  # whether it reads more of a revision than its scores

    def initial(self, request: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Check the token, then find the benchmark."""
        super().initial(request, *args, **kwargs)
        self.benchmark, self.audience = readable_benchmark(
            request.user, kwargs["key"], restricted=self.is_open_to_restricted
        )

    @cached_property
    def own(self) -> frozenset[int]:
        """Of a restricted viewer the systems that are proven theirs."""
        return self.audience.proven_system_ids if self.audience.is_restricted else frozenset()

    def stamp(self, publication: Publication | None) -> dict[str, Any]:
        """Which revision an answer belongs to, with the hash of its inputs as far as it may be told."""
        return stamp_of(publication) | {
            "input_hash": visible_hash(publication.revision, self.audience) if publication else None
        }

    def job_states(self, publication: Publication | None) -> list[dict[str, Any]]:
        """The jobs about what is published; an error may name what is hidden."""
        jobs = job_states(publication)
        return [job | {"error": ""} for job in jobs] if self.audience.is_restricted else jobs

    def answer_here(self, build: Callable[[], Any], *, state: Any = None) -> HttpResponseBase:  # noqa: ANN401
        """An answer about this benchmark."""
        is_public = self.benchmark.visibility == Benchmark.Visibility.PUBLIC
        audience, level = self.audience, self.audience.level
        if audience.is_restricted:
            level = f"{level}, {audience.sees_others}, {audience.sees_names}, {sorted(self.own)}"
        return self.answer(build, state=state, level=level, is_public=is_public)

    def publication(self) -> Publication | None:
        """What is published, or what `?revision=` names; None while nothing is.

        Raises:
            ApiError: the revision is no number, or its rankings are not stored.
        """
        text = self.request.query_params.get("revision", "")
        if not text:
            return self.benchmark.publication
        number = stated_revision(text)
        if number is None:
            raise wrong_parameter("revision", f"`revision` is {text[:40]!r}; expected the number of a revision.")
        try:
            publication = publication_at(self.benchmark, number, needs_ranks=self.needs_ranks)
        except WithdrawnRevisionError as error:
            raise ApiError(410, str(error), code="withdrawn") from error
        except RemovedRanksError as error:
            raise ApiError(410, str(error), code="ranks_removed") from error
        if publication is None:
            last = self.benchmark.last_revision_number
            if not 1 <= number <= last:
                raise ApiError(404, f"There is no revision {text[:40]}; the last one is {last}.")
            raise ApiError(
                404, f"The rankings of revision {number} are not stored; `revisions/` says which ones are published."
            )
        return publication

    def published(self) -> Publication:
        """As `publication`, where there has to be one.

        Raises:
            ApiError: nothing is published yet.
        """
        publication = self.publication()
        if publication is None:
            raise ApiError(404, "Nothing is published here yet.")
        return publication


def stamp_of(publication: Publication | None) -> dict[str, Any]:
    """Which revision an answer belongs to, and what computed it."""
    return {
        "revision": publication.revision.number if publication else None,
        "published_at": moment(publication.published_at) if publication else None,
        "engine_version": publication.engine_version if publication else None,
        "input_hash": publication.revision.input_hash if publication else None,
    }


def moment(at: datetime | None) -> str | None:
    """A time as ISO 8601 in UTC."""
    return None if at is None else at.isoformat().replace("+00:00", "Z")


def job_states(publication: Publication | None) -> list[dict[str, Any]]:
    """The jobs about what is published, each with its state."""
    if publication is None:
        return []
    return [job_state(job) for job in revision_jobs([publication.revision_id]).get(publication.revision_id, [])]


def job_state(job: Job) -> dict[str, Any]:
    """A job as readers see it: of its error only the first line."""
    return {"kind": job.kind, "state": job.state, "error": error_line(job.error)}


class WritingView(ApiView):
    """A view that changes something."""

    def carry_out(self, step: Callable[[], Any], *, status: int = 200) -> Response:
        """Take a step whole or not at all; with `dry_run=true` it is stored, reported and rolled back.

        Args:
            step: does it, and returns the content of the answer.
            status: of an answer that was no dry run.

        Raises:
            ApiError: it cannot be done.
        """
        is_dry = self.truth("dry_run")
        try:
            with transaction.atomic():
                content = step()
                if is_dry:
                    transaction.set_rollback(True)
        except ValidationError as problem:
            messages = problem.message_dict if hasattr(problem, "error_dict") else {"": problem.messages}
            details = [
                {"message": text} if not field else {"place": "" if field == "__all__" else field, "message": text}
                for field, texts in messages.items()
                for text in texts
            ]
            raise wrong_body(details) from problem
        except ProposalError as problem:
            # Where in the proposal, by what it says of the whole: its tasks and groups in their order. How scores count
            # is stated at the top.
            details = []
            for place, row, field, message in problem.problems:
                where = f"{place}[{row}]" if row is not None and place in ROWS else place
                parts = [part for part in (where if where != "counting" else "", field) if part]
                details.append({"place": ".".join(parts), "message": message})
            raise wrong_body(details) from problem
        except CONFLICTS as problem:
            raise ApiError(409, str(problem)) from problem
        response = Response(content, status=200 if is_dry else status)
        response["Cache-Control"] = "no-store"
        if is_dry:
            response["Dry-Run"] = "true"
        return response


class OwnerView(WritingView, BenchmarkView):
    """A view for those who own the benchmark; anyone who does not is told so once they may know of it."""

    is_open_to_restricted = True
    owned_methods: tuple[str, ...] = ("GET", "HEAD", "POST", "PATCH")

    def initial(self, request: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Check the token, find the benchmark, and see that its owner asks."""
        super().initial(request, *args, **kwargs)
        if request.method in self.owned_methods:
            if request.auth is None:
                raise ApiError(401, "This needs a token.")
            if not self.audience.may_administer:
                raise PermissionDenied("Only the owners of a benchmark change it.")


class ModeratorView(WritingView, BenchmarkView):
    """A view for those who decide about submissions."""

    is_open_to_restricted = True

    def initial(self, request: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Check the token, find the benchmark, and see that a moderator asks."""
        super().initial(request, *args, **kwargs)
        if request.auth is None:
            raise ApiError(401, "This needs a token.")
        if not self.audience.may_moderate:
            raise PermissionDenied(DECIDERS_ALONE)
