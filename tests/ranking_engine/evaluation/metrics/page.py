"""Writes the tables of metrics in docs/scoring.md: `python -m tests.ranking_engine.evaluation.metrics.page`."""

from pathlib import Path

from ranking_engine.command_line.metrics import option_text
from ranking_engine.evaluation.metrics import METRICS

PAGE = Path(__file__).resolve().parents[4] / "docs" / "scoring.md"
HEAD = (
    "| key | metric | what it says | better | scale | takes | standard error | computed by | options |\n|" + "---|" * 9
)
LIMITS_HEAD = "| metric | at most |\n|---|---|\n"
METHODS = {"mean": "of the mean", "jackknife": "jackknife", "bootstrap": "bootstrap", "none": "none"}


def number(value: float) -> str:
    """An end of a scale."""
    return {float("inf"): "∞", float("-inf"): "−∞"}.get(value, f"{value:g}".replace("-", "−"))


def table() -> str:
    """The table, a row per metric."""
    rows = []
    for metric in METRICS.values():
        kinds = [metric.reference_kind.value, metric.prediction_kind.value]
        cells = [
            f"`{metric.key}`",
            metric.name,
            metric.description,
            "less" if metric.lower_is_better else "more",
            f"{number(metric.lowest)} to {number(metric.highest)}",
            kinds[1] if kinds[0] in ("nothing", kinds[1]) else f"{kinds[1]} for {kinds[0]}",
            METHODS[metric.error_method.value],
            metric.library.distribution or "our own code",
            ", ".join(f"`{option_text(option)}`" for option in metric.options),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([HEAD, *rows]) + "\n"


def limits() -> str:
    """How many pairs each metric compares, a row per metric that has a limit."""
    limited = [(metric, metric.pairs.__name__.rpartition("_")[2]) for metric in METRICS.values() if metric.pairs]
    rows = [f"| `{metric.key}` | {metric.max_pairs:,.0f} pairs of {unit} |\n" for metric, unit in limited]
    return LIMITS_HEAD + "".join(rows)


def sources() -> str:
    """The sources, a line per metric."""
    return "".join(f"- `{metric.key}`: {metric.citation}\n" for metric in METRICS.values())


def written(text: str) -> str:
    """The page with its tables and its sources written again."""
    before, _, rest = text.partition("| key | metric |")
    middle, _, rest = rest.partition("\n\n")[2].partition(LIMITS_HEAD)
    errors, _, rest = rest.partition("\n\n")[2].partition("- `accuracy`: ")
    after = rest.partition("\n\n")[2]
    return f"{before}{table()}\n{middle}{limits()}\n{errors}{sources()}" + (f"\n{after}" if after else "")


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
