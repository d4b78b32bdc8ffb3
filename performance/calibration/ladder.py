"""How far many submissions overfit a plain board and the Ladder: the tables of docs/ladder.md, some minutes.

python -m performance.calibration.ladder             compute the tables and put them into the page
python -m performance.calibration.ladder --print     print them and leave the page as it is
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from performance.calibration.__main__ import with_table
from ranking_engine.evaluation import boosting_attack, quota

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "ladder.md"
ATTACKS = "What the boosting attack gains"
QUOTAS = "How many submissions a stated error allows"
N_INSTANCES = (500, 4_000, 20_000)
N_SUBMISSIONS = (10, 100, 400, 1_000)
REPEATS = 20


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m performance.calibration.ladder", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--print", action="store_true", help="print the tables and leave the page as it is")
    given = parser.parse_args()
    for heading, rows in ((ATTACKS, attack_rows()), (QUOTAS, quota_rows())):
        if given.print:
            print(f"\n## {heading}\n", *rows, sep="\n")
        else:
            PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), heading, rows), encoding="utf-8")


def attack_rows(n_instances: tuple[int, ...] = N_INSTANCES) -> list[str]:
    """The table of attacks, a row for each size: means over `REPEATS` seeds."""
    rows = [
        "| instances | submissions | plain, five digits | plain, two digits | Ladder | stated by the Ladder |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for n in n_instances:
        for n_submissions in N_SUBMISSIONS:
            leaks = [boosting_attack(n, n_submissions, seed=seed) for seed in range(REPEATS)]
            coarse = [boosting_attack(n, n_submissions, seed=seed, digits=2).plain for seed in range(REPEATS)]
            losses = [
                (leak.plain, rough, leak.ladder, leak.ladder_states) for leak, rough in zip(leaks, coarse, strict=True)
            ]
            cells = " | ".join(f"{loss:.3f}" for loss in np.mean(losses, axis=0))
            rows.append(f"| {n:,} | {n_submissions:,} | {cells} |")
    return rows


def quota_rows() -> list[str]:
    """The table of quotas, a row for each number of instances."""
    errors = (0.005, 0.01, 0.02, 0.05)
    head = "| instances | " + " | ".join(f"{100 * error:g} %" for error in errors) + " |"
    quotas = {n: " | ".join(f"{quota(n, error):,}" for error in errors) for n in (500, 1_000, 4_000, 10_000, 100_000)}
    return [head, "|---:|" + "---:|" * len(errors), *(f"| {n:,} | {cells} |" for n, cells in quotas.items())]


if __name__ == "__main__":
    main()
