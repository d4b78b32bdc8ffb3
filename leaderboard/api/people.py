"""People of a benchmark, and what was changed by whom: for its owners. The user's own account."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django.http import Http404, HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.exceptions import Throttled
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.access.audit_page import (
    FILE_HEADER,
    SUBJECTS,
    AuditQuery,
    Position,
    audit_csv,
    audit_lines,
)
from leaderboard.accounts.closing import close_account
from leaderboard.accounts.people import change_role, invite, lift_ban, open_invitations
from leaderboard.api.protocol.base import MANAGE, OwnerView, WritingView
from leaderboard.api.protocol.fields import ChoiceText, ReasonText, Shape, Sure, Text, Truth
from leaderboard.api.protocol.pagination import Page, cut, number_after, page_links, window
from leaderboard.api.protocol.problems import ApiError, wrong_parameter
from leaderboard.api.protocol.renderers import CSVRenderer
from leaderboard.api.protocol.schema import (
    DRY_RUN,
    FORMAT,
    FROM_ONE,
    PAGING,
    WRITING,
    body_example,
    reading,
    text_shape,
)
from leaderboard.common.language.stored import in_english
from leaderboard.common.limits import TooManyAttemptsError, attempt, client_address
from leaderboard.models import Ban, Membership, User

MAX_BANS = 1000  # the newest; the page for owners has all of them
ROLES = Membership.Role.values
PERSON_EXAMPLE = body_example("Another role", {"role": "member", "reason": "They asked for it."})
INVITATION_EXAMPLE = body_example("A moderator", {"role": "moderator"})
CLOSING_EXAMPLE = body_example("For good", {"password": "your own password", "is_sure": True})


class PersonSerializer(Shape):
    """Someone with a role."""

    user = s.IntegerField(source="user_id", help_text="Their number.")
    name = s.CharField(source="user.shown_name")
    role = s.ChoiceField(choices=ROLES)


class BannedPersonSerializer(Shape):
    """Someone whose submissions are not taken."""

    user = s.IntegerField(source="user_id")
    name = s.CharField(source="user.shown_name")
    reason = s.CharField()


class OpenInvitationSerializer(Shape):
    """An invitation that no one has used yet."""

    role = s.ChoiceField(choices=ROLES)
    hands_over = s.BooleanField(help_text="Whether its author gives the benchmark away.")
    author = s.CharField(source="author.shown_name")
    expires_at = s.DateTimeField()


class PeoplePageSerializer(Shape):
    """A page of those with a role, by number; with the newest 1,000 bans and all open invitations."""

    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = PersonSerializer(many=True)
    bans = BannedPersonSerializer(many=True)
    invitations = OpenInvitationSerializer(many=True)


class PersonBodySerializer(Shape):
    """A change of someone's role, or the end of a ban."""

    role = ChoiceText(ROLES, required=False, allow_null=True, help_text="Null for none.")
    banned = Truth(required=False, help_text="False lifts a ban.")
    reason = ReasonText()

    def further_problems(self, data: Any, values: Mapping[str, Any]) -> Iterable[tuple[str, str]]:  # noqa: ANN401
        """A ban is not made here, and something has to change."""
        if values.get("banned"):
            yield "banned", "false lifts a ban; someone is banned by a decision about their submission"
        names = data if isinstance(data, dict) else ()
        if "role" not in names and ("banned" not in names or values.get("banned")):
            yield "role", "it is missing; say the role, or null for none"


class PersonStateSerializer(Shape):
    """What someone is to the benchmark now."""

    user = s.IntegerField()
    role = s.ChoiceField(choices=ROLES, allow_null=True)
    banned = s.BooleanField()


class InvitationBodySerializer(Shape):
    """The role that a link is to give."""

    role = ChoiceText(ROLES)
    hands_over = Truth(absent=False, help_text="With `owner`: once it is accepted, you are a member.")


class InvitationSerializer(Shape):
    """A link that gives a role to the first who follows it."""

    role = s.ChoiceField(choices=ROLES)
    url = s.URLField(allow_null=True, help_text="Shown once; null in a dry run.")


class AuditEntrySerializer(Shape):
    """One change: who, what, from what to what, when and why."""

    at = s.DateTimeField()
    who = s.CharField(allow_blank=True)
    subject = s.CharField(help_text=f"One of {', '.join(in_english(label) for _, label in SUBJECTS)}.")
    of = s.CharField(allow_blank=True)
    field = s.CharField(allow_blank=True)
    before = s.CharField(allow_blank=True)
    after = s.CharField(allow_blank=True)
    revision = s.IntegerField(allow_null=True)
    reason = s.CharField(allow_blank=True)


class AuditPageSerializer(Shape):
    """A page of the trail, newest first."""

    next = s.URLField(allow_null=True)
    results = AuditEntrySerializer(many=True)


class ClosingBodySerializer(Shape):
    """That an account is to be closed."""

    password = Text(most=4096, is_line=False)
    is_sure = Sure(help_text="true: this cannot be undone.")


class ClosedAccountSerializer(Shape):
    """That an account is closed."""

    closed = s.BooleanField()


