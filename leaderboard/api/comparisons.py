"""Systems compared with each other: margins, and any two systems."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.http import Http404, HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request

from leaderboard.api.protocol.base import NamedSystemSerializer, PublishedSerializer, stamp_of
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.figures import FigureView
from leaderboard.api.protocol.pagination import Window, cut_sorted, page_links, window
from leaderboard.api.protocol.problems import ApiError, wrong_parameter
from leaderboard.api.protocol.renderers import TABLES
from leaderboard.api.protocol.schema import PAGING, REVISION, TABLE_FORMAT, error, reading, text_shape
from leaderboard.boards.revision_exports import VERDICTS, ExportError, Origin, margins_export
from leaderboard.common.files import ColumnHead, Value
from leaderboard.comparisons.choice_sets import choice_sets
from leaderboard.comparisons.pair import pair_of
from leaderboard.evaluation.visibility import sees_instances
from leaderboard.models import Publication
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.configuration import configuration_of, own_rule
from leaderboard.rankings.margins import margins_between
from leaderboard.rankings.published import Column, PublishedBoard, published_board
from leaderboard.rankings.scores import BoardSystem, systems_at
from ranking_engine.core.decimals import finite_or_none

PAIRS_A_PAGE = 20_000
TOO_LARGE = {422: error("The board is too large for an answer on demand; the message says the limit.")}


class MarginSerializer(NamedSystemSerializer):
    """A system over one rival."""

    ahead = s.FloatField(help_text="The share of the voting weight on which the system is ahead of the rival.")
    behind = s.FloatField()
    verdict = s.ChoiceField(choices=["beats", "loses", "level"], help_text="By weight, exactly.")


class MembershipSerializer(Shape):
    """In which choice sets a system is; null where a set is not known."""

    smith_set = s.BooleanField(allow_null=True)
    schwartz_set = s.BooleanField(allow_null=True)
    uncovered_set = s.BooleanField(allow_null=True)
    essential_set = s.BooleanField(allow_null=True)
    lottery = s.CharField(allow_null=True, help_text="The share of the maximal lottery, a fraction such as `1/3`.")
    copy_proof_rating = s.FloatField(
        allow_null=True, help_text="0 to 1; null for a system without a score on some voting task."
    )


class MajorityCycleSerializer(Shape):
    """A cycle of the majority relation."""

    systems = s.ListField(child=s.CharField(), help_text="Keys; each beats the next, and the last one the first.")
    margins = s.ListField(child=s.FloatField(), help_text="Of these victories, as shares of the weight of all tasks.")


class MarginRowSerializer(NamedSystemSerializer):
    """A system over all rivals with a common voting task."""

    n_beaten = s.IntegerField()
    n_lost = s.IntegerField()
    n_level = s.IntegerField()
    sets = MembershipSerializer(allow_null=True, help_text="Null on boards of more than 300 systems.")
    rivals = MarginSerializer(many=True)


class MarginPageSerializer(PublishedSerializer):
    """A page of systems, by key, each with all of its margins."""

    aggregation = s.CharField(help_text="How tasks and groups count together.")
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    cycles = MajorityCycleSerializer(
        many=True,
        allow_null=True,
        help_text="For every system on a cycle of the majority relation a shortest one, at most 20, short ones first; "
        "null on boards of more than 300 systems.",
    )
    task_mixture = s.DictField(
        child=s.FloatField(),
        allow_null=True,
        help_text="By the key of a task its share of the mixture behind the copy-proof ratings; all 0 without ratings.",
    )
    results = MarginRowSerializer(many=True)


class PairTaskEntrySerializer(Shape):
    """One task on which two systems are compared with each other."""

    task = s.CharField(source="key", help_text="Its key.")
    name = s.CharField()
    first = s.FloatField(allow_null=True)
    second = s.FloatField(allow_null=True)
    ahead = s.ChoiceField(choices=["first", "second", "level", "not_both"], source="outcome")
    weight = s.FloatField(help_text="The task's share of the voting weight; 0 where it does not count.")


class PairRankEntrySerializer(Shape):
    """The ranks of both under one rule."""

    rule = s.CharField()
    first = s.IntegerField(allow_null=True)
    second = s.IntegerField(allow_null=True)


class MeasuredDifferenceSerializer(Shape):
    """The mean difference of two systems, the first less the second, higher is better."""

    measured_by = s.ChoiceField(
        choices=["instances", "standard_errors"], help_text="Scores of single instances, or stated standard errors."
    )
    difference = s.FloatField(help_text="The mean over the tasks on which its error is known, in their units.")
    standard_error = s.FloatField(help_text="If instances were drawn again from the same tasks.")
    detectable = s.FloatField(help_text="The least true difference that a test of this pair finds in 80 % of cases.")
    n_tasks = s.IntegerField()
    n_common = s.IntegerField(help_text="Common instances; 0 from standard errors.")


class PairDetailSerializer(PublishedSerializer):
    """Two systems task by task."""

    first = NamedSystemSerializer()
    second = NamedSystemSerializer()
    sentence = s.CharField(source="pair.sentence", help_text="Which system beats the other.")
    ahead = s.FloatField(source="pair.ahead", help_text="The share of the voting weight on which the first is ahead.")
    behind = s.FloatField(source="pair.behind")
    level = s.FloatField(source="pair.level")
    not_both = s.FloatField(source="pair.not_both", help_text="The share of the tasks without a score of both.")
    test = s.CharField(source="pair.test_sentence", help_text="Whether the difference could be luck, in a sentence.")
    p_value = s.FloatField(
        allow_null=True, help_text="From the sign-flip test of this one pair, if it was chosen beforehand."
    )
    probability = s.FloatField(
        source="pair.probability",
        help_text="That the first is ahead on most such clusters of tasks on which the two differ, each counted once, "
        "whatever its weight: a Bayesian sign test with a uniform prior.",
    )
    n_ahead = s.IntegerField(source="pair.n_ahead", help_text="Clusters of tasks on which the first is ahead.")
    n_behind = s.IntegerField(source="pair.n_behind", help_text="Clusters of tasks on which the first is behind.")
    n_level = s.IntegerField(source="pair.n_level", help_text="Clusters on which they are level; left out.")
    n_units = s.IntegerField(
        source="pair.n_units", help_text="Clusters of tasks that both have a score on, taken as independent."
    )
    measured = MeasuredDifferenceSerializer(
        allow_null=True, source="pair.measured", help_text="Null where neither instances nor standard errors are known."
    )
    no_measured = s.CharField(
        source="pair.no_measured",
        help_text="Why `measured` is null where instances have clusters: fewer than ten. Otherwise empty.",
    )
    tasks = PairTaskEntrySerializer(many=True, source="pair.tasks")
    ranks = PairRankEntrySerializer(many=True, source="pair.ranks")

    def value_of_first(self, content: dict[str, Any]) -> dict[str, str]:
        """The key and name of the first."""
        return {"system": content["pair"].first.key, "name": content["pair"].first.name}

    def value_of_second(self, content: dict[str, Any]) -> dict[str, str]:
        """The key and name of the second."""
        return {"system": content["pair"].second.key, "name": content["pair"].second.name}

    def value_of_p_value(self, content: dict[str, Any]) -> float | None:
        """The p-value, where there is a test."""
        return finite_or_none(content["pair"].p_value)


class ComparisonView(FigureView):
    """A view of pairs, of systems or of rules."""

    renderer_classes = TABLES

    def place_of(self, systems: Sequence[BoardSystem], name: str) -> int:
        """The rank of the system whose key the address gives under `name`.

        Raises:
            ApiError: it gives none.
            Http404: there is no such system.
        """
        key = self.request.query_params.get(name, "")
        if not key:
            raise wrong_parameter(name, f"`{name}` is missing: the key of a system.")
        place = next((i for i, system in enumerate(systems) if system.key == key), None)
        if place is None:
            raise Http404(f"No system {key[:80]!r} is on the board.")
        return place

    def column(self, board: PublishedBoard) -> Column:
        """The column of the rule that the address names."""
        rule = self.request.query_params.get("rule", "")
        rule = rule or own_rule(self.benchmark, board.rules)
        column = next((column for column in board.columns if column.rule == rule), None)
        if column is None:
            raise Http404(f"No rule {rule[:60]!r} is on this board.")
        return column

    def origin(self, publication: Publication) -> Origin:
        """What a file is of."""
        return Origin.of(self.benchmark, publication.revision)


class MarginsView(ComparisonView):
    """Margins between systems."""

    @extend_schema(
        operation_id="margins",
        summary="Read the margins head to head",
        tags=["comparisons"],
        parameters=[
            REVISION,
            OpenApiParameter("system", text_shape(), description="Only this system, by key, over all rivals."),
            TABLE_FORMAT,
            *PAGING,
        ],
        responses=reading(MarginPageSerializer, table="system, rival, ahead, behind, margin, verdict.") | TOO_LARGE,
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Of every system and rival on how much of the weight either is ahead. A page has at most 20,000 pairs."""
        publication = self.published()
        wanted = window(request.query_params)
        only = request.query_params.get("system", "")
        try:
            if self.file_format:
                origin, level = self.origin(publication), self.audience.level
                return self.table(publication, "margins", lambda: self.written(margins_export(origin, level)))
            return self.answer_here(lambda: self._page(publication, wanted, only))
        except (TooLargeError, ExportError) as problem:
            raise ApiError(422, str(problem)) from problem

    def _page(self, publication: Publication, wanted: Window, only: str) -> dict[str, Any]:
        systems = systems_at(publication.revision)
        n = len(systems)
        chosen = [systems[self.place_of(systems, "system")]] if only else systems
        size = max(1, min(wanted.size, PAIRS_A_PAGE // max(1, n)))
        page = cut_sorted(chosen, Window(wanted.after, size), lambda system: system.key)
        places = {system.key: i for i, system in enumerate(systems)}
        rows = [places[system.key] for system in page.items]
        results = []
        revision, level = publication.revision, self.audience.level
        sets = choice_sets(revision, n_systems=n, audience_level=level)
        keys = [task.key for task in configuration_of(revision).tasks]
        cycles = (
            None
            if sets is None
            else [
                {"systems": [systems[i].key for i in cycle], "margins": leads}
                for cycle, leads in zip(sets.cycles, sets.leads, strict=True)
            ]
        )
        if rows:
            margins = margins_between(revision, rows, range(n), n_systems=n, audience_level=level)
            for k, i in enumerate(rows):
                rivals = [
                    {
                        "system": systems[j].key,
                        "name": systems[j].name,
                        "ahead": float(margins.ahead[k, j]),
                        "behind": float(margins.behind[k, j]),
                        "verdict": VERDICTS[int(margins.sign[k, j])],
                    }
                    for j in np.flatnonzero(margins.is_compared[k]).tolist()
                ]
                results.append(
                    {
                        "system": systems[i].key,
                        "name": systems[i].name,
                        "n_beaten": int(margins.n_beaten[k]),
                        "n_lost": int(margins.n_lost[k]),
                        "n_level": int(margins.n_level[k]),
                        "sets": sets
                        and {**sets.of(i), "lottery": sets.lottery.get(i), "copy_proof_rating": sets.rating(i)},
                        "rivals": rivals,
                    }
                )
        return MarginPageSerializer.render(
            {
                **stamp_of(publication),
                "aggregation": configuration_of(publication.revision).aggregation,
                **page_links(self.request, page, revision=publication.revision.number),
                "cycles": cycles,
                "task_mixture": None if sets is None else dict(zip(keys, sets.task_shares, strict=True)),
                "results": results,
            }
        )


class HeadToHeadView(ComparisonView):
    """Any two systems."""

    is_on_demand = True

    @extend_schema(
        operation_id="head_to_head",
        summary="Compare two systems",
        tags=["comparisons"],
        parameters=[
            OpenApiParameter("a", text_shape(least=1), required=True, description="The key of a system."),
            OpenApiParameter("b", text_shape(least=1), required=True, description="The key of another system."),
            REVISION,
            TABLE_FORMAT,
        ],
        responses=reading(PairDetailSerializer, table="task, first, second, weight, ahead.") | TOO_LARGE,
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Task by task who is ahead, by how much weight, and whether that could be luck; with the ranks of both."""
        publication = self.published()
        systems = systems_at(publication.revision)
        first, second = self.place_of(systems, "a"), self.place_of(systems, "b")
        if first == second:
            raise wrong_parameter("b", "`a` and `b` are the same system; name two.")
        if not configuration_of(publication.revision).tasks:
            raise ApiError(404, "All tasks of this benchmark are archived, so there is nothing to compare.")
        board = published_board(publication)
        try:
            pair = pair_of(
                publication,
                board,
                systems,
                (first, second),
                audience_level=self.audience.level,
                has_instances=sees_instances(self.audience),
            )
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        if self.file_format:
            ahead = {"first": pair.first.name, "second": pair.second.name}
            headings = [
                ColumnHead("task", "Task", is_text=True),
                ColumnHead("first", pair.first.name),
                ColumnHead("second", pair.second.name),
                ColumnHead("weight", "Weight"),
                ColumnHead("ahead", "Ahead", is_text=True),
            ]
            rows: list[list[Value]] = [
                [task.name, task.first, task.second, task.weight, ahead.get(task.outcome, task.outcome)]
                for task in pair.tasks
            ]
            caption = f"{pair.first.name} and {pair.second.name} task by task."
            keys = {"first": pair.first.key, "second": pair.second.key}
            table = self.origin(publication).export("pair", caption, headings, rows, **keys)
            return self.table(publication, "pair", lambda: self.written(table))
        return self.answer_here(lambda: PairDetailSerializer.render({**stamp_of(publication), "pair": pair}))
