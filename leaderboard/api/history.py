"""The history of a benchmark: its revisions, and those that were frozen under a name."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.db.models import Exists, OuterRef, Q
from django.http import Http404, HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.access.audience import Audience
from leaderboard.api.benchmarks import DERIVED_GAMMA, GroupEntrySerializer, TaskEntrySerializer
from leaderboard.api.protocol.base import MANAGE, BenchmarkView, JobStateSerializer, OwnerView, job_state
from leaderboard.api.protocol.fields import Shape, Text, Whole
from leaderboard.api.protocol.pagination import cut, cut_sorted, page_links, window
from leaderboard.api.protocol.problems import wrong_parameter
from leaderboard.api.protocol.schema import DRY_RUN, PAGING, UPDATED_SINCE, WRITING, body_example, reading
from leaderboard.benchmarks.releases import cite, freeze_revision
from leaderboard.common.form_fields import NOTE_LENGTH
from leaderboard.models import Benchmark, Publication, Release, Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.revisions import revision_jobs, revisions_of, visible_hash

RELEASE_EXAMPLE = body_example("To be cited", {"revision": 1, "name": "2026.1"})


class RevisionEntrySerializer(Shape):
    """One state of a benchmark's inputs."""

    revision = s.IntegerField()
    cause = s.ChoiceField(choices=Revision.Cause.values)
    author = s.CharField(allow_null=True, help_text="The display name of who caused it.")
    note = s.CharField(allow_blank=True)
    created_at = s.DateTimeField()
    input_hash = s.CharField(allow_null=True)
    is_published = s.BooleanField()
    ranks_removed_at = s.DateTimeField(
        allow_null=True,
        help_text="When retention removed its ranks; its scores are kept, and its owners can have the "
        "ranks computed again.",
    )
    contains_withdrawn_material = s.BooleanField(help_text="Some of its scores were taken down later.")
    published_at = s.DateTimeField(allow_null=True)
    engine_version = s.CharField(allow_null=True)
    jobs = JobStateSerializer(many=True)


class RevisionPageSerializer(Shape):
    """A page of revisions, newest first."""

    revision = s.IntegerField(allow_null=True, help_text="The published one.")
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = RevisionEntrySerializer(many=True)


class ConfigurationEntrySerializer(Shape):
    """Tasks, groups, γ and policies as they were."""

    groups = GroupEntrySerializer(many=True)
    tasks = TaskEntrySerializer(many=True)
    gamma = s.FloatField(allow_null=True, help_text="The stated optimality threshold.")
    derived_gamma = s.FloatField(allow_null=True, source="gamma_derived", help_text=DERIVED_GAMMA)
    missing_policy = s.ChoiceField(choices=Benchmark.MissingPolicy.values)
    aggregation = s.ChoiceField(choices=Benchmark.Aggregation.values)
    replacement = s.ChoiceField(choices=Benchmark.Replacement.values)
    variants = s.ListField(child=s.CharField(), help_text="Keys of variants of rules that were columns, too.")


class RevisionDetailSerializer(RevisionEntrySerializer):
    """A revision with its configuration."""

    configuration = ConfigurationEntrySerializer()


class ReleaseBodySerializer(Shape):
    """A published revision that is to be frozen under a name."""

    revision = Whole()
    name = Text(most=200)
    note = Text(most=NOTE_LENGTH, is_line=False, absent="")


class ReleaseEntrySerializer(Shape):
    """A frozen revision."""

    key = s.CharField(source="release.key")
    name = s.CharField(source="release.name")
    revision = s.IntegerField(source="release.revision.number")
    note = s.CharField(source="release.note", allow_blank=True)
    created_at = s.DateTimeField(source="release.created_at")
    url = s.URLField(help_text="Its permanent URL.")
    citation = s.CharField(source="citation.text")
    bibtex = s.CharField(source="citation.bibtex")
    data_url = s.URLField(help_text="A zip with its scores, ranks and studies, and metadata in Croissant.")


class ReleasePageSerializer(Shape):
    """A page of frozen revisions, by key."""

    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = ReleaseEntrySerializer(many=True)


