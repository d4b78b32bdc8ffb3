"""Simulate boards whose truth is known, and write how often our figures are right into docs/calibration.md.

python -m performance.calibration                     all tables, with 400 boards of most kinds: about half an hour
python -m performance.calibration --boards 50         fewer boards: a look in some minutes
python -m performance.calibration --table strengths   that table alone; repeatable
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from performance.calibration.tables import TABLES, Rates, table_rows  # noqa: E402 -- after the number of threads is set

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "calibration.md"


def main() -> int:
    """Compute the tables asked for, and put them in place of those on the page."""
    parser = argparse.ArgumentParser(prog="python -m performance.calibration", description=__doc__.splitlines()[0])
    parser.add_argument("--boards", metavar="N", type=int, default=400, help="of most kinds (default: 400)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--processes", metavar="N", type=int, default=2, help="at once (default: 2)")
    parser.add_argument(
        "--table", metavar="KEY", action="append", choices=[table.key for table in TABLES], help="this one; repeatable"
    )
    parser.add_argument("--print", action="store_true", help="print the tables and leave the page as it is")
    given = parser.parse_args()
    started, known = time.monotonic(), dict[str, Rates]()

    def report(line: str) -> None:
        print(f"{time.monotonic() - started:7.0f} s  {line}", file=sys.stderr, flush=True)

    for table in TABLES:
        if given.table and table.key not in given.table:
            continue
        lines = table_rows(table, given.boards, given.seed, given.processes, known, report)
        if given.print:
            print(f"\n{table.heading}\n", *lines, sep="\n")
        else:
            PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table.heading, lines), encoding="utf-8")
    return 0


def with_table(page: str, heading: str, lines: list[str]) -> str:
    """Return the page with the first table below a heading replaced.

    Raises:
        ValueError: there is no such heading with a table.
    """
    pattern = re.compile(rf"(^## {re.escape(heading)}\n(?:(?!## ).*\n)*?)((?:^\|.*\n)+)", re.MULTILINE)
    changed, n_changed = pattern.subn(lambda place: place[1] + "\n".join(lines) + "\n", page, count=1)
    if not n_changed:
        raise ValueError(f"docs/calibration.md has no table under the heading {heading!r}")
    return changed


if __name__ == "__main__":
    sys.exit(main())
