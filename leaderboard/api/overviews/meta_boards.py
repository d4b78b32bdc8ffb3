"""Saved meta-boards: benchmarks as voters over the systems that they share."""

from typing import Any, ClassVar

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_serializer
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import MANAGE, WritingView
from leaderboard.api.protocol.fields import ChoiceText, Listing, Shape, Text, Truth, Whole
from leaderboard.api.protocol.pagination import cut, page_links, window
from leaderboard.api.protocol.problems import wrong_parameter
from leaderboard.api.protocol.schema import DRY_RUN, PAGING, WRITING, body_example, reading, text_shape
from leaderboard.benchmarks.meta_boards import (
    FIELDS,
    MAX_BENCHMARKS,
    MAX_DESCRIPTION,
    MIN_BENCHMARKS,
    MetaBoardSpec,
    deletable_meta_board,
    own_meta_board,
    readable_meta_board,
    readable_meta_boards,
    save_meta_board,
)
from leaderboard.computing.rankings import site_rules
from leaderboard.explore.benchmarks import MAX_ROWS
from leaderboard.explore.meta_boards.page import MetaBoardPage, meta_board_page
from leaderboard.models import Benchmark, MetaBoard
from leaderboard.models.benchmarks import KEY_LENGTH, NAME_LENGTH
from ranking_engine.core.benchmark_agreement import (
    LEAST_BENCHMARKS,
    LEAST_SYSTEMS,
    LEAST_WITH_Z,
    N_SUBSETS,
    SUBSET_SIZE,
    AgreementMeasure,
)
from ranking_engine.core.decimals import finite_or_none

EXAMPLE = body_example("Three boards of one family", {"name": "HELM", "benchmarks": ["helm-accuracy", "helm-fairness"]})
CHANGE_EXAMPLE = body_example("Another policy", {"missing_policy": "median"})


class MetaBoardEntrySerializer(Shape):
    """A meta-board in the list."""

    key = s.CharField()
    name = s.CharField()
    description = s.CharField(allow_blank=True)
    is_public = s.BooleanField()
    rule = s.CharField(allow_blank=True, help_text="Which makes the ranks on each benchmark; empty: its own.")
    worth = s.ChoiceField(choices=MetaBoard.Worth.values, help_text="What a rank on a benchmark is worth.")
    missing_policy = s.ChoiceField(choices=Benchmark.MissingPolicy.values)
    default_rule = s.CharField()
    least = s.IntegerField(help_text="Systems that are on so many of the benchmarks take part.")


class MetaBoardListSerializer(Shape):
    """A page of the public meta-boards and your own, by key."""

    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = MetaBoardEntrySerializer(many=True)


class MeasureSerializer(Shape):
    """One correlation with the mean of the other benchmarks; null where there is none."""

    whole = s.FloatField(allow_null=True, help_text="Over all systems that both have.")
    mean = s.FloatField(
        allow_null=True,
        help_text=f"Over the random subsets of {SUBSET_SIZE} systems (seed 0) in which the correlation is defined.",
    )
    deviation = s.FloatField(allow_null=True, help_text="Of the same subsets.")
    n_undefined = s.IntegerField(help_text="Subsets in which the correlation is not defined.")
    z = s.FloatField(
        allow_null=True,
        help_text=f"Standard deviations from the mean of the k benchmarks, at most (k - 1) / sqrt(k). Null below "
        f"{LEAST_WITH_Z} benchmarks.",
    )

    def value_of_whole(self, one: AgreementMeasure) -> float | None:
        """Over all."""
        return finite_or_none(one.whole)

    def value_of_mean(self, one: AgreementMeasure) -> float | None:
        """Over the subsets."""
        return finite_or_none(one.mean)

    def value_of_deviation(self, one: AgreementMeasure) -> float | None:
        """Of the subsets."""
        return finite_or_none(one.deviation)

    def value_of_z(self, one: AgreementMeasure) -> float | None:
        """Among the benchmarks."""
        return finite_or_none(one.z)


class VoterSerializer(Shape):
    """A benchmark that votes, and how far it agrees with the others."""

    benchmark = s.CharField()
    n_systems = s.IntegerField(help_text="That it ranks and one of the others does.")
    n_subsets = s.IntegerField(
        help_text=f"That were drawn: {N_SUBSETS}; 1 where there are at most {SUBSET_SIZE} systems; 0 below "
        f"{LEAST_BENCHMARKS} benchmarks or {LEAST_SYSTEMS} systems."
    )
    kendall = MeasureSerializer()
    pearson = MeasureSerializer()


