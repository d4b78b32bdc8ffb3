"""People of a benchmark, and what was changed by whom: for its owners."""

from typing import Any, ClassVar

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.hosting_bodies import invitation_of, person_of
from leaderboard.api.hosting_examples import INVITATION_EXAMPLE, PERSON_EXAMPLE
from leaderboard.api.negotiation import CSVRenderer
from leaderboard.api.openapi import DRY_RUN, FORMAT, PAGING, WRITING, reading
from leaderboard.api.pagination import cut, cut_counted, next_url, number_after, window
from leaderboard.api.payloads import moment
from leaderboard.api.shapes import hosting as shapes
from leaderboard.api.views.hosting import MANAGE
from leaderboard.api.views.writing import OwnerView
from leaderboard.models import Ban, Membership, User
from leaderboard.services.audit_page import SUBJECTS, AuditLine, AuditQuery, audit_rows
from leaderboard.services.people import change_role, invite, lift_ban, open_invitations
from leaderboard.services.table_files import csv_text

AUDIT_HEADER = ("at", "who", "subject", "of", "field", "before", "after", "revision", "reason")


class People(OwnerView):
    """Roles, bans and open invitations."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE}

    @extend_schema(
        operation_id="people",
        summary="List people",
        tags=["people"],
        parameters=PAGING,
        responses=reading(shapes.PeoplePage),
    )
    def get(self, request: Request, key: str) -> Response:
        """Who has a role, who may not submit, and which invitations are open; for owners."""
        wanted = window(request.query_params)
        rows = self.benchmark.memberships.select_related("user").filter(user_id__gt=number_after(wanted))
        page = cut(list(rows.order_by("user_id")[: wanted.size + 1]), wanted, lambda member: member.user_id)
        found = {
            "next": next_url(request, page),
            "results": [{"user": row.user_id, "name": row.user.shown_name, "role": row.role} for row in page.items],
            "bans": [
                {"user": ban.user_id, "name": ban.user.shown_name, "reason": ban.reason}
                for ban in self.benchmark.bans.select_related("user").order_by("pk")
            ],
            "invitations": [
                {"role": row.role, "author": row.author.shown_name, "expires_at": moment(row.expires_at)}
                for row in open_invitations(self.benchmark).select_related("author").order_by("pk")
            ],
        }
        return self.answer_here(lambda: found)


class Person(OwnerView):
    """One person."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="change_person",
        summary="Change a role, or lift a ban",
        tags=["people"],
        parameters=[DRY_RUN],
        request=shapes.PersonBody,
        examples=[PERSON_EXAMPLE],
        responses={200: shapes.PersonState, **WRITING},
    )
    def post(self, request: Request, key: str, user: int) -> Response:
        """Another role, or none, for somebody who has one; a benchmark keeps at least one owner."""
        role, lifts, reason = person_of(request.data)
        number = min(user, 2**31 - 1)
        theirs = Membership.objects.filter(benchmark=self.benchmark, user_id=number)
        bans = Ban.objects.filter(benchmark=self.benchmark, user_id=number)
        if not theirs.exists() and not bans.exists():  # the same for accounts that there are and that there are not
            raise Http404("Nobody with a role or a ban here is meant.")
        person = User.objects.get(pk=number)

        def step() -> dict[str, Any]:
            if lifts:
                lift_ban(self.benchmark, person, author=self.user, reason=reason)
            if role is not None:
                change_role(self.benchmark, person, author=self.user, role=role, reason=reason)
            now = theirs.values_list("role", flat=True).first()
            return {"user": number, "role": now, "banned": bans.exists()}

        return self.carry_out(step)


class Invitations(OwnerView):
    """Invitations."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="invite",
        summary="Invite somebody",
        tags=["people"],
        parameters=[DRY_RUN],
        request=shapes.InvitationBody,
        examples=[INVITATION_EXAMPLE],
        responses={
            201: shapes.Invitation,
            200: OpenApiResponse(shapes.Invitation, description="A dry run."),
            **WRITING,
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """A link that gives a role to the first who follows it, within a week. It is shown once."""
        role = invitation_of(request.data)
        is_dry = self.truth("dry_run")

        def step() -> dict[str, Any]:
            secret = invite(self.benchmark, author=self.user, role=role)
            url = None if is_dry else request.build_absolute_uri(reverse("join", args=[secret]))
            return {"role": role, "url": url}

        return self.carry_out(step, status=201)


class Audit(OwnerView):
    """The trail."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE}
    renderer_classes = [JSONRenderer, CSVRenderer]

    @extend_schema(
        operation_id="audit",
        summary="Read the audit trail",
        tags=["people"],
        parameters=[
            OpenApiParameter("subject", enum=[subject for subject, _ in SUBJECTS], description="Only such changes."),
            OpenApiParameter("who", int, description="Only what this user changed."),
            OpenApiParameter("of", str, description="Only where this stands in what was changed."),
            FORMAT,
            *PAGING,
        ],
        responses=reading(shapes.AuditPage, csv=f"{', '.join(AUDIT_HEADER)}."),
    )
    def get(self, request: Request, key: str) -> Response:
        """Who changed what from what to what, when and why, newest first; for owners."""
        query = AuditQuery.read(_texts(request))
        lines = [_line(line) for line in audit_rows(self.benchmark, query)]
        if self.is_csv:
            return self.named_file(self.answer_here(lambda: _csv(lines)), f"{self.benchmark.key}-audit")
        page = cut_counted(lines, window(request.query_params))
        found = {"next": next_url(request, page), "results": page.items}
        return self.answer_here(lambda: found)


def _line(line: AuditLine) -> dict[str, Any]:
    """What the schema states of a line; what else it holds is for the page alone."""
    return {name: getattr(line, name) for name in AUDIT_HEADER} | {"at": moment(line.at)}


def _texts(request: Request) -> dict[str, str]:
    return {name: str(value) for name, value in request.query_params.items()}


def _csv(lines: list[dict[str, Any]]) -> str:
    return csv_text([AUDIT_HEADER, *([line[name] for name in AUDIT_HEADER] for line in lines)])
