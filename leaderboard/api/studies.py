"""Stability studies, where each is and what it says; ranks by single instances, and their scores."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from leaderboard.api.protocol.base import FigureView, NamedSystemSerializer, PublishedSerializer, stamp_of
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.pagination import Window, cut_counted, cut_sorted, page_links, window
from leaderboard.api.protocol.problems import ApiError
from leaderboard.api.protocol.renderers import TABLES, CSVRenderer
from leaderboard.api.protocol.schema import FORMAT, PAGING, REVISION, TABLE_FORMAT, error, reading
from leaderboard.boards.revision_exports import Origin, studies_export, study_export
from leaderboard.common.files import csv_lines
from leaderboard.models import Job, Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.published import number
from leaderboard.rankings.scores import systems_at
from leaderboard.studies.instance_tables import instance_lines, task_instances
from leaderboard.studies.instances_page import NeighbourRow, SystemRow, instances_page
from leaderboard.studies.page import array_shapes, study_arrays, study_reports
from leaderboard.studies.states import LEFT_OUT, UNPLANNED, study_states
from ranking_engine.core.first_places import SharedFirstPlaces
from ranking_engine.core.instances import AGGREGATIONS
from ranking_engine.stability.named_summary import mentioned

SCORES_A_PAGE, SCORES_A_FILE = 100_000, 1_000_000
STATES = [*Job.State.values, UNPLANNED, LEFT_OUT]


class StudyEntrySerializer(Shape):
    """One study, and its state for the revision."""

    study = s.CharField(source="state.key", help_text="Its key.")
    name = s.CharField(source="state.name")
    question = s.CharField(source="state.question")
    source = s.CharField(source="state.source")  # type: ignore[assignment]
    state = s.ChoiceField(choices=STATES, source="state.state")
    reason = s.CharField(source="state.reason", allow_blank=True, help_text="Why it is left out, or why it failed.")
    progress = s.FloatField(source="state.progress", help_text="The share that is done.")
    estimated_seconds = s.FloatField(
        source="state.estimate", allow_null=True, help_text="Before it ran; null before it is planned."
    )
    seconds = s.FloatField(source="state.seconds", allow_null=True, help_text="Processor time on one core.")
    steps = s.IntegerField(source="state.steps", allow_null=True, help_text="How many steps its budget bought.")


class StudiesSerializer(PublishedSerializer):
    """Every study of a revision."""

    results = StudyEntrySerializer(many=True)


class StudyNamesSerializer(Shape):
    """What the keys in a summary are called."""

    systems = s.DictField(child=s.CharField(), help_text="The names of the systems that the summary mentions, by key.")
    tasks = s.DictField(child=s.CharField(), help_text="The names of its tasks, by key.")

    @classmethod
    def of(cls, revision: Revision, summary: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        """The names that a summary of this revision mentions."""
        return {
            "systems": mentioned(summary, {system.key: system.name for system in systems_at(revision)}),
            "tasks": mentioned(summary, configuration_of(revision).task_names),
        }


class StudyDetailSerializer(PublishedSerializer, StudyEntrySerializer):
    """What one study found."""

    parameters = s.DictField(help_text="Its parameters, including the seed; empty until it is done.")
    summary = s.DictField(
        help_text="Its results, by rule under `rules`; `slow_rules` has the number of repeats. Empty until it is done."
    )
    names = StudyNamesSerializer()
    distribution = s.DictField(
        child=s.ListField(child=s.IntegerField()),
        help_text="The names and shapes of the arrays in the file at `distribution_url`.",
    )
    distribution_url = s.URLField(allow_null=True, help_text="The whole distribution, a compressed .npz file.")


class RankAndScoreSerializer(Shape):
    """What one aggregation says of a system."""

    rank = s.IntegerField()
    score = s.FloatField(help_text="Borda points, or the mean, oriented so that higher is better.")


class InstanceRowSerializer(NamedSystemSerializer):
    """A system with scores of single instances."""

    system = s.CharField(source="key")
    n_instances = s.IntegerField(help_text="On which it has a score.")
    two_level = RankAndScoreSerializer()
    one_level = RankAndScoreSerializer()
    mean = RankAndScoreSerializer()

    def value_of_two_level(self, row: SystemRow) -> dict[str, Any]:
        """By tasks, then by instances."""
        return row.cells[AGGREGATIONS.index("two_level")]

    def value_of_one_level(self, row: SystemRow) -> dict[str, Any]:
        """By all instances alike."""
        return row.cells[AGGREGATIONS.index("one_level")]

    def value_of_mean(self, row: SystemRow) -> dict[str, Any]:
        """By the mean of the scores."""
        return row.cells[AGGREGATIONS.index("mean")]


class InstanceTaskSerializer(Shape):
    """A task whose instances count."""

    task = s.CharField(help_text="Its key.")
    n_instances = s.IntegerField()
    n_systems = s.IntegerField()
    n_other_set = s.IntegerField(help_text="Systems that are left out, because they were scored on other instances.")


class InstancePairSerializer(Shape):
    """Two systems that follow each other on the board."""

    systems = s.ListField(child=s.CharField(), help_text="Their keys, the one ahead first.")
    difference = s.FloatField(allow_null=True, help_text="Mean over tasks of the mean over common instances.")
    lower = s.FloatField(allow_null=True)
    upper = s.FloatField(allow_null=True)
    n_common = s.IntegerField(help_text="Instances on which both have a score.")
    p_adjusted = s.FloatField(help_text="Of the sign-flip test, after Holm's adjustment over these pairs.")
    verdict = s.CharField()
    standard_error = s.FloatField(
        allow_null=True, help_text="Of the paired difference, if instances were drawn again; null with too few."
    )
    detectable = s.FloatField(
        allow_null=True, help_text="The least true difference that a test of this pair finds in 80 % of cases."
    )
    task_error = s.FloatField(
        allow_null=True, help_text="The standard error if tasks were drawn again, and instances with them."
    )
    instance_share = s.FloatField(
        allow_null=True, help_text="The part of the square of `task_error` that comes from instances, 0 to 1."
    )

    def value_of_systems(self, pair: NeighbourRow) -> list[str]:
        """The keys of both."""
        return [pair.first.key, pair.second.key]

    def value_of_difference(self, pair: NeighbourRow) -> float | None:
        """The mean over tasks."""
        return number(pair.difference)

    def value_of_lower(self, pair: NeighbourRow) -> float | None:
        """The lower end of its interval."""
        return number(pair.lower)

    def value_of_upper(self, pair: NeighbourRow) -> float | None:
        """The upper end of its interval."""
        return number(pair.upper)

    def value_of_standard_error(self, pair: NeighbourRow) -> float | None:
        """Of the difference."""
        return number(pair.standard_error)

    def value_of_detectable(self, pair: NeighbourRow) -> float | None:
        """The least difference that is found."""
        return number(pair.detectable)

    def value_of_task_error(self, pair: NeighbourRow) -> float | None:
        """For tasks drawn again."""
        return number(pair.task_error)

    def value_of_instance_share(self, pair: NeighbourRow) -> float | None:
        """What instances contribute to it."""
        return number(pair.instance_share)


class SharedFirstPlacesSerializer(Shape):
    """Two of `two_level`, `one_level` and `mean`, at several numbers of first places."""

    first = s.CharField()
    second = s.CharField()
    places = s.ListField(child=s.IntegerField(), help_text="The numbers k.")
    agreement = s.ListField(
        child=s.FloatField(allow_null=True),
        help_text="The share of the first k places that both give to the same systems.",
    )
    n_common = s.ListField(child=s.IntegerField(), help_text="Systems at rank k or better in both.")
    tau = s.ListField(child=s.FloatField(allow_null=True), help_text="Kendall's tau-b on these.")

    def value_of_agreement(self, shared: SharedFirstPlaces) -> list[float | None]:
        """The shares; null where fewer than k systems are ranked."""
        return [number(rate) for rate in shared.agreement]

    def value_of_tau(self, shared: SharedFirstPlaces) -> list[float | None]:
        """The correlations; null where there is none."""
        return [number(tau) for tau in shared.tau]


class InstancesSerializer(PublishedSerializer):
    """Ranks by single instances."""

    state = s.ChoiceField(choices=["none", "computing", "failed", "undefined", "there"], source="page.state")
    reason = s.CharField(source="page.reason", allow_blank=True)
    parameters = s.DictField(help_text="Of the intervals and the tests; empty while they are not there.")
    tasks = InstanceTaskSerializer(many=True, source="page.tasks")
    neighbours_under = s.CharField(source="page.rule", allow_blank=True, help_text="The rule's key, or `two_level`.")
    neighbours = InstancePairSerializer(many=True, source="page.neighbours")
    first_places = SharedFirstPlacesSerializer(many=True, source="page.first_places")
    task_subsets = s.DictField(
        child=s.ListField(child=s.FloatField(allow_null=True)),
        help_text="For `two_level`, `one_level` and `mean`: Kendall's tau-b between the ranking on k tasks, drawn at "
        "random, and the one on all, for k = 1, 2, ...; the mean of `n_task_subset_draws` draws. Empty without draws.",
    )
    n_task_subset_draws = s.IntegerField(source="page.n_subset_draws")
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = InstanceRowSerializer(many=True)

    def value_of_parameters(self, content: dict[str, Any]) -> dict[str, Any]:
        """Those of the intervals and tests."""
        return content["page"].parameters or {}

    def value_of_task_subsets(self, content: dict[str, Any]) -> dict[str, list[float | None]]:
        """The curves."""
        return {key: [number(tau) for tau in taus] for key, taus in content["page"].subset_taus.items()}


class InstanceVectorSerializer(NamedSystemSerializer):
    """A system's scores on the instances of a task."""

    system = s.CharField(source="system.key")
    name = s.CharField(source="system.name")
    submission = s.UUIDField(help_text="The submission that they come from.")
    scores = s.ListField(child=s.FloatField(allow_null=True), source="values", help_text="In the order of `instances`.")


