"""What `/metrics/` answers, read by the parser of Prometheus' own client."""

from prometheus_client.parser import text_string_to_metric_families

Labels = frozenset[tuple[str, str]]


def samples(text: str) -> dict[tuple[str, Labels], float]:
    """Every sample of an exposition by its name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(text: str, name: str, **labels: str) -> float | None:
    """One sample, None where it is not there."""
    return samples(text).get((f"plurank_{name}", frozenset(labels.items())))


def total(text: str, name: str, **labels: str) -> float:
    """All samples of a name that have these labels, whatever others they have."""
    wanted = set(labels.items())
    return sum(v for (of, have), v in samples(text).items() if of == f"plurank_{name}" and wanted <= have)


def names_with_labels(text: str) -> dict[str, set[str]]:
    """Every family's sample names, with the names of their labels."""
    named: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        suffixes = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("_total",)}.get(family.type, ("",))
        named |= {f"{family.name.removesuffix('_total')}{suffix}": set() for suffix in suffixes}
        for sample in family.samples:
            named.setdefault(sample.name, set()).update(sample.labels)
    return named
