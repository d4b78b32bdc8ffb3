"""Random faults under a running site; exit status 1 where a promise broke: `python -m tests.faults --schedules 200`.

A wave of schedules runs at once on one site, each with a benchmark of its own, so that they disturb each other; then
the board of each must be published and right. The same seed draws the same faults, scores and moments; what meets what
is the machine's. `--experiment NAME` lets one long fault strike alone.
"""

import argparse
import os
import sys
import time

from tests.faults.machine import ATTEMPTS, BOARD_SECONDS, LEASE_SECONDS, Machine
from tests.faults.services import EXPERIMENTS, MACHINES, experiments_on, machine_for

SECONDS, SHORT_SECONDS = 15.0, 4.0


def main() -> int:
    """Run the schedules; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--stack", choices=sorted(MACHINES), default="postgresql", help="what the site runs on")
    parser.add_argument("--schedules", type=int, default=20, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="of the first; the next has the next")
    parser.add_argument("--at-once", type=int, default=6, help="how many a wave")
    parser.add_argument("--short", action="store_true", help="leave out faults that take long to recover from")
    parser.add_argument("--fault", help="let this one strike in every schedule, in place of those that are drawn")
    parser.add_argument("--experiment", help="run this single experiment instead, or `all` of the stack")
    chosen = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if chosen.experiment not in {None, "all", *EXPERIMENTS}:
        parser.error(f"--experiment: none of all, {', '.join(EXPERIMENTS)}")
    names = experiments_on(chosen.stack) if chosen.experiment == "all" else [chosen.experiment]
    machine = machine_for(names[0]) if chosen.experiment else MACHINES[chosen.stack]()
    began = time.monotonic()
    with machine:
        import django

        import config.celery  # noqa: F401 -- wake-ups are sent through this application

        django.setup()
        from django.conf import settings

        chosen_values = (settings.JOB_ATTEMPTS, settings.JOB_LEASE_SECONDS, settings.BOARD_SECONDS)
        if chosen_values != (ATTEMPTS, LEASE_SECONDS, BOARD_SECONDS):
            sys.exit("PLURANK_JOB_ATTEMPTS, PLURANK_LEASE_SECONDS, PLURANK_BOARD_SECONDS: unset them")
        print(f"The site answers after {time.monotonic() - began:.0f} s.", flush=True)
        try:
            if chosen.experiment:
                run_experiments(names, machine, began)
            else:
                run_schedules(chosen, machine, began)
        except AssertionError as error:
            print(f"BROKEN: {error}", flush=True)
            return 1
    return 0


def run_experiments(names: list[str], machine: Machine, began: float) -> None:
    """Run one after the other on the same machine, and print the table of each."""
    from tests.faults.experiments import run_experiment

    for name in names:
        table = run_experiment(name, machine)
        print("\n".join([f"--- {name}", *table.lines(), f"{time.monotonic() - began:.0f} s so far."]), flush=True)


def run_schedules(chosen: argparse.Namespace, machine: Machine, began: float) -> None:
    """Run them in waves, and print their table."""
    from tests.faults.faults import BY_NAME, lose_redis_for_a_minute
    from tests.faults.schedules import prepare, steady
    from tests.faults.waves import Table, run_wave

    table, seconds = Table(), SHORT_SECONDS if chosen.short else SECONDS

    def faults_of(seed: int) -> list | None:
        """Those that are asked for; in long runs now and then the one that takes a minute; None: to be drawn."""
        if chosen.fault:
            return [BY_NAME[chosen.fault]]
        is_long = machine.stack != "sqlite" and chosen.schedules >= 100 and seed % 100 == 0
        return [lose_redis_for_a_minute] if is_long else None

    def prepared(seed: int):
        return steady(lambda: prepare(seed, machine.stack, faults_of(seed), seconds=seconds, is_short=chosen.short))

    seeds = list(range(chosen.seed, chosen.seed + chosen.schedules))
    for first in range(0, len(seeds), chosen.at_once):
        wave = [prepared(seed) for seed in seeds[first : first + chosen.at_once]]
        run_wave(wave, machine, table)
        # The whole table each time: a long run may be ended at any moment.
        print("\n".join([*table.lines(), f"{time.monotonic() - began:.0f} s so far."]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
