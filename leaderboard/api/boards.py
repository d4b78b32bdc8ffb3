"""The board as its page shows it, the catalogue of rules with their properties, and all benchmarks side by side."""

from typing import Any

from django.http import Http404, HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_serializer
from rest_framework import serializers as s
from rest_framework.request import Request

from leaderboard.api.protocol.base import ApiView, PublishedSerializer, stamp_of
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.figures import FigureView
from leaderboard.api.protocol.pagination import cut, cut_counted, cut_sorted, page_links, window
from leaderboard.api.protocol.problems import ApiError
from leaderboard.api.protocol.renderers import TABLES
from leaderboard.api.protocol.schema import (
    AGGREGATION,
    NAME_QUERY,
    PAGING,
    RANK,
    REVISION,
    TABLE_FORMAT,
    error,
    reading,
    text_shape,
)
from leaderboard.boards.board import build_board
from leaderboard.boards.exports import FORMATS, board_content
from leaderboard.boards.query import FILTERED, LEAST, META, MOST, read_query
from leaderboard.common.files import listed_export
from leaderboard.computing.rankings import site_rules
from leaderboard.models import Baseline, Benchmark
from leaderboard.models.systems import MEASURES
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.published import UnknownChoiceError
from leaderboard.studies.axioms import rule_properties
from leaderboard.studies.landscape import figures_of_all, open_boards, places_by_key, places_of
from leaderboard.studies.scale_ends import scale_ends
from ranking_engine import MISSING_POLICIES, RULES, TIES, Rule, __version__ as engine_version
from ranking_engine.catalogue.omission import omission_sentence

BASELINE_KINDS = [choice for choice in Baseline.choices if choice[0] in MEASURES]
RULE_COLUMNS = ("key", "name", "family", "summary", "needs_complete", "tie_convention", "source")
VIEW = [
    OpenApiParameter(
        "sort", text_shape(), description="A rule, `name`, `median_rank` or `tasks`; with a minus the other way."
    ),
    OpenApiParameter("reference", text_shape(), description="The rule that changes are compared with."),
    OpenApiParameter("policy", enum=Benchmark.MissingPolicy.values, description="Another missing-score policy."),
    AGGREGATION,
    OpenApiParameter("ties", enum=list(TIES), description="Another tie convention within a task."),
    OpenApiParameter("rule", str, many=True, description="Only these rules."),
    OpenApiParameter("family", str, many=True, description="Only rules of these families."),
    NAME_QUERY,
    OpenApiParameter("tag", str, many=True, description="Only systems with all of these tags."),
    OpenApiParameter("complete_only", enum=["1"], description="Only systems with a score on every voting task."),
    OpenApiParameter("top", RANK, description="Only systems of at least this rank under the reference rule."),
    OpenApiParameter(
        "group",
        str,
        description="The key of a field of the systems: those of which it says the same follow each other. Numbers are "
        "in groups by powers of ten, dates by year; ranks stay the same.",
    ),
    OpenApiParameter(
        "ranks",
        enum=[FILTERED],
        description="`filtered`: the rules rank only the systems that the filters leave, as if there were no others. "
        "Without it ranks are among all.",
    ),
]


class BoardRuleSerializer(Shape):
    """A column of the board."""

    key = s.CharField()
    name = s.CharField()
    family = s.CharField()
    status = s.CharField()
    reason = s.CharField(allow_blank=True)
    prediction = s.CharField(
        allow_blank=True, help_text="How many scores are predicted, and how well that goes; empty where none is."
    )


class BaselineStandingSerializer(Shape):
    """A baseline, and how many systems are above it; other baselines are not counted."""

    system = s.CharField(help_text="Its key.")
    name = s.CharField()
    kind = s.ChoiceField(choices=BASELINE_KINDS)
    rank = s.IntegerField(allow_null=True, help_text="Under the reference rule.")
    n_above = s.IntegerField(help_text="Systems that are above it under the reference rule.")
    n_others = s.IntegerField(help_text="Systems that the reference rule ranks.")
    n_never_below = s.IntegerField(help_text="Systems that are above it under some rule, and below it under none.")
    n_rules = s.IntegerField(help_text="Rules that rank it.")
    sentence = s.CharField()


