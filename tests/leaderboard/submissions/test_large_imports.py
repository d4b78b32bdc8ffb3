"""How many large imports a process reads at once."""

import pytest

from leaderboard.submissions.importing import turns
from leaderboard.submissions.imports import read_import
from ranking_engine.files.problems import InputError


def test_large_imports_are_read_one_at_a_time(monkeypatch):
    large = [("scores.csv", b"model,Task 1\n" + b"x" * 1_000_000)]
    monkeypatch.setattr(turns, "PATIENCE_SECONDS", 0.01)
    with turns.one_large:
        with pytest.raises(InputError, match="the site is busy importing other large files"):
            read_import(large)
        assert len(read_import([("scores.csv", b"model,Task 1\nE,1\n")]).cells) == 1
    for _ in range(2):  # also after one that is refused
        with pytest.raises(InputError, match=r"scores\.csv, line 2"):
            read_import(large)
