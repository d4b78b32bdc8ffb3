"""Properties of systems besides their scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import BooleanField, Case, F, JSONField, Q, Value, When

from leaderboard.common.language.stored import in_english
from leaderboard.models import Baseline, Revision, Submission, System, SystemChange, User
from leaderboard.rankings.scores import BoardSystem, changes_until
from ranking_engine.files.metadata import MetadataField

# What every system has beside the fields that its benchmark declares.
ORGANISATION = MetadataField("organisation", "Organisation")
# What every system of a board with baselines has: whether it is one.
BASELINE = MetadataField(
    "baseline", "Baseline", "choice", choices=tuple(in_english(label) for label in Baseline.labels)
)


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
