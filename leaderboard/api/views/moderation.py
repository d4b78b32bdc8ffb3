"""The queue of a benchmark and decisions about many submissions at once; frozen revisions."""

from typing import Any, ClassVar
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.hosting_bodies import ACCEPT, REJECT_AND_BAN, decisions_of, release_of
from leaderboard.api.hosting_examples import DECISIONS_EXAMPLE, RELEASE_EXAMPLE
from leaderboard.api.openapi import DRY_RUN, PAGING, WRITING, reading
from leaderboard.api.pagination import cut, cut_sorted, next_url, window
from leaderboard.api.payloads import moment
from leaderboard.api.problems import ApiError
from leaderboard.api.shapes import hosting as shapes
from leaderboard.api.views.decisions import told_outcomes
from leaderboard.api.views.hosting import MANAGE
from leaderboard.api.views.writing import ModeratorView, OwnerView
from leaderboard.models import Batch, Release
from leaderboard.selectors.history import told_hash
from leaderboard.services.decision_preview import outcomes_of_accepting
from leaderboard.services.moderation import decide, is_undecided, queue
from leaderboard.services.people import ban
from leaderboard.services.releases import cite, freeze_revision


class Queue(ModeratorView):
    """What waits."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE}

    @extend_schema(
        operation_id="queue",
        summary="List what waits for a decision",
        tags=["decisions"],
        parameters=PAGING,
        responses=reading(shapes.WaitingPage),
    )
    def get(self, request: Request, key: str) -> Response:
        """Submissions that wait, oldest first, with what is unusual about them; for moderators and owners."""
        wanted = window(request.query_params)
        try:
            after = UUID(wanted.after) if wanted.after else None
        except ValueError as error:
            raise ApiError(400, "`cursor` is none of this list's; follow the `next` of a page.") from error
        rows, n_waiting = queue(self.benchmark, after=after, most=wanted.size + 1)
        page = cut(rows, wanted, lambda row: row.uuid)
        found = {
            "n_waiting": n_waiting,
            "next": next_url(request, page),
            "results": [
                {
                    "uuid": str(row.uuid),
                    "title": row.title,
                    "submitted_by": row.who,
                    "submitted_at": moment(row.at),
                    "n_systems": row.n_systems,
                    "state": row.state,
                    "note": row.note,
                    "flags": row.flags,
                }
                for row in page.items
            ],
        }
        return self.answer_here(lambda: found)


class Decisions(ModeratorView):
    """Decisions about several submissions."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="decide",
        summary="Accept or reject several submissions",
        tags=["decisions"],
        parameters=[DRY_RUN],
        request=shapes.DecisionsBody,
        examples=[DECISIONS_EXAMPLE],
        responses={200: shapes.Decisions, **WRITING},
    )
    def post(self, request: Request, key: str) -> Response:
        """Each is decided on its own, a revision each; what cannot be decided is told, and the others are."""
        numbers, decision, reason = decisions_of(request.data)
        batches = list(Batch.objects.filter(benchmark=self.benchmark, uuid__in=numbers).order_by("pk"))
        known = {batch.uuid for batch in batches}
        unknown = [f"{number}: no submission to this benchmark" for number in numbers if number not in known]

        waiting = [batch for batch in batches if is_undecided(batch)]

        def step() -> dict[str, Any]:
            n_decided, refused = decide(batches, actor=self.user, accepts=decision == ACCEPT, reason=reason)
            if decision == REJECT_AND_BAN:
                for batch in batches:
                    ban(self.benchmark, batch.uploader, author=self.user, reason=reason)
            return {"n_decided": n_decided, "refused": [*refused, *unknown]}

        response = self.carry_out(step)
        if self.truth("dry_run"):
            taken = waiting if decision == ACCEPT else []
            response.data["rules"] = told_outcomes(lambda: outcomes_of_accepting(self.benchmark, taken))
        return response


class Releases(OwnerView):
    """Frozen revisions."""

    scopes: ClassVar = {"POST": MANAGE}
    owned_methods = ("POST",)

    @extend_schema(
        operation_id="releases",
        summary="List frozen revisions",
        tags=["revisions"],
        parameters=PAGING,
        responses=reading(shapes.ReleasePage),
    )
    def get(self, request: Request, key: str) -> Response:
        """Revisions that were frozen under a name, by key, with how to cite them."""
        rows = list(Release.objects.filter(benchmark=self.benchmark).select_related("benchmark", "revision"))
        rows.sort(key=lambda row: row.key)
        page = cut_sorted(rows, window(request.query_params), lambda row: row.key)
        found = {"next": next_url(request, page), "results": [self._release(row) for row in page.items]}
        return self.answer_here(lambda: found)

    @extend_schema(
        operation_id="freeze",
        summary="Freeze a revision",
        tags=["revisions"],
        parameters=[DRY_RUN],
        request=shapes.ReleaseBody,
        examples=[RELEASE_EXAMPLE],
        responses={
            201: shapes.ReleaseEntry,
            200: OpenApiResponse(shapes.ReleaseEntry, description="A dry run."),
            **WRITING,
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """Give a published revision a name and an address that stay."""
        stated = release_of(request.data)
        return self.carry_out(
            lambda: self._release(freeze_revision(self.benchmark, author=self.user, **stated)), status=201
        )

    def _release(self, row: Release) -> dict[str, Any]:
        address = self.request.build_absolute_uri(reverse("release", args=[self.benchmark.key, row.key]))
        citation = cite(row, address, told_hash(row.revision, self.audience))
        return {
            "key": row.key,
            "name": row.name,
            "revision": row.revision.number,
            "note": row.note,
            "created_at": moment(row.created_at),
            "url": address,
            "citation": citation.text,
            "bibtex": citation.bibtex,
        }
