"""The queue of a benchmark, and decisions about many submissions at once."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.decisions import previewed_rules
from leaderboard.api.protocol.base import MANAGE, ModeratorView
from leaderboard.api.protocol.fields import ChoiceText, Listing, ReasonText, Shape, Strict, read_text
from leaderboard.api.protocol.pagination import cut, page_links, window
from leaderboard.api.protocol.problems import wrong_parameter
from leaderboard.api.protocol.schema import DRY_RUN, PAGING, WRITING, body_example, reading
from leaderboard.api.submissions import PreviewedRuleSerializer
from leaderboard.submissions.moderation.decisions import MAX_AT_ONCE, Verdict, decide, named_batches, queue
from leaderboard.submissions.moderation.preview import outcomes_of_accepting
from leaderboard.submissions.queries import is_undecided
from leaderboard.submissions.withdrawals import requested, requests_at

MAX_WAITING = 200  # on a page: each is compared with the board
DECISIONS_EXAMPLE = body_example(
    "Reject one", {"submissions": ["5c0f3b1e-8a1d-4f0b-9a53-0d9f3c1c2b7a"], "decision": "reject", "reason": "Made up."}
)


class WaitingEntrySerializer(Shape):
    """A submission that waits for a decision, or for the end of an embargo."""

    uuid = s.UUIDField()
    title = s.CharField()
    submitted_by = s.CharField(source="who")
    submitted_at = s.DateTimeField(source="at")
    n_systems = s.IntegerField()
    state = s.CharField()
    note = s.CharField(allow_blank=True)
    flags = s.ListField(child=s.CharField(), help_text="Unusual properties of the submission; the first ones.")


class WaitingPageSerializer(Shape):
    """A page of the queue, oldest first."""

    n_waiting = s.IntegerField()
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = WaitingEntrySerializer(many=True)


class WithdrawalRequestSerializer(Shape):
    """A request of a submitter to have accepted scores withdrawn."""

    submission = s.UUIDField(source="submission.uuid", help_text="Names the scores, for withdrawing or keeping them.")
    name = s.CharField(source="submission.shown_name", help_text="Of the system.")
    asked_by = s.CharField(source="actor.shown_name")
    asked_at = s.DateTimeField(source="at")
    reason = s.CharField()


class WithdrawalRequestsSerializer(Shape):
    """The requests that no one has decided about."""

    results = WithdrawalRequestSerializer(many=True, help_text="The oldest submissions first, at most 100.")


class SubmissionNumber(Strict, s.UUIDField):
    """The number of a submission."""

    def to_internal_value(self, data: Any) -> UUID:  # noqa: ANN401
        """The number."""
        messages: list[str] = []
        try:
            return UUID(read_text(data, 40))
        except s.ValidationError as error:
            messages = [str(message) for message in error.detail]
        except ValueError:
            pass
        raise s.ValidationError([*messages, "this is not the number of a submission"])


class DecisionsBodySerializer(Shape):
    """One decision about several submissions, a revision each."""

    submissions = Listing(child=SubmissionNumber(), most=MAX_AT_ONCE, help_text="At most 100.")
    decision = ChoiceText([verdict.value for verdict in Verdict])
    reason = ReasonText(help_text="Needed for a rejection; the submitter reads it.")

    def further_problems(self, data: Any, values: Mapping[str, Any]) -> Iterable[tuple[str, str]]:  # noqa: ANN401
        """What is not accepted is rejected with a reason."""
        verdict = values.get("decision")
        if verdict in list(Verdict) and Verdict(verdict).needs_reason and not values.get("reason"):
            yield "reason", "it is missing; the submitter reads it"


class DecisionsSerializer(Shape):
    """What came of it."""

    n_decided = s.IntegerField()
    refused = s.ListField(child=s.CharField(), help_text="Why others were not decided.")
    rules = PreviewedRuleSerializer(
        many=True,
        required=False,
        allow_null=True,
        help_text="Of a dry run: what all of them together would change under each rule. Null where the board is too "
        "large to be ranked on demand.",
    )


class QueueView(ModeratorView):
    """What waits."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE}

    @extend_schema(
        operation_id="queue",
        summary="List what waits for a decision",
        tags=["decisions"],
        parameters=PAGING,
        responses=reading(WaitingPageSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Submissions that wait, oldest first, with what is unusual about them; for moderators and owners."""
        wanted = window(request.query_params)
        wanted = replace(wanted, size=min(wanted.size, MAX_WAITING))
        try:
            after = UUID(wanted.after) if wanted.after else None
        except ValueError as error:
            raise wrong_parameter("cursor", "`cursor` is none of this list's; follow the `next` of a page.") from error
        rows, n_waiting = queue(self.benchmark, after=after, most=wanted.size + 1)
        page = cut(rows, wanted, lambda row: row.uuid, n_waiting)
        content = {"n_waiting": n_waiting, **page_links(request, page), "results": page.items}
        return self.answer_here(lambda: WaitingPageSerializer.render(content))


class WithdrawalRequestsView(ModeratorView):
    """Requests to withdraw scores."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE}

    @extend_schema(
        operation_id="withdrawal_requests",
        summary="List requests to withdraw scores",
        tags=["decisions"],
        responses=reading(WithdrawalRequestsSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Accepted scores whose submitters ask to have them withdrawn; for moderators and owners."""
        events = requested(requests_at(self.benchmark)).values()
        return self.answer_here(lambda: WithdrawalRequestsSerializer.render({"results": list(events)}))


class DecisionsView(ModeratorView):
    """Decisions about several submissions."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="decide",
        summary="Accept or reject several submissions",
        tags=["decisions"],
        parameters=[DRY_RUN],
        request=DecisionsBodySerializer,
        examples=[DECISIONS_EXAMPLE],
        responses={200: DecisionsSerializer, **WRITING},
    )
    def post(self, request: Request, key: str) -> Response:
        """Each is decided on its own, a revision each; what cannot be decided is told, and the others are."""
        body = DecisionsBodySerializer.read(request.data)
        numbers, decision, reason = body["submissions"], body["decision"], body["reason"]
        batches, unknown = named_batches(self.benchmark, numbers)
        waiting = [batch for batch in batches if is_undecided(batch)]

        def step() -> dict[str, Any]:
            result = decide(batches, decision, actor=self.user, reason=reason)
            return DecisionsSerializer.render({"n_decided": result.n_decided, "refused": [*result.refused, *unknown]})

        response = self.carry_out(step)
        if self.truth("dry_run"):
            taken = waiting if decision == Verdict.ACCEPT else []
            response.data["rules"] = previewed_rules(lambda: outcomes_of_accepting(self.benchmark, taken))
        return response
