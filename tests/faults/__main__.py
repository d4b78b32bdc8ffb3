"""Random faults under a running site; exit status 1 where a promise broke: `python -m tests.faults --schedules 200`.

A wave of schedules runs at once on one site, each with a benchmark of its own, so that they disturb each other; then
the board of each must be published and right. The same seed draws the same faults, scores and moments; what meets what
is the machine's.
"""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.faults.machine import Machine


def main() -> int:
    """Run the schedules; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--schedules", type=int, default=20, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="of the first; the next has the next")
    parser.add_argument("--at-once", type=int, default=10, help="how many a wave")
    parser.add_argument("--fault", help="let this one strike in every schedule, in place of those that are drawn")
    chosen = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    began, struck, n_tried_again = time.monotonic(), Counter(), 0
    with Machine() as machine:
        import django

        import config.celery  # noqa: F401 -- wake-ups are sent through this application

        django.setup()
        print(f"The site answers after {time.monotonic() - began:.0f} s.", flush=True)
        from tests.faults.faults import BY_NAME, lose_redis_for_a_minute
        from tests.faults.schedules import check, prepare, run, steady

        def faults_of(seed: int) -> list | None:
            """Those that are asked for; in long runs now and then the one that takes a minute; None: to be drawn."""
            if chosen.fault:
                return [BY_NAME[chosen.fault]]
            return [lose_redis_for_a_minute] if chosen.schedules >= 100 and seed % 100 == 0 else None

        seeds = list(range(chosen.seed, chosen.seed + chosen.schedules))
        for first in range(0, len(seeds), chosen.at_once):
            wave = [prepare(seed, faults_of(seed)) for seed in seeds[first : first + chosen.at_once]]
            with ThreadPoolExecutor(len(wave)) as pool:
                list(pool.map(lambda schedule: run(schedule, machine), wave))
            machine.wait_until(machine.answers, 120, "the web server answers again")
            for schedule in wave:
                try:
                    steady(lambda one=schedule: check(one, machine))
                except AssertionError as error:
                    print(f"BROKEN: {schedule.told}\n{error}", flush=True)
                    return 1
                struck.update(fault.__name__ for fault in schedule.faults)
                n_tried_again += schedule.n_tried_again
            print(f"{first + len(wave)} schedules held after {time.monotonic() - began:.0f} s", flush=True)
    told = ", ".join(f"{name} {n}" for name, n in sorted(struck.items()))
    print(f"{chosen.schedules} schedules held; {n_tried_again} calls were tried again. Struck: {told}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
