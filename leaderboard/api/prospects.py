"""Who can win under which weights: stored verdicts, and answers under conditions."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from django.http import Http404, HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import (
    JobStateSerializer,
    NamedSystemSerializer,
    PublishedSerializer,
    job_states,
    stamp_of,
)
from leaderboard.api.protocol.fields import IS_MISSING, ChoiceText, Listing, Shape, Text, Truth
from leaderboard.api.protocol.figures import FigureView
from leaderboard.api.protocol.pagination import cut_counted, page_links, window
from leaderboard.api.protocol.problems import ApiError
from leaderboard.api.protocol.renderers import TABLES
from leaderboard.api.protocol.schema import PAGING, READING, REVISION, TABLE_FORMAT, body_example, error, reading
from leaderboard.boards.revision_exports import PROSPECT_HEADINGS, Origin, prospects_export
from leaderboard.models import Publication
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.queue.kinds import PROSPECTS
from leaderboard.rankings.scores import systems_at
from leaderboard.studies.prospects.page import prospect_order
from leaderboard.studies.prospects.stored import (
    prospects_under,
    read_conditions,
    stored_prospects,
    system_names,
)
from ranking_engine.prospects import MAJORITY, RULES, VERDICTS, ConditionError, Prospects, WeightChange

ALL_TASKS = OpenApiParameter(
    "all_tasks", bool, description="Whether tasks of weight 0 count, too; without any, nothing changes."
)
MAX_CONDITIONS, CONDITION_LENGTH = 100, 2000
CONDITIONS_EXAMPLE = body_example(
    "Language understanding counts for at least a third",
    {"conditions": ["CoLA + RTE >= 1/3", "CoLA >= RTE", "minimise group:QA"]},
)


class NearestChangeSerializer(Shape):
    """Weights under which a system loses to no one, and how far they are from where it started."""

    weights = s.DictField(child=s.CharField(), help_text="By task key, exact fractions as `3/7`; only positive ones.")
    change = s.FloatField()

    def value_of_weights(self, change: WeightChange) -> dict[str, str]:
        """The fractions as texts."""
        return _texts(change.weights)


class NearestWeightsSerializer(Shape):
    """The smallest changes of weights that make a system lose to no one."""

    total_change = NearestChangeSerializer(
        help_text="Least half of the sum of all changes: how much weight has to move."
    )
    largest_change = NearestChangeSerializer(help_text="Least largest change of a single task's weight.")


class NearestSerializer(Shape):
    """By where one starts."""

    own = NearestWeightsSerializer(required=False, help_text="From the benchmark's own weights.")
    equal = NearestWeightsSerializer(required=False, help_text="From equal weights.")


class ProspectEntrySerializer(NamedSystemSerializer):
    """Whether one system can win, with the evidence."""

    system = s.CharField(source="prospect.system")
    verdict = s.ChoiceField(source="prospect.verdict", choices=list(VERDICTS))
    prospective = s.BooleanField(
        source="prospect.is_prospective", help_text="Whether weights exist under which it loses to no one."
    )
    weights = s.DictField(
        child=s.CharField(), help_text="Such weights by task key, exact fractions; empty where there are none."
    )
    margin = s.FloatField(
        source="prospect.margin",
        allow_null=True,
        help_text="The largest share of weight by which some weighting puts it ahead of every rival.",
    )
    certificate = s.DictField(
        child=s.CharField(),
        help_text="By system key, exact fractions: a mixture of rivals against which it loses on balance on every task "
        "that it has a score on (`none`), or gains on none (`tie_only`).",
    )
    condition_shares = s.DictField(
        child=s.CharField(), help_text="By condition, its share in the certificate; empty without conditions."
    )
    nearest = NearestSerializer(source="prospect.nearest", help_text="Empty where it cannot win, and under conditions.")
    share = s.FloatField(
        source="prospect.share",
        allow_null=True,
        help_text="The share of all weightings under which it wins, estimated; all weightings count equally.",
    )
    share_error = s.FloatField(
        source="prospect.share_error", allow_null=True, help_text="The standard error of `share`."
    )
    share_bound = s.FloatField(
        source="prospect.share_bound", allow_null=True, help_text="Where no draw hit: the share is below this."
    )
    share_lower = s.FloatField(
        source="prospect.share_lower",
        allow_null=True,
        help_text="Where one draw hit, or all but one: the lower end of the exact interval; where all did: a bound.",
    )
    share_upper = s.FloatField(
        source="prospect.share_upper",
        allow_null=True,
        help_text="Its upper end, with 95 % confidence.",
    )
    needed_tasks = s.ListField(
        source="prospect.needed_tasks", child=s.CharField(), help_text="Tasks without weight on which it never wins."
    )
    objective = s.CharField(allow_null=True, help_text="The weight of the set that is minimised or maximised.")
    n_incomparable = s.IntegerField(
        source="prospect.n_incomparable",
        help_text="Rivals without a common task that counts, at `weights` where there are any.",
    )
    reason = s.CharField(source="prospect.reason", allow_blank=True, help_text="Why there is no verdict.")

    def value_of_name(self, content: dict[str, Any]) -> str:
        """The system's name."""
        return content["names"][content["prospect"].system]

    def value_of_weights(self, content: dict[str, Any]) -> dict[str, str]:
        """Those that prove it."""
        return _texts(content["prospect"].weights)

    def value_of_certificate(self, content: dict[str, Any]) -> dict[str, str]:
        """The proof that there are none."""
        return _texts(content["prospect"].certificate)

    def value_of_condition_shares(self, content: dict[str, Any]) -> dict[str, str]:
        """By the text of the condition."""
        shares = content["prospect"].condition_shares
        return {content["conditions"][place]: str(share) for place, share in shares.items()}

    def value_of_objective(self, content: dict[str, Any]) -> str | None:
        """What was minimised or maximised."""
        objective = content["prospect"].objective
        return None if objective is None else str(objective)