class PeopleView(OwnerView):
    """Roles, bans and open invitations."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE}

    @extend_schema(
        operation_id="people",
        summary="List people",
        tags=["people"],
        parameters=PAGING,
        responses=reading(PeoplePageSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Who has a role, who may not submit, and which invitations are open; for owners."""
        wanted = window(request.query_params)
        everyone = self.benchmark.memberships
        rows = everyone.select_related("user").filter(user_id__gt=number_after(wanted)).order_by("user_id")
        page = cut(list(rows[: wanted.size + 1]), wanted, lambda member: member.user_id, everyone.count())
        content = {
            **page_links(request, page),
            "results": page.items,
            "bans": self.benchmark.bans.select_related("user").order_by("-pk")[:MAX_BANS],
            "invitations": open_invitations(self.benchmark).select_related("author").order_by("pk"),
        }
        return self.answer_here(lambda: PeoplePageSerializer.render(content))


class PersonView(OwnerView):
    """One person."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="change_person",
        summary="Change a role, or lift a ban",
        tags=["people"],
        parameters=[DRY_RUN],
        request=PersonBodySerializer,
        examples=[PERSON_EXAMPLE],
        responses={200: PersonStateSerializer, **WRITING},
    )
    def post(self, request: Request, key: str, user: int) -> Response:
        """Another role, or none, for someone who has one; a benchmark keeps at least one owner."""
        body = PersonBodySerializer.read(request.data)
        number = min(user, 2**31 - 1)
        theirs = Membership.objects.filter(benchmark=self.benchmark, user_id=number)
        bans = Ban.objects.filter(benchmark=self.benchmark, user_id=number)
        if not theirs.exists() and not bans.exists():  # the same for accounts that there are and that there are not
            raise Http404("No one with a role or a ban here is meant.")
        person = User.objects.get(pk=number)

        def step() -> dict[str, Any]:
            if "banned" in body:
                lift_ban(self.benchmark, person, author=self.user, reason=body["reason"])
            if "role" in body:
                role = body["role"] or ""
                change_role(self.benchmark, person, author=self.user, role=role, reason=body["reason"])
            now = theirs.values_list("role", flat=True).first()
            return PersonStateSerializer.render({"user": number, "role": now, "banned": bans.exists()})

        return self.carry_out(step)


class InvitationsView(OwnerView):
    """Invitations."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="invite",
        summary="Invite someone",
        tags=["people"],
        parameters=[DRY_RUN],
        request=InvitationBodySerializer,
        examples=[INVITATION_EXAMPLE],
        responses={
            201: InvitationSerializer,
            200: OpenApiResponse(InvitationSerializer, description="A dry run."),
            **WRITING,
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """A link that gives a role to the first who follows it, within a week. It is shown once."""
        body = InvitationBodySerializer.read(request.data)
        is_dry = self.truth("dry_run")

        def step() -> dict[str, Any]:
            secret = invite(self.benchmark, author=self.user, role=body["role"], hands_over=body["hands_over"])
            url = None if is_dry else request.build_absolute_uri(reverse("join", args=[secret]))
            return InvitationSerializer.render({"role": body["role"], "url": url})

        return self.carry_out(step, status=201)


class AuditView(OwnerView):
    """The trail."""

    scopes: ClassVar = {"GET": MANAGE, "HEAD": MANAGE}
    renderer_classes = [JSONRenderer, CSVRenderer]

    @extend_schema(
        operation_id="audit",
        summary="Read the audit trail",
        tags=["people"],
        parameters=[
            OpenApiParameter("subject", enum=[subject for subject, _ in SUBJECTS], description="Only such changes."),
            OpenApiParameter("who", FROM_ONE, description="Only changes by this user."),
            OpenApiParameter("of", text_shape(80), description="Only changes of this object."),
            FORMAT,
            *PAGING,
        ],
        responses=reading(AuditPageSerializer, csv=f"{', '.join(FILE_HEADER)}."),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Who changed what from what to what, when and why, newest first; for owners."""
        query = AuditQuery.read({name: str(value) for name, value in request.query_params.items()})
        if self.is_csv:
            parts = audit_csv(self.benchmark, query)
            response = StreamingHttpResponse(parts, content_type="text/csv; charset=utf-8")
            response["Content-Disposition"] = f'attachment; filename="{self.benchmark.key}-audit.csv"'
            return response
        wanted = window(request.query_params)
        start = Position.read(wanted.after)
        if start is None:
            raise wrong_parameter("cursor", "`cursor` is none of this list's; follow the `next` of a page.")
        lines, older = audit_lines(self.benchmark, query, start, most=wanted.size)
        page = Page(lines, older.text if older else None)
        content = {**page_links(request, page), "results": page.items}
        return self.answer_here(lambda: AuditPageSerializer.render(content))


class ClosingView(WritingView):
    """Closing one's account."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="close_account",
        summary="Close one's account",
        tags=["people"],
        parameters=[DRY_RUN],
        request=ClosingBodySerializer,
        responses={200: ClosedAccountSerializer, **WRITING},
        examples=[CLOSING_EXAMPLE],
    )
    def post(self, request: Request) -> Response:
        """Make the token's user a former member, for good; all their tokens end, what they did stays.

        A token alone is not enough, as a session alone is not on the site: the password is asked for.
        """
        password = ClosingBodySerializer.read(request.data)["password"]
        user = self.user
        try:
            with attempt("login", account=user.email, address=client_address(request)):
                if not user.check_password(password):
                    raise ApiError(403, "The password is wrong.")
        except TooManyAttemptsError as error:
            raise Throttled(error.seconds, str(error)) from error

        def step() -> dict[str, Any]:
            close_account(user)
            return ClosedAccountSerializer.render({"closed": True})

        return self.carry_out(step)
