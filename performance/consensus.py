"""How long the slow rules take, on the published leaderboards and on random boards.

`PYTHONPATH=. python performance/consensus.py [--seconds 30]`; the published ones are those of tests/reference.py.
"""

import argparse
import time

from ranking_engine import RULES, ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from tests.reference import REPOSITORY, reference_leaderboards, reference_matrix

RANDOM = [
    (50, 15, "uniform"), (80, 20, "uniform"), (105, 15, "skill"), (292, 15, "skill"), (292, 76, "skill"),
    (1000, 100, "skill"), (5000, 57, "skill"),
]  # fmt: skip


def boards():
    if (REPOSITORY.parent / "shared" / "data").is_dir():
        for name in reference_leaderboards():
            yield name, reference_matrix(name)
    for n, T, kind in RANDOM:
        yield f"random {kind}", random_matrix(n, T, seed=1, kind=kind)


def seconds_of(matrix: ScoreMatrix, rule: str, **options) -> tuple[float, object]:
    started = time.perf_counter()
    ranking = rank(matrix, rule, **options)
    return time.perf_counter() - started, ranking


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="the most that Kemeny may take for a board")
    budget = parser.parse_args().seconds
    rules = [key for key, rule in RULES.items() if rule.is_slow and key != "kemeny"]
    print(f"{'board':26}{'n':>6}{'T':>5}" + "".join(f"{key:>15}" for key in rules) + f"{'kemeny':>9}  distance, bound")
    for name, matrix in boards():
        times = [seconds_of(matrix, key) for key in rules]
        cells = "".join(f"{'-' if r.reason.startswith('not computed') else f'{s:.3f}':>15}" for s, r in times)
        seconds, ranking = seconds_of(matrix, "kemeny", seconds=budget)
        details = ranking.details
        proof = ranking.reason or (
            f"{details['distance']:g}, proven"
            if details["proven"]
            else f"{details['distance']:g}, {details['lower_bound']:g} not proven"
        )
        print(f"{name:26}{matrix.n_systems:6}{matrix.n_tasks:5}{cells}{seconds:9.2f}  {proof}", flush=True)


if __name__ == "__main__":
    main()
