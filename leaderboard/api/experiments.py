"""Experiments: the studies with their parameters, the experiments on a board, and running one."""

from typing import Any, ClassVar

from django.http import HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, PolymorphicProxySerializer, extend_schema, extend_schema_field
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import DRY, ApiView, BenchmarkView, WritingView, moment
from leaderboard.api.protocol.fields import IS_MISSING, Shape, Strict, Text, Whole, kind_of
from leaderboard.api.protocol.pagination import cut, number_after, page_links, window
from leaderboard.api.protocol.problems import ApiError
from leaderboard.api.protocol.renderers import TABLES
from leaderboard.api.protocol.schema import (
    DRY_RUN,
    PAGING,
    TABLE_FORMAT,
    WRITING,
    body_example,
    error,
    reading,
)
from leaderboard.api.studies import StudyNamesSerializer
from leaderboard.boards.revision_exports import Origin, findings_export
from leaderboard.models import ApiToken, Experiment
from leaderboard.studies.experiments.page import ExperimentState, experiment_at, experiment_studies, state_of, states_of
from leaderboard.studies.experiments.start import ExperimentError, ExperimentLimitError, propose, start
from leaderboard.studies.page import array_shapes
from ranking_engine.stability.catalogue import declared_parameters

STATES = ["waiting", "running", "done", "failed", "superseded", "removed"]
RUN = (ApiToken.Scope.SUBMIT, ApiToken.Scope.MANAGE)
MAX_PARAMETERS = 40
EXAMPLE = body_example(
    "Copeland and two of its variants, with up to half of the scores of the first twenty systems deleted",
    {
        "study": "missing_scores",
        "parameters": {
            "rules": ["copeland", "copeland[variant=lower]", "copeland[variant=upper]"],
            "levels": [0, 10, 25, 50],
            "first": 20,
        },
        "seed": 1,
    },
)


class ParameterEntrySerializer(Shape):
    """One parameter of a study."""

    parameter = s.CharField(source="name", help_text="Its key.")
    kind = s.CharField(help_text="`flag`, `integer`, `number`, `choice`, `rule`, `text`, or several of these.")
    default = s.JSONField(help_text="If null, the study decides.")
    least = s.FloatField(allow_null=True, help_text="The least number allowed.")
    most = s.FloatField(allow_null=True, help_text="The largest number allowed.")  # type: ignore[assignment]
    most_items = s.IntegerField(allow_null=True, help_text="The most values in a list.")
    choices = s.ListField(child=s.CharField(), help_text="The values allowed; empty if any value of its kind is.")
    help = s.CharField()


class StudyDeclarationSerializer(Shape):
    """A study that can be run, with its parameters."""

    study = s.CharField(help_text="Its key.")
    name = s.CharField()
    question = s.CharField()
    source = s.CharField()  # type: ignore[assignment]
    parameters = ParameterEntrySerializer(many=True)


class StudyDeclarationsSerializer(Shape):
    """Every study that can be run."""

    results = StudyDeclarationSerializer(many=True)


