"""Adds up the JUnit files of all test stages.

python .ci/tally.py count FOLDER STATUS    prints "N passed, N failed"
python .ci/tally.py never-ran FOLDER       fails, naming them, if tests were skipped in every stage
python .ci/tally.py once-more FILE         names the failed tests of a stage that deserve a second attempt, or fails
"""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

# Up to so many failed tests of a stage have a second attempt, in a process of their own, and are named in the output.
MAX_SECOND_ATTEMPTS = 6


def outcomes(folder: Path) -> list[tuple[str, str]]:
    """Every test of every stage, with `passed`, `failed` or the reason why it was skipped.

    A second attempt (`STAGE again.xml`) stands for the first.
    """
    found = []
    for file in sorted(folder.glob("*.xml")):
        again = {name for name, _ in read(folder / f"{file.stem} again.xml")}
        found += [(name, result) for name, result in read(file) if name not in again]
    return found


def read(file: Path) -> list[tuple[str, str]]:
    """What one run of tests wrote; nothing if there was none."""
    found: list[tuple[str, str]] = []
    if file.exists():
        for case in ET.parse(file).iter("testcase"):  # noqa: S314 -- pytest wrote it just now
            name = f"{case.get('classname')}::{case.get('name')}"
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                found.append((name, "failed"))
            elif skipped is not None and skipped.get("type") != "pytest.xfail":
                found.append((name, f"skipped: {skipped.get('message')}"))
            else:
                found.append((name, "passed"))
    return found


def count(folder: Path, status: int) -> None:
    """Print the sums; a run that failed outside of any test counts as one failure."""
    results = [result for _, result in outcomes(folder)]
    n_failed = results.count("failed")
    if status and not n_failed:
        n_failed = 1
    print(f"{results.count('passed')} passed, {n_failed} failed")


def once_more(file: Path) -> int:
    """Print, a line each, the failed tests if they are few; return 1 otherwise."""
    failed = [name for name, result in read(file) if result == "failed"]
    if not 0 < len(failed) <= MAX_SECOND_ATTEMPTS:
        return 1
    for name in failed:
        module, test = name.split("::", 1)
        print(f"{module.replace('.', '/')}.py::{test}")
    return 0


def never_ran(folder: Path) -> int:
    """Print the tests that no stage ran, and return how many there are."""
    found = outcomes(folder)
    ran = {name for name, result in found if not result.startswith("skipped")}
    skipped = {name: result for name, result in found if name not in ran}
    for name, result in sorted(skipped.items()):
        print(f"{name} {result}")
    return len(skipped)


if __name__ == "__main__":
    command, results_folder = sys.argv[1], Path(sys.argv[2])
    if command == "count":
        count(results_folder, int(sys.argv[3]))
    elif command == "once-more":
        sys.exit(once_more(results_folder))
    else:
        sys.exit(min(never_ran(results_folder), 1))