class InstanceScorePageSerializer(PublishedSerializer):
    """A page of systems, by key, with their scores on the instances of one task."""

    task = s.CharField(help_text="Its key.")
    instances = s.ListField(child=s.CharField(), help_text="Their names; empty where the task has none.")
    n_other_set = s.IntegerField(help_text="Systems that are left out, because they were scored on other instances.")
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = InstanceVectorSerializer(many=True)


class StudiesView(FigureView):
    """Every study."""

    renderer_classes = TABLES

    @extend_schema(
        operation_id="studies",
        summary="List the stability studies",
        tags=["studies"],
        parameters=[REVISION, TABLE_FORMAT],
        responses=reading(StudiesSerializer, table="study, question, state, seconds, reason."),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Every study of the catalogue: what it asks, and its state for the revision."""
        publication = self.published()
        results = [{"state": state} for state in study_states(self.benchmark, publication)]
        states = [StudyEntrySerializer.render(result) for result in results]
        if self.file_format:
            origin = Origin.of(self.benchmark, publication.revision)
            return self.table(
                publication,
                "studies",
                lambda: self.written(studies_export(origin, self.benchmark, publication)),
                states,
            )
        content = {**stamp_of(publication), "results": results}
        return self.figures(publication, lambda: StudiesSerializer.render(content), states)


class StudyView(FigureView):
    """One study."""

    renderer_classes = TABLES

    @extend_schema(
        operation_id="study",
        summary="Read a stability study",
        tags=["studies"],
        parameters=[REVISION, TABLE_FORMAT],
        responses=reading(StudyDetailSerializer, table="rule, figure, value: a line for each figure of the summary."),
    )
    def get(self, request: Request, key: str, study: str) -> HttpResponseBase:
        """What a study found, its parameters and seed, and where its whole distribution is."""
        publication = self.published()
        states = study_states(self.benchmark, publication)
        state = next((state for state in states if state.key == study), None)
        if state is None:
            raise Http404(f"There is no study {study!r}; there are: {', '.join(state.key for state in states)}.")
        head = StudyEntrySerializer.render({"state": state})
        if self.file_format:
            origin, name = Origin.of(self.benchmark, publication.revision), state.name
            return self.table(
                publication, study, lambda: self.written(study_export(origin, publication, study, name)), [head]
            )

        def build() -> dict[str, Any]:
            content: dict[str, Any] = {"parameters": {}, "summary": {}, "distribution": {}, "distribution_url": None}
            content["names"] = {"systems": {}, "tasks": {}}
            report = study_reports(publication).get(study)
            if report is not None:
                path = request.build_absolute_uri(reverse("distribution", args=[key, study]))
                content = {
                    "parameters": {name: value for name, value in report.parameters.items() if name != "study"},
                    "summary": report.summary,
                    "names": StudyNamesSerializer.of(publication.revision, report.summary),
                    "distribution": array_shapes(study_arrays(publication, study) or b""),
                    "distribution_url": f"{path}?revision={publication.revision.number}",
                }
            return StudyDetailSerializer.render({**stamp_of(publication), "state": state, **content})

        return self.figures(publication, build, [head])


class InstancesView(FigureView):
    """What the scores of single instances say."""

    @extend_schema(
        operation_id="instances",
        summary="Read the ranks by single instances",
        tags=["rankings"],
        parameters=[REVISION, *PAGING],
        responses=reading(InstancesSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Ranks on two levels, on one and by the mean, and which neighbours of the board differ significantly."""
        publication, wanted = self.published(), window(request.query_params)
        page = instances_page(publication)

        def build() -> dict[str, Any]:
            part = cut_counted(page.rows, wanted)
            following = page_links(request, part, revision=publication.revision.number)
            return InstancesSerializer.render(
                {**stamp_of(publication), "page": page, **following, "results": part.items}
            )

        return self.figures(publication, build, [page.state, page.reason])


class InstanceScoresView(FigureView):
    """The scores of single instances themselves."""

    renderer_classes = [JSONRenderer, CSVRenderer]

    @extend_schema(
        operation_id="instance_scores",
        summary="Read the scores of single instances",
        tags=["systems"],
        parameters=[REVISION, FORMAT, *PAGING],
        responses=reading(
            InstanceScorePageSerializer,
            csv="system, task, instance, score: one line per score, which can be submitted again.",
        )
        | {422: error("There are more scores than are sent as one file.")},
    )
    def get(self, request: Request, key: str, task: str) -> HttpResponseBase:
        """Of one task every system's score on every instance. A page has at most 100,000 scores."""
        publication, wanted = self.published(), window(request.query_params)
        entries = configuration_of(publication.revision).tasks
        entry = next((one for one in entries if one.key == task), None)
        if entry is None:
            raise Http404(f"There is no task {task[:80]!r} at revision {publication.revision.number}.")
        instances = task_instances(publication.revision, entry)
        if not self.file_format:

            def build() -> dict[str, Any]:
                size = max(1, min(wanted.size, SCORES_A_PAGE // max(1, len(instances.names))))
                page = cut_sorted(instances.rows, Window(wanted.after, size), lambda row: row.system.key)
                return InstanceScorePageSerializer.render(
                    {
                        **stamp_of(publication),
                        "task": instances.task.key,
                        "instances": instances.names,
                        "n_other_set": instances.n_other_set,
                        **page_links(request, page, revision=publication.revision.number),
                        "results": page.items,
                    }
                )

            return self.figures(publication, build)
        size = len(instances.names) * len(instances.rows)
        if size > SCORES_A_FILE:
            raise ApiError(422, f"There are {size:,} scores; up to {SCORES_A_FILE:,} are sent as one file.")
        return self.table(publication, f"{task}-instances", lambda: csv_lines(instance_lines(instances)))
