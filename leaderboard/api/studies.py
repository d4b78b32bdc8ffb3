"""Stability studies, where each is and what it says; ranks by single instances, and their scores."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from leaderboard.api.instances.shapes import InstanceScorePageSerializer, InstancesSerializer
from leaderboard.api.protocol.base import PublishedSerializer, stamp_of
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.figures import FigureView
from leaderboard.api.protocol.pagination import Window, cut_counted, cut_sorted, page_links, window
from leaderboard.api.protocol.problems import ApiError
from leaderboard.api.protocol.renderers import TABLES, CSVRenderer
from leaderboard.api.protocol.schema import FORMAT, PAGING, REVISION, TABLE_FORMAT, error, reading
from leaderboard.boards.revision_exports import Origin, studies_export, study_export
from leaderboard.common.files import spreadsheet_csv_lines
from leaderboard.evaluation.visibility import sees_instances
from leaderboard.models import Job, Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.instances import hidden_instances
from leaderboard.rankings.scores import systems_at
from leaderboard.studies.instance_tables import instance_lines, task_instances
from leaderboard.studies.instances_page import instances_page
from leaderboard.studies.page import array_shapes, study_arrays, study_reports
from leaderboard.studies.states import LEFT_OUT, UNPLANNED, study_states
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
        if self.file_format:
            origin = Origin.of(self.benchmark, publication.revision)
            return self.table(
                publication,
                "studies",
                lambda: self.written(studies_export(origin, self.benchmark, publication)),
            )
        content = {**stamp_of(publication), "results": results}
        return self.answer_here(lambda: StudiesSerializer.render(content))


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
        if self.file_format:
            origin, name = Origin.of(self.benchmark, publication.revision), state.name
            return self.table(publication, study, lambda: self.written(study_export(origin, publication, study, name)))

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

        return self.answer_here(build)


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
        page = instances_page(publication, has_items=sees_instances(self.audience))

        def build() -> dict[str, Any]:
            part = cut_counted(page.rows, wanted)
            following = page_links(request, part, revision=publication.revision.number)
            return InstancesSerializer.render(
                {**stamp_of(publication), "page": page, **following, "results": part.items}
            )

        return self.answer_here(build)


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
            csv="system, task, instance, score, and cluster if some are stated: one line per score, which can be "
            "submitted again.",
        )
        | {422: error("There are more scores than are sent as one file.")},
    )
    def get(self, request: Request, key: str, task: str) -> HttpResponseBase:
        """Of one task every system's score on every instance. A page has at most 100,000 scores.

        Where a task of the benchmark has hidden references, only its moderators read them.
        """
        if not sees_instances(self.audience):
            raise PermissionDenied(
                "The references of this benchmark are hidden, so only its moderators see scores of single instances."
            )
        publication, wanted = self.published(), window(request.query_params)
        entries = configuration_of(publication.revision).tasks
        entry = next((one for one in entries if one.key == task), None)
        if entry is None:
            raise Http404(f"There is no task {task[:80]!r} at revision {publication.revision.number}.")
        if entry.id in hidden_instances(self.benchmark) and not self.audience.may_administer:
            raise PermissionDenied("This task has hidden references: its single instances are for the owners alone.")
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
                        "clusters": instances.clusters,
                        "n_other_set": instances.n_other_set,
                        **page_links(request, page, revision=publication.revision.number),
                        "results": page.items,
                    }
                )

            return self.answer_here(build)
        size = len(instances.names) * len(instances.rows)
        if size > SCORES_A_FILE:
            raise ApiError(422, f"There are {size:,} scores; up to {SCORES_A_FILE:,} are sent as one file.")
        return self.stored_scores(
            publication, f"{task}-instances", lambda: spreadsheet_csv_lines(instance_lines(instances))
        )
