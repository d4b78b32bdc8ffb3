"""What a draft would change, in one sentence."""

from collections.abc import Sequence
from typing import Protocol


class Effect(Protocol):
    """What a draft would change under one rule, as far as the first place goes."""

    @property
    def winner_before(self) -> str:
        """Who is first now; empty where no one is."""

    @property
    def winner_after(self) -> str:
        """Who would be first."""


def winners_sentence(effects: Sequence[Effect]) -> str:
    """Under how many rules someone else would be first; empty where no rule ranks."""
    if not effects:
        return ""
    n_changed = sum(effect.winner_before != effect.winner_after for effect in effects)
    if not n_changed:
        return f"The first place would not change under any of the {len(effects)} rules."
    return f"The first place would change under {n_changed} of {len(effects)} rules."


def ranks_sentence(name: str, ranks: Sequence[int | None], n_leaving_out: int = 0) -> str:
    """Where a system would be over the rules.

    Args:
        name: the system's.
        ranks: one entry a rule, None where it is unranked.
        n_leaving_out: rules that would rank others and not this one.
    """
    known = [rank for rank in ranks if rank]
    if not known:
        return f"No rule would rank {name}."
    best, worst = min(known), max(known)
    span = f"rank {best}" if best == worst else f"rank {best} to {worst}"
    first = known.count(1)
    firsts = f", first under {first} of {len(ranks)}" if first else ""
    if not n_leaving_out:
        return f"{name} would have {span} over the rules{firsts}."
    left = "1 rule" if n_leaving_out == 1 else f"{n_leaving_out} rules"
    return f"{name} would have {span} over {len(known)} rules{firsts}, and {left} would leave it unranked."
