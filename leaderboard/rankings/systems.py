"""Properties of systems besides their scores, and why one is not on a board."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import BooleanField, Case, Exists, F, JSONField, OuterRef, Q, Value, When
from django.http import Http404
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import Audience
from leaderboard.common.language.stored import in_english
from leaderboard.models import (
    Baseline,
    Publication,
    Report,
    Revision,
    Submission,
    SubmissionEvent,
    System,
    SystemChange,
    User,
)
from leaderboard.rankings.reports import BOARD
from leaderboard.rankings.scores import BoardSystem, changes_until
from ranking_engine.files.metadata import MetadataField

# What every system has beside the fields that its benchmark declares.
ORGANISATION = MetadataField("organisation", "Organisation")
# What every system of a board with baselines has: whether it is one.
BASELINE = MetadataField(
    "baseline", "Baseline", "choice", choices=tuple(in_english(label) for label in Baseline.labels)
)

NO_SYSTEM = gettext_noop("No system of this name is on the published board.")


@dataclass(frozen=True)
class About:
    """What is said of a system beside its scores, as far as filters look at it, and whether it is a baseline."""

    tags: tuple[str, ...] = ()
    # With the organisation and, where the board has baselines, whether it is one, as two of its fields.
    metadata: Mapping[str, Any] = field(default_factory=dict)
    baseline: str = Baseline.NONE


@dataclass(frozen=True)
class DescribedSystems:
    """The systems of a board.

    Attributes:
        systems: in the order of their keys, as `systems_at` has them.
        about: by system's id; those alone of which anything is said, which is all where there are baselines.
        own_ids: those that one user submitted scores for.
    """

    systems: list[BoardSystem]
    about: dict[int, About]
    own_ids: frozenset[int]


def about_systems(ids: Sequence[int]) -> dict[int, System]:
    """The systems of these ids."""
    return System.objects.in_bulk(list(ids))


def described_systems_at(revision: Revision, uploader: User | None = None) -> DescribedSystems:
    """The systems on the board at a revision with what is said of them, in one query.

    Args:
        revision: the state of the benchmark.
        uploader: whose systems are marked; no one's without them.
    """
    is_own: Any = Value(value=False)
    if uploader is not None:
        submitted = Submission.objects.filter(benchmark=revision.benchmark_id, batch__uploader=uploader)
        is_in = Q(system__in=submitted.order_by().values("system"))
        is_own = Case(When(is_in, then=Value(value=True)), default=is_own, output_field=BooleanField())
    # Most systems have neither tags nor metadata, and nothing is read of those.
    tags = Case(When(~Q(system__tags=[]), then="system__tags"), output_field=JSONField())
    metadata = Case(When(~Q(system__metadata={}), then="system__metadata"), output_field=JSONField())
    fields = ("system_id", "system__key", "kind", "name", tags, metadata, "system__baseline", "system__organisation",
              is_own)  # fmt: skip
    changes = changes_until(revision).values_list(*fields)
    systems: dict[int, BoardSystem] = {}
    about: dict[int, About] = {}
    own_ids = set()
    rows = changes.iterator(chunk_size=5000)
    for pk, key, kind, name, its_tags, its_metadata, baseline, organisation, is_theirs in rows:
        if kind == SystemChange.Kind.LEFT:
            systems.pop(pk, None)
            continue
        systems[pk] = BoardSystem(pk, key, name)
        if its_tags or its_metadata or organisation or baseline != Baseline.NONE:
            known = its_metadata if isinstance(its_metadata, dict) else {}
            if organisation:
                known = {ORGANISATION.key: organisation, **known}
            about[pk] = About(tuple(str(tag) for tag in its_tags or ()), known, baseline)
        if is_theirs:
            own_ids.add(pk)
    ordered = sorted(systems.values(), key=lambda system: system.key)
    about = {pk: about[pk] for pk in about if pk in systems}
    if any(one.baseline != Baseline.NONE for one in about.values()):
        known = {pk: about.get(pk, About()) for pk in systems}
        about = {
            pk: replace(one, metadata={BASELINE.key: in_english(Baseline(one.baseline).label), **one.metadata})
            for pk, one in known.items()
        }
    return DescribedSystems(ordered, about, frozenset(own_ids))


def names_on_boards(system_ids: Sequence[int]) -> dict[int, str]:
    """Which of these systems, of any benchmarks, are on the published boards, and what they are called there.

    Args:
        system_ids: of the systems.
    """
    changes = SystemChange.objects.filter(
        system_id__among=list(system_ids), revision__number__lte=F("revision__benchmark__published_number")
    )
    rows = changes.order_by("revision__number", "pk").values_list("system_id", "kind", "name")
    last = {pk: (kind, name) for pk, kind, name in rows}
    return {pk: name for pk, (kind, name) in last.items() if kind != SystemChange.Kind.LEFT}


@dataclass(eq=False)
class WithdrawnSystemError(Http404):
    """The scores of a system were withdrawn, so that it left the board.

    Attributes:
        key: of the system.
        name: which it had when it left.
        number: of the revision without it.
        at: when that was made.
        reason: why, as those wrote who withdrew its scores.
        last_number: of the newest board with it before that can be looked at; 0 where there is none.
        is_back: whether it is on the published board again; the board that was asked for is an older one.
    """

    key: str
    name: str
    number: int
    at: datetime
    reason: str
    last_number: int
    is_back: bool

    def __str__(self) -> str:
        return gettext("The scores of %(name)s were withdrawn at revision %(number)s.") % {
            "name": self.name, "number": self.number,
        }  # fmt: skip


def why_absent(audience: Audience, revision: Revision, key: str) -> Http404:
    """Why a system is not on the board of a revision, as far as the reader may know.

    Of one whose scores were taken down nothing is said to anyone: that it is gone is what was asked for.

    Args:
        audience: who reads.
        revision: of the board that they look at.
        key: of the system.
    """
    of_system = SystemChange.objects.filter(system__benchmark=audience.benchmark, system__key=key)
    changes = of_system.filter(revision__number__lte=revision.number).select_related("revision", "system")
    last = changes.order_by("-revision__number", "-pk").first()
    if last is None or last.kind != SystemChange.Kind.LEFT:
        return Http404(gettext(NO_SYSTEM))
    if audience.is_restricted and last.system_id not in audience.proven_system_ids:
        return Http404(gettext(NO_SYSTEM))
    events = SubmissionEvent.objects.filter(submission__system_id=last.system_id)
    if events.filter(kind=SubmissionEvent.Kind.TAKEN_DOWN).exists():
        return Http404(gettext(NO_SYSTEM))
    withdrawals = events.filter(kind=SubmissionEvent.Kind.WITHDRAWN, revision=last.revision).order_by("-pk")
    joined = changes.filter(kind=SystemChange.Kind.JOINED).order_by("-revision__number").first()
    board = Report.objects.filter(revision=OuterRef("revision"), engine_version=OuterRef("engine_version"), kind=BOARD)
    boards = Publication.objects.filter(
        Exists(board),
        benchmark=audience.benchmark,
        revision__number__gte=joined.revision.number if joined else last.revision.number,
        revision__number__lt=last.revision.number,
        revision__withdrawn_at=None,
        revision__ranks_removed_at=None,
    )
    since = of_system.filter(
        revision__number__gt=revision.number, revision__number__lte=audience.benchmark.published_number
    )
    newest_kind = since.order_by("-revision__number", "-pk").values_list("kind", flat=True).first()
    return WithdrawnSystemError(
        key=key,
        name=last.name,
        number=last.revision.number,
        at=last.revision.created_at,
        reason=withdrawals.values_list("reason", flat=True).first() or "",
        last_number=boards.order_by("-revision__number").values_list("revision__number", flat=True).first() or 0,
        is_back=newest_kind not in (None, SystemChange.Kind.LEFT),
    )
