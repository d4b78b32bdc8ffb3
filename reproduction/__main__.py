"""Recompute the papers' tables and write docs/papers.md, its figures, and what the site's page shows.

python -m reproduction                        all sections; those that were computed before are read back
python -m reproduction --section rofin-glue   that section alone, as text
python -m reproduction --list                 the sections
python -m reproduction --force                forget what was computed before, then compute it
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from ranking_engine.command_line.progress import ProgressBar  # noqa: E402
from reproduction import figures, store  # noqa: E402 -- after the number of threads is set
from reproduction.boards import REPOSITORY, NoDataError  # noqa: E402
from reproduction.catalogue import PAPERS, head, sections  # noqa: E402
from reproduction.render import as_json, document, section_text  # noqa: E402
from reproduction.tables import Result, Section  # noqa: E402
from reproduction.zhang import scale_ends  # noqa: E402

PAGE = REPOSITORY / "docs" / "papers.md"
SITE = REPOSITORY / "leaderboard" / "papers" / "results.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__.splitlines()[0])
    parser.add_argument("--section", metavar="KEY", choices=[s.key for s in sections()], help="show this one alone")
    parser.add_argument("--list", action="store_true", help="name the sections")
    parser.add_argument("--force", action="store_true", help="compute again what was computed before")
    given = parser.parse_args()
    if given.list:
        print("\n".join(f"{section.key:24} {section.title}" for section in sections()))
        return 0
    if given.force:
        store.forget_all()
    if given.section:
        section = next(s for s in sections() if s.key == given.section)
        print(section_text(section, *result_of(section)))
        return 0
    results, missing = all_results()
    write(results, missing)
    print(f"in all {time.process_time() / 60:.1f} minutes of one core", file=sys.stderr)
    return 0


def all_results() -> tuple[dict[str, Result], dict[str, str]]:
    """Return the result of every section whose data are here, and why the others have none."""
    results: dict[str, Result] = {}
    missing: dict[str, str] = {}
    for number, section in enumerate(sections()):
        started = time.monotonic()
        result, reason = result_of(section, place=f"{number + 1}/{len(sections())} ")
        if result is None:
            missing[section.key] = reason
        else:
            results[section.key] = result
        print(f"{section.key}: {time.monotonic() - started:.1f} s", file=sys.stderr)
    return results, missing


def write(results: dict[str, Result], missing: dict[str, str]) -> None:
    """Write the page, its figures, and what the site reads; the last two only where nothing is missing."""
    PAGE.write_text(document(head(), PAPERS, results, missing), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(REPOSITORY)}", file=sys.stderr)
    if missing:
        return
    n = figures.write(figure for result in results.values() for figure in (*result.plots, *result.planes))
    SITE.write_text(json.dumps(as_json(PAPERS, results), indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {n} figures and {SITE.relative_to(REPOSITORY)}", file=sys.stderr)
    scale_ends.write()


def result_of(section: Section, *, place: str = "") -> tuple[Result | None, str]:
    """Return a section's result, computed or read back; without its data None, and which are missing."""
    try:
        key = store.key_of(section)
    except NoDataError as error:
        return None, str(error.args[0]).partition(" in ")[0] + " in PLURANK_REFERENCE_DATA"
    result = store.load(section, key)
    if result is None:
        with ProgressBar(f"{place}{section.key}") as progress:
            result = section.compute(progress)
        store.save(section, key, result)
    return result, ""


if __name__ == "__main__":
    sys.exit(main())