class RevisionsView(BenchmarkView):
    """All revisions."""

    is_open_to_restricted = True

    @extend_schema(
        operation_id="revisions",
        summary="List revisions",
        tags=["revisions"],
        parameters=[UPDATED_SINCE, *PAGING],
        responses=reading(RevisionPageSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Every state of the benchmark's inputs, newest first: what caused it, and what was published of it."""
        wanted = window(request.query_params)
        rows = revisions_of(self.benchmark)
        if since := self.moment("updated_since"):
            boards = Publication.objects.filter(revision=OuterRef("pk"), published_at__gte=since)
            rows = rows.filter(Q(created_at__gte=since) | Exists(boards))
        count = rows.count()
        if wanted.after:
            if not wanted.after.isdecimal():
                raise wrong_parameter("cursor", "`cursor` is none of this list's; follow the `next` of a page.")
            rows = rows.filter(number__lt=min(int(wanted.after), 2**31 - 1))
        page = cut(list(rows[: wanted.size + 1]), wanted, lambda revision: revision.number, count)
        content = {
            "revision": self.benchmark.published_number or None,
            **page_links(request, page),
            "results": _entries(page.items, self.audience),
        }
        return self.answer_here(lambda: RevisionPageSerializer.render(content))


class RevisionView(BenchmarkView):
    """One revision."""

    is_open_to_restricted = True

    @extend_schema(
        operation_id="revision",
        summary="Read a revision",
        tags=["revisions"],
        responses=reading(RevisionDetailSerializer),
    )
    def get(self, request: Request, key: str, number: int) -> HttpResponseBase:
        """One state of the benchmark's inputs, with its configuration."""
        rows = revisions_of(self.benchmark).select_related("configuration")
        row = rows.filter(number=min(number, 2**31 - 1)).first()
        if row is None:
            last = self.benchmark.last_revision_number
            raise Http404(f"There is no revision {number}; the last one is {last}.")
        content = _entries([row], self.audience)[0] | {"configuration": configuration_of(row)}
        return self.answer_here(lambda: RevisionDetailSerializer.render(content))


def _entries(rows: Iterable[Revision], audience: Audience) -> list[dict[str, Any]]:
    """Revisions with the last of their publications and their jobs, for `RevisionEntrySerializer`.

    To whom something is hidden they do not tell who submitted, what they say of it, nor a hash to guess against.
    """
    rows = list(rows)
    jobs = revision_jobs([row.pk for row in rows])
    entries = []
    for row in rows:
        last = max(row.publications.all(), key=lambda publication: publication.pk, default=None)
        is_kept = row.withdrawn_at is None and row.ranks_removed_at is None
        is_the_owners = row.cause == Revision.Cause.CONFIGURATION
        is_signed = not audience.is_restricted or is_the_owners or (audience.sees_others and audience.sees_names)
        states = [job_state(job) for job in jobs.get(row.pk, [])]
        entries.append(
            {
                "revision": row.number,
                "cause": row.cause,
                "author": row.author.shown_name if row.author and is_signed else None,
                "note": row.note if is_signed else "",
                "created_at": row.created_at,
                "input_hash": None if row.withdrawn_at or audience.is_restricted else row.input_hash or None,
                "is_published": last is not None and is_kept,
                "ranks_removed_at": row.ranks_removed_at or None,
                "contains_withdrawn_material": row.withdrawn_at is not None,
                "published_at": last.published_at if last else None,
                "engine_version": last.engine_version if last else None,
                "jobs": [state | {"error": ""} for state in states] if audience.is_restricted else states,
            }
        )
    return entries


class ReleasesView(OwnerView):
    """Frozen revisions."""

    scopes: ClassVar = {"POST": MANAGE}
    owned_methods = ("POST",)

    @extend_schema(
        operation_id="releases",
        summary="List frozen revisions",
        tags=["revisions"],
        parameters=PAGING,
        responses=reading(ReleasePageSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Revisions that were frozen under a name, by key, with how to cite them."""
        rows = list(Release.objects.filter(benchmark=self.benchmark).select_related("benchmark", "revision"))
        rows.sort(key=lambda row: row.key)
        page = cut_sorted(rows, window(request.query_params), lambda row: row.key)
        content = {**page_links(request, page), "results": [self._cited(row) for row in page.items]}
        return self.answer_here(lambda: ReleasePageSerializer.render(content))

    @extend_schema(
        operation_id="freeze",
        summary="Freeze a revision",
        tags=["revisions"],
        parameters=[DRY_RUN],
        request=ReleaseBodySerializer,
        examples=[RELEASE_EXAMPLE],
        responses={
            201: ReleaseEntrySerializer,
            200: OpenApiResponse(ReleaseEntrySerializer, description="A dry run."),
            **WRITING,
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """Give a published revision a name and a URL that stay."""
        body = ReleaseBodySerializer.read(request.data)

        def step() -> dict[str, Any]:
            row = freeze_revision(
                self.benchmark,
                author=self.user,
                number=body["revision"],
                name=body["name"],
                note=body["note"],
            )
            return ReleaseEntrySerializer.render(self._cited(row))

        return self.carry_out(step, status=201)

    def _cited(self, row: Release) -> dict[str, Any]:
        """A release with its address and how to cite it, for `ReleaseEntrySerializer`."""
        url = self.request.build_absolute_uri(reverse("release", args=[self.benchmark.key, row.key]))
        data_url = self.request.build_absolute_uri(reverse("release_data", args=[self.benchmark.key, row.key]))
        citation = cite(row, url, visible_hash(row.revision, self.audience))
        return {"release": row, "url": url, "data_url": data_url, "citation": citation}