class BoardSystemSerializer(Shape):
    """A row of the board."""

    key = s.CharField()
    name = s.CharField()
    baseline = s.ChoiceField(choices=Baseline.choices, help_text="Whether its owners marked it as a baseline.")
    group = s.CharField(allow_null=True, help_text="What the field `group` says of it; null without that parameter.")
    n_scored = s.IntegerField()
    n_voting_tasks = s.IntegerField()
    least_rank = s.IntegerField(allow_null=True, help_text="Over all rules.")
    median_rank = s.FloatField(allow_null=True)
    greatest_rank = s.IntegerField(allow_null=True)
    ranks = s.DictField(child=s.IntegerField(allow_null=True), help_text="By rule.")
    changes = s.DictField(
        child=s.IntegerField(allow_null=True), help_text="Places better than under the reference rule, by rule."
    )
    n_predicted = s.DictField(
        child=s.IntegerField(), help_text="By rule, how many scores that the rank rests on are predicted, not measured."
    )
    scores = s.DictField(child=s.FloatField(allow_null=True), help_text="The rules' own scores.")


@extend_schema_serializer(deprecate_fields=["benchmark", "condorcet_winner"])
class BoardDetailSerializer(PublishedSerializer):
    """A view of the board: systems by rules."""

    benchmark = s.CharField(help_text="As `benchmark_name`, which is the name to use. Everywhere else it is the key.")
    benchmark_key = s.CharField()
    benchmark_name = s.CharField(source="benchmark")
    verdict = s.CharField(allow_blank=True, help_text="Which systems win under which rules, in a sentence.")
    reference = s.CharField(help_text="The rule that changes are compared with.")
    missing = s.CharField()
    aggregation = s.CharField()
    ties = s.CharField()
    n_ranked_among = s.IntegerField(
        help_text="Systems that the rules were given: all, or with `ranks=filtered` these alone. A rule may leave some "
        "of them without a rank."
    )
    condorcet_winner = s.CharField(allow_null=True, help_text="As `condorcet_winner_name`, which is the name to use.")
    condorcet_winner_name = s.CharField(
        source="condorcet_winner",
        allow_null=True,
        help_text="Null where no one wins every head-to-head, and under two-step aggregation.",
    )
    baselines = BaselineStandingSerializer(many=True)
    rules = BoardRuleSerializer(many=True)
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    systems = BoardSystemSerializer(many=True)


class RuleEntrySerializer(Shape):
    """A ranking rule."""

    key = s.CharField()
    name = s.CharField()
    family = s.CharField()
    summary = s.CharField()
    needs_complete = s.BooleanField(help_text="Whether a missing-score policy applies to it.")
    tie_convention = s.CharField(allow_null=True)
    omission = s.DictField(
        child=s.CharField(), help_text="By missing-score policy: whether leaving out a score can improve one's rank."
    )
    source = s.CharField()  # type: ignore[assignment]

    def value_of_omission(self, rule: Rule) -> dict[str, str]:
        """A sentence a policy."""
        return {policy: omission_sentence(rule.key, policy) for policy in MISSING_POLICIES}


class RuleListSerializer(Shape):
    """The catalogue."""

    engine_version = s.CharField()
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = RuleEntrySerializer(many=True)


class PropertyEntrySerializer(Shape):
    """A property, whether the rule has it, and what was found in the benchmark's own scores."""

    name = s.CharField()
    definition = s.CharField()
    holds = s.BooleanField(help_text="With complete scores, on every board.")
    source = s.CharField(allow_blank=True)  # type: ignore[assignment]
    found = s.CharField(source="here", allow_blank=True, help_text="A violation here, or how hard one was looked for.")
    is_violated = s.BooleanField(help_text="Whether `found` is a violation.")