class ProspectsHeadSerializer(PublishedSerializer):
    """What the verdicts of a revision rest on."""

    status = s.ChoiceField(choices=["computed", "computing", "failed", "undefined"])
    reason = s.CharField(allow_blank=True, help_text="Why there are none.")
    all_tasks = s.BooleanField(help_text="Whether tasks of weight 0 counted, too.")
    unweighted_tasks = s.ListField(child=s.CharField(), help_text="The tasks of weight 0 that `all_tasks` counts.")
    tasks = s.ListField(child=s.CharField(), help_text="The keys of the tasks that voted.")
    n_draws = s.IntegerField()
    seed = s.IntegerField()
    is_complete = s.BooleanField(help_text="False if the steps ran out: the remaining systems are undecided.")
    jobs = JobStateSerializer(many=True)


class ProspectsDetailSerializer(ProspectsHeadSerializer):
    """Every system's prospect, those that win most weightings first; empty while they are computed."""

    n_prospective = s.IntegerField()
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = ProspectEntrySerializer(many=True)


class ProspectDetailSerializer(ProspectsHeadSerializer):
    """One system's prospect; null while it is computed."""

    result = ProspectEntrySerializer(allow_null=True)


class ConditionsField(Listing):
    """Texts that state conditions."""

    words = "a list of texts"

    def to_internal_value(self, data: Any) -> list[str]:  # noqa: ANN401
        """Every text."""
        if isinstance(data, list) and len(data) > MAX_CONDITIONS:
            raise s.ValidationError(f"{len(data)} conditions; at most {MAX_CONDITIONS} are taken")
        return super().to_internal_value(data)


class ConditionsBodySerializer(Shape):
    """Conditions on the weights."""

    is_question = True
    conditions = ConditionsField(
        child=Text(most=CONDITION_LENGTH, is_line=False),
        most=MAX_CONDITIONS,
        error_messages=IS_MISSING,
        help_text="Each like `CoLA + RTE >= 0.3`, `0.1 <= group:QA <= 1/2`, `CoLA >= RTE` or `minimise group:QA`; "
        "tasks and groups by name or key, in double quotes where a name holds `+`, `<`, `>` or `=`.",
    )
    all_tasks = Truth(absent=False, help_text="Whether tasks of weight 0 count, too.")
    rule = ChoiceText(
        list(RULES),
        absent=MAJORITY,
        help_text="What counts as a win: losing to no system head to head (`majority`), or having the most points.",
    )


class ConditionsAnswerSerializer(PublishedSerializer):
    """Who can win under conditions."""

    rule = s.ChoiceField(choices=list(RULES))

    conditions = s.ListField(child=s.CharField(), help_text="As they were read, with keys.")
    feasible = s.BooleanField(help_text="False if no weights satisfy the conditions, for any winner.")
    reason = s.CharField(allow_blank=True)
    all_tasks = s.BooleanField()
    tasks = s.ListField(child=s.CharField())
    is_complete = s.BooleanField()
    n_prospective = s.IntegerField()
    results = ProspectEntrySerializer(many=True)


class AllTasksView(FigureView):
    """A view of a revision's prospects."""

    def opening(self, publication: Publication, jobs: list[dict[str, Any]]) -> tuple[dict[str, Any], Prospects | None]:
        """What every answer says, and the prospects that were asked for, where they are there."""
        stored, reason = stored_prospects(publication)
        job = next((job for job in jobs if job["kind"] == PROSPECTS), None)
        is_failed = job is not None and job["state"] == "failed"
        missing = "undefined" if reason else "failed" if is_failed else "computing"
        chosen = None
        if stored:
            with_all = stored.with_all_tasks if self.truth("all_tasks") else None
            chosen = with_all or stored.prospects
        return {
            **stamp_of(publication),
            "status": "computed" if stored else missing,
            "reason": job["error"] if job is not None and is_failed else reason,
            "all_tasks": bool(stored and chosen is stored.with_all_tasks),
            "unweighted_tasks": list(stored.unweighted) if stored else [],
            "tasks": list(chosen.tasks) if chosen else [],
            "n_draws": chosen.n_draws if chosen else 0,
            "seed": chosen.seed if chosen else 0,
            "is_complete": bool(chosen and chosen.is_complete),
            "jobs": jobs,
        }, chosen


