"""Systems of a benchmark that may be models that others declared, or systems of other benchmarks.

A proposal is a guess from the name, the link and the model card; an owner confirms it or does not. Only what the owner
sees by name on published boards is proposed.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.db.models import Q
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import Viewer, naming_benchmarks
from leaderboard.benchmarks.identities.links import NEW
from leaderboard.models import Benchmark, System
from leaderboard.models.systems import PROVISIONAL
from leaderboard.rankings.systems import names_on_boards

MAX_PROPOSALS = 100  # that a page or an answer lists
MAX_CANDIDATES = 10_000  # systems of other benchmarks that are looked at
MAX_CARDS = 500  # model cards that are looked for
MAX_OTHERS = 12  # named in one proposal
MODEL_CARD = "model-card"  # the key of the field of metadata


def _model_card(system: System) -> str:
    value = system.metadata.get(MODEL_CARD, "")
    return value if isinstance(value, str) else ""


# What two systems may have in common, in words, and where it is; empty where a system says nothing of it.
EVIDENCE: Mapping[str, Callable[[System], str]] = {
    gettext_noop("the same name"): lambda system: system.name_folded,
    gettext_noop("the same link"): lambda system: system.url,
    gettext_noop("the same model card"): _model_card,
}


@dataclass(frozen=True)
class Counterpart:
    """A system of another benchmark, as it is called on its board."""

    benchmark: Benchmark
    key: str
    name: str


@dataclass(frozen=True)
class ModelProposal:
    """A system of a benchmark, and what it may be.

    Attributes:
        system: of the benchmark, which is linked to no model.
        model: the key of the model that it may be; NEW where no one has declared one.
        others: the systems of that model, or those of other benchmarks that are linked to none.
        n_others: how many there are, of which `others` may be the first.
        reasons: why it is proposed, in words.
        differing: names of fields of metadata that are stated on both sides and differ.
    """

    system: System
    model: str
    others: list[Counterpart]
    n_others: int
    reasons: list[str]
    differing: list[str]

    @property
    def value(self) -> str:
        """What a form sends to confirm it."""
        return f"{self.system.key} {self.model}"


@dataclass(frozen=True)
class Proposals:
    """Those of a benchmark: the first by name, and how many there are."""

    listed: list[ModelProposal]
    n_all: int


def proposals_for(viewer: Viewer, benchmark: Benchmark) -> Proposals:
    """What the systems of a benchmark may be that are linked to no model.

    Args:
        viewer: an owner of the benchmark.
        benchmark: whose systems.
    """
    own = System.objects.filter(benchmark=benchmark, identity=None).exclude(key__startswith=PROVISIONAL)
    systems = list(own.order_by("name_folded"))
    by_text: dict[str, dict[str, System]] = {}
    for reason, text_of in EVIDENCE.items():
        counts = Counter(filter(None, map(text_of, systems)))  # what several have in common tells nothing of one
        by_text[reason] = {text_of(system): system for system in systems if counts[text_of(system)] == 1}
    names, links, cards = (list(systems_by_text) for systems_by_text in by_text.values())
    wanted = Q(name_folded__among=names) | Q(url__among=links) | Q(**{f"metadata__{MODEL_CARD}__in": cards[:MAX_CARDS]})
    others = System.objects.filter(wanted, benchmark__in=naming_benchmarks(viewer)).exclude(benchmark=benchmark)
    others = others.exclude(key__startswith=PROVISIONAL).select_related("benchmark", "identity")
    candidates = list(others.order_by("pk")[:MAX_CANDIDATES])
    present = names_on_boards([one.pk for one in candidates])
    candidates = [one for one in candidates if one.pk in present]
    taken = set(System.objects.filter(benchmark=benchmark, identity__isnull=False).values_list("identity", flat=True))
    # By the system that it may be and its model: the candidates with the reasons.
    matches: dict[int, dict[str, dict[System, list[str]]]] = {}
    for reason, text_of in EVIDENCE.items():
        counts_there = Counter((one.benchmark_id, text_of(one)) for one in candidates)
        for one in candidates:
            system = by_text[reason].get(text_of(one))
            if system is None or counts_there[one.benchmark_id, text_of(one)] > 1 or one.identity_id in taken:
                continue
            model = one.identity.key if one.identity else NEW
            matches.setdefault(system.pk, {}).setdefault(model, {}).setdefault(one, []).append(reason)
    proposals = []
    for system in systems:
        for model, matched in sorted(matches.get(system.pk, {}).items()):
            # Where a model is declared already, one of its own would be a second one for the same thing.
            if model == NEW and len(matches[system.pk]) > 1:
                continue
            same = [Counterpart(one.benchmark, one.key, present[one.pk]) for one in matched]
            differing = {
                field.name
                for one in matched
                for field in one.benchmark.fields_of_systems
                if field.key in one.metadata
                and system.metadata.get(field.key, one.metadata[field.key]) != one.metadata[field.key]
            }
            reasons = list(dict.fromkeys(gettext(reason) for of_one in matched.values() for reason in of_one))
            proposals.append(ModelProposal(system, model, same[:MAX_OTHERS], len(same), reasons, sorted(differing)))
    return Proposals(proposals[:MAX_PROPOSALS], len(proposals))
