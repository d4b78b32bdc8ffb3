"""`make audit`: is what is installed what the lock says, and are there known holes in it?

Status 0: nothing was found. 1: something was. 3: the database of known holes was out of reach, so that only the first
question is answered.
"""

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

LOCK = Path(__file__).resolve().parents[2] / "requirements.lock"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)(.*)$", re.MULTILINE)
FOUND, UNKNOWN = 1, 3


def pins(lock: str) -> dict[str, str]:
    """The version of every package of a lock file, by its name in small letters."""
    return {name.lower().replace("_", "-"): version for name, version, _ in _PIN.findall(lock)}


def differences(pinned: dict[str, str]) -> list[str]:
    """Packages that are installed in another version than the lock's, one sentence each."""
    installed = {
        package.metadata["Name"].lower().replace("_", "-"): package.version for package in metadata.distributions()
    }
    return [
        f"{name} is installed as {installed[name]}; the lock says {version}"
        for name, version in sorted(pinned.items())
        if name in installed and installed[name] != version
    ]


def main() -> int:
    """Say what was found; the exit status."""
    pinned = pins(LOCK.read_text())
    wrong = differences(pinned)
    for line in wrong:
        print(line)
    print(f"{len(pinned)} pinned packages; {len(wrong)} of them installed in another version.", flush=True)
    known = _ask_for_known_holes()
    return FOUND if wrong else known


def _ask_for_known_holes() -> int:
    """Ask pip-audit, which is fetched for this, about every pin of the lock."""
    options = ["--disable-pip", "--require-hashes", "--progress-spinner", "off", "--requirement", str(LOCK)]
    try:
        audit = subprocess.run(  # noqa: S603 -- our own tools
            [sys.executable, "-m", "uv", "tool", "run", "pip-audit", *options],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return _unknown(str(error))
    if audit.returncode == 0:
        print("No known holes in any of them.")
        return 0
    if not re.search(r"Found \d+ known vulnerabilit", audit.stdout + audit.stderr):
        return _unknown(audit.stderr)
    print(audit.stdout + audit.stderr)
    return FOUND


def _unknown(reason: str) -> int:
    last = (reason.strip().splitlines() or ["no reason was given"])[-1]
    print(f"NOT CHECKED for known holes: the database could not be asked ({last[:300]}).")
    return UNKNOWN


if __name__ == "__main__":
    sys.exit(main())
