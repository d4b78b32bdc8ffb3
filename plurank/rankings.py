"""What rules make of a board: one ranking, and many side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plurank.names import NameIndex, rule_key
from plurank.tables import ResultTable, numbers
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.missing import prediction_note
from ranking_engine.core.ranking import UNRANKED, Ranking
from ranking_engine.rules.soft_condorcet import unfinished_note
from ranking_engine.text.names import counted

_WHY_EMPTY = {
    "undefined": "{title} gives no ranking: {reason}",
    "no_winner": "{title} has no winner: {reason}",
    "winner_only": "{title} ranks no system but its winner",
}


@dataclass(frozen=True, eq=False, repr=False)
class RuleRanking(ResultTable):
    """The systems under one rule, best first: columns `system`, `rank`, `score`.

    Attributes:
        ranking: the engine's, in arrays, in the board's order of systems.
        systems: the names, in that order.
    """

    ranking: Ranking
    systems: Sequence[str]

    @classmethod
    def of(cls, ranking: Ranking, systems: Sequence[str], backend: str | None) -> RuleRanking:
        """Name the systems of a ranking."""
        ranks, scores = ranks_of(ranking), numbers(ranking.scores)
        order = sorted(range(len(systems)), key=lambda i: (ranks[i] is None, ranks[i] or 0, systems[i]))
        columns = {
            "system": [systems[i] for i in order],
            "rank": [ranks[i] for i in order],
            "score": [scores[i] for i in order],
        }
        notes = [ranking.reason] if ranking.reason else []
        if ranking.status == "ranked":
            notes += [f"{systems[i]} is not ranked: {why}" for i, why in sorted(ranking.unranked_reasons.items())]
        if unfinished := unfinished_note(ranking.details):
            notes.append(unfinished)
        return cls(get_rule(ranking.rule).name, columns, notes, ranking, systems, backend=backend)

    @property
    def rule(self) -> str:
        """The key of the rule."""
        return self.ranking.rule

    @property
    def status(self) -> str:
        """`ranked`, `winner_only`, `no_winner` or `undefined`, as `Ranking.status` says."""
        return self.ranking.status

    @property
    def reason(self) -> str:
        """Why there is no ranking or no winner; else empty."""
        return self.ranking.reason

    @property
    def winners(self) -> list[str]:
        """The names of all winners."""
        return sorted(self.systems[i] for i in self.ranking.winners)

    @property
    def details(self) -> Mapping[str, Any]:
        """What the rule has to add, such as whether Kemeny's order is proven the best."""
        return self.ranking.details

    @property
    def ranks(self) -> dict[str, int | None]:
        """The rank of each system by name, in the board's order: 1, 2, 2, 4; None where unranked."""
        return dict(zip(self.systems, ranks_of(self.ranking), strict=True))

    @property
    def scores(self) -> dict[str, float | None]:
        """The rule's score of each system by name, higher is better; None where unranked."""
        return dict(zip(self.systems, numbers(self.ranking.scores), strict=True))

    def rank_of(self, system: str) -> int | None:
        """Return the rank of a system.

        Raises:
            ValueError: there is no such system.
        """
        return ranks_of(self.ranking)[NameIndex(self.systems, "system").of(system, "system")]


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(ResultTable):
    """The ranks of every system under several rules: `system`, then a column for each rule, by its key.

    Rows are in the order of the first rule that ranks. `leaderboard.under("borda")` is one rule's ranking.

    Attributes:
        by_rule: the rankings, by the rule's key.
    """

    by_rule: Mapping[str, RuleRanking]

    @classmethod
    def of(cls, rankings: Sequence[RuleRanking], backend: str | None) -> Leaderboard:
        """Put rankings of the same systems side by side."""
        first = next((one for one in rankings if one.status == "ranked"), rankings[0])
        order = first.columns["system"]
        columns: dict[str, Any] = {"system": order}
        for one in rankings:
            ranks = one.ranks  # a dict of all systems: made once a rule
            columns[one.rule] = [ranks[name] for name in order]
        empty = [one for one in rankings if one.status in _WHY_EMPTY]
        notes = [_WHY_EMPTY[one.status].format(title=one.title, reason=one.reason) for one in empty]
        for one in rankings:
            said = (prediction_note(one.details), unfinished_note(one.details))
            notes += [f"{one.title}: {note}" for note in said if note]
        title = f"{counted(len(order), 'system')} under {counted(len(rankings), 'rule')}"
        return cls(title, columns, notes, {one.rule: one for one in rankings}, backend=backend)

    def is_whole(self, column: str) -> bool:
        """Whether a column is of whole numbers: ranks under a rule are."""
        return column != "system"

    def under(self, rule: str) -> RuleRanking:
        """Return the ranking under a rule, by its key or name.

        Raises:
            ValueError: there is no such rule, or it is not on this leaderboard.
        """
        key = rule_key(rule)
        if key not in self.by_rule:
            raise ValueError(f"{key} is not on this leaderboard; there are {', '.join(self.by_rule)}")
        return self.by_rule[key]

    @property
    def winners(self) -> dict[str, list[str]]:
        """The winners under each rule, by its key."""
        return {key: one.winners for key, one in self.by_rule.items()}

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401 -- of matplotlib
        """Draw a line of ranks for each system across the rules; return the axes."""
        from plurank.plots import rank_lines  # noqa: PLC0415 -- needs matplotlib

        return rank_lines(self, ax)


def ranks_of(ranking: Ranking) -> list[int | None]:
    """Return the ranks of a ranking, None where a system is unranked."""
    return [None if rank == UNRANKED else rank for rank in ranking.ranks.tolist()]