class ProspectsView(AllTasksView):
    """Every system's prospect."""

    renderer_classes = TABLES
    reads_by_post = True

    @extend_schema(
        operation_id="prospects",
        summary="Who can win",
        tags=["prospects"],
        parameters=[REVISION, ALL_TASKS, TABLE_FORMAT, *PAGING],
        responses=reading(
            ProspectsDetailSerializer, table=f"{', '.join(heading.key for heading in PROSPECT_HEADINGS)}."
        ),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Of every system whether some weighting of the tasks makes it win: with weights, or with a proof."""
        publication, wanted = self.published(), window(request.query_params)
        jobs = job_states(publication)
        self.truth("all_tasks")
        if self.file_format:

            def lines() -> Iterator[str]:
                stored, _ = stored_prospects(publication)
                origin = Origin.of(self.benchmark, publication.revision)
                return self.written(prospects_export(origin, stored, all_tasks=self.truth("all_tasks")))

            return self.table(publication, "prospects", lines)

        def build() -> dict[str, Any]:
            head, prospects = self.opening(publication, jobs)
            body = _results(prospects, system_names(publication.revision))
            page = cut_counted(body["results"], wanted)
            following = page_links(request, page, revision=publication.revision.number)
            return ProspectsDetailSerializer.render(head | body | {**following, "results": page.items})

        return self.answer_here(build)

    @extend_schema(
        operation_id="prospects_under_conditions",
        summary="Who can win under conditions on the weights",
        tags=["prospects"],
        parameters=[REVISION],
        request=ConditionsBodySerializer,
        examples=[CONDITIONS_EXAMPLE],
        responses={
            (200, "application/json"): ConditionsAnswerSerializer,
            400: error("A condition cannot be read, or names something unknown."),
            422: error("The board is too large for an answer on demand; the message says the limit."),
            **{status: answer for status, answer in READING.items() if status != 304},
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """Solved when asked, stored nowhere. Conditions that no weights satisfy are distinguished from a system that
        cannot win under them."""
        publication = self.published()
        body = ConditionsBodySerializer.read(request.data)
        revision = publication.revision
        try:
            conditions = read_conditions(body["conditions"], revision)
            prospects = prospects_under(
                revision,
                conditions,
                self.audience.level,
                all_tasks=body["all_tasks"],
                rule=body["rule"],
            )
        except ConditionError as problem:
            raise ApiError(400, f"The conditions cannot be read: {problem}.") from problem
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        response = Response(
            ConditionsAnswerSerializer.render(
                {
                    **stamp_of(publication),
                    "rule": prospects.rule,
                    "conditions": list(prospects.conditions),
                    "feasible": not prospects.conditions_reason,
                    "reason": prospects.conditions_reason,
                    "all_tasks": body["all_tasks"],
                    "tasks": list(prospects.tasks),
                    "is_complete": prospects.is_complete,
                    **_results(prospects, system_names(revision)),
                }
            )
        )
        response["Cache-Control"] = "no-store"
        return response


class ProspectView(AllTasksView):
    """One system's prospect."""

    @extend_schema(
        operation_id="prospect",
        summary="Whether one system can win",
        tags=["prospects"],
        parameters=[REVISION, ALL_TASKS],
        responses=reading(ProspectDetailSerializer),
    )
    def get(self, request: Request, key: str, system_key: str) -> HttpResponseBase:
        """A system's verdict: weights with which it wins and the nearest ones, or the proof that there are none."""
        publication = self.published()
        if system_key not in {system.key for system in systems_at(publication.revision)}:
            raise Http404(f"No system {system_key!r} is on the board of revision {publication.revision.number}.")
        jobs = job_states(publication)
        self.truth("all_tasks")

        def build() -> dict[str, Any]:
            head, prospects = self.opening(publication, jobs)
            names = system_names(publication.revision)
            result = {"prospect": prospects[system_key], "names": names, "conditions": ()} if prospects else None
            return ProspectDetailSerializer.render(head | {"result": result})

        return self.answer_here(build)


def _results(prospects: Prospects | None, names: dict[str, str]) -> dict[str, Any]:
    """Every system's prospect, most wins over weightings first, for `ProspectEntrySerializer`."""
    systems = prospects.systems if prospects else ()
    ordered = sorted(systems, key=lambda prospect: prospect_order(prospect, names))
    conditions = prospects.conditions if prospects else ()
    return {
        "n_prospective": sum(prospect.is_prospective for prospect in ordered),
        "results": [{"prospect": prospect, "names": names, "conditions": conditions} for prospect in ordered],
    }


def _texts(fractions: Mapping[str, Fraction]) -> dict[str, str]:
    return {key: str(fraction) for key, fraction in fractions.items()}
