"""A site with one benchmark, in the migrated database of the settings; a process of its own.

python -m tests.leaderboard.submissions.following.one_board KEY SYSTEM SCORE...   prints the token of its owner
"""

import os
import sys

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()

from leaderboard.accounts.tokens import create_token
from tests.factories import Factory, owner_of


def make(key: str, name: str, scores: list[float]) -> str:
    """Make the benchmark with one system; the secret of a token of its owner."""
    benchmark = Factory().benchmark({name: scores}, name=key)
    return create_token(owner_of(benchmark), name="script", scopes=["read", "manage"], days=30)[1]


if __name__ == "__main__":
    print(make(sys.argv[1], sys.argv[2], [float(text) for text in sys.argv[3:]]))
