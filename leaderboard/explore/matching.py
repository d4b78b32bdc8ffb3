"""Which systems of several benchmarks are the same: as their owners declared, and by name where they declared nothing.

Owners link systems of their own benchmarks to a model; systems of one model are the same, whatever they are called.
A system that is linked to none is matched by name, case and spaces aside, which is a guess: with the model of that
name, if systems called so are linked to one model alone and none of its own benchmark is, and else with others of its
name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.models import Benchmark, System
from ranking_engine.text.names import fold_name


@dataclass(frozen=True)
class SystemKey:
    """What a system is, the same for all that are the same: a model, or else a folded name."""

    model: str = ""  # the key of the model
    name: str = ""

    def __str__(self) -> str:
        return self.model or self.name


@dataclass(frozen=True)
class DeclaredModels:
    """The models that systems of some benchmarks are linked to: by the benchmark's key, then by the system's."""

    by_benchmark: Mapping[str, Mapping[str, str]]


def declared_models(benchmarks: Iterable[Benchmark]) -> DeclaredModels:
    """The models of the systems of some benchmarks, in one query.

    Args:
        benchmarks: which name their systems to the reader.
    """
    linked = System.objects.filter(benchmark__in=list(benchmarks), identity__isnull=False)
    by_benchmark: dict[str, dict[str, str]] = {}
    for benchmark, system, model in linked.values_list("benchmark__key", "key", "identity__key"):
        by_benchmark.setdefault(benchmark, {})[system] = model
    return DeclaredModels(by_benchmark)


def matched(
    declared: DeclaredModels, systems: Mapping[str, Sequence[tuple[str, str]]]
) -> dict[str, dict[str, SystemKey]]:
    """What each system is.

    Args:
        declared: the models of the benchmarks' systems.
        systems: of each benchmark, by its key: their keys and names.

    Returns:
        By the key of the benchmark, then of the system.
    """
    models_called: dict[str, set[str]] = {}
    for benchmark, own in systems.items():
        models = declared.by_benchmark.get(benchmark, {})
        for key, name in own:
            if key in models:
                models_called.setdefault(fold_name(name), set()).add(models[key])

    def what_is(benchmark: str, key: str, name: str) -> SystemKey:
        models, folded = declared.by_benchmark.get(benchmark, {}), fold_name(name)
        if key in models:
            return SystemKey(model=models[key])
        called = models_called.get(folded, set())
        if len(called) == 1 and not called & set(models.values()):
            return SystemKey(model=next(iter(called)))
        return SystemKey(name=folded)

    return {benchmark: {key: what_is(benchmark, key, name) for key, name in own} for benchmark, own in systems.items()}


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names, numbered where several are the same.

    Args:
        names: of different systems.
    """
    taken: set[str] = set()
    apart = []
    for name in names:
        own, number = name, 2
        while own in taken or (own != name and own in names):
            own, number = f"{name} ({number})", number + 1
        taken.add(own)
        apart.append(own)
    return apart
