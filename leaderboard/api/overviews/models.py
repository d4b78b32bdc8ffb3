"""Models over all boards, and which systems of a benchmark are which model."""

from typing import Any, ClassVar

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import MANAGE, ApiView, OwnerView
from leaderboard.api.protocol.fields import ReasonText, Shape, Strict, kind_of
from leaderboard.api.protocol.problems import wrong_parameter
from leaderboard.api.protocol.schema import DRY_RUN, FROM_ONE, WRITING, body_example, reading, text_shape
from leaderboard.benchmarks.identities.links import MAX_LINKS, NEW, change_links
from leaderboard.benchmarks.identities.proposals import MAX_PROPOSALS, Counterpart, ModelProposal, proposals_for
from leaderboard.computing.rankings import site_rules
from leaderboard.explore.identities.page import BOARDS_A_PAGE, ModelOnBoard, ModelPage, ParetoPlace, model_page
from leaderboard.explore.identities.strengths import MAX_KINDS, KindOfTask
from leaderboard.models import System
from leaderboard.models.benchmarks import KEY_LENGTH

MAX_LISTED = 1_000  # linked systems in an answer
EXAMPLE = body_example(
    "A model of its own, one that is declared, and the end of a link",
    {"links": {"t5": "new", "ernie": "ernie", "gpt": None}, "reason": "From the papers."},
)


class ParetoPlaceSerializer(Shape):
    """Whether its rank is on a Pareto front of the board, where less of a field is better."""

    field = s.CharField(source="field_name")
    front = s.ChoiceField(
        choices=["sure", "measured", "possible", "no"],
        help_text="`measured`: on the front by its rank, not surely. `possible`: only within the intervals.",
    )

    def value_of_front(self, place: ParetoPlace) -> str:
        """Its place."""
        return place.standing or "no"


class ModelOnBoardSerializer(Shape):
    """A model on one board."""

    benchmark = s.CharField(help_text="Its key.")
    system = s.CharField(source="system_key")
    name = s.CharField(help_text="As the system is called there.")
    rule = s.CharField(source="rule_name")
    rank = s.IntegerField(allow_null=True)
    tied = s.BooleanField(source="is_tied")
    n_ranked = s.IntegerField()
    interval = s.CharField(source="interval_text", allow_blank=True)
    score = s.CharField(source="score_text", allow_blank=True, help_text="Under the rule; empty where it is hidden.")
    reason = s.CharField(allow_blank=True, help_text="Why it has no rank.")
    pareto = ParetoPlaceSerializer(many=True)

    def value_of_benchmark(self, one: ModelOnBoard) -> str:
        """The key of the benchmark."""
        return one.benchmark.key


class KindSerializer(Shape):
    """The model on the tasks of one kind."""

    kind = s.CharField(source="name")
    below = s.FloatField(help_text="The mean share of the other systems that are below it, ties one half.")
    n_tasks = s.IntegerField()
    benchmarks = s.ListField(child=s.CharField())

    def value_of_benchmarks(self, kind: KindOfTask) -> list[str]:
        """The keys of the benchmarks."""
        return [benchmark.key for benchmark in kind.boards]


class ModelSerializer(Shape):
    """A model over all boards that you may see it on."""

    key = s.CharField()
    name = s.CharField()
    other_names = s.ListField(child=s.CharField())
    n_boards = s.IntegerField()
    page = s.IntegerField()
    n_pages = s.IntegerField()
    boards = ModelOnBoardSerializer(many=True)
    strengths = KindSerializer(
        many=True, source="kinds", help_text=f"Over the boards of this page, the {MAX_KINDS} best, the best first."
    )
    n_strengths = s.IntegerField(source="n_kinds", help_text="Kinds of tasks on the boards of this page.")
    n_too_large = s.IntegerField(help_text="Boards of this page that `strengths` leave out: their scores are too many.")

    def value_of_page(self, model: ModelPage) -> int:
        """The number of the page."""
        return model.page.number

    def value_of_n_pages(self, model: ModelPage) -> int:
        """How many pages there are."""
        return model.page.paginator.num_pages


class CounterpartSerializer(Shape):
    """A system of another benchmark."""

    benchmark = s.CharField()
    system = s.CharField(source="key")
    name = s.CharField()

    def value_of_benchmark(self, one: Counterpart) -> str:
        """The key of the benchmark."""
        return one.benchmark.key


class ModelProposalSerializer(Shape):
    """What a system may be."""

    system = s.CharField()
    model = s.CharField(help_text=f"The key of a model; `{NEW}` where no one has declared one.")
    others = CounterpartSerializer(many=True)
    reasons = s.ListField(child=s.CharField())
    differing = s.ListField(child=s.CharField(), help_text="Fields of metadata that differ.")

    def value_of_system(self, proposal: ModelProposal) -> str:
        """The key of the system."""
        return proposal.system.key


