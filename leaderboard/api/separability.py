"""Between which ranks systems are under a rule, and which of them differ significantly."""

from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request

from leaderboard.api.comparisons import ComparisonView
from leaderboard.api.protocol.base import PublishedSerializer, stamp_of
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.pagination import cut_counted, page_links, window
from leaderboard.api.protocol.schema import PAGING, REVISION, RULE, TABLE_FORMAT, reading
from leaderboard.common.files import ColumnHead, Value
from leaderboard.rankings.confidence.separability import FAMILIES
from leaderboard.rankings.confidence.significance import BASIS, inseparable_runs, is_outdated, neighbour_tests
from leaderboard.rankings.published import published_board, separability_of
from leaderboard.rankings.reports import unpack_arrays
from leaderboard.rankings.scores import systems_at
from ranking_engine.core.decimals import finite_or_none
from ranking_engine.stability.separability.pair_tests import TIED, VERDICTS


class UnderRuleSerializer(Shape):
    """A system under one rule."""

    rank = s.IntegerField(allow_null=True)
    score = s.FloatField(allow_null=True, help_text="The rule's own score; higher is better.")
    interval = s.ListField(
        child=s.IntegerField(),
        allow_null=True,
        help_text="The range of ranks if the same tasks were drawn again with replacement, for this system alone.",
    )
    simultaneous_interval = s.ListField(
        child=s.IntegerField(), allow_null=True, help_text="The same, wide enough for all systems at once."
    )
    possibly_best = s.BooleanField(
        allow_null=True, help_text="Whether no other system is clearly ahead; null where that is not computed."
    )
    measured_interval = s.ListField(
        child=s.IntegerField(),
        allow_null=True,
        help_text="The range of ranks if the scores were measured again on the same tasks, for this system alone; "
        "null where no score has a standard error.",
    )
    reason = s.CharField(allow_null=True, help_text="Why it has no rank.")
    n_predicted = s.IntegerField(help_text="How many scores that the rank rests on are predicted, not measured.")


class MeasuredIntervalsSerializer(Shape):
    """What the intervals from stated standard errors are: so many draws of all scores, each from a normal distribution.

    95 % of the draws lie in an interval. Where systems are closer than their errors, the true rank is outside more
    often than 1 time in 20, most of all for those shown first. They take the errors of systems as independent, so they
    may be too wide where systems were measured on the same instances.
    """

    n_draws = s.IntegerField(help_text="That the rule ranks.")
    n_errors = s.IntegerField(help_text="Scores on tasks that vote with a standard error above 0.")
    n_scores = s.IntegerField(help_text="All scores on tasks that vote; those without an error count as exact.")
    reason = s.CharField(allow_blank=True, help_text="Why there are none.")


class IntervalsSerializer(Shape):
    """What the rank intervals are: so many draws of the same tasks with replacement, with this seed."""

    status = s.CharField()
    reason = s.CharField(allow_blank=True, help_text="Why there are none.")
    level = s.FloatField(help_text="Of each interval separately, and of all simultaneous intervals together.")
    n_resamples = s.IntegerField()
    n_clusters = s.IntegerField(
        allow_null=True, help_text="How many tasks are drawn, those of one cluster together: at least 8."
    )
    seed = s.IntegerField()
    typical_error = s.IntegerField(
        allow_null=True, help_text="By how many ranks other draws of as many would move half of the intervals at most."
    )
    largest_error = s.IntegerField(allow_null=True, help_text="By how many they would move any interval at most.")
    no_simultaneous = s.CharField(allow_blank=True, help_text="Why there are no intervals for all systems at once.")
    measured = MeasuredIntervalsSerializer(
        allow_null=True, help_text="Those from standard errors; null where no score on a task that votes has one."
    )


class NeighbourEntrySerializer(Shape):
    """Two systems of consecutive ranks under the rule."""

    first = s.CharField(help_text="The key of the one ranked higher.")
    second = s.CharField()
    p_value = s.FloatField(allow_null=True)
    p_adjusted = s.FloatField(allow_null=True, help_text="After Holm's adjustment over all neighbours.")
    verdict = s.ChoiceField(
        choices=[verdict for verdict in VERDICTS if verdict != VERDICTS[TIED]],
        help_text="`separable`: significant, and the one ranked higher is ahead. `contradicted`: significant, and the "
        "one ranked lower is ahead.",
    )
    is_separable = s.BooleanField(help_text="Whether the verdict is `separable`.")


