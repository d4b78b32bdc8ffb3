"""Weights whose integers are beyond 64 bits: every page and answer that compares two systems has them right."""

import csv
import io
import json
from decimal import Decimal
from fractions import Fraction

import pytest

from leaderboard.benchmarks.create import GroupSpec, TaskSpec

SCORES = {"A": [1.0, 2, 3, 4, 5, 6, 7, 8, 9], "B": [9.0, 8, 7, 6, 5, 4, 3, 2, 1], "C": [5.0, 5, 5, 5, None, 5, 5, 5, 9]}
WEIGHTS = ["0.1234567891", "0.9876543211", "0.3141592653", "0.2718281829", "0.5772156649", "0.6931471806",
           "0.4142135623", "0.7320508077", "0.2360679775"]  # fmt: skip


@pytest.fixture
def benchmark(make):
    """Three groups of three tasks, all with weights of ten decimals, balanced."""
    groups = [GroupSpec(name, Decimal(weight)) for name, weight in zip("XYZ", WEIGHTS, strict=False)]
    tasks = [TaskSpec(f"T{t}", weight=Decimal(w), group="XYZ"[t // 3]) for t, w in enumerate(WEIGHTS)]
    return make.published(SCORES, tasks=tasks, groups=groups, aggregation="balanced")


def shares() -> list[Fraction]:
    """What each task counts: its share of its group's weight."""
    weights = list(map(Fraction, WEIGHTS))
    of_group = [sum(weights[3 * g : 3 * g + 3]) for g in range(3)]
    counted = [Fraction(WEIGHTS[t // 3]) * weights[t] / of_group[t // 3] for t in range(9)]
    return [share / sum(counted) for share in counted]


def ahead(first: str, second: str) -> float:
    pairs = zip(SCORES[first], SCORES[second], shares(), strict=True)
    return float(sum(share for x, y, share in pairs if x is not None and y is not None and x > y))


def test_pages_files_and_answers_have_the_exact_margins(client, benchmark):
    for path in ("", "systems/a/", "head-to-head/", "head-to-head/?a=a&b=b", "rules/copeland/", "what-if/"):
        assert client.get(f"/b/{benchmark.key}/{path}").status_code == 200, path
    text = client.get(f"/b/{benchmark.key}/exports/margins.csv").content.decode()
    rows = {(row["system"], row["rival"]): float(row["ahead"]) for row in csv.DictReader(io.StringIO(text))}
    assert rows == {pair: pytest.approx(ahead(*pair), abs=1e-12) for pair in rows}
    assert len(rows) == 6
    answer = client.get(f"/api/v1/benchmarks/{benchmark.key}/margins/").json()["results"]
    assert answer
    comparison = client.get(f"/b/{benchmark.key}/head-to-head/", {"a": "a", "b": "b"}).context["page"].pair
    assert comparison.ahead == pytest.approx(ahead("A", "B"), abs=1e-12)
    assert client.get(f"/api/v1/benchmarks/{benchmark.key}/head-to-head/?a=a&b=c").status_code == 200


def test_a_table_with_such_weights_is_tried(client):
    table = "system,t0,t1,t2,t3\nA,1,2,3,4\nB,4,3,2,1\nC,2,2,2,\n"
    about = json.dumps({"t0": "1/1000000007", "t1": "1/998244353", "t2": "1/1000000009", "t3": "1/999999937"})
    answer = client.post("/try/", {"text": table, "about": about})
    assert answer.status_code == 200
    weights = [Fraction(1, prime) for prime in (1000000007, 998244353, 1000000009, 999999937)]
    margin = (weights[2] + weights[3] - weights[0] - weights[1]) / sum(weights)
    heat = answer.context["tried"].margins
    said = {cell.said for row in heat.rows for cell in row.cells}
    assert any("A" in text and "B" in text for text in said)
    assert abs(float(margin)) < 0.001
