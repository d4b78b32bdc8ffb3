"""Choice sets of a published board, the shares of its maximal lottery, and the cycles of who beats whom."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.common.charts.cycle_graph import MAX_SYSTEMS as MAX_DRAWN, CycleGraph, cycle_graph
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, percent
from leaderboard.computing.choice_sets import choice_sets_of
from leaderboard.models import Revision
from leaderboard.on_demand.budget import TooLargeError, compute, n_comparisons, refuse_beyond_budget, single_flight
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.margins import inputs_of, weighed
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.scores import BoardSystem, systems_at

SETS = {
    "smith_set": gettext_noop("Smith set"),
    "schwartz_set": gettext_noop("Schwartz set"),
    "uncovered_set": gettext_noop("Uncovered set"),
    "essential_set": gettext_noop("Essential set"),
}
MAX_SYSTEMS = 300  # beyond, cubic time and a lottery of many systems would hold the page up


@dataclass(frozen=True)
class ChoiceSets:
    """What the majority relation of a board says of its systems, which are indices in the revision's order.

    Attributes:
        members: by each of SETS its systems; None where the set is not known.
        lottery: the shares of the maximal lottery, as fractions; of its members only.
        is_only_lottery: whether there is no other maximal lottery; None where it is not known.
        cycles: a shortest cycle for every system on one, at most some; each system beats the next.
        leads: for each cycle the margins of these victories, as shares of the weight of all tasks.
        n_cycles: how many there are in all.
        ratings: copy-proof ratings of all systems; NaN for those without a score on some voting task.
        task_shares: the mixture of tasks behind them, of all tasks.
        not_rated: why there are none; otherwise empty.
    """

    members: dict[str, tuple[int, ...] | None]
    lottery: dict[int, str]
    is_only_lottery: bool | None
    cycles: tuple[tuple[int, ...], ...]
    leads: list[list[float]]
    n_cycles: int
    ratings: list[float]
    task_shares: list[float]
    not_rated: str

    def of(self, i: int) -> dict[str, bool | None]:
        """Whether a system is in each of SETS; None where that is not known."""
        return {key: None if (systems := self.members[key]) is None else i in systems for key in SETS}

    def share_text(self, i: int) -> str:
        """A system's share of the lottery, for a page; nothing where it has none."""
        share = self.lottery.get(i, "")
        return percent(float(Fraction(share)), 2) if share else ""

    def rating(self, i: int) -> float | None:
        """A system's copy-proof rating; None where it has none."""
        return None if math.isnan(self.ratings[i]) else self.ratings[i]

    def rating_text(self, i: int) -> str:
        """The rating, for a page."""
        rating = self.rating(i)
        return "" if rating is None else localise(rating, ".3f")

    def tasks_text(self, names: Sequence[str]) -> str:
        """The tasks of the mixture behind the ratings with their shares, the largest first; empty without ratings."""
        shares = sorted(((share, name) for share, name in zip(self.task_shares, names, strict=True) if share > 1e-6),
                        key=lambda one: (-one[0], one[1]))  # fmt: skip
        return in_words([f"{name} {percent(share, 2)}" for share, name in shares], most=8)


@dataclass(frozen=True)
class CyclesPart:
    """The cycles of a board, as a page shows them.

    Attributes:
        sentence: how many there are.
        lines: each cycle in words, with its margins.
        graph: the systems of the first cycles on a circle; None where there is no cycle.
    """

    sentence: str
    lines: list[str]
    graph: CycleGraph | None


def choice_sets(revision: Revision, *, n_systems: int, audience_level: str) -> ChoiceSets | None:
    """The choice sets of a revision under its own aggregation; None where the board has more than MAX_SYSTEMS.

    Args:
        revision: published, with its configuration.
        n_systems: of the revision.
        audience_level: who the answer is for; part of the cache's key.

    Raises:
        TooLargeError: the board is too large for an answer on demand.
    """
    if not 0 < n_systems <= MAX_SYSTEMS:
        return None
    refuse_beyond_budget(n_systems, len(configuration_of(revision).tasks))

    def make() -> dict[str, Any]:
        table = revision_matrix(revision)
        if table is None:
            return {}
        matrix = weighed(table.matrix, revision)
        n_steps = n_comparisons(matrix, n_systems) + n_systems**3
        return compute(choice_sets_of, matrix, n_steps=n_steps)

    fields = single_flight(f"choice-sets-2:{inputs_of(revision)}:{audience_level}", make)
    return ChoiceSets(**fields) if fields else None


def cycles_part(sets: ChoiceSets, systems: list[BoardSystem]) -> CyclesPart:
    """The cycles in words and as a picture.

    Args:
        sets: of the board.
        systems: of the board, in the revision's order.
    """
    if not sets.n_cycles:
        return CyclesPart(gettext("There is no cycle of systems that each beat the next."), [], None)
    names = [system.name for system in systems]
    lines, drawn, edges = [], list[int](), dict[tuple[int, int], str]()
    for cycle, leads in zip(sets.cycles, sets.leads, strict=True):
        steps = list(zip(cycle, (*cycle[1:], cycle[0]), strict=True))
        said = [
            gettext("%(first)s beats %(second)s by %(lead)s")
            % {"first": names[i], "second": names[j], "lead": percent(lead, 2)}
            for (i, j), lead in zip(steps, leads, strict=True)
        ]
        lines.append(", ".join(said))
        new = [i for i in cycle if i not in drawn]
        if len(drawn) + len(new) <= MAX_DRAWN:
            drawn += new
            edges |= dict(zip(steps, said, strict=True))
    listed = ""
    if sets.n_cycles > len(lines):
        listed = gettext("; the %(n)s shortest are listed") % {"n": len(lines)}
    n = sets.n_cycles
    sentence = ngettext(
        "%(n)s cycle: for every system that is on one, a shortest%(listed)s. Margins are shares of the weight of all "
        "tasks.",
        "%(n)s cycles: for every system that is on one, a shortest%(listed)s. Margins are shares of the weight of all "
        "tasks.",
        n,
    ) % {"n": n, "listed": listed}
    places = {i: k for k, i in enumerate(drawn)}
    graph = cycle_graph(
        gettext("Cycles of who beats whom"),
        [names[i] for i in drawn],
        [(places[i], places[j], said) for (i, j), said in edges.items()],
    )
    return CyclesPart(sentence, lines, graph)


def cycles_of_board(revision: Revision, audience_level: str) -> CyclesPart | None:
    """The cycles of a published board; None where it is too large for an answer on demand."""
    systems = systems_at(revision)
    try:
        sets = choice_sets(revision, n_systems=len(systems), audience_level=audience_level)
    except TooLargeError:
        return None
    return None if sets is None else cycles_part(sets, systems)
