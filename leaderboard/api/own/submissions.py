"""The user's submissions and drafts, as lists."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request

from leaderboard.api.own.me import ANY_SCOPE
from leaderboard.api.protocol.base import ApiView
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.pagination import cut, number_after, page_links, window, with_site
from leaderboard.api.protocol.problems import wrong_parameter
from leaderboard.api.protocol.schema import PAGING, UPDATED_SINCE, reading, text_shape
from leaderboard.api.submissions import BATCH_STATES
from leaderboard.models.benchmarks import KEY_LENGTH
from leaderboard.models.submissions import Source
from leaderboard.submissions.batches.own import own_batches, own_drafts, states_of

MAX_UUIDS = 100
KEY = re.compile(rf"[-\w]{{1,{KEY_LENGTH}}}", re.ASCII)
MINE_OF = OpenApiParameter("benchmark", text_shape(KEY_LENGTH), description="Only those to the benchmark of this key.")


class OwnSubmissionSerializer(Shape):
    """One of your submissions."""

    uuid = s.UUIDField(source="batch.uuid")
    url = s.URLField(help_text="Where it says more.")
    benchmark = s.CharField(source="batch.benchmark.key")
    benchmark_name = s.CharField(source="batch.benchmark.name")
    state = s.ChoiceField(choices=BATCH_STATES, help_text="As the submission itself says it.")
    revision = s.IntegerField(source="revision_number", allow_null=True, help_text="The revision that accepted it.")
    published_revision = s.IntegerField(
        source="published_number", allow_null=True, help_text="The published revision, once that includes it."
    )
    source = s.ChoiceField(choices=Source.values, source="batch.source")  # type: ignore[assignment]
    note = s.CharField(source="batch.note", allow_blank=True)
    n_systems = s.IntegerField()
    submitted_at = s.DateTimeField(source="batch.created_at")
    updated_at = s.DateTimeField(help_text="When anything last happened to it.")

    def value_of_url(self, own: Any) -> str:  # noqa: ANN401
        """The path of the submission."""
        return reverse("api:submission", args=[own.batch.uuid])


class OwnSubmissionPageSerializer(Shape):
    """A page of your submissions, the newest first."""

    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = OwnSubmissionSerializer(many=True)


class OwnDraftSerializer(Shape):
    """One of your uploads that wait to be confirmed, on the page that `url` names."""

    uuid = s.UUIDField()
    url = s.URLField(help_text="The page on which you confirm it.")
    benchmark = s.CharField(source="benchmark.key")
    benchmark_name = s.CharField(source="benchmark.name")
    source = s.ChoiceField(choices=Source.values)  # type: ignore[assignment]
    note = s.CharField(allow_blank=True)
    created_at = s.DateTimeField()
    expires_at = s.DateTimeField()

    def value_of_url(self, draft: Any) -> str:  # noqa: ANN401
        """The path of the page."""
        return reverse("draft", args=[draft.uuid])


class OwnDraftPageSerializer(Shape):
    """A page of your drafts, the newest first."""

    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = OwnDraftSerializer(many=True)


def benchmark_key(parameters: Mapping[str, Any]) -> str:
    """The key of the benchmark that an address names; empty for all.

    Raises:
        ApiError: no benchmark can have it.
    """
    key = str(parameters.get("benchmark", ""))
    if key and not KEY.fullmatch(key):
        raise wrong_parameter("benchmark", f"`benchmark` is {key[:40]!r}; expected the key of a benchmark.")
    return key


class OwnSubmissionsView(ApiView):
    """What the user of the request submitted."""

    scopes: ClassVar = {"GET": ANY_SCOPE, "HEAD": ANY_SCOPE}

    @extend_schema(
        operation_id="own_submissions",
        summary="List your submissions",
        tags=["submissions"],
        parameters=[
            MINE_OF,
            OpenApiParameter(
                "uuid",
                text_shape(37 * MAX_UUIDS),
                description=f"Only these, up to {MAX_UUIDS} with commas between them: many states at once.",
            ),
            UPDATED_SINCE,
            *PAGING,
        ],
        responses=reading(OwnSubmissionPageSerializer),
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Your submissions to every benchmark, the newest first, each with its state."""
        wanted, query = window(request.query_params), request.query_params
        text = query.get("uuid", "")
        parts = text.split(",", MAX_UUIDS) if text else []
        if len(parts) > MAX_UUIDS:
            raise wrong_parameter("uuid", f"`uuid` names more than {MAX_UUIDS} submissions.")
        try:
            uuids = [UUID(part.strip()) for part in parts]
        except ValueError as error:
            raise wrong_parameter("uuid", f"`uuid` is {text[:80]!r}; expected numbers of submissions.") from error
        key = benchmark_key(query)
        rows = own_batches(self.user, benchmark=key, uuids=uuids, since=self.moment("updated_since"))
        behind = rows.filter(pk__lt=last) if (last := number_after(wanted)) else rows
        page = cut(list(behind[: wanted.size + 1]), wanted, lambda batch: batch.pk, rows.count())
        content = {**page_links(request, page), "results": states_of(page.items)}
        return self.answer(lambda: with_site(request, OwnSubmissionPageSerializer.render(content)), is_public=False)


class OwnDraftsView(ApiView):
    """What the user of the request uploaded and did not confirm."""

    scopes: ClassVar = {"GET": ANY_SCOPE, "HEAD": ANY_SCOPE}

    @extend_schema(
        operation_id="own_drafts",
        summary="List your drafts",
        tags=["submissions"],
        parameters=[MINE_OF, *PAGING],
        responses=reading(OwnDraftPageSerializer),
    )
    def get(self, request: Request) -> HttpResponseBase:
        """What you uploaded on the site and have not confirmed yet, the newest first."""
        wanted = window(request.query_params)
        rows = own_drafts(self.user, benchmark=benchmark_key(request.query_params))
        behind = rows.filter(pk__lt=last) if (last := number_after(wanted)) else rows
        page = cut(list(behind[: wanted.size + 1]), wanted, lambda draft: draft.pk, rows.count())
        content = {**page_links(request, page), "results": page.items}
        return self.answer(lambda: with_site(request, OwnDraftPageSerializer.render(content)), is_public=False)
