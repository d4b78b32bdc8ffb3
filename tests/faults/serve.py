"""A host of the fault tests under its supervisor: `python -m tests.faults.serve PORT VERSION ROLE...`.

A version other than "" runs all of its processes as an engine of that version.
"""

import sys

from django.conf import settings

from config.processes.commands import processes
from config.processes.supervisor import Supervisor

N_RANKINGS = 2


def command_of(role: str, port: int, version: str) -> list[str]:
    """The command line of a role, as `config.processes.commands` has it, with what the fault tests bring along."""
    commands = processes(sys.executable, port, n_workers={"rankings": N_RANKINGS, "studies": 1})
    command = commands[role]
    if "worker" in command:
        command += ["--include", "tests.faults.poison"]
    if role == "sweep" and not version:
        command[1:2] = ["-m", "tests.faults.counted"]
    if version:
        command[1:1] = ["-m", "tests.faults.versioned", version]
    return command


def main() -> None:
    """Run until killed. No worker for studies: their jobs only wait, and every new revision supersedes them."""
    port, version, *roles = sys.argv[1:]
    commands = {role: command_of(role, int(port), version) for role in roles}
    with Supervisor(commands, var=settings.VAR, folder=settings.ROOT, longest_pause=0.5) as supervisor:
        supervisor.watch()


if __name__ == "__main__":
    main()