class RulePropertiesDetailSerializer(PublishedSerializer):
    """The properties of one rule."""

    rule = s.CharField()
    state = s.ChoiceField(choices=["computed", "computing", "failed", "undefined"])
    reason = s.CharField(allow_blank=True, help_text="Why there is no search, where `state` is `undefined`.")
    note = s.CharField(allow_blank=True, help_text="What filling in missing scores does to these properties.")
    results = PropertyEntrySerializer(many=True)


class BoundsSerializer(Shape):
    """What is known of a share."""

    lower = s.FloatField()
    upper = s.FloatField()


class LandscapeEntrySerializer(Shape):
    """One benchmark; null where nothing is computed."""

    key = s.CharField()
    name = s.CharField()
    diversity = s.FloatField(allow_null=True, help_text="1 - Kendall's W of the tasks, corrected for ties.")
    cardinal_sensitivity = BoundsSerializer(
        source="cardinal", allow_null=True, help_text="The share of pairs that other weights reverse."
    )
    ordinal_sensitivity = BoundsSerializer(
        source="ordinal", allow_null=True, help_text="The share of pairs that other systems reverse."
    )


class CorrelationSerializer(Shape):
    """A line of least squares through the benchmarks, and Pearson's correlation."""

    slope = s.FloatField()
    intercept = s.FloatField()
    r = s.FloatField()
    p = s.FloatField(help_text="Two-sided, of Student's t distribution with n - 2 degrees of freedom.")


class ScaleEndSerializer(Shape):
    """A made-up benchmark without structure: one end of the scale."""

    name = s.CharField(help_text="Constant (one task, repeated) or Random (every score drawn independently).")
    n_systems = s.IntegerField()
    n_tasks = s.IntegerField()
    diversity = s.FloatField()
    reached = s.FloatField(help_text="The share of pairs that a search reversed; a mean over trials, as diversity.")


class PlaneSerializer(Shape):
    """How diversity and sensitivity go together on all benchmarks that you may see, of all pages."""

    n_benchmarks = s.IntegerField(help_text="That have both figures.", source="fit.n")
    reached = CorrelationSerializer(
        source="fit.reached", allow_null=True, help_text="With the share of pairs that was reached."
    )
    proven = CorrelationSerializer(
        source="fit.proven", allow_null=True, help_text="With the proven upper bounds of that share."
    )
    verdict = s.CharField(source="fit.verdict", help_text="The conclusion that the figures allow.")
    scale_ends = ScaleEndSerializer(many=True)


class LandscapePageSerializer(Shape):
    """A page of benchmarks, by key."""

    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    cardinal = PlaneSerializer(help_text="Rankings by mean score.")
    ordinal = PlaneSerializer(help_text="Rankings by win rate.")
    results = LandscapeEntrySerializer(many=True)


