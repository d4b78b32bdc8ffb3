"""What the page claims at its head follows from the rows and grids of the sections that it names."""

from __future__ import annotations

import json
import re

import pytest

from reproduction.__main__ import SITE
from reproduction.rofin.agreement import is_of_code
from reproduction.tables import DIFFERS
from reproduction.zhang.baselines import better_than_line

STORED = json.loads(SITE.read_text(encoding="utf-8"))
SECTIONS = {section["key"]: section for paper in STORED["papers"] for section in paper["sections"]}
CLAIMS = {claim["title"]: claim["text"] for claim in STORED["essay"]}
BOARDS = {"GLUE": "glue", "SuperGLUE": "superglue", "XTREME": "xtreme"}


def numbers_in(title: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d+)?", CLAIMS[title])


def test_the_claim_about_scales_says_what_is_a_mean_over_tasks_and_what_is_the_largest():
    last = {}  # of the mean's and Borda's lines, mean over tasks and largest, at the factor 100
    for title, name in BOARDS.items():
        _, mean, largest = SECTIONS[f"colombo-robustness-{name}"]["grids"]
        assert mean["header"][-1] == largest["header"][-1] == "100"
        last[title] = [float(line[-1]) for grid in (mean, largest) for line in grid["lines"]]
    means, most = [of[0] for of in last.values()], max(last, key=lambda title: last[title][2])
    factor, least, greatest, largest, borda = map(float, numbers_in("Borda does not depend on the scale of a task."))
    assert factor == 100
    assert (least, greatest) == pytest.approx((100 * min(means), 100 * max(means)), abs=0.06)
    assert largest == pytest.approx(100 * last[most][2], abs=0.06)
    assert f"for one task of {most}" in CLAIMS["Borda does not depend on the scale of a task."]
    assert borda == max(of[3] for of in last.values()) == 0
    assert largest > 3 * greatest


def test_a_printed_figure_that_the_code_does_not_give_has_no_established_cause():
    rows = [row for row in SECTIONS["rofin-agreement"]["rows"] if row["verdict"] == DIFFERS]
    unknown = {row["what"] for row in rows if "not established" in row["reason"]}
    pairs = {row["what"]: list(zip(row["printed"].split(", "), row["code"].split(", "), strict=True)) for row in rows}
    assert unknown == {what for what, both in pairs.items() if not all(is_of_code(*pair) for pair in both)}
    assert unknown == {
        "GLUE, Optimality gap: top 3",
        "SuperGLUE, Optimality gap: Kendall's tau with the mean",
        "SuperGLUE, Minimax: Kendall's tau with the mean",
    }
    assert numbers_in("The published taus.")[:4] == ["14", "14", "12", "2"]


def test_a_figure_is_the_codes_rounded_or_cut_and_no_other():
    assert is_of_code("0.56", "0.563")
    assert is_of_code("0.45", "0.455")  # half-way
    assert is_of_code("-0.05", "-0.057")  # cut
    assert is_of_code("1.0", "1.00")
    assert not is_of_code("-0.5", "-0.056")
    assert not is_of_code("0.36", "0.195")
    assert not is_of_code("0.67", "0.33")


def test_sensitivities_are_counted_on_benchmarks_of_the_same_columns():
    below = {}
    for kind in ("cardinal", "ordinal"):
        rows = [row for row in SECTIONS[f"zhang-{kind}"]["rows"] if row["what"].endswith(": (1 - tau) / 2")]
        rows = [row for row in rows if not row["what"].startswith("MTEB")]
        below[kind] = (sum(float(row["ours"]) > float(row["code"]) for row in rows), len(rows))
    assert below == {"cardinal": (4, 6), "ordinal": (5, 11)}
    assert numbers_in("The notebooks' sensitivities can be exceeded.") == ["4", "6", "5", "11", "16", "18"]


def test_a_benchmark_is_better_than_the_line_where_it_is_less_sensitive_at_its_diversity():
    ends = {"Constant": (0.0, 0.1), "Random": (1.0, 0.9)}
    assert better_than_line({"below": (0.5, 0.49), "on": (0.5, 0.5), "above": (0.25, 0.31)}, ends) == ["below"]


@pytest.mark.parametrize("kind", ["cardinal", "ordinal"])
def test_the_claim_about_the_line_is_that_of_the_row(kind):
    (row,) = [row for row in SECTIONS[f"zhang-correlation-{kind}"]["rows"] if "from Constant to Random" in row["what"]]
    n = int(re.search(r"benchmarks of the (\d+)", row["what"])[1])
    theirs, ours = n - int(row["code"]), n - int(row["ours"])
    text = f"{theirs} of the {n} {kind} benchmarks ({ours} with our figures)"
    assert text in CLAIMS["No better than a line."]
    assert (row["verdict"] == DIFFERS) == (ours > 0)
