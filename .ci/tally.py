"""Adds up the JUnit files of all test stages.

python .ci/tally.py count FOLDER STATUS    prints "N passed, N failed"
python .ci/tally.py never-ran FOLDER       fails, naming them, if tests were skipped in every stage
"""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path


def outcomes(folder: Path) -> list[tuple[str, str]]:
    """Every test of every stage, with `passed`, `failed` or the reason why it was skipped."""
    found = []
    for file in sorted(folder.glob("*.xml")):
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
    else:
        sys.exit(min(never_ran(results_folder), 1))
