"""What restricted viewers see of a board: no scores, where names are hidden no names, or only their own systems.

Everything that a page derives from a board goes through `redacted`, before it is filtered, ordered or cut into pages:
an order by name, a count or a tie would tell what the name or the score does not.
"""

from dataclasses import replace

import numpy as np
from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext

from leaderboard.access.audience import Audience
from leaderboard.common.text import depends_on_names
from leaderboard.rankings.compute import WINNER_NAMES
from leaderboard.rankings.published import Column, PublishedBoard
from leaderboard.rankings.reports import FAILED
from leaderboard.rankings.scores import BoardSystem
from ranking_engine.catalogue.registry import get_rule

OPEN_FACTS = ("n_systems", "n_tasks", "n_voting_tasks", "n_missing")
HIDDEN_REASON = "It has no rank under this rule."
BY_HIDDEN_NAMES = "Systems that are tied under this rule are in the order of their names, which are hidden."


def redacted(
    published: PublishedBoard, systems: list[BoardSystem], audience: Audience
) -> tuple[PublishedBoard, list[BoardSystem]]:
    """A board and its systems as `audience` sees them.

    Where names are hidden both are in the order of the keys that are shown, and so are winners: the stored order is
    that of the real keys, and an order by name tells something of the names.

    Args:
        published: the board.
        systems: of its revision, in its order.
        audience: who looks.

    Returns:
        The board, and its systems in its order.
    """
    if not audience.is_restricted:
        return published, systems
    if not published.system_ids.size:  # without a task there are no rows, whatever systems there are
        systems = []
    own = audience.proven_system_ids
    named = [system if audience.sees_names or system.id in own else _pseudonym(system) for system in systems]
    names = {old.name: new.name for old, new in zip(systems, named, strict=True)}
    is_seen = np.array([audience.sees_others or system.id in own for system in systems], dtype=bool)
    seen_names = {system.name for system, seen in zip(named, is_seen, strict=True) if seen}
    order = np.arange(len(named))
    if not audience.sees_names:
        order = np.array(sorted(order.tolist(), key=lambda i: named[i].key), dtype=np.intp)
    names_all = audience.sees_names and audience.sees_others
    columns = [
        _column(column, is_seen, names, seen_names, names_all=names_all, order=order) for column in published.columns
    ]
    winner = names.get(published.facts.get("condorcet_winner") or "", "")
    facts = {name: published.facts[name] for name in OPEN_FACTS if name in published.facts}
    facts["condorcet_winner"] = winner if winner in seen_names else None
    if not audience.sees_others:
        n_tasks = published.facts.get("n_voting_tasks", 0)
        n_missing = int((n_tasks - published.n_scored[is_seen]).sum()) if is_seen.any() else 0
        facts |= {"n_systems": int(is_seen.sum()), "n_missing": n_missing}
    # Named one by one, so that what comes to a board later is hidden until someone says otherwise.
    return PublishedBoard(
        revision=published.revision,
        facts=facts,
        system_ids=published.system_ids[order],
        n_scored=published.n_scored[order],
        in_smith_set=(published.in_smith_set & (is_seen if audience.sees_others else False))[order],
        columns=columns,
        aggregation=published.aggregation,
    ), [named[i] for i in order.tolist()]


def seen_systems(systems: list[BoardSystem], audience: Audience) -> list[BoardSystem]:
    """The systems that `audience` may know of, as they are shown to it, by the key that is shown.

    Args:
        systems: of a revision.
        audience: who looks.
    """
    own = audience.proven_system_ids if audience.is_restricted else frozenset[int]()
    seen = [system for system in systems if audience.sees_others or system.id in own]
    named = [system if audience.sees_names or system.id in own else _pseudonym(system) for system in seen]
    return sorted(named, key=lambda system: system.key)


def hidden_text(audience: Audience) -> str:
    """What this reader does not see, as a sentence; empty where they see everything."""
    if not audience.is_restricted:
        return ""
    if not audience.sees_others:
        return gettext("The owners show you only your own systems, with their ranks and scores.")
    if audience.sees_names:
        return gettext("The owners show ranks without scores; you see the scores of your own systems on their pages.")
    return gettext(
        "The owners show ranks without scores; you see the scores of your own systems on their pages. The owners hide "
        "system names until a set date; systems are shown as numbers."
    )


def _pseudonym(system: BoardSystem) -> BoardSystem:
    """The same for one system at every revision, and telling nothing of its name or when it came."""
    mark = salted_hmac("plurank.anonymous-system", str(system.id), secret=settings.LASTING_KEY).hexdigest()[:10]
    return BoardSystem(system.id, f"anonymous-{mark}", f"System {mark}")


def _column(
    column: Column,
    is_seen: np.ndarray,
    names: dict[str, str],
    seen_names: set[str],
    *,
    names_all: bool,
    order: np.ndarray,
) -> Column:
    """What of a column may be seen.

    Args:
        column: of the whole board.
        is_seen: of each system whether the reader may know of it.
        names: the shown name by the real one, in the order of the systems.
        seen_names: the shown names of the systems that may be known of.
        names_all: whether every system is seen under its own name.
        order: the systems as they are shown, by their places in the column.
    """
    n = len(column.ranks)
    if not names_all and column.is_ranked and depends_on_names(column.rule, column.remark):
        unranked, nothing = np.full(n, -1, column.ranks.dtype), np.full(n, np.nan)
        return replace(
            column, status="undefined", reason=BY_HIDDEN_NAMES, remark="", winner_names=[], n_winners=0, ranks=unranked,
            scores=nothing, is_winner=np.zeros(n, bool), reason_codes=unranked, reasons=[], lower=None, upper=None,
            simultaneous_lower=None, simultaneous_upper=None, possibly_best=None, measured_lower=None,
            measured_upper=None,
        )  # fmt: skip
    winners = [names.get(name, "") for name in column.winner_names]
    if len(winners) < column.n_winners and not names_all:  # which of very many are named follows the real keys
        winners = [name for name, is_winner in zip(names.values(), column.is_winner.tolist(), strict=True) if is_winner]
    winner_names = [name for name in winners if name in seen_names]
    winner_names = winner_names if names_all else sorted(winner_names)[:WINNER_NAMES]
    n_winners = column.n_winners if is_seen.all() else len(winner_names)

    def redacted_text(text: str) -> str:
        """A reason, unless it may name a system that is not to be named, or count systems that are not to be seen."""
        is_naming = not names_all and (get_rule(column.rule).names_systems or column.status == FAILED)
        return HIDDEN_REASON if text and (is_naming or not is_seen.all()) else text

    def ordered(values: np.ndarray) -> np.ndarray:
        """Of each system as it is shown; columns that are not there yet have none."""
        return values[order] if len(values) == len(order) else values

    return Column(
        rule=column.rule,
        name=column.name,
        family=column.family,
        summary=column.summary,
        status=column.status,
        reason=redacted_text(column.reason),
        remark="",
        winner_names=winner_names,
        n_winners=n_winners,
        ranks=ordered(np.where(is_seen, column.ranks, -1) if n == len(is_seen) else column.ranks),
        scores=np.full(n, np.nan),
        is_winner=ordered(column.is_winner & is_seen if n == len(is_seen) else column.is_winner),
        reason_codes=ordered(column.reason_codes),
        reasons=[redacted_text(reason) for reason in column.reasons],
        n_predicted=None if column.n_predicted is None else ordered(np.where(is_seen, column.n_predicted, 0)),
        prediction=column.prediction if is_seen.all() else "",
        n_apart=column.n_apart if is_seen.all() else 0,
    )
