"""Runs a program that reads a file from anyone in a process of its own, with bounds on memory and time.

It is run by its path, as `limited_process.py SECONDS MEMORY PROGRAM ARGUMENTS`. Like the programs it imports nothing of
this package, so that it starts quickly.
"""

import os
import runpy
import sys
from pathlib import Path

MEMORY = 2_000_000_000  # bytes of addresses


def limited_command(program: Path, seconds: int, *arguments: str, memory: int = MEMORY) -> list[str]:
    """Return the command that runs a program with these bounds.

    Args:
        program: its path.
        seconds: of the processor that it may take.
        arguments: of the program.
        memory: bytes of addresses that it may take, with those of Python and its libraries.
    """
    return [sys.executable, "-I", __file__, str(seconds), str(memory), str(program), *arguments]


def main() -> None:
    """Bound what this process can take, where the system can, and run the program."""
    _, seconds, memory, *sys.argv = sys.argv
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy takes addresses for every processor otherwise
    try:
        import resource  # noqa: PLC0415 -- not on Windows
    except ImportError:
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
