"""Recompute the papers' tables and write docs/papers.md.

    python -m benchmarks.papers                        all sections; those that were computed before are read back
    python -m benchmarks.papers --section rofin-glue   that section alone, as text
    python -m benchmarks.papers --list                 the sections
    python -m benchmarks.papers --force                compute all anew
"""

from __future__ import annotations

import argparse
import os
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from benchmarks.papers import store  # noqa: E402 -- after the number of threads is set
from benchmarks.papers.boards import REPOSITORY, NoDataError  # noqa: E402
from benchmarks.papers.catalogue import PAPERS, head, sections  # noqa: E402
from benchmarks.papers.render import document, section_text  # noqa: E402
from benchmarks.papers.tables import Section  # noqa: E402
from ranking_engine.command_line.progress import ProgressBar  # noqa: E402

PAGE = REPOSITORY / "docs" / "papers.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__.splitlines()[0])
    parser.add_argument("--section", metavar="KEY", choices=[s.key for s in sections()], help="show this one alone")
    parser.add_argument("--list", action="store_true", help="name the sections")
    parser.add_argument("--force", action="store_true", help="compute anew what was computed before")
    given = parser.parse_args()
    if given.list:
        print("\n".join(f"{section.key:24} {section.title}" for section in sections()))
        return 0
    if given.section:
        print(text_of(next(s for s in sections() if s.key == given.section), is_forced=given.force))
        return 0
    texts = {}
    for number, section in enumerate(sections()):
        started = time.monotonic()
        texts[section.key] = text_of(section, is_forced=given.force, place=f"{number + 1}/{len(sections())} ")
        print(f"{section.key}: {time.monotonic() - started:.1f} s", file=sys.stderr)
    PAGE.write_text(document(head(), PAPERS, texts), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(REPOSITORY)}", file=sys.stderr)
    return 0


def text_of(section: Section, *, is_forced: bool, place: str = "") -> str:
    """Return a section as Markdown, computed or read back."""
    try:
        key = store.key_of(section)
    except NoDataError as error:
        return section_text(section, None, str(error.args[0]).partition(" in ")[0] + " in PLURANK_REFERENCE_DATA")
    result = None if is_forced else store.load(section, key)
    if result is None:
        with ProgressBar(f"{place}{section.key}") as progress:
            result = section.compute(progress)
        store.save(section, key, result)
    return section_text(section, result)


if __name__ == "__main__":
    sys.exit(main())