class VoterPairSerializer(Shape):
    """How far two benchmarks agree, over all systems that both rank; null where a correlation is not defined."""

    first = s.CharField()
    second = s.CharField()
    n_systems = s.IntegerField()
    kendall = s.FloatField(allow_null=True, help_text="Kendall's tau-b.")
    pearson = s.FloatField(allow_null=True)


class MetaRankSerializer(Shape):
    """A system over the benchmarks."""

    name = s.CharField()
    model = s.CharField(allow_blank=True, help_text="The key of the model, where one is declared.")
    declared = s.BooleanField(help_text="Whether all owners declared it; else it was matched by name.")
    rank = s.IntegerField(allow_null=True, help_text="Over all, under `reference`.")
    ranks = s.DictField(child=s.IntegerField(), help_text="By the key of a benchmark.")


@extend_schema_serializer(deprecate_fields=["winners"])
class MetaBoardSerializer(MetaBoardEntrySerializer):
    """A meta-board with what it says now."""

    reference = s.CharField()
    winner_names = s.DictField(
        child=s.ListField(child=s.CharField()), source="winners", help_text="Of every rule that has some."
    )
    winners = s.DictField(
        child=s.ListField(child=s.CharField()), help_text="As `winner_names`, which is the name to use."
    )
    n_matched = s.IntegerField()
    n_declared = s.IntegerField()
    reason = s.CharField(allow_blank=True, help_text="Why there is no board.")
    left_out = s.DictField(child=s.CharField(), help_text="Benchmarks that do not vote, with the reason.")
    systems = MetaRankSerializer(many=True, help_text=f"The first {MAX_ROWS}.")
    benchmarks = VoterSerializer(many=True)
    pairs = VoterPairSerializer(many=True, help_text="Each two of `benchmarks`.")
    agreement_reason = s.CharField(allow_blank=True, help_text="Why `benchmarks` is empty though there is a board.")


class MetaBoardBodySerializer(Shape):
    """A meta-board that is to be."""

    name = Text(most=NAME_LENGTH)
    description = Text(most=MAX_DESCRIPTION, is_line=False, required=False)
    benchmarks = Listing(child=Text(most=KEY_LENGTH), most=MAX_BENCHMARKS, least=MIN_BENCHMARKS)
    is_public = Truth(required=False)
    rule = Text(most=KEY_LENGTH, required=False)
    worth = ChoiceText(MetaBoard.Worth.values, required=False)
    missing_policy = ChoiceText(Benchmark.MissingPolicy.values, required=False)
    default_rule = Text(most=KEY_LENGTH, required=False)
    least = Whole(required=False)


class MetaBoardChangeSerializer(MetaBoardBodySerializer):
    """What is to change; what is left out stays."""

    name = Text(most=NAME_LENGTH, required=False)
    benchmarks = Listing(child=Text(most=KEY_LENGTH), most=MAX_BENCHMARKS, least=MIN_BENCHMARKS, required=False)


class DeletedMetaBoardSerializer(Shape):
    """What was deleted."""

    deleted = s.CharField()


def _spec_of(body: dict[str, Any]) -> MetaBoardSpec:
    """What a body asks for."""
    return MetaBoardSpec(body.get("benchmarks"), {name: body[name] for name in body if name != "benchmarks"})


def content_of(board: MetaBoard, page: MetaBoardPage) -> dict[str, Any]:
    """What `MetaBoardSerializer` renders.

    Args:
        board: the meta-board.
        page: what a reader may see of it.
    """
    compared = page.compared
    if compared is None:
        raise ValueError("a meta-board has benchmarks")
    laid_out = compared.board
    fields = {name: getattr(board, name) for name in ("key", *FIELDS)}
    return fields | {
        "reference": laid_out.reference.rule if laid_out else page.query.reference,
        "winners": {one.rule: one.winner_names for one in laid_out.columns if one.elects} if laid_out else {},
        "n_matched": compared.n_matched,
        "n_declared": compared.n_declared,
        "reason": compared.reason,
        "agreement_reason": compared.agreement_reason,
        "pairs": [
            {
                "first": compared.benchmarks[pair.first].key,
                "second": compared.benchmarks[pair.second].key,
                "n_systems": pair.n_systems,
                "kendall": finite_or_none(pair.kendall),
                "pearson": finite_or_none(pair.pearson),
            }
            for pair in compared.pairs
        ],
        "left_out": {one.key: one.reason for one in compared.left_out},
        "systems": [
            {
                "name": row.name,
                "model": row.model,
                "declared": row.is_declared,
                "rank": row.rank,
                "ranks": {
                    one.key: place.rank
                    for one, place in zip(compared.benchmarks, row.places, strict=True)
                    if place is not None
                },
            }
            for row in compared.rows
        ],
        "benchmarks": [
            {"benchmark": one.key, "n_systems": agreement.n_systems, "n_subsets": agreement.n_subsets,
             "kendall": agreement.kendall, "pearson": agreement.pearson}
            for one, agreement in zip(compared.benchmarks, compared.agreement, strict=False)
        ],
    }  # fmt: skip