@extend_schema_field({"type": "object", "maxProperties": MAX_PARAMETERS, "additionalProperties": {}})
class GivenParameters(Strict, s.DictField):
    """Parameters by key, each of its own kind; the study checks them."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:  # noqa: ANN401
        """The object."""
        if not isinstance(data, dict):
            raise s.ValidationError(f"expected an object of parameters by key, found {kind_of(data)}")
        if len(data) > MAX_PARAMETERS:
            raise s.ValidationError(f"{len(data)} parameters; at most {MAX_PARAMETERS} are taken")
        return data


class ExperimentBodySerializer(Shape):
    """The study to run, with its parameters."""

    study = Text(most=40, error_messages=IS_MISSING, help_text="Its key; `GET /api/v1/experiments/` lists all.")
    parameters = GivenParameters(absent={}, help_text="Those that differ from their defaults.")
    seed = Whole(absent=0, help_text="The same seed gives the same figures.")


class ExperimentEntrySerializer(Shape):
    """One experiment and its state."""

    experiment = s.IntegerField(help_text="Its number.")
    study = s.CharField()
    revision = s.IntegerField(help_text="The revision that it is about.")
    engine_version = s.CharField()
    parameters = s.DictField(help_text="All of them, without the seed.")
    seed = s.IntegerField()
    state = s.ChoiceField(
        choices=STATES, help_text="`removed`: the result was deleted with the ranks of an old revision."
    )
    progress = s.FloatField(help_text="The share that is done.")
    reason = s.CharField(allow_blank=True, help_text="Why it failed.")
    estimated_seconds = s.FloatField(help_text="On one core, before it ran.")
    requested_at = s.CharField()
    page_url = s.URLField(help_text="The page that shows it.")


class ExperimentPreviewSerializer(Shape):
    """What a run would compute; nothing is started."""

    dry_run = s.BooleanField()
    study = s.CharField()
    parameters = s.DictField(help_text="All of them, without the seed.")
    seed = s.IntegerField()
    revision = s.IntegerField(help_text="The revision that it would be about.")
    estimated_seconds = s.FloatField(help_text="On one core.")
    experiment = s.IntegerField(allow_null=True, help_text="The number of the same experiment, if it ran before.")


class ExperimentListSerializer(Shape):
    """The experiments on a board, the newest first."""

    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = ExperimentEntrySerializer(many=True)


class ExperimentDetailSerializer(ExperimentEntrySerializer):
    """One experiment with its result."""

    seconds = s.FloatField(allow_null=True, help_text="The seconds of computing it took.")
    summary = s.DictField(help_text="The result, by rule under `rules`; empty until it is done.")
    names = StudyNamesSerializer()
    distribution = s.DictField(
        child=s.ListField(child=s.IntegerField()),
        help_text="The names and shapes of the arrays in the file at `distribution_url`.",
    )
    distribution_url = s.URLField(allow_null=True, help_text="The whole distribution, a compressed .npz file.")


class ExperimentStudiesView(ApiView):
    """The studies that you can run."""

    @extend_schema(
        operation_id="experiment_studies",
        summary="List the studies that you can run",
        tags=["studies"],
        responses=reading(StudyDeclarationsSerializer),
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Every study with its parameters: their kinds, bounds and defaults."""
        results = [
            {
                "study": study.key,
                "name": study.name,
                "question": study.question,
                "source": study.source,
                "parameters": [
                    {
                        "name": parameter.name,
                        "kind": parameter.kind,
                        "default": parameter.default,
                        "least": parameter.least if parameter.is_numeric else None,
                        "most": parameter.most if parameter.is_numeric else None,
                        "most_items": parameter.most_items if parameter.is_list else None,
                        "choices": list(parameter.choices),
                        "help": parameter.help,
                    }
                    for parameter in declared_parameters(study.key)
                ],
            }
            for study in experiment_studies()
        ]
        return self.answer(lambda: StudyDeclarationsSerializer.render({"results": results}), is_public=True)


PREVIEW_OR_EXPERIMENT = PolymorphicProxySerializer(
    "PreviewOrExperiment", [ExperimentPreviewSerializer, ExperimentDetailSerializer], resource_type_field_name=None
)


