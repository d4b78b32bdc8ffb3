"""Who is elected by which rules: the camps, and the sentence above a board."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.common.text import in_words, shortened

WINNERS_NAMED = 3  # more joint winners than these are counted in the sentence, and named further down
CAMPS_NAMED = 3  # the sentence tells of so many camps
RULES_NAMED = 2  # of a camp of more rules, the sentence counts them


@dataclass(frozen=True)
class Camp:
    """The rules that elect the same systems."""

    rules: tuple[str, ...]  # their names
    winners: tuple[str, ...]  # the elected systems' names, or the first of them
    n_winners: int

    @property
    def n_rules(self) -> int:
        """How many rules are of this camp."""
        return len(self.rules)

    @property
    def text(self) -> str:
        """Whom they elect."""
        if self.n_winners > WINNERS_NAMED:
            return f"{self.n_winners} systems jointly"
        return in_words([shortened(name) for name in self.winners])


def camps_of(winners: Sequence[tuple[str, Sequence[str], int]]) -> list[Camp]:
    """The camps, the largest first.

    Args:
        winners: (name of a rule, names of the first it elects, how many it elects) of every rule that elects.
    """
    rules: dict[tuple[tuple[str, ...], int], list[str]] = {}
    for rule, names, n_winners in winners:
        rules.setdefault((tuple(sorted(names)), n_winners), []).append(rule)
    camps = [Camp(tuple(named), elected, n_winners) for (elected, n_winners), named in rules.items()]
    return sorted(camps, key=lambda camp: (-camp.n_rules, camp.text))


def headline(camps: Sequence[Camp], condorcet_winner: str | None, *, has_majority: bool = True) -> str:
    """Who is elected by which rules, in a sentence.

    Args:
        camps: the largest first.
        condorcet_winner: its name, or None where no system beats every other.
        has_majority: whether the aggregation compares two systems at all; two steps rank groups of tasks instead.
    """
    if not camps:
        return "No rule elects a winner."
    # A single camp more is named as quickly as it is counted.
    named = camps if len(camps) <= CAMPS_NAMED + 1 else camps[:CAMPS_NAMED]
    is_told = any(camp.winners == (condorcet_winner,) for camp in named)
    if len(camps) == 1:
        camp = camps[0]
        how_many = "Both rules" if camp.n_rules == 2 else f"All {camp.n_rules} rules"
        elected = camp.text.replace(" jointly", ", tied for first")
        who = (
            f"{camp.rules[0]} elects {camp.text}" if camp.n_rules == 1 else f"{how_many} that elect agree on {elected}"
        )
        parts = [who + _title(camp, condorcet_winner)]
    else:
        n_rules = sum(camp.n_rules for camp in camps)
        parts = [_camp(camp, condorcet_winner, of=0 if k else n_rules) for k, camp in enumerate(named)]
        if rest := [rule for camp in camps[len(named) :] for rule in camp.rules]:
            who = in_words(rest) if len(rest) <= RULES_NAMED else f"{len(rest)} others"
            parts.append(f"{who} elect{'s' if len(rest) == 1 else ''} somebody else")
    return _sentence(parts, condorcet_winner, is_told=is_told, has_majority=has_majority)


def short_headline(camps: Sequence[Camp], condorcet_winner: str | None, *, has_majority: bool = True) -> str:
    """The headline with the largest camp alone, for a page that lists the camps beneath it.

    Args:
        camps: the largest first.
        condorcet_winner: its name, or None where no system beats every other.
        has_majority: as for `headline`.
    """
    if len(camps) < 2:
        return headline(camps, condorcet_winner, has_majority=has_majority)
    largest = camps[0]
    largest_camp = _camp(largest, condorcet_winner, of=sum(camp.n_rules for camp in camps))
    is_told = largest.winners == (condorcet_winner,)
    return _sentence([largest_camp], condorcet_winner, is_told=is_told, has_majority=has_majority)


def _sentence(parts: list[str], condorcet_winner: str | None, *, is_told: bool, has_majority: bool) -> str:
    """What is said of the camps, and of the Condorcet winner where that does not tell of it."""
    if not has_majority:
        parts = [*parts, "no Condorcet winner with two steps"]
    elif condorcet_winner is None:
        parts = [*parts, "no Condorcet winner"]
    elif not is_told:
        parts = [*parts, f"the Condorcet winner is {shortened(condorcet_winner)}"]
    return f"{'; '.join(parts)}."


def _camp(camp: Camp, condorcet_winner: str | None, *, of: int) -> str:
    """`Copeland and Minimax elect Human`; `9 of 14 rules elect ERNIE` where `of` says how many rules elect at all."""
    s = "s" if camp.n_rules == 1 else ""
    if camp.n_rules <= RULES_NAMED:
        who = in_words(camp.rules)
    else:
        who = f"{camp.n_rules} of {of} rules" if of else str(camp.n_rules)
    return f"{who} elect{s} {camp.text}{_title(camp, condorcet_winner)}"


def _title(camp: Camp, condorcet_winner: str | None) -> str:
    return ", the Condorcet winner" if condorcet_winner is not None and camp.winners == (condorcet_winner,) else ""
