"""The site of the fault tests under its supervisor: `python -m tests.faults.serve PORT`."""

import sys

from django.conf import settings

from config.processes import processes
from config.supervisor import Supervisor

N_RANKINGS = 2  # one may be held up by poison or be dead


def main() -> None:
    """Run until killed. No worker for studies: their jobs only wait, and every new revision supersedes them."""
    commands = processes(sys.executable, int(sys.argv[1]), n_workers={"rankings": N_RANKINGS, "studies": 0})
    for command in commands.values():
        if "worker" in command:
            command += ["--include", "tests.faults.poison"]
    with Supervisor(commands, var=settings.VAR, folder=settings.ROOT, longest_pause=0.5) as supervisor:
        supervisor.watch()


if __name__ == "__main__":
    main()