class BoardPageView(FigureView):
    """The board."""

    renderer_classes = TABLES
    is_open_to_restricted = True

    def known_parameters(self, handler: Any) -> frozenset[str]:  # noqa: ANN401
        """Those of the schema, and filters by the fields of the systems, which each benchmark has its own of."""
        given = self.request.query_params
        return super().known_parameters(handler) | {one for one in given if one.startswith((LEAST, MOST, META))}

    @extend_schema(
        operation_id="board",
        summary="Read the board",
        tags=["rankings"],
        parameters=[REVISION, *VIEW, TABLE_FORMAT, *PAGING],
        responses=reading(BoardDetailSerializer, table="system, its rank and score under every rule.")
        | {422: error("The board is too large for an answer on demand; the message says the limit.")},
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Every system under every rule, with the verdict that is above the board; parameters as on its page.

        Filters by the fields of the systems are `meta.KEY`, what a field is or has in it, and `least.KEY` and
        `most.KEY`, bounds of numbers and dates. Where owners hide scores or names, others than moderators get what they
        see there.
        """
        publication = self.published()
        self.benchmark.publication = publication
        wanted = window(request.query_params)
        try:
            board = build_board(self.audience, read_query(request.query_params), is_whole=True)
        except UnknownChoiceError as problem:
            raise ApiError(400, str(problem)) from problem
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        if board is None:
            raise ApiError(404, "No rule ranks here yet.")
        if self.file_format:
            response = self.answer_here(lambda: FORMATS[self.file_format][1](board, self.benchmark.name))
            return self.named_file(response, f"{self.benchmark.key}-board-r{publication.revision.number}")

        def build() -> dict[str, Any]:
            content = board_content(board, self.benchmark.name)
            page = cut_counted(content["systems"], wanted)
            return BoardDetailSerializer.render(
                {
                    **content,
                    "benchmark_key": self.benchmark.key,
                    **self.stamp(self.benchmark.publication),
                    "verdict": board.sentence,
                    **page_links(request, page, revision=content["revision"]),
                    "systems": page.items,
                }
            )

        return self.answer_here(build)


class RulesView(ApiView):
    """Every rule."""

    renderer_classes = TABLES

    @extend_schema(
        operation_id="rules",
        summary="List the rules",
        tags=["rankings"],
        parameters=[TABLE_FORMAT, *PAGING],
        responses=reading(RuleListSerializer, table=f"{', '.join(RULE_COLUMNS)}."),
    )
    def get(self, request: Request) -> HttpResponseBase:
        """What each rule is called, means and needs, by key."""
        if self.file_format:
            rows = [RuleEntrySerializer.render(RULES[key]) for key in sorted(RULES)]
            table = listed_export("rules", f"Ranking rules of engine {engine_version}.", RULE_COLUMNS, rows)
            return self.named_file(self.answer(lambda: self.written(table), is_public=True), table.stem)
        page = cut_sorted([RULES[key] for key in sorted(RULES)], window(request.query_params), lambda rule: rule.key)
        content = {"engine_version": engine_version, **page_links(request, page), "results": page.items}
        return self.answer(lambda: RuleListSerializer.render(content), is_public=True)


class RulePropertiesView(FigureView):
    """Which properties a rule has, and what violates them here."""

    @extend_schema(
        operation_id="rule_properties",
        summary="Read a rule's properties on a benchmark",
        tags=["rankings"],
        parameters=[REVISION],
        responses=reading(RulePropertiesDetailSerializer),
    )
    def get(self, request: Request, key: str, rule: str) -> HttpResponseBase:
        """Every property of the catalogue, with a violation in the benchmark's own scores where one was found."""
        publication = self.published()
        variants = configuration_of(publication.revision).variants
        if rule not in {*site_rules(), *variants}:
            raise Http404(f"There is no rule {rule!r}; there are: {', '.join([*site_rules(), *variants])}.")
        properties = rule_properties(publication.revision, rule)
        content = {
            **stamp_of(publication),
            "rule": rule,
            "state": properties.state,
            "reason": properties.reason,
            "note": properties.note,
            "results": properties.lines,
        }
        return self.answer_here(lambda: RulePropertiesDetailSerializer.render(content))


class LandscapeView(ApiView):
    """All benchmarks on the diversity-sensitivity plane."""

    @extend_schema(
        operation_id="landscape",
        summary="Compare all benchmarks",
        tags=["benchmarks"],
        parameters=PAGING,
        responses=reading(LandscapePageSerializer),
    )
    def get(self, request: Request) -> HttpResponseBase:
        """How diverse the tasks of each benchmark are, and how far changes that should not matter move its rankings."""
        wanted = window(request.query_params)
        rows = places_by_key(request.user, after=wanted.after, most=wanted.size + 1)
        page = cut(rows, wanted, lambda benchmark: benchmark.key, open_boards(request.user).count())
        planes: dict[str, Any] = {
            plane: {"fit": relation, "scale_ends": scale_ends(plane)}
            for plane, relation in figures_of_all(open_boards(request.user)).fits().items()
        }
        content = planes | {**page_links(request, page), "results": places_of(page.items)}
        return self.answer(lambda: LandscapePageSerializer.render(content), is_public=True)