class MetaBoardsView(WritingView):
    """The meta-boards."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="meta_boards",
        summary="List meta-boards",
        tags=["meta-boards"],
        parameters=PAGING,
        responses=reading(MetaBoardListSerializer),
    )
    def get(self, request: Request) -> HttpResponseBase:
        """The public ones and your own, by key."""
        wanted, boards = window(request.query_params), readable_meta_boards(request.user)
        behind = boards.filter(key__gt=wanted.after).order_by("key")[: wanted.size + 1]
        page = cut(list(behind), wanted, lambda board: board.key, boards.count())
        content = {**page_links(request, page), "results": page.items}
        return self.answer(lambda: MetaBoardListSerializer.render(content), is_public=False)

    @extend_schema(
        operation_id="save_meta_board",
        summary="Save a meta-board",
        tags=["meta-boards"],
        parameters=[DRY_RUN],
        request=MetaBoardBodySerializer,
        examples=[EXAMPLE],
        responses={
            201: MetaBoardEntrySerializer,
            200: OpenApiResponse(MetaBoardEntrySerializer, description="A dry run."),
            **WRITING,
        },
    )
    def post(self, request: Request) -> Response:
        """A public one has public benchmarks alone."""
        author, spec = self.user, _spec_of(MetaBoardBodySerializer.read(request.data))
        return self.carry_out(lambda: MetaBoardEntrySerializer.render(save_meta_board(spec, author=author)), status=201)


class MetaBoardView(WritingView):
    """One meta-board."""

    scopes: ClassVar = {"PATCH": MANAGE}
    is_on_demand = True

    @extend_schema(
        operation_id="meta_board",
        summary="Read a meta-board",
        tags=["meta-boards"],
        parameters=[OpenApiParameter("reference", text_shape(), description="The rule that orders the systems.")],
        responses=reading(MetaBoardSerializer),
    )
    def get(self, request: Request, meta_key: str) -> HttpResponseBase:
        """Who comes first over the benchmarks that you may see, and how far these agree."""
        board = readable_meta_board(request.user, meta_key)
        reference = request.query_params.get("reference", "")
        if reference and reference not in site_rules():
            raise wrong_parameter("reference", f"There is no rule {reference[:60]!r}.")
        page = meta_board_page(request.user, board, reference=reference)
        return self.answer(lambda: MetaBoardSerializer.render(content_of(board, page)), is_public=False)

    @extend_schema(
        operation_id="change_meta_board",
        summary="Change a meta-board",
        tags=["meta-boards"],
        parameters=[DRY_RUN],
        request=MetaBoardChangeSerializer,
        examples=[CHANGE_EXAMPLE],
        responses={200: MetaBoardEntrySerializer, **WRITING},
    )
    def patch(self, request: Request, meta_key: str) -> Response:
        """For the person who saved it."""
        board = own_meta_board(self.user, meta_key)
        spec = _spec_of(MetaBoardChangeSerializer.read(request.data))
        return self.carry_out(
            lambda: MetaBoardEntrySerializer.render(save_meta_board(spec, author=self.user, board=board))
        )


class MetaBoardDeletionView(WritingView):
    """The end of a meta-board."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="delete_meta_board",
        summary="Delete a meta-board",
        tags=["meta-boards"],
        parameters=[DRY_RUN],
        request=None,
        responses={200: DeletedMetaBoardSerializer, **WRITING},
    )
    def post(self, request: Request, meta_key: str) -> Response:
        """For the person who saved it, and for the site's staff. Its benchmarks stay as they are."""
        board = deletable_meta_board(self.user, meta_key)

        def step() -> dict[str, Any]:
            board.delete()
            return DeletedMetaBoardSerializer.render({"deleted": meta_key})

        return self.carry_out(step)
