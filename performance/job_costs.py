"""What each job of a demonstration board costs: processor seconds by kind of job and board, one after the other.

Unlike `freshness.py` it starts no processes: every job of a new board runs here, one at a time, so that the figures
mean something on a busy machine, too.

    PYTHONPATH=. python performance/job_costs.py                       every demonstration board, some minutes
    PYTHONPATH=. python performance/job_costs.py --boards glue mmlu    some of them
    PYTHONPATH=. python performance/job_costs.py --kinds bootstrap axioms
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from performance.publish_delay import database

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--boards", nargs="+", metavar="KEY", help="the demonstration boards (default: all)")
    parser.add_argument("--kinds", nargs="+", metavar="KIND", help="only jobs of these kinds, and rankings")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plurank-bench-") as folder, database(Path(folder)) as url:
        os.environ |= {"PLURANK_VAR": folder, "DATABASE_URL": url, "PLURANK_LOG_LEVEL": "WARNING"}
        os.environ |= {"REDIS_URL": ""} if "REDIS_URL" not in os.environ else {}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        table = costs(chosen.boards, tuple(chosen.kinds or ()))
    if not table:
        sys.exit("no board has such a key")
    print_table(table)


def costs(keys: list[str] | None, kinds: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """The processor seconds of each kind of job, by board."""
    from jobs.runner import run_job
    from leaderboard.benchmarks.demonstration import FOLDER
    from leaderboard.benchmarks.folders import import_folder
    from leaderboard.models import Benchmark, Job, User
    from leaderboard.studies.plans import study_when_idle

    owner = User.objects.create_user("bench@plurank.example")
    policy = Benchmark.SubmissionPolicy.OPEN
    table: dict[str, dict[str, float]] = {}
    for path in sorted(FOLDER.iterdir()):
        if not path.is_dir() or (keys and path.name not in keys):
            continue
        board = import_folder(path, owner=owner, submission_policy=policy)
        study_when_idle(board)
        seconds: dict[str, float] = defaultdict(float)
        while job := Job.objects.filter(benchmark=board, state="waiting").order_by("-priority", "pk").first():
            kind = job.kind
            is_wanted = (
                not kinds or kind.startswith((*kinds, "rankings")) or (kind == "study_plan" and "study" in kinds)
            )
            if not is_wanted:
                Job.objects.filter(pk=job.pk).update(state="done")
                continue
            began = time.process_time()
            outcome = run_job(job.pk, worker="bench")
            spent = time.process_time() - began
            seconds[kind.partition(":")[2] or kind] += spent
            if outcome != "done":
                sys.exit(f"{job}: {outcome}")
        table[path.name] = dict(seconds)
        total = sum(seconds.values())
        most = sorted(seconds.items(), key=lambda item: -item[1])[:6]
        print(f"{path.name:<24}{total:8.1f}  " + ", ".join(f"{kind} {s:.1f}" for kind, s in most), flush=True)
    return table


def print_table(table: dict[str, dict[str, float]]) -> None:
    """Print a row for each board, and the sums."""
    kinds = sorted({kind for row in table.values() for kind in row})
    kinds.sort(key=lambda kind: -sum(row.get(kind, 0.0) for row in table.values()))
    print("\n| board | all | " + " | ".join(kind.replace("_", " ") for kind in kinds) + " |")
    print("|---|---:|" + "---:|" * len(kinds))
    rows = {**table, "**all boards**": {kind: sum(row.get(kind, 0.0) for row in table.values()) for kind in kinds}}
    for name, row in rows.items():
        cells = [f"{row.get(kind, 0.0):.1f}" for kind in kinds]
        print(f"| {name} | {sum(row.values()):.1f} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
