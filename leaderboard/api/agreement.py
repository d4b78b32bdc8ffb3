"""How far the rules of a board agree, with each other and with the tasks."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request

from leaderboard.api.comparisons import TOO_LARGE, ComparisonView
from leaderboard.api.protocol.base import PublishedSerializer, stamp_of
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.problems import ApiError, wrong_parameter
from leaderboard.api.protocol.schema import REVISION, TABLE_FORMAT, reading
from leaderboard.common.files import ColumnHead, ExportTable, Value
from leaderboard.comparisons.agreement import kendall_taus, likeness_order, taus_with
from leaderboard.comparisons.group_agreement import groups_content, groups_of_board
from leaderboard.comparisons.places import DEFAULT_PLACES, MAX_DIGITS, MAX_NUMBERS, Places, PlacesError
from leaderboard.comparisons.rule_figures import MAX_SYSTEMS, board_figures, not_compared
from leaderboard.comparisons.rule_map import map_content, map_of_board
from leaderboard.comparisons.task_likeness import likeness_content, likeness_of_board
from leaderboard.models import Publication
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.published import published_board
from leaderboard.rankings.score_matrix import reader_of
from ranking_engine.core.decimals import finite_or_none
from ranking_engine.stability.separability.group_agreement import GroupAgreement
from ranking_engine.stability.separability.task_likeness import TaskLikeness

OPTIMUM_STATES = ("proven", "not_proven", "computing", "undefined", "two_step")
USUAL = ", ".join(map(str, DEFAULT_PLACES))


def _places_parameter(name: str, end: str) -> OpenApiParameter:
    number = f"[0-9]{{1,{MAX_DIGITS}}}"
    return OpenApiParameter(
        name,
        {"type": "string", "pattern": f"^{number}(,{number}){{0,{MAX_NUMBERS - 1}}}$"},
        description=f"How many of the {end} places are compared: up to {MAX_NUMBERS} whole numbers with commas "
        f"between them, such as `1,3,5`. Without it {USUAL}, as far as there are more systems.",
    )


class AgreementRowSerializer(Shape):
    """One rule: how far it agrees with the others, and with the tasks."""

    rule = s.CharField()
    name = s.CharField()
    kendall_tau = s.DictField(
        child=s.FloatField(allow_null=True),
        help_text="Kendall's tau-b with every rule, on the systems that both rank; null where it is undefined.",
    )
    mean_with_others = s.FloatField(allow_null=True)
    agreement_top = s.DictField(
        child=s.FloatField(allow_null=True),
        help_text="By k, the share of the first k places that the rule and the reference rule give to the same "
        "systems; ties that straddle place k share the places left. Null where both rank fewer than k systems.",
    )
    agreement_least = s.DictField(child=s.FloatField(allow_null=True), help_text="By k, the same of the last k places.")
    n_ranked = s.IntegerField(help_text="Systems with a rank.")
    n_tied = s.IntegerField(help_text="Ranked systems minus distinct ranks; 0 if no two systems share a rank.")
    n_in_ties = s.IntegerField(help_text="Systems that share their rank.")
    dispersion_to = s.FloatField(
        allow_null=True,
        help_text="The mean Kendall distance of the voting tasks to the ranking: pairs of systems in opposite order, "
        "and half of those that one of the two ties.",
    )
    weighted_distance = s.FloatField(
        allow_null=True, help_text="The weight of the tasks that contradict the ranking, summed over pairs of systems."
    )
    kemeny_excess = s.FloatField(
        allow_null=True,
        help_text="How much more weight that is than for Kemeny's order; null unless that is proven to be the best and "
        "both rank the same systems.",
    )
    kemeny_excess_share = s.FloatField(
        allow_null=True, help_text="The same as a share of the weight that contradicts Kemeny's order."
    )


class OptimumDetailSerializer(Shape):
    """Whether the order that contradicts the tasks least is known."""

    status = s.ChoiceField(choices=OPTIMUM_STATES)
    text = s.CharField(help_text="The same in a sentence.")
    distance = s.FloatField(
        allow_null=True, help_text="The weight of the tasks that contradict it, where it is proven."
    )
    spread = s.FloatField(
        allow_null=True,
        help_text="Theta of Mallows' model around that order: 0 if the tasks are like random orders; the greater, the "
        "closer they are to it. With few tasks random orders have a theta above 0 as well.",
    )
    spread_error = s.FloatField(
        allow_null=True,
        help_text="Its standard error, by the model, as if the order were known; tasks of a cluster count as copies of "
        "one.",
    )
    no_spread = s.CharField(allow_blank=True, help_text="Why there is no spread, where the order is proven.")


class MapMemberSerializer(Shape):
    """A rule or a voting task, and its place."""

    kind = s.ChoiceField(choices=["rule", "task"])
    key = s.CharField()
    name = s.CharField()
    x = s.FloatField()
    y = s.FloatField()


class RankingMapSerializer(Shape):
    """Rules and tasks on a plane by classical scaling: the nearer two are, the more alike they order the systems."""

    members = MapMemberSerializer(many=True, help_text="The distance of two is (1 - tau-b) / 2, as far as a plane can.")
    share = s.FloatField(allow_null=True, help_text="The share of the positive eigenvalues that the plane shows.")
    stress = s.FloatField(allow_null=True, help_text="0 if the plane shows every distance exactly.")
    left_out = s.ListField(child=s.CharField(), help_text="Rules and tasks with an undefined tau-b.")
    reason = s.CharField(allow_blank=True, help_text="Why there is no map.")


class MappedTaskSerializer(Shape):
    """A task and its place on the map of the tasks."""

    task = s.CharField(help_text="Its key.")
    x = s.FloatField()
    y = s.FloatField()


class TaskMergeSerializer(Shape):
    """Two branches of the tree of tasks that join; k < n is the k-th of `tasks`, n + k the k-th of `merges`."""

    first = s.IntegerField()
    second = s.IntegerField()
    distance = s.FloatField(help_text="The average of (1 - tau-b) / 2 over pairs of a task of each.")
    size = s.IntegerField(help_text="Tasks of the new branch.")


class TaskLikenessSerializer(Shape):
    """How alike the voting tasks order the systems: a tree by average linkage, a map by classical scaling."""

    reason = s.CharField(allow_blank=True, help_text="Why there is nothing; otherwise empty.")
    effective_number = s.FloatField(
        allow_null=True,
        help_text="The participation ratio of the eigenvalues of the tasks' Spearman correlations: T^2 / sum rho^2.",
    )
    tasks = MappedTaskSerializer(many=True)
    left_out = s.ListField(child=s.CharField(), help_text="Tasks with an undefined correlation.")
    kendall_tau = s.ListField(child=s.ListField(child=s.FloatField()), help_text="Of every two of `tasks`.")
    spearman = s.ListField(child=s.ListField(child=s.FloatField()), help_text="Of every two of `tasks`.")
    merges = TaskMergeSerializer(many=True, help_text="The nearest first.")
    order = s.ListField(child=s.IntegerField(), help_text="Places in `tasks` so that no branches cross.")
    clusters = s.ListField(
        child=s.ListField(child=s.CharField()), help_text="Branches with a tau-b of 0.7 or more on average."
    )


class TaskGroupSerializer(Shape):
    """A group of tasks."""

    group = s.CharField(help_text="Its key.")
    tasks = s.ListField(child=s.CharField())
    mean_tau = s.FloatField(allow_null=True, help_text="The mean tau-b of every two of its tasks.")


class ColumnPairSerializer(Shape):
    """Two tasks of one cluster, one in each group: two columns of one data set."""

    first = s.CharField()
    second = s.CharField()
    kendall_tau = s.FloatField(allow_null=True)


class GroupPairSerializer(Shape):
    """Two groups of tasks."""

    first = s.CharField()
    second = s.CharField()
    kendall_tau = s.FloatField(allow_null=True, help_text="Of the rankings by win rate on the tasks of each.")
    same_top = s.FloatField(allow_null=True, help_text="The share of the first 3 places with the same systems.")
    mean_column_tau = s.FloatField(allow_null=True, help_text="The mean over `columns`.")
    columns = ColumnPairSerializer(many=True)


class GroupAgreementSerializer(Shape):
    """How far groups of tasks agree; empty without two groups, or with more than 12."""

    groups = TaskGroupSerializer(many=True)
    pairs = GroupPairSerializer(many=True)


class AgreementDetailSerializer(PublishedSerializer):
    """How far every two rules agree, and every rule with the tasks."""

    reference = s.CharField(
        help_text="The rule that the others are compared with; the others follow in order of similarity."
    )
    top = s.ListField(child=s.IntegerField(), help_text="The k of the first k places.")
    least = s.ListField(child=s.IntegerField(), help_text="The k of the last k places.")
    dispersion = s.FloatField(allow_null=True, help_text="The mean Kendall distance of two voting tasks.")
    kemeny = OptimumDetailSerializer(allow_null=True, help_text="Null where no rule ranks.")
    no_distances = s.CharField(allow_blank=True, help_text="Why there are no distances to the tasks.")
    not_compared = s.DictField(child=s.CharField(), help_text="By the key of a rule that does not rank: why.")
    map = RankingMapSerializer()
    tasks = TaskLikenessSerializer()
    task_groups = GroupAgreementSerializer()
    results = AgreementRowSerializer(many=True)


class AgreementView(ComparisonView):
    """How far rules agree."""

    @extend_schema(
        operation_id="agreement",
        summary="How far the rules agree",
        tags=["comparisons"],
        parameters=[REVISION, _places_parameter("top", "first"), _places_parameter("least", "last"), TABLE_FORMAT],
        responses=reading(
            AgreementDetailSerializer,
            table="rule, its tau with every rule, mean_with_others, then its figures: agreement_top_1 and so on, "
            "agreement_least_1 and so on, n_ranked, n_tied, n_in_ties, dispersion_to, weighted_distance, "
            "kemeny_excess, kemeny_excess_share.",
        )
        | TOO_LARGE,
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Kendall's tau of every two rules, each rule beside the one most like it; and every rule in figures.

        The figures are the agreement of the first k and of the last k places with the reference rule, which is the
        benchmark's default rule where that ranks; ties; the mean distance of the tasks to the ranking; and how much
        more weight contradicts it than Kemeny's order, where that is proven to be the best.
        """
        publication = self.published()
        try:
            places = Places.of_address(request.query_params)
        except PlacesError as problem:
            raise wrong_parameter(problem.parameter, str(problem)) from problem
        try:
            content = self._content(publication, places)
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        if self.file_format:
            return self.table(publication, "agreement", lambda: self.written(self._table(publication, content)))
        return self.answer_here(lambda: AgreementDetailSerializer.render(content))

    def _content(self, publication: Publication, places: Places) -> dict[str, Any]:
        board = published_board(publication)
        if len(board.system_ids) > MAX_SYSTEMS:
            raise ApiError(422, f"Every pair of systems is compared for up to {MAX_SYSTEMS} systems.")
        columns = [column for column in board.columns if column.is_ranked]
        if not columns:
            return {
                **stamp_of(publication),
                "reference": "",
                "top": [],
                "least": [],
                "dispersion": None,
                "kemeny": None,
                "no_distances": "",
                "not_compared": {column.rule: reason for column, reason in not_compared(board)},
                "map": map_content("No rule ranks.", [], publication),
                "tasks": likeness_content(TaskLikeness("no rule ranks"), publication),
                "task_groups": groups_content(GroupAgreement(), publication),
                "results": [],
            }
        tau = kendall_taus(publication, columns)
        default = (k for k, column in enumerate(columns) if column.rule == self.benchmark.default_rule)
        order = likeness_order(tau, next(default, 0))
        reference, level = columns[order[0]], self.audience.level
        taus = taus_with(reference, columns, tau)
        read = reader_of(publication.revision)
        figures = board_figures(publication, board, reference, taus, places, audience_level=level, read=read)
        drawn = map_of_board(publication, columns, audience_level=level, read=read)
        alike = likeness_of_board(publication, n_systems=len(board.system_ids), audience_level=level, read=read)
        groups = groups_of_board(publication, n_systems=len(board.system_ids), audience_level=level, read=read)
        by_rule = {row.column.rule: row for row in figures.rows}
        rows = []
        for k in order:
            others = [tau[k, j] for j in order if j != k and not np.isnan(tau[k, j])]
            row = by_rule[columns[k].rule]
            rows.append(
                {
                    **{name: value for name, value in row.values.items() if not name.startswith("agreement_")},
                    "agreement_top": {str(end): finite_or_none(rate) for end, rate in row.top.items()},
                    "agreement_least": {str(end): finite_or_none(rate) for end, rate in row.least.items()},
                    "rule": columns[k].rule,
                    "name": columns[k].name,
                    "kendall_tau": {columns[j].rule: finite_or_none(float(tau[k, j])) for j in order},
                    "mean_with_others": float(np.mean(others)) if others else None,
                }
            )
        return {
            **stamp_of(publication),
            "reference": reference.rule,
            "top": list(figures.top),
            "least": list(figures.least),
            "dispersion": finite_or_none(figures.dispersion),
            "kemeny": figures.optimum,
            "no_distances": figures.problem,
            "not_compared": {column.rule: reason for column, reason in figures.not_compared},
            "map": map_content(drawn, columns, publication),
            "tasks": likeness_content(alike, publication),
            "task_groups": groups_content(groups, publication),
            "results": rows,
        }

    def _table(self, publication: Publication, content: Mapping[str, Any]) -> ExportTable:
        rows = content["results"]
        rules = [row["rule"] for row in rows]
        ends = [(f"agreement_{end}", f"{name} {k}", k) for end, name in (("top", "First"), ("least", "Last"))
                for k in content[end]]  # fmt: skip
        own = {
            "n_ranked": "Ranked", "n_tied": "Ties", "n_in_ties": "In ties", "dispersion_to": "Distance to the tasks",
            "weighted_distance": "Weight against it", "kemeny_excess": "More than Kemeny",
            "kemeny_excess_share": "More than Kemeny, share",
        }  # fmt: skip
        headings = [
            ColumnHead("rule", "Rule", is_text=True),
            *(ColumnHead(row["rule"], row["name"]) for row in rows),
            ColumnHead("mean_with_others", "Mean with others"),
            *(ColumnHead(f"{name}_{k}", title) for name, title, k in ends),
            *(ColumnHead(name, title) for name, title in own.items()),
        ]
        lines: list[list[Value]] = [
            [
                row["rule"],
                *(row["kendall_tau"][rule] for rule in rules),
                row["mean_with_others"],
                *(row[name][str(k)] for name, _, k in ends),
                *(row[name] for name in own),
            ]
            for row in rows
        ]
        caption = (
            f"Kendall’s tau between the rules; agreement with {content['reference'] or 'no rule'}, ties, distances."
        )
        return self.origin(publication).export("agreement", caption, headings, lines)
