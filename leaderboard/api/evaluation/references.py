"""Hidden references: for the owners of a benchmark. They are sent in, and never sent out again."""

from typing import Any, ClassVar

from django.http import Http404, HttpResponseBase
from django.views.decorators.debug import sensitive_variables
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.imports import ImportFileSerializer
from leaderboard.api.protocol.base import MANAGE, OwnerView
from leaderboard.api.protocol.fields import Shape, Strict, Text, kind_of
from leaderboard.api.protocol.parsers import FilesParser, StrictJSONParser, strict_json
from leaderboard.api.protocol.problems import ApiError, wrong_body
from leaderboard.api.protocol.schema import DRY_RUN, WRITING, body_example, reading
from leaderboard.api.submissions import problem_details
from leaderboard.api.uploads import FormFiles
from leaderboard.common.requests import InMemoryUpload
from leaderboard.evaluation.encryption import MissingKeyError, opened_sha256
from leaderboard.evaluation.references import check_file, newest_references, store_references, versions_of
from leaderboard.models import Task, TaskReferences
from ranking_engine.evaluation.metrics import METRICS
from ranking_engine.files.problems import InputError

MAX_OPTIONS = 20
REFERENCES_EXAMPLE = body_example(
    "Labels",
    {
        "metric": "accuracy",
        "files": [{"name": "labels.csv", "text": "id,reference,split\nq1,yes,public\nq2,no,private\n"}],
    },
)


class InMemoryFilesParser(FilesParser):
    """A form of which no file is ever written to a disk."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:  # noqa: ANN401
        """As a JSON body says it, with the file's bytes."""
        request = parser_context["request"]
        request.upload_handlers = [InMemoryUpload(request._request)]  # noqa: SLF001 -- the request of Django
        body = super().parse(stream, media_type, parser_context)
        if "options" in body:
            body["options"] = strict_json(body["options"])
        return body


class OptionValues(Strict, s.DictField):
    """Options of a metric by key."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:  # noqa: ANN401
        """As they are; the metric reads them."""
        if not isinstance(data, dict):
            raise s.ValidationError(f"expected an object, found {kind_of(data)}")
        if len(data) > MAX_OPTIONS or any(isinstance(value, dict | list) for value in data.values()):
            raise s.ValidationError(f"expected at most {MAX_OPTIONS} texts, numbers and truth values")
        return data


class ReferencesBodySerializer(Shape):
    """References of a task, and the metric that scores predictions against them."""

    metric = Text(most=80, help_text="Its key; `evaluator` where your own program computes the scores.")
    options = OptionValues(absent={}, help_text="Of the metric.")
    files = ImportFileSerializer(
        many=True, help_text="One file: CSV, JSON lines or Parquet, with the columns `id` and `reference`."
    )


class ReferencesFormSerializer(Shape):
    """The same as a form: the file as it is."""

    metric = s.CharField(max_length=80)
    options = s.CharField(required=False, help_text="The options as JSON.")
    files = FormFiles(child=s.FileField())


class ReferencesVersionSerializer(Shape):
    """A version of the references of a task, without anything that is in them."""

    number = s.IntegerField()
    metric = s.ChoiceField(choices=[*METRICS, "evaluator"])
    options = s.DictField()
    file_name = s.CharField()
    n_instances = s.IntegerField()
    n_by_split = s.DictField(child=s.IntegerField(), help_text="By split: development, public, private, test.")
    sha256 = s.CharField(allow_null=True, help_text="Of the file; null where the site lacks the key.")
    uploaded_at = s.DateTimeField()

    def value_of_sha256(self, row: TaskReferences) -> str | None:
        """The hash, decrypted."""
        try:
            return opened_sha256(row)
        except MissingKeyError:
            return None


class StoredReferencesSerializer(ReferencesVersionSerializer):
    """What was stored."""

    ignored_columns = s.ListField(child=s.CharField(), help_text="Columns that mean nothing here.")


class ReferencesOfTaskSerializer(Shape):
    """All versions, newest first: the first one counts."""

    results = ReferencesVersionSerializer(many=True)


class TaskWithReferencesSerializer(Shape):
    """A task with the references that count."""

    task = s.CharField()
    references = ReferencesVersionSerializer(allow_null=True)


class ReferencesOfBenchmarkSerializer(Shape):
    """Every task that is not archived."""

    results = TaskWithReferencesSerializer(many=True)


class ReferencesView(OwnerView):
    """Which tasks have references."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE}

    @extend_schema(
        operation_id="references",
        summary="List the references of all tasks",
        tags=["evaluation"],
        responses=reading(ReferencesOfBenchmarkSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Which references count for each task: metric, numbers of instances, hash. Never what is in them."""
        tasks = list(Task.objects.filter(benchmark=self.benchmark, is_archived=False))
        newest = newest_references([task.pk for task in tasks])
        results = [{"task": task.key, "references": newest.get(task.pk)} for task in tasks]
        return self.answer_here(lambda: ReferencesOfBenchmarkSerializer.render({"results": results}))


class TaskReferencesView(OwnerView):
    """The references of one task."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE, "POST": MANAGE}
    parser_classes = [StrictJSONParser, InMemoryFilesParser]

    def task(self, key: str) -> Task:
        """The task of this key.

        Raises:
            Http404: there is none, or it is archived.
        """
        task = Task.objects.filter(benchmark=self.benchmark, is_archived=False, key=key).first()
        if task is None:
            raise Http404(f"There is no task {key[:80]!r}.")
        return task

    @extend_schema(
        operation_id="task_references",
        summary="List the versions of a task's references",
        tags=["evaluation"],
        responses=reading(ReferencesOfTaskSerializer),
    )
    def get(self, request: Request, key: str, task: str) -> HttpResponseBase:
        """Metric, numbers of instances and hash of every version. Never what is in them."""
        rows = list(versions_of(self.task(task)))
        return self.answer_here(lambda: ReferencesOfTaskSerializer.render({"results": rows}))

    @extend_schema(
        operation_id="upload_references",
        summary="Upload references of a task",
        tags=["evaluation"],
        parameters=[DRY_RUN],
        request={"application/json": ReferencesBodySerializer, "multipart/form-data": ReferencesFormSerializer},
        examples=[REFERENCES_EXAMPLE],
        responses={
            201: StoredReferencesSerializer,
            200: OpenApiResponse(StoredReferencesSerializer, description="A dry run."),
            **WRITING,
        },
    )
    @sensitive_variables()
    def post(self, request: Request, key: str, task: str) -> Response:
        """A new version, stored encrypted. A correction is a further version: the newest one counts."""
        body, chosen = ReferencesBodySerializer.read(request.data), self.task(task)
        if len(body["files"]) != 1:
            raise wrong_body([{"place": "files", "message": f"{len(body['files'])} files; send one"}])
        name, data = body["files"][0]
        try:
            checked = check_file(data, name, body["metric"], body["options"])
        except InputError as error:
            raise wrong_body(problem_details(error)) from None

        def step() -> dict[str, Any]:
            try:
                row = store_references(chosen, checked, author=self.user)
            except InputError as error:
                raise ApiError(409, str(error)) from None
            ignored = {"ignored_columns": list(checked.ignored_columns)}
            return ReferencesVersionSerializer.render(row) | ignored

        return self.carry_out(step, status=201)