class FamilySerializer(Shape):
    """A family of pairs that is adjusted by itself."""

    verdict = s.CharField(help_text="`some` or `none` differ significantly, or `too_few_tasks` to tell.")
    n_pairs = s.IntegerField()
    n_separable = s.IntegerField(help_text="Significant, with the higher-ranked system ahead.")
    n_contradicted = s.IntegerField(help_text="Significant, with the lower-ranked system ahead.")
    n_tied = s.IntegerField(help_text="Pairs that share a rank.")
    n_not_separable = s.IntegerField()
    n_too_few_tasks = s.IntegerField()
    least_adjusted = s.FloatField(allow_null=True, help_text="The least p that so many tasks allow, adjusted.")
    n_draws = s.IntegerField(help_text="0 where all signs were tried.")


class SeparabilityDetailSerializer(PublishedSerializer):
    """Which systems differ significantly under a rule."""

    rule = s.CharField()
    status = s.ChoiceField(choices=["there", "computing", "undefined"])
    text = s.CharField(allow_blank=True, help_text="The result of the tests, or why there are none.")
    level = s.FloatField(allow_null=True)
    tested = s.ChoiceField(
        choices=["contributions", "mean_differences"],
        allow_null=True,
        help_text="`contributions`: what each task adds to the rule's scores, where these are sums over tasks. "
        "`mean_differences`: of scores in units of each task's spread.",
    )
    tested_text = s.CharField(allow_null=True, help_text="The same in words, with the reason.")
    null_hypothesis = s.CharField(allow_null=True)
    n_clusters = s.IntegerField(allow_null=True, help_text="Clusters of tasks, taken as independent.")
    n_tasks = s.IntegerField(allow_null=True, help_text="The tasks in these clusters.")
    neighbours = FamilySerializer(allow_null=True, help_text="All pairs across consecutive ranks.")
    top = FamilySerializer(allow_null=True)
    every_pair = FamilySerializer(allow_null=True)
    runs = s.ListField(
        child=s.ListField(child=s.CharField()),
        help_text="Runs of systems, by key, in which no two differ significantly; they may overlap.",
    )
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = NeighbourEntrySerializer(many=True)


class SeparabilityView(ComparisonView):
    """Which systems differ significantly."""

    @extend_schema(
        operation_id="separability",
        summary="Which systems differ significantly",
        tags=["comparisons"],
        parameters=[REVISION, RULE, TABLE_FORMAT, *PAGING],
        responses=reading(
            SeparabilityDetailSerializer, table="first, second, p_value, p_adjusted, verdict, is_separable."
        ),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Tests of systems of consecutive ranks under a rule, and runs in which no pair differs significantly."""
        publication = self.published()
        wanted = window(request.query_params)
        board, systems = published_board(publication), systems_at(publication.revision)
        column = self.column(board)
        tests = [
            {
                "first": systems[test.first].key,
                "second": systems[test.second].key,
                "p_value": finite_or_none(test.p_value),
                "p_adjusted": finite_or_none(test.p_adjusted),
                "verdict": test.verdict,
                "is_separable": test.is_separable,
            }
            for test in neighbour_tests(unpack_arrays(board.test_arrays), column.rule)
        ]
        if self.file_format:
            keys = ("first", "second", "p_value", "p_adjusted", "verdict", "is_separable")
            texts = ("first", "second", "verdict")
            headings = [ColumnHead(name, name.replace("_", " "), is_text=name in texts) for name in keys]
            rows: list[list[Value]] = [[test[name] for name in keys] for test in tests]
            caption = f"which neighbours under {column.name} differ significantly."
            table = self.origin(publication).export("separability", caption, headings, rows, rule=column.rule)
            return self.table(publication, "separability", lambda: self.written(table))

        def build() -> dict[str, Any]:
            page = cut_counted(tests, wanted)
            number_here = publication.revision.number
            figures = board.tests or {}
            result = figures.get("rules", {}).get(column.rule)
            is_computing = board.tests is None or (result is not None and is_outdated(result))
            if is_computing:
                result = None
            can_tell = result is not None and result["every_pair"]["verdict"] == "some"
            runs = inseparable_runs(unpack_arrays(board.test_arrays), column.rule) if can_tell else []
            return SeparabilityDetailSerializer.render(
                {
                    **stamp_of(publication),
                    "rule": column.rule,
                    "status": "computing" if is_computing else "there" if result else "undefined",
                    "text": separability_of(board, column).text,
                    "level": figures.get("level"),
                    "null_hypothesis": figures.get("null_hypothesis"),
                    **{name: result[name] if result else None for name in (*BASIS, *FAMILIES)},
                    "runs": [[systems[i].key for i in run] for run in runs],
                    **page_links(request, page, revision=number_here),
                    "results": page.items,
                }
            )

        return self.answer_here(build)