class LinkSerializer(Shape):
    """A system that is linked to a model."""

    system = s.CharField(source="key")
    model = s.CharField(source="identity.key")


class ModelsOfBenchmarkSerializer(Shape):
    """The links of a benchmark, and what else is proposed."""

    links = LinkSerializer(many=True, help_text=f"The first {MAX_LISTED:,}.")
    n_links = s.IntegerField()
    proposals = ModelProposalSerializer(many=True, help_text=f"The first {MAX_PROPOSALS}; a guess from what is equal.")
    n_proposals = s.IntegerField()


class LinkChangeSerializer(Shape):
    """A link that changed."""

    system = s.CharField()
    before = s.CharField(allow_blank=True)
    after = s.CharField(allow_blank=True)


class LinkChangesSerializer(Shape):
    """What a call changed."""

    changes = LinkChangeSerializer(many=True)


LINKS = {"type": "object", "maxProperties": MAX_LINKS, "additionalProperties": {"type": ["string", "null"]}}


@extend_schema_field(LINKS)
class Links(Strict, s.Field):
    """Models by the key of a system."""

    def to_internal_value(self, data: Any) -> dict[str, str]:  # noqa: ANN401
        """The key of a model, `new`, or nothing, by system."""
        if not isinstance(data, dict):
            raise s.ValidationError(f"expected an object, found {kind_of(data)}")
        if len(data) > MAX_LINKS:
            raise s.ValidationError(f"{len(data)} systems; at most {MAX_LINKS} are taken in one call")
        for key, model in data.items():
            if model is not None and not (isinstance(model, str) and 0 < len(model) <= KEY_LENGTH):
                raise s.ValidationError({key[:60]: f"expected the key of a model, {NEW!r} or null"})
        return {key: model or "" for key, model in data.items()}


class LinksBodySerializer(Shape):
    """Which models systems are."""

    links = Links(help_text=f"By the key of a system: the key of a model, `{NEW}` for one of its own, null for none.")
    reason = ReasonText(most=500, help_text="Kept with the change.")


class ModelView(ApiView):
    """A model over all boards."""

    is_on_demand = True

    @extend_schema(
        operation_id="model",
        summary="Read a model over all boards",
        tags=["models"],
        parameters=[
            OpenApiParameter("rule", text_shape(), description="The key of a rule; each board's own without it."),
            OpenApiParameter("page", FROM_ONE, description=f"Of {BOARDS_A_PAGE} boards each."),
        ],
        responses=reading(ModelSerializer),
    )
    def get(self, request: Request, model_key: str) -> HttpResponseBase:
        """Its rank and score on every board that you may see it on, and its strengths by kind of task."""
        rule, page = (request.query_params.get(name, "") for name in ("rule", "page"))
        if rule and rule not in site_rules():
            raise wrong_parameter("rule", f"There is no rule {rule[:60]!r}.")
        model = model_page(request.user, model_key, rule=rule, page=page[:9] or None)
        return self.answer(lambda: ModelSerializer.render(model), is_public=False)


class ModelsOfBenchmarkView(OwnerView):
    """Which systems of a benchmark are which model."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE, "PATCH": MANAGE}

    @extend_schema(
        operation_id="models_of_benchmark",
        summary="List links to models, and proposals",
        tags=["models"],
        responses=reading(ModelsOfBenchmarkSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """What the owners declared, and systems that have a name, a link or a model card in common with others."""
        linked = System.objects.filter(benchmark=self.benchmark, identity__isnull=False)
        proposals = proposals_for(self.user, self.benchmark)
        content = {
            "links": list(linked.select_related("identity").order_by("key")[:MAX_LISTED]),
            "n_links": linked.count(),
            "proposals": proposals.listed,
            "n_proposals": proposals.n_all,
        }
        return self.answer_here(lambda: ModelsOfBenchmarkSerializer.render(content))

    @extend_schema(
        operation_id="link_models",
        summary="Declare which models systems are",
        tags=["models"],
        parameters=[DRY_RUN],
        request=LinksBodySerializer,
        examples=[EXAMPLE],
        responses={200: LinkChangesSerializer, **WRITING},
    )
    def patch(self, request: Request, key: str) -> Response:
        """What is left out stays. No ranking depends on it; the trail keeps every change."""
        body = LinksBodySerializer.read(request.data)

        def step() -> dict[str, Any]:
            changes = change_links(
                self.benchmark, body["links"], author=self.user, reason=body["reason"], is_dry=self.truth("dry_run")
            )
            return LinkChangesSerializer.render({"changes": changes})

        return self.carry_out(step)
