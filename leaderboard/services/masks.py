"""What restricted viewers see of a board: no scores, where names are hidden no names, or only their own systems.

Everything that a page derives from a board goes through `masked`, before it is filtered, ordered or cut into pages: an
order by name, a count or a tie would tell what the name or the score does not.
"""

import numpy as np
from django.utils.crypto import salted_hmac

from leaderboard.selectors.audience import Audience
from leaderboard.selectors.scores import BoardSystem
from leaderboard.services.columns import Column, PublishedBoard

OPEN_FACTS = ("n_systems", "n_tasks", "n_voting_tasks", "n_missing")
HIDDEN_REASON = "It has no rank under this rule."


def masked(
    published: PublishedBoard, systems: list[BoardSystem], audience: Audience, own: frozenset[int]
) -> tuple[PublishedBoard, list[BoardSystem]]:
    """A board and its systems as `audience` sees them.

    Args:
        published: the board.
        systems: of its revision, in its order.
        audience: who looks.
        own: the ids of the systems that are proven theirs.
    """
    if not audience.is_restricted:
        return published, systems
    shown = [system if audience.sees_names or system.id in own else _pseudonym(system) for system in systems]
    names = {old.name: new.name for old, new in zip(systems, shown, strict=True)}
    is_seen = np.array([audience.sees_others or system.id in own for system in systems], dtype=bool)
    seen_names = {system.name for system, seen in zip(shown, is_seen, strict=True) if seen}
    identifiers = [] if audience.sees_names and audience.sees_others else [s.key for s in systems]
    columns = [_column(column, is_seen, names, seen_names, identifiers) for column in published.columns]
    winner = names.get(published.facts.get("condorcet_winner") or "", "")
    facts = {name: published.facts[name] for name in OPEN_FACTS if name in published.facts}
    facts["condorcet_winner"] = winner if winner in seen_names else None
    if not audience.sees_others:
        n_missing = int((published.facts["n_voting_tasks"] - published.n_scored[is_seen]).sum()) if is_seen.any() else 0
        facts |= {"n_systems": int(is_seen.sum()), "n_missing": n_missing}
    # Named one by one, so that what comes to a board later is hidden until somebody says otherwise.
    return PublishedBoard(
        revision=published.revision,
        facts=facts,
        system_ids=published.system_ids,
        n_scored=published.n_scored,
        in_smith_set=published.in_smith_set & (is_seen if audience.sees_others else False),
        columns=columns,
    ), shown


def seen_systems(systems: list[BoardSystem], audience: Audience, own: frozenset[int]) -> list[BoardSystem]:
    """The systems that `audience` may know of, as they are shown to it, by the key that is shown.

    Args:
        systems: of a revision.
        audience: who looks.
        own: the ids of the systems that are proven theirs.
    """
    seen = [system for system in systems if audience.sees_others or system.id in own]
    shown = [system if audience.sees_names or system.id in own else _pseudonym(system) for system in seen]
    return sorted(shown, key=lambda system: system.key)


def hidden_text(audience: Audience) -> str:
    """What this reader does not see, as a sentence; empty where they see everything."""
    if not audience.is_restricted:
        return ""
    if not audience.sees_others:
        return "The owners show everybody their own systems only: their ranks and their scores."
    names = "" if audience.sees_names else " Until the date that the owners set, systems have no names but numbers."
    return f"The owners show ranks without scores; you see the scores of your own systems on their pages.{names}"


def _pseudonym(system: BoardSystem) -> BoardSystem:
    """The same for one system at every revision, and telling nothing of its name or when it came."""
    mark = salted_hmac("plurank.anonymous-system", str(system.id)).hexdigest()[:10]
    return BoardSystem(system.id, f"anonymous-{mark}", f"System {mark}")


def _column(
    column: Column, is_seen: np.ndarray, names: dict[str, str], seen_names: set[str], identifiers: list[str]
) -> Column:
    n = len(column.ranks)
    winners = [names.get(name, "") for name in column.winner_names]
    shown = [name for name in winners if name in seen_names]
    n_winners = column.n_winners if is_seen.all() else len(shown)

    def told(text: str) -> str:
        """A reason, unless it may name a system that is not to be named, or count systems that are not to be seen."""
        if not is_seen.all():
            return HIDDEN_REASON if text else ""
        return HIDDEN_REASON if any(identifier in text for identifier in identifiers) else text

    return Column(
        rule=column.rule,
        name=column.name,
        family=column.family,
        summary=column.summary,
        status=column.status,
        reason=told(column.reason),
        remark="",
        winner_names=shown,
        n_winners=n_winners,
        ranks=np.where(is_seen, column.ranks, -1) if n == len(is_seen) else column.ranks,
        scores=np.full(n, np.nan),
        is_winner=column.is_winner & is_seen if n == len(is_seen) else column.is_winner,
        reason_codes=column.reason_codes,
        reasons=[told(reason) for reason in column.reasons],
    )