class ExperimentsView(WritingView, BenchmarkView):
    """The experiments on a board, and running one."""

    scopes: ClassVar[dict[str, tuple[str, ...]]] = {"POST": RUN}

    @extend_schema(
        operation_id="experiments",
        summary="List the experiments on a board",
        tags=["studies"],
        parameters=PAGING,
        responses=reading(ExperimentListSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Every experiment with its parameters and its state, the newest first."""
        wanted = window(request.query_params)
        rows = Experiment.objects.filter(benchmark=self.benchmark, revision__withdrawn_at=None)
        count = rows.count()
        if after := number_after(wanted):
            rows = rows.filter(pk__lt=after)
        page = cut(list(rows.select_related("revision")[: wanted.size + 1]), wanted, lambda row: row.pk, count)
        results = [_entry(self, state) for state in states_of(page.items)]
        content = {**page_links(request, page), "results": results}
        return self.answer_here(lambda: ExperimentListSerializer.render(content))

    @extend_schema(
        operation_id="run_experiment",
        summary="Run an experiment",
        tags=["studies"],
        parameters=[DRY_RUN],
        request=ExperimentBodySerializer,
        examples=[EXAMPLE],
        responses={
            202: OpenApiResponse(ExperimentDetailSerializer, description="It has started."),
            200: OpenApiResponse(
                PREVIEW_OR_EXPERIMENT, description="The estimate of a dry run, or one that ran before."
            ),
            422: error("It would take too long, or you started too many already; the message names the limit."),
            **WRITING,
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """Run a study on the published board with your own parameters, as a job. The same experiment runs once. With
        `dry_run=true` nothing starts, and the answer estimates the seconds."""
        body = ExperimentBodySerializer.read(request.data)
        is_dry = self.truth("dry_run")
        audience = self.audience
        try:
            proposal = propose(audience, body["study"], body["parameters"], seed=body["seed"])
            if is_dry:
                own = {name: value for name, value in proposal.parameters.items() if name not in ("study", "seed")}
                content = {
                    "dry_run": True,
                    "study": proposal.study,
                    "parameters": own,
                    "seed": proposal.parameters["seed"],
                    "revision": proposal.publication.revision.number,
                    "estimated_seconds": proposal.seconds,
                    "experiment": proposal.present.pk if proposal.present else None,
                }
                return Response(
                    ExperimentPreviewSerializer.render(content),
                    headers=DRY,
                )
            experiment, is_new = start(audience, proposal)
        except ExperimentLimitError as problem:
            raise ApiError(422, str(problem)) from problem
        except ExperimentError as problem:
            raise ApiError(400, str(problem)) from problem
        response = Response(_detail(self, state_of(experiment)), status=202 if is_new else 200)
        response["Location"] = request.build_absolute_uri(reverse("api:experiment", args=[key, experiment.pk]))
        response["Cache-Control"] = "no-store"
        return response


class ExperimentView(BenchmarkView):
    """One experiment."""

    renderer_classes = TABLES

    @extend_schema(
        operation_id="experiment",
        summary="Read an experiment",
        tags=["studies"],
        parameters=[TABLE_FORMAT],
        responses=reading(
            ExperimentDetailSerializer, table="rule, figure, value: a line for each figure of the summary."
        ),
    )
    def get(self, request: Request, key: str, number: int) -> HttpResponseBase:
        """The result of an experiment, with all its parameters and the seed."""
        state = state_of(experiment_at(self.benchmark, number))
        if self.file_format:
            experiment = state.experiment
            origin = Origin.of(self.benchmark, experiment.revision)
            stem = f"{experiment.study}-experiment-{experiment.pk}"
            table = findings_export(
                origin, stem, state.name, experiment.parameters, state.report.summary if state.report else None
            )
            answer = self.answer_here(lambda: self.written(table))
            return self.named_file(answer, f"{key}-{stem}")
        return self.answer_here(lambda: _detail(self, state))


def _entry(view: ApiView, state: ExperimentState) -> dict[str, Any]:
    row = state.experiment
    page = reverse("experiment", args=[view.kwargs["key"], row.pk])
    return {
        "experiment": row.pk,
        "study": row.study,
        "revision": row.revision.number,
        "engine_version": row.engine_version,
        "parameters": {name: value for name, value in row.parameters.items() if name not in ("study", "seed")},
        "seed": row.parameters["seed"],
        "state": state.state,
        "progress": state.progress,
        "reason": state.reason,
        "estimated_seconds": row.estimate,
        "requested_at": moment(row.requested_at),
        "page_url": view.request.build_absolute_uri(page),
    }


def _detail(view: ApiView, state: ExperimentState) -> dict[str, Any]:
    report = state.report
    path = reverse("experiment_arrays", args=[view.kwargs["key"], state.experiment.pk])
    content = {
        **_entry(view, state),
        "seconds": report.seconds if report else None,
        "summary": report.summary if report else {},
        "names": StudyNamesSerializer.of(state.experiment.revision, report.summary if report else {}),
        "distribution": array_shapes(bytes(report.arrays)) if report else {},
        "distribution_url": view.request.build_absolute_uri(path) if report else None,
    }
    return ExperimentDetailSerializer.render(content)
