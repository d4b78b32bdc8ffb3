"""Is the release the same everywhere? `python -m config.installation.versions v0.1.0` before a tag becomes one.

The version of the figures, `ranking_engine.__version__`, is another: it moves when a figure does.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Where the version of a release is written, and how.
PLACES = {
    "plurank/version.py": r'^__version__ = "([^"]+)"$',
    "config/settings/base.py": r'^PLURANK_VERSION = "([^"]+)"$',
    "CITATION.cff": r"^version: (\S+)$",
    "docker-compose.yml": r"^  image: plurank:\$\{PLURANK_IMAGE_TAG:-([^}]+)\}$",
    "CHANGELOG.md": r"^## (\S+)",
}


def versions(root: Path = ROOT) -> dict[str, str]:
    """The version that each file states, by its path; empty where it states none."""
    by_path = {}
    for path, pattern in PLACES.items():
        match = re.search(pattern, (root / path).read_text(encoding="utf-8"), re.MULTILINE)
        by_path[path] = match[1] if match else ""
    return by_path


def main(tag: str) -> int:
    """Name the files whose version is not that of the tag; the exit status."""
    wrong = {path: version for path, version in versions().items() if f"v{version}" != tag}
    for path, version in wrong.items():
        print(f"{path} says {version or 'nothing'}; the tag is {tag}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
