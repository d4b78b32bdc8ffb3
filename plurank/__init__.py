"""Ranking rules for multi-task benchmarks: every rule side by side, which systems can win, how stable ranks are.

>>> import plurank
>>> board = plurank.Board({"A": {"QA": 90, "NLI": 60}, "B": {"QA": 80, "NLI": 70}, "C": {"QA": 70, "NLI": 50}})
>>> board.rank("Borda").winners
['A', 'B']
>>> board.what_if({"QA": 2})["places"]
[0, -1, 0]

If you use a name that needs more than numpy, scipy and highspy, the error says which extra to install.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from plurank.board import Board
from plurank.names import rule_key
from plurank.version import __version__
from ranking_engine.catalogue.registry import RULES
from ranking_engine.core.score_matrix import ScoreMatrix

if TYPE_CHECKING:
    from plurank.client import Site
    from plurank.landscapes import landscape
    from plurank.readers import FORMATS, read
    from plurank.scoring import score
    from plurank.votes import VoteSet, read_votes
    from ranking_engine.evaluation.metrics import METRICS
    from ranking_engine.stability.catalogue import EXPERIMENTS as STUDIES

__all__ = [
    "FORMATS",
    "METRICS",
    "RULES",
    "STUDIES",
    "Board",
    "ScoreMatrix",
    "Site",
    "VoteSet",
    "__version__",
    "landscape",
    "read",
    "read_votes",
    "rule_key",
    "score",
]

# Loaded when they are asked for: studies take a quarter of a second.
_LATER = {
    "FORMATS": ("plurank.readers", "FORMATS"),
    "METRICS": ("ranking_engine.evaluation.metrics", "METRICS"),
    "landscape": ("plurank.landscapes", "landscape"),
    "Site": ("plurank.client", "Site"),
    "STUDIES": ("ranking_engine.stability.catalogue", "EXPERIMENTS"),
    "read": ("plurank.readers", "read"),
    "score": ("plurank.scoring", "score"),
    "read_votes": ("plurank.votes", "read_votes"),
    "VoteSet": ("plurank.votes", "VoteSet"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- whatever is asked for
    if name not in _LATER:
        raise AttributeError(f"module 'plurank' has no attribute {name!r}")
    module, attribute = _LATER[name]
    return getattr(importlib.import_module(module), attribute)
