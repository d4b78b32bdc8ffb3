"""Content of answers about prospects: fractions as text, exactly as they were verified."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ranking_engine.prospects import Change, Nearest, Prospect


def entry(found: Prospect, names: Mapping[str, str], conditions: tuple[str, ...] = ()) -> dict[str, Any]:
    """One system's prospect.

    Args:
        found: by the engine, which knows systems and tasks by their keys.
        names: of the systems, by key.
        conditions: under which it was found, as text.
    """
    return {
        "system": found.system,
        "name": names[found.system],
        "verdict": found.verdict,
        "prospective": found.is_prospective,
        "weights": _texts(found.weights),
        "margin": found.margin,
        "certificate": _texts(found.certificate),
        "condition_shares": {conditions[place]: str(share) for place, share in found.condition_shares.items()},
        "nearest": {origin: _nearest(nearest) for origin, nearest in found.nearest.items()},
        "share": found.share,
        "share_error": found.share_error,
        "share_bound": found.share_bound,
        "share_lower": found.share_lower,
        "share_upper": found.share_upper,
        "needed_tasks": list(found.needed_tasks),
        "objective": None if found.objective is None else str(found.objective),
        "n_incomparable": found.n_incomparable,
        "reason": found.reason,
    }


def _texts(fractions: Mapping[str, Fraction]) -> dict[str, str]:
    return {key: str(fraction) for key, fraction in fractions.items()}


def _nearest(found: Nearest) -> dict[str, Any]:
    return {"total_change": _change(found.total_change), "largest_change": _change(found.largest_change)}


def _change(found: Change) -> dict[str, Any]:
    return {"weights": _texts(found.weights), "change": found.change}
